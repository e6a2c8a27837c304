//! The queues of Linux between routing and a Wi-Fi radio: FQ-CoDel per neighbour, and airtime shared evenly among the
//! neighbours.
//!
//! Sources: Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime
//! Fairness in WiFi", USENIX ATC 2017, sections 3.1 (queues) and 3.2 (Algorithm 3, the scheduler), and the constants of
//! mac80211, where this work was merged. In short: a packet waits in the queue of its flow at its neighbour. The
//! neighbours with packets take turns. Each has an airtime deficit, is charged for its frames, retransmissions
//! included, and skips rounds while it is in debt. Without that, a station at a low rate takes most of the airtime from
//! all others, because 802.11 shares the medium by frames (the anomaly of Heusse et al., INFOCOM 2003).
//!
//! Differences from mac80211:
//! - Every neighbour has its own hash buckets instead of a share in one pool of 4096.
//! - One packet or aggregate at a time is passed to the MAC, so there is no need for airtime queue limits (AQL).
//! - CoDel's target stays at 20 ms for slow neighbours too, where mac80211 uses 50 ms.
//! - Routing packets, which Linux sends in the voice category, go before all others, in order, if
//!   [`queue::Config::routing_first`](super::queue::Config::routing_first) is set.

use crate::aqm::HashKey;
use crate::aqm::codel;
use crate::aqm::flow_queues::{self, FlowQueues};
use crate::gateway::bucket;
use crate::wire::{Msdu, Payload};
use fourhop_units::{Dur, MacAddr, Time};
use std::collections::VecDeque;

/// Parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Maximum number of packets in all queues. mac80211: 8192.
    pub limit: usize,
    /// Maximum number of bytes in all queues. mac80211: 16 MB, 4 MB without 802.11ac.
    pub memory: u64,
    /// Bytes a flow may send per round. mac80211: 300, so that small packets of a new flow pass.
    pub quantum: u32,
    /// CoDel's parameters. mac80211: 20 ms and 100 ms.
    pub codel: codel::Config,
    /// Airtime a neighbour may use per round. mac80211: its weight, 256 us.
    pub airtime_quantum: Dur,
    /// Whether neighbours share airtime. Otherwise they take turns packet by packet.
    pub airtime_fairness: bool,
    /// Whether ECN-capable packets are marked where CoDel would drop them (RFC 3168). mac80211: yes.
    pub ecn: bool,
}

/// Hash buckets for flows at a neighbour, as in mac80211.
const BUCKETS: u32 = 4096;
/// mac80211 also lets CoDel drop the last packet of a queue.
const MTU: u32 = 0;
/// In a simulation, nobody crafts flows that share a queue.
const KEY: HashKey = HashKey([0; 2]);

impl Config {
    /// Defaults of mac80211 with 802.11n.
    pub const fn mac80211() -> Config {
        Config {
            limit: 8_192,
            memory: 4 << 20,
            quantum: 300,
            codel: codel::Config { target: Dur::from_millis(20), interval: Dur::from_millis(100) },
            airtime_quantum: Dur::from_micros(256),
            airtime_fairness: true,
            ecn: false,
        }
    }

    fn each(&self) -> flow_queues::Config {
        flow_queues::Config { quantum: self.quantum, codel: self.codel, mtu: MTU }
    }
}

/// Packets for one neighbour, or for broadcast.
#[derive(Clone, Debug)]
struct Neighbour {
    addr: MacAddr,
    flows: FlowQueues<Msdu>,
    /// Airtime that it may still use, in nanoseconds.
    deficit: i64,
    /// Whether it is in `turns`.
    listed: bool,
    used: Airtime,
}

/// Airtime that a neighbour has used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Airtime {
    /// For frames sent to it.
    pub sent: Dur,
    /// For data received from it.
    pub received: Dur,
}

/// The queues of one radio. There are no timers.
#[derive(Clone, Debug)]
pub struct StationQueues {
    config: Config,
    /// Sorted by address.
    neighbours: Vec<Neighbour>,
    /// Addresses of neighbours with packets, in the order of their turns.
    turns: VecDeque<MacAddr>,
    /// Routing packets, if they go first.
    urgent: VecDeque<Msdu>,
    count: usize,
    bytes: u64,
    marked: u64,
}

