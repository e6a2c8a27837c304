//! One thread with its queues and its state machine.

use crate::config::Config;
use crate::hops::Routes;
use crate::nodes::Nodes;
use crate::packet::Queued;
use crate::status::{Class, Flow, Node, Totals, Waits};
use fourhop_cc::tcp_ap::variation::ONE;
use fourhop_live::Error;
use fourhop_live::clock::Clock;
use fourhop_live::lateness::Lateness;
use fourhop_live::nfqueue::{QueuedPacket, Queues, Room};
use fourhop_live::poll::{Poller, Ready};
use fourhop_live::priority;
use fourhop_proto::gateway::{Action, Config as Gap, FlowKey, FlowState, Gateway, HashKey, Side};
use fourhop_proto::wire::bytes::IpHead;
use fourhop_units::{Dur, Time};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Between two reports, and two looks at what the main thread wants.
const TICK: Dur = Dur::from_millis(100);
const REPORT: Dur = Dur::from_secs(1);
/// Over so long waiting is summed up.
const WINDOW: Dur = Dur::from_secs(10);
/// Bytes of a packet that are copied: the longest headers of IPv4 and TCP are 120, and some extension headers of IPv6.
pub const COPIED: u32 = 256;
/// Looks at the queue before timers have their turn again, under load.
const TURNS: usize = 8;
/// Flows of a worker that are reported.
const SHOWN: usize = 20;

/// State shared by the main thread and a worker.
#[derive(Debug, Default)]
pub struct Shared {
    /// It is to let go what it holds, and end.
    pub stop: AtomicBool,
    /// Its queues were given up, because it stood still: it is to take them again.
    pub given_up: AtomicBool,
    /// Changes with the orders.
    pub changes: AtomicUsize,
    /// Options and routes from now on.
    pub orders: Mutex<Option<(Gap, Arc<Routes>)>>,
    /// How often it has gone round.
    pub rounds: AtomicUsize,
    /// Its verdicts. No atomic integers: processors of 32 bits may have none of 64.
    verdicts: Mutex<Verdicts>,
    /// Its counters.
    pub report: Mutex<Report>,
}

impl Shared {
    /// The worker is to follow these from its next round on; one that has not begun follows them from its first packet
    /// on.
    pub fn order(&self, orders: (Gap, Arc<Routes>)) {
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner) = Some(orders);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Its verdicts so far.
    pub fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Number of verdicts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    /// Those that the worker has given, or is giving.
    pub leaving: u64,
    /// Those of them that the kernel has.
    pub left: u64,
}

/// A worker's counters.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Counters.
    pub totals: Totals,
    /// Waiting of the last ten seconds that are over.
    pub sojourn: Waits,
    /// Nodes it has seen.
    pub nodes: Vec<Node>,
    /// Its flows with the most bytes.
    pub flows: Vec<Flow>,
}

/// A worker: its queues, and what it does between them.
#[derive(Debug)]
pub struct Worker {
    clock: Clock,
    queues: Queues,
    shared: Arc<Shared>,
    core: Core,
}

/// What a worker does with packets, without the kernel: state machine, nodes, metrics.
#[derive(Debug)]
struct Core {
    /// Packets of this queue go into the mesh.
    down: u16,
    gateway: Gateway<Queued>,
    nodes: Nodes,
    routes: Arc<Routes>,
    /// Number of the last packet, by direction: what is missing has passed.
    last: [Option<u32>; 2],
    totals: Totals,
    waits: Lateness,
    sojourn: Waits,
    out: Vec<Action<Queued>>,
}

impl Worker {
    /// For these queues; `down` is the one into the mesh.
    pub fn new(config: &Config, queues: Queues, down: u16, key: HashKey, shared: Arc<Shared>) -> Worker {
        Worker { clock: Clock::start(), queues, shared, core: Core::new(config.gap, down, key) }
    }

