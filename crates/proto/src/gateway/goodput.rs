//! Goodput control: flows above the mean are throttled to it for a while, and stay throttled only if that helps the
//! others (ElRakabawy, Klemm, Lindemann, Computer Networks 52, 2008, section 4.4 and Figure 7).
//!
//! Each interval the goodputs of all flows through the gateway are compared. A wired-to-wireless flow is *fast* above S times
//! their mean, a flow is *slow* below the mean.
//!
//! ```text
//!          fast flows: throttle them to the mean            the slow ones gained
//!   Free ------------------------------------------> Probe --------------------> Hold
//!    ^                                                | |                       |   | fast flows again
//!    |                     they did not: unthrottle   | ^-----------------------|---+
//!    +------------------------------------------------+                         |
//!    +--------------------------------------------------------------------------+
//!                          every throttle has aged away; a flow has ended
//! ```
//!
//! In `Hold` each throttled rate rises with each interval, until it is what the flow had before. The end of a flow
//! resets everything. Only the caption of the paper's Figure 7 was available, so three things are assumed: how large a
//! gain must be to count, how fast a throttle ages, and how long to wait after a probe without effect
//! ([`super::config::GoodputControl`]). A throttle that no longer limits its flow is removed at once.

use super::config::GoodputControl;
use crate::counters::counters;

/// What a flow is throttled to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throttle {
    /// Payload in bit/s, now.
    pub rate: u64,
    /// Goodput before, in bit/s.
    pub before: u64,
}

/// A flow over the last interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observed {
    /// Which flow.
    pub slot: u32,
    /// Goodput in bit/s.
    pub goodput: u64,
    /// Does it run from the wired to the wireless side?
    pub down: bool,
    /// Was it slow when the probe began?
    pub slow: bool,
    /// What it is throttled to; this is what [`Control::handle_interval`] changes, with `slow`.
    pub throttle: Option<Throttle>,
}

