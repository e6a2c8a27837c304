//! The simulated network routes, and every node receives as ad hoc TCP does: rater, delimiter and freezer below the
//! kernel's TCP write the window into the acknowledgements that leave a node (Cho, Sirisena, Pawlikowski 2004, sections
//! III-B to III-D). The sender need not know: any TCP obeys a window.
//!
//! The paper takes forward delays from timestamps of synchronised clocks. The kernel's timestamps count milliseconds
//! from an arbitrary start for each connection (RFC 7323 section 5.4). The delay here is therefore measured from the
//! instant at which a segment enters the network to that at which it leaves, read with the clock that `[adhoc_tcp]`
//! describes.
//!
//! Leaves out: separate acknowledgements. A closed window is sent with the kernel's next acknowledgement, which may
//! wait for its delayed-ACK timer.

use super::Refused;
use fourhop_proto::tcp::adhoc::{Clock, Packet, Receiver, ReceiverOptions};
use fourhop_proto::wire::bytes::{self, Ipv4Head, hops_by_ttl};
use fourhop_proto::wire::{Ipv4Packet, TcpSegment};
use fourhop_units::{NodeId, Seq, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Most connections tracked; beyond that, the one silent for longest is forgotten, and its window is the kernel's.
const MOST: usize = 4096;
/// RFC 9293 section 3.7.1: the largest payload if the SYN does not give it.
const DEFAULT_MSS: u16 = 536;
/// Bytes of the timestamp option, padded (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;

/// An end of a connection.
type End = (Ipv4Addr, u16);

/// The ad hoc receivers of all nodes.
#[derive(Debug)]
pub struct Receivers {
    options: ReceiverOptions,
    clock: Clock,
    /// Keyed by the receiving end and the other.
    connections: BTreeMap<(End, End), Connection>,
}

/// One direction of a connection, at its receiver.
#[derive(Debug)]
struct Connection {
    receiver: Receiver,
    used: Time,
    /// Options of the receiver's SYN: its largest payload and its window scale.
    own: Option<(u16, Option<u8>)>,
    /// Whether the SYN of the sending end had a scale. Only if both have one does scaling apply (RFC 7323 section 2.2).
    scaled: Option<bool>,
    /// The sequence number after the last byte received.
    next: Option<Seq>,
    /// Acknowledgements whose window was lowered.
    lowered: u64,
}

impl Connection {
    /// Shift of the windows of the receiving end, if the handshake was seen.
    fn shift(&self) -> Option<u8> {
        let (own, scaled) = (self.own?.1, self.scaled?);
        // RFC 7323 section 2.3: at most 14.
        Some(own.filter(|_| scaled).map_or(0, |shift| shift.min(14)))
    }

    /// The window field to use instead of the kernel's. Whole segments count: a fraction of the field's unit is rounded
    /// up.
    fn limited(&self, advertised: u16) -> u16 {
        match self.shift().zip(self.receiver.limit()) {
            Some((shift, limit)) => advertised.min(u16::try_from(limit.div_ceil(1 << shift)).unwrap_or(u16::MAX)),
            None => advertised,
        }
    }

    fn arrived(&mut self, now: Time, segment: &TcpSegment, ttl: u8, created: Time, clock: Clock) {
        let Some((mss, _)) = self.own else { return };
        let sent = clock.reading(created);
        let options = if segment.options.timestamps.is_some() { TIMESTAMPS } else { 0 };
        let packet = Packet {
            bytes: segment.payload,
            mss: u32::from(mss).saturating_sub(options).max(1),
            hops: Some(hops_by_ttl(ttl)),
            delay: clock.delay_since(sent, now, self.receiver.skew()),
            // A keep-alive (RFC 1122 section 4.2.3.6), or a probe of a closed window.
            probe: segment.seq_len() == 0 && self.next.is_some_and(|next| segment.seq.before(next)),
        };
        self.receiver.handle_packet(now, &packet);
        let end = segment.seq + segment.seq_len();
        self.next = Some(self.next.map_or(end, |next| next.max(end)));
    }
}

impl Receivers {
    /// No receiver has received anything yet.
    pub fn new(options: ReceiverOptions, clock: Clock) -> Receivers {
        Receivers { options, clock, connections: BTreeMap::new() }
    }

    pub(super) fn enter(&mut self, now: Time, node: NodeId, host: &[u8]) -> Result<Ipv4Packet, Refused> {
        let limited = self.limited(now, node, host);
        let mut packet = super::routed::enter(limited.as_deref().unwrap_or(host))?;
        packet.meta.created = now;
        Ok(packet)
    }

    /// The segment with a changed window, if it changes.
    fn limited(&mut self, now: Time, node: NodeId, host: &[u8]) -> Option<Vec<u8>> {
        let (head, segment) = read(host)?;
        if head.src != node.ipv4() {
            return None;
        }
        let ends = ((head.src, segment.src_port), (head.dst, segment.dst_port));
        if segment.flags.syn {
            if !segment.flags.ack {
                self.connections.remove(&ends);
            }
            let mss = segment.options.mss.unwrap_or(DEFAULT_MSS);
            self.connection(now, ends).own = Some((mss, segment.options.window_scale));
            return None;
        }
        let connection = self.connections.get_mut(&ends)?;
        connection.used = now;
        if !segment.flags.ack || segment.flags.rst {
            return None;
        }
        connection.receiver.handle_ack_sent();
        let window = connection.limited(segment.window);
        if window == segment.window {
            return None;
        }
        connection.lowered += 1;
        let mut bytes = host.to_vec();
        bytes::set_window(&mut bytes, window);
        Some(bytes)
    }

    pub(super) fn leave(&mut self, now: Time, node: NodeId, packet: &Ipv4Packet, out: &mut Vec<u8>) -> bool {
        let done = super::routed::leave(packet, out);
        if let Some((head, segment)) = read(out).filter(|(head, _)| head.dst == node.ipv4()) {
            let ends = ((head.dst, segment.dst_port), (head.src, segment.src_port));
            let clock = self.clock;
            if segment.flags.syn {
                if !segment.flags.ack {
                    self.connections.remove(&ends);
                }
                self.connection(now, ends).scaled = Some(segment.options.window_scale.is_some());
            } else if let Some(connection) = self.connections.get_mut(&ends).filter(|_| !segment.flags.rst) {
                connection.used = now;
                connection.arrived(now, &segment, packet.ttl, packet.meta.created, clock);
            }
        }
        done
    }

    fn connection(&mut self, now: Time, ends: (End, End)) -> &mut Connection {
        if self.connections.len() >= MOST && !self.connections.contains_key(&ends) {
            let oldest = self.connections.iter().min_by_key(|(_, connection)| connection.used);
            if let Some(oldest) = oldest.map(|(&ends, _)| ends) {
                self.connections.remove(&oldest);
            }
        }
        let receiver = Receiver::new(self.options);
        let new = Connection { receiver, used: now, own: None, scaled: None, next: None, lowered: 0 };
        let connection = self.connections.entry(ends).or_insert(new);
        connection.used = now;
        connection
    }

    /// Counters of the receivers of known connections, by name.
    pub fn counters(&self) -> BTreeMap<&'static str, u64> {
        let mut sum = BTreeMap::new();
        for Connection { receiver, lowered, .. } in self.connections.values() {
            let stats = receiver.stats();
            for (name, count) in [
                ("freezes", stats.freezes),
                ("hop_changes", stats.hop_changes),
                ("probes", stats.probes),
                ("windows_lowered", *lowered),
            ] {
                *sum.entry(name).or_default() += count;
            }
        }
        sum
    }
}