    /// Works until it is asked to stop; waiting packets then leave.
    ///
    /// # Errors
    /// If the queue has failed.
    pub fn run(mut self) -> Result<(), Error> {
        let mut poller = Poller::without_signals()?;
        let mut room = Room::new(COPIED);
        // Without it packets are up to 50 us later.
        let _ = priority::precise();
        poller.add(&self.queues, 0)?;
        let (mut ready, mut changes) = (Vec::<Ready>::new(), 0);
        let (mut report, mut window) = (Time::ZERO, Time::ZERO + WINDOW);
        let mut tick = Time::ZERO;
        loop {
            let now = self.clock.now();
            if now >= tick {
                tick = now + TICK;
                self.shared.rounds.fetch_add(1, Ordering::Relaxed);
                if self.shared.given_up.swap(false, Ordering::Acquire) {
                    self.take_again(now, &mut room)?;
                }
                let newest = self.shared.changes.load(Ordering::Acquire);
                if newest != changes {
                    changes = newest;
                    self.obey(now);
                }
                if now >= window {
                    window = now + WINDOW;
                    self.core.turn(now);
                }
                if now >= report {
                    report = now + REPORT;
                    self.report();
                }
                if self.shared.stop.load(Ordering::Acquire) {
                    return self.end(now, &mut room);
                }
            }
            self.core.gateway.handle_timeout(now, &mut self.core.out);
            self.verdicts(now)?;
            let due = self.core.gateway.next_timeout().map_or(tick, |at| at.min(tick));
            poller.wait(&self.clock, due, &mut ready)?;
            if !ready.is_empty() {
                ready.clear();
                for _ in 0..TURNS {
                    if self.receive(&mut room)? == 0 {
                        break;
                    }
                }
            }
        }
    }

    /// Takes what has come, and lets go what may.
    fn receive(&mut self, room: &mut Room) -> Result<usize, Error> {
        let now = self.clock.now();
        let Worker { queues, core, .. } = self;
        let failed = |source| Error { what: "the packet queue has failed".to_owned(), source };
        let count = queues.receive(room, |queued| core.take(now, &queued)).map_err(failed)?;
        self.verdicts(now)?;
        Ok(count)
    }

    /// Tells the kernel what may leave.
    fn verdicts(&mut self, now: Time) -> Result<(), Error> {
        let Core { out, waits, nodes, .. } = &mut self.core;
        let count = out.len() as u64;
        self.shared.verdicts().leaving += count;
        for action in out.drain(..) {
            let packet = leaving(now, action, waits, nodes);
            self.queues.accept(packet.queue, packet.id, packet.instead());
        }
        let failed = |source| Error { what: "the kernel refuses verdicts".to_owned(), source };
        self.queues.flush().map_err(failed)?;
        self.shared.verdicts().left += count;
        Ok(())
    }

    /// Options and routes may be others now.
    fn obey(&mut self, now: Time) {
        let orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((gap, routes)) = orders {
            self.core.obey(now, gap, routes);
        }
    }

    /// Its waiting packets have left without it: it forgets them, and binds its queues again.
    fn take_again(&mut self, now: Time, room: &mut Room) -> Result<(), Error> {
        self.core.forget_waiting(now);
        self.queues.take_again(room)?;
        self.core.totals.given_up += 1;
        self.obey(now);
        Ok(())
    }

    /// Lets everything go, also what comes until the queue is empty.
    fn end(mut self, now: Time, room: &mut Room) -> Result<(), Error> {
        self.core.release(now);
        self.verdicts(now)?;
        while self.receive(room)? > 0 {}
        self.report();
        Ok(())
    }

    fn report(&self) {
        *self.shared.report.lock().unwrap_or_else(PoisonError::into_inner) = self.core.report();
    }
}

