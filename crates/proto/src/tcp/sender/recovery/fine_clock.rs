//! Vegas's retransmission: a fine-grained clock finds the oldest segment overdue long before the third duplicate ACK or
//! the coarse timer (Brakmo et al. 1995, section 3.1), with ns-2.35's arithmetic.
//!
//! Left out of ns-2.35: if nothing is in flight, its first check after a retransmission finds an empty table slot
//! overdue and sends the next segment twice.

use super::state::{Reaction, Recovery};
use crate::tcp::config::Config;
use crate::tcp::sender::space::SendSpace;
use fourhop_cc::Window;
use fourhop_units::{Dur, Time};

/// The fine clock and the aftermath of its retransmissions.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct FineClock {
    /// Eight times the smoothed round trip and four times its mean deviation, in nanoseconds.
    srtt_x8: i64,
    rttvar_x4: i64,
    /// A segment older than this is overdue.
    timeout: Dur,
    /// New ACKs that still have to check the oldest segment.
    worried: u32,
    /// The window without the inflation added by the last cut.
    deflated: Option<u32>,
    /// When the window was last cut: a segment sent before that does not cut it again.
    cut_at: Option<Time>,
    /// Whether the last change of the window was due to a timeout.
    after_timeout: bool,
}

impl FineClock {
    pub(super) fn new() -> FineClock {
        FineClock {
            srtt_x8: 0,
            rttvar_x4: 0,
            // ns-2.35: before the first sample nothing is overdue.
            timeout: Dur::from_secs(1_000),
            worried: 0,
            deflated: None,
            cut_at: None,
            after_timeout: false,
        }
    }

    /// Takes a round trip, with gains of 1/8 and 1/4; the timeout is srtt + 2 deviations, plus a sixteenth.
    fn sample(&mut self, rtt: Dur) {
        let rtt = rtt.as_nanos() as i64;
        if self.srtt_x8 == 0 {
            (self.srtt_x8, self.rttvar_x4) = (8 * rtt, rtt);
        }
        let error = rtt - self.srtt_x8 / 8;
        self.srtt_x8 += error;
        self.rttvar_x4 += error.abs() - self.rttvar_x4 / 4;
        let timeout = (self.srtt_x8 / 4 + self.rttvar_x4) / 2;
        self.timeout = Dur::from_nanos((timeout + timeout / 16).max(0) as u64);
    }

    fn is_overdue(&self, now: Time, snd: &SendSpace) -> bool {
        snd.oldest().is_some_and(|oldest| now.saturating_since(oldest.at) >= self.timeout)
    }

    pub(super) fn on_duplicate(
        &mut self,
        now: Time,
        config: &Config,
        snd: &SendSpace,
        recovery: &Recovery,
    ) -> Reaction {
        let (dup_acks, threshold) = (recovery.dup_acks, config.dup_ack_threshold);
        let sign = dup_acks == threshold || self.is_overdue(now, snd);
        let allowed = snd.una > recovery.recover || !self.after_timeout;
        match snd.oldest() {
            Some(oldest) if sign && allowed => {
                self.after_timeout = false;
                self.worried = (snd.in_flight_segments() + 1).min(2);
                let again = oldest.retransmitted;
                self.timeout = if again { self.timeout.saturating_mul(2) } else { self.timeout + self.timeout / 8 };
                Reaction::Resend { again, cut: self.cut_at.is_none_or(|cut| cut < oldest.at) }
            }
            _ if dup_acks > threshold && !sign => Reaction::Widen,
            _ if dup_acks >= threshold => Reaction::Send { budget: u32::MAX },
            _ => Reaction::Nothing,
        }
    }

    /// Notes that the window was cut to `deflated` segments, then inflated by the duplicate ACKs.
    pub(in crate::tcp) fn note_cut(&mut self, now: Time, deflated: u32) {
        self.deflated = Some(deflated);
        self.cut_at = Some(now);
    }

