//! Packets as bytes at a gateway, whole or truncated after their headers; [`crate::wire::bytes`] reads them.

use super::packet::{FiveTuple, Packet, TcpView};
use crate::wire::bytes::{self, IpHead};

impl TcpView {
    /// Parses the TCP segment of a packet.
    pub fn of(packet: &[u8]) -> Option<TcpView> {
        let segment = bytes::segment(packet)?;
        IpHead::read(packet).map(|IpHead { src, dst, .. }| TcpView { src, dst, segment })
    }
}

impl FiveTuple {
    /// Parses the five-tuple of a packet.
    pub fn of(packet: &[u8]) -> Option<FiveTuple> {
        let head = IpHead::read(packet)?;
        let (src_port, dst_port) = head.ports(packet).unwrap_or_default();
        Some(FiveTuple { src: head.src, dst: head.dst, protocol: head.protocol, src_port, dst_port })
    }
}

impl Packet for Vec<u8> {
    fn len(&self) -> u32 {
        let len = IpHead::read(self).map_or(Vec::len(self), |head| head.total_len);
        u32::try_from(len).unwrap_or(u32::MAX)
    }

    fn tcp(&self) -> Option<TcpView> {
        TcpView::of(self)
    }

    fn five_tuple(&self) -> Option<FiveTuple> {
        FiveTuple::of(self)
    }

    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool {
        bytes::write_wired_rtt(self, millis, mtu)
    }

    fn mark_congestion(&mut self) -> bool {
        bytes::mark_congestion(self)
    }

    fn write_window(&mut self, window: u16) -> bool {
        bytes::set_window(self, window)
    }
}