/// A packet that leaves now, whose waiting is counted if it is data into the mesh.
fn leaving(now: Time, action: Action<Queued>, waits: &mut Lateness, nodes: &mut Nodes) -> Queued {
    let (packet, to) = match action {
        Action::Forward { packet, to } => (packet, to),
        // This state machine drops nothing.
        Action::Drop { packet, .. } => (packet, Side::Wired),
    };
    if to == Side::Wireless && packet.payload().is_some_and(|payload| payload > 0) {
        let wait = now.saturating_since(packet.came);
        waits.record(wait);
        if let Some(known) = nodes.get(packet.node) {
            known.waited(wait);
        }
    }
    packet
}

impl Core {
    fn new(gap: Gap, down: u16, key: HashKey) -> Core {
        Core {
            down,
            gateway: Gateway::new(gap, key),
            nodes: Nodes::new(gap.nodes),
            routes: Arc::default(),
            last: [None; 2],
            totals: Totals::default(),
            waits: Lateness::default(),
            sojourn: Waits::default(),
            out: Vec::new(),
        }
    }

    /// A packet has come.
    fn take(&mut self, now: Time, queued: &QueuedPacket<'_>) {
        let Core { gateway, nodes, routes, totals, last, out, down, .. } = self;
        let from = if queued.queue == *down { Side::Wired } else { Side::Wireless };
        let before = last[from as usize].replace(queued.id);
        let missing = before.map_or(0, |before| queued.id.wrapping_sub(before).wrapping_sub(1));
        totals.overload += u64::from(missing).min(1 << 20);
        let mut packet = Queued::new(now, queued);
        let head = IpHead::read(queued.bytes);
        let node = head.and_then(|head| {
            let address = if from == Side::Wired { head.dst } else { head.src };
            let place = nodes.see(now, address);
            totals.nodes_full += u64::from(place.is_none());
            let known = nodes.get(place?)?;
            let other = from == Side::Wireless && known.by_ttl.note(&head);
            if other || !known.resolved {
                match known.resolve(routes) {
                    Some(Some((hops, rate))) => gateway.handle_path(address, hops, rate),
                    Some(None) => gateway.handle_path_lost(now, address, out),
                    None => {}
                }
            }
            let payload = packet.payload();
            totals.no_tcp += u64::from(payload.is_none());
            let (bytes, packets) = if from == Side::Wired { &mut known.into } else { &mut known.out };
            *bytes += u64::from(payload.unwrap_or(0));
            *packets += 1;
            let unknown = from == Side::Wired && known.path.is_none() && payload.is_some_and(|payload| payload > 0);
            totals.unknown += u64::from(unknown);
            known.unknown += u64::from(unknown);
            place
        });
        packet.node = node.unwrap_or(u32::MAX);
        totals.no_tcp += u64::from(head.is_none());
        gateway.handle_packet(now, from, packet, out);
    }

    /// Options and routes from now on.
    fn obey(&mut self, now: Time, gap: Gap, routes: Arc<Routes>) {
        self.gateway.handle_config(now, gap, &mut self.out);
        self.routes = routes;
        for (address, path) in self.nodes.resolve(&self.routes) {
            match path {
                Some((hops, rate)) => self.gateway.handle_path(address, hops, rate),
                None => self.gateway.handle_path_lost(now, address, &mut self.out),
            }
        }
    }

    /// All that waits leaves now.
    fn release(&mut self, now: Time) {
        let gap = Gap { observe: true, ..Gap::paper() };
        self.gateway.handle_config(now, gap, &mut self.out);
    }

    /// What waits has left without a verdict, and numbers of packets begin anew.
    fn forget_waiting(&mut self, now: Time) {
        self.release(now);
        self.out.clear();
        self.last = [None; 2];
    }

    /// Ten seconds are over.
    fn turn(&mut self, now: Time) {
        self.sojourn = Waits::from(&std::mem::take(&mut self.waits));
        self.nodes.turn();
        for address in self.nodes.forget(now) {
            self.gateway.handle_path_lost(now, address, &mut self.out);
        }
    }