counters! {
    /// What goodput control has done.
    pub struct ControlCounters {
        /// Probes begun.
        pub probes: u64,
        /// Probes after which the slow flows had gained.
        pub gains: u64,
        /// Throttles set.
        pub throttles: u64,
        /// Resets because a flow had ended.
        pub resets: u64,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// No throttles; no probe before this number of intervals has passed.
    Free { rest: u32 },
    /// Throttles are new; the slow flows had this goodput on average before.
    Probe { before: u64 },
    /// Throttles help, and age.
    Hold,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Control {
    config: GoodputControl,
    state: State,
    counters: ControlCounters,
}

impl Control {
    /// Before the first interval.
    pub fn new(config: GoodputControl) -> Control {
        Control { config, state: State::Free { rest: 0 }, counters: ControlCounters::default() }
    }

    /// The time between two comparisons.
    pub fn config(&self) -> &GoodputControl {
        &self.config
    }

    /// What it has done.
    pub fn counters(&self) -> &ControlCounters {
        &self.counters
    }

    /// A flow has ended. If that changes anything the caller takes away every throttle.
    pub fn reset(&mut self) -> bool {
        let changes = self.state != State::Free { rest: 0 };
        self.counters.resets += u64::from(changes);
        self.state = State::Free { rest: 0 };
        changes
    }

    /// An interval is over: sets and takes away throttles.
    pub fn handle_interval(&mut self, flows: &mut [Observed]) {
        match self.state {
            State::Free { rest: 0 } => self.begin(flows),
            State::Free { rest } => self.state = State::Free { rest: rest - 1 },
            State::Probe { before } => {
                let now = mean(flows.iter().filter(|flow| flow.slow).map(|flow| flow.goodput));
                if now > before + scaled(before, self.config.gain) {
                    self.counters.gains += 1;
                    self.hold(flows);
                } else {
                    flows.iter_mut().for_each(|flow| flow.throttle = None);
                    self.state = State::Free { rest: self.config.rest };
                }
            }
            State::Hold => self.hold(flows),
        }
    }

    /// Throttles fast flows to the mean, if there are any.
    fn begin(&mut self, flows: &mut [Observed]) {
        let average = mean(flows.iter().map(|flow| flow.goodput));
        let limit = scaled(average, self.config.threshold);
        if average == 0 || !flows.iter().any(|flow| flow.down && flow.goodput > limit) {
            return;
        }
        let mut fast = 0;
        for flow in &mut *flows {
            flow.slow = flow.goodput < average;
            if flow.down && flow.goodput > limit {
                fast += 1;
                let before = flow.throttle.map_or(flow.goodput, |throttle| throttle.before);
                flow.throttle = Some(Throttle { rate: average, before: before.max(flow.goodput) });
            }
        }
        self.counters.probes += 1;
        self.counters.throttles += fast;
        self.state = State::Probe { before: mean(flows.iter().filter(|flow| flow.slow).map(|flow| flow.goodput)) };
    }

    /// Throttles age; fast flows are throttled anew.
    fn hold(&mut self, flows: &mut [Observed]) {
        let ageing = 1_000 + self.config.ageing;
        for flow in &mut *flows {
            flow.throttle = flow
                .throttle
                .map(|old| Throttle { rate: scaled(old.rate, ageing).max(old.rate + 1), ..old })
                .filter(|aged| aged.rate < aged.before);
        }
        self.state =
            if flows.iter().any(|flow| flow.throttle.is_some()) { State::Hold } else { State::Free { rest: 0 } };
        self.begin(flows);
    }
}

fn scaled(rate: u64, per_mille: u32) -> u64 {
    (u128::from(rate) * u128::from(per_mille) / 1_000) as u64
}

fn mean(rates: impl Iterator<Item = u64>) -> u64 {
    let (sum, count) = rates.fold((0u128, 0u128), |(sum, count), rate| (sum + u128::from(rate), count + 1));
    sum.checked_div(count).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows<const N: usize>(rates: [(bool, u64); N]) -> [Observed; N] {
        let mut slot = 0;
        rates.map(|(down, goodput)| {
            slot += 1;
            Observed { slot, goodput, down, slow: false, throttle: None }
        })
    }

    fn control() -> Control {
        Control::new(GoodputControl::paper())
    }

    #[test]
    fn a_fast_flow_is_throttled_to_the_mean_and_stays_so_if_that_helps() {
        let mut control = control();
        let mut seen = flows([(true, 900), (false, 500)]);
        control.handle_interval(&mut seen);
        assert_eq!(seen[0].throttle, Some(Throttle { rate: 700, before: 900 }));
        assert!(seen[1].slow && seen[1].throttle.is_none());
        (seen[0].goodput, seen[1].goodput) = (700, 650);
        control.handle_interval(&mut seen);
        // Section 4.4: the degree of throttling falls with time.
        assert_eq!(seen[0].throttle, Some(Throttle { rate: 735, before: 900 }));
        for rate in [771, 809, 849, 891] {
            control.handle_interval(&mut seen);
            assert_eq!(seen[0].throttle.map(|throttle| throttle.rate), Some(rate));
        }
        control.handle_interval(&mut seen);
        assert_eq!(seen[0].throttle, None);
        let counted = *control.counters();
        assert_eq!((counted.probes, counted.gains, counted.throttles), (1, 1, 1));
    }

    #[test]
    fn a_vain_probe_ends_and_is_repeated_after_a_rest() {
        let mut control = control();
        let mut seen = flows([(true, 900), (false, 500)]);
        let probed: Vec<bool> = (0..14)
            .map(|_| {
                control.handle_interval(&mut seen);
                seen[0].throttle.is_some()
            })
            .collect();
        // A probe lasts one interval; then four rest, and in the next it is tried again.
        let expected: Vec<bool> = (0..14).map(|n| n % 6 == 0).collect();
        assert_eq!(probed, expected);
        assert_eq!((control.counters().probes, control.counters().gains), (3, 0));
    }

    #[test]
    fn flows_within_the_threshold_and_those_from_the_wireless_side_go_free() {
        let mut control = control();
        for mut seen in
            [flows([(true, 1_100), (false, 900)]), flows([(false, 900), (true, 100)]), flows([(true, 0), (true, 0)])]
        {
            control.handle_interval(&mut seen);
            assert!(seen.iter().all(|flow| flow.throttle.is_none()));
        }
    }

    #[test]
    fn a_flow_that_runs_ahead_again_is_throttled_again() {
        let mut control = control();
        let mut seen = flows([(true, 900), (false, 500)]);
        control.handle_interval(&mut seen);
        (seen[0].goodput, seen[1].goodput) = (900, 700);
        control.handle_interval(&mut seen);
        assert_eq!(seen[0].throttle, Some(Throttle { rate: 800, before: 900 }));
        assert_eq!(control.counters().probes, 2);
    }

    #[test]
    fn the_end_of_a_flow_resets() {
        let mut control = control();
        control.handle_interval(&mut flows([(true, 900), (false, 500)]));
        assert!(control.reset());
        assert_eq!((control.state, control.counters().resets), (State::Free { rest: 0 }, 1));
        assert!(!control.reset(), "nothing to reset");
        assert_eq!(control.counters().resets, 1);
    }

    /// The slow flows have gained if their mean is above what it was by more than the gain asked for.
    #[test]
    fn a_gain_is_more_than_the_gain_asked_for() {
        for (slow_now, gains) in [(549, 0), (550, 0), (551, 1)] {
            let mut control = Control::new(GoodputControl { gain: 100, ..GoodputControl::paper() });
            let mut seen = flows([(true, 900), (false, 500)]);
            control.handle_interval(&mut seen);
            seen[1].goodput = slow_now;
            control.handle_interval(&mut seen);
            assert_eq!((control.counters().gains, seen[0].throttle.is_some()), (gains, gains == 1), "{slow_now}");
        }
    }

    /// Slow is what is below the mean; what has just the mean is neither slow nor fast.
    #[test]
    fn a_flow_at_the_mean_is_not_slow() {
        let mut control = control();
        let mut seen = flows([(true, 900), (true, 700), (false, 500)]);
        control.handle_interval(&mut seen);
        assert_eq!(
            seen.map(|flow| (flow.slow, flow.throttle.is_some())),
            [(false, true), (false, false), (true, false)]
        );
    }

    /// A throttle that has come back to the former goodput binds no more.
    #[test]
    fn a_throttle_goes_when_it_is_the_former_goodput() {
        let mut control = Control { state: State::Hold, ..control() };
        let mut seen = flows([(true, 500), (false, 500), (false, 500)]);
        seen[0].throttle = Some(Throttle { rate: 700, before: 735 });
        seen[1].throttle = Some(Throttle { rate: 700, before: 736 });
        control.handle_interval(&mut seen);
        assert_eq!(seen.map(|flow| flow.throttle.map(|throttle| throttle.rate)), [None, Some(735), None]);
    }

    /// Four flows of which two are fast, and rates as large as a number can be.
    #[test]
    fn several_fast_flows_and_enormous_ones() {
        let mut control = control();
        let mut seen = flows([(true, u64::MAX), (true, u64::MAX), (false, 0), (false, 0)]);
        control.handle_interval(&mut seen);
        assert!(seen[0].throttle.is_some() && seen[1].throttle.is_some());
        assert_eq!(control.counters().throttles, 2);
    }
}
