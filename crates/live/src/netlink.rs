//! Interfaces, addresses and routes of a network namespace, many in one message to the kernel (rtnetlink(7)).
//!
//! Only the operations that a node needs. Many requests are one `send`, followed by their answers; the netlink crates
//! need an exchange per request, which takes most of the time for setting up a hundred namespaces.

pub(crate) mod answer;
mod ask;
pub mod generic;
pub mod look;
mod own;
pub mod stations;
pub mod watch;

pub use ask::attributes;
pub use ask::{Entry, Metric, mac, mtu, segments};
pub use own::Owner;

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockProtocol, send};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

/// Index of the loopback device, in every namespace.
pub const LOOPBACK: u32 = 1;

/// Length of `struct nlmsghdr`.
const HEADER: usize = 16;
const REQUEST: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
const CREATE: u16 = REQUEST | (libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;

/// `RTNH_F_ONLINK` of linux/rtnetlink.h, which libc lacks: the next hop is a neighbour, whatever the addresses say.
const ONLINK: u32 = 4;

/// Requests that are sent together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Offset and description of each request, by sequence number.
    requests: Vec<(usize, String)>,
}

/// Requests in one message: their answers must fit in the socket's buffer.
const TOGETHER: usize = 64;

/// A route to a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The network and its prefix length.
    pub to: (Ipv4Addr, u8),
    /// The output device.
    pub device: u32,
    /// The next hop, which need not be in a network of the device; `None`: the destination itself.
    pub via: Option<Ipv4Addr>,
    /// Source address of packets sent over this route.
    pub from: Ipv4Addr,
    /// Among several routes to a network the one with the lowest number is used.
    pub priority: u32,
}

impl Batch {
    /// Brings a device up, with this MTU if given.
    pub fn up(&mut self, device: u32, mtu: Option<u32>) {
        self.begin(libc::RTM_NEWLINK, REQUEST, || format!("device {device} up"));
        // struct ifinfomsg: family, type, index, flags, change mask.
        self.bytes.extend([0, 0, 0, 0]);
        [device, libc::IFF_UP as u32, libc::IFF_UP as u32].into_iter().for_each(|word| self.word(word));
        if let Some(mtu) = mtu {
            self.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
        }
        self.end();
    }

    /// Sets the MAC address of a device that is down.
    pub fn mac(&mut self, device: u32, mac: [u8; 6]) {
        self.begin(libc::RTM_NEWLINK, REQUEST, || format!("MAC address of device {device}"));
        self.bytes.extend([0, 0, 0, 0]);
        [device, 0, 0].into_iter().for_each(|word| self.word(word));
        self.attribute(libc::IFLA_ADDRESS, &mac);
        self.end();
    }

    /// Adds an address with this prefix length to a device.
    pub fn address(&mut self, device: u32, address: Ipv4Addr, bits: u8) {
        self.begin(libc::RTM_NEWADDR, CREATE, || format!("address {address}/{bits}"));
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        self.bytes.extend([libc::AF_INET as u8, bits, 0, libc::RT_SCOPE_UNIVERSE]);
        self.word(device);
        self.attribute(libc::IFA_LOCAL, &address.octets());
        self.attribute(libc::IFA_ADDRESS, &address.octets());
        self.end();
    }

    /// Adds a route, or replaces one to the same network with the same priority.
    pub fn route(&mut self, owner: Owner, route: Route) {
        let Route { to: (network, bits), device, via, from, priority } = route;
        self.begin(libc::RTM_NEWROUTE, CREATE, || format!("route to {network}/{bits}"));
        let scope = if via.is_some() { libc::RT_SCOPE_UNIVERSE } else { libc::RT_SCOPE_LINK };
        // struct rtmsg: family, prefix lengths of the two networks, TOS, table, protocol, scope, type, flags. The table
        // is an attribute, which is large enough for its number.
        self.bytes.extend([libc::AF_INET as u8, bits, 0, 0, 0, owner.protocol, scope, libc::RTN_UNICAST]);
        self.word(if via.is_some() { ONLINK } else { 0 });
        self.attribute(libc::RTA_DST, &network.octets());
        self.attribute(libc::RTA_TABLE, &owner.table.to_ne_bytes());
        self.attribute(libc::RTA_PRIORITY, &priority.to_ne_bytes());
        self.attribute(libc::RTA_OIF, &device.to_ne_bytes());
        self.attribute(libc::RTA_PREFSRC, &from.octets());
        if let Some(via) = via {
            self.attribute(libc::RTA_GATEWAY, &via.octets());
        }
        self.end();
    }

