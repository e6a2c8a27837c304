//! The pausable back-off (IEEE 802.11-2020 clause 10.3.4.3).
//!
//! There are no events for slots or for the medium becoming idle: the end is computed from the instant since which the
//! medium has been idle, and the slots that have passed are subtracted when it becomes busy.

use fourhop_units::{Dur, Time};

/// A wait of DIFS and some slots that runs only while the medium is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// When it was drawn: it does not run before.
    from: Time,
    /// All that is left after DIFS, `later` included.
    slots: u32,
    /// Slots that come again behind each DIFS, those by which an AIFS is longer; they are not counted down.
    later: u8,
    /// An access right after DIFS, which turns into a random wait if the medium becomes busy first.
    immediate: bool,
}

impl Backoff {
    /// A wait of `slots` behind an AIFS that is `later` slots longer than DIFS, drawn at `now`.
    pub const fn drawn(now: Time, slots: u32, later: u32) -> Backoff {
        Backoff { from: now, slots: slots + later, later: later as u8, immediate: false }
    }

    /// No slots, only what is left at `now` of a DIFS that began at `idle_since` (clause 10.3.4.2).
    pub fn immediate(idle_since: Time, now: Time, difs: Dur) -> Backoff {
        let a_difs_ago = Time::from_nanos(now.as_nanos().saturating_sub(difs.as_nanos()));
        Backoff { from: idle_since.max(a_difs_ago), slots: 0, later: 0, immediate: true }
    }

    /// The same with an AIFS that is `later` slots longer.
    #[inline(never)]
    pub fn immediate_later(idle_since: Time, now: Time, (difs, slot): (Dur, Dur), later: u32) -> Backoff {
        let aifs = difs + slot * u64::from(later);
        Backoff { slots: later, later: later as u8, ..Backoff::immediate(idle_since, now, aifs) }
    }

    /// When it was drawn.
    pub const fn drawn_at(&self) -> Time {
        self.from
    }

    /// Slots that are left.
    pub const fn slots(&self) -> u32 {
        self.slots - self.later as u32
    }

    /// Is it an access that has drawn no slots yet?
    pub const fn is_immediate(&self) -> bool {
        self.immediate
    }

    /// The medium, idle since `idle_since`, becomes busy at `now`: whole slots that have passed after the DIFS count.
    #[inline(always)]
    pub fn pause(&mut self, idle_since: Time, now: Time, difs: Dur, slot: Dur) {
        let waited = now.saturating_since(self.from.max(idle_since));
        if waited > difs {
            let counted = waited.saturating_sub(difs).div_floor(slot);
            self.slots = self.slots.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX));
        }
    }

    /// The same with EDCA: the boundary behind AIFS counts, and every further one. One that is at most `turnaround`
    /// ahead has passed.
    #[inline(never)]
    pub fn pause_at_boundaries(&mut self, idle_since: Time, now: Time, difs: Dur, slot: Dur, turnaround: Dur) {
        let waited = now.saturating_since(self.from.max(idle_since)) + turnaround;
        if waited >= difs {
            let boundaries = waited.saturating_sub(difs).div_floor(slot) + 1;
            let counted = u32::try_from(boundaries).unwrap_or(u32::MAX).saturating_sub(self.later.into());
            self.slots = self.slots.saturating_sub(counted).max(self.later.into());
        }
    }

    /// When it ends if the medium is idle since `idle_since`, which may lie ahead, and stays so.
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
    // | AIFS    | 1 | 2 | 3 | 4 |====...====| AIFS    | 3 left of 8: the boundaries from 70 to 130 have counted, and that at 150
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
