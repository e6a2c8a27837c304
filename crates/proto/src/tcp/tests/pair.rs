//! Two sockets and a network between them that delays, loses, duplicates and reorders. Real bytes travel beside the
//! lengths: byte k of a stream is a function of k, and arriving bytes are checked one by one.

use crate::ccm::local_acks::{LocalAcks, Segments};
use crate::ccm::{self, Ccm};
use crate::tcp::{Action, Config, ReceiverPolicy, SackRecovery, Socket, State};
use crate::wire::TcpSegment;
use crate::wire::options::{Carried, Path};
use fourhop_cc::Transport;
use fourhop_units::{Dur, Seq, Time};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Fate of one segment in the network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Delivered,
    Lost,
    Doubled,
    /// A queue on the path is too long.
    Marked,
    /// Later than others by this many milliseconds.
    Late(u64),
}

struct Packet {
    arrives: Time,
    order: u64,
    to: usize,
    segment: TcpSegment,
    payload: Vec<u8>,
    carried: Option<Carried>,
}

pub(super) struct Pair {
    pub(super) now: Time,
    pub(super) sockets: [Socket; 2],
    network: Vec<Packet>,
    fates: Vec<Fate>,
    sent: usize,
    order: u64,
    received: [Vec<u8>; 2],
    delivered: [u64; 2],
    closed: [bool; 2],
    /// C3TCP's modules, if used, and what the link reports for each packet, cycling through the list: bandwidth and
    /// delay, or nothing because it does not know the options.
    modules: Option<[Ccm; 2]>,
    links: Vec<Option<(u32, u32)>>,
    /// Their local acknowledgements, if used.
    local: Option<[LocalAcks; 2]>,
    /// Segments passed up by these, with destination and payload; and the number of segments that they generated.
    up: VecDeque<(usize, TcpSegment, Vec<u8>)>,
    pub(super) made_up: usize,
    iss: [Seq; 2],
    /// Hop counts of the delivered packets, one after another, if the test sets them.
    pub(super) hops: Vec<u8>,
    /// Times of outages, from and to, in ms.
    pub(super) breaks: Vec<(u64, u64)>,
}

const LATENCY: Dur = Dur::from_millis(20);

fn byte(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9) >> 13) as u8
}

impl Pair {
    pub(super) fn new(transport: &'static Transport, config: Config, fates: Vec<Fate>, iss: [u32; 2]) -> Pair {
        Pair::of(transport, [config.clone(), config], fates, iss)
    }

    pub(super) fn of(transport: &'static Transport, configs: [Config; 2], fates: Vec<Fate>, iss: [u32; 2]) -> Pair {
        let [client, server] = configs;
        let client = Socket::new(client, transport, 1, 2, Seq::from_wire(iss[0]));
        let server = Socket::listen(server, transport, 2, Seq::from_wire(iss[1]));
        Pair {
            now: Time::ZERO,
            sockets: [client, server],
            network: Vec::new(),
            fates,
            sent: 0,
            order: 0,
            received: [Vec::new(), Vec::new()],
            delivered: [0; 2],
            closed: [false; 2],
            modules: None,
            links: Vec::new(),
            local: None,
            up: VecDeque::new(),
            made_up: 0,
            iss: iss.map(Seq::from_wire),
            hops: Vec::new(),
            breaks: Vec::new(),
        }
    }

    fn with_modules(self, links: Vec<Option<(u32, u32)>>) -> Pair {
        let module = Ccm::new(ccm::Options::NEWEST);
        Pair { modules: Some([module.clone(), module]), links, ..self }
    }

    fn with_local_acks(self) -> Pair {
        Pair { local: Some([LocalAcks::default(), LocalAcks::default()]), ..self }
    }