    fn report(&self) -> Report {
        let mut totals = self.totals;
        totals.count(self.gateway.counters(), self.gateway.control_counters());
        totals.flows = self.gateway.flows() as u64;
        totals.waiting = self.gateway.queued() as u64;
        totals.queued_bytes = self.gateway.queued_bytes();
        totals.memory_bytes = (self.gateway.memory() + self.nodes.memory()) as u64;
        let mut nodes = self.nodes.report();
        let places: HashMap<IpAddr, usize> = nodes.iter().enumerate().map(|(n, node)| (node.address, n)).collect();
        let mut means: HashMap<(usize, bool), Means> = HashMap::new();
        let mut flows = Vec::new();
        for (key, state) in self.gateway.each_flow() {
            let (out, into) = state.acked;
            if let Some(&place) = places.get(&key.wireless.0) {
                means.entry((place, into >= out)).or_default().add(&state);
            }
            flows.push((into + out, *key, state));
        }
        for ((place, into), means) in means {
            let node = &mut nodes[place];
            *(if into { &mut node.into } else { &mut node.out }) = means.class();
        }
        flows.sort_by_key(|&(acked, ..)| std::cmp::Reverse(acked));
        let flows = flows.iter().take(SHOWN).map(|(_, key, state)| flow(key, state)).collect();
        // Of the first ten seconds, and after silence, what there is.
        let sojourn = if self.sojourn.count > 0 { self.sojourn } else { Waits::from(&self.waits) };
        Report { totals, sojourn, nodes, flows }
    }
}

/// Sums over flows.
#[derive(Clone, Copy, Default, Debug)]
struct Means {
    class: Class,
    /// Sum and count of wireless and wired round trips and of intervals, in seconds.
    sums: [(f64, u32); 3],
}

impl Means {
    fn add(&mut self, state: &FlowState) {
        self.class.flows += 1;
        self.class.waiting += state.waiting as u64;
        self.class.queued_bytes += u64::from(state.queued);
        self.class.throttled += u64::from(state.throttle.is_some());
        for (sum, time) in
            self.sums.iter_mut().zip([state.measured.rtt, state.wired_rtt, state.even.or(state.interval)])
        {
            if let Some(time) = time {
                *sum = (sum.0 + time.as_secs_f64(), sum.1 + 1);
            }
        }
    }

    fn class(&self) -> Class {
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        let [wireless_rtt_s, wired_rtt_s, interval_s] = self.sums.map(mean);
        Class { wireless_rtt_s, wired_rtt_s, interval_s, ..self.class }
    }
}

