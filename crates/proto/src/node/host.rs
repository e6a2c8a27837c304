//! A node without a radio: a host or a router, which are the same kind of node. It has the layers above IP, a routing
//! table, and ports to wires; its driver keeps the wires.
//!
//! Leaves out processing time and ICMP: an undeliverable packet is dropped, counted, and reported to an attached host.

use super::account::{Account, Drops};
use super::endpoint::{Endpoint, Interface};
use super::journal::{self, Journal, Step};
use super::local::Local;
use super::output::Output;
use super::ports::Ports;
use super::transports::Transports;
use crate::route::{PortId, WiredRoutes};
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Rate, Time};

/// A host or router.
///
/// [`Host::handle_packet`] takes what arrives by its wires, [`Host::handle_local`] what a host outside sends; all
/// `handle_*` calls may change `next_timeout`.
#[derive(Debug)]
pub struct Host {
    local: Local,
    ports: Ports,
    drops: Drops,
    journal: Journal,
    /// Packets just made, reused.
    made: Vec<Ipv4Packet>,
}

impl Host {
    /// A host with this address whose packets begin with `ttl`; `link_rate` is that of its first wire.
    pub fn new(addr: Ipv4Addr, ttl: u8, link_rate: Rate, routes: WiredRoutes) -> Host {
        Host {
            local: Local::new(Transports::new(addr, ttl, Interface::Wire(link_rate))),
            ports: Ports::new(routes),
            drops: Drops::default(),
            journal: Journal::default(),
            made: Vec::new(),
        }
    }

    /// Adds one end of a flow; returns its place among [`Host::endpoints`].
    pub fn add_endpoint(&mut self, endpoint: Endpoint) -> usize {
        self.local.transports.add(endpoint)
    }

    /// Attaches a host outside: from now on packets that no flow here takes are delivered to it.
    pub fn attach(&mut self) {
        self.local.attached = true;
    }

    /// Lets it tell what its packets do, as [`Node::record`](super::Node::record) does.
    pub fn record(&mut self, first: u32, step: u32) {
        self.journal.begin(first, step);
    }

    /// The ends of flows here.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.local.transports.endpoints()
    }

    /// The routing table.
    pub fn routes(&self) -> &WiredRoutes {
        &self.ports.routes
    }

    /// A packet has come in by `port`.
    pub fn handle_packet(&mut self, now: Time, mut packet: Ipv4Packet, port: PortId, out: &mut Vec<Output>) {
        self.ports.received += 1;
        self.ports.routes.handle_passage(packet.src, port);
        if packet.dst == self.local.transports.addr() {
            self.journal.note(&mut packet, Step::Delivered, out);
            let place = out.len();
            // Wires between here and a radio are no radio hops: there is none to count.
            if let Err(reason) = self.local.deliver(now, packet, |_| None, &mut self.made, out) {
                self.drops.count(reason);
                journal::revise(&mut out[..place], reason);
            }
            return self.send_made(out);
        }
        match packet.decrement_ttl() {
            Ok(()) => self.send(packet, out),
            Err(reason) => {
                self.drops.count(reason);
                self.journal.note(&mut packet, Step::Dropped(reason), out);
                self.local.report_lost(packet, reason, out);
            }
        }
    }

    /// A packet made by the host outside.
    pub fn handle_local(&mut self, mut packet: Ipv4Packet, out: &mut Vec<Output>) {
        self.local.taken += 1;
        self.journal.note(&mut packet, Step::Created, out);
        self.send(packet, out);
    }

    /// Does what is due at `now`; nothing if called early.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        self.local.transports.handle_timeout(now, &mut self.made);
        self.send_made(out);
    }

    /// When [`Host::handle_timeout`] has to be called.
    pub fn next_timeout(&self) -> Option<Time> {
        self.local.transports.next_timeout()
    }

    /// Losses so far.
    pub fn drops(&self) -> &Drops {
        &self.drops
    }

    /// The balance of IP here.
    pub fn account(&self) -> Account {
        Account {
            taken: self.local.originated() + self.ports.received,
            passed: self.local.delivered + self.ports.sent,
            dropped: self.drops.total(),
            held: 0,
        }
    }

    fn send_made(&mut self, out: &mut Vec<Output>) {
        let mut made = core::mem::take(&mut self.made);
        for mut packet in made.drain(..) {
            self.journal.note(&mut packet, Step::Created, out);
            self.send(packet, out);
        }
        self.made = made;
    }

    fn send(&mut self, packet: Ipv4Packet, out: &mut Vec<Output>) {
        if let Err(reason) = self.ports.send(packet, &mut self.journal, out) {
            self.drops.count(reason);
        }
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
