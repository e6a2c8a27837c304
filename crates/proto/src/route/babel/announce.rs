//! Sending: periodic Hellos and updates, and pending messages (RFC 8966 sections 3.1, 3.4 and 3.7).

use super::config::{HELLOS_FOR_IHU, centiseconds};
use super::outbox::{Item, Waiting};
use super::{Action, Babel, NextHop};
use crate::wire::Prefix;
use crate::wire::{BABEL_INFINITY, BabelMessage, BabelTlv, BabelUpdate, Body, Ipv4Packet, PacketMeta};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// Maximum packet size in bytes: the smallest MTU of an IPv6 link (RFC 8200 section 5), minus headers.
const LARGEST: u32 = 1280 - 40 - 8;

impl Babel {
    /// Schedules an item that is not urgent, for a neighbour or for all.
    pub(super) fn say(&mut self, now: Time, to: Option<Ipv4Addr>, item: Item) {
        let delay = self.jitter.duration(self.config.leisure());
        self.outbox.push(to, now + delay, item);
    }

    /// Schedules an urgent item.
    pub(super) fn say_soon(&mut self, now: Time, to: Option<Ipv4Addr>, item: Item) {
        let delay = self.jitter.duration(self.config.urgent_timeout);
        self.outbox.push(to, now + delay, item);
    }

    /// Schedules an urgent update that should reach all neighbours (section 3.7.2). Broadcasts are not acknowledged, so
    /// it is sent twice.
    pub(super) fn say_twice(&mut self, now: Time, prefix: Prefix) {
        self.say_soon(now, None, Item::Update(prefix));
        let again = now + self.config.urgent_timeout * 2;
        self.repeats.retain(|&(_, other)| other != prefix);
        self.repeats.push((again, prefix));
    }

    /// Sends the second copies that are due.
    pub(super) fn repeats_timeout(&mut self, now: Time) {
        while let Some(at) = self.repeats.iter().position(|&(at, _)| at <= now) {
            let (_, prefix) = self.repeats.remove(at);
            self.say_soon(now, None, Item::Update(prefix));
        }
    }

    /// Returns the end of an interval, randomly early because the interval is an upper bound (section 4.6.5).
    fn after(&mut self, now: Time, interval: Dur) -> Time {
        now + interval - self.jitter.duration(interval / 4)
    }

    /// Sends what is periodic: Hellos, with IHUs to the neighbours that need them (appendix B), and all routes.
    pub(super) fn intervals_timeout(&mut self, now: Time) {
        if self.hello_at <= now {
            self.hello_at = self.after(now, self.config.hello_interval);
            self.outbox.push(None, now, Item::Hello);
            let all = self.hello_seqno.is_multiple_of(HELLOS_FOR_IHU);
            for neighbour in self.neighbours.iter().filter(|neighbour| all || neighbour.loses()) {
                self.outbox.push(None, now, Item::Ihu(neighbour.addr));
            }
        }
        if self.update_at <= now {
            self.sources.collect(now, self.config.source_lifetime);
            self.outbox.push(None, now, Item::Everything);
        }
    }

    /// Sends the messages that are due.
    pub(super) fn send_waiting(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some(Waiting { to, items, .. }) = self.outbox.pop(now) {
            let mut tlvs = Vec::new();
            for &item in &items {
                match item {
                    Item::Hello => tlvs.push(self.hello()),
                    Item::Ihu(addr) => tlvs.extend(self.ihu(addr)),
                    Item::Tlv(tlv) => tlvs.push(tlv),
                    Item::Update(_) | Item::Everything => {}
                }
            }
            if items.contains(&Item::Everything) {
                let own = self.own.iter().copied();
                let selected = self.table.0.iter().filter(|one| one.selected.is_some()).map(|one| one.prefix);
                let all: Vec<Prefix> = own.chain(selected).collect();
                tlvs.extend(all.into_iter().map(|prefix| self.update(now, prefix)));
                self.update_at = self.after(now, self.config.update_interval);
                self.counters.dumps_sent += 1;
            }
            for item in items {
                if let Item::Update(prefix) = item
                    && !tlvs.iter().any(|tlv| is_about(tlv, prefix))
                {
                    let update = self.update(now, prefix);
                    tlvs.push(update);
                }
            }
            self.send(now, to, tlvs, out);
        }
    }

