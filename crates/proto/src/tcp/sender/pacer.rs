//! When a segment may leave, if congestion control asks for an interval between segments.
//!
//! | [`Release`] | a segment leaves |
//! |---|---|
//! | `Gate` | at once, or once the interval that was in force when an earlier one left has passed, by a clock that may tick ([`PacingClock`]) |
//! | `Timer` | at once, unless the timer started by the previous segment is running; when it fires, one leaves and restarts it; a timer that finds the window closed stops |
//! | `Slots` | at the ticks of a timer that fires each interval, one per tick; a tick that finds the window closed passes unused (ElRakabawy et al. 2005, Figure 8) |
//! | `Queue` | likewise; the window fills a queue, and segments in it count as sent, see `queue` |
//!
//! With the last three, the timer is stopped while there is nothing to send; the first segment then leaves at once and
//! starts it.

use crate::tcp::config::{PacingClock, Release, Rounding};
use fourhop_units::{Dur, Time};

/// Shortest tick: a shorter interval is rounded up, so that the timer never spins. No 802.11 frame takes less time than
/// its preamble of 20 us (IEEE 802.11-2020 clause 17.3.3).
const SHORTEST_TICK: Dur = Dur::from_micros(20);

/// Whether a segment that the window allows may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It may leave.
    Now,
    /// It waits until then, when the pacer's timer fires.
    At(Time),
}

/// Segments released by a call of [`Pacer::tick`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tick {
    /// Nothing: the timer was not due, or nothing waits.
    Nothing,
    /// One segment; [`Pacer::pass_slot`] ends the slot.
    Slot,
    /// All that [`Pacer::admit`] allows.
    Everything,
}

/// Paces the segments of one sender. The interval is a parameter of each call, because it belongs to congestion control
/// and may change between two segments; without an interval nothing waits.
///
/// # Call order
/// [`admit`](Pacer::admit) before each segment that may have to wait, [`departed`](Pacer::departed) after each that has
/// left, whether it waited or not, and [`pass_slot`](Pacer::pass_slot) as well after an admitted one.
/// [`tick`](Pacer::tick) at [`next_timeout`](Pacer::next_timeout), which all of these but `pass_slot` may change; too
/// early it does nothing. Time never runs backwards.
#[derive(Clone, Debug)]
pub struct Pacer {
    release: Release,
    /// `Gate`: whether retransmissions wait, too.
    repeats_wait: bool,
    clock: PacingClock,
    /// `Gate`: segments wait until this instant.
    next_send: Time,
    /// `Timer`, `Slots`, `Queue`: whether this tick is still unused.
    slot: bool,
    due: Option<Time>,
}

impl Pacer {
    /// A pacer before its first segment. At a gate, retransmissions wait only if `repeats_wait`; with slots, all wait.
    pub const fn new(release: Release, repeats_wait: bool) -> Pacer {
        let clock = PacingClock::FINE;
        Pacer { release, repeats_wait, clock, next_send: Time::ZERO, slot: false, due: None }
    }

    /// The same, with a gate that waits by this clock.
    pub const fn with_clock(self, clock: PacingClock) -> Pacer {
        Pacer { clock, ..self }
    }

    /// Reading of the clock: the last tick at or before an instant.
    fn reading(&self, at: Time) -> Time {
        let nanos = at.as_nanos();
        Time::from_nanos(nanos - nanos % self.clock.tick.as_nanos())
    }

    /// The first tick at or after an instant.
    fn tick_at(&self, at: Time) -> Time {
        self.reading(Time::from_nanos(at.as_nanos() + self.clock.tick.as_nanos() - 1))
    }

    /// Whether a segment may leave now. `fresh`: it was never sent.
    pub fn admit(&mut self, now: Time, interval: Option<Dur>, fresh: bool) -> Admission {
        let Some(interval) = interval else { return Admission::Now };
        match (self.release, self.due) {
            (Release::Gate, _) if self.reading(now) < self.next_send && (fresh || self.repeats_wait) => {
                let due = self.tick_at(self.next_send);
                self.due = Some(due);
                Admission::At(due)
            }
            (Release::Timer | Release::Slots | Release::Queue, Some(due)) if !self.slot => Admission::At(due),
            (Release::Timer | Release::Slots | Release::Queue, None) if !self.slot => {
                self.slot = true;
                self.due = Some(now + interval.max(SHORTEST_TICK));
                Admission::Now
            }
            _ => Admission::Now,
        }
    }

    /// Notes that a segment has left.
    pub fn departed(&mut self, now: Time, interval: Option<Dur>) {
        let Some(interval) = interval else { return };
        let (tick, nanos) = (self.clock.tick.as_nanos(), interval.as_nanos());
        let next = match self.clock.rounding {
            Rounding::Up => self.reading(now) + Dur::from_nanos(nanos.div_ceil(tick) * tick),
            Rounding::Down => self.reading(now) + Dur::from_nanos(nanos / tick * tick),
            // A segment released by a tick was due up to a tick earlier; that time is not lost.
            Rounding::Carry if now < self.next_send + self.clock.tick => self.next_send.min(now) + interval,
            Rounding::Carry => now + interval,
        };
        // A segment that did not wait may have a shorter interval than the one others are still waiting out.
        self.next_send = self.next_send.max(next);
    }

