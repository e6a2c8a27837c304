//! Devices, routes and neighbours of this thread's network namespace, listed at once: what a program inspects before it
//! is set up.

use super::Batch;
use super::ask::attributes;
use super::own::all_answers;
use crate::Error;
use nix::sys::socket::SockProtocol;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// linux/if_link.h, linux/neighbour.h.
const LINK_INFO: u16 = 18;
const INFO_KIND: u16 = 1;
const NEIGHBOUR_ADDRESS: u16 = 1;
/// States of a neighbour that has no MAC address, or needs none.
const UNREACHABLE: u16 = 0x01 | 0x20 | 0x40;
/// Lengths of `struct ifinfomsg`, `rtmsg` and `ndmsg`.
const LINK: usize = 16;
const ROUTE: usize = 12;
const NEIGHBOUR: usize = 12;

/// A device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Device {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its kind, such as "veth" or "batadv"; `None` for hardware.
    pub kind: Option<String>,
    /// The device to which it belongs: a bridge, a batman-adv mesh.
    pub master: Option<u32>,
    /// Whether it is up.
    pub up: bool,
}

/// An IPv4 route in any table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The network and its prefix length.
    pub to: (Ipv4Addr, u8),
    /// Its originator: RTPROT of linux/rtnetlink.h, or a daemon's own number.
    pub protocol: u8,
    /// The output device.
    pub device: u32,
    /// The next hop; `None`: the destination itself.
    pub via: Option<Ipv4Addr>,
}

/// All devices except the loopback.
///
/// # Errors
/// If the kernel does not answer.
pub fn devices() -> Result<Vec<Device>, Error> {
    let all = dump(libc::RTM_GETLINK, libc::AF_UNSPEC as u8, LINK, "devices")?;
    Ok(all.iter().filter_map(|answer| device(answer)).filter(|device| device.index != super::LOOPBACK).collect())
}

/// Problems of the devices of these names that carry nothing: those that have disappeared, and those that are down.
pub fn idle(names: &[String], devices: &[Device]) -> Vec<String> {
    let problem = |name: &String| match devices.iter().find(|device| device.name == *name) {
        None => Some(format!("device {name} has disappeared")),
        Some(device) => (!device.up).then(|| format!("device {name} is down")),
    };
    names.iter().filter_map(problem).collect()
}

/// All IPv4 routes that lead somewhere.
///
/// # Errors
/// If the kernel does not answer.
pub fn routes() -> Result<Vec<Listed>, Error> {
    let all = dump(libc::RTM_GETROUTE, libc::AF_INET as u8, ROUTE, "routes")?;
    Ok(all.iter().filter_map(|answer| route(answer)).collect())
}

/// Neighbours at a device with known MAC addresses.
///
/// # Errors
/// If the kernel does not answer.
pub fn neighbours(device: u32) -> Result<Vec<IpAddr>, Error> {
    let all = dump(libc::RTM_GETNEIGH, libc::AF_UNSPEC as u8, NEIGHBOUR, "neighbours")?;
    Ok(all.iter().filter_map(|answer| neighbour(answer, device)).collect())
}

