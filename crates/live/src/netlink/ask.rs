//! Reads devices and routes of the kernel, and changes them without affecting the rest.

use super::answer::{answered, asking};
use super::{Batch, CREATE, ONLINK, REQUEST, messages};
use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockProtocol, send};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

/// Length of `struct ifinfomsg` and of `struct rtmsg`.
const LINK: usize = 16;
const ROUTE: usize = 12;
/// `RTM_F_FIB_MATCH` of linux/rtnetlink.h, which libc lacks: asks for the route in the table, not for the result of a
/// lookup.
const FIB_MATCH: u32 = 0x2000;
/// `IFLA_GSO_MAX_SEGS` of linux/if_link.h.
const GSO_MAX_SEGS: u16 = 40;
/// Mask for the attribute type, without the flag of nested attributes (`NLA_F_NESTED`), which the kernel's answers may
/// or may not set.
const KIND: u16 = 0x3fff;

/// Metrics of a route (linux/rtnetlink.h, `RTAX_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Metric {
    /// Window of a new connection, in segments.
    InitialWindow = 11,
    /// 1: acknowledge every segment.
    QuickAck = 15,
    /// Name of the congestion control.
    CongestionControl = 16,
}

/// A route in the kernel's table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// `struct rtmsg`.
    head: [u8; ROUTE],
    /// The attributes, in the kernel's order, without metrics.
    attributes: Vec<(u16, Vec<u8>)>,
    metrics: Vec<(u16, Vec<u8>)>,
}

impl Entry {
    /// The route to an address in this thread's namespace.
    ///
    /// # Errors
    /// If there is none, or the kernel does not answer.
    pub fn to(address: IpAddr) -> Result<Entry, Error> {
        let (family, octets) = match address {
            IpAddr::V4(v4) => (libc::AF_INET, v4.octets().to_vec()),
            IpAddr::V6(v6) => (libc::AF_INET6, v6.octets().to_vec()),
        };
        let mut batch = Batch::default();
        batch.begin(libc::RTM_GETROUTE, libc::NLM_F_REQUEST as u16, || format!("route to {address}"));
        batch.bytes.extend([family as u8, 8 * octets.len() as u8, 0, 0, 0, 0, 0, 0]);
        batch.word(FIB_MATCH);
        batch.attribute(libc::RTA_DST, &octets);
        batch.end();
        let answer = batch.ask()?;
        let (head, rest) = answer.split_at_checked(ROUTE).ok_or_else(|| cut_off("the route"))?;
        // INVARIANT: it was split there.
        let mut entry = Entry { head: head.try_into().expect("as long"), attributes: vec![], metrics: vec![] };
        for (kind, content) in attributes(rest) {
            match kind {
                libc::RTA_METRICS => {
                    entry.metrics = attributes(content).map(|(kind, content)| (kind, content.to_vec())).collect();
                }
                // Its age, which cannot be set.
                libc::RTA_CACHEINFO => {}
                _ => entry.attributes.push((kind, content.to_vec())),
            }
        }
        // Only this flag can be set.
        let flags = u32::from_ne_bytes([head[8], head[9], head[10], head[11]]) & ONLINK;
        entry.head[8..].copy_from_slice(&flags.to_ne_bytes());
        Ok(entry)
    }

    fn attribute(&self, wanted: u16) -> Option<&[u8]> {
        self.attributes.iter().find(|(kind, _)| *kind == wanted).map(|(_, content)| &content[..])
    }

    fn address(&self, wanted: u16) -> Option<IpAddr> {
        let content = self.attribute(wanted)?;
        let v4 = <[u8; 4]>::try_from(content).map(IpAddr::from);
        v4.or_else(|_| <[u8; 16]>::try_from(content).map(IpAddr::from)).ok()
    }

    /// The destination network and its prefix length; `None` for the default route.
    pub fn network(&self) -> Option<(IpAddr, u8)> {
        Some((self.address(libc::RTA_DST)?, self.head[1]))
    }

    /// The next hop.
    pub fn via(&self) -> Option<IpAddr> {
        self.address(libc::RTA_GATEWAY)
    }