fn read(packet: &[u8]) -> Option<(Ipv4Head, TcpSegment)> {
    Some((Ipv4Head::read(packet).ok()?, bytes::segment(packet)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice};
    use fourhop_proto::tcp::adhoc::{Gate, Rounding, Skew};
    use fourhop_units::{Dur, Rate};

    const SENDER: NodeId = NodeId(0);
    const RECEIVER: NodeId = NodeId(1);

    fn receivers() -> Receivers {
        let options = ReceiverOptions {
            delimiter: true,
            rater: true,
            rounding: Rounding::Floor,
            freezer: true,
            beta: 5,
            fresh_for: 4,
            gate: Gate::QUARTERS,
            link_rate: Rate::kbps(2_000),
            overhead: Dur::from_millis(1),
            skew: Skew::default(),
        };
        Receivers::new(options, Clock { tick: Dur::from_micros(10), synchronised: true })
    }

    struct Sent {
        from: NodeId,
        flags: &'static str,
        seq: u32,
        payload: usize,
        options: Vec<TcpOptionElement>,
    }

    fn bytes_of(sent: &Sent) -> Vec<u8> {
        let to = if sent.from == SENDER { RECEIVER } else { SENDER };
        let ports = if sent.from == SENDER { (4_000, 80) } else { (80, 4_000) };
        let builder = PacketBuilder::ipv4(sent.from.ipv4().octets(), to.ipv4().octets(), 64);
        let mut builder = builder.tcp(ports.0, ports.1, sent.seq, 60_000).options(&sent.options).unwrap();
        for flag in sent.flags.chars() {
            builder = match flag {
                'S' => builder.syn(),
                'R' => builder.rst(),
                _ => builder.ack(1),
            };
        }
        let mut out = Vec::new();
        builder.write(&mut out, &vec![0; sent.payload]).unwrap();
        out
    }

    /// Sends a segment at `at` ms that takes `delay` ms over eight hops; returns its window on arrival.
    fn passes(receivers: &mut Receivers, at: u64, delay: u64, sent: &Sent) -> u16 {
        let mut packet = receivers.enter(Time::from_millis(at), sent.from, &bytes_of(sent)).unwrap();
        packet.ttl -= 7;
        let to = if sent.from == SENDER { RECEIVER } else { SENDER };
        let mut out = Vec::new();
        assert!(receivers.leave(Time::from_millis(at + delay), to, &packet, &mut out));
        let sliced = SlicedPacket::from_ip(&out).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("{sliced:?}") };
        let sum = tcp.to_header().calc_checksum_ipv4_raw(sent.from.ipv4().octets(), to.ipv4().octets(), tcp.payload());
        assert_eq!(tcp.checksum(), sum.unwrap());
        tcp.window_size()
    }

    fn segment(from: NodeId, seq: u32, payload: usize) -> Sent {
        Sent { from, flags: "A", seq, payload, options: Vec::new() }
    }

    fn handshake(receivers: &mut Receivers, scales: [Option<u8>; 2]) {
        for (from, flags, scale) in [(SENDER, "S", scales[0]), (RECEIVER, "SA", scales[1])] {
            let mut options = vec![TcpOptionElement::MaximumSegmentSize(1_000)];
            options.extend(scale.map(TcpOptionElement::WindowScale));
            assert_eq!(passes(receivers, 0, 10, &Sent { from, flags, seq: 0, payload: 0, options }), 60_000);
        }
    }

    #[test]
    fn acknowledgements_offer_what_the_path_holds_and_nothing_else_changes() {
        for (scales, window) in [([Some(7), Some(3)], 250), ([None, Some(3)], 2_000), ([Some(7), None], 2_000)] {
            let mut receivers = receivers();
            handshake(&mut receivers, scales);
            assert_eq!(passes(&mut receivers, 20, 5, &segment(RECEIVER, 1, 0)), 60_000, "nothing is known yet");
            assert_eq!(passes(&mut receivers, 30, 100, &segment(SENDER, 1, 1_000)), 60_000, "the sender's own");
            assert_eq!(passes(&mut receivers, 130, 5, &segment(RECEIVER, 1, 0)), window, "{scales:?}");
        }
    }

    #[test]
    fn a_late_segment_closes_the_window_and_a_probe_opens_it() {
        let mut receivers = receivers();
        handshake(&mut receivers, [Some(0), Some(0)]);
        passes(&mut receivers, 30, 100, &segment(SENDER, 1, 1_000));
        passes(&mut receivers, 140, 351, &segment(SENDER, 1_001, 1_000));
        assert_eq!(passes(&mut receivers, 500, 5, &segment(RECEIVER, 1, 0)), 0);
        passes(&mut receivers, 600, 5, &segment(SENDER, 2_001, 0));
        assert_eq!(passes(&mut receivers, 610, 5, &segment(RECEIVER, 1, 0)), 0, "no probe, only an acknowledgement");
        passes(&mut receivers, 700, 5, &segment(SENDER, 2_000, 0));
        assert_eq!(passes(&mut receivers, 710, 5, &segment(RECEIVER, 1, 0)), 2_000);
        let counted = receivers.counters();
        assert_eq!((counted["freezes"], counted["probes"], counted["windows_lowered"]), (1, 1, 3));
    }

    #[test]
    fn a_connection_whose_beginning_was_not_seen_and_resets_are_left_alone() {
        let mut receivers = receivers();
        passes(&mut receivers, 30, 100, &segment(SENDER, 1, 1_000));
        assert_eq!(passes(&mut receivers, 130, 5, &segment(RECEIVER, 1, 0)), 60_000);
        handshake(&mut receivers, [Some(0), Some(0)]);
        passes(&mut receivers, 230, 100, &segment(SENDER, 1, 1_000));
        let reset = Sent { flags: "RA", ..segment(RECEIVER, 1, 0) };
        assert_eq!(passes(&mut receivers, 330, 5, &reset), 60_000);
    }

    #[test]
    fn connections_that_are_known_are_bounded() {
        let mut receivers = receivers();
        let ends = |n: usize| ((RECEIVER.ipv4(), 80), (SENDER.ipv4(), n as u16));
        (0..2 * MOST).for_each(|n| _ = receivers.connection(Time::from_millis(n as u64), ends(n)));
        assert_eq!(receivers.connections.len(), MOST);
        assert!(
            receivers.connections.contains_key(&ends(MOST)) && !receivers.connections.contains_key(&ends(MOST - 1))
        );
    }
}