    /// Sends the requests to the kernel and waits for all answers.
    ///
    /// # Errors
    /// The first that the kernel refuses; later ones have been tried too.
    pub fn send(&self) -> Result<(), Error> {
        self.send_but(&[])
    }

    /// Sends the requests; returns those refused by the kernel, by number.
    fn exchange(&self) -> Result<Vec<(usize, Errno)>, Error> {
        let failed = || "cannot talk to the kernel's routing".to_owned();
        let socket = answer::asking(SockProtocol::NetlinkRoute).tried(failed)?;
        let mut buffer = [0; 16 * 1024];
        let mut refused = Vec::new();
        for part in self.requests.chunks(TOGETHER) {
            let (start, last) = (part[0].0, part[part.len() - 1].0);
            let end = last + length_at(&self.bytes, last).unwrap_or(0);
            send(socket.as_raw_fd(), &self.bytes[start..end], MsgFlags::empty()).tried(failed)?;
            let mut answers = 0;
            while answers < part.len() {
                let len = answer::answered(&socket, &mut buffer).tried(failed)?;
                for (number, code) in acknowledgements(&buffer[..len]) {
                    answers += 1;
                    if code != 0 {
                        refused.push((number as usize, Errno::from_raw(-code)));
                    }
                }
            }
        }
        Ok(refused)
    }

    fn begin(&mut self, kind: u16, flags: u16, name: impl FnOnce() -> String) {
        let number = self.requests.len() as u32;
        self.requests.push((self.bytes.len(), name()));
        // The length, known at the end of the message.
        self.word(0);
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        self.word(number);
        self.word(0);
    }

    /// Writes the length of the last message.
    fn end(&mut self) {
        let start = self.requests.last().map_or(0, |&(start, _)| start);
        let length = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_ne_bytes());
    }

    fn attribute(&mut self, kind: u16, content: &[u8]) {
        attribute(&mut self.bytes, kind, content);
    }
}