    /// Index of the output device, if there is one.
    pub fn device(&self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.attribute(libc::RTA_OIF)?.try_into().ok()?))
    }

    /// A metric, in the kernel's format.
    pub fn metric(&self, wanted: Metric) -> Option<&[u8]> {
        self.metrics.iter().find(|(kind, _)| *kind == wanted as u16).map(|(_, content)| &content[..])
    }

    /// A numeric metric.
    pub fn number(&self, wanted: Metric) -> Option<u32> {
        Some(u32::from_ne_bytes(self.metric(wanted)?.try_into().ok()?))
    }

    /// A textual metric.
    pub fn name(&self, wanted: Metric) -> Option<String> {
        let text = self.metric(wanted)?;
        Some(String::from_utf8_lossy(text.split(|&byte| byte == 0).next()?).into_owned())
    }

    /// Sets or removes a metric.
    pub fn set(&mut self, metric: Metric, value: Option<Vec<u8>>) {
        self.metrics.retain(|(kind, _)| *kind != metric as u16);
        self.metrics.extend(value.map(|value| (metric as u16, value)));
    }

    /// Replaces the original route by this one.
    ///
    /// # Errors
    /// If the kernel refuses it, for example because there is no congestion control of that name.
    pub fn replace(&self) -> Result<(), Error> {
        let mut batch = Batch::default();
        batch.begin(libc::RTM_NEWROUTE, CREATE, || "change of the route".to_owned());
        batch.bytes.extend(self.head);
        for (kind, content) in &self.attributes {
            batch.attribute(*kind, content);
        }
        let mut nested = Batch::default();
        for (kind, content) in &self.metrics {
            nested.attribute(*kind, content);
        }
        batch.attribute(libc::RTA_METRICS, &nested.bytes);
        batch.end();
        batch.send()
    }
}

/// Most segments that the kernel hands at once to a device of this thread's namespace.
///
/// # Errors
/// If there is no such device, or the kernel does not answer.
pub fn segments(device: u32) -> Result<u32, Error> {
    let number = link(device, GSO_MAX_SEGS)?.and_then(|content| content.try_into().ok()).map(u32::from_ne_bytes);
    number.ok_or_else(|| cut_off("the segments of the device"))
}

/// MTU of a device of this thread's namespace.
///
/// # Errors
/// If there is no such device, or the kernel does not answer.
pub fn mtu(device: u32) -> Result<u32, Error> {
    let number = link(device, libc::IFLA_MTU)?.and_then(|content| content.try_into().ok()).map(u32::from_ne_bytes);
    number.ok_or_else(|| cut_off("the largest packet of the device"))
}

/// MAC address of a device of this thread's namespace.
///
/// # Errors
/// If there is no such device, or it has none.
pub fn mac(device: u32) -> Result<[u8; 6], Error> {
    let mac = link(device, libc::IFLA_ADDRESS)?.and_then(|content| content.try_into().ok());
    mac.ok_or_else(|| cut_off("the MAC address of the device"))
}

/// The attribute of this type of a device.
fn link(device: u32, wanted: u16) -> Result<Option<Vec<u8>>, Error> {
    let mut batch = Batch::default();
    batch.begin(libc::RTM_GETLINK, libc::NLM_F_REQUEST as u16, || format!("device {device}"));
    batch.bytes.extend([0, 0, 0, 0]);
    [device, 0, 0].into_iter().for_each(|word| batch.word(word));
    batch.end();
    let answer = batch.ask()?;
    let found = attributes(answer.get(LINK..).unwrap_or_default()).find(|(kind, _)| *kind == wanted);
    Ok(found.map(|(_, content)| content.to_vec()))
}

fn cut_off(what: &str) -> Error {
    Error { what: format!("the kernel does not say {what}"), source: io::ErrorKind::UnexpectedEof.into() }
}

impl Batch {
    /// Lets the kernel hand this many segments to a device at once.
    pub fn set_segments(&mut self, device: u32, most: u32) {
        self.begin(libc::RTM_NEWLINK, REQUEST, || format!("at most {most} segments at once for device {device}"));
        self.bytes.extend([0, 0, 0, 0]);
        [device, 0, 0].into_iter().for_each(|word| self.word(word));
        self.attribute(GSO_MAX_SEGS, &most.to_ne_bytes());
        self.end();
    }

    /// Sends a single question and returns the kernel's answer, without its header.
    fn ask(&self) -> Result<Vec<u8>, Error> {
        let failed = || self.requests.first().map_or_else(String::new, |(_, name)| name.clone());
        let socket = asking(SockProtocol::NetlinkRoute).tried(failed)?;
        send(socket.as_raw_fd(), &self.bytes, MsgFlags::empty()).tried(failed)?;
        let mut buffer = vec![0; 64 * 1024];
        let got = answered(&socket, &mut buffer).tried(failed)?;
        let message = messages(&buffer[..got]).next().ok_or_else(|| cut_off(&failed()))?;
        match message.code() {
            None => Ok(message.content.to_vec()),
            Some(code) => Err(io::Error::from(Errno::from_raw(-code))).tried(failed),
        }
    }
}

