//! Early drops of a node: their inputs and their effects.

use super::buffers::Buffers;
use super::ear::Ear;
use super::early::EarlyDrops;
use super::journal::Step;
use super::radio::FIRST;
use super::stack::Node;
use crate::drop::DropReason;
use crate::net::neighbourhood_red;
use crate::route::{self, NextHop};
use crate::wire::{Ipv4Packet, Msdu, Payload};
use fourhop_units::Time;

/// Marks the packet; returns false if its transport does not support ECN.
fn mark(msdu: &mut Msdu) -> bool {
    match &mut msdu.payload {
        Payload::Ipv4(packet) => packet.mark_congestion(),
        Payload::Arp(_) | Payload::Foreign(_) => false,
    }
}

impl Node {
    /// Enables early drops. Call it before the first event.
    pub fn add_early_drops(&mut self, early: EarlyDrops) {
        self.early = Some(Box::new(early));
        self.upper.has_rest = true;
        self.refresh_upper();
    }

    /// Returns its early drops, for inspection.
    pub fn early_drops(&self) -> Option<&EarlyDrops> {
        self.early.as_deref()
    }

    /// Returns why this packet, the next for the MAC, must be dropped; `None` if it is kept or marked instead.
    pub(super) fn early_drop(&mut self, now: Time, msdu: &mut Msdu) -> Option<DropReason> {
        let early = self.early.as_mut()?;
        if let Some(red) = &mut early.link
            && red.drops(self.radios.at(FIRST).mac.counters().unanswered(), msdu)
        {
            if !(early.marks && mark(msdu)) {
                return Some(DropReason::LinkRed);
            }
            red.handle_marked();
            early.marked += 1;
        }
        if early.neighbourhood.as_mut()?.drops(now, msdu) {
            if !(early.marks && mark(msdu)) {
                return Some(DropReason::NeighbourhoodRed);
            }
            early.marked += 1;
        }
        self.count_carried(msdu);
        None
    }

    /// Reports a packet that this node sends or has received to neighbourhood RED.
    pub(super) fn count_carried(&mut self, msdu: &Msdu) {
        if let Some(early) = &mut self.early
            && let Some(nred) = &mut early.neighbourhood
            && !msdu.dst.is_broadcast()
        {
            nred.handle_carried(self.radios.at(FIRST).mac.config().unhindered(msdu));
        }
    }

    /// Handles neighbourhood RED's part of a timer: samples the medium and notifies the neighbours.
    pub(super) fn look_at_medium(&mut self, now: Time, ear: &Ear, out: &mut Buffers) {
        let Some(nred) = self.early.as_mut().and_then(|early| early.neighbourhood.as_mut()) else { return };
        let Some(pressure) = nred.handle_timeout(now, ear.medium.is_idle(now)) else { return };
        let packet = neighbourhood_red::notification(self.local.transports.addr(), pressure);
        self.layer_counts.notifications_sent += 1;
        self.with_router(now, out, |_, actions| {
            actions.push(route::Action::Send { packet, next_hop: NextHop::Broadcast });
        });
    }

    /// Consumes a packet from a neighbour and returns true if it is a notification for neighbourhood RED.
    pub(super) fn take_notification(&mut self, now: Time, packet: &mut Ipv4Packet, out: &mut Buffers) -> bool {
        let Some(nred) = self.early.as_mut().and_then(|early| early.neighbourhood.as_mut()) else { return false };
        let Some(pressure) = neighbourhood_red::read_notification(packet) else { return false };
        self.layer_counts.notifications_received += 1;
        nred.handle_notification(now, pressure);
        self.journal.note(packet, Step::Delivered, &mut out.outputs);
        true
    }
}
