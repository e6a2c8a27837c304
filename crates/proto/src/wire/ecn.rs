//! Explicit congestion notification in the IP header (RFC 3168 section 5).

/// The ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// Not-ECT: the transport does not support ECN.
    #[default]
    NotEct = 0b00,
    /// ECT(1). Treated like ECT(0) here; RFC 8311 assigns it to experiments.
    Ect1 = 0b01,
    /// ECT(0): set by an ECN-capable transport.
    Ect0 = 0b10,
    /// CE: congestion experienced at a queue on the path.
    Ce = 0b11,
}

impl Ecn {
    /// Reads the two bits of the field; the other bits are ignored.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Sets CE if the transport is ECN-capable, and returns whether it is.
    pub fn mark(&mut self) -> bool {
        let listens = *self != Ecn::NotEct;
        if listens {
            *self = Ecn::Ce;
        }
        listens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, Ipv4Packet, PacketMeta, TcpSegment, UdpDatagram, bytes, encode};
    use core::net::Ipv4Addr;

    fn packet(body: Body) -> Ipv4Packet {
        let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        Ipv4Packet { src, dst, ttl: 64, ident: 1, dscp: 0, body, meta: PacketMeta::default() }
    }

    /// RFC 3168 section 5: ECT(0), ECT(1) and CE become CE; Not-ECT stays, and the queue has to drop the packet.
    #[test]
    fn what_listens_is_marked() {
        for (before, after) in
            [(Ecn::NotEct, Ecn::NotEct), (Ecn::Ect1, Ecn::Ce), (Ecn::Ect0, Ecn::Ce), (Ecn::Ce, Ecn::Ce)]
        {
            let mut simulated = packet(Body::Tcp(TcpSegment { ecn: before, ..TcpSegment::default() }));
            let mut bytes = Vec::new();
            encode::packet(&simulated, &mut bytes);
            assert_eq!((bytes::ecn(&bytes), bytes[1]), (before, before as u8));
            let mut foreign = Ipv4Packet::from_bytes(&bytes).expect("a packet");
            assert_eq!(simulated.mark_congestion(), before != Ecn::NotEct);
            assert_eq!((foreign.mark_congestion(), foreign.ecn()), (before != Ecn::NotEct, after));
            assert_eq!(simulated.ecn(), after);
            // The checksum equals that of the packet encoded from scratch.
            let (mut marked, mut expected) = (Vec::new(), Vec::new());
            encode::packet(&foreign, &mut marked);
            encode::packet(&simulated, &mut expected);
            assert_eq!(marked, expected);
        }
        let mut datagram = packet(Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 8 }));
        assert!(!datagram.mark_congestion());
    }
}
