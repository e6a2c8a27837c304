//! Address resolution (RFC 826) with one pending packet per destination (RFC 1122 section 2.3.2.2).
//!
//! ns-2 never repeats a request by itself. The next packet for the same destination replaces the pending one and
//! triggers another request, and the fourth packet gives up on both. With `retry`, a timer repeats the request instead.
//! Entries never expire.

use crate::wire::{ArpMessage, ArpOperation, Ipv4Packet};
use core::net::Ipv4Addr;
use fourhop_units::{Dur, MacAddr, Time};
use std::collections::BTreeMap;

/// Maximum number of requests for one destination before its packet is returned (ns-2's `ARP_MAX_REQUEST_COUNT`).
const MAX_REQUESTS: u8 = 3;

#[derive(Clone, Debug)]
enum Entry {
    Known(MacAddr),
    Asking { queued: Option<Ipv4Packet>, requests: u8, repeat: Option<Time> },
}

/// Action for a packet after looking up its next hop.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup {
    /// Send it there.
    Known(MacAddr, Ipv4Packet),
    /// The packet is pending; broadcast this request. If the packet replaced another, that one is included.
    Ask(ArpMessage, Option<Ipv4Packet>),
    /// Neither the packet nor the one pending before it can be sent.
    GiveUp(Ipv4Packet, Option<Ipv4Packet>),
}

/// Effect of a received ARP message.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Received {
    /// A reply to send.
    pub reply: Option<ArpMessage>,
    /// A pending packet that can now be sent, and its destination.
    pub released: Option<(MacAddr, Ipv4Packet)>,
}

/// The ARP table of one station.
#[derive(Clone, Debug)]
pub struct ArpTable {
    mac: MacAddr,
    ip: Ipv4Addr,
    retry: Option<Dur>,
    entries: BTreeMap<Ipv4Addr, Entry>,
    /// When the first request is due again; cached because it is queried at every event of the station.
    due: Option<Time>,
}

impl ArpTable {
    /// Creates an empty table for the station `mac`, `ip`. `retry`: wait before a request is repeated; `None` as in
    /// ns-2.
    pub fn new(mac: MacAddr, ip: Ipv4Addr, retry: Option<Dur>) -> ArpTable {
        ArpTable { mac, ip, retry, entries: BTreeMap::new(), due: None }
    }

    /// Returns the number of pending packets.
    pub fn queued(&self) -> usize {
        self.entries.values().filter(|entry| matches!(entry, Entry::Asking { queued: Some(_), .. })).count()
    }

    /// Returns the MAC address of `ip`, if known.
    pub fn mac_of(&self, ip: Ipv4Addr) -> Option<MacAddr> {
        match self.entries.get(&ip) {
            Some(Entry::Known(mac)) => Some(*mac),
            _ => None,
        }
    }

    /// Returns the IP address of the station `mac`, if known; the lowest if it has several.
    pub fn ip_of(&self, mac: MacAddr) -> Option<Ipv4Addr> {
        self.entries.iter().find_map(|(ip, entry)| matches!(entry, Entry::Known(known) if *known == mac).then_some(*ip))
    }

    /// Resolves `next_hop` for `packet`.
    pub fn resolve(&mut self, now: Time, next_hop: Ipv4Addr, packet: Ipv4Packet) -> Lookup {
        let (mac, ip) = (self.mac, self.ip);
        let request = request(mac, ip, next_hop);
        let repeat = self.retry.map(|wait| now + wait);
        let lookup = match self.entries.get_mut(&next_hop) {
            Some(Entry::Known(mac)) => return Lookup::Known(*mac, packet),
            Some(Entry::Asking { queued, requests, .. }) if self.retry.is_none() && *requests >= MAX_REQUESTS => {
                *requests = 0;
                Lookup::GiveUp(packet, queued.take())
            }
            Some(Entry::Asking { queued, requests, repeat: at }) => {
                if self.retry.is_none() || at.is_none() {
                    *requests += 1;
                    *at = repeat;
                }
                Lookup::Ask(request, queued.replace(packet))
            }
            None => {
                self.entries.insert(next_hop, Entry::Asking { queued: Some(packet), requests: 1, repeat });
                Lookup::Ask(request, None)
            }
        };
        self.find_due();
        lookup
    }

    /// Learns the sender of a message, which may be a request for another station, and answers a request for this one.
    pub fn handle_message(&mut self, message: &ArpMessage) -> Received {
        let mut received = Received::default();
        if let Some(Entry::Asking { queued: Some(packet), .. }) =
            self.entries.insert(message.sender_ip, Entry::Known(message.sender_mac))
        {
            received.released = Some((message.sender_mac, packet));
            self.find_due();
        }
        if message.operation == ArpOperation::Request && message.target_ip == self.ip {
            received.reply = Some(ArpMessage {
                operation: ArpOperation::Reply,
                sender_mac: self.mac,
                sender_ip: self.ip,
                target_mac: Some(message.sender_mac),
                target_ip: message.sender_ip,
            });
        }
        received
    }

