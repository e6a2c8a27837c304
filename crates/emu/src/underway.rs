//! Packets that have entered the network and have neither left it nor been lost.
//!
//! A packet is identified by the instant at which its host created it, which all its copies share. Two that enter at
//! the same time are made a nanosecond apart.

use fourhop_proto::wire::{Body, Ipv4Packet};
use fourhop_units::{Dur, Time};
use std::collections::HashMap;

/// Longer than any interface queue keeps a packet.
const WAITS: Dur = Dur::from_secs(2);

/// The packets under way.
#[derive(Clone, Debug, Default)]
pub struct Underway {
    /// Keyed by the instant of each; whether it is for all who hear it.
    entered: HashMap<Time, bool>,
    newest: Time,
}

impl Underway {
    /// A packet enters.
    pub fn enter(&mut self, now: Time, packet: &mut Ipv4Packet) {
        if is_hosts(packet) {
            self.newest = now.max(self.newest + Dur::from_nanos(1));
            packet.meta.created = self.newest;
            self.entered.insert(self.newest, packet.is_for_all());
        }
    }

    /// A packet has left the network or is lost. Returns false if a copy already has.
    pub fn leave(&mut self, packet: &Ipv4Packet) -> bool {
        !is_hosts(packet) || self.entered.remove(&packet.meta.created).is_some()
    }

    /// How many are under way, and how many were for all and reached nobody: no acknowledgement shows that, but their
    /// queue has drained since.
    pub fn count(&self, now: Time) -> (u64, u64) {
        let is_unheard = |&(&entered, &for_all): &(&Time, &bool)| for_all && now.saturating_since(entered) > WAITS;
        let unheard = self.entered.iter().filter(is_unheard).count();
        ((self.entered.len() - unheard) as u64, unheard as u64)
    }
}

/// Whether it is a host's, as bytes. A segment that C3TCP measures becomes the simulator's, and is not followed.
fn is_hosts(packet: &Ipv4Packet) -> bool {
    matches!(packet.body, Body::Opaque(_) | Body::Udp(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packet_leaves_once() {
        let mut bytes = Vec::new();
        let builder = etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9).udp(1, 2);
        builder.write(&mut bytes, &[0; 10]).unwrap();
        let mut underway = Underway::default();
        let mut packets = [0, 1].map(|_| Ipv4Packet::from_bytes(&bytes).unwrap());
        packets.iter_mut().for_each(|packet| underway.enter(Time::ZERO, packet));
        assert_eq!(underway.count(Time::ZERO), (2, 0), "the same bytes at the same instant");
        assert!(underway.leave(&packets[0].clone()) && !underway.leave(&packets[0]));
        assert_eq!(underway.count(Time::ZERO), (1, 0));
        let mut all = Ipv4Packet { dst: core::net::Ipv4Addr::BROADCAST, ..packets[0].clone() };
        underway.enter(Time::ZERO, &mut all);
        assert_eq!(underway.count(Time::from_secs(1)), (2, 0));
        assert_eq!(underway.count(Time::from_secs(3)), (1, 1), "nobody has heard it");
    }
}