    /// Ends the inflation of the last cut, before a new ACK takes effect.
    pub(super) fn end_inflation(&mut self, config: &Config, recovery: &Recovery, win: &mut Window) {
        let more = recovery.dup_acks > config.dup_ack_threshold;
        let Some(deflated) = self.deflated.filter(|_| more || !config.vegas_keeps_inflation) else {
            return;
        };
        if win.cwnd > deflated || (win.cwnd == deflated && win.cwnd_cnt > 0) {
            win.set_cwnd(deflated);
            win.ssthresh = 2;
        }
        if !config.vegas_keeps_inflation {
            self.deflated = None;
        }
    }

    /// After a new ACK: the first two after a retransmission check whether the next segment is overdue, too.
    pub(super) fn on_new_ack(&mut self, now: Time, rtt: Option<Dur>, snd: &SendSpace) -> bool {
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        let overdue = self.worried > 0 && self.is_overdue(now, snd);
        self.worried = if overdue { self.worried - 1 } else { 0 };
        overdue
    }

    /// Handles an expired coarse timer.
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.deflated = None;
        self.cut_at = Some(now);
        self.after_timeout = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::position::Pos;
    use fourhop_units::Seq;

    /// Against real numbers: srtt + 2 deviations, times 17/16.
    #[test]
    fn the_fine_timeout_follows_its_formula() {
        let mut clock = FineClock::new();
        let (mut srtt, mut var) = (100.0, 25.0);
        for rtt in [100u64, 100, 140, 90, 300, 100] {
            clock.sample(Dur::from_millis(rtt));
            let error = rtt as f64 - srtt;
            srtt += error / 8.0;
            var += (error.abs() - var) / 4.0;
            let expected = (srtt + 2.0 * var) * 17.0 / 16.0;
            assert!((clock.timeout.as_secs_f64() * 1e3 - expected).abs() < 1e-3, "{} {expected}", clock.timeout);
        }
    }

    fn at(segment: u64) -> Pos {
        Pos::FIRST + segment * 1_000
    }

    /// Segments 4 to 13, which left at 0 ms.
    fn ten_under_way() -> SendSpace {
        let mut snd = SendSpace::new(Seq::from_wire(1), 1_000);
        (snd.una, snd.nxt, snd.max, snd.end) = (at(4), at(4), at(4), at(1_000));
        (4..14).for_each(|n| {
            snd.note_sent(at(n), at(n + 1), Time::ZERO);
        });
        snd.nxt = snd.max;
        snd
    }

    /// A clock whose timeout is srtt + 2 deviations and a sixteenth = (100 + 2 * 25 * 3/4) * 17/16 = 146 ms.
    fn clock() -> FineClock {
        let mut clock = FineClock::new();
        clock.sample(Dur::from_millis(100));
        clock
    }

    fn duplicate(clock: &mut FineClock, ms: u64, dup_acks: u32, snd: &SendSpace) -> Reaction {
        let recovery = Recovery { dup_acks, recover: at(9), ..Recovery::new() };
        clock.on_duplicate(Time::from_millis(ms), &Config::standard(), snd, &recovery)
    }

    /// The first duplicate ACK resends a segment older than the timeout; the third resends any, unless a timeout is
    /// being repaired; further ones widen the window as long as nothing is overdue.
    #[test]
    fn age_or_the_third_duplicate_resend() {
        let snd = ten_under_way();
        assert_eq!(duplicate(&mut clock(), 146, 1, &snd), Reaction::Nothing);
        assert_eq!(duplicate(&mut clock(), 147, 1, &snd), Reaction::Resend { again: false, cut: true });
        assert_eq!(duplicate(&mut clock(), 10, 2, &snd), Reaction::Nothing);
        assert_eq!(duplicate(&mut clock(), 10, 3, &snd), Reaction::Resend { again: false, cut: true });
        assert_eq!(duplicate(&mut clock(), 10, 4, &snd), Reaction::Widen);
        let mut clock = clock();
        clock.on_timeout(Time::ZERO);
        assert_eq!(
            duplicate(&mut clock, 10, 3, &snd),
            Reaction::Send { budget: u32::MAX },
            "before the recovery point"
        );
        assert_eq!(duplicate(&mut clock, 200, 1, &snd), Reaction::Nothing);
        let mut beyond = ten_under_way();
        beyond.acknowledge(at(10));
        assert!(matches!(duplicate(&mut clock, 10, 3, &beyond), Reaction::Resend { .. }));
    }

