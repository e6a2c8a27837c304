//! `[link]`: interface queue and ARP.

use crate::scenario::key::{Fallback::*, Kind, choice, section, time};
use fourhop_units::Dur;

choice! {
    /// How sizes on the air are counted.
    Sizes {
        Ns2 = "ns2", "as ns-2 counts them, without UDP and LLC headers";
        Standard = "standard", "as the headers are laid out";
    }
}

section! {
    /// Interface queue and ARP.
    Link = "link" {
        /// Size of the interface queue; one packet fewer than this waits in it, as in ns-2.
        queue_limit: u32, Kind::Int(2, 1_000_000), Both("50");
        /// Do routing packets go to the head of the queue?
        routing_first: bool, Kind::Bool, Both("true");
        /// Processing delay of a packet in each direction.
        delay: Dur, time("0s", "1s"), Both("25us");
        /// Are link addresses found by ARP? Without, every node knows them.
        arp: bool, Kind::Bool, Both("true");
        /// Processing delay of ARP.
        arp_delay: Dur, time("0s", "1s"), Both("5us");
        /// Time after which an unanswered ARP request is repeated; none: only another packet repeats it.
        arp_retry: Option<Dur>, time("1ms", "1000s"), Profile("none", "1s");
        /// How sizes on the air are counted.
        sizes: Sizes, Kind::Choice(Sizes::CHOICES), Profile("ns2", "standard");
    }
}
