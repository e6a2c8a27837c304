//! The frozen state of an ad hoc sender (section III-E, figure 6), as far as it is independent of the stream.
//!
//! ```text
//!                     closed window, window below the data in flight, time-out
//!   Running ──────────────────────────────────────────────────────────────────► Waiting   (something is in flight)
//!      ▲ ▲ ▲    closed window, nothing in flight ───► Asking ──┐                   │
//!      │ │ └─────────────── open window ────────────────┘      │ probe fails       │ one more time-out
//!      │ └───────────────── open window: slow start ──── Probing ◄─────────────────┘
//!      └─────────────────── open window: as before ───────────────────── Waiting
//! ```
//!
//! While waiting and asking, only the sender's retransmission timer is off; while probing, it has given up the data in
//! flight. A timer runs in each of the three states, so a frozen sender always wakes up.

use fourhop_units::Dur;

/// Options of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderOptions {
    /// Longest time between probes. The paper: 32 s.
    pub probe_max: Dur,
    /// Further limit on that time, as a multiple of the largest timeout since the hop count last changed: the bound
    /// that section III-E derives from S_min; `None`: no such bound.
    pub probe_rtos: Option<u32>,
}

/// Why a sender is frozen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The receiver closed its window (ZWA).
    ZeroWindow,
    /// The receiver shrank its window to less than the data in flight (provisionally frozen).
    Provisional,
    /// The retransmission timer expired.
    Timeout,
}

/// The phase of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Sending.
    Running,
    /// Frozen, awaiting acknowledgements of the data in flight.
    Waiting,
    /// Frozen with nothing in flight; the first probe has been sent.
    Asking,
    /// Frozen; the data in flight is given up, probes are being sent.
    Probing,
}

/// Counters.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SenderStats {
    /// Times frozen by a closed window.
    pub by_zero_window: u64,
    /// Times frozen provisionally.
    pub provisional: u64,
    /// Times frozen by a timeout.
    pub by_timeout: u64,
    /// Probes sent.
    pub probes: u64,
}

/// The frozen state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freeze {
    options: Option<SenderOptions>,
    /// Whether the peer has taken back a window it offered, which only ad hoc receivers do.
    pub recognised: bool,
    phase: Phase,
    cause: Cause,
    /// Time until the next probe.
    interval: Dur,
    /// Whether the current acknowledgement answers a probe, or data that has been given up: its delay is the time for
    /// which the path was absent.
    late_answer: bool,
    hops: Option<u8>,
    /// Largest timeout since the hop count changed.
    rto_most: Dur,
    stats: SenderStats,
}

impl Freeze {
    /// A sender that is running; without options it never freezes.
    pub const fn new(options: Option<SenderOptions>) -> Freeze {
        Freeze {
            options,
            recognised: false,
            phase: Phase::Running,
            cause: Cause::Timeout,
            interval: Dur::ZERO,
            late_answer: false,
            hops: None,
            rto_most: Dur::ZERO,
            stats: SenderStats { by_zero_window: 0, provisional: 0, by_timeout: 0, probes: 0 },
        }
    }

    /// Whether this is an ad hoc sender at all.
    pub fn is_built_in(&self) -> bool {
        self.options.is_some()
    }

    /// Whether this is an ad hoc sender that talks to an ad hoc receiver.
    pub fn is_active(&self) -> bool {
        self.options.is_some() && self.recognised
    }

    /// Takes the hop count of the path and the current timeout `rto`.
    pub fn handle_path(&mut self, hops: Option<u8>, rto: Dur) {
        if self.hops != hops {
            (self.hops, self.rto_most) = (hops, Dur::ZERO);
        }
        self.rto_most = self.rto_most.max(rto);
    }

    /// Freezes the sender. If no answer arrives within `rto`, the data in flight is given up or, if there is none, the
    /// probe sent now counts as unanswered.
    pub fn freeze(&mut self, cause: Cause, under_way: bool, rto: Dur) {
        if !self.is_frozen() {
            self.note(cause);
        }
        self.cause = cause;
        self.phase = if under_way { Phase::Waiting } else { Phase::Asking };
        self.interval = self.bounded(rto);
    }

    /// Stays frozen after an answer.
    pub fn hold(&mut self, cause: Cause) {
        if self.cause != cause {
            self.note(cause);
        }
        self.cause = cause;
    }

    fn note(&mut self, cause: Cause) {
        match cause {
            Cause::ZeroWindow => self.stats.by_zero_window += 1,
            Cause::Provisional => self.stats.provisional += 1,
            Cause::Timeout => self.stats.by_timeout += 1,
        }
    }

    /// Handles the end of an interval; returns whether the data in flight counts as lost from now on. The next probe is
    /// sent now, another one an [`interval`](Freeze::interval) later, which has doubled if the last probe failed.
    pub fn handle_timeout(&mut self, rto: Dur) -> bool {
        let gives_up = self.phase != Phase::Probing;
        self.interval = self.bounded(match self.phase {
            Phase::Waiting | Phase::Running => rto,
            Phase::Asking | Phase::Probing => self.interval.saturating_mul(2),
        });
        self.phase = Phase::Probing;
        gives_up
    }

