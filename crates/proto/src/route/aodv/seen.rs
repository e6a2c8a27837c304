//! Requests seen before, by originator and RREQ ID together (RFC 3561 section 6.5).

use core::net::Ipv4Addr;
use fourhop_units::Time;
use std::collections::VecDeque;

/// The memory of a node for requests. Time of forgetting never decreases from one entry to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenRequests(VecDeque<(Time, Ipv4Addr, u32)>);

impl SeenRequests {
    /// Remembers a request until `forget_at`; false if it is remembered already.
    pub fn insert(&mut self, now: Time, originator: Ipv4Addr, rreq_id: u32, forget_at: Time) -> bool {
        while self.0.front().is_some_and(|&(until, ..)| until <= now) {
            self.0.pop_front();
        }
        let known = self.0.iter().rev().any(|&(_, addr, id)| (addr, id) == (originator, rreq_id));
        if !known {
            self.0.push_back((forget_at, originator, rreq_id));
        }
        !known
    }

    /// How many are remembered.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