    fn hello(&mut self) -> BabelTlv {
        let (seqno, interval) = (self.hello_seqno, centiseconds(self.config.hello_interval));
        self.hello_seqno = seqno.wrapping_add(1);
        self.counters.hellos_sent += 1;
        BabelTlv::Hello { unicast: false, seqno, interval }
    }

    fn ihu(&mut self, addr: Ipv4Addr) -> Option<BabelTlv> {
        let rxcost = self.neighbours.get(addr)?.rxcost(&self.config);
        self.counters.ihus_sent += 1;
        let interval = centiseconds(self.config.ihu_interval());
        Some(BabelTlv::Ihu { address: Some(addr.into()), rxcost, interval })
    }

    /// Builds this node's update for a prefix and adjusts the feasibility distance (section 3.7.3).
    fn update(&mut self, now: Time, prefix: Prefix) -> BabelTlv {
        let interval = centiseconds(self.config.update_interval);
        let own = self.announces(prefix).then_some((self.router_id, self.seqno, 0, 0));
        let destination = self.table.find(prefix);
        let selected = destination.and_then(|at| self.table.0[at].selected);
        let (router_id, seqno, metric, hops) =
            match own.or(selected.map(|route| (route.router_id, route.seqno, route.metric, route.hops))) {
                Some(route) => route,
                None => {
                    if let Some(at) = destination {
                        let announced = &mut self.table.0[at].announced;
                        *announced = announced.map(|(id, _)| (id, BABEL_INFINITY));
                    }
                    self.counters.retractions_sent += 1;
                    return BabelTlv::Retraction { prefix: Some(prefix), interval };
                }
            };
        self.sources.note_sent(now, prefix, router_id, seqno, metric);
        if let Some(at) = destination {
            self.table.0[at].announced = Some((router_id, metric));
        }
        self.counters.updates_sent += 1;
        // Over IPv4, this node is the next hop without being named (section 4.6.9).
        let (next_hop, hops) = (None, Some(hops));
        BabelTlv::Update(BabelUpdate { prefix, router_id, next_hop, interval, seqno, metric, hops })
    }

    /// Sends these TLVs, in as many packets as needed.
    fn send(&mut self, now: Time, to: Option<Ipv4Addr>, tlvs: Vec<BabelTlv>, out: &mut Vec<Action>) {
        let mut message = BabelMessage::default();
        let mut messages = Vec::new();
        for tlv in tlvs {
            message.tlvs.push(tlv);
            if message.len() > LARGEST {
                message.tlvs.pop();
                messages.push(core::mem::replace(&mut message, BabelMessage { tlvs: vec![tlv] }));
            }
        }
        messages.extend(Some(message).filter(|message| !message.tlvs.is_empty()));
        for message in messages {
            self.counters.packets_sent += 1;
            let meta = PacketMeta { created: now, ..PacketMeta::default() };
            let body = Body::Routing(message.into());
            let dst = to.unwrap_or(BabelMessage::GROUP);
            // One hop. The identification of a packet that is never fragmented may be anything (RFC 6864 section 4).
            let packet = Ipv4Packet { src: self.addr, dst, ttl: 1, ident: 0, dscp: 0, body, meta };
            let next_hop = to.map_or(NextHop::Broadcast, NextHop::Unicast);
            out.push(Action::Send { packet, next_hop });
        }
    }
}

fn is_about(tlv: &BabelTlv, prefix: Prefix) -> bool {
    matches!(tlv, BabelTlv::Update(update) if update.prefix == prefix)
        || matches!(tlv, BabelTlv::Retraction { prefix: Some(other), .. } if *other == prefix)
}
