//! A gateway's state for outside observers.

use super::super::flow::Flow;
use super::super::goodput::{Control, ControlCounters, Throttle};
use super::super::packet::Packet;
use super::super::table::FlowKey;
use super::Gateway;
use crate::counters::counters;
use fourhop_cc::Measurements;
use fourhop_units::{Dur, Time};

counters! {
    /// Counters of a gateway.
    pub struct Counters {
        /// Packets received.
        pub packets: u64,
        /// Of those, TCP segments that belong to a flow in the table.
        pub followed: u64,
        /// Segments that passed untracked because the table was full.
        pub table_full: u64,
        /// Data packets that did not wait because the buffer was full.
        pub buffer_full: u64,
        /// Data packets that left early because their flow had reached its limit.
        pub early: u64,
        /// Packets that waited.
        pub waited: u64,
        /// Maximum number of payload bytes that waited at the same time.
        pub most_held: u64,
        /// Maximum number of payload bytes that waited in one flow.
        pub most_held_in_a_flow: u64,
        /// Options written.
        pub options: u64,
        /// Acknowledgements that should have carried the option but had no room.
        pub no_room: u64,
        /// Acknowledgements whose window was reduced.
        pub held_back: u64,
        /// Packets marked (ECN).
        pub marked: u64,
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

/// A flow as seen by a gateway.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowState {
    /// When its last packet arrived or left.
    pub seen: Time,
    /// Inputs of pacing: the wireless round trip, the four-hop delay, the variation.
    pub measured: Measurements,
    /// Interval of adaptive pacing.
    pub interval: Option<Dur>,
    /// The common interval, if all flows share one.
    pub even: Option<Dur>,
    /// Throttle set by goodput control.
    pub throttle: Option<Throttle>,
    /// Round trip on the wired side.
    pub wired_rtt: Option<Dur>,
    /// Packets queued.
    pub waiting: usize,
    /// Payload bytes queued.
    pub queued: u32,
    /// Payload bytes acknowledged: up, down.
    pub acked: (u64, u64),
}

impl<P: Packet> Gateway<P> {
    /// Returns the number of queued packets.
    pub fn queued(&self) -> usize {
        self.waiting
    }

    /// Returns the number of queued payload bytes.
    pub fn queued_bytes(&self) -> u64 {
        self.queued
    }

    /// Returns the number of flows in the table.
    pub fn flows(&self) -> usize {
        self.table.len()
    }

    /// Its counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the counters of goodput control, if enabled.
    pub fn control_counters(&self) -> Option<&ControlCounters> {
        self.control.as_ref().map(Control::counters)
    }

    /// Returns the bytes of memory in use, not counting queued packets.
    pub fn memory(&self) -> usize {
        size_of::<Gateway<P>>()
            + self.table.memory()
            + self.table.iter().map(|(_, _, flow)| flow.memory()).sum::<usize>()
    }

    /// Returns the flow between these ends, if known.
    pub fn flow(&self, key: &FlowKey) -> Option<FlowState> {
        let slot = self.table.find(key)?;
        Some(self.state(slot, self.table.get(slot)?))
    }

    /// Returns every flow, in slot order.
    pub fn each_flow(&self) -> impl Iterator<Item = (&FlowKey, FlowState)> {
        self.table.iter().map(|(slot, key, flow)| (key, self.state(slot, flow)))
    }

    fn state(&self, slot: u32, flow: &Flow<P>) -> FlowState {
        let seen = self.table.seen(slot).unwrap_or(Time::ZERO);
        let down = flow.down.as_deref();
        FlowState {
            seen,
            measured: down.map(|down| down.pacer.measurements()).unwrap_or_default(),
            interval: down.and_then(|down| down.own_interval().or_else(|| down.pacer.mean_interval())),
            even: down.and_then(|down| down.even_interval()),
            throttle: down.and_then(|down| down.throttle),
            wired_rtt: flow.wired_rtt,
            waiting: down.map_or(0, |down| down.queue.len()),
            queued: down.map_or(0, |down| down.queued),
            acked: flow.acked(),
        }
    }
}