    fn bounded(&self, interval: Dur) -> Dur {
        let Some(options) = self.options else { return interval };
        let by_rto = options.probe_rtos.map_or(Dur::MAX, |times| self.rto_most.saturating_mul(u64::from(times)));
        // Not so often that answers cannot arrive in time.
        let least = Dur::from_millis(1);
        interval.min(options.probe_max).min(by_rto).max(least)
    }

    /// Notes that a probe has been sent.
    pub fn note_probe(&mut self) {
        self.stats.probes += 1;
    }

    /// Whether the current acknowledgement gives a round-trip sample. One that ends probing does not (section III-E:
    /// the estimates are not to be affected).
    pub fn is_round_trip_sample(&self) -> bool {
        !self.late_answer
    }

    /// Moves on to another acknowledgement.
    pub fn forget_answer(&mut self) {
        self.late_answer = false;
    }

    /// Resumes sending.
    pub fn thaw(&mut self) {
        self.late_answer = self.is_probing();
        self.phase = Phase::Running;
    }

    /// Time between probes.
    pub fn interval(&self) -> Dur {
        self.interval
    }

    /// The current phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Why the sender is, or was last, frozen.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// Whether the sender is frozen.
    pub fn is_frozen(&self) -> bool {
        self.phase != Phase::Running
    }

    /// Whether it has given up the data in flight.
    pub fn is_probing(&self) -> bool {
        self.phase == Phase::Probing
    }

    /// Events so far.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Dur = Dur::from_secs;

    fn sender(probe_rtos: Option<u32>) -> Freeze {
        Freeze::new(Some(SenderOptions { probe_max: S(32), probe_rtos }))
    }

    /// Section III-E: one more timeout, then probes at doubling intervals up to 32 s.
    #[test]
    fn probes_back_off_to_their_bound() {
        let mut freeze = sender(None);
        freeze.freeze(Cause::Timeout, true, S(3));
        assert_eq!((freeze.phase(), freeze.interval()), (Phase::Waiting, S(3)));
        assert!(freeze.handle_timeout(S(3)));
        let mut intervals = vec![freeze.interval()];
        for _ in 0..5 {
            assert!(!freeze.handle_timeout(S(3)));
            intervals.push(freeze.interval());
        }
        assert_eq!(intervals, [S(3), S(6), S(12), S(24), S(32), S(32)]);
        freeze.thaw();
        assert!(!freeze.is_frozen());
    }

    /// With nothing in flight the first probe is sent at once, and nothing is given up until it fails.
    #[test]
    fn with_nothing_under_way_the_first_probe_goes_at_once() {
        let mut freeze = sender(None);
        freeze.freeze(Cause::ZeroWindow, false, S(1));
        assert_eq!((freeze.phase(), freeze.interval()), (Phase::Asking, S(1)));
        assert!(freeze.handle_timeout(S(1)));
        assert_eq!((freeze.phase(), freeze.interval()), (Phase::Probing, S(2)));
    }

    /// The bound from S_min: twice the largest timeout since the hop count changed.
    #[test]
    fn the_largest_time_out_over_these_hops_bounds_the_interval() {
        let mut freeze = sender(Some(2));
        freeze.handle_path(Some(5), S(4));
        freeze.handle_path(Some(5), S(1));
        freeze.freeze(Cause::Timeout, true, S(3));
        for _ in 0..5 {
            freeze.handle_timeout(S(3));
        }
        assert_eq!(freeze.interval(), S(8));
        freeze.handle_path(Some(6), S(1));
        freeze.handle_timeout(S(1));
        assert_eq!(freeze.interval(), S(2));
    }

    /// Section III-E: the answer that ends probing says nothing about the round trip; one that ends a wait does.
    #[test]
    fn only_the_end_of_probing_tells_no_round_trip() {
        for probing in [false, true] {
            let mut freeze = sender(None);
            freeze.freeze(Cause::Timeout, true, S(1));
            if probing {
                freeze.handle_timeout(S(1));
            }
            assert_eq!((freeze.is_frozen(), freeze.is_probing()), (true, probing));
            freeze.thaw();
            assert_eq!(
                (freeze.is_frozen(), freeze.is_probing(), freeze.is_round_trip_sample()),
                (false, false, !probing)
            );
            freeze.forget_answer();
            assert!(freeze.is_round_trip_sample(), "another acknowledgement");
        }
    }

    #[test]
    fn each_cause_is_counted_once_a_freeze() {
        let mut freeze = sender(None);
        freeze.freeze(Cause::ZeroWindow, true, S(1));
        freeze.hold(Cause::ZeroWindow);
        freeze.hold(Cause::Provisional);
        freeze.thaw();
        freeze.freeze(Cause::Timeout, true, S(1));
        freeze.note_probe();
        freeze.note_probe();
        let expected = SenderStats { by_zero_window: 1, provisional: 1, by_timeout: 1, probes: 2 };
        assert_eq!(*freeze.stats(), expected);
    }
}
