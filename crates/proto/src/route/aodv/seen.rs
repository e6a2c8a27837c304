//! Requests seen before, by originator and RREQ ID together (RFC 3561 section 6.5).

use core::net::Ipv4Addr;
use fourhop_units::Time;
use std::collections::VecDeque;

/// The memory of a node for requests. Time of forgetting never decreases from one entry to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenRequests {
    /// Originator and RREQ ID in one number, apart from the times: each request that comes in a flood is looked for
    /// here.
    keys: VecDeque<u64>,
    forget_at: VecDeque<Time>,
    /// The first of `forget_at`, or earlier: in a flood it need not be looked up there.
    next: Time,
}

/// So many are compared at a time, without a branch for each.
const AT_A_TIME: usize = 8;

impl SeenRequests {
    /// Remembers a request until `forget_at`; false if it is remembered already.
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

    /// Removes the oldest until at most this number is left; returns how many it removed.
    pub fn forget_down_to(&mut self, most: usize) -> u64 {
        let surplus = self.keys.len().saturating_sub(most);
        self.keys.drain(..surplus);
        self.forget_at.drain(..surplus);
        surplus as u64
    }

    /// Copies of one request come soon after one another: the newest are looked at first.
    fn contains(&self, key: u64) -> bool {
        let among = |keys: &[u64]| keys.iter().fold(false, |found, &other| found | (other == key));
        let (older, newer) = self.keys.as_slices();
        [newer, older].into_iter().any(|keys| keys.rchunks(AT_A_TIME).any(among))
    }

    /// How many are remembered.
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
