//! Tries whether a larger window carries more. It does in a queue that others fill, where a sender's share of the link
//! is its share of the packets. If the sender is alone, only its own queue grows, and the round trip with it.

use fourhop_units::{Dur, Time};

/// The window has to be this many times as large as before, for this many rounds and this long.
const TIMES: u64 = 2;
const ROUNDS: u32 = 3;
const LASTS: Dur = Dur::from_millis(500);
/// Binary digits of a window's fraction that are dropped, so that products stay within 64 bits.
const DIGITS: u32 = 12;

/// Windows are segments with 16 binary digits of fraction, round trips are microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Window and mean round trip before the trial.
    window: u64,
    rtt: u64,
    /// Rounds with a larger window, not counting the first, since when, and sums over them.
    rounds: Option<u32>,
    since: Time,
    windows: u64,
    rtts: u64,
}

impl Trial {
    pub(super) fn new(window: u64, rtt: u64) -> Trial {
        Trial { window, rtt, rounds: None, since: Time::ZERO, windows: 0, rtts: 0 }
    }

    /// Ends a round with this window and mean round trip. Returns whether a larger window carries more, once the trial
    /// has shown it: it does if the rate, `window / rtt`, has grown by at least a quarter of the growth of the window.
    pub(super) fn end_round(&mut self, now: Time, window: u64, rtt: u64) -> Option<bool> {
        if window < TIMES * self.window {
            *self = Trial::new(self.window, self.rtt);
            return None;
        }
        let Some(rounds) = self.rounds else {
            // The segments of this round were sent before the window had grown.
            (self.rounds, self.since) = (Some(0), now);
            return None;
        };
        let rounds = rounds + 1;
        self.rounds = Some(rounds);
        self.windows += window >> DIGITS;
        self.rtts += rtt;
        if rounds < ROUNDS || now.saturating_since(self.since) < LASTS {
            return None;
        }
        let (before, after) = (self.window >> DIGITS, self.windows / u64::from(rounds));
        Some(self.rtts / u64::from(rounds) * (3 * before + after) <= 4 * after * self.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u64 = 1 << 16;

    /// A window of 4 segments took 60 ms; windows of 8, 12, 16 and 20 take `rtts_ms`.
    fn tried(rtts_ms: [u64; 4]) -> Option<bool> {
        let mut trial = Trial::new(4 * ONE, 60_000);
        let mut now = Time::from_secs(1);
        assert_eq!(trial.end_round(now, 7 * ONE, 60_000), None, "not twice as large");
        for (n, rtt) in rtts_ms.into_iter().enumerate() {
            now += Dur::from_millis(200);
            let found = trial.end_round(now, (8 + 4 * n as u64) * ONE, 1_000 * rtt);
            if found.is_some() {
                assert_eq!(n, 3, "three rounds after the first");
                return found;
            }
        }
        None
    }

    #[test]
    fn where_the_round_trip_grows_with_the_window_it_is_in_vain() {
        assert_eq!(tried([60, 61, 62, 63]), Some(true), "a large queue of others");
        // Four times the window at 16 segments: the rate has grown by three quarters if the round trip is 137 ms.
        assert_eq!(tried([60, 137, 137, 137]), Some(true));
        assert_eq!(tried([60, 138, 138, 138]), Some(false));
        assert_eq!(tried([120, 180, 240, 300]), Some(false), "nobody else");
    }

    #[test]
    fn a_cut_begins_it_anew_and_short_rounds_are_no_proof() {
        let mut trial = Trial::new(4 * ONE, 10_000);
        for ms in (0..490).step_by(10) {
            assert_eq!(trial.end_round(Time::from_millis(1_000 + ms), 9 * ONE, 10_000), None, "{ms}");
        }
        assert_eq!(trial.end_round(Time::from_millis(1_500), 7 * ONE, 10_000), None);
        for ms in (0..500).step_by(10) {
            assert_eq!(trial.end_round(Time::from_millis(2_000 + ms), 9 * ONE, 10_000), None, "{ms}");
        }
        assert_eq!(trial.end_round(Time::from_millis(2_500), 9 * ONE, 10_000), Some(true));
    }
}
