//! How the MAC asks the layer above for packets when it builds an aggregate.
//!
//! The first packet comes as to any MAC: [`Dcf::handle_packet`](crate::mac::Dcf::handle_packet), while
//! [`Dcf::is_ready`](crate::mac::Dcf::is_ready). It decides the receiver. At the instant when the medium is won, the
//! MAC takes up to 63 more from [`Supply::next_for`], as many as the limits of the aggregate allow. A packet taken is
//! the MAC's: it is sent, now or in a later aggregate, or given up. The MAC never asks while it holds one that did not
//! fit.
//!
//! A queue with a sub-queue for each station serves `next_for` from that of `to`, and drops there what its management
//! drops; a plain queue takes the first packet for `to`. [`Supply::sent`] tells the air time of each frame with its
//! answer, for fairness by air time.

use crate::wire::{Category, Msdu};
use fourhop_units::{Dur, MacAddr, Time};

/// The layer above, as the MAC that builds an aggregate sees it. Without one there are no further packets.
pub trait Supply {
    /// The next packet for `to`, if one waits; with EDCA of this category.
    fn next_for(&mut self, now: Time, to: MacAddr, category: Category) -> Option<Msdu>;

    /// With EDCA: the next packet of this category, if one waits, to be sent in the same TXOP.
    fn next_of(&mut self, now: Time, category: Category) -> Option<Msdu>;

    /// Data for `to` is sent from now on; with its answer it takes `airtime`.
    fn sent(&mut self, now: Time, to: MacAddr, airtime: Dur, category: Category) {
        let _ = (now, to, airtime, category);
    }
}

impl Supply for () {
    fn next_for(&mut self, _now: Time, _to: MacAddr, _category: Category) -> Option<Msdu> {
        None
    }

    fn next_of(&mut self, _now: Time, _category: Category) -> Option<Msdu> {
        None
    }
}
