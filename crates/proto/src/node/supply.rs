//! How the MAC takes packets from the interface queue while it builds an aggregate; CoDel may drop some on the way.

use super::account::{Drops, LayerCounts};
use super::journal::{Journal, Step};
use super::output::Output;
use crate::drop::DropReason;
use crate::mac::Supply;
use crate::net::{Airtime, Link};
use crate::wire::{Category, Msdu, Payload};
use fourhop_units::{Dur, MacAddr, Time};

/// The interface queue as seen by a MAC that builds an aggregate. Early drops apply only to the first packet of an
/// aggregate.
pub(super) struct LinkSupply<'a> {
    pub link: &'a mut Link,
    pub layer_counts: &'a mut LayerCounts,
    pub drops: &'a mut Drops,
    pub journal: &'a mut Journal,
    pub outputs: &'a mut Vec<Output>,
}

impl Supply for LinkSupply<'_> {
    fn next_for(&mut self, now: Time, to: MacAddr, category: Category) -> Option<Msdu> {
        let LinkSupply { link, drops, journal, outputs, .. } = self;
        let msdu = link.dequeue_for(now, to, category, |msdu| lost_to_codel(msdu, drops, journal, outputs))?;
        Some(self.taken(msdu))
    }

    fn next_of(&mut self, now: Time, category: Category) -> Option<Msdu> {
        let LinkSupply { link, drops, journal, outputs, .. } = self;
        let msdu = link.dequeue_of(now, category, |msdu| lost_to_codel(msdu, drops, journal, outputs))?;
        Some(self.taken(msdu))
    }

    fn sent(&mut self, _now: Time, to: MacAddr, airtime: Dur, category: Category) {
        self.link.charge(to, Airtime { sent: airtime, received: Dur::ZERO }, category);
    }
}

impl LinkSupply<'_> {
    fn taken(&mut self, mut msdu: Msdu) -> Msdu {
        self.layer_counts.link_to_mac += 1;
        if let Payload::Ipv4(packet) = &mut msdu.payload {
            self.journal.note(packet, Step::Head, self.outputs);
        }
        msdu
    }
}

/// Counts and records a packet that CoDel in front of the MAC has dropped.
pub(super) fn lost_to_codel(msdu: Msdu, drops: &mut Drops, journal: &mut Journal, outputs: &mut Vec<Output>) {
    drops.count(DropReason::LinkCodel);
    if let Payload::Ipv4(mut packet) = msdu.payload {
        journal.note(&mut packet, Step::Dropped(DropReason::LinkCodel), outputs);
    }
}