    /// Ends the slot, used or not.
    pub fn pass_slot(&mut self) {
        self.slot = false;
    }

    /// When the timer fires.
    pub fn next_timeout(&self) -> Option<Time> {
        self.due
    }

    /// Handles the timer if it has fired; `waiting` says whether there is anything to send.
    pub fn tick(&mut self, now: Time, interval: Option<Dur>, waiting: bool) -> Tick {
        if self.due.take_if(|due| *due <= now).is_none() {
            return Tick::Nothing;
        }
        let Some(interval) = interval.filter(|_| self.release != Release::Gate) else { return Tick::Everything };
        if !waiting {
            return Tick::Nothing;
        }
        self.due = Some(now + interval.max(SHORTEST_TICK));
        self.slot = true;
        Tick::Slot
    }

    /// Stops the timer until the next segment asks.
    pub fn stop(&mut self) {
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Dur::from_micros(micros)
    }

    const fn every(micros: u64) -> Option<Dur> {
        Some(Dur::from_micros(micros))
    }

    /// Departures of `count` segments that all wait from `from` on, timer by timer, with one interval.
    fn departures(pacer: &mut Pacer, from: u64, interval: Option<Dur>, count: usize) -> Vec<Time> {
        let (mut now, mut times) = (at(from), Vec::new());
        while times.len() < count {
            if pacer.admit(now, interval, true) == Admission::Now {
                pacer.departed(now, interval);
                pacer.pass_slot();
                times.push(now);
            } else {
                let due = pacer.next_timeout().expect("what waits has a timer");
                assert_eq!(pacer.admit(now, interval, true), Admission::At(due), "asked twice, answered once");
                assert_eq!(pacer.tick(Time::from_nanos(due.as_nanos() - 1), interval, true), Tick::Nothing, "early");
                now = due;
                assert_ne!(pacer.tick(now, interval, true), Tick::Nothing);
            }
        }
        times
    }

    /// ```text
    /// ms    0    10   20   30
    /// sent  a    b    c    d
    /// ```
    #[test]
    fn every_way_keeps_the_interval() {
        for release in [Release::Gate, Release::Timer, Release::Slots, Release::Queue] {
            let mut pacer = Pacer::new(release, false);
            let spaced = [0, 10_000, 20_000, 30_000].map(at);
            assert_eq!(departures(&mut pacer, 0, every(10_000), 4), spaced, "{release:?}");
        }
    }

    #[test]
    fn nothing_waits_without_an_interval() {
        for release in [Release::Gate, Release::Timer, Release::Slots, Release::Queue] {
            let mut pacer = Pacer::new(release, true);
            assert_eq!(departures(&mut pacer, 5, None, 3), [at(5); 3], "{release:?}");
            assert_eq!(pacer.next_timeout(), None);
        }
    }

    /// A gate applies the interval in force when the earlier segment left. A segment that passes the gate under a
    /// shorter interval does not shorten the wait of others.
    ///
    /// ```text
    /// ms        0        4          10
    /// interval  10       2
    /// sent      a        (again)    b
    /// ```
    #[test]
    fn a_gate_keeps_the_longest_wait() {
        let mut pacer = Pacer::new(Release::Gate, false);
        assert_eq!(departures(&mut pacer, 0, every(10_000), 1), [at(0)]);
        assert_eq!(pacer.admit(at(4_000), every(2_000), false), Admission::Now, "a retransmission goes past");
        pacer.departed(at(4_000), every(2_000));
        assert_eq!(pacer.admit(at(4_000), every(2_000), true), Admission::At(at(10_000)));
        let mut strict = Pacer::new(Release::Gate, true);
        strict.departed(at(0), every(10_000));
        assert_eq!(strict.admit(at(4_000), every(2_000), false), Admission::At(at(10_000)), "unless it waits as well");
    }

    /// A gate that has been open for a long time lets one segment through, not as many as would have fitted.
    #[test]
    fn an_idle_gate_saves_nothing_up() {
        let mut pacer = Pacer::new(Release::Gate, false);
        pacer.departed(at(0), every(10_000));
        assert_eq!(departures(&mut pacer, 95_000, every(10_000), 2), [at(95_000), at(105_000)]);
    }

