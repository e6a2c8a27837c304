//! The simulator's packets at a gateway.

use super::packet::{FiveTuple, Packet, TcpView};
use crate::wire::{Body, Ipv4Packet, TcpOptions, bytes};

impl Packet for Ipv4Packet {
    fn len(&self) -> u32 {
        Ipv4Packet::len(self)
    }

    fn tcp(&self) -> Option<TcpView> {
        let segment = match &self.body {
            Body::Tcp(segment) => segment,
            Body::Opaque(packet) => return TcpView::of(packet.bytes()),
            _ => return None,
        };
        Some(TcpView { src: self.src.into(), dst: self.dst.into(), segment: segment.clone() })
    }

    fn five_tuple(&self) -> Option<FiveTuple> {
        let (protocol, src_port, dst_port) = match &self.body {
            Body::Tcp(segment) => (6, segment.src_port, segment.dst_port),
            Body::Measured(tcp) => (6, tcp.segment.src_port, tcp.segment.dst_port),
            Body::Transport(segment) => {
                let (src_port, dst_port) = segment.ports();
                (segment.protocol(), src_port, dst_port)
            }
            Body::Udp(datagram) => (17, datagram.src_port, datagram.dst_port),
            Body::Routing(message) => (17, message.port(), message.port()),
            Body::Echo(_) => (1, 0, 0),
            Body::Opaque(packet) => return FiveTuple::of(packet.bytes()),
        };
        Some(FiveTuple { src: self.src.into(), dst: self.dst.into(), protocol, src_port, dst_port })
    }

    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool {
        let before = Ipv4Packet::len(self);
        let segment = match &mut self.body {
            Body::Tcp(segment) => segment,
            Body::Opaque(packet) => return packet.edit(|bytes| bytes::write_wired_rtt(bytes, millis, mtu)),
            _ => return false,
        };
        let with = TcpOptions { wired_rtt: Some(millis), ..segment.options.clone() };
        if !segment.options.fits_wired_rtt() || before - segment.options.len() + with.len() > mtu {
            return false;
        }
        segment.options = with;
        true
    }

    fn mark_congestion(&mut self) -> bool {
        Ipv4Packet::mark_congestion(self)
    }

    fn write_window(&mut self, window: u16) -> bool {
        match &mut self.body {
            Body::Tcp(segment) => segment.window = window,
            Body::Opaque(packet) => return packet.edit(|bytes| bytes::set_window(bytes, window)),
            _ => return false,
        }
        true
    }
}
