//! How the MAC asks the layer above for packets when it builds an aggregate.
//!
//! The first packet arrives as at any MAC: [`Dcf::handle_packet`](crate::mac::Dcf::handle_packet), while
//! [`Dcf::is_ready`](crate::mac::Dcf::is_ready). It determines the receiver. When the medium is won, the MAC takes up
//! to 63 more from [`Supply::next_for`], as many as the limits of the aggregate allow. From then on they belong to the
//! MAC: each is sent, now or in a later aggregate, or given up. The MAC never asks while it has one left that did not
//! fit.
//!
//! A queue with a sub-queue per station serves `next_for` from that of `to`, where its queue management may drop
//! packets; a plain queue takes the first packet for `to`. [`Supply::sent`] reports the air time of each frame with its
//! answer, for airtime fairness.

use crate::wire::{Category, Msdu};
use fourhop_units::{Dur, MacAddr, Time};

/// The layer above, as seen by a MAC that builds an aggregate. Without one there are no further packets.
pub trait Supply {
    /// Returns the next packet for `to`, if one is queued; with EDCA, of this category.
    fn next_for(&mut self, now: Time, to: MacAddr, category: Category) -> Option<Msdu>;

    /// With EDCA: returns the next packet of this category, if one is queued, to be sent in the same TXOP.
    fn next_of(&mut self, now: Time, category: Category) -> Option<Msdu>;

    /// A data frame for `to` starts now; with its answer it takes `airtime`.
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