    /// Runs `with` on the local acknowledgements of `who`, and carries out the results; `arrived` is a segment from the
    /// other end with its payload.
    fn locally(
        &mut self,
        who: usize,
        arrived: Option<(&TcpSegment, &[u8])>,
        with: impl FnOnce(&mut LocalAcks, Time, &ccm::local_acks::Limits, &mut Segments),
    ) {
        let (Some(modules), Some(local)) = (&self.modules, &mut self.local) else { return };
        let mut segments = Segments::default();
        with(&mut local[who], self.now, &modules[who].limits(self.now), &mut segments);
        for segment in segments.down {
            let offset = u64::from(segment.seq.offset_from(self.iss[who] + 1));
            self.carry(who, segment, offset);
        }
        for segment in segments.up {
            let came = arrived.filter(|(came, _)| came.seq == segment.seq && came.payload == segment.payload);
            self.made_up += usize::from(came.is_none());
            assert!(segment.payload == 0 || came.is_some(), "no data is made");
            let payload = came.map_or_else(Vec::new, |(_, payload)| payload.to_vec());
            self.up.push_back((who, segment, payload));
        }
    }

    /// The options of a segment after one link.
    fn measured(&mut self, from: usize, segment: &TcpSegment) -> Option<Carried> {
        let mut carried = self.modules.as_mut()?[from].handle_outgoing(segment)?;
        let (bandwidth, delay) = (*self.links.get(self.sent % self.links.len().max(1))?)?;
        let options = &mut carried.options;
        options.path =
            options.path.map(|path: Path| path.over(u64::from(bandwidth), Dur::from_micros(u64::from(delay))));
        options.back = options.back.map(|back| back.over(Dur::from_micros(u64::from(delay))));
        Some(carried)
    }

    fn act(&mut self, who: usize, arrived: &[u8], out: Vec<Action>) {
        for action in out {
            match action {
                Action::Send { segment, .. } if self.local.is_some() => {
                    self.locally(who, None, |local, now, limits, out| local.handle_outgoing(now, segment, limits, out));
                }
                Action::Send { segment, stream_offset } => self.carry(who, segment, stream_offset),
                Action::Stored { skip, stream_offset, bytes } => {
                    let (skip, at, bytes) = (skip as usize, stream_offset as usize, bytes as usize);
                    let stream = &mut self.received[who];
                    if stream.len() < at + bytes {
                        stream.resize(at + bytes, 0);
                    }
                    stream[at..at + bytes].copy_from_slice(&arrived[skip..skip + bytes]);
                }
                Action::Delivered { bytes } => self.delivered[who] += bytes,
                Action::PeerClosed => {
                    let now = self.now;
                    let mut more = Vec::new();
                    self.sockets[who].close(now, &mut more);
                    self.act(who, &[], more);
                }
                Action::Closed => self.closed[who] = true,
                Action::Connected => {}
                Action::Reset => panic!("a reset"),
            }
        }
    }

    fn carry(&mut self, from: usize, mut segment: TcpSegment, offset: u64) {
        let fate = self.fates.get(self.sent).copied().unwrap_or(Fate::Delivered);
        let carried = self.measured(from, &segment);
        self.sent += 1;
        let payload: Vec<u8> = (offset..offset + u64::from(segment.payload)).map(byte).collect();
        let ms = self.now.as_nanos() / 1_000_000;
        let broken = self.breaks.iter().any(|&(from, to)| (from..to).contains(&ms));
        let fate = if broken { Fate::Lost } else { fate };
        let (copies, late) = match fate {
            Fate::Delivered => (1, 0),
            Fate::Marked => {
                segment.ecn.mark();
                (1, 0)
            }
            Fate::Lost => (0, 0),
            Fate::Doubled => (2, 0),
            Fate::Late(ms) => (1, ms),
        };
        for copy in 0..copies {
            self.order += 1;
            self.network.push(Packet {
                arrives: self.now + LATENCY + Dur::from_millis(late + 7 * copy),
                order: self.order,
                to: 1 - from,
                segment: segment.clone(),
                payload: payload.clone(),
                carried: carried.clone(),
            });
        }
    }

