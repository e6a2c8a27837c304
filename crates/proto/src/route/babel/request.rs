//! Requests for updates, and for routes with a newer sequence number (RFC 8966 section 3.8).

use super::config::HOP_COUNT;
use super::outbox::Item;
use super::seqno::is_newer;
use super::{Babel, MOST};
use crate::wire::Prefix;
use crate::wire::{BABEL_INFINITY, BabelTlv, RouterId};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// A request for a sequence number that was sent and not yet answered (section 3.2.7).
#[derive(Clone, Copy, Debug)]
struct Pending {
    prefix: Prefix,
    router_id: RouterId,
    seqno: u16,
    /// The neighbour for which it was forwarded; `None` if it is this node's own.
    asker: Option<Ipv4Addr>,
    /// The neighbour it was sent to; `None` for all.
    to: Option<Ipv4Addr>,
    sent: Time,
    /// When it is repeated, the current wait, and the repeats left.
    repeat_at: Option<Time>,
    wait: Dur,
    repeats: u8,
    /// When it is forgotten.
    until: Time,
}

/// Pending requests.
#[derive(Clone, Default, Debug)]
pub(super) struct Requests(Vec<Pending>);

impl Requests {
    /// Returns whether an equal or newer number was requested recently (section 3.8.1.2).
    fn is_redundant(&self, now: Time, prefix: Prefix, router_id: RouterId, seqno: u16, recently: Dur) -> bool {
        self.0.iter().any(|pending| {
            (pending.prefix, pending.router_id) == (prefix, router_id)
                && !is_newer(seqno, pending.seqno)
                && now.saturating_since(pending.sent) < recently
        })
    }

    /// Removes the requests answered by an update with this number; returns true if neighbours wait for one of them.
    pub fn answer(&mut self, prefix: Prefix, router_id: RouterId, seqno: u16) -> bool {
        let mut awaited = false;
        self.0.retain(|pending| {
            let answered =
                (pending.prefix, pending.router_id) == (prefix, router_id) && !is_newer(pending.seqno, seqno);
            awaited |= answered && pending.asker.is_some();
            !answered
        });
        awaited
    }

    /// Removes this node's own requests for a prefix, once it has a route.
    pub fn withdraw(&mut self, prefix: Prefix) {
        self.0.retain(|pending| pending.prefix != prefix || pending.asker.is_some());
    }

    pub fn next(&self) -> Option<Time> {
        self.0.iter().map(|pending| pending.repeat_at.unwrap_or(pending.until)).min()
    }
}

impl Babel {
    /// Answers a request for one route, or for all (section 3.8.1.1).
    pub(super) fn handle_route_request(&mut self, now: Time, from: Ipv4Addr, prefix: Option<Prefix>) {
        self.counters.route_requests_received += 1;
        match prefix {
            Some(prefix) => self.say_soon(now, Some(from), Item::Update(prefix)),
            // To all: neighbours that come up at the same time are served together.
            None => self.say(now, None, Item::Everything),
        }
    }

    /// Answers, forwards or drops a request for a sequence number (section 3.8.1.2).
    pub(super) fn handle_seqno_request(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        (prefix, router_id, seqno): (Prefix, RouterId, u16),
        hop_count: u8,
    ) {
        self.counters.seqno_requests_received += 1;
        let own = self.announces(prefix).then_some((self.router_id, self.seqno));
        let selected = self.table.get(prefix).and_then(|destination| destination.selected);
        match own.or(selected.map(|route| (route.router_id, route.seqno))) {
            Some((id, number)) if id != router_id || !is_newer(seqno, number) => {
                self.say_soon(now, Some(from), Item::Update(prefix));
            }
            Some((id, _)) if id == self.router_id => {
                // By one, whatever number was requested.
                self.seqno = self.seqno.wrapping_add(1);
                self.counters.seqnos_made += 1;
                self.say_soon(now, None, Item::Update(prefix));
            }
            Some(_) if hop_count >= 2 => {
                let Some(to) = self.forwards_to(prefix, from) else { return };
                let recently = self.config.request_timeout / 2;
                if self.requests.is_redundant(now, prefix, router_id, seqno, recently) {
                    return;
                }
                self.counters.seqno_requests_forwarded += 1;
                let until = now + self.config.request_timeout * 4;
                let (asker, to) = (Some(from), Some(to));
                let (wait, repeats) = (Dur::ZERO, 0);
                let pending =
                    Pending { prefix, router_id, seqno, asker, to, sent: now, repeat_at: None, wait, repeats, until };
                self.remember(pending);
                let hop_count = hop_count - 1;
                self.say_soon(now, to, Item::Tlv(BabelTlv::SeqnoRequest { prefix, seqno, hop_count, router_id }));
            }
            _ => {}
        }
    }

