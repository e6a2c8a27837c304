//! HyStart++: slow start that ends when round trips grow, before packets are lost.
//!
//! Source: RFC 9406. Rounds are counted in segments; the constants are those recommended in section 4.3. A sender that
//! does not pace counts at most L = 8 segments of an ACK, and ours does not pace. It covers only the first slow
//! start of a connection (section 4.3 asks for no more), and a flow leaves it for good at its first loss.
//!
//! ```text
//!                 round trips grew by an eighth                 five rounds
//!   slow start ────────────────────────────────► conservative ─────────────► congestion avoidance
//!               ◄────────────────────────────────  slow start
//!                  they shrank again
//! ```

use crate::{Ack, Window};
use fourhop_units::Dur;

/// MIN_RTT_THRESH, in microseconds.
const MIN_THRESHOLD: u32 = 4_000;
/// MAX_RTT_THRESH, in microseconds.
const MAX_THRESHOLD: u32 = 16_000;
/// MIN_RTT_DIVISOR.
const DIVISOR: u32 = 8;
/// N_RTT_SAMPLE: samples needed before a round is judged.
const SAMPLES: u8 = 8;
/// CSS_GROWTH_DIVISOR.
const GROWTH_DIVISOR: u64 = 4;
/// CSS_ROUNDS.
const ROUNDS: u8 = 5;
/// L: segments of one ACK that count.
const LIMIT: u32 = 8;
/// No sample yet.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Not in use, or over.
    Over,
    SlowStart,
    Conservative,
}

/// The state: 24 bytes, times in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    /// The round ends when this many segments have been acknowledged.
    window_end: u64,
    /// Smallest round trip of the previous round, and of this one.
    last: u32,
    current: u32,
    /// The baseline of the round that ended slow start.
    baseline: u32,
    samples: u8,
    /// Completed rounds of conservative slow start.
    rounds: u8,
    phase: Phase,
}

impl HyStart {
    /// The state at the beginning of a connection; inactive unless `enabled`.
    pub const fn new(enabled: bool) -> HyStart {
        let phase = if enabled { Phase::SlowStart } else { Phase::Over };
        HyStart { window_end: 0, last: NONE, current: NONE, baseline: NONE, samples: 0, rounds: 0, phase }
    }

    /// Whether it decides how the window grows in slow start.
    pub fn is_active(&self) -> bool {
        self.phase != Phase::Over
    }

    /// Something was lost: this slow start is over, and later ones do without HyStart++.
    pub fn on_loss(&mut self) {
        self.phase = Phase::Over;
    }

    /// Processes an acknowledgement in slow start: takes the sample, grows the window, and sets the threshold to it
    /// when slow start ends.
    pub fn on_ack(&mut self, win: &mut Window, ack: &Ack) {
        let acked = ack.credit.min(LIMIT);
        if self.phase == Phase::Conservative {
            let grown = win.fixed() + u64::from(acked) * u64::from(Window::ONE) / GROWTH_DIVISOR;
            win.set_fixed(grown.min(u64::from(win.ssthresh) << 16));
        } else {
            win.slow_start(acked);
        }
        if let Some(rtt) = ack.rtt {
            self.current = self.current.min(micros(rtt));
            self.samples = self.samples.saturating_add(1);
        }
        if self.samples >= SAMPLES {
            self.judge();
        }
        if ack.total_acked >= self.window_end {
            self.end_round(win, ack.total_sent);
        }
    }

    fn judge(&mut self) {
        match self.phase {
            Phase::SlowStart if self.last != NONE => {
                let threshold = (self.last / DIVISOR).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
                if self.current >= self.last.saturating_add(threshold) {
                    (self.phase, self.baseline, self.rounds) = (Phase::Conservative, self.current, 0);
                }
            }
            Phase::Conservative if self.current < self.baseline => {
                (self.phase, self.baseline) = (Phase::SlowStart, NONE);
            }
            _ => {}
        }
    }

    fn end_round(&mut self, win: &mut Window, total_sent: u64) {
        (self.last, self.current, self.samples) = (self.current, NONE, 0);
        self.window_end = total_sent;
        if self.phase == Phase::Conservative {
            // Section 4.2: the round in which it began counts too.
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.phase = Phase::Over;
                win.ssthresh = win.cwnd.max(2);
            }
        }
    }
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart::new(false)
    }
}