    /// Handles one event. Returns false if nothing is left to happen.
    fn step(&mut self) -> bool {
        let packet = (0..self.network.len()).min_by_key(|&i| (self.network[i].arrives, self.network[i].order));
        let timer = (0..2).filter_map(|i| Some((self.sockets[i].next_timeout()?, i))).min();
        let mut out = Vec::new();
        if let Some((who, segment, payload)) = self.up.pop_front() {
            self.sockets[who].handle_segment(self.now, &segment, &mut out);
            self.act(who, &payload, out);
            return true;
        }
        let local = self.local.iter().flatten().enumerate();
        let local = local.filter_map(|(who, local)| Some((local.next_timeout()?, who))).min();
        let first = packet.map(|i| self.network[i].arrives).into_iter().chain(timer.map(|(at, _)| at)).min();
        if let Some((at, who)) = local.filter(|&(at, _)| first.is_none_or(|first| at < first)) {
            self.now = self.now.max(at);
            self.locally(who, None, |local, now, _, out| local.handle_timeout(now, out));
            return true;
        }
        match (packet, timer) {
            (Some(i), timer) if timer.is_none_or(|(at, _)| self.network[i].arrives <= at) => {
                let mut packet = self.network.swap_remove(i);
                self.now = packet.arrives;
                if let Some(modules) = &mut self.modules {
                    let advertised = packet.segment.window;
                    let carried = packet.carried.as_ref();
                    modules[packet.to].handle_incoming(self.now, &mut packet.segment, carried, 1, None);
                    assert!(packet.segment.window <= advertised, "a window is never raised");
                    if self.local.is_some() {
                        packet.segment.window = advertised;
                        let arrived = Some((&packet.segment, &packet.payload[..]));
                        self.locally(packet.to, arrived, |local, now, limits, out| {
                            local.handle_incoming(now, packet.segment.clone(), limits, out);
                        });
                        return true;
                    }
                }
                if !self.hops.is_empty() {
                    let hops = self.hops[packet.order as usize % self.hops.len()];
                    self.sockets[packet.to].note_hops(hops);
                }
                self.sockets[packet.to].handle_segment(self.now, &packet.segment, &mut out);
                self.act(packet.to, &packet.payload, out);
            }
            (_, Some((at, who))) => {
                self.now = self.now.max(at);
                self.sockets[who].handle_timeout(self.now, &mut out);
                self.act(who, &[], out);
            }
            (None, None) => return false,
            (Some(_), None) => unreachable!("covered by the first arm"),
        }
        for socket in &self.sockets {
            assert!(socket.cwnd() >= 1 && socket.ssthresh() >= 2);
            socket.check_order();
            if let Some(rack) = socket.tx.rack() {
                rack.flight.check();
            }
            assert!(socket.window().cwnd_cnt < fourhop_cc::Window::ONE);
            assert!(!socket.freeze().is_frozen() || socket.next_timeout().is_some(), "a frozen sender always wakes");
        }
        true
    }

    /// Runs until nothing happens any more; a livelock fails rather than hangs.
    fn drive_bounded(&mut self, steps: usize) {
        for _ in 0..steps {
            if !self.step() {
                return;
            }
        }
        panic!("no end after {steps} events at {}", self.now);
    }

    pub(super) fn transfer(mut self, bytes: [u64; 2]) -> Pair {
        let mut out = Vec::new();
        self.sockets[1].write(Time::ZERO, bytes[1], &mut out);
        self.sockets[0].open(Time::ZERO, &mut out);
        self.sockets[0].write(Time::ZERO, bytes[0], &mut out);
        self.act(0, &[], out);
        // The client closes once connected; the server when it sees that.
        let mut n = 0;
        while self.sockets[0].state() == State::SynSent {
            n += 1;
            assert!(n < 20_000, "the handshake never ends");
            assert!(self.step(), "the handshake hangs");
        }
        let mut out = Vec::new();
        let now = self.now;
        self.sockets[0].close(now, &mut out);
        self.act(0, &[], out);
        self.drive_bounded(20_000);
        for (who, sent) in [(1, bytes[0]), (0, bytes[1])] {
            assert_eq!(self.delivered[who], sent, "all of the stream, once");
            assert_eq!(self.received[who].len() as u64, sent);
            assert!(self.received[who].iter().enumerate().all(|(at, b)| *b == byte(at as u64)), "in order");
        }
        assert_eq!(self.closed, [true, true]);
        self
    }
}

pub(super) fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Delivered),
        2 => Just(Fate::Lost),
        1 => Just(Fate::Doubled),
        1 => Just(Fate::Marked),
        2 => (1u64..200).prop_map(Fate::Late),
    ]
}

