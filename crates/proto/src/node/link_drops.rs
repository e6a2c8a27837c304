//! Packets that the MAC of a node gave up, by destination neighbour and kind of packet.

use crate::wire::{Msdu, Payload};
use fourhop_units::MacAddr;

/// Packets given up towards one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkDrops {
    /// The neighbour.
    pub to: MacAddr,
    /// TCP segments with payload.
    pub tcp_data: u64,
    /// TCP segments without.
    pub tcp_acks: u64,
    /// Everything else: datagrams, ping, routing, ARP.
    pub other: u64,
}

/// Counts `msdu`, which was for one neighbour and was given up.
pub(super) fn count(table: &mut Vec<LinkDrops>, msdu: &Msdu) {
    let to = msdu.dst;
    let at = match table.binary_search_by_key(&to, |drops| drops.to) {
        Ok(at) => at,
        Err(at) => {
            table.insert(at, LinkDrops { to, tcp_data: 0, tcp_acks: 0, other: 0 });
            at
        }
    };
    let drops = &mut table[at];
    match &msdu.payload {
        Payload::Ipv4(packet) => match packet.tcp_payload() {
            Some(payload) if payload > 0 => drops.tcp_data += 1,
            Some(_) => drops.tcp_acks += 1,
            None => drops.other += 1,
        },
        Payload::Arp(_) | Payload::Foreign(_) => drops.other += 1,
    }
}
