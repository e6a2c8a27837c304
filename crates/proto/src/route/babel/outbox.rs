//! Pending messages (RFC 8966 section 3.1): collected for a short random time so that they share a packet, and built
//! only when it leaves, so that their content is current.

use crate::wire::BabelTlv;
use crate::wire::Prefix;
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// A pending message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// The next Hello.
    Hello,
    /// An IHU for this neighbour.
    Ihu(Ipv4Addr),
    /// An update or a retraction.
    Update(Prefix),
    /// Updates of all routes.
    Everything,
    /// This TLV as it is.
    Tlv(BabelTlv),
}

/// Messages that wait for one receiver, or for all.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub to: Option<Ipv4Addr>,
    /// When they leave.
    at: Time,
    pub items: Vec<Item>,
}

/// Pending messages per receiver, in the order of their first items.
#[derive(Clone, Default, Debug)]
pub(super) struct Outbox(Vec<Waiting>);

impl Outbox {
    /// Adds an item for a neighbour or for all, to be sent at `at`, or earlier together with others.
    pub fn push(&mut self, to: Option<Ipv4Addr>, at: Time, item: Item) {
        match self.0.iter_mut().find(|waiting| waiting.to == to) {
            None => self.0.push(Waiting { to, at, items: vec![item] }),
            Some(waiting) => {
                waiting.at = waiting.at.min(at);
                if !waiting.items.contains(&item) {
                    waiting.items.push(item);
                }
            }
        }
    }

    /// Removes and returns messages that are due.
    pub fn pop(&mut self, now: Time) -> Option<Waiting> {
        let at = self.0.iter().position(|waiting| waiting.at <= now)?;
        Some(self.0.remove(at))
    }

    pub fn next(&self) -> Option<Time> {
        self.0.iter().map(|waiting| waiting.at).min()
    }
}
