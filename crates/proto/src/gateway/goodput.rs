//! Goodput control: flows above the mean are throttled to it for a while, and stay throttled only if that helps the
//! others (ElRakabawy, Klemm, Lindemann, Computer Networks 52, 2008, section 4.4).
//!
//! In each interval the goodputs of all flows through the gateway are compared, counting only the time that a flow is
//! active: a pause is not a lack of goodput. A wired-to-wireless flow is *fast* if it has more than S times the mean
//! over its last intervals, and more than the mean in the current one; a flow out of the mesh is *slow* below the mean
//! ([`Among::All`]: any flow).
//!
//! ```text
//!               a fast flow and a slow one: throttle the fast ones to the mean
//!      Free ------------------------------------------------> Throttling ---+ the others gain of what was taken away:
//!       ^                                                      |      ^     | throttles age, fast flows are throttled
//!       |  in vain: unthrottle, rest;                          |      +-----+
//!       +------------------------------------------------------+
//!          every throttle has gone; nobody is left to gain; a flow has ended
//! ```
//!
//! The paper requires "an increase" of the slower flows. They show one all the time, by chance or when a route comes
//! back; so their gain is compared with the loss of the throttled flows, in this interval and, with half the weight for
//! each step back, in earlier ones. The first intervals do not count, because a sender that has slowed down takes time
//! to recover. A throttled rate rises with each later interval until it reaches what the flow had before (the paper:
//! ageing), and at once to the mean, if that is higher: nothing is taken from a flow that has become the slower one.
//! The end of a flow resets everything. Only the caption of the paper's Figure 7 was available, so some things are
//! assumed: which part of the loss the others must gain, how fast a throttle ages, how long to wait after one in vain
//! ([`super::config::GoodputControl`]), and the constants below.

use super::config::{Among, GoodputControl};
use crate::counters::counters;

/// Intervals over whose mean a flow is classified as fast. A single one of 5 s is subject to chance: a lost route, a
/// late acknowledgement.
const MEMORY: u32 = 4;

/// Intervals that senders have to discover free capacity: a paced one learns of it packet by packet.
const SETTLING: u32 = 3;

/// Maximum number of doublings of the rest after throttles in vain.
const DOUBLINGS: u32 = 3;

/// Throttled rate of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throttle {
    /// Current limit on the payload rate, in bit/s.
    pub rate: u64,
    /// Goodput before throttling, in bit/s.
    pub before: u64,
}

/// State of a flow between intervals.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Mean goodput over the last intervals, in bit/s.
    usual: u64,
    intervals: u32,
    /// `usual` when the first throttle was set.
    before: Option<u64>,
}

/// A flow that was active in the last interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observed {
    /// The flow.
    pub slot: u32,
    /// Goodput in bit/s while it was active.
    pub goodput: u64,
    /// Whether it runs from the wired to the wireless side.
    pub down: bool,
    /// Changed by [`Control::handle_interval`].
    pub memory: Memory,
    /// Throttle of the flow, likewise changed.
    pub throttle: Option<Throttle>,
}

