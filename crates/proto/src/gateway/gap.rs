//! The gateway: inspects passing packets and paces those to the wireless side.
//!
//! - Data of wired senders waits in a queue per flow until the interval since the previous packet has passed (section
//!   4.3). The interval is TCP-AP's, from the flow's own round trips over the radio, which begin when a packet leaves
//!   the queue. All other packets of that flow in the same direction stay behind it.
//! - Acknowledgements for wireless senders carry the round trip of the wired side (section 4.2).
//! - Flows that get more than the others are slowed down ([`super::goodput`]).
//!
//! The queues are bounded (section 4.3): a flow holds at most what its receiver advertises, all flows together at most
//! [`Config::buffer`]. A flow reserves its share of the buffer with the first packet that has to wait; a flow that
//! finds no room passes unpaced until there is some. A flow that would hold more than its share sends its oldest packet
//! early.

use super::config::Config;
use super::even::Pool;
use super::flow::{Down, Flow, Settled, Waiting};
use super::goodput::{Control, ControlCounters, Memory, Observed, Throttle};
use super::packet::{Packet, TcpView};
use super::table::{FlowKey, FlowTable, Standing};
use super::{Action, Side};
use crate::aqm::hash::HashKey;
use crate::counters::counters;
use crate::wire::TcpSegment;
use core::net::IpAddr;
use fourhop_cc::tcp_ap::Pace;
use fourhop_cc::{Hint, Measurements};
use fourhop_units::{Dur, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

counters! {
    /// What a gateway has done.
    pub struct Counters {
        /// Packets that came.
        pub packets: u64,
        /// Of those, TCP segments that belong to a flow in the table.
        pub followed: u64,
        /// Segments that passed without a place in the table because it was full.
        pub table_full: u64,
        /// Data that would have waited but for the buffer being full.
        pub buffer_full: u64,
        /// Data that left before its time because its flow held as much as it may.
        pub early: u64,
        /// Packets that waited.
        pub waited: u64,
        /// Most payload bytes that waited at the same time.
        pub most_held: u64,
        /// Most payload bytes that waited in one flow.
        pub most_held_in_a_flow: u64,
        /// Options written.
        pub options: u64,
        /// Acknowledgements that should have carried the option but had no room.
        pub no_room: u64,
        /// Acknowledgements whose window was made smaller.
        pub held_back: u64,
        /// Flows seen.
        pub flows: u64,
        /// Flows forgotten because they had ended.
        pub ended: u64,
        /// Flows forgotten because they were silent.
        pub timed_out: u64,
        /// Half-open flows that were evicted for others.
        pub displaced: u64,
    }
}

/// A flow as a gateway sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowState {
    /// When its last packet came or left here.
    pub seen: Time,
    /// What pacing is computed from: the wireless round trip, the delay over four hops, the variation.
    pub measured: Measurements,
    /// Time between packets that adaptive pacing asks for.
    pub interval: Option<Dur>,
    /// What takes its place where all flows have the same.
    pub even: Option<Dur>,
    /// What goodput control asks for.
    pub throttle: Option<Throttle>,
    /// Round trip on the wired side.
    pub wired_rtt: Option<Dur>,
    /// Packets that wait.
    pub waiting: usize,
    /// Payload bytes that wait.
    pub held: u32,
    /// Payload bytes acknowledged: upwards, downwards.
    pub acked: (u64, u64),
}

/// A flow with data in flight that has carried none for so long is dead rather than starved: the largest retransmission
/// time-out that RFC 6298 (2.5) asks for.
const STARVING: Dur = Dur::from_secs(60);

const FOUND: &str = "INVARIANT: a slot that was found has a flow until it is forgotten";

#[derive(Clone, Copy, Debug)]
struct Path {
    hops: u8,
    rate: Rate,
}

