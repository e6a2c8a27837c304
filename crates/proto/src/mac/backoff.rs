//! The pausable back-off (IEEE 802.11-2020 clause 10.3.4.3).
//!
//! There are no events for slots or for the medium becoming idle: the end is computed from the instant the medium
//! became idle, and elapsed slots are subtracted when it becomes busy.

use fourhop_units::{Dur, Time};

/// A wait of DIFS and a number of slots that runs only while the medium is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// When it was drawn; it does not run before.
    from: Time,
    /// Slots left after DIFS, `later` included.
    slots: u32,
    /// Extra slots after each DIFS where AIFS is longer; the back-off does not count them down.
    later: u8,
    /// Whether this is an access right after DIFS, which becomes a random wait if the medium gets busy first.
    immediate: bool,
}

impl Backoff {
    /// A wait of `slots` after an AIFS that is `later` slots longer than DIFS, drawn at `now`.
    pub const fn drawn(now: Time, slots: u32, later: u32) -> Backoff {
        Backoff { from: now, slots: slots + later, later: later as u8, immediate: false }
    }

    /// A wait without slots, only for the rest at `now` of a DIFS that began at `idle_since` (clause 10.3.4.2).
    pub fn immediate(idle_since: Time, now: Time, difs: Dur) -> Backoff {
        let a_difs_ago = Time::from_nanos(now.as_nanos().saturating_sub(difs.as_nanos()));
        Backoff { from: idle_since.max(a_difs_ago), slots: 0, later: 0, immediate: true }
    }

    /// As [`Backoff::immediate`], with an AIFS that is `later` slots longer than DIFS.
    #[inline(never)]
    pub fn immediate_later(idle_since: Time, now: Time, (difs, slot): (Dur, Dur), later: u32) -> Backoff {
        let aifs = difs + slot * u64::from(later);
        Backoff { slots: later, later: later as u8, ..Backoff::immediate(idle_since, now, aifs) }
    }

    /// Returns when it was drawn.
    pub const fn drawn_at(&self) -> Time {
        self.from
    }

    /// Returns the slots left.
    pub const fn slots(&self) -> u32 {
        self.slots - self.later as u32
    }

    /// Whether this is an immediate access, for which no slots have been drawn yet.
    pub const fn is_immediate(&self) -> bool {
        self.immediate
    }

    /// The medium, idle since `idle_since`, becomes busy at `now`: counts the whole slots that have passed since the
    /// DIFS.
    #[inline(always)]
    pub fn pause(&mut self, idle_since: Time, now: Time, difs: Dur, slot: Dur) {
        let waited = now.saturating_since(self.from.max(idle_since));
        if waited > difs {
            let counted = waited.saturating_sub(difs).div_floor(slot);
            self.slots = self.slots.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX));
        }
    }

    /// As [`Backoff::pause`], with EDCA: counts the slot boundary after AIFS and each one after it. A boundary at most
    /// `turnaround` ahead counts as passed.
    #[inline(never)]
    pub fn pause_at_boundaries(&mut self, idle_since: Time, now: Time, difs: Dur, slot: Dur, turnaround: Dur) {
        let waited = now.saturating_since(self.from.max(idle_since)) + turnaround;
        if waited >= difs {
            let boundaries = waited.saturating_sub(difs).div_floor(slot) + 1;
            let counted = u32::try_from(boundaries).unwrap_or(u32::MAX).saturating_sub(self.later.into());
            self.slots = self.slots.saturating_sub(counted).max(self.later.into());
        }
    }

    /// Returns when it ends if the medium is idle from `idle_since`, which may lie in the future, and stays idle.
    #[inline(always)]
    pub fn ends(&self, idle_since: Time, difs: Dur, slot: Dur) -> Time {
        self.from.max(idle_since) + difs + slot * u64::from(self.slots)
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
        let mut backoff = Backoff::drawn(at(0), 8, 0);
        assert_eq!(backoff.ends(at(0), DIFS, SLOT), at(50 + 160));
        backoff.pause(at(0), at(149), DIFS, SLOT);
        assert_eq!(backoff.ends(at(1000), DIFS, SLOT), at(1000 + 50 + 4 * 20));
    }

    //   idle 0 ... drawn 500 | DIFS | 3 slots |
    #[test]
    fn it_does_not_run_before_it_is_drawn() {
        let mut backoff = Backoff::drawn(at(500), 3, 0);
        assert_eq!(backoff.ends(at(0), DIFS, SLOT), at(610));
        backoff.pause(at(0), at(549), DIFS, SLOT);
        assert_eq!(backoff.ends(at(600), DIFS, SLOT), at(710));
    }

    #[test]
    fn a_pause_within_difs_costs_no_slot() {
        let mut backoff = Backoff::drawn(at(0), 3, 0);
        backoff.pause(at(0), at(49), DIFS, SLOT);
        assert_eq!(backoff.ends(at(100), DIFS, SLOT), at(210));
    }

    //        idle 0              busy 149      idle 1000
    // | AIFS    | 1 | 2 | 3 | 4 |====...====| AIFS    | 3 left of 8: the boundaries from 70 to 130 have counted, and 150
    //        50  70  90 110 130 150
    #[test]
    fn with_edca_the_boundary_behind_aifs_counts() {
        let turnaround = Dur::from_micros(2);
        let paused = |at_us, later| {
            let mut backoff = Backoff::drawn(at(0), 8, later);
            backoff.pause_at_boundaries(at(0), at(at_us), DIFS, SLOT, turnaround);
            backoff.slots()
        };
        assert_eq!(Backoff::drawn(at(0), 8, 1).ends(at(0), DIFS, SLOT), at(50 + 20 + 160));
        assert_eq!([paused(67, 1), paused(68, 1), paused(70, 1), paused(149, 1), paused(9_000, 1)], [8, 7, 7, 3, 0]);
        assert_eq!([paused(47, 0), paused(48, 0), paused(149, 0)], [8, 7, 2]);
        let mut backoff = Backoff::drawn(at(0), 8, 1);
        backoff.pause_at_boundaries(at(0), at(149), DIFS, SLOT, turnaround);
        assert_eq!(backoff.ends(at(1000), DIFS, SLOT), at(1000 + 50 + 20 + 3 * 20));
    }

    #[test]
    fn immediate_access_ends_with_the_difs_that_is_running() {
        assert_eq!(Backoff::immediate(at(10), at(30), DIFS).ends(at(10), DIFS, SLOT), at(60));
        assert_eq!(Backoff::immediate(at(10), at(900), DIFS).ends(at(10), DIFS, SLOT), at(900));
    }
}
