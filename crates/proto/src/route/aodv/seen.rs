//! Requests seen before, identified by originator and RREQ ID (RFC 3561 section 6.5).

use core::net::Ipv4Addr;
use fourhop_units::Time;
use std::collections::VecDeque;

/// A node's memory of requests. Times of expiry never decrease from one entry to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenRequests {
    /// Originator and RREQ ID in one number, stored separately from the times because every request of a flood is
    /// looked up here.
    keys: VecDeque<u64>,
    forget_at: VecDeque<Time>,
    /// The first of `forget_at`, or earlier; saves a lookup there during floods.
    next: Time,
}

/// Number of keys compared at a time, without a branch for each.
const AT_A_TIME: usize = 8;

impl SeenRequests {
    /// Remembers a request until `forget_at`; returns false if it is remembered already.
    pub fn insert(&mut self, now: Time, originator: Ipv4Addr, rreq_id: u32, forget_at: Time) -> bool {
        if self.next <= now {
            self.forget(now);
        }
        let key = u64::from(originator.to_bits()) << 32 | u64::from(rreq_id);
        let known = self.contains(key);
        if !known {
            self.keys.push_back(key);
            self.forget_at.push_back(forget_at);
            self.next = self.next.min(forget_at);
        }
        !known
    }

    #[cold]
    fn forget(&mut self, now: Time) {
        while self.forget_at.pop_front_if(|until| *until <= now).is_some() {
            self.keys.pop_front();
        }
        self.next = self.forget_at.front().copied().unwrap_or(Time::NEVER);
    }

    /// Removes the oldest until at most `most` are left; returns how many were removed.
    pub fn forget_down_to(&mut self, most: usize) -> u64 {
        let surplus = self.keys.len().saturating_sub(most);
        self.keys.drain(..surplus);
        self.forget_at.drain(..surplus);
        surplus as u64
    }

    /// Searches the newest first, because the copies of a request arrive shortly after one another.
    fn contains(&self, key: u64) -> bool {
        let among = |keys: &[u64]| keys.iter().fold(false, |found, &other| found | (other == key));
        let (older, newer) = self.keys.as_slices();
        [newer, older].into_iter().any(|keys| keys.rchunks(AT_A_TIME).any(among))
    }

    /// Returns the number of requests remembered.
    pub fn len(&self) -> usize {
        self.keys.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_remembered_for_its_time() {
        let mut seen = SeenRequests::default();
        let from = |n: u32| Ipv4Addr::from_bits(n % 5);
        for n in 0..1_000u32 {
            let now = Time::from_millis(u64::from(n));
            let until = now + fourhop_units::Dur::from_millis(30);
            assert!(seen.insert(now, from(n), n / 5, until));
            for age in 0..n.min(30) {
                assert!(!seen.insert(now, from(n - age), (n - age) / 5, until), "{n} {age}");
            }
        }
        assert_eq!(seen.len(), 30);
        assert!(seen.insert(Time::from_secs(1), from(960), 192, Time::from_secs(2)));
    }
}
