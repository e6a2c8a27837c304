//! Room: how long the queue can become. If it overflows before it is as long as AP2 aims for, AP2 aims for less.
//!
//! A queue that is too short loses segments in most rounds, for as long as the window is what AP2 aims for. Fades lose
//! segments, too, but this changed no result on thirty drawn networks that fade: we think that a fade lengthens the
//! round trip, so that AP2 aims for a smaller window.

use fourhop_units::{Dur, Time};

/// A round that loses segments makes marks, one that does not removes one. This many show that there is too little
/// room: at least four rounds, and losses in more than a fifth of them.
const OFTEN: u32 = 16;
const LOSS: u32 = 4;
/// Percentage of the queue at which it overflowed that is aimed for.
const KEEPS: u64 = 75;
/// How long that lasts before half as much is added: others may have filled the queue.
const LASTS: Dur = Dur::from_secs(10);

/// Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    most: u64,
    changed: Time,
    marks: u32,
}

impl Room {
    /// Room for any queue up to `most`.
    pub(super) fn new(most: u64) -> Room {
        Room { most, changed: Time::ZERO, marks: 0 }
    }

    /// The longest queue that does not overflow, as far as is known.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Ends a round with this queue. `lost` says whether it lost segments although the window is what AP2 aims for.
    /// Returns whether there is less room than was known.
    pub(super) fn end_round(&mut self, now: Time, lost: bool, queue: u64) -> bool {
        self.marks = if lost { (self.marks + LOSS).min(OFTEN) } else { self.marks.saturating_sub(1) };
        let less = self.marks >= OFTEN && queue < self.most;
        if less {
            (self.most, self.changed, self.marks) = (queue * KEEPS / 100, now, 0);
        } else if now.saturating_since(self.changed) > LASTS {
            (self.most, self.changed) = ((self.most + self.most / 2 + 1).min(super::TARGET_MOST), now);
        }
        less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 10 ms with a queue of `queue` that lose segments if the pattern says so; the rounds after which there
    /// is less room.
    fn less(room: &mut Room, from_ms: u64, queue: u64, lost: &[bool]) -> Vec<usize> {
        let at = |n: usize| Time::from_millis(from_ms + 10 * n as u64);
        (0..lost.len()).filter(|&n| room.end_round(at(n), lost[n], queue)).collect()
    }

    #[test]
    fn four_rounds_that_lose_show_that_there_is_less_room() {
        let mut room = Room::new(50_000);
        assert_eq!(less(&mut room, 1, 8_000, &[true; 10]), [3], "the queue is still longer than there is room for");
        assert_eq!(room.most(), 6_000);
        assert_eq!(less(&mut room, 101, 4_000, &[true; 10]), [0], "it has become shorter, and still loses");
        assert_eq!(room.most(), 3_000);
    }

    #[test]
    fn a_fifth_of_the_rounds_may_lose_segments() {
        let fifth: Vec<bool> = (0..300).map(|n| n % 5 == 0).collect();
        assert!(less(&mut Room::new(50_000), 1, 8_000, &fifth).is_empty());
        let half: Vec<bool> = (0..15).map(|n| n % 2 == 0).collect();
        assert_eq!(less(&mut Room::new(50_000), 1, 8_000, &half), [8]);
    }

    #[test]
    fn half_as_much_is_added_every_ten_seconds() {
        let mut room = Room::new(50_000);
        less(&mut room, 1, 20_000, &[true; 4]);
        let mut most = Vec::new();
        for ms in (0..100_000).step_by(100) {
            room.end_round(Time::from_millis(ms), false, 15_000);
            most.push(room.most());
        }
        most.dedup();
        assert_eq!(most, [15_000, 22_501, 33_752, 50_000]);
    }
}
