//! The gateway: inspects passing packets and paces those to the wireless side.
//!
//! - Data of wired senders waits in a queue per flow until the interval since the previous packet has passed (section
//!   4.3). The interval is TCP-AP's, computed from the flow's own round trips over the radio, which start when a packet
//!   leaves the queue. All other packets of that flow in the same direction stay behind it.
//! - Acknowledgements for wireless senders carry the round trip of the wired side (section 4.2).
//! - Flows that get more than the others are throttled ([`super::goodput`]).
//!
//! The queues are bounded (section 4.3): a flow queues at most what its receiver advertises, all flows together at most
//! [`Config::buffer`]. A flow reserves its share of the buffer with the first packet that has to wait; a flow that
//! finds no room passes unpaced until there is some. A flow that would exceed its share sends its oldest packet early.

mod acked;
mod comparison;
mod sight;

pub use sight::{Counters, FlowState};

use super::airtime::Airtime;
use super::config::Config;
use super::flow::{Accounted, Down, Flow, Waiting};
use super::goodput::Control;
use super::pacer::Pacer;
use super::packet::{Packet, TcpView};
use super::table::{FlowKey, FlowStatus, FlowTable};
use super::{Action, Side};
use crate::aqm::hash::HashKey;
use crate::wire::TcpSegment;
use core::net::IpAddr;
use fourhop_units::{Dur, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A flow with data in flight that has carried none for this long is dead rather than starved: the maximum
/// retransmission time-out that RFC 6298 (2.5) requires.
const STARVING: Dur = Dur::from_secs(60);

const FOUND: &str = "INVARIANT: a slot that was found has a flow until it is forgotten";

#[derive(Clone, Copy, Debug)]
struct Path {
    hops: u8,
    rate: Rate,
}

/// The gateway. For the order of calls see [`super::Discipline`].
#[derive(Clone, Debug)]
pub struct Gateway<P> {
    config: Config,
    table: FlowTable<Flow<P>>,
    paths: BTreeMap<IpAddr, Path>,
    /// Flows with queued packets, one entry each, by when the next packet may leave.
    due: BTreeSet<(Time, u32)>,
    control: Option<Control>,
    /// Times of the next and the last comparison of goodputs; `None` while there is no flow.
    comparison: Option<(Time, Time)>,
    /// When intervals are next equalised; `None` while there is no flow, or if each has its own.
    evening: Option<Time>,
    airtime: Airtime,
    /// Sums of `queued` and of `reserved` over all flows, and the number of queued packets.
    queued: u64,
    reserved: u64,
    waiting: usize,
    counters: Counters,
}

impl<P: Packet> Gateway<P> {
    /// Creates a gateway without flows.
    pub fn new(config: Config, key: HashKey) -> Gateway<P> {
        Gateway {
            table: FlowTable::new(config.flows, key),
            paths: BTreeMap::new(),
            due: BTreeSet::new(),
            control: config.goodput_control.map(Control::new),
            comparison: None,
            evening: None,
            airtime: Airtime::default(),
            queued: 0,
            reserved: 0,
            waiting: 0,
            counters: Counters::default(),
            config,
        }
    }

    /// A wireless node is `hops` away, over links of `rate`. Nodes beyond [`Config::nodes`] are not paced until paths
    /// of others are lost.
    pub fn handle_path(&mut self, node: impl Into<IpAddr>, hops: u8, rate: Rate) {
        let node = node.into();
        if self.paths.len() < self.config.nodes as usize || self.paths.contains_key(&node) {
            self.paths.insert(node, Path { hops, rate });
        }
    }

    /// No path leads to a wireless node any more. Its queued packets leave at once, and its flows pass unpaced; once
    /// there is a path again they are paced anew, starting with the next round trip.
    pub fn handle_path_lost(&mut self, now: Time, node: impl Into<IpAddr>, out: &mut Vec<Action<P>>) {
        let node = node.into();
        if self.paths.remove(&node).is_none() {
            return;
        }
        let of_node = |(slot, key, _): (u32, &FlowKey, _)| (key.wireless.0 == node).then_some(slot);
        let slots: Vec<u32> = self.table.iter().filter_map(of_node).collect();
        for slot in slots {
            if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
                down.pacer = Pacer::new(now, &self.config);
            }
            self.release(now, slot, out);
            self.forget_if_over(now, slot, out);
        }
    }

    /// Changes the options, except [`Config::flows`], the capacity of the table. Packets that need not wait any more
    /// leave at once; goodput control, and pacing if its arithmetic differs, start anew.
    pub fn handle_config(&mut self, now: Time, config: Config, out: &mut Vec<Action<P>>) {
        let config = Config { flows: self.config.flows, ..config };
        let anew = (config.mode, config.pace) != (self.config.mode, self.config.pace)
            || (self.config.pacing && !config.pacing);
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
                    down.pacer = Pacer::first(now, &config);
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

    /// A packet has arrived on side `from`.
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
                    self.write_wired_rtt(slot, &segment, &mut packet);
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
            // Waiting flows are not silent.
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

    /// Returns when [`Gateway::handle_timeout`] must be called.
    pub fn next_timeout(&self) -> Option<Time> {
        let due = self.due.first().map(|&(at, _)| at);
        let silent = [FlowStatus::HalfOpen, FlowStatus::Confirmed].map(|status| self.silent_at(status));
        let compared = self.comparison.map(|(at, _)| at);
        [due, silent[0], silent[1], compared, self.evening].into_iter().fold(None, Time::earlier_of)
    }

    /// Returns the flow of a segment, with a new entry if it starts a flow or carries data; anything else may pass
    /// without one.
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
            let Some((oldest, _)) = self.table.oldest(FlowStatus::HalfOpen) else {
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

    /// Writes a smaller window into an acknowledgement for a wired sender that would otherwise fill the queue.
    fn hold_window(&mut self, now: Time, slot: u32, segment: &TcpSegment, packet: &mut P) {
        if let Some(target) = self.config.sojourn.filter(|_| !self.config.observe)
            && let Some(window) = self
                .table
                .get_mut(slot)
                .and_then(|flow| flow.reduced_window(now, segment, target, self.config.whole_segments))
        {
            self.counters.held_back += u64::from(packet.write_window(window));
        }
    }

    /// Writes the wired round trip into an acknowledgement for a wireless sender.
    fn write_wired_rtt(&mut self, slot: u32, segment: &TcpSegment, packet: &mut P) {
        let Some(flow) = self.table.get(slot) else { return };
        let sends = flow.up.as_ref().is_some_and(|up| up.is_used());
        let Some(rtt) = flow.wired_rtt.filter(|_| {
            self.config.option && !self.config.observe && sends && !segment.flags.syn && !segment.flags.rst
        }) else {
            return;
        };
        // Rounded to the nearest of 16 bits of milliseconds (section 4.2).
        let millis = (rtt.as_nanos() + 500_000) / 1_000_000;
        match packet.write_wired_rtt(u16::try_from(millis).unwrap_or(u16::MAX), self.config.mtu) {
            true => self.counters.options += 1,
            false => self.counters.no_room += 1,
        }
    }

    /// Passes or queues a segment to the wireless side.
    fn go_down(&mut self, now: Time, slot: u32, segment: &TcpSegment, packet: P, out: &mut Vec<Action<P>>) {
        let config = &self.config;
        let flow = self.table.get_mut(slot).expect(FOUND);
        if segment.payload > 0 {
            flow.carried = now;
        }
        // The data in flight is bounded by the advertised window (section 4.3).
        let wanted = if flow.window == 0 { config.flow_buffer } else { flow.window.min(config.flow_buffer) };
        let down = match &mut flow.down {
            Some(down) => down,
            empty if segment.payload > 0 => empty.insert(Box::new(Down::new(now, config))),
            _ => {
                out.push(Action::Forward { packet, to: Side::Wireless });
                return;
            }
        };
        down.mss = down.mss.max(segment.payload);
        down.limit.handle_data(now, segment.data_seq() + segment.payload);
        let waiting = Waiting::new(now, packet, segment);
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
                && (down.queued + waiting.payload > down.reserved || down.queue.len() >= config.flow_packets as usize)
            {
                self.counters.early += 1;
                out.extend(down.pop(now).map(|packet| Action::Forward { packet, to: Side::Wireless }));
            }
        }
        if !waits || down.queued + waiting.payload > down.reserved {
            down.note_departure(now, &waiting);
            out.push(Action::Forward { packet: waiting.packet, to: Side::Wireless });
        } else {
            self.counters.waited += 1;
            down.queue_up(waiting);
        }
        self.account(slot);
    }

    /// Releases the packets of a flow that may leave.
    fn release(&mut self, now: Time, slot: u32, out: &mut Vec<Action<P>>) {
        if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
            while down.queue.front().is_some_and(|head| down.may_leave(now, head)) {
                let marks = self.config.sojourn.is_some_and(|target| down.marks(now, target));
                let Some(mut packet) = down.pop(now) else { break };
                self.counters.marked += u64::from(marks && packet.mark_congestion());
                out.push(Action::Forward { packet, to: Side::Wireless });
                if self.config.delayed_acks
                    && down.receiver.wants_pair()
                    && let Some(packet) = down.pop_second(now)
                {
                    down.receiver.handle_pair();
                    out.push(Action::Forward { packet, to: Side::Wireless });
                }
            }
        }
        self.account(slot);
    }

    /// Updates the totals over all flows; called after anything that may have changed the queue or the pace of a flow.
    fn account(&mut self, slot: u32) {
        let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) else { return };
        let now = Accounted {
            queued: down.queued,
            waiting: down.queue.len() as u32,
            due: down.queue.front().and_then(|_| down.due()),
        };
        let was = std::mem::replace(&mut down.accounted, now);
        self.queued = self.queued - u64::from(was.queued) + u64::from(now.queued);
        self.waiting = self.waiting - was.waiting as usize + now.waiting as usize;
        if was.due != now.due {
            was.due.map(|at| self.due.remove(&(at, slot)));
            now.due.map(|at| self.due.insert((at, slot)));
        }
        let counters = &mut self.counters;
        counters.most_held = counters.most_held.max(self.queued);
        counters.most_held_in_a_flow = counters.most_held_in_a_flow.max(u64::from(now.queued));
    }

    fn silent_at(&self, status: FlowStatus) -> Option<Time> {
        let after = match status {
            FlowStatus::HalfOpen => self.config.half_open_timeout,
            FlowStatus::Confirmed => self.config.idle_timeout,
        };
        self.table.oldest(status).map(|(_, seen)| seen + after)
    }

    fn forget_silent(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        for status in [FlowStatus::HalfOpen, FlowStatus::Confirmed] {
            while self.silent_at(status).is_some_and(|at| at <= now)
                && let Some((slot, _)) = self.table.oldest(status)
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

    /// Removes a flow from the table. Its queued packets leave at once.
    fn forget(&mut self, now: Time, slot: u32, out: &mut Vec<Action<P>>) {
        if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
            while let Some(packet) = down.pop(now) {
                out.push(Action::Forward { packet, to: Side::Wireless });
            }
            self.reserved -= u64::from(std::mem::take(&mut down.reserved));
        }
        self.account(slot);
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
}