    /// Each retransmission gives the segment an eighth more time, a repeated one twice as much; only a segment sent
    /// after the last cut cuts the window again.
    #[test]
    fn a_repeated_retransmission_waits_longer() {
        let (mut snd, mut clock) = (ten_under_way(), clock());
        let before = clock.timeout;
        assert_eq!(duplicate(&mut clock, 150, 1, &snd), Reaction::Resend { again: false, cut: true });
        clock.note_cut(Time::from_millis(150), 7);
        assert_eq!(clock.timeout, before + before / 8);
        let first = clock.timeout;
        assert_eq!(duplicate(&mut clock, 151, 3, &snd), Reaction::Resend { again: false, cut: false });
        snd.note_sent(at(4), at(5), Time::from_millis(151));
        assert_eq!(duplicate(&mut clock, 400, 1, &snd), Reaction::Resend { again: true, cut: true });
        assert_eq!(clock.timeout, (first + first / 8) * 2);
    }

    /// The first two new ACKs after a retransmission check the next segment; an ACK that finds it in time ends this.
    #[test]
    fn two_new_acks_look_again() {
        let (snd, mut clock) = (ten_under_way(), clock());
        assert!(!clock.on_new_ack(Time::from_secs(9), None, &snd), "nothing was resent");
        assert!(matches!(duplicate(&mut clock, 150, 1, &snd), Reaction::Resend { .. }));
        let mut found = [9, 9, 9].map(|s| clock.on_new_ack(Time::from_secs(s), None, &snd));
        assert_eq!(found, [true, true, false]);
        assert!(matches!(duplicate(&mut clock, 9_000, 1, &snd), Reaction::Resend { .. }));
        found = [0, 9, 9].map(|s| clock.on_new_ack(Time::from_secs(s), None, &snd));
        assert_eq!(found, [false; 3]);
    }

    /// ns-2.35: the new ACK after more duplicates than the threshold sets the window back to that of the cut, even if
    /// it exceeds that by only a fraction of a segment; with `vegas_keeps_inflation` only then.
    #[test]
    fn a_new_ack_ends_the_inflation() {
        let after = |keeps, dup_acks, cwnd, cwnd_cnt| {
            let mut clock = clock();
            clock.note_cut(Time::ZERO, 7);
            let config = Config { vegas_keeps_inflation: keeps, ..Config::standard() };
            let recovery = Recovery { dup_acks, ..Recovery::new() };
            let mut win = Window { cwnd, cwnd_cnt, ssthresh: 9, cwnd_clamp: u32::MAX, pacing: None, burst: 1 };
            clock.end_inflation(&config, &recovery, &mut win);
            (win.cwnd, win.cwnd_cnt, win.ssthresh)
        };
        for keeps in [false, true] {
            assert_eq!(after(keeps, 4, 10, 0), (7, 0, 2));
            assert_eq!(after(keeps, 4, 7, 1), (7, 0, 2));
            assert_eq!(after(keeps, 4, 7, 0), (7, 0, 9), "nothing to end");
            assert_eq!(after(keeps, 4, 6, 5), (6, 5, 9), "it is smaller already");
        }
        assert_eq!((after(true, 3, 10, 0), after(false, 3, 10, 0)), ((10, 0, 9), (7, 0, 2)));
    }
}
