//! A gateway's view of a packet, and the changes it may make.

use crate::wire::TcpSegment;
use core::net::IpAddr;

/// A TCP segment between two hosts, as seen in the headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpView {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// The segment.
    pub segment: TcpSegment,
}

/// Addresses, protocol and ports (RFC 8290 section 4.1.1); ports are 0 if the protocol has none or a fragment does not
/// contain them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FiveTuple {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// IP protocol number.
    pub protocol: u8,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
}

/// A packet at a gateway: a simulated one ([`crate::wire::Ipv4Packet`]) or bytes (`Vec<u8>` starting with an IP
/// header). Device drivers implement it with the functions of [`crate::wire::bytes`].
pub trait Packet {
    /// Returns the length of the packet on the link; for a truncated one, the length in its header.
    fn len(&self) -> u32;

    /// Whether it is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the TCP segment in it; `None` for anything else: other protocols, fragments, malformed packets.
    fn tcp(&self) -> Option<TcpView>;

    /// Returns addresses, protocol and ports; `None` if it is not IP.
    fn five_tuple(&self) -> Option<FiveTuple>;

    /// Writes the wired part of the round trip into the TCP header, as a new option or over an existing one, and
    /// updates lengths and checksums; a bad checksum stays bad. Does nothing and returns false if the header has no
    /// room, a signature covers it, or the packet would exceed `mtu`.
    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool;

    /// Marks the packet according to RFC 3168 section 5, and corrects the checksum. Returns whether its transport is
    /// ECN-capable.
    fn mark_congestion(&mut self) -> bool;

    /// Writes the window field of the TCP header, and updates the checksum; a bad checksum stays bad. Returns whether
    /// there is a TCP header.
    fn write_window(&mut self, window: u16) -> bool;
}
