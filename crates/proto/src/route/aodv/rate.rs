//! Rate limits for messages (RFC 3561 sections 6.3 and 6.11).

use fourhop_units::{Dur, Time};
use std::collections::VecDeque;

/// Lets at most `limit` events pass in any window of one second.
#[derive(Clone, Debug)]
pub(super) struct RateLimit {
    limit: Option<usize>,
    passed: VecDeque<Time>,
}

const WINDOW: Dur = Dur::from_secs(1);

impl RateLimit {
    /// Creates a limit per second; `None` lets everything pass.
    pub fn new(limit: Option<u8>) -> RateLimit {
        RateLimit { limit: limit.map(usize::from), passed: VecDeque::new() }
    }

    /// Lets an event pass `now`, or returns when the next one may.
    pub fn try_pass(&mut self, now: Time) -> Result<(), Time> {
        let Some(limit) = self.limit else { return Ok(()) };
        while self.passed.front().is_some_and(|&at| at + WINDOW <= now) {
            self.passed.pop_front();
        }
        if self.passed.len() < limit {
            self.passed.push_back(now);
            return Ok(());
        }
        Err(self.passed.front().map_or(now, |&at| at) + WINDOW)
    }
}