/// The gateway. For the order of calls see [`super::Crossing`].
#[derive(Clone, Debug)]
pub struct Gateway<P> {
    config: Config,
    table: FlowTable<Flow<P>>,
    paths: BTreeMap<IpAddr, Path>,
    /// Flows in which a packet waits, by when it may leave. One entry for each.
    due: BTreeSet<(Time, u32)>,
    control: Option<Control>,
    /// When goodputs are compared next, and when they were last; `None` while there is no flow.
    comparison: Option<(Time, Time)>,
    /// When intervals are made the same next; `None` while there is no flow, or each has its own.
    evening: Option<Time>,
    /// Sum of `held` and of `reserved` of all flows, packets that wait.
    held: u64,
    reserved: u64,
    waiting: usize,
    counters: Counters,
}

impl<P: Packet> Gateway<P> {
    /// With no flow.
    pub fn new(config: Config, key: HashKey) -> Gateway<P> {
        Gateway {
            table: FlowTable::new(config.flows, key),
            paths: BTreeMap::new(),
            due: BTreeSet::new(),
            control: config.goodput_control.map(Control::new),
            comparison: None,
            evening: None,
            held: 0,
            reserved: 0,
            waiting: 0,
            counters: Counters::default(),
            config,
        }
    }

    /// A wireless node is `hops` away, over links of `rate`. Of more nodes than [`Config::nodes`] the rest is not paced, until
    /// paths of others are lost.
    pub fn handle_path(&mut self, node: impl Into<IpAddr>, hops: u8, rate: Rate) {
        let node = node.into();
        if self.paths.len() < self.config.nodes as usize || self.paths.contains_key(&node) {
            self.paths.insert(node, Path { hops, rate });
        }
    }

