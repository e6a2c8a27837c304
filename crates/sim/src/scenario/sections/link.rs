//! `[link]`: interface queue and ARP.

use crate::scenario::key::{Fallback::*, Kind, section, time};
use fourhop_units::Dur;

section! {
    /// Interface queue and ARP.
    Link = "link" {
        /// Packets the interface queue holds.
        queue_limit: u32, Kind::Int(1, 1_000_000), Both("50");
        /// Does the queue refuse a packet already when only one place is left, as ns-2's does?
        queue_keeps_one_free: bool, Kind::Bool, Profile("true", "false");
        /// Do routing packets go to the head of the queue?
        routing_first: bool, Kind::Bool, Both("true");
        /// Processing delay of a packet in each direction.
        delay: Dur, time("0s", "1s"), Both("25us");
        /// Are link addresses found by ARP? Without, every node knows them.
        arp: bool, Kind::Bool, Both("true");
        /// Time after which an unanswered ARP request is repeated; "0s": only when another packet comes.
        arp_retry: Dur, time("0s", "60s"), Profile("0s", "1s");
    }
}