    /// Returns where to forward a request from `from`: along a feasible route, preferably the selected one, otherwise
    /// along any.
    fn forwards_to(&self, prefix: Prefix, from: Ipv4Addr) -> Option<Ipv4Addr> {
        let destination = self.table.get(prefix)?;
        let selected = destination.selected.map(|route| route.neighbour);
        let rank = |route: &&super::table::Route| {
            let metric = self.metric_of(route);
            let feasible = self.sources.is_feasible(prefix, route.router_id, route.seqno, route.refmetric);
            (selected != Some(route.neighbour), !feasible, metric)
        };
        let elsewhere = destination.routes.iter().filter(|route| {
            route.neighbour != from && route.next_hop != from && self.metric_of(route) != BABEL_INFINITY
        });
        elsewhere.min_by_key(rank).map(|route| route.neighbour)
    }

    /// Requests a route with a newer number than this node has ever advertised (sections 3.8.2.1 and 3.8.2.2), from one
    /// neighbour or from all.
    pub(super) fn ask_for_seqno(
        &mut self,
        now: Time,
        prefix: Prefix,
        router_id: RouterId,
        known: u16,
        to: Option<Ipv4Addr>,
    ) {
        let seqno = self.sources.seqno(prefix, router_id).unwrap_or(known).wrapping_add(1);
        let wait = self.config.request_timeout;
        if self.requests.is_redundant(now, prefix, router_id, seqno, wait) {
            return;
        }
        self.requests.0.retain(|pending| {
            pending.asker.is_some() || pending.to != to || (pending.prefix, pending.router_id) != (prefix, router_id)
        });
        self.counters.seqno_requests_made += 1;
        // Forgotten when the last wait ends without an answer.
        let until = now + wait * (1 << (u64::from(self.config.request_repeats) + 1));
        let (asker, repeats) = (None, self.config.request_repeats);
        let repeat_at = (repeats > 0).then_some(now + wait);
        self.remember(Pending { prefix, router_id, seqno, asker, to, sent: now, repeat_at, wait, repeats, until });
        self.say_soon(now, to, Item::Tlv(BabelTlv::SeqnoRequest { prefix, seqno, hop_count: HOP_COUNT, router_id }));
    }

    fn remember(&mut self, pending: Pending) {
        if self.requests.0.len() < MOST {
            self.requests.0.push(pending);
        }
    }

    /// Repeats and forgets requests.
    pub(super) fn requests_timeout(&mut self, now: Time) {
        self.requests.0.retain(|pending| pending.until > now);
        for n in 0..self.requests.0.len() {
            let pending = &mut self.requests.0[n];
            if pending.repeat_at.is_none_or(|at| at > now) {
                continue;
            }
            pending.wait = pending.wait * 2;
            pending.repeats -= 1;
            pending.sent = now;
            pending.repeat_at = (pending.repeats > 0).then_some(now + pending.wait);
            let Pending { prefix, router_id, seqno, to, .. } = *pending;
            let request = BabelTlv::SeqnoRequest { prefix, seqno, hop_count: HOP_COUNT, router_id };
            self.say_soon(now, to, Item::Tlv(request));
        }
    }
}
