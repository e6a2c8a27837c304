//! A routing protocol for neighbours: a packet goes straight to its destination, if a beacon of that was heard.

use super::action::{Action, NextHop};
use super::protocol::{CounterVisitor, Distributed, Place, Protocol};
use crate::drop::DropReason;
use crate::wire::direct::Beacon;
use crate::wire::{Body, Ipv4Packet, PacketMeta};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time between two beacons of a node.
    pub interval: Dur,
}

impl Config {
    /// A beacon a second.
    pub const fn usual() -> Config {
        Config { interval: Dur::from_secs(1) }
    }
}

/// The protocol at a node.
#[derive(Clone, Debug)]
pub struct Direct {
    addr: Ipv4Addr,
    config: Arc<Config>,
    next: Time,
    beacons: u64,
    heard: BTreeSet<Ipv4Addr>,
}

impl Distributed for Direct {
    type Config = Config;

    fn at(mut place: Place, config: &Arc<Config>) -> Direct {
        let next = Time::ZERO + place.jitter.duration(config.interval);
        Direct { addr: place.addr, config: config.clone(), next, beacons: 0, heard: BTreeSet::new() }
    }
}

impl Protocol for Direct {
    fn handle_outgoing(&mut self, _now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
        out.push(match self.next_hop(packet.dst) {
            Some(next_hop) => Action::Send { packet, next_hop: NextHop::Unicast(next_hop) },
            None => Action::Drop { packet, reason: DropReason::NoRoute },
        });
    }

    fn handle_transit(&mut self, _now: Time, packet: Ipv4Packet, _from: Option<Ipv4Addr>, out: &mut Vec<Action>) {
        out.push(Action::Drop { packet, reason: DropReason::NoRoute });
    }

    fn handle_message(&mut self, _now: Time, _packet: Ipv4Packet, from: Ipv4Addr, _out: &mut Vec<Action>) {
        self.heard.insert(from);
    }

    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Option<Ipv4Packet>,
        next_hop: Ipv4Addr,
        _reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        self.heard.remove(&next_hop);
        out.extend(packet.map(|packet| Action::Drop { packet, reason: DropReason::LinkBroken }));
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.next > now {
            return;
        }
        self.next = now + self.config.interval;
        self.beacons += 1;
        let body = Body::Routing(Beacon { number: self.beacons as u32 }.into());
        let meta = PacketMeta { created: now, ..PacketMeta::default() };
        let packet = Ipv4Packet { src: self.addr, dst: Ipv4Packet::BROADCAST, ttl: 1, ident: 0, dscp: 0, body, meta };
        out.push(Action::Send { packet, next_hop: NextHop::Broadcast });
    }

    fn next_timeout(&self) -> Option<Time> {
        Some(self.next)
    }

    fn count(&self, visit: &mut CounterVisitor) {
        visit("direct", &mut [("beacons", self.beacons)].into_iter());
    }

    fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
        self.heard.contains(&dst).then_some(dst)
    }

    fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
        self.next_hop(dst).map(|_| 1)
    }
}