fn dump(kind: u16, family: u8, head: usize, what: &str) -> Result<Vec<Vec<u8>>, Error> {
    let mut batch = Batch::default();
    batch.begin(kind, (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16, || what.to_owned());
    batch.bytes.push(family);
    batch.bytes.extend(std::iter::repeat_n(0, head - 1));
    batch.end();
    all_answers(SockProtocol::NetlinkRoute, &batch.bytes, what)
}

fn number(content: &[u8]) -> Option<u32> {
    content.try_into().ok().map(u32::from_ne_bytes)
}

fn text(content: &[u8]) -> String {
    String::from_utf8_lossy(content.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

fn device(answer: &[u8]) -> Option<Device> {
    let (head, rest) = answer.split_at_checked(LINK)?;
    let flags = number(&head[8..12])?;
    let mut found = Device { index: number(&head[4..8])?, up: flags & libc::IFF_UP as u32 != 0, ..Device::default() };
    for (kind, content) in attributes(rest) {
        match kind {
            libc::IFLA_IFNAME => found.name = text(content),
            libc::IFLA_MASTER => found.master = number(content),
            LINK_INFO => {
                found.kind = attributes(content).find(|(kind, _)| *kind == INFO_KIND).map(|(_, kind)| text(kind));
            }
            _ => {}
        }
    }
    Some(found)
}

fn route(answer: &[u8]) -> Option<Listed> {
    let (head, rest) = answer.split_at_checked(ROUTE)?;
    let (bits, protocol, kind) = (head[1], head[5], head[7]);
    if kind != libc::RTN_UNICAST {
        return None;
    }
    let address = |content: &[u8]| content.try_into().ok().map(|octets: [u8; 4]| Ipv4Addr::from(octets));
    let find = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
    Some(Listed {
        to: (find(libc::RTA_DST).and_then(address).unwrap_or(Ipv4Addr::UNSPECIFIED), bits),
        protocol,
        device: find(libc::RTA_OIF).and_then(number)?,
        via: find(libc::RTA_GATEWAY).and_then(address),
    })
}

fn neighbour(answer: &[u8], device: u32) -> Option<IpAddr> {
    let (head, rest) = answer.split_at_checked(NEIGHBOUR)?;
    let state = u16::from_ne_bytes([head[8], head[9]]);
    if number(&head[4..8])? != device || state & UNREACHABLE != 0 || state == 0 {
        return None;
    }
    let (_, content) = attributes(rest).find(|(kind, _)| *kind == NEIGHBOUR_ADDRESS)?;
    match content.len() {
        4 => Some(Ipv4Addr::from(<[u8; 4]>::try_from(content).ok()?).into()),
        16 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(content).ok()?).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(head: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut batch = Batch::default();
        batch.bytes.extend(head);
        attributes.iter().for_each(|(kind, content)| batch.attribute(*kind, content));
        batch.bytes
    }

    #[test]
    fn a_device_is_read_with_what_made_it_and_what_it_is_part_of() {
        let mut info = Batch::default();
        info.attribute(INFO_KIND, b"batadv\0");
        let head = [0, 0, 1, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        let master = 9_u32.to_ne_bytes();
        let answer = message(
            &head,
            &[(libc::IFLA_IFNAME, b"bat0\0"), (libc::IFLA_MASTER, &master), (LINK_INFO | 0x8000, &info.bytes)],
        );
        let expected =
            Device { index: 7, name: "bat0".to_owned(), kind: Some("batadv".to_owned()), master: Some(9), up: true };
        assert_eq!(device(&answer), Some(expected));
        (0..answer.len()).for_each(|end| assert!(device(&answer[..end]).is_none_or(|found| found.index == 7)));
    }

    #[test]
    fn routes_that_lead_nowhere_and_neighbours_without_a_mac_address_are_left_out() {
        let head = |kind| [2, 24, 0, 0, 254, 42, 0, kind, 0, 0, 0, 0];
        let device = 3_u32.to_ne_bytes();
        let more: [(u16, &[u8]); 3] =
            [(libc::RTA_DST, &[10, 0, 0, 0]), (libc::RTA_OIF, &device), (libc::RTA_GATEWAY, &[10, 0, 0, 9])];
        let found = route(&message(&head(libc::RTN_UNICAST), &more)).unwrap();
        assert_eq!((found.to, found.protocol, found.device), (([10, 0, 0, 0].into(), 24), 42, 3));
        assert_eq!(found.via, Some([10, 0, 0, 9].into()));
        assert_eq!(route(&message(&head(libc::RTN_BLACKHOLE), &more)), None);
        let head = |state: u8| [2, 0, 0, 0, 3, 0, 0, 0, state, 0, 0, 0];
        let address: [(u16, &[u8]); 1] = [(NEIGHBOUR_ADDRESS, &[10, 0, 0, 9])];
        assert_eq!(neighbour(&message(&head(2), &address), 3), Some([10, 0, 0, 9].into()), "reachable");
        assert_eq!(neighbour(&message(&head(2), &address), 4), None, "of another device");
        assert_eq!(neighbour(&message(&head(0x20), &address), 3), None, "failed");
        assert_eq!(neighbour(&message(&head(0x40), &address), 3), None, "none is needed: multicast, the loopback");
    }

    #[test]
    fn devices_that_carry_nothing_are_named() {
        let device = |name: &str, up| Device { name: name.to_owned(), up, ..Device::default() };
        let names = ["wlan0", "wlan1", "wlan2"].map(str::to_owned);
        let found = idle(&names, &[device("wlan0", true), device("wlan1", false), device("eth0", false)]);
        assert_eq!(found, ["device wlan1 is down", "device wlan2 has disappeared"]);
    }

    #[test]
    fn the_kernel_says_what_there_is() {
        assert!(
            devices().unwrap().iter().all(|device| device.index != super::super::LOOPBACK && !device.name.is_empty())
        );
        routes().unwrap();
        assert_eq!(neighbours(super::super::LOOPBACK).unwrap(), Vec::<IpAddr>::new());
    }
}