counters! {
    /// Counters of goodput control.
    pub struct ControlCounters {
        /// Times that throttling began.
        pub probes: u64,
        /// Intervals after which the other flows had gained.
        pub gains: u64,
        /// Throttles set.
        pub throttles: u64,
        /// Resets because a flow had ended.
        pub resets: u64,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// No throttles, nor any new ones before this number of intervals has passed.
    Free { rest: u32 },
    /// Gain of the other flows and loss of the throttled ones, in bit/s, with less weight for older intervals. The
    /// first `settling` intervals do not count: senders take time to discover free capacity.
    Throttling { settling: u32, gained: i128, lost: i128 },
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Control {
    config: GoodputControl,
    state: State,
    /// Consecutive times that throttling was in vain.
    vain: u32,
    counters: ControlCounters,
}

impl Control {
    /// Creates a controller before the first interval.
    pub fn new(config: GoodputControl) -> Control {
        Control { config, state: State::Free { rest: 0 }, vain: 0, counters: ControlCounters::default() }
    }

    /// Returns its parameters.
    pub fn config(&self) -> &GoodputControl {
        &self.config
    }

    /// Its counters.
    pub fn counters(&self) -> &ControlCounters {
        &self.counters
    }

    /// A flow has ended. Returns whether that changes anything; if so, the caller must remove every throttle.
    pub fn reset(&mut self) -> bool {
        let changes = self.state != State::Free { rest: 0 };
        self.counters.resets += u64::from(changes);
        (self.state, self.vain) = (State::Free { rest: 0 }, 0);
        changes
    }

    /// An interval is over: sets and removes throttles.
    pub fn handle_interval(&mut self, flows: &mut [Observed]) {
        flows.iter_mut().for_each(|flow| flow.memory.take(flow.goodput));
        match self.state {
            State::Free { rest: 0 } => self.begin(flows),
            State::Free { rest } => self.state = State::Free { rest: rest - 1 },
            State::Throttling { settling, gained, lost } => {
                let change = |throttled: bool| {
                    let of = flows.iter().filter(|flow| flow.throttle.is_some() == throttled);
                    of.filter_map(|flow| Some(i128::from(flow.goodput) - i128::from(flow.memory.before?))).sum::<i128>()
                };
                let (gained, lost) = (gained / 2 + change(false), lost / 2 - change(true));
                if flows.iter().all(|flow| flow.throttle.is_some()) || flows.iter().all(|flow| flow.throttle.is_none())
                {
                    self.end(flows, 0);
                } else if settling > 0 {
                    self.state = State::Throttling { settling: settling - 1, gained: 0, lost: 0 };
                } else if gained * 1_000 < lost * i128::from(self.config.gain) {
                    let rest = self.config.rest.saturating_mul(1 << self.vain.min(DOUBLINGS));
                    self.vain += 1;
                    self.end(flows, rest);
                } else {
                    (self.state, self.vain) = (State::Throttling { settling, gained, lost }, 0);
                    self.counters.gains += 1;
                    self.age(flows);
                }
            }
        }
    }

    fn end(&mut self, flows: &mut [Observed], rest: u32) {
        flows.iter_mut().for_each(|flow| (flow.throttle, flow.memory.before) = (None, None));
        self.state = State::Free { rest };
    }

    /// Throttles fast flows to the mean, if there are any.
    fn begin(&mut self, flows: &mut [Observed]) {
        let average = mean(flows.iter().map(|flow| flow.goodput));
        let usual = mean(flows.iter().map(|flow| flow.memory.usual));
        let limit = scaled(usual, self.config.threshold);
        let is_fast = |flow: &Observed| flow.down && flow.memory.usual > limit && flow.goodput > average;
        let is_slow = |flow: &Observed| flow.memory.usual < usual && (!flow.down || self.config.among == Among::All);
        if !flows.iter().any(is_fast) || !flows.iter().any(is_slow) {
            return;
        }
        for flow in &mut *flows {
            let before = *flow.memory.before.get_or_insert(flow.memory.usual);
            if is_fast(flow) {
                self.counters.throttles += 1;
                flow.throttle = Some(Throttle { rate: usual, before });
            }
        }
        if let State::Free { .. } = self.state {
            self.counters.probes += 1;
            self.state = State::Throttling { settling: SETTLING, gained: 0, lost: 0 };
        }
    }

    /// Ages throttles, raises those below the mean to it, and throttles flows that are fast again.
    fn age(&mut self, flows: &mut [Observed]) {
        let average = mean(flows.iter().map(|flow| flow.goodput));
        for flow in &mut *flows {
            let Some(old) = flow.throttle else { continue };
            let rate = scaled(old.rate, 1_000 + self.config.ageing).max(old.rate + 1).max(average);
            flow.throttle = (rate < old.before).then_some(Throttle { rate, ..old });
        }
        self.begin(flows);
        if flows.iter().all(|flow| flow.throttle.is_none()) {
            self.end(flows, 0);
        }
    }
}

impl Memory {
    /// Adds the goodput of one more interval.
    fn take(&mut self, goodput: u64) {
        self.intervals = (self.intervals + 1).min(MEMORY);
        let (old, count) = (u128::from(self.usual), u128::from(self.intervals));
        self.usual = ((old * (count - 1) + u128::from(goodput)) / count) as u64;
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
            Observed { slot, goodput, down, memory: Memory::default(), throttle: None }
        })
    }

    /// One flow into the mesh that is ahead, and one out of it.
    fn oncoming() -> [Observed; 2] {
        flows([(true, 900), (false, 500)])
    }

    /// Round numbers.
    const CONTROL: GoodputControl = GoodputControl { gain: 250, ageing: 50, ..GoodputControl::paper() };

    fn control() -> Control {
        Control::new(CONTROL)
    }

    /// Runs `count` intervals with these goodputs; returns the throttled rate of the first flow after each.
    fn intervals<const N: usize>(
        control: &mut Control,
        seen: &mut [Observed; N],
        count: u32,
        goodputs: [u64; N],
    ) -> Vec<Option<u64>> {
        (0..count)
            .map(|_| {
                seen.iter_mut().zip(goodputs).for_each(|(flow, goodput)| flow.goodput = goodput);
                control.handle_interval(seen);
                seen[0].throttle.map(|throttle| throttle.rate)
            })
            .collect()
    }

    #[test]
    fn a_fast_flow_is_throttled_to_the_mean_and_stays_so_if_that_helps() {
        let (mut control, mut seen) = (control(), oncoming());
        control.handle_interval(&mut seen);
        assert_eq!(seen.map(|flow| flow.throttle), [Some(Throttle { rate: 700, before: 900 }), None]);
        // The others need some time; only then does the throttle age (section 4.4: its degree falls with time), until
        // it is gone.
        let mut expected = vec![Some(700); SETTLING as usize];
        expected.extend([735, 771, 809, 849, 891].map(Some));
        expected.push(None);
        let count = expected.len() as u32;
        assert_eq!(intervals(&mut control, &mut seen, count, [700, 690]), expected);
        let counted = *control.counters();
        assert_eq!((counted.probes, counted.gains, counted.throttles, counted.resets), (1, 6, 1, 0));
    }

    /// Other flows must gain a part of the throttled flow's loss, not of their own goodput: compared with nothing, any
    /// gain is large.
    #[test]
    fn a_gain_is_compared_with_what_was_taken_away() {
        for (slow_now, gained) in [(0, 0), (49, 0), (50, 1), (300, 1)] {
            let (mut control, mut seen) = (control(), flows([(true, 400), (false, 0)]));
            control.handle_interval(&mut seen);
            // 200 of 400 are taken away; a quarter of that must be gained.
            intervals(&mut control, &mut seen, SETTLING + 1, [200, slow_now]);
            assert_eq!((control.counters().gains, seen[0].throttle.is_some()), (gained, gained == 1), "{slow_now}");
        }
    }

    /// Losses and gains of earlier intervals lose half their weight in each later one.
    #[test]
    fn earlier_gains_count_for_less() {
        let (mut control, mut seen) = (control(), flows([(true, 400), (false, 0)]));
        control.handle_interval(&mut seen);
        intervals(&mut control, &mut seen, SETTLING + 1, [200, 200]);
        // No further gain: first 100 of 300, then 50 of 350, then 25 of 375.
        assert_eq!(intervals(&mut control, &mut seen, 3, [200, 0])[..], [Some(173), None, None]);
    }

    #[test]
    fn throttles_in_vain_end_and_are_repeated_after_longer_and_longer_rests() {
        let (mut control, mut seen) = (control(), oncoming());
        let mut rests = Vec::new();
        for _ in 0..6 {
            while seen[0].throttle.is_none() {
                intervals(&mut control, &mut seen, 1, [900, 500]);
                *rests.last_mut().unwrap_or(&mut 0) += u32::from(seen[0].throttle.is_none());
            }
            intervals(&mut control, &mut seen, SETTLING + 1, [700, 500]);
            assert_eq!(seen[0].throttle, None, "after the first interval that counts");
            rests.push(0);
        }
        assert_eq!(rests, [4, 8, 16, 32, 32, 0]);
        assert_eq!((control.counters().probes, control.counters().gains), (6, 0));
        // A flow has ended: the next throttle may follow at once.
        assert!(control.reset() && control.vain == 0);
    }

    #[test]
    fn flows_within_the_threshold_and_those_from_the_wireless_side_go_free() {
        for mut seen in
            [flows([(true, 1_100), (false, 900)]), flows([(false, 900), (true, 100)]), flows([(true, 0), (false, 0)])]
        {
            control().handle_interval(&mut seen);
            assert!(seen.iter().all(|flow| flow.throttle.is_none()));
        }
    }

    /// The title of section 4.4 is about flows of opposite directions; its text is about all flows.
    #[test]
    fn flows_of_one_direction_are_left_alone_unless_all_count() {
        for among in [Among::Oncoming, Among::All] {
            let mut control = Control::new(GoodputControl { among, ..CONTROL });
            let mut seen = flows([(true, 900), (true, 500)]);
            control.handle_interval(&mut seen);
            assert_eq!(seen.map(|flow| flow.throttle.is_some()), [among == Among::All, false]);
        }
    }

    /// One good interval is chance: a fast flow must be ahead in the mean over the last ones, and now.
    #[test]
    fn one_good_interval_does_not_make_a_flow_fast() {
        let (mut control, mut seen) = (control(), oncoming());
        assert_eq!(intervals(&mut control, &mut seen, 4, [500, 500]), [None; 4]);
        assert_eq!(intervals(&mut control, &mut seen, 1, [690, 500]), [None], "547 of a mean of 523");
        assert_eq!(intervals(&mut control, &mut seen, 1, [400, 500]), [None]);
        assert_eq!(intervals(&mut control, &mut seen, 2, [900, 500]), [None, Some(590)]);
        // Fast over the last intervals, but not in the current one.
        let (mut control, mut seen) = (self::control(), oncoming());
        control.state = State::Free { rest: 3 };
        intervals(&mut control, &mut seen, 3, [900, 500]);
        assert_eq!(intervals(&mut control, &mut seen, 1, [400, 500]), [None]);
    }

    /// The others get ahead: a throttled flow must not become the slow one.
    #[test]
    fn a_throttle_never_holds_its_flow_below_the_mean() {
        let (mut control, mut seen) = (control(), oncoming());
        control.handle_interval(&mut seen);
        intervals(&mut control, &mut seen, SETTLING, [700, 800]);
        assert_eq!(intervals(&mut control, &mut seen, 1, [700, 940]), [Some(820)]);
        assert_eq!(intervals(&mut control, &mut seen, 1, [820, 1_000]), [None], "the mean is above what it had before");
        assert_eq!(control.state, State::Free { rest: 0 });
    }

    #[test]
    fn a_flow_that_runs_ahead_again_is_throttled_again() {
        let (mut control, mut seen) = (control(), oncoming());
        control.handle_interval(&mut seen);
        intervals(&mut control, &mut seen, SETTLING, [890, 600]);
        assert_eq!(intervals(&mut control, &mut seen, 1, [890, 700]), [Some(748)]);
        assert_eq!((control.counters().probes, control.counters().throttles), (1, 2));
    }

    /// If the flow that should gain pauses or changes direction, the throttle is removed at once, without a rest.
    #[test]
    fn nobody_is_left_to_gain() {
        let (mut control, mut seen) = (control(), oncoming());
        control.handle_interval(&mut seen);
        control.handle_interval(&mut seen[..1]);
        assert_eq!((seen[0].throttle, control.state), (None, State::Free { rest: 0 }));
        // The throttled flow pauses; the caller removes its throttle.
        let (mut control, mut seen) = (self::control(), oncoming());
        control.handle_interval(&mut seen);
        control.handle_interval(&mut seen[1..]);
        assert_eq!(control.state, State::Free { rest: 0 });
    }

    #[test]
    fn the_end_of_a_flow_resets() {
        let mut control = control();
        control.handle_interval(&mut oncoming());
        assert!(control.reset());
        assert_eq!((control.state, control.counters().resets), (State::Free { rest: 0 }, 1));
        assert!(!control.reset(), "nothing to reset");
        assert_eq!(control.counters().resets, 1);
    }

    /// Four flows, two of them fast, with the largest representable rates.
    #[test]
    fn several_fast_flows_and_enormous_ones() {
        let mut control = control();
        let mut seen = flows([(true, u64::MAX), (true, u64::MAX), (false, 0), (false, 0)]);
        for _ in 0..20 {
            control.handle_interval(&mut seen);
        }
        assert!(control.counters().throttles >= 2);
    }
}