/// Appends a `struct rtattr` or `nlattr`: length including these four bytes, type, content, padded to a multiple of
/// four.
pub fn attribute(bytes: &mut Vec<u8>, kind: u16, content: &[u8]) {
    bytes.extend((content.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

pub(crate) fn length_at(bytes: &[u8], start: usize) -> Option<usize> {
    let length = bytes.get(start..start + 4)?;
    Some(u32::from_ne_bytes(length.try_into().ok()?) as usize)
}

/// A message from the kernel.
struct Message<'a> {
    kind: u16,
    /// Sequence number of the request that it answers.
    number: u32,
    /// The bytes after `struct nlmsghdr`.
    content: &'a [u8],
}

impl Message<'_> {
    /// The code of an answer: 0, or a negative error. `None` if this is no answer.
    fn code(&self) -> Option<i32> {
        let code = self.content.first_chunk().filter(|_| i32::from(self.kind) == libc::NLMSG_ERROR)?;
        Some(i32::from_ne_bytes(*code))
    }
}

/// Sequence number and code of every answer in a datagram.
fn acknowledgements(bytes: &[u8]) -> impl Iterator<Item = (u32, i32)> {
    messages(bytes).filter_map(|message| Some((message.number, message.code()?)))
}

/// The messages of a datagram, except a truncated one.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let (head, content) = bytes.get(..length_at(bytes, 0)?)?.split_first_chunk::<HEADER>()?;
        bytes = bytes.get((HEADER + content.len()).next_multiple_of(4)..).unwrap_or_default();
        let kind = u16::from_ne_bytes([head[4], head[5]]);
        Some(Message { kind, number: u32::from_ne_bytes([head[8], head[9], head[10], head[11]]), content })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_laid_out_as_the_kernel_wants_them() {
        let mut batch = Batch::default();
        batch.up(2, Some(1500));
        batch.address(2, Ipv4Addr::new(10, 0, 0, 1), 32);
        let first = length_at(&batch.bytes, 0).unwrap();
        assert_eq!(first, HEADER + 16 + 8, "header, ifinfomsg, one attribute of a word");
        let second = &batch.bytes[first..];
        assert_eq!(length_at(second, 0), Some(second.len()));
        assert_eq!(second.len(), HEADER + 8 + 8 + 8);
        assert_eq!(u32::from_ne_bytes(second[8..12].try_into().unwrap()), 1, "the second has number 1");
        assert_eq!(&second[HEADER..HEADER + 4], [libc::AF_INET as u8, 32, 0, 0]);
        assert_eq!(&second[second.len() - 4..], [10, 0, 0, 1]);
    }

    #[test]
    fn attributes_are_filled_to_words() {
        let mut batch = Batch::default();
        batch.mac(2, [2, 0, 0, 0, 0, 7]);
        assert_eq!(batch.bytes.len() % 4, 0);
        let attribute = &batch.bytes[HEADER + 16..];
        assert_eq!(attribute[..4], [[10, 0], libc::IFLA_ADDRESS.to_ne_bytes()].concat());
        assert_eq!(attribute[4..], [2, 0, 0, 0, 0, 7, 0, 0]);
    }

    #[test]
    fn answers_are_found_whatever_comes_with_them() {
        let mut bytes = Vec::new();
        let mut message = |kind: i32, number: u32, content: &[u8]| {
            bytes.extend(((HEADER + content.len()) as u32).to_ne_bytes());
            bytes.extend((kind as u16).to_ne_bytes());
            bytes.extend([0, 0]);
            bytes.extend(number.to_ne_bytes());
            bytes.extend([0; 4]);
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        };
        message(libc::NLMSG_ERROR, 0, &[0; 20]);
        message(libc::NLMSG_DONE, 9, &[1, 2, 3]);
        message(libc::NLMSG_ERROR, 1, &(-libc::ENODEV).to_ne_bytes());
        assert_eq!(acknowledgements(&bytes).collect::<Vec<_>>(), [(0, 0), (1, -libc::ENODEV)]);
        for end in 0..bytes.len() {
            assert!(acknowledgements(&bytes[..end]).count() <= 2, "what is cut off is no trouble");
        }
    }

    #[test]
    fn a_route_says_whose_it_is_and_where_it_leads() {
        let owner = Owner { protocol: 142, table: 1_000 };
        let to = Ipv4Addr::new(10, 0, 0, 9);
        let near = Route { to: (to, 32), device: 3, via: None, from: Ipv4Addr::new(10, 0, 0, 1), priority: 5 };
        let far = Route { via: Some(Ipv4Addr::new(10, 0, 0, 2)), ..near };
        for (route, scope, flags) in [(near, libc::RT_SCOPE_LINK, 0), (far, libc::RT_SCOPE_UNIVERSE, ONLINK)] {
            let mut batch = Batch::default();
            batch.route(owner, route);
            assert_eq!(batch.bytes[4..8], [libc::RTM_NEWROUTE.to_ne_bytes(), CREATE.to_ne_bytes()].concat());
            let content = &batch.bytes[HEADER..];
            assert_eq!(content[..8], [libc::AF_INET as u8, 32, 0, 0, 0, 142, scope, libc::RTN_UNICAST]);
            assert_eq!(content[8..12], flags.to_ne_bytes());
            let found: Vec<(u16, Vec<u8>)> =
                attributes(&content[12..]).map(|(kind, content)| (kind, content.to_vec())).collect();
            let mut expected = vec![
                (libc::RTA_DST, to.octets()),
                (libc::RTA_TABLE, 1_000_u32.to_ne_bytes()),
                (libc::RTA_PRIORITY, 5_u32.to_ne_bytes()),
                (libc::RTA_OIF, 3_u32.to_ne_bytes()),
                (libc::RTA_PREFSRC, [10, 0, 0, 1]),
            ];
            expected.extend(route.via.map(|via| (libc::RTA_GATEWAY, via.octets())));
            let expected: Vec<_> = expected.into_iter().map(|(kind, content)| (kind, content.to_vec())).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn each_request_that_the_kernel_refuses_is_named_however_many_there_are() {
        let mut batch = Batch::default();
        for n in 0..2 * TOGETHER as u32 + 1 {
            batch.up(0x7fff_ff00 + n, None);
        }
        // There are no such devices, or this process has no permission.
        let refused = batch.exchange().unwrap();
        assert!(refused.iter().map(|&(number, _)| number).eq(0..2 * TOGETHER + 1), "{refused:?}");
        assert!(refused.iter().all(|(_, error)| [Errno::ENODEV, Errno::EPERM].contains(error)), "{refused:?}");
        assert_eq!(batch.send().unwrap_err().what, "device 2147483392 up");
        batch.send_but(&[Errno::ENODEV, Errno::EPERM]).unwrap();
    }
}