    /// Returns when a request must be repeated.
    pub fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    fn find_due(&mut self) {
        let due = |entry: &Entry| match entry {
            Entry::Asking { repeat, queued: Some(_), .. } => *repeat,
            _ => None,
        };
        self.due = self.entries.values().filter_map(due).min();
    }

    /// Repeats the requests that are due: calls `ask` with each, and `give_up` with the packets that have used up their
    /// requests and the next hops they wait for.
    pub fn handle_timeout(
        &mut self,
        now: Time,
        mut ask: impl FnMut(ArpMessage),
        mut give_up: impl FnMut(Ipv4Addr, Ipv4Packet),
    ) {
        let (mac, ip, retry) = (self.mac, self.ip, self.retry);
        for (next_hop, entry) in &mut self.entries {
            if let Entry::Asking { queued, requests, repeat } = entry
                && queued.is_some()
                && repeat.is_some_and(|at| at <= now)
            {
                if *requests >= MAX_REQUESTS {
                    (*requests, *repeat) = (0, None);
                    if let Some(packet) = queued.take() {
                        give_up(*next_hop, packet);
                    }
                } else {
                    *requests += 1;
                    *repeat = retry.map(|wait| now + wait);
                    ask(request(mac, ip, *next_hop));
                }
            }
        }
        self.find_due();
    }
}

fn request(mac: MacAddr, ip: Ipv4Addr, target_ip: Ipv4Addr) -> ArpMessage {
    ArpMessage { operation: ArpOperation::Request, sender_mac: mac, sender_ip: ip, target_mac: None, target_ip }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, PacketMeta, UdpDatagram};
    use fourhop_units::NodeId;

    fn packet(ident: u16) -> Ipv4Packet {
        let body = Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 10 });
        Ipv4Packet { src: node(0), dst: node(1), ttl: 64, ident, dscp: 0, body, meta: PacketMeta::default() }
    }

    fn node(n: u32) -> Ipv4Addr {
        NodeId(n).ipv4()
    }

    #[test]
    fn request_and_reply_teach_both_sides_and_release_the_packet() {
        let mut a = ArpTable::new(NodeId(0).mac(), node(0), None);
        let mut b = ArpTable::new(NodeId(1).mac(), node(1), None);
        let Lookup::Ask(request, None) = a.resolve(Time::ZERO, node(1), packet(7)) else { panic!("nothing is known") };
        let reply = b.handle_message(&request).reply.expect("b is asked for");
        assert!(matches!(b.resolve(Time::ZERO, node(0), packet(8)), Lookup::Known(mac, _) if mac == NodeId(0).mac()));
        let released = a.handle_message(&reply).released.expect("a queued packet");
        assert_eq!((released.0, released.1.ident), (NodeId(1).mac(), 7));
        assert_eq!(a.queued(), 0);
    }

    // ns-2: one packet is pending; the fourth attempt returns both it and the new one, and the count starts again.
    #[test]
    fn without_an_answer_the_fourth_packet_gives_up() {
        let mut arp = ArpTable::new(NodeId(0).mac(), node(0), None);
        assert!(matches!(arp.resolve(Time::ZERO, node(1), packet(1)), Lookup::Ask(_, None)));
        assert!(matches!(arp.resolve(Time::ZERO, node(1), packet(2)), Lookup::Ask(_, Some(old)) if old.ident == 1));
        assert!(matches!(arp.resolve(Time::ZERO, node(1), packet(3)), Lookup::Ask(_, Some(old)) if old.ident == 2));
        let given_back = arp.resolve(Time::ZERO, node(1), packet(4));
        assert!(matches!(given_back, Lookup::GiveUp(new, Some(old)) if new.ident == 4 && old.ident == 3));
        assert!(matches!(arp.resolve(Time::ZERO, node(1), packet(5)), Lookup::Ask(_, None)));
        assert_eq!(arp.next_timeout(), None);
    }

    #[test]
    fn with_retry_the_request_is_repeated_and_then_given_up() {
        let mut arp = ArpTable::new(NodeId(0).mac(), node(0), Some(Dur::from_secs(1)));
        drop(arp.resolve(Time::ZERO, node(1), packet(1)));
        let (mut asked, mut lost) = (0, 0);
        while let Some(at) = arp.next_timeout() {
            arp.handle_timeout(at, |_| asked += 1, |_, _| lost += 1);
        }
        assert_eq!((asked, lost), (2, 1));
    }
}
