//! The activity of a station as intervals, derived from its view of the medium at each event.
//!
//! Between two events at a station everything follows from its state at the first: how long it still radiates, when the
//! NAV and the EIFS end, which back-off slots pass. Intervals end at these points; an event that changes nothing ends
//! none.

use fourhop_proto::mac::medium::Sight;
use fourhop_units::{Dur, Time};

/// A completed interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    pub start: Time,
    pub end: Time,
    pub state: &'static str,
    pub slots: Option<u32>,
}

/// Constants of the MAC that determine the back-off.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub difs: Dur,
    pub slot: Dur,
}

/// State of a station at an event.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub sight: Sight,
    /// Whether the receiver is on a frame that it can decode so far.
    pub receiving: bool,
    /// End of the SIFS before its answer to a frame.
    pub sifs_ends: Option<Time>,
}

/// A state, with the remaining slots of a back-off, and its end if nothing else happens.
type Lasting = (Option<(&'static str, Option<u32>)>, Time);
/// Derives the state at an instant from what is known.
type Rule = fn(&Known, Time, Clock) -> Lasting;

/// The medium and the backoff of one station.
#[derive(Debug, Default)]
pub struct Timeline {
    since: Time,
    known: Option<Known>,
    /// The intervals that have not ended: of the medium, and of the back-off.
    open: [Option<Interval>; 2],
}

impl Timeline {
    /// Updates the station's state at `now`; completed intervals go to `out`.
    pub fn handle(&mut self, now: Time, known: Known, clock: Clock, out: &mut impl FnMut(Interval)) {
        self.advance(now, clock, out);
        self.known = Some(known);
    }

    /// Returns the last known SIFS: events of the ear alone neither begin nor end one.
    pub fn sifs_ends(&self) -> Option<Time> {
        self.known?.sifs_ends
    }

    /// Ends all intervals.
    pub fn finish(&mut self, now: Time, clock: Clock, out: &mut impl FnMut(Interval)) {
        self.advance(now, clock, out);
        self.open.iter_mut().filter_map(Option::take).for_each(out);
    }

    fn advance(&mut self, now: Time, clock: Clock, out: &mut impl FnMut(Interval)) {
        let begun = std::mem::replace(&mut self.since, now);
        let Some(known) = self.known else { return };
        for (track, at) in [Known::medium_at as Rule, Known::backoff_at].into_iter().enumerate() {
            let mut start = begun;
            while start < now {
                let (state, end) = at(&known, start, clock);
                let end = end.min(now);
                self.add(track, start, end, state, out);
                start = end;
            }
        }
    }

    fn add(
        &mut self,
        track: usize,
        start: Time,
        end: Time,
        state: Option<(&'static str, Option<u32>)>,
        out: &mut impl FnMut(Interval),
    ) {
        let open = &mut self.open[track];
        match (open.as_mut(), state) {
            (Some(last), Some((state, slots))) if (last.end, last.state, last.slots) == (start, state, slots) => {
                last.end = end;
            }
            _ => {
                let next = state.map(|(state, slots)| Interval { start, end, state, slots });
                std::mem::replace(open, next).into_iter().for_each(out);
            }
        }
    }
}

impl Known {
    /// Returns the state of the medium at `at`, and its end if nothing else happens; no state means idle.
    fn medium_at(&self, at: Time, _: Clock) -> Lasting {
        let Known { sight, receiving, sifs_ends } = self;
        let state = |name| Some((name, None));
        if at < sight.radiates_until {
            (state("transmitting"), sight.radiates_until)
        } else if sight.busy {
            (state(if *receiving { "receiving" } else { "busy" }), Time::NEVER)
        } else if sight.exchange {
            (state("waiting"), Time::NEVER)
        } else if let Some(end) = sifs_ends.filter(|&end| at < end) {
            (state("waiting"), end)
        } else if at < sight.nav {
            (state("nav"), sight.nav)
        } else if let Some(idle) = sight.idle_since.filter(|&idle| at < idle) {
            (state("eifs"), idle)
        } else {
            (None, Time::NEVER)
        }
    }

    /// The same for the back-off; no state means that there is none.
    fn backoff_at(&self, at: Time, clock: Clock) -> Lasting {
        let Some((drawn, slots)) = self.sight.backoff else { return (None, Time::NEVER) };
        let state = |name| Some((name, Some(slots)));
        let Some(idle) = self.sight.idle_since else { return (state("frozen"), Time::NEVER) };
        let counts = idle.max(drawn) + clock.difs;
        let ends = counts + clock.slot * u64::from(slots);
        match () {
            () if at < idle => (state("frozen"), idle),
            () if at < counts => (state("ifs"), counts),
            () if at < ends => (state("counting"), ends),
            () => (None, Time::NEVER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock { difs: Dur::from_micros(50), slot: Dur::from_micros(20) };

    fn at(us: u64) -> Time {
        Time::from_micros(us)
    }

    fn idle(since: u64, backoff: Option<(u64, u32)>) -> Known {
        let sight = Sight {
            busy: false,
            exchange: false,
            radiates_until: Time::ZERO,
            nav: Time::ZERO,
            idle_since: Some(at(since)),
            backoff: backoff.map(|(drawn, slots)| (at(drawn), slots)),
        };
        Known { sight, receiving: false, sifs_ends: None }
    }

    fn busy(receiving: bool, backoff: Option<(u64, u32)>) -> Known {
        let known = idle(0, backoff);
        Known { sight: Sight { busy: true, idle_since: None, ..known.sight }, receiving, ..known }
    }

    fn intervals(events: &[(u64, Known)], end: u64) -> Vec<(&'static str, u64, u64, Option<u32>)> {
        let (mut timeline, mut rows) = (Timeline::default(), Vec::new());
        let mut keep = |row: Interval| {
            rows.push((row.state, row.start.as_nanos() / 1000, row.end.as_nanos() / 1000, row.slots));
        };
        for &(now, known) in events {
            timeline.handle(at(now), known, CLOCK, &mut keep);
        }
        timeline.finish(at(end), CLOCK, &mut keep);
        rows.sort_unstable_by_key(|&(state, start, ..)| (start, state));
        rows
    }

    //  0        100 DIFS 150 20 us a slot  190       400        450 counting 490
    //  | drawn 5 |    ifs   |  2 of 5 pass  | receives | ifs again | the other 3
    #[test]
    fn a_back_off_counts_is_frozen_and_goes_on() {
        let events = [
            (100, idle(0, Some((100, 5)))),
            (191, busy(true, Some((100, 3)))),
            // Meanwhile another copy arrives, and the first is lost.
            (300, busy(false, Some((100, 3)))),
            (400, idle(400, Some((100, 3)))),
        ];
        let expected = [
            ("ifs", 100, 150, Some(5)),
            ("counting", 150, 191, Some(5)),
            ("frozen", 191, 400, Some(3)),
            ("receiving", 191, 300, None),
            ("busy", 300, 400, None),
            ("ifs", 400, 450, Some(3)),
            ("counting", 450, 510, Some(3)),
        ];
        assert_eq!(intervals(&events, 1000), expected);
    }

    #[test]
    fn a_reservation_freezes_and_what_was_not_understood_makes_wait() {
        let reserved = idle(900, Some((0, 1)));
        let reserved = Known { sight: Sight { nav: at(700), ..reserved.sight }, ..reserved };
        let expected = [
            ("frozen", 500, 900, Some(1)),
            ("nav", 500, 700, None),
            ("eifs", 700, 900, None),
            ("ifs", 900, 950, Some(1)),
            ("counting", 950, 970, Some(1)),
        ];
        assert_eq!(intervals(&[(500, reserved)], 2000), expected);
    }

    #[test]
    fn an_event_that_changes_nothing_cuts_nothing() {
        let same = idle(0, Some((0, 9)));
        let once = intervals(&[(0, same)], 300);
        assert_eq!(intervals(&[(0, same), (10, same), (50, same), (77, same), (230, same)], 300), once);
        assert_eq!(once, [("ifs", 0, 50, Some(9)), ("counting", 50, 230, Some(9))]);
    }

    //  100 | waits for its answer 110 | reserved by others 400
    #[test]
    fn a_station_waits_before_its_answer_and_the_ear_alone_does_not_end_that() {
        let answers = idle(0, None);
        let answers = Known { sight: Sight { nav: at(400), ..answers.sight }, sifs_ends: Some(at(110)), ..answers };
        let expected = [("waiting", 100, 110, None), ("nav", 110, 400, None)];
        assert_eq!(intervals(&[(100, answers)], 1000), expected);
        let mut timeline = Timeline::default();
        assert_eq!(timeline.sifs_ends(), None);
        timeline.handle(at(100), answers, CLOCK, &mut |_| {});
        assert_eq!(timeline.sifs_ends(), Some(at(110)));
    }
}