/// Type and content of each `struct rtattr`, except a truncated one.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]));
        let kind = u16::from_ne_bytes([*bytes.get(2)?, *bytes.get(3)?]) & KIND;
        let content = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_they_are_written() {
        let mut batch = Batch::default();
        batch.attribute(7, &[1, 2, 3]);
        batch.attribute(0x8008, b"fh_tcp_ap\0");
        let found: Vec<_> = attributes(&batch.bytes).collect();
        assert_eq!(found, [(7, &[1, 2, 3][..]), (8, &b"fh_tcp_ap\0"[..])]);
        for end in 0..8 + 14 {
            assert!(attributes(&batch.bytes[..end]).count() < 2, "what is cut off is left out");
        }
    }

    #[test]
    fn the_loopback_has_a_route_and_takes_more_than_one_segment() {
        let entry = Entry::to(IpAddr::from([127, 0, 0, 1])).unwrap();
        assert_eq!((entry.device(), entry.via()), (Some(super::super::LOOPBACK), None));
        assert!(segments(super::super::LOOPBACK).unwrap() > 1);
        assert!(mtu(super::super::LOOPBACK).unwrap() >= 1_500);
        assert_eq!(mac(super::super::LOOPBACK).unwrap(), [0; 6]);
        assert!(segments(0x7fff_ffff).is_err());
    }

    #[test]
    fn metrics_are_set_and_taken_away() {
        let mut entry = Entry { head: [0; ROUTE], attributes: vec![], metrics: vec![(2, vec![1])] };
        entry.set(Metric::CongestionControl, Some(b"reno\0".to_vec()));
        entry.set(Metric::InitialWindow, Some(2_u32.to_ne_bytes().to_vec()));
        entry.set(Metric::InitialWindow, Some(3_u32.to_ne_bytes().to_vec()));
        assert_eq!(entry.name(Metric::CongestionControl).as_deref(), Some("reno"));
        assert_eq!((entry.number(Metric::InitialWindow), entry.number(Metric::QuickAck)), (Some(3), None));
        entry.set(Metric::CongestionControl, None);
        entry.set(Metric::InitialWindow, None);
        assert_eq!(entry.metrics, [(2, vec![1])], "the others stay");
    }

    #[test]
    fn a_route_of_the_kernel_is_read_with_its_network_and_an_error_says_what_was_asked() {
        let entry = Entry::to(IpAddr::from([127, 77, 0, 1])).unwrap();
        assert_eq!(entry.network(), Some((IpAddr::from([127, 0, 0, 0]), 8)));
        for error in [segments(0x7fff_ffff).unwrap_err(), mtu(0x7fff_ffff).unwrap_err(), mac(0x7fff_ffff).unwrap_err()]
        {
            assert_eq!(error.what, "device 2147483647");
        }
        assert_eq!(cut_off("its name").to_string(), "the kernel does not say its name: unexpected end of file");
    }

    #[test]
    fn a_route_over_a_neighbour_has_its_address_whatever_its_length() {
        let attributes = vec![
            (libc::RTA_DST, vec![10, 0, 0, 0]),
            (libc::RTA_OIF, 3_u32.to_ne_bytes().to_vec()),
            (libc::RTA_GATEWAY, [&[0xfe, 0x80][..], &[0; 13], &[1]].concat()),
        ];
        let mut entry = Entry { head: [2, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], attributes, metrics: vec![] };
        assert_eq!(entry.network(), Some((IpAddr::from([10, 0, 0, 0]), 24)));
        assert_eq!((entry.device(), entry.via()), (Some(3), Some("fe80::1".parse().unwrap())));
        entry.attributes = vec![(libc::RTA_GATEWAY, vec![1, 2, 3]), (libc::RTA_OIF, vec![1])];
        assert_eq!((entry.network(), entry.device(), entry.via()), (None, None, None), "none of a wrong length");
    }

    #[test]
    fn the_segments_of_a_device_are_one_attribute() {
        let mut batch = Batch::default();
        batch.set_segments(4, 1);
        assert_eq!(batch.bytes[4..6], libc::RTM_NEWLINK.to_ne_bytes());
        assert_eq!(batch.bytes[20..24], 4_u32.to_ne_bytes(), "of this device");
        let found: Vec<_> = attributes(&batch.bytes[16 + LINK..]).collect();
        assert_eq!(found, [(GSO_MAX_SEGS, &1_u32.to_ne_bytes()[..])]);
    }
}