/// In microseconds; a round trip is at most [`crate::MAX_SAMPLE`], which fits in 32 bits.
fn micros(rtt: Dur) -> u32 {
    u32::try_from(rtt.as_nanos() / 1_000).unwrap_or(NONE - 1).min(NONE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ack, window};

    /// A connection whose window is acknowledged segment by segment, each `round` with its own round trip.
    struct Sender {
        hystart: HyStart,
        win: Window,
        acked: u64,
        sent: u64,
    }

    impl Sender {
        fn new() -> Sender {
            let mut sender = Sender { hystart: HyStart::new(true), win: window(16, u32::MAX), acked: 0, sent: 16 };
            sender.ack(None);
            sender
        }

        /// Acknowledges the segments sent before the round began; each ACK releases what the window allows.
        fn round(&mut self, rtt_us: u64) {
            let end = self.hystart.window_end;
            while self.acked < end {
                self.ack(Some(rtt_us));
            }
        }

        fn ack(&mut self, rtt_us: Option<u64>) {
            self.acked += 1;
            let rtt = rtt_us.map(|us| Dur::from_nanos(us * 1_000));
            let ack = Ack { total_acked: self.acked, total_sent: self.sent, rtt, ..ack(1) };
            if self.hystart.is_active() {
                self.hystart.on_ack(&mut self.win, &ack);
            }
            self.sent = self.sent.max(self.acked + u64::from(self.win.cwnd));
        }
    }

    /// RFC 9406 section 4.2: RttThresh = max(4 ms, min(lastRoundMinRTT / 8, 16 ms)); slow start ends when the round
    /// trip grows by that.
    #[test]
    fn slow_start_ends_when_round_trips_have_grown_by_the_threshold() {
        for (rtt, threshold) in [(8_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            for (growth, ends) in [(threshold - 1, false), (threshold, true)] {
                let mut sender = Sender::new();
                sender.round(rtt);
                sender.round(rtt);
                assert_eq!(sender.hystart.phase, Phase::SlowStart);
                sender.round(rtt + growth);
                assert_eq!(sender.hystart.phase == Phase::Conservative, ends, "{rtt} grown by {growth}");
            }
        }
    }

    #[test]
    fn seven_samples_of_a_round_say_nothing() {
        let mut sender = Sender::new();
        sender.round(50_000);
        sender.round(50_000);
        for _ in 0..7 {
            sender.ack(Some(90_000));
        }
        assert_eq!(sender.hystart.phase, Phase::SlowStart);
        sender.ack(None);
        assert_eq!(sender.hystart.phase, Phase::SlowStart, "an ACK without a sample is none");
        sender.ack(Some(90_000));
        assert_eq!(sender.hystart.phase, Phase::Conservative);
    }

    /// Section 4.2: a quarter of slow start's growth, for five rounds, including the one in which it began.
    #[test]
    fn conservative_slow_start_grows_by_a_quarter_and_ends_after_five_rounds() {
        let mut sender = Sender::new();
        sender.round(50_000);
        let before = sender.win.cwnd;
        assert_eq!(before, 32, "the first window was doubled");
        sender.round(60_000);
        assert_eq!(sender.hystart.phase, Phase::Conservative);
        for round in 2..=5 {
            assert_eq!((sender.win.ssthresh, sender.hystart.is_active()), (u32::MAX, true), "{round}");
            let before = sender.win.fixed();
            sender.round(60_000);
            let growth = sender.win.fixed() as f64 / before as f64;
            assert!((1.2..=1.26).contains(&growth), "round {round}: {growth}");
        }
        assert!(!sender.hystart.is_active());
        assert_eq!(sender.win.ssthresh, sender.win.cwnd);
    }

    /// Section 4.2: if the smallest round trip falls below the baseline, there was no queue, and slow start resumes.
    #[test]
    fn round_trips_that_shrink_again_bring_slow_start_back() {
        let mut sender = Sender::new();
        sender.round(50_000);
        sender.round(60_000);
        assert_eq!(sender.hystart.phase, Phase::Conservative);
        sender.round(59_999);
        assert_eq!((sender.hystart.phase, sender.hystart.baseline), (Phase::SlowStart, NONE));
        let (window, left) = (sender.win.cwnd, sender.hystart.window_end - sender.acked);
        sender.round(59_999);
        assert_eq!(u64::from(sender.win.cwnd - window), left, "a segment for each");
    }

    #[test]
    fn a_loss_ends_it_for_good() {
        let mut sender = Sender::new();
        sender.hystart.on_loss();
        assert!(!sender.hystart.is_active());
    }

    #[test]
    fn one_ack_counts_for_eight_segments_at_most() {
        let mut hystart = HyStart::new(true);
        let mut win = window(10, u32::MAX);
        hystart.on_ack(&mut win, &ack(100));
        assert_eq!(win.cwnd, 18);
    }

    #[test]
    fn a_threshold_that_was_set_holds() {
        for phase in [Phase::SlowStart, Phase::Conservative] {
            let mut hystart = HyStart { phase, ..HyStart::new(true) };
            let mut win = window(19, 20);
            (0..9).for_each(|_| hystart.on_ack(&mut win, &ack(1)));
            assert_eq!(win.cwnd, 20, "{phase:?}");
        }
    }
}
