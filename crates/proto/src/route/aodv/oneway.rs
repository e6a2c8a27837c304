//! Unidirectional links (RFC 3561 section 6.8), for devices whose link layer does not prove both directions: replies
//! ask for an RREP-ACK, and the requests of a neighbour that sends none are ignored for BLACKLIST_TIMEOUT.
//!
//! The RFC ignores only requests. With HELLO messages that is not enough: they would make a route to the neighbour,
//! which a search would not replace. So the HELLOs of a blacklisted neighbour make no route either.

use super::{Action, Aodv, NextHop};
use crate::wire::{AodvMessage, Rrep};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// Neighbours that still owe an acknowledgement, and those that sent none, each with the instant at which that ends.
#[derive(Clone, Debug, Default)]
pub(super) struct OneWay {
    awaited: Vec<(Time, Ipv4Addr)>,
    blacklist: Vec<(Time, Ipv4Addr)>,
}

impl OneWay {
    pub fn next(&self) -> Option<Time> {
        self.awaited.iter().chain(&self.blacklist).map(|&(at, _)| at).min()
    }

    fn forget(&mut self, neighbour: Ipv4Addr) {
        self.awaited.retain(|&(_, other)| other != neighbour);
    }

    fn pop_unanswered(&mut self, now: Time) -> Option<Ipv4Addr> {
        let at = self.awaited.iter().position(|&(until, _)| until <= now)?;
        Some(self.awaited.remove(at).1)
    }
}

impl Aodv {
    /// Sends a reply to the next hop towards its originator, and waits for an acknowledgement if configured.
    pub(super) fn send_reply(
        &mut self,
        now: Time,
        rrep: Rrep,
        next_hop: Ipv4Addr,
        ttl: u8,
        created: Time,
        out: &mut Vec<Action>,
    ) {
        let mut rrep = rrep;
        if let Some(wait) = self.config.reply_ack_wait
            && self.one_way.awaited.len() < self.limits.neighbours
        {
            rrep.ack_required = true;
            if !self.one_way.awaited.iter().any(|&(_, other)| other == next_hop) {
                self.one_way.awaited.push((now + wait, next_hop));
            }
        }
        let packet = self.message(AodvMessage::Rrep(rrep), next_hop, ttl, created);
        out.push(Action::Send { packet, next_hop: NextHop::Unicast(next_hop) });
    }

    /// Handles an RREP-ACK.
    pub(super) fn reply_acknowledged(&mut self, from: Ipv4Addr) {
        self.counters.rrep_acks_received += 1;
        self.one_way.forget(from);
        self.one_way.blacklist.retain(|&(_, other)| other != from);
    }

    /// Handles a report by the link layer that nothing gets through to a neighbour: a reply that it had yet to
    /// acknowledge is lost.
    pub(super) fn reply_failed(&mut self, now: Time, neighbour: Ipv4Addr) {
        if self.one_way.awaited.iter().any(|&(_, other)| other == neighbour) {
            self.one_way.forget(neighbour);
            self.blacklist(now, neighbour);
        }
    }

    fn blacklist(&mut self, now: Time, neighbour: Ipv4Addr) {
        if self.one_way.blacklist.len() < self.limits.neighbours {
            self.counters.neighbours_blacklisted += 1;
            self.one_way.blacklist.push((now + self.config.blacklist_timeout(), neighbour));
        }
    }

    /// Returns whether requests of this neighbour are currently ignored.
    pub fn is_blacklisted(&self, neighbour: Ipv4Addr) -> bool {
        self.one_way.blacklist.iter().any(|&(_, other)| other == neighbour)
    }

    pub(super) fn one_way_timeout(&mut self, now: Time) {
        self.one_way.blacklist.retain(|&(until, _)| until > now);
        while let Some(neighbour) = self.one_way.pop_unanswered(now) {
            self.blacklist(now, neighbour);
        }
    }
}
