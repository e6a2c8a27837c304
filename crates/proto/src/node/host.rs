//! A node without a radio: a host or a router, in the end the same. It has transports, a routing table and ports to wires,
//! which its driver keeps.
//!
//! Leaves out processing time, and ICMP: what cannot be forwarded is dropped and counted.

use super::account::{Account, Drops};
use super::endpoint::Endpoint;
use super::gateway::Outbound;
use super::transports::Transports;
use crate::drop::DropReason;
use crate::route::{PortId, WiredRoutes};
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Rate, Time};

/// A host or router.
///
/// [`Host::handle_packet`] takes what arrives by its wires; both `handle_*` calls may change `next_timeout` and put packets
/// for the ports into `out`.
#[derive(Debug)]
pub struct Host {
    transports: Transports,
    routes: WiredRoutes,
    drops: Drops,
    received: u64,
    sent: u64,
    delivered: u64,
    /// Packets just made, reused.
    made: Vec<Ipv4Packet>,
}

impl Host {
    /// A host with this address whose packets begin with `ttl`; `link_rate` is that of its first wire.
    pub fn new(addr: Ipv4Addr, ttl: u8, link_rate: Rate, routes: WiredRoutes) -> Host {
        Host {
            transports: Transports::new(addr, ttl, link_rate),
            routes,
            drops: Drops::default(),
            received: 0,
            sent: 0,
            delivered: 0,
            made: Vec::new(),
        }
    }

    /// Adds one end of a flow; returns its place among [`Host::endpoints`].
    pub fn add_endpoint(&mut self, endpoint: Endpoint) -> usize {
        self.transports.add(endpoint)
    }

    /// The ends of flows here.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.transports.endpoints()
    }

    /// The routing table.
    pub fn routes(&self) -> &WiredRoutes {
        &self.routes
    }

    /// A packet has come in by `port`.
    pub fn handle_packet(&mut self, now: Time, mut packet: Ipv4Packet, port: PortId, out: &mut Vec<Outbound>) {
        self.received += 1;
        self.routes.handle_passage(packet.src, port);
        if packet.dst != self.transports.addr() {
            if packet.ttl <= 1 {
                self.drops.count(DropReason::TtlExpired);
            } else {
                packet.ttl -= 1;
                self.send(packet, out);
            }
            return;
        }
        // What lies between here and a radio is no radio hop: there is none to count.
        match self.transports.handle_packet(now, &packet, |_| None, &mut self.made) {
            Ok(()) => self.delivered += 1,
            Err(reason) => self.drops.count(reason),
        }
        self.send_made(out);
    }

    /// Does what is due at `now`; nothing if called early.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Outbound>) {
        self.transports.handle_timeout(now, &mut self.made);
        self.send_made(out);
    }

    /// When [`Host::handle_timeout`] wants to be called.
    pub fn next_timeout(&self) -> Option<Time> {
        self.transports.next_timeout()
    }

    /// Losses so far.
    pub fn drops(&self) -> &Drops {
        &self.drops
    }

    /// The balance of IP here.
    pub fn account(&self) -> Account {
        Account {
            taken: self.transports.originated() + self.received,
            passed: self.delivered + self.sent,
            dropped: self.drops.total(),
            held: 0,
        }
    }

    fn send_made(&mut self, out: &mut Vec<Outbound>) {
        let mut made = core::mem::take(&mut self.made);
        made.drain(..).for_each(|packet| self.send(packet, out));
        self.made = made;
    }

    fn send(&mut self, packet: Ipv4Packet, out: &mut Vec<Outbound>) {
        match self.routes.port(packet.dst) {
            Some(port) => {
                self.sent += 1;
                out.push((port, packet));
            }
            None => self.drops.count(DropReason::NoRoute),
        }
    }
}