impl StationQueues {
    /// Creates empty queues.
    pub fn new(config: Config) -> StationQueues {
        StationQueues {
            config,
            neighbours: Vec::new(),
            turns: VecDeque::new(),
            urgent: VecDeque::new(),
            count: 0,
            bytes: 0,
            marked: 0,
        }
    }

    /// Returns the number of packets waiting.
    pub fn len(&self) -> usize {
        self.urgent.len() + self.count
    }

    /// Returns the number of packets marked so far.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Returns whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the neighbours with present or past packets, and the airtime they have used.
    pub fn airtimes(&self) -> impl Iterator<Item = (MacAddr, Airtime)> + '_ {
        self.neighbours.iter().map(|neighbour| (neighbour.addr, neighbour.used))
    }

    fn find(&self, addr: MacAddr) -> Result<usize, usize> {
        self.neighbours.binary_search_by_key(&addr, |neighbour| neighbour.addr)
    }

    fn entry(&mut self, addr: MacAddr) -> usize {
        self.find(addr).unwrap_or_else(|at| {
            let flows = FlowQueues::default();
            self.neighbours.insert(at, Neighbour { addr, flows, deficit: 0, listed: false, used: Airtime::default() });
            at
        })
    }

    /// Adds a packet, ahead of all others if it is `urgent`. While a limit is exceeded, heads of the longest queues are
    /// passed to `lost`.
    pub fn enqueue(&mut self, now: Time, msdu: Msdu, urgent: bool, mut lost: impl FnMut(Msdu)) {
        if urgent {
            return self.urgent.push_back(msdu);
        }
        let (at, len) = (self.entry(msdu.dst), msdu.len.get() as u32);
        let flow = match &msdu.payload {
            Payload::Ipv4(packet) => bucket(KEY, packet, BUCKETS),
            Payload::Arp(_) | Payload::Foreign(_) => 0,
        };
        let Neighbour { addr, flows, listed, .. } = &mut self.neighbours[at];
        flows.enqueue(&self.config.each(), now, flow, len, msdu);
        if !core::mem::replace(listed, true) {
            // A neighbour that was idle for a while comes first, unless it is in debt.
            if self.config.airtime_fairness { self.turns.push_front(*addr) } else { self.turns.push_back(*addr) }
        }
        self.count += 1;
        self.bytes += u64::from(len);
        while self.count > self.config.limit || self.bytes > self.config.memory {
            let longest = self.neighbours.iter_mut().max_by_key(|neighbour| neighbour.flows.longest());
            let Some(msdu) = longest.and_then(|neighbour| neighbour.flows.drop_from_longest()) else { return };
            self.left(&msdu);
            lost(msdu);
        }
    }

    fn left(&mut self, msdu: &Msdu) {
        self.count -= 1;
        self.bytes -= msdu.len.get();
    }

    /// Removes and returns the next packet for the MAC. Packets dropped by CoDel are passed to `lost`.
    pub fn dequeue(&mut self, now: Time, mut lost: impl FnMut(Msdu)) -> Option<Msdu> {
        if let Some(msdu) = self.urgent.pop_front() {
            return Some(msdu);
        }
        while let Some(&addr) = self.turns.front() {
            let at = self.entry(addr);
            if self.config.airtime_fairness && self.neighbours[at].deficit < 0 {
                let quantum = (self.config.airtime_quantum.as_nanos() as i64).max(1);
                let deficit = &mut self.neighbours[at].deficit;
                // A neighbour that is alone has no others to wait for.
                let rounds = if self.turns.len() == 1 { (-*deficit + quantum - 1) / quantum } else { 1 };
                *deficit += quantum * rounds;
                self.turns.rotate_left(1);
                continue;
            }
            if let Some(msdu) = self.take_from(now, at, &mut lost) {
                if self.neighbours[at].flows.is_empty() {
                    self.neighbours[at].listed = false;
                    self.turns.pop_front();
                } else if !self.config.airtime_fairness {
                    self.turns.rotate_left(1);
                }
                return Some(msdu);
            }
            self.neighbours[at].listed = false;
            self.turns.pop_front();
        }
        None
    }

    /// Removes and returns another packet for the same neighbour, to be aggregated with one that
    /// [`StationQueues::dequeue`] returned.
    pub fn dequeue_for(&mut self, now: Time, addr: MacAddr, mut lost: impl FnMut(Msdu)) -> Option<Msdu> {
        let at = self.find(addr).ok()?;
        self.take_from(now, at, &mut lost)
    }

    fn take_from(&mut self, now: Time, at: usize, lost: &mut impl FnMut(Msdu)) -> Option<Msdu> {
        let StationQueues { config, neighbours, count, bytes, marked, .. } = self;
        let dropped = |mut msdu: Msdu| {
            if config.ecn
                && let Payload::Ipv4(packet) = &mut msdu.payload
                && packet.mark_congestion()
            {
                *marked += 1;
                return Some(msdu);
            }
            *count -= 1;
            *bytes -= msdu.len.get();
            lost(msdu);
            None
        };
        let msdu = neighbours[at].flows.dequeue(&config.each(), now, dropped)?;
        self.left(&msdu);
        Some(msdu)
    }

    /// Charges a neighbour for the airtime of frames to it and of data from it.
    pub fn charge(&mut self, addr: MacAddr, airtime: Airtime) {
        let at = self.entry(addr);
        let neighbour = &mut self.neighbours[at];
        neighbour.used.sent += airtime.sent;
        neighbour.used.received += airtime.received;
        // Nobody pays for broadcasts, as in mac80211.
        if !addr.is_broadcast() {
            neighbour.deficit -= (airtime.sent + airtime.received).as_nanos() as i64;
        }
    }

    /// Removes every packet for `next_hop` and passes it to `lost`: routing packets first, then flow by flow.
    pub fn purge(&mut self, next_hop: MacAddr, mut lost: impl FnMut(Msdu)) {
        for _ in 0..self.urgent.len() {
            if let Some(msdu) = self.urgent.pop_front() {
                if msdu.dst == next_hop { lost(msdu) } else { self.urgent.push_back(msdu) }
            }
        }
        if let Ok(at) = self.find(next_hop) {
            let (count, bytes) = (&mut self.count, &mut self.bytes);
            self.neighbours[at].flows.clear(|msdu| {
                *count -= 1;
                *bytes -= msdu.len.get();
                lost(msdu);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, Ecn, Ipv4Packet, PacketMeta, TcpSegment, UdpDatagram};
    use fourhop_units::{Bytes, NodeId};
    use proptest::prelude::*;

    /// A datagram of a flow, identified by its port, to a neighbour.
    fn msdu(to: u32, port: u16, number: u32, payload: u32) -> Msdu {
        let body = Body::Udp(UdpDatagram { src_port: port, dst_port: 2, number, payload });
        let meta = PacketMeta::default();
        let packet =
            Ipv4Packet { src: NodeId(0).ipv4(), dst: NodeId(99).ipv4(), ttl: 9, ident: 0, dscp: 0, body, meta };
        Msdu { dst: NodeId(to).mac(), len: Bytes(u64::from(packet.len())), payload: Payload::Ipv4(packet) }
    }

    fn number(msdu: &Msdu) -> u32 {
        match &msdu.payload {
            Payload::Ipv4(Ipv4Packet { body: Body::Udp(udp), .. }) => udp.number,
            other => panic!("{other:?}"),
        }
    }

    fn sent(airtime: Dur) -> Airtime {
        Airtime { sent: airtime, received: Dur::ZERO }
    }

    fn refused(msdu: Msdu) {
        panic!("there is room for {msdu:?}");
    }

    const NOW: Time = Time::from_secs(1);

    /// Airtime after a second of two neighbours with always-full queues, whose frames take 1 ms and 8 ms.
    fn shares(fair: bool) -> [Dur; 2] {
        let config = Config { airtime_fairness: fair, ..Config::mac80211() };
        let mut queues = StationQueues::new(config);
        let mut now = Time::ZERO;
        let mut used = [Dur::ZERO; 2];
        while now < Time::from_secs(1) {
            for to in 0..2 {
                while queues.find(NodeId(to).mac()).map_or(0, |at| queues.neighbours[at].flows.len()) < 3 {
                    queues.enqueue(now, msdu(to, 1, 0, 1_000), false, refused);
                }
            }
            let msdu = queues.dequeue(now, drop).unwrap();
            let to = msdu.dst.node().unwrap().index();
            let airtime = Dur::from_millis([1, 8][to]);
            queues.charge(msdu.dst, sent(airtime));
            used[to] += airtime;
            now += airtime;
        }
        used
    }

    #[test]
    fn neighbours_share_air_time_or_take_turns() {
        let [fast, slow] = shares(true);
        assert!(fast.as_millis().abs_diff(slow.as_millis()) <= 9, "{fast:?} and {slow:?}");
        // The anomaly: one frame each.
        let [fast, slow] = shares(false);
        assert!((fast * 8).as_millis().abs_diff(slow.as_millis()) <= 8, "{fast:?} and {slow:?}");
    }

    #[test]
    fn what_was_received_is_paid_for_too() {
        let mut queues = StationQueues::new(Config::mac80211());
        for to in [1, 2] {
            (0..3).for_each(|n| queues.enqueue(NOW, msdu(to, 1, n, 100), false, refused));
        }
        // Neighbour 2 became active last and would go first.
        queues.charge(NodeId(2).mac(), Airtime { sent: Dur::ZERO, received: Dur::from_micros(600) });
        let order: Vec<_> =
            core::iter::from_fn(|| queues.dequeue(NOW, drop)).map(|m| m.dst.node().unwrap().0).collect();
        assert_eq!(order, [1, 1, 1, 2, 2, 2], "nobody pays for what is sent here");
        let airtimes: Vec<_> = queues.airtimes().map(|(_, airtime)| airtime.received.as_micros_rounded()).collect();
        assert_eq!(airtimes, [0, 600]);
    }

    #[test]
    fn a_neighbour_that_is_alone_is_let_off_its_debt_in_whole_rounds() {
        let mut queues = StationQueues::new(Config::mac80211());
        for debt in [1, 255, 256, 257, 600, 10_000] {
            queues.enqueue(NOW, msdu(1, 1, 0, 100), false, refused);
            queues.neighbours[0].deficit = 0;
            queues.charge(NodeId(1).mac(), sent(Dur::from_micros(debt)));
            assert!(queues.dequeue(NOW, drop).is_some());
            let left = debt.div_ceil(256) * 256 - debt;
            assert_eq!(queues.neighbours[0].deficit, left as i64 * 1_000, "after {debt} us");
        }
    }

    #[test]
    fn the_limits_of_packets_and_bytes_may_be_reached_and_not_passed() {
        let size = msdu(1, 1, 0, 100).len.get();
        for config in [Config { limit: 2, ..Config::mac80211() }, Config { memory: 2 * size, ..Config::mac80211() }] {
            let mut queues = StationQueues::new(config);
            assert!(queues.is_empty());
            (0..2).for_each(|n| queues.enqueue(NOW, msdu(1, 1, n, 100), false, refused));
            let mut lost = Vec::new();
            queues.enqueue(NOW, msdu(1, 1, 2, 100), false, |msdu| lost.push(number(&msdu)));
            assert_eq!((lost, queues.len(), queues.is_empty()), (vec![0], 2, false));
        }
    }

    #[test]
    fn a_new_flow_passes_a_long_one() {
        let mut queues = StationQueues::new(Config::mac80211());
        (0..20).for_each(|n| queues.enqueue(NOW, msdu(1, 1, n, 1_000), false, refused));
        assert_eq!(queues.dequeue(NOW, drop).map(|m| number(&m)), Some(0));
        queues.enqueue(NOW, msdu(1, 7, 100, 60), false, refused);
        let next: Vec<_> = (0..3).filter_map(|_| queues.dequeue(NOW, drop)).map(|m| number(&m)).collect();
        assert_eq!(next, [100, 1, 2]);
    }

    #[test]
    fn routing_goes_before_all_in_its_order() {
        let mut queues = StationQueues::new(Config::mac80211());
        for (n, urgent) in [(0, false), (1, true), (2, true)] {
            queues.enqueue(NOW, msdu(1, 1, n, 100), urgent, refused);
        }
        assert_eq!(queues.len(), 3);
        let order: Vec<_> = core::iter::from_fn(|| queues.dequeue(NOW, drop)).map(|m| number(&m)).collect();
        assert_eq!(order, [1, 2, 0]);
    }

    #[test]
    fn an_aggregate_is_filled_from_the_queues_of_its_neighbour_alone() {
        let mut queues = StationQueues::new(Config::mac80211());
        for (to, n) in [(1, 0), (2, 1), (1, 2), (2, 3), (1, 4)] {
            queues.enqueue(NOW, msdu(to, 1, n, 100), false, refused);
        }
        let first = queues.dequeue(NOW, drop).unwrap();
        let rest = core::iter::from_fn(|| queues.dequeue_for(NOW, first.dst, drop));
        assert_eq!((number(&first), rest.map(|m| number(&m)).collect::<Vec<_>>()), (1, vec![3]));
        // The emptied neighbour no longer has a turn.
        let order: Vec<_> = core::iter::from_fn(|| queues.dequeue(NOW, drop)).map(|m| number(&m)).collect();
        assert_eq!(order, [0, 2, 4]);
    }

    #[test]
    fn codel_drops_what_waited_long_and_says_so() {
        let mut queues = StationQueues::new(Config::mac80211());
        let mut lost = Vec::new();
        let mut now = NOW;
        for n in 0..400 {
            queues.enqueue(now, msdu(1, 1, n, 1_000), false, refused);
            // Every third packet stays, so that after a while each waits longer than 20 ms.
            if n % 3 > 0 {
                queues.dequeue(now, |m| lost.push(number(&m)));
            }
            now += Dur::from_millis(2);
        }
        assert!(lost.len() > 2, "{lost:?}");
        let count = queues.len();
        assert_eq!(core::iter::from_fn(|| queues.dequeue(now, |_| {})).count() > 0, count > 0);
        assert_eq!((queues.len(), queues.bytes), (0, 0));
    }

    /// The same load with ECN-capable TCP: no packet is dropped, some are marked, and the counts match.
    #[test]
    fn with_ecn_codel_marks_what_it_would_drop() {
        let mut queues = StationQueues::new(Config { ecn: true, ..Config::mac80211() });
        let (mut now, mut left) = (NOW, 0);
        for n in 0..400 {
            let Msdu { dst, len, payload } = msdu(1, 1, n, 1_000);
            let Payload::Ipv4(packet) = payload else { panic!("a packet") };
            let segment = TcpSegment { payload: 1_000, ecn: Ecn::Ect0, ..TcpSegment::default() };
            let payload = Payload::Ipv4(Ipv4Packet { body: Body::Tcp(segment), ..packet });
            queues.enqueue(now, Msdu { dst, len, payload }, false, refused);
            if n % 3 > 0 {
                left += usize::from(queues.dequeue(now, |msdu| panic!("{msdu:?} is dropped")).is_some());
            }
            now += Dur::from_millis(2);
        }
        assert!(queues.marked() > 2, "{}", queues.marked());
        assert_eq!(left + queues.len(), 400);
    }

    proptest! {
        /// After any sequence of operations, every packet that entered has left, was refused, lost or purged, or still
        /// waits, and the flows of a neighbour keep their order.
        #[test]
        fn packets_are_kept_account_of(
            steps in prop::collection::vec((0u8..5, 0u32..3, 0u16..3, 1u32..1_500), 1..300),
            limit in 1usize..20,
        ) {
            let mut queues = StationQueues::new(Config { limit, memory: 8_000, ..Config::mac80211() });
            let (mut now, mut came, mut left) = (NOW, 0, 0);
            let mut last = [[None; 3]; 3];
            for (n, (step, to, port, size)) in (0u32..).zip(steps) {
                now += Dur::from_millis(u64::from(size % 30));
                match step {
                    0 | 1 => {
                        came += 1;
                        queues.enqueue(now, msdu(to, port, n, size), false, |_| left += 1);
                        prop_assert!(queues.len() <= limit);
                        prop_assert!(queues.bytes <= 8_000);
                    }
                    2 | 3 => {
                        let waited = queues.len();
                        let mut lost = 0;
                        let msdu = queues.dequeue(now, |_| lost += 1);
                        prop_assert_eq!(msdu.is_none(), lost == waited);
                        left += lost + usize::from(msdu.is_some());
                        if let Some(msdu) = msdu {
                            let Payload::Ipv4(Ipv4Packet { body: Body::Udp(udp), .. }) = &msdu.payload else {
                                panic!();
                            };
                            let last = &mut last[msdu.dst.node().unwrap().index()][usize::from(udp.src_port)];
                            prop_assert!(*last < Some(udp.number), "out of order");
                            *last = Some(udp.number);
                            queues.charge(msdu.dst, sent(Dur::from_micros(u64::from(size))));
                        }
                    }
                    _ => queues.purge(NodeId(to).mac(), |_| left += 1),
                }
                prop_assert_eq!(came, left + queues.len());
            }
        }
    }
}
