//! A thread with its queues and its state machine.

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

/// Interval between two checks for orders of the main thread.
const TICK: Dur = Dur::from_millis(100);
/// Interval between two reports.
const REPORT: Dur = Dur::from_secs(1);
/// Period over which waiting times are summarized.
const WINDOW: Dur = Dur::from_secs(10);
/// Bytes copied of each packet: the longest headers of IPv4 and TCP, 120 bytes, and some IPv6 extension headers.
pub const COPIED: u32 = 256;
/// Reads of the queue before timers have their turn again, under load.
const TURNS: usize = 8;
/// Flows reported by a worker.
const SHOWN: usize = 20;

/// State shared by the main thread and a worker.
#[derive(Debug, Default)]
pub struct Shared {
    /// Asks the worker to release its packets and end.
    pub stop: AtomicBool,
    /// Its queues were given up because it stalled: it must bind them again.
    pub given_up: AtomicBool,
    /// Incremented whenever the orders change.
    pub changes: AtomicUsize,
    /// Options and routes to use from now on.
    pub orders: Mutex<Option<(Gap, Arc<Routes>)>>,
    /// Number of iterations of its loop.
    pub rounds: AtomicUsize,
    /// Its verdicts. Not atomic integers, because 32-bit processors may lack 64-bit ones.
    verdicts: Mutex<Verdicts>,
    /// Its counters.
    pub report: Mutex<Report>,
}

impl Shared {
    /// Gives the worker new orders, which it follows from its next iteration on; one that has not started follows them
    /// from its first packet on.
    pub fn order(&self, orders: (Gap, Arc<Routes>)) {
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner) = Some(orders);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Its verdicts so far.
    pub fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Numbers of verdicts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    /// Those that the worker has given, or is giving.
    pub leaving: u64,
    /// Those that the kernel has received.
    pub left: u64,
}

/// A worker's counters.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Counters.
    pub totals: Totals,
    /// Waiting times of the last complete ten seconds.
    pub sojourn: Waits,
    /// Nodes it has seen.
    pub nodes: Vec<Node>,
    /// Its flows with the most bytes.
    pub flows: Vec<Flow>,
}

/// A worker with its queues.
#[derive(Debug)]
pub struct Worker {
    clock: Clock,
    queues: Queues,
    shared: Arc<Shared>,
    core: Core,
}

/// A worker's part without the kernel: state machine, nodes, metrics.
#[derive(Debug)]
struct Core {
    /// The queue of packets into the mesh.
    down: u16,
    gateway: Gateway<Queued>,
    nodes: Nodes,
    routes: Arc<Routes>,
    /// Number of the last packet, by direction: gaps are packets that passed.
    last: [Option<u32>; 2],
    totals: Totals,
    waits: Lateness,
    sojourn: Waits,
    out: Vec<Action<Queued>>,
}

impl Worker {
    /// A worker for these queues; `down` is the one into the mesh.
    pub fn new(config: &Config, queues: Queues, down: u16, key: HashKey, shared: Arc<Shared>) -> Worker {
        Worker { clock: Clock::start(), queues, shared, core: Core::new(config.gap, down, key) }
    }

    /// Works until it is asked to stop; waiting packets are then released.
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

    /// Receives packets, and releases those that may leave.
    fn receive(&mut self, room: &mut Room) -> Result<usize, Error> {
        let now = self.clock.now();
        let Worker { queues, core, .. } = self;
        let failed = |source| Error { what: "the packet queue has failed".to_owned(), source };
        let count = queues.receive(room, |queued| core.take(now, &queued)).map_err(failed)?;
        self.verdicts(now)?;
        Ok(count)
    }

    /// Sends verdicts for the packets that may leave.
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

    /// Applies options and routes, which may have changed.
    fn obey(&mut self, now: Time) {
        let orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((gap, routes)) = orders {
            self.core.obey(now, gap, routes);
        }
    }

    /// Its waiting packets have left without it: forgets them, and binds its queues again.
    fn take_again(&mut self, now: Time, room: &mut Room) -> Result<(), Error> {
        self.core.forget_waiting(now);
        self.queues.take_again(room)?;
        self.core.totals.given_up += 1;
        self.obey(now);
        Ok(())
    }

    /// Releases all packets, including those that arrive until the queue is empty.
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

/// A packet that leaves now; its waiting time is recorded if it is data into the mesh.
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

    /// Handles a packet.
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

    /// Applies new options and routes.
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

    /// Releases all waiting packets.
    fn release(&mut self, now: Time) {
        let gap = Gap { observe: true, ..Gap::paper() };
        self.gateway.handle_config(now, gap, &mut self.out);
    }

    /// Waiting packets have left without a verdict, and packet numbers restart.
    fn forget_waiting(&mut self, now: Time) {
        self.release(now);
        self.out.clear();
        self.last = [None; 2];
    }

    /// Ends a period of ten seconds.
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
        // In the first ten seconds, and after a silence, use the current values.
        let sojourn = if self.sojourn.count > 0 { self.sojourn } else { Waits::from(&self.waits) };
        Report { totals, sojourn, nodes, flows }
    }
}

/// Sums over flows.
#[derive(Clone, Copy, Default, Debug)]
struct Means {
    class: Class,
    /// Sum and count of wireless round trips, wired round trips and intervals, in seconds.
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
mod tests;