    /// No path leads to a wireless node any more. What waits for it leaves at once, and its flows pass unpaced; when there is
    /// a path again they are paced anew, from the next round trip on.
    pub fn handle_path_lost(&mut self, now: Time, node: impl Into<IpAddr>, out: &mut Vec<Action<P>>) {
        let node = node.into();
        if self.paths.remove(&node).is_none() {
            return;
        }
        let of_node = |(slot, key, _): (u32, &FlowKey, _)| (key.wireless.0 == node).then_some(slot);
        let slots: Vec<u32> = self.table.iter().filter_map(of_node).collect();
        for slot in slots {
            if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
                (down.pace, down.interval) = (Pace::new(&self.config.pace), None);
            }
            self.release(now, slot, out);
            self.forget_if_over(now, slot, out);
        }
    }

    /// Other options from now on, but for [`Config::flows`], the room that the table has. What waits although nothing has to wait
    /// any more leaves at once; goodput control, and pacing if its arithmetic is another, begin anew.
    pub fn handle_config(&mut self, now: Time, config: Config, out: &mut Vec<Action<P>>) {
        let config = Config { flows: self.config.flows, ..config };
        let anew = config.pace != self.config.pace || (self.config.pacing && !config.pacing);
        if config.goodput_control != self.config.goodput_control {
            self.unthrottle(now, out);
            self.control = config.goodput_control.map(Control::new);
            let interval = config.goodput_control.map(|control| control.interval);
            self.comparison = interval.filter(|_| !self.table.is_empty()).map(|interval| (now + interval, now));
        }
        self.config = config;
        self.even(now, out);
        let slots: Vec<u32> = self.table.iter().map(|(slot, ..)| slot).collect();
        for slot in slots {
            if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
                if anew {
                    (down.pace, down.interval) = (Pace::new(&config.pace), config.pace.first_interval);
                }
                while config.observe
                    && let Some(packet) = down.pop(now)
                {
                    out.push(Action::Forward { packet, to: Side::Wireless });
                }
            }
            self.release(now, slot, out);
            self.forget_if_over(now, slot, out);
        }
    }

    /// A packet has come in on side `from`.
    pub fn handle_packet(&mut self, now: Time, from: Side, mut packet: P, out: &mut Vec<Action<P>>) {
        self.counters.packets += 1;
        self.forget_silent(now, out);
        let view = packet.tcp();
        let followed = view.and_then(|view| self.follow(now, from, &view, out).map(|slot| (view, slot)));
        let Some((TcpView { src, segment, .. }, slot)) = followed else {
            out.push(Action::Forward { packet, to: from.other() });
            return;
        };
        self.counters.followed += 1;
        self.table.touch(now, slot);
        let flow = self.table.get_mut(slot).expect(FOUND);
        let answered = flow.is_answered_by(from);
        flow.note(from, &segment);
        match from {
            Side::Wireless => {
                if segment.flags.ack {
                    self.acknowledged_down(now, slot, src, &segment, out);
                    self.hold_window(now, slot, &segment, &mut packet);
                }
                self.table.get_mut(slot).expect(FOUND).handle_data_up(now, &segment);
                out.push(Action::Forward { packet, to: Side::Wired });
            }
            Side::Wired => {
                if segment.flags.ack {
                    flow.handle_ack_up(now, &segment);
                    self.tell_wired_rtt(slot, &segment, &mut packet);
                }
                self.go_down(now, slot, &segment, packet, out);
            }
        }
        self.table.get_mut(slot).expect(FOUND).note_activity(now);
        if answered {
            self.table.confirm(slot);
        }
        self.forget_if_over(now, slot, out);
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        while let Some(&(at, slot)) = self.due.first()
            && at <= now
        {
            // What waits is not silent.
            self.table.touch(now, slot);
            self.release(now, slot, out);
            self.forget_if_over(now, slot, out);
        }
        self.forget_silent(now, out);
        if let Some((at, since)) = self.comparison
            && at <= now
        {
            self.compare(now, since, out);
        }
        if self.evening.is_some_and(|at| at <= now) {
            self.even(now, out);
        }
    }

    /// When [`Gateway::handle_timeout`] has to be called.
    pub fn next_timeout(&self) -> Option<Time> {
        let due = self.due.first().map(|&(at, _)| at);
        let silent = [Standing::HalfOpen, Standing::Confirmed].map(|standing| self.silent_at(standing));
        let compared = self.comparison.map(|(at, _)| at);
        [due, silent[0], silent[1], compared, self.evening].into_iter().fold(None, Time::earlier_of)
    }

    /// Packets that wait.
    pub fn held(&self) -> usize {
        self.waiting
    }

    /// Payload bytes that wait.
    pub fn held_bytes(&self) -> u64 {
        self.held
    }

    /// Flows in the table.
    pub fn flows(&self) -> usize {
        self.table.len()
    }

    /// What it has done.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What goodput control has done, if it is on.
    pub fn control_counters(&self) -> Option<&ControlCounters> {
        self.control.as_ref().map(Control::counters)
    }

    /// Bytes of memory in use, without the packets that wait.
    pub fn memory(&self) -> usize {
        size_of::<Gateway<P>>()
            + self.table.memory()
            + self.table.iter().map(|(_, _, flow)| flow.memory()).sum::<usize>()
    }

    /// The flow between these ends, if it is known.
    pub fn flow(&self, key: &FlowKey) -> Option<FlowState> {
        let slot = self.table.find(key)?;
        Some(self.state(slot, self.table.get(slot)?))
    }

    /// Every flow, in the order of their places.
    pub fn each_flow(&self) -> impl Iterator<Item = (&FlowKey, FlowState)> {
        self.table.iter().map(|(slot, key, flow)| (key, self.state(slot, flow)))
    }

    fn state(&self, slot: u32, flow: &Flow<P>) -> FlowState {
        let seen = self.table.seen(slot).unwrap_or(Time::ZERO);
        let down = flow.down.as_deref();
        FlowState {
            seen,
            measured: down.map(|down| down.pace.measurements()).unwrap_or_default(),
            interval: down.and_then(|down| down.interval),
            even: down.and_then(|down| down.even),
            throttle: down.and_then(|down| down.throttle),
            wired_rtt: flow.wired_rtt,
            waiting: down.map_or(0, |down| down.queue.len()),
            held: down.map_or(0, |down| down.held),
            acked: flow.acked(),
        }
    }

    /// The flow of a segment, with a new entry if it begins one or carries data; anything else may pass without.
    fn follow(&mut self, now: Time, from: Side, view: &TcpView, out: &mut Vec<Action<P>>) -> Option<u32> {
        let key = FlowKey::of(from, view);
        if let Some(slot) = self.table.find(&key) {
            return Some(slot);
        }
        let TcpSegment { flags, payload, .. } = view.segment;
        if flags.rst || !(flags.syn || payload > 0) {
            return None;
        }
        if self.table.is_full() {
            let Some((oldest, _)) = self.table.oldest(Standing::HalfOpen) else {
                self.counters.table_full += 1;
                return None;
            };
            self.counters.displaced += 1;
            self.forget(now, oldest, out);
        }
        self.counters.flows += 1;
        if let Some(every) = self.config.even {
            self.evening.get_or_insert(now + every);
        }
        if let Some(control) = &self.control
            && self.comparison.is_none()
        {
            self.comparison = Some((now + control.config().interval, now));
        }
        Some(self.table.insert(now, key, Flow::new(now, from)))
    }

    /// `node` on the wireless side acknowledges: a round trip over the radio, and from it the interval.
    fn acknowledged_down(
        &mut self,
        now: Time,
        slot: u32,
        node: IpAddr,
        segment: &TcpSegment,
        out: &mut Vec<Action<P>>,
    ) {
        let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) else { return };
        let Some(rtt) = down.meter.handle_ack(now, segment.ack, &segment.options.sack) else { return };
        if !self.config.pacing {
            return;
        }
        if let Some(path) = self.paths.get(&node) {
            down.pace.take_hint(Hint::HopCount(u32::from(path.hops)));
            down.pace.take_hint(Hint::LinkRate(path.rate));
        }
        down.interval = down.pace.sample(&self.config.pace, down.mss, rtt).or(down.interval);
        self.release(now, slot, out);
    }

    /// Writes a smaller window into an acknowledgement for a wired sender that would otherwise fill the queue.
    fn hold_window(&mut self, now: Time, slot: u32, segment: &TcpSegment, packet: &mut P) {
        if let Some(target) = self.config.sojourn.filter(|_| !self.config.observe)
            && let Some(window) = self
                .table
                .get_mut(slot)
                .and_then(|flow| flow.held_window(now, segment, target, self.config.whole_segments))
        {
            self.counters.held_back += u64::from(packet.write_window(window));
        }
    }

    /// Writes the wired round trip into an acknowledgement for a wireless sender.
    fn tell_wired_rtt(&mut self, slot: u32, segment: &TcpSegment, packet: &mut P) {
        let Some(flow) = self.table.get(slot) else { return };
        let sends = flow.up.as_ref().is_some_and(|up| up.is_used());
        let Some(rtt) = flow.wired_rtt.filter(|_| {
            self.config.option && !self.config.observe && sends && !segment.flags.syn && !segment.flags.rst
        }) else {
            return;
        };
        // To the nearest; 16 bits of milliseconds (section 4.2).
        let millis = (rtt.as_nanos() + 500_000) / 1_000_000;
        match packet.write_wired_rtt(u16::try_from(millis).unwrap_or(u16::MAX), self.config.mtu) {
            true => self.counters.options += 1,
            false => self.counters.no_room += 1,
        }
    }

    /// A segment to the wireless side: passes, or waits.
    fn go_down(&mut self, now: Time, slot: u32, segment: &TcpSegment, packet: P, out: &mut Vec<Action<P>>) {
        let config = &self.config;
        let flow = self.table.get_mut(slot).expect(FOUND);
        if segment.payload > 0 {
            flow.carried = now;
        }
        // What the receiver has advertised is what can be on its way (section 4.3).
        let wanted = if flow.window == 0 { config.flow_buffer } else { flow.window.min(config.flow_buffer) };
        let down = match &mut flow.down {
            Some(down) => down,
            empty if segment.payload > 0 => empty.insert(Box::new(Down::new(&config.pace))),
            _ => {
                out.push(Action::Forward { packet, to: Side::Wireless });
                return;
            }
        };
        down.mss = down.mss.max(segment.payload);
        down.hold.handle_data(now, segment.data_seq() + segment.payload);
        let waiting = Waiting::new(packet, segment);
        let waits = !down.queue.is_empty() || !(config.observe || down.may_leave(now, &waiting));
        if waits && down.reserved < wanted {
            let reserved = self.reserved + u64::from(wanted - down.reserved);
            if reserved <= config.buffer {
                (down.reserved, self.reserved) = (wanted, reserved);
            } else if down.reserved == 0 {
                self.counters.buffer_full += 1;
            }
        }
        if waits {
            while !down.queue.is_empty()
                && (down.held + waiting.payload > down.reserved || down.queue.len() >= config.flow_packets as usize)
            {
                self.counters.early += 1;
                out.extend(down.pop(now).map(|packet| Action::Forward { packet, to: Side::Wireless }));
            }
        }
        if !waits || down.held + waiting.payload > down.reserved {
            down.note_departure(now, &waiting);
            out.push(Action::Forward { packet: waiting.packet, to: Side::Wireless });
        } else {
            self.counters.waited += 1;
            down.queue_up(waiting);
        }
        self.settle(slot);
    }

    /// Lets go what may leave of a flow.
    fn release(&mut self, now: Time, slot: u32, out: &mut Vec<Action<P>>) {
        if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
            while down.queue.front().is_some_and(|head| down.may_leave(now, head))
                && let Some(packet) = down.pop(now)
            {
                out.push(Action::Forward { packet, to: Side::Wireless });
            }
        }
        self.settle(slot);
    }

    /// Updates the totals over all flows; called after anything that may have changed the queue or the pace of a flow.
    fn settle(&mut self, slot: u32) {
        let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) else { return };
        let now = Settled {
            held: down.held,
            waiting: down.queue.len() as u32,
            due: down.queue.front().and_then(|_| down.due()),
        };
        let was = std::mem::replace(&mut down.settled, now);
        self.held = self.held - u64::from(was.held) + u64::from(now.held);
        self.waiting = self.waiting - was.waiting as usize + now.waiting as usize;
        if was.due != now.due {
            was.due.map(|at| self.due.remove(&(at, slot)));
            now.due.map(|at| self.due.insert((at, slot)));
        }
        let counters = &mut self.counters;
        counters.most_held = counters.most_held.max(self.held);
        counters.most_held_in_a_flow = counters.most_held_in_a_flow.max(u64::from(now.held));
    }

    fn silent_at(&self, standing: Standing) -> Option<Time> {
        let after = match standing {
            Standing::HalfOpen => self.config.half_open_timeout,
            Standing::Confirmed => self.config.idle_timeout,
        };
        self.table.oldest(standing).map(|(_, seen)| seen + after)
    }

    fn forget_silent(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        for standing in [Standing::HalfOpen, Standing::Confirmed] {
            while self.silent_at(standing).is_some_and(|at| at <= now)
                && let Some((slot, _)) = self.table.oldest(standing)
            {
                self.counters.timed_out += 1;
                self.forget(now, slot, out);
            }
        }
    }

    fn forget_if_over(&mut self, now: Time, slot: u32, out: &mut Vec<Action<P>>) {
        let over = |flow: &Flow<P>| flow.ended && flow.down.as_ref().is_none_or(|down| down.queue.is_empty());
        if self.table.get(slot).is_some_and(over) {
            self.counters.ended += 1;
            self.forget(now, slot, out);
        }
    }

    /// Takes a flow out of the table. What waits leaves at once.
    fn forget(&mut self, now: Time, slot: u32, out: &mut Vec<Action<P>>) {
        if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
            while let Some(packet) = down.pop(now) {
                out.push(Action::Forward { packet, to: Side::Wireless });
            }
            self.reserved -= u64::from(std::mem::take(&mut down.reserved));
        }
        self.settle(slot);
        self.table.remove(slot);
        if self.table.is_empty() {
            (self.comparison, self.evening) = (None, None);
        }
        // Section 4.4: a flow that ends resets throttling.
        if let Some(control) = &mut self.control
            && control.reset()
        {
            self.unthrottle(now, out);
        }
    }

    fn unthrottle(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        let throttled = |flow: &Flow<P>| flow.down.as_ref().is_some_and(|down| down.throttle.is_some());
        let slots: Vec<u32> = self.table.iter().filter(|(_, _, flow)| throttled(flow)).map(|(slot, ..)| slot).collect();
        for slot in slots {
            self.throttle(now, slot, None, out);
        }
    }

    fn throttle(&mut self, now: Time, slot: u32, throttle: Option<Throttle>, out: &mut Vec<Action<P>>) {
        if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
            down.throttle = throttle;
        }
        self.release(now, slot, out);
    }

    /// The same interval for all flows that have data to carry.
    fn even(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        self.evening = self.config.even.filter(|_| !self.table.is_empty()).map(|every| now + every);
        let mut pool = Pool::default();
        for (_, key, flow) in self.table.iter() {
            if let Some(down) = flow.down.as_deref().filter(|down| down.is_busy())
                && let (Some(interval), Some(path)) = (down.interval, self.paths.get(&key.wireless.0))
            {
                pool.add(path.hops, interval);
            }
        }
        let shared = self.evening.and_then(|_| pool.interval());
        let mut waiting = Vec::new();
        for (slot, flow) in self.table.iter_mut() {
            if let Some(down) = flow.down.as_deref_mut() {
                down.even = shared.filter(|_| down.interval.is_some());
                waiting.extend((!down.queue.is_empty()).then_some(slot));
            }
        }
        waiting.into_iter().for_each(|slot| self.release(now, slot, out));
    }

    /// The goodputs since the last comparison, and what goodput control makes of them.
    fn compare(&mut self, now: Time, since: Time, out: &mut Vec<Action<P>>) {
        let Some(control) = &mut self.control else { return };
        let interval = control.config().interval;
        let mut observed = Vec::new();
        let mut paused = Vec::new();
        for (slot, flow) in self.table.iter_mut() {
            let acked = flow.acked();
            let (up, down) = (acked.0 - flow.marks.0, acked.1 - flow.marks.1);
            flow.marks = acked;
            let active = flow.take_activity(now);
            let down_first = flow.down.is_some() && down >= up;
            // Whether a sender in the mesh has something to send cannot be seen from here: it counts until it must be dead.
            let active = if down_first { active } else { now.saturating_since(since) };
            if now.saturating_since(flow.carried) > STARVING || active * 2 < interval {
                paused.push(slot);
                continue;
            }
            observed.push(Observed {
                slot,
                goodput: bit_rate(up + down, active),
                down: down_first,
                memory: flow.memory,
                throttle: flow.down.as_ref().and_then(|down| down.throttle),
            });
        }
        control.handle_interval(&mut observed);
        self.comparison = Some((now + interval, now));
        let seen = observed.into_iter().map(|seen| (seen.slot, seen.memory, seen.throttle));
        for (slot, memory, throttle) in seen.chain(paused.into_iter().map(|slot| (slot, Memory::default(), None))) {
            if let Some(flow) = self.table.get_mut(slot) {
                flow.memory = memory;
                if flow.down.as_ref().is_some_and(|down| down.throttle != throttle) {
                    self.throttle(now, slot, throttle, out);
                }
            }
        }
    }
}

/// Payload in bit/s.
fn bit_rate(bytes: u64, over: Dur) -> u64 {
    (u128::from(bytes) * 8_000_000_000 / u128::from(over.as_nanos().max(1))) as u64
}