    /// A tick that may send nothing passes unused, and later segments wait for the next one; a timer that finds nothing
    /// to send at all stops.
    ///
    /// ```text
    /// ms      0    10       20   25   30   40
    /// tick    |    |        |         |    |
    /// sent    a    (closed) b              (nothing left)
    /// asks                       c -> 30
    /// ```
    #[test]
    fn slots_stay_on_their_raster() {
        let (interval, mut pacer) = (every(10_000), Pacer::new(Release::Slots, false));
        assert_eq!(departures(&mut pacer, 0, interval, 1), [at(0)]);
        assert_eq!(pacer.tick(at(10_000), interval, true), Tick::Slot);
        pacer.pass_slot();
        assert_eq!(pacer.admit(at(12_000), interval, true), Admission::At(at(20_000)), "the slot has passed");
        assert_eq!(departures(&mut pacer, 12_000, interval, 1), [at(20_000)]);
        assert_eq!(pacer.admit(at(25_000), interval, false), Admission::At(at(30_000)), "sent before or not");
        assert_eq!(departures(&mut pacer, 25_000, interval, 1), [at(30_000)]);
        assert_eq!(pacer.tick(at(40_000), interval, false), Tick::Nothing);
        assert_eq!(pacer.next_timeout(), None);
        assert_eq!(departures(&mut pacer, 47_000, interval, 2), [at(47_000), at(57_000)], "a new raster");
    }

    /// A timer stopped by a closed window lets the first segment leave at once, which restarts it; otherwise that
    /// segment would have waited until 30 ms.
    ///
    /// ```text
    /// ms      0    10        25   35
    /// timer   |    | (stop)       |
    /// sent    a              b    c
    /// ```
    #[test]
    fn a_stopped_timer_waits_for_nobody() {
        let (interval, mut pacer) = (every(10_000), Pacer::new(Release::Timer, false));
        assert_eq!(departures(&mut pacer, 0, interval, 1), [at(0)]);
        assert_eq!(pacer.tick(at(10_000), interval, true), Tick::Slot);
        pacer.pass_slot();
        pacer.stop();
        assert_eq!(departures(&mut pacer, 25_000, interval, 2), [at(25_000), at(35_000)]);
    }

    /// The next tick follows from the interval in force at this one. An interval shorter than a preamble is rounded up;
    /// once there is none, the timer releases everything.
    #[test]
    fn ticks_follow_the_interval() {
        let mut pacer = Pacer::new(Release::Slots, false);
        assert_eq!(departures(&mut pacer, 0, every(10_000), 1), [at(0)]);
        assert_eq!(pacer.tick(at(10_000), every(3_000), true), Tick::Slot);
        assert_eq!(pacer.next_timeout(), Some(at(13_000)));
        assert_eq!(pacer.tick(at(13_000), every(1), true), Tick::Slot);
        assert_eq!(pacer.next_timeout(), Some(at(13_020)));
        assert_eq!(pacer.tick(at(13_020), None, true), Tick::Everything);
        assert_eq!(pacer.next_timeout(), None);
    }

    /// A sender that stops also stops its timer.
    #[test]
    fn a_stopped_pacer_is_silent() {
        for release in [Release::Gate, Release::Timer, Release::Slots] {
            let mut pacer = Pacer::new(release, false);
            assert_eq!(departures(&mut pacer, 0, every(10_000), 1), [at(0)]);
            let waits = pacer.admit(at(1_000), every(10_000), true);
            assert_eq!((waits, pacer.next_timeout()), (Admission::At(at(10_000)), Some(at(10_000))));
            pacer.stop();
            assert_eq!(pacer.next_timeout(), None);
            assert_eq!(pacer.tick(at(10_000), every(10_000), true), Tick::Nothing);
        }
    }

    /// Four segments 8 ms apart after a pause, by a clock that ticks every 10 ms. Kept on average they are due at 94,
    /// 102, 110 and 118 ms: the pause saves nothing up.
    ///
    /// ```text
    /// ms       90   100  110  120
    /// up        a   b    c    d        one a tick
    /// down      abcd                   8 ms are no tick at all
    /// carry     a        bc   d
    /// ```
    #[test]
    fn a_gate_keeps_its_clock() {
        let leaves = |rounding| {
            let clock = PacingClock { tick: Dur::from_millis(10), rounding };
            let mut pacer = Pacer::new(Release::Gate, false).with_clock(clock);
            pacer.departed(at(0), every(8_000));
            departures(&mut pacer, 94_000, every(8_000), 4)
        };
        assert_eq!(leaves(Rounding::Up), [94_000, 100_000, 110_000, 120_000].map(at));
        assert_eq!(leaves(Rounding::Down), [at(94_000); 4]);
        assert_eq!(leaves(Rounding::Carry), [94_000, 110_000, 110_000, 120_000].map(at));
    }

    /// A segment is due at 8 ms, and the clock ticks every 10 ms. If the segment leaves less than a tick late, the next
    /// one is due at 16 ms; otherwise 8 ms after it has left.
    #[test]
    fn a_clock_makes_nothing_late_by_a_whole_tick() {
        let next = |leaves| {
            let clock = PacingClock { tick: Dur::from_millis(10), rounding: Rounding::Carry };
            let mut pacer = Pacer::new(Release::Gate, false).with_clock(clock);
            pacer.departed(at(0), every(8_000));
            pacer.departed(at(leaves), every(8_000));
            pacer.admit(at(leaves), every(8_000), true)
        };
        assert_eq!(next(17_999), Admission::At(at(20_000)));
        assert_eq!(next(18_000), Admission::At(at(30_000)));
    }
}