fn flow(key: &FlowKey, state: &FlowState) -> Flow {
    let end = |(address, port): (IpAddr, u16)| std::net::SocketAddr::from((address, port)).to_string();
    let seconds = |time: Option<Dur>| time.map(|time| time.as_secs_f64());
    Flow {
        node: end(key.wireless),
        host: end(key.wired),
        into_bytes: state.acked.1,
        out_bytes: state.acked.0,
        waiting: state.waiting,
        queued_bytes: state.queued,
        wireless_rtt_s: seconds(state.measured.rtt),
        wired_rtt_s: seconds(state.wired_rtt),
        variation: f64::from(state.measured.variation.unwrap_or(0)) / f64::from(ONE),
        interval_s: seconds(state.even.or(state.interval)),
        own_interval_s: seconds(state.interval),
        throttle_bps: state.throttle.map(|throttle| throttle.rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Entry;
    use fourhop_cc::Measurements;
    use fourhop_cc::tcp_ap::Params;
    use fourhop_proto::gateway::Throttle;
    use fourhop_settings::Network;
    use fourhop_units::Rate;

    const HOST: [u8; 4] = [192, 0, 2, 1];
    const NODE: [u8; 4] = [10, 0, 0, 4];
    /// Queues into the mesh and out of it.
    const DOWN: u16 = 7100;
    const UP: u16 = 7101;
    /// More than anything here takes.
    const LONG: Dur = Dur::from_secs(100);

    /// A TCP segment over IPv4 with this time to live, sequence number, acknowledgement and bytes of data.
    fn segment(ends: [([u8; 4], u16); 2], ttl: u8, numbers: [u32; 2], payload: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, ttl, 6, 0, 0];
        bytes[2..4].copy_from_slice(&(40 + payload).to_be_bytes());
        ends.iter().for_each(|(address, _)| bytes.extend(address));
        ends.iter().for_each(|(_, port)| bytes.extend(port.to_be_bytes()));
        numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
        bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        bytes.resize(40 + usize::from(payload), 7);
        bytes
    }

    /// Data from the host to this port of a node.
    fn data(to: [u8; 4], port: u16, seq: u32, payload: u16) -> Vec<u8> {
        segment([(HOST, 80), (to, port)], 57, [seq, 1], payload)
    }

    /// What a node acknowledges to the host.
    fn ack(from: [u8; 4], port: u16, ttl: u8, number: u32) -> Vec<u8> {
        segment([(from, port), (HOST, 80)], ttl, [1, number], 0)
    }

    fn core(gap: Gap) -> Core {
        Core::new(gap, DOWN, HashKey([1, 2]))
    }

    /// With these the second packet of a flow waits.
    fn waiting() -> Gap {
        Gap { pace: Params { first_interval: Some(LONG), ..Gap::paper().pace }, ..Gap::paper() }
    }

    fn pacing() -> Core {
        let mut core = core(waiting());
        core.routes = routes(&[3]);
        core
    }

    /// NODE is so many hops away, at 2 Mbit/s.
    fn routes(hops: &[u8]) -> Arc<Routes> {
        let entry = |&hops: &u8| Entry { to: Network(NODE.into(), 32), hops, rate: None };
        Arc::new(Routes::new(&hops.iter().map(entry).collect::<Vec<_>>(), &[], Rate::kbps(2_000), false))
    }

    fn take(core: &mut Core, queue: u16, id: u32, bytes: &[u8]) {
        core.take(Time::from_secs(1), &QueuedPacket { queue, id, bytes, len: bytes.len() as u32 });
    }

    #[test]
    fn numbers_that_are_missing_are_packets_that_have_passed() {
        let mut core = core(Gap::paper());
        let overload = |core: &mut Core, queue, id| {
            take(core, queue, id, &data(NODE, 5, 1, 0));
            core.totals.overload
        };
        assert_eq!([5, 6, 9].map(|id| overload(&mut core, DOWN, id)), [0, 0, 2]);
        assert_eq!([100, 101, 103].map(|id| overload(&mut core, UP, id)), [2, 2, 3], "each queue has its own");
        core.last = [Some(u32::MAX); 2];
        assert_eq!([0, 2].map(|id| overload(&mut core, DOWN, id)), [3, 4], "they go round");
        assert_eq!(overload(&mut core, DOWN, 2 + (1 << 30)), 4 + (1 << 20), "a jump is not believed");
    }

    #[test]
    fn what_comes_is_counted_for_the_node_by_its_direction() {
        let mut core = core(Gap { nodes: 2, ..Gap::paper() });
        core.routes = routes(&[3]);
        take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
        take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 0));
        take(&mut core, UP, 1, &segment([(NODE, 5), (HOST, 80)], 61, [1, 1_001], 500));
        let Report { totals, nodes, .. } = core.report();
        let [node] = &nodes[..] else { panic!("{nodes:?}") };
        assert_eq!((node.address, node.hops, node.rate_bps), (NODE.into(), Some(3), Some(2_000_000)));
        assert_eq!((node.into_bytes, node.into_packets), (1_000, 2));
        assert_eq!((node.out_bytes, node.out_packets, node.unknown), (500, 1, 0));
        assert_eq!((totals.packets, totals.unknown, totals.no_tcp, totals.nodes_full), (3, 0, 0, 0));
        let of_node = |action: &Action<Queued>| matches!(action, Action::Forward { packet, .. } if packet.node == 0);
        assert!(core.out.len() == 3 && core.out.iter().all(of_node), "they carry its number: {:?}", core.out);
    }

    #[test]
    fn data_to_a_node_without_a_path_is_unknown_and_other_packets_are_not() {
        let mut core = core(Gap::paper());
        take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
        take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 0));
        take(&mut core, UP, 1, &segment([(NODE, 5), (HOST, 80)], 61, [1, 1_001], 500));
        assert_eq!((core.totals.unknown, core.nodes.report()[0].unknown), (1, 1));
    }

    #[test]
    fn packets_that_are_no_tcp_and_nodes_beyond_the_limit_are_counted() {
        let mut core = core(Gap { nodes: 1, ..Gap::paper() });
        let mut udp = data(NODE, 5, 1, 100);
        udp[9] = 17;
        take(&mut core, DOWN, 1, &udp);
        assert_eq!((core.totals.no_tcp, core.totals.unknown), (1, 0));
        assert_eq!((core.nodes.report()[0].into_bytes, core.nodes.report()[0].into_packets), (0, 1));
        take(&mut core, DOWN, 2, &[0; 8]);
        assert_eq!((core.totals.no_tcp, core.totals.nodes_full, core.nodes.report().len()), (2, 0, 1));
        take(&mut core, DOWN, 3, &data([10, 0, 0, 5], 5, 1, 100));
        assert_eq!((core.totals.no_tcp, core.totals.nodes_full, core.nodes.report().len()), (2, 1, 1));
        assert_eq!(core.out.len(), 3, "all of them pass");
    }

    #[test]
    fn the_time_to_live_of_packets_out_of_the_mesh_tells_hops() {
        let mut core = core(Gap::paper());
        core.routes = Arc::new(Routes::new(&[], &[], Rate::kbps(2_000), true));
        let hops = |core: &Core| core.nodes.report()[0].hops;
        take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
        assert_eq!((hops(&core), core.totals.unknown), (None, 1), "that of the host says nothing");
        take(&mut core, UP, 1, &ack(NODE, 5, 61, 1_001));
        assert_eq!(hops(&core), Some(3));
        take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 1_000));
        assert_eq!(core.totals.unknown, 1);
        (2..6).for_each(|id| take(&mut core, UP, id, &ack(NODE, 5, 60, 1_001)));
        assert_eq!(hops(&core), Some(4));
    }

    #[test]
    fn data_into_the_mesh_waits_and_other_packets_do_not() {
        let (mut waits, mut nodes) = (Lateness::default(), Nodes::new(1));
        let place = nodes.see(Time::ZERO, NODE.into()).unwrap();
        let mut left = |bytes: &[u8], to, node| {
            let queued = QueuedPacket { queue: DOWN, id: 7, bytes, len: bytes.len() as u32 };
            let mut packet = Queued::new(Time::from_millis(100), &queued);
            packet.node = node;
            let action = Action::Forward { packet, to };
            let packet = leaving(Time::from_millis(130), action, &mut waits, &mut nodes);
            assert_eq!((packet.queue, packet.id), (DOWN, 7));
            nodes.turn();
            (waits.count(), nodes.report()[0].sojourn.max)
        };
        let data = data(NODE, 5, 1, 1_000);
        assert_eq!(left(&data, Side::Wireless, place), (1, 30.0));
        assert_eq!(left(&data, Side::Wired, place), (1, 0.0));
        assert_eq!(left(&ack(NODE, 5, 61, 1), Side::Wireless, place), (1, 0.0));
        assert_eq!(left(&data, Side::Wireless, u32::MAX), (2, 0.0), "of a node that there was no room for");
    }

    #[test]
    fn what_waits_leaves_at_the_end_and_is_forgotten_after_a_standstill() {
        for ends in [true, false] {
            let mut core = pacing();
            take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
            take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 900));
            let totals = core.report().totals;
            assert_eq!((totals.flows, totals.waiting, totals.queued_bytes, totals.waited), (1, 1, 900, 1));
            assert!(totals.memory_bytes > core.nodes.memory() as u64 && core.nodes.memory() > 0);
            assert_eq!(core.out.len(), 1);
            if ends {
                core.release(Time::from_secs(2));
                assert_eq!(core.out.len(), 2);
            } else {
                core.forget_waiting(Time::from_secs(2));
                assert_eq!(core.out.len(), 0, "there is nothing to say of those that have left");
                take(&mut core, DOWN, 90, &data(NODE, 5, 1_901, 900));
                assert_eq!(core.totals.overload, 0, "those that have left are not missing");
            }
            assert_eq!(core.report().totals.waiting, 0);
        }
    }

    #[test]
    fn new_orders_hold_for_nodes_that_are_known_already() {
        let mut core = pacing();
        take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
        take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 900));
        let gap = waiting();
        core.obey(Time::from_secs(2), gap, routes(&[4]));
        assert_eq!((core.nodes.report()[0].hops, core.out.len()), (Some(4), 1));
        core.obey(Time::from_secs(2), gap, routes(&[]));
        assert_eq!((core.nodes.report()[0].hops, core.out.len()), (None, 2), "without a path nothing waits");
        take(&mut core, DOWN, 3, &data(NODE, 5, 1_901, 900));
        assert_eq!(core.totals.unknown, 1);
    }

    #[test]
    fn a_node_that_is_silent_is_forgotten_and_its_packets_leave() {
        let mut core = pacing();
        take(&mut core, DOWN, 1, &data(NODE, 5, 1, 1_000));
        take(&mut core, DOWN, 2, &data(NODE, 5, 1_001, 900));
        core.waits.record(Dur::from_millis(40));
        core.turn(Time::from_secs(11));
        assert_eq!((core.report().nodes.len(), core.out.len(), core.report().sojourn.max), (1, 1, 40.0));
        core.waits.record(Dur::from_millis(50));
        assert_eq!(core.report().sojourn.max, 40.0, "of the ten seconds that are over");
        core.turn(Time::from_secs(602));
        assert_eq!((core.report().nodes.len(), core.out.len()), (0, 2));
    }

    #[test]
    fn the_first_ten_seconds_and_those_after_silence_are_reported_as_they_are() {
        let mut core = core(Gap::paper());
        core.waits.record(Dur::from_millis(40));
        assert_eq!(core.report().sojourn.max, 40.0);
        core.turn(Time::from_secs(11));
        core.turn(Time::from_secs(21));
        core.waits.record(Dur::from_millis(50));
        assert_eq!(core.report().sojourn.max, 50.0);
    }

    #[test]
    fn flows_are_reported_by_their_bytes_and_summed_up_by_node_and_direction() {
        let mut core = core(Gap::paper());
        core.routes = routes(&[3]);
        // The flow of port n has n * 10 bytes into the mesh, that of port 100 has 500 out of it.
        for port in 1..=25 {
            take(&mut core, DOWN, u32::from(port), &data(NODE, port, 1, port * 10));
            take(&mut core, UP, u32::from(port), &ack(NODE, port, 61, 1 + u32::from(port) * 10));
        }
        take(&mut core, UP, 26, &segment([(NODE, 100), (HOST, 80)], 61, [1, 1], 500));
        take(&mut core, DOWN, 26, &segment([(HOST, 80), (NODE, 100)], 57, [1, 501], 0));
        let Report { totals, nodes, flows, .. } = core.report();
        assert_eq!((totals.flows, flows.len(), nodes.len()), (26, SHOWN, 1));
        assert_eq!((nodes[0].into.flows, nodes[0].out.flows), (25, 1));
        assert_eq!((&flows[0].node[..], &flows[0].host[..]), ("10.0.0.4:100", "192.0.2.1:80"));
        let bytes: Vec<_> = flows.iter().map(|flow| (flow.into_bytes, flow.out_bytes)).collect();
        assert_eq!(bytes[..3], [(0, 500), (250, 0), (240, 0)]);
        assert_eq!(bytes[SHOWN - 1], (70, 0));
    }

    fn state(ms: u64) -> FlowState {
        FlowState {
            seen: Time::ZERO,
            measured: Measurements { rtt: Some(Dur::from_millis(ms)), delay: None, variation: Some(ONE / 4) },
            interval: Some(Dur::from_millis(2 * ms)),
            even: None,
            throttle: None,
            wired_rtt: None,
            waiting: 3,
            queued: 4_000,
            acked: (10, 20),
        }
    }

    #[test]
    fn means_are_those_of_the_flows_that_have_a_value() {
        let mut means = Means::default();
        assert_eq!(means.class(), Class::default(), "none, and no division by zero");
        means.add(&state(100));
        let throttle = Some(Throttle { rate: 80_000, before: 90_000 });
        means.add(&FlowState { even: Some(Dur::from_millis(400)), throttle, ..state(300) });
        let nothing = Measurements { rtt: None, ..state(0).measured };
        let wired_rtt = Some(Dur::from_millis(30));
        means.add(&FlowState { measured: nothing, interval: None, wired_rtt, ..state(0) });
        let class = means.class();
        assert_eq!((class.flows, class.waiting, class.queued_bytes, class.throttled), (3, 9, 12_000, 1));
        let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
        assert!(near(class.wireless_rtt_s, 0.2) && near(class.wired_rtt_s, 0.03), "{class:?}");
        assert!(near(class.interval_s, 0.3), "a common interval takes the place of a flow's own: {class:?}");
    }

    #[test]
    fn a_flow_is_reported_in_seconds_and_with_its_ends() {
        let key = FlowKey { wireless: (NODE.into(), 5), wired: ("2001:db8::1".parse().unwrap(), 80) };
        let throttle = Some(Throttle { rate: 80_000, before: 90_000 });
        let found = flow(&key, &FlowState { even: Some(Dur::from_millis(400)), throttle, ..state(100) });
        let expected = Flow {
            node: "10.0.0.4:5".to_owned(),
            host: "[2001:db8::1]:80".to_owned(),
            into_bytes: 20,
            out_bytes: 10,
            waiting: 3,
            queued_bytes: 4_000,
            wireless_rtt_s: Some(0.1),
            wired_rtt_s: None,
            variation: 0.25,
            interval_s: Some(0.4),
            own_interval_s: Some(0.2),
            throttle_bps: Some(80_000),
        };
        assert_eq!(found, expected);
        let found = flow(&key, &FlowState { measured: Measurements::default(), interval: None, ..state(100) });
        assert_eq!((found.variation, found.interval_s, found.throttle_bps), (0.0, None, None));
    }

    #[test]
    fn a_worker_sees_that_its_orders_are_others() {
        let shared = Shared::default();
        shared.order((Gap::paper(), routes(&[3])));
        shared.order((Gap { mtu: 1_400, ..Gap::paper() }, routes(&[4])));
        assert_eq!(shared.changes.load(Ordering::Acquire), 2);
        assert_eq!(*shared.orders.lock().unwrap(), Some((Gap { mtu: 1_400, ..Gap::paper() }, routes(&[4]))));
    }

    #[test]
    fn verdicts_are_kept() {
        let shared = Shared::default();
        shared.verdicts().leaving += 3;
        shared.verdicts().left += 2;
        let verdicts = *shared.verdicts();
        assert_eq!((verdicts.leaving, verdicts.left), (3, 2));
    }
}
