//! ICMP: a router's message to the sender of a packet that it loses (RFC 792, RFC 1812 section 4.3).

use etherparse::icmpv4::{DestUnreachableHeader, TimeExceededCode};
use etherparse::{Icmpv4Type, PacketBuilder};
use fourhop_proto::drop::DropReason;
use fourhop_proto::wire::bytes::Ipv4Head;
use fourhop_proto::wire::{Ipv4Packet, encode};
use fourhop_units::{Dur, Time};
use std::net::Ipv4Addr;

/// Bytes quoted of the lost packet: its header and at least 8 bytes (RFC 792); with more, up to a total of 576 bytes,
/// sockets of extended protocols can be found too (RFC 1812 section 4.3.2.3).
const QUOTED: usize = 576 - 28;

/// Rate limit of each router: burst and interval (RFC 1812 section 4.3.2.8), with the defaults of Linux.
const BURST: u32 = 6;
const INTERVAL: Dur = Dur::from_millis(100);

/// The rest of a router's rate limit.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    left: u32,
    since: Time,
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { left: BURST, since: Time::ZERO }
    }
}

impl Allowance {
    /// Whether a message may be sent now. If so, it is counted.
    pub fn take(&mut self, now: Time) -> bool {
        let earned = now.saturating_since(self.since).as_nanos() / INTERVAL.as_nanos();
        if earned > 0 {
            self.left = BURST.min(self.left.saturating_add(u32::try_from(earned).unwrap_or(BURST)));
            self.since = now;
        }
        let may = self.left > 0;
        self.left -= u32::from(may);
        may
    }
}

/// The message of router `at` about this packet, as an IPv4 packet; `None` if no message is due.
pub fn message(at: Ipv4Addr, lost: &Ipv4Packet, reason: DropReason) -> Option<Vec<u8>> {
    let kind = match reason {
        DropReason::TtlExpired => Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit),
        DropReason::NoRoute
        | DropReason::LinkBroken
        | DropReason::ArpUnresolved
        | DropReason::BufferTimeout
        | DropReason::DiscoveryFailed => Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Host),
        // A full queue causes no message (RFC 6633 deprecated source quench); a loop is ended by the time to live.
        _ => return None,
    };
    let mut bytes = Vec::new();
    encode::packet(lost, &mut bytes);
    about(at, &bytes, kind)
}

/// The message of the router `at` about a packet that is longer than `mtu` and must not be fragmented (RFC 1191 section
/// 4); `None` if it may be.
pub fn too_long(at: Ipv4Addr, bytes: &[u8], mtu: u32) -> Option<Vec<u8>> {
    // The DF bit (RFC 791 section 3.1).
    let whole = bytes.get(6).is_some_and(|flags| flags & 0x40 != 0);
    let next_hop_mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
    let header = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu };
    if whole { about(at, bytes, Icmpv4Type::DestinationUnreachable(header)) } else { None }
}

fn about(at: Ipv4Addr, bytes: &[u8], kind: Icmpv4Type) -> Option<Vec<u8>> {
    let head = Ipv4Head::read(bytes).ok()?;
    if !deserves(&head, bytes) {
        return None;
    }
    let mut out = Vec::new();
    let quoted = &bytes[..head.total_len.min(bytes.len()).min(QUOTED)];
    PacketBuilder::ipv4(at.octets(), head.src.octets(), 64).icmpv4(kind).write(&mut out, quoted).ok()?;
    Some(out)
}

/// Whether an error may be reported: not for ICMP errors, later fragments, and packets from or to more than one host
/// (RFC 1812 section 4.3.2.7).
fn deserves(head: &Ipv4Head, bytes: &[u8]) -> bool {
    const ICMP: u8 = 1;
    // Echo and its reply; all other types below 40 that are not errors are as old and as rare.
    let error = head.protocol == ICMP && !matches!(bytes.get(head.header_len), Some(0 | 8));
    let later = u16::from_be_bytes([bytes[6], bytes[7]]) & 0x1fff != 0;
    let one = |address: Ipv4Addr| !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
    !error && !later && one(head.src) && one(head.dst) && !head.src.is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};

    fn packet(src: [u8; 4], dst: [u8; 4], payload: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        PacketBuilder::ipv4(src, dst, 1).udp(40_000, 33_434).write(&mut bytes, &vec![7; payload]).unwrap();
        bytes
    }

    fn said(bytes: &[u8], reason: DropReason) -> Option<Vec<u8>> {
        message([10, 0, 0, 2].into(), &Ipv4Packet::from_bytes(bytes).unwrap(), reason)
    }

    const FROM: [u8; 4] = [10, 0, 0, 1];
    const TO: [u8; 4] = [10, 0, 0, 9];

    #[test]
    fn the_sender_learns_what_was_lost_and_why() {
        for (reason, kind) in [(DropReason::TtlExpired, [11, 0]), (DropReason::DiscoveryFailed, [3, 1])] {
            let lost = packet(FROM, TO, 1_000);
            let error = said(&lost, reason).unwrap();
            assert!(error.len() <= 576);
            let sliced = SlicedPacket::from_ip(&error).unwrap();
            let Some(NetSlice::Ipv4(ip)) = &sliced.net else { panic!("{sliced:?}") };
            assert_eq!((ip.header().source(), ip.header().destination()), ([10, 0, 0, 2], FROM));
            let Some(TransportSlice::Icmpv4(icmp)) = &sliced.transport else { panic!("{sliced:?}") };
            assert_eq!([icmp.type_u8(), icmp.code_u8()], kind);
            assert!(icmp.payload().starts_with(&lost[..28]));
        }
    }

    #[test]
    fn nothing_is_said_about_errors_fragments_groups_and_full_queues() {
        let lost = packet(FROM, TO, 10);
        assert_eq!(said(&lost, DropReason::QueueFull), None);
        let error = said(&lost, DropReason::TtlExpired).unwrap();
        assert_eq!(said(&error, DropReason::TtlExpired), None, "an error about an error");
        let mut fragment = lost.clone();
        fragment[7] = 5;
        assert_eq!(said(&fragment, DropReason::TtlExpired), None);
        assert_eq!(said(&packet(FROM, [224, 0, 0, 5], 10), DropReason::NoRoute), None);
        assert_eq!(said(&packet([0; 4], TO, 10), DropReason::NoRoute), None);
    }

    #[test]
    fn a_sender_that_forbids_fragments_learns_the_mtu() {
        let mut long = packet(FROM, TO, 1_600);
        long[6] = 0;
        assert_eq!(too_long(FROM.into(), &long, 1_500), None, "it may be fragmented, by whoever can");
        long[6] |= 0x40;
        let error = too_long(FROM.into(), &long, 1_500).unwrap();
        let Some(TransportSlice::Icmpv4(icmp)) = SlicedPacket::from_ip(&error).unwrap().transport else {
            panic!("{error:?}")
        };
        let header = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: 1_500 };
        assert_eq!(icmp.icmp_type(), Icmpv4Type::DestinationUnreachable(header));
        assert!(error.len() <= 576 && icmp.payload().starts_with(&long[..28]));
    }

    #[test]
    fn a_router_says_six_things_at_once_and_ten_a_second() {
        let mut allowance = Allowance::default();
        let count = |allowance: &mut Allowance, now| (0..100).filter(|_| allowance.take(now)).count();
        assert_eq!(count(&mut allowance, Time::from_millis(50)), 6);
        assert_eq!(count(&mut allowance, Time::from_millis(300)), 3);
        assert_eq!(count(&mut allowance, Time::from_secs(100)), 6);
    }
}
