//! Pending messages (RFC 8966 section 3.1): they are collected for a short random time to share a packet, and written
//! when it leaves, so that their content is current.

use crate::wire::BabelTlv;
use crate::wire::Prefix;
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// Something to be said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// The next Hello.
    Hello,
    /// An IHU to this neighbour.
    Ihu(Ipv4Addr),
    /// An update or a retraction.
    Update(Prefix),
    /// Updates of all routes, to all.
    Everything,
    /// A message of this kind and content.
    Tlv(BabelTlv),
}

/// Messages waiting for one receiver, or for all.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub to: Option<Ipv4Addr>,
    /// When it leaves.
    at: Time,
    pub items: Vec<Item>,
}

/// By receiver, in the order in which they got their first item.
#[derive(Clone, Default, Debug)]
pub(super) struct Outbox(Vec<Waiting>);

impl Outbox {
    /// Something for a neighbour or for all, at `at` or with what leaves earlier.
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

    /// Messages that leave now.
    pub fn pop(&mut self, now: Time) -> Option<Waiting> {
        let at = self.0.iter().position(|waiting| waiting.at <= now)?;
        Some(self.0.remove(at))
    }

    pub fn next(&self) -> Option<Time> {
        self.0.iter().map(|waiting| waiting.at).min()
    }
}
