//! Nodes without a radio: hosts and routers, which are the same kind of node. A host has the layers above IP, a routing
//! table, and ports to wires; its driver stores the wires.
//!
//! Not modelled: processing time and ICMP. An undeliverable packet is dropped, counted, and reported to an attached
//! host.

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
/// [`Host::handle_packet`] takes packets that arrive by its wires, [`Host::handle_local`] those of an outside host; all
/// `handle_*` calls may change `next_timeout`.
#[derive(Debug)]
pub struct Host {
    local: Local,
    ports: Ports,
    drops: Drops,
    journal: Journal,
    /// New packets; the buffer is reused.
    made: Vec<Ipv4Packet>,
}

impl Host {
    /// Creates a host with this address whose packets start with `ttl`; `link_rate` is the rate of its first wire.
    pub fn new(addr: Ipv4Addr, ttl: u8, link_rate: Rate, routes: WiredRoutes) -> Host {
        Host {
            local: Local::new(Transports::new(addr, ttl, Interface::Wire(link_rate))),
            ports: Ports::new(routes),
            drops: Drops::default(),
            journal: Journal::default(),
            made: Vec::new(),
        }
    }

    /// Adds one end of a flow; returns its index in [`Host::endpoints`].
    pub fn add_endpoint(&mut self, endpoint: Endpoint) -> usize {
        self.local.transports.add(endpoint)
    }

    /// Attaches an outside host: from now on, packets that no flow here accepts are delivered to it.
    pub fn attach(&mut self) {
        self.local.attached = true;
    }

    /// Makes it record the steps of its packets, as [`Node::record`](super::Node::record) does.
    pub fn record(&mut self, first: u32, step: u32) {
        self.journal.begin(first, step);
    }

    /// Returns the ends of flows here.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.local.transports.endpoints()
    }

    /// Returns the routing table.
    pub fn routes(&self) -> &WiredRoutes {
        &self.ports.routes
    }

    /// Handles a packet that has arrived by `port`.
    pub fn handle_packet(&mut self, now: Time, mut packet: Ipv4Packet, port: PortId, out: &mut Vec<Output>) {
        self.ports.received += 1;
        self.ports.routes.handle_passage(packet.src, port);
        if packet.dst == self.local.transports.addr() {
            self.journal.note(&mut packet, Step::Delivered, out);
            let place = out.len();
            // Wires on the way to a radio are not radio hops: there is nothing to count.
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

    /// Handles a packet from the outside host.
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

    /// Returns when [`Host::handle_timeout`] must be called.
    pub fn next_timeout(&self) -> Option<Time> {
        self.local.transports.next_timeout()
    }

    /// Returns the losses so far.
    pub fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Returns the balance of IP here.
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
