//! Notifications from the kernel: neighbours that do not answer, devices that go down or come up, routes and rules that
//! are removed.

use super::ask::attributes;
use super::messages;
use super::own::gone;
use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Lengths of `struct ndmsg` and `struct ifinfomsg`.
const NEIGHBOUR: usize = 12;
const LINK: usize = 16;
/// `NDA_DST` of linux/neighbour.h.
const ADDRESS: u16 = 1;
/// `RTMGRP_IPV4_RULE` of linux/rtnetlink.h.
const RULES: libc::c_int = 0x80;

/// A notification from the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A neighbour does not answer ARP (`NUD_FAILED`).
    Unanswered {
        /// The device it is behind.
        device: u32,
        /// Its address.
        address: Ipv4Addr,
    },
    /// A device has come up with carrier, or no longer has both.
    Device {
        /// Its index.
        device: u32,
        /// Whether it can send.
        up: bool,
    },
    /// An IPv4 route or rule was removed, by whomever.
    Gone {
        /// The protocol number of its owner.
        protocol: u8,
    },
    /// The socket's buffer was too small: some notifications are lost.
    Missed,
}

/// A listener for kernel notifications.
#[derive(Debug)]
pub struct Watch {
    socket: OwnedFd,
}

impl Watch {
    /// Listens in the namespace of this thread.
    ///
    /// # Errors
    /// If the system has no sockets left.
    pub fn start() -> Result<Watch, Error> {
        let failed = || "cannot listen to the kernel's neighbours and devices".to_owned();
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute).tried(failed)?;
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_NEIGH | libc::RTMGRP_IPV4_ROUTE | RULES;
        let groups = groups as u32;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups)).tried(failed)?;
        Ok(Watch { socket })
    }

    /// Appends the notifications since the last call.
    pub fn read(&self, out: &mut Vec<Event>) {
        let mut buffer = [0; 8 * 1024];
        loop {
            match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(len) => events(&buffer[..len], out),
                Err(Errno::ENOBUFS) => out.push(Event::Missed),
                Err(_) => return,
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn events(bytes: &[u8], out: &mut Vec<Event>) {
    out.extend(messages(bytes).filter_map(|message| event(message.kind, message.content)));
}

fn event(kind: u16, content: &[u8]) -> Option<Event> {
    let word = |at: usize| Some(u32::from_ne_bytes(content.get(at..at + 4)?.try_into().ok()?));
    match kind {
        libc::RTM_NEWNEIGH => {
            let state = u16::from_ne_bytes([*content.get(8)?, *content.get(9)?]);
            let rest = content.get(NEIGHBOUR..)?;
            let address = attributes(rest).find(|(kind, _)| *kind == ADDRESS)?.1;
            let address = <[u8; 4]>::try_from(address).ok()?.into();
            (state & libc::NUD_FAILED != 0).then_some(Event::Unanswered { device: word(4)?, address })
        }
        libc::RTM_NEWLINK => {
            content.get(..LINK)?;
            let flags = word(8)?;
            let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
            Some(Event::Device { device: word(4)?, up: flags & wanted == wanted })
        }
        libc::RTM_DELLINK => Some(Event::Device { device: word(4)?, up: false }),
        kind => gone(kind, content).map(|protocol| Event::Gone { protocol }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::HEADER;
    use super::*;

    /// A kernel message, with this content after its header.
    fn message(kind: u16, content: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + content.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(content);
        bytes
    }

    fn neighbour(state: u16) -> Vec<u8> {
        let mut content = vec![2, 0, 0, 0, 7, 0, 0, 0];
        content.extend(state.to_ne_bytes());
        content.extend([0, 1, 8, 0]);
        content.extend(ADDRESS.to_ne_bytes());
        content.extend([10, 0, 0, 9]);
        message(libc::RTM_NEWNEIGH, &content)
    }

    #[test]
    fn neighbours_that_do_not_answer_and_devices_that_go_down_are_reported() {
        let link = |flags: i32| {
            let mut content = vec![0, 0, 0, 0, 7, 0, 0, 0];
            content.extend((flags as u32).to_ne_bytes());
            content.extend([0; 4]);
            message(libc::RTM_NEWLINK, &content)
        };
        let all = [
            neighbour(libc::NUD_FAILED),
            neighbour(libc::NUD_REACHABLE),
            link(libc::IFF_UP | libc::IFF_RUNNING),
            link(libc::IFF_UP),
        ];
        let mut out = Vec::new();
        events(&all.concat(), &mut out);
        let up = |up| Event::Device { device: 7, up };
        let address = Ipv4Addr::new(10, 0, 0, 9);
        assert_eq!(out, [Event::Unanswered { device: 7, address }, up(true), up(false)]);
        for end in 0..neighbour(0).len() {
            out.clear();
            events(&neighbour(libc::NUD_FAILED)[..end], &mut out);
            assert!(out.is_empty(), "what is cut off is no trouble");
        }
    }

    #[test]
    fn removals_are_reported_and_additions_are_not() {
        let link = [0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(event(libc::RTM_DELLINK, &link), Some(Event::Device { device: 7, up: false }));
        assert_eq!(event(libc::RTM_DELLINK, &link[..7]), None);
        let route = [2, 32, 0, 0, 0, 142, 0, 0, 0, 0, 0, 0];
        assert_eq!(event(libc::RTM_DELROUTE, &route), Some(Event::Gone { protocol: 142 }));
        assert_eq!(event(libc::RTM_NEWROUTE, &route), None);
    }

    #[test]
    fn the_kernel_says_whose_routes_go() {
        use crate::netlink::{Batch, LOOPBACK, Owner, Route};
        crate::test_network::in_namespace(|| {
            let watch = Watch::start().unwrap();
            let mut out = Vec::new();
            watch.read(&mut out);
            assert_eq!(out, [], "nothing has happened since");
            let owner = Owner { protocol: 142, table: 1_000 };
            let to = (Ipv4Addr::new(10, 0, 0, 9), 32);
            let mut batch = Batch::default();
            batch.route(owner, Route { to, device: LOOPBACK, via: None, from: Ipv4Addr::LOCALHOST, priority: 0 });
            batch.remove_route(owner, to, 0);
            batch.send().unwrap();
            watch.read(&mut out);
            assert_eq!(out, [Event::Gone { protocol: 142 }]);
        });
    }
}