pub(super) fn config() -> impl Strategy<Value = Config> {
    (any::<bool>(), 100u32..1_500, 1u32..4, any::<[bool; 7]>(), 1u32..20).prop_map(
        |(ns2, mss, initial_window, [timestamps, sack, delayed, nagle, by_time, ecn, stack_pacing], buffer)| Config {
            mss,
            initial_window,
            timestamps,
            sack,
            nagle,
            ecn,
            stack_pacing,
            sack_recovery: match (by_time, ns2) {
                (true, _) => SackRecovery::RackTlp,
                (_, true) => SackRecovery::PipeCounter,
                (_, false) => SackRecovery::Scoreboard,
            },
            receiver: match delayed {
                true => ReceiverPolicy::delayed(Dur::from_millis(40)),
                false => ReceiverPolicy::EVERY_SEGMENT,
            },
            receive_buffer: buffer * 1_000,
            max_timeouts: None,
            // Longer than all losses together can delay a last ACK: a peer that forgets too early cannot send it.
            time_wait: Dur::from_secs(10_000),
            ..if ns2 { Config::ns2() } else { Config::standard() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// RFC 9293 section 3.4: the stream arrives whole, once and in order, both ways, under any pattern of loss,
    /// reordering and duplication, and the connection ends in order.
    #[test]
    fn the_stream_arrives_whole_once_and_in_order(
        transport in 0..Transport::ALL.len(),
        config in config(),
        fates in prop::collection::vec(fate(), 0..150),
        bytes in any::<[u16; 2]>(),
        iss in any::<[u32; 2]>(),
    ) {
        Pair::new(&Transport::ALL[transport], config, fates, iss).transfer(bytes.map(u64::from));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// As above, with C3TCP's modules below both ends, whatever the links claim, and whatever happens to the options;
    /// half of them acknowledge by themselves, keep the stream and send it again.
    #[test]
    fn the_stream_arrives_whole_above_capacity_modules(
        transport in 0..Transport::ALL.len(),
        config in config(),
        fates in prop::collection::vec(fate(), 0..150),
        bytes in any::<[u16; 2]>(),
        iss in any::<[u32; 2]>(),
        links in prop::collection::vec(prop::option::weighted(0.8, (any::<u32>(), 0u32..1_000_000)), 1..40),
        local_acks in any::<bool>(),
    ) {
        let pair = Pair::new(&Transport::ALL[transport], config, fates, iss).with_modules(links);
        let pair = if local_acks { pair.with_local_acks() } else { pair };
        pair.transfer(bytes.map(u64::from));
    }
}

/// Where a link measures, data sent is acknowledged at once, and the peer's acknowledgements only open the window.
#[test]
fn modules_acknowledge_what_they_keep() {
    for transport in Transport::ALL {
        let pair = Pair::new(transport, Config::standard(), Vec::new(), [u32::MAX - 5_000, 1]);
        let pair = pair.with_modules(vec![Some((2_000_000, 20_000))]).with_local_acks().transfer([60_000, 0]);
        assert!(pair.made_up > 20, "{}: {}", transport.name, pair.made_up);
        assert!(pair.local.iter().flatten().all(|local| local.buffered() == 0 && !local.holds()));
    }
}

/// A path without loss carries a transfer without a single retransmission, at no more than the window per round trip.
#[test]
fn a_clean_path_needs_no_retransmission() {
    for transport in Transport::ALL {
        for config in [Config::ns2(), Config::standard()] {
            let pair = Pair::new(transport, config, Vec::new(), [u32::MAX - 5_000, 1]).transfer([300_000, 0]);
            let stats = pair.sockets[0].stats();
            assert_eq!((stats.segments_retransmitted, stats.timeouts, stats.bytes_acked), (0, 0, 300_000));
        }
    }
}

/// Streams longer than the sequence space are counted correctly (RFC 9293 section 3.4).
#[test]
fn the_sequence_space_wraps_in_the_middle_of_losses() {
    let fates: Vec<Fate> = (0..400).map(|n| if n % 11 == 10 { Fate::Lost } else { Fate::Delivered }).collect();
    for transport in Transport::ALL {
        let iss = [u32::MAX - 100_000, u32::MAX - 3];
        let pair = Pair::new(transport, Config::standard(), fates.clone(), iss).transfer([250_000, 50_000]);
        assert!(pair.sockets[0].stats().fast_retransmits > 0);
    }
}
