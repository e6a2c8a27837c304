//! The pausable back-off (IEEE 802.11-2020 clause 10.3.4.3).
//!
//! Nothing happens slot by slot: the end is computed when the medium becomes idle, and the slots that have passed are
//! subtracted when it becomes busy.

use fourhop_units::{Dur, Time};

/// A wait of DIFS and some slots that runs only while the medium is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    slots: u32,
    /// When the present DIFS began; `None` while frozen.
    resumed: Option<Time>,
    /// An access right after DIFS, which turns into a random wait if the medium becomes busy first.
    immediate: bool,
}

impl Backoff {
    /// A frozen wait of `slots`.
    pub const fn frozen(slots: u32) -> Backoff {
        Backoff { slots, resumed: None, immediate: false }
    }

    /// No slots, only what is left at `now` of a DIFS that began at `idle_since` (clause 10.3.4.2).
    pub fn immediate(idle_since: Time, now: Time, difs: Dur) -> Backoff {
        let a_difs_ago = Time::from_nanos(now.as_nanos().saturating_sub(difs.as_nanos()));
        Backoff { slots: 0, resumed: Some(idle_since.max(a_difs_ago)), immediate: true }
    }

    /// Is it waiting for the medium to become idle?
    pub const fn is_frozen(&self) -> bool {
        self.resumed.is_none()
    }

    /// Is it an access that has drawn no slots yet?
    pub const fn is_immediate(&self) -> bool {
        self.immediate
    }

    /// The medium is idle from `now` on; a full DIFS comes first. Does nothing if running.
    pub fn resume(&mut self, now: Time) {
        self.resumed.get_or_insert(now);
    }

    /// The medium is busy from `now` on: whole slots that have passed after the DIFS count.
    pub fn freeze(&mut self, now: Time, difs: Dur, slot: Dur) {
        if let Some(resumed) = self.resumed.take() {
            let counted = now.saturating_since(resumed).saturating_sub(difs).div_floor(slot);
            self.slots = self.slots.saturating_sub(counted as u32);
        }
    }

    /// When it ends if the medium stays idle; `None` while frozen.
    pub fn ends(&self, difs: Dur, slot: Dur) -> Option<Time> {
        self.resumed.map(|resumed| resumed + difs + slot * u64::from(self.slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFS: Dur = Dur::from_micros(50);
    const SLOT: Dur = Dur::from_micros(20);

    fn at(us: u64) -> Time {
        Time::from_micros(us)
    }

    //        idle 0              busy 149      idle 1000
    // | DIFS | 0 | 1 | 2 | 3 | 4 |====...====| DIFS | 4 left of 8
    //        50  70  90 110 130 150
    #[test]
    fn whole_slots_count_and_a_full_difs_comes_again() {
        let mut backoff = Backoff::frozen(8);
        assert_eq!(backoff.ends(DIFS, SLOT), None);
        backoff.resume(at(0));
        assert_eq!(backoff.ends(DIFS, SLOT), Some(at(50 + 160)));
        backoff.freeze(at(149), DIFS, SLOT);
        backoff.resume(at(1000));
        assert_eq!(backoff.ends(DIFS, SLOT), Some(at(1000 + 50 + 4 * 20)));
    }

    #[test]
    fn a_pause_within_difs_costs_no_slot() {
        let mut backoff = Backoff::frozen(3);
        backoff.resume(at(0));
        backoff.freeze(at(49), DIFS, SLOT);
        backoff.resume(at(100));
        backoff.resume(at(120));
        assert_eq!(backoff.ends(DIFS, SLOT), Some(at(210)));
    }

    #[test]
    fn immediate_access_ends_with_the_difs_that_is_running() {
        assert_eq!(Backoff::immediate(at(10), at(30), DIFS).ends(DIFS, SLOT), Some(at(60)));
        assert_eq!(Backoff::immediate(at(10), at(900), DIFS).ends(DIFS, SLOT), Some(at(900)));
    }
}
