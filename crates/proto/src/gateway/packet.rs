//! The view of a packet that a gateway has, and what it may change.

use crate::wire::TcpSegment;
use core::net::IpAddr;

/// A TCP segment between two hosts, as the headers show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpView {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// The segment.
    pub segment: TcpSegment,
}

/// Addresses, protocol and ports (RFC 8290 section 4.1.1); ports are 0 where the protocol has none, or where a fragment
/// does not show them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FiveTuple {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Protocol number of IP.
    pub protocol: u8,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
}

/// A packet at a gateway: a simulated one ([`crate::wire::Ipv4Packet`]) or bytes (`Vec<u8>` that begin with an IP
/// header). Drivers of devices implement it with the functions of [`crate::wire::bytes`].
pub trait Packet {
    /// Bytes of the packet, as it is on the link: of one that is cut off, what its header says.
    fn len(&self) -> u32;

    /// Is it empty?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The TCP segment in it; `None` for anything else: other protocols, fragments, malformed packets.
    fn tcp(&self) -> Option<TcpView>;

    /// Addresses, protocol and ports; `None` if it is not IP.
    fn five_tuple(&self) -> Option<FiveTuple>;

    /// Writes the wired part of the round trip into the TCP header, as an option or over one that is there, and updates
    /// lengths and checksums; a bad checksum stays bad. Does nothing and returns false if the header has no room, a
    /// signature covers it, or the packet would become longer than `mtu`.
    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool;

    /// Marks the packet as RFC 3168 section 5 says, and puts the checksum right. Says whether its transport listens to
    /// that.
    fn mark_congestion(&mut self) -> bool;

    /// Writes the window of the TCP header, and updates the checksum; a bad checksum stays bad. Returns whether there
    /// is a header.
    fn write_window(&mut self, window: u16) -> bool;
}
