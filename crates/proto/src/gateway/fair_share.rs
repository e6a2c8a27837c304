//! A static limiter: each TCP flow through the gateway gets the same share of a configured capacity, whether it can use
//! it or not. Packets to the wireless side leave at that rate from a queue per flow; packets from there pass unlimited.

use super::packet::Packet;
use super::table::{FlowKey, FlowStatus, FlowTable};
use super::{Action, Side};
use crate::aqm::hash::HashKey;
use crate::drop::DropReason;
use fourhop_units::{Bytes, Dur, Rate, Time};
use std::collections::{BTreeSet, VecDeque};

/// Parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Rate of all flows together, headers included.
    pub capacity: Rate,
    /// Packets that may be queued in a flow; when the queue is full, the newest is dropped.
    pub queue: u32,
    /// Maximum number of flows tracked; further flows pass unlimited.
    pub flows: u32,
    /// A flow silent for this long no longer counts.
    pub idle_timeout: Dur,
}

#[derive(Clone, Debug)]
struct Share<P> {
    queue: VecDeque<P>,
    /// When its share is available again.
    free_at: Time,
}

/// The limiter. For the order of calls see [`super::Discipline`].
#[derive(Clone, Debug)]
pub struct FairShare<P> {
    config: Config,
    table: FlowTable<Share<P>>,
    due: BTreeSet<(Time, u32)>,
    queued: usize,
}

impl<P: Packet> FairShare<P> {
    /// Creates a limiter without flows.
    pub fn new(config: Config, key: HashKey) -> FairShare<P> {
        FairShare { table: FlowTable::new(config.flows, key), due: BTreeSet::new(), queued: 0, config }
    }

    /// Handles a packet.
    pub fn handle_packet(&mut self, now: Time, from: Side, packet: P, out: &mut Vec<Action<P>>) {
        self.forget_silent(now, out);
        let Some(slot) = packet.tcp().and_then(|view| {
            let key = FlowKey::of(from, &view);
            let share = Share { queue: VecDeque::new(), free_at: now };
            self.table.find(&key).or_else(|| (!self.table.is_full()).then(|| self.table.insert(now, key, share)))
        }) else {
            out.push(Action::Forward { packet, to: from.other() });
            return;
        };
        self.table.touch(now, slot);
        if from == Side::Wireless {
            out.push(Action::Forward { packet, to: Side::Wired });
            return;
        }
        let limit = self.config.queue.max(1) as usize;
        let share = self.table.get_mut(slot).expect("INVARIANT: the slot has just been found");
        if share.queue.len() >= limit {
            out.push(Action::Drop { packet, reason: DropReason::GatewayQueueFull });
            return;
        }
        share.queue.push_back(packet);
        self.queued += 1;
        if share.queue.len() == 1 {
            self.due.insert((share.free_at.max(now), slot));
        }
        self.handle_timeout(now, out);
    }

    /// Sends the packets that are due.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        while let Some(&(at, slot)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            // Its share is that of one of n flows.
            let flows = self.table.len() as u64;
            self.table.touch(now, slot);
            let Some(share) = self.table.get_mut(slot) else { continue };
            let Some(packet) = share.queue.pop_front() else { continue };
            self.queued -= 1;
            share.free_at = now + self.config.capacity.time_for(Bytes(u64::from(packet.len()) * flows));
            if !share.queue.is_empty() {
                self.due.insert((share.free_at, slot));
            }
            out.push(Action::Forward { packet, to: Side::Wireless });
        }
        self.forget_silent(now, out);
    }

    /// Returns when the next packet leaves or the next flow is forgotten.
    pub fn next_timeout(&self) -> Option<Time> {
        let silent = self.table.oldest(FlowStatus::HalfOpen).map(|(_, seen)| seen + self.config.idle_timeout);
        Time::earlier_of(self.due.first().map(|&(at, _)| at), silent)
    }

    /// Returns the number of queued packets.
    pub fn queued(&self) -> usize {
        self.queued
    }

    fn forget_silent(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        while let Some((slot, seen)) = self.table.oldest(FlowStatus::HalfOpen)
            && seen + self.config.idle_timeout <= now
            && let Some(share) = self.table.remove(slot)
        {
            // The share is so small that a packet waits longer than a flow may be silent: queued packets leave.
            if let Some(first) = self.due.iter().find(|due| due.1 == slot).copied() {
                self.due.remove(&first);
            }
            self.queued -= share.queue.len();
            out.extend(share.queue.into_iter().map(|packet| Action::Forward { packet, to: Side::Wireless }));
        }
    }
}
