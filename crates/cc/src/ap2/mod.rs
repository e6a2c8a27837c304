//! AP2: adaptive pacing for radios that aggregate frames and for those that do not. docs/ap2.md derives it.
//!
//! Source: our own. Like TCP-AP (ElRakabawy et al. 2005) it counts hops and spaces segments. The window follows FAST
//! (Jin, Wei, Low 2004), with a backlog that consists of a time and a few segments. Once per round trip
//!
//! ```text
//! next = window * least / mean + own + rate * target
//! ```
//!
//! where `least` and `mean` are round trips and `rate` is the delivery rate. In equilibrium the round trip is `least +
//! target + own / rate`.
//!
//! | term | with aggregates | without |
//! |---|---|---|
//! | `target` | 10 ms plus 10 ms per hop, at most 50 ms, and at most two `gaps` | none |
//! | `own` | a tenth of the link's Mbit/s in segments, at most 4, or 6 on a wire | nine tenths of a segment |
//! | segments leave | in bursts of three tenths of the window, four windows per round trip (behind a wire two) | one by one, 1.2 windows per round trip |
//!
//! A receiver that delays acknowledgements waits for a second segment: without aggregates, `own` is then one more, and
//! segments leave in pairs. The receiver's wait is not part of a round trip (`receiver`).
//!
//! The window falls at once but rises only half the way, and by no more than arrives. A single loss changes nothing,
//! because fades lose segments. A round that loses an eighth of its segments takes an eighth off the window, and so
//! does a time-out on a radio; behind a wire a time-out halves the window. If losses persist at the window that AP2
//! aims for, the queue is shorter than the target, which becomes shorter as well (`room`).
//!
//! Beside senders that fill the queue until it overflows, it does the same (`rivals`). If it is not sure that they are
//! there, it tries whether a larger window carries more (`trial`). If the shortest round trip has not been seen for
//! long, it drains the queue to measure it (`base`).
//!
//! State is kept in microseconds and in segments with 16 binary digits of fraction.

mod base;
mod gaps;
mod path;
mod receiver;
mod rivals;
mod room;
#[cfg(test)]
mod tests;
mod trial;

use crate::rate::{Bandwidth, Lost, RateSample};
use crate::{Ack, CaState, Cause, CongestionControl, Hint, MAX_SAMPLE, Measurements, Params, View, Window};
use base::Phase;
use fourhop_units::{Dur, Time};
use path::{Path, Round};
use rivals::{CUT_LEAVES, LOSS_LEAVES, Rivals, SENDERS, SENDERS_WIRED};
use room::Room;
use trial::Trial;

/// One segment.
const ONE: u64 = Window::ONE as u64;
/// Largest window in segments: more than 2^30 bytes, the limit of RFC 7323, in segments of 1,024 bytes.
const MOST: u64 = ONE << 20;
/// Largest first window in segments, which is not paced (RFC 6928), and its limit on radios that do not aggregate: with
/// more, a short path would build a queue before it is known.
const FIRST: u32 = 10;
const FIRST_SINGLE: u64 = 4 * ONE;

/// `target`: microseconds per hop, plus those of one hop, and the maximum.
const TARGET_HOP: u64 = 10_000;
const TARGET_MOST: u64 = 50_000;
/// The target is at most this many gaps between acknowledgements.
const TARGET_GAPS: u64 = 2;
/// `own`: the bit rate that brings one segment, and the maximum if the first link is a radio or a wire.
const RATE_OF_ONE: u64 = 10_000_000;
const OWN_MOST: u64 = 4 * ONE;
const OWN_MOST_WIRED: u64 = 6 * ONE;
/// `own` on radios that do not aggregate.
const OWN_SINGLE: u64 = ONE * 9 / 10;

/// Percentage of the window that leaves together, and windows per round trip in per cent: with aggregates, the same
/// behind a wire after slow start, and without aggregates.
const BURST: u64 = 30;
const GAIN_BURSTS: u64 = 400;
const GAIN_WIRED: u64 = 200;
const GAIN_SINGLE: u64 = 120;

/// If the window would grow by less than this share, the path is full: slow start ends.
const STARTUP_GROWTH: u64 = 30;
/// RFC 8511 section 3: percentage of the window kept after a mark.
const MARK_LEAVES: u64 = 80;
/// A round that loses more than one segment in this many takes the same share off the window; the percentage that this
/// leaves.
const LOSS_SHARE: u64 = 8;
const MANY_LEAVE: u64 = 87;
/// Percentage of the window kept after a time-out behind a wire. We think that on a radio a time-out is usually due to
/// a fade.
const TIMEOUT_LEAVES: u64 = 50;
/// A queue behind a wire that loses that many is short. As long as it loses any within this time, a loss cuts as much
/// as CUBIC's, the window grows by a segment per round, and segments leave one by one.
const LOSSY: Dur = Dur::from_secs(2);

/// The window of a drain: percentage of the path's capacity; beside others also at most a quarter of the window.
const DRAIN: u64 = 75;
const DRAIN_BESIDE: u64 = 4;
/// Percentage of AP2's own queue that a drain may leave.
const SHORT: u64 = 40;
/// Radios that aggregate need at most this many microseconds per hop without a queue. They carry at least this part of
/// the first link's rate, divided by the number of hops that share the air, at most the third constant.
const PATH_HOP: u64 = 10_000;
const CARRIES: u64 = 3;
const SHARE_AIR: u64 = 4;
/// Bits of a segment.
const BITS: u64 = 12_000;
/// Allowance for AP2's own queue on radios without aggregates, in microseconds.
const QUEUE_SINGLE: u64 = 100_000;
/// Beside others the window grows per round by a segment and by this part of itself; by the larger part up to the rate
/// to be kept up. With long round trips it grows by their share of this time, in microseconds.
const GROWTH_OVER: u64 = 2_000_000;
const GROWTH_BESIDE: u64 = 32;
const REGAIN: u64 = 8;

/// A part of the algorithm that an experiment disables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Without {
    /// Nothing is disabled.
    Nothing,
    /// The target ignores hops: it is always at its maximum.
    Hops,
    /// The target ignores the gaps between acknowledgements.
    Gaps,
    /// Segments leave one by one.
    Bursts,
    /// Bursts leave as soon as the window has room.
    Pacing,
    /// The window falls only half the way, as it grows.
    QuickFall,
    /// Any loss in a round takes an eighth off the window.
    Patience,
    /// Radios without aggregates are treated like those with aggregates.
    Radios,
    /// It gives way to all senders that fill a queue.
    Rivalry,
    /// A queue that overflows early does not shorten the target.
    Room,
}

/// AP2's state.
#[derive(Clone, Copy, Debug)]
pub struct Ap2 {
    without: Without,
    path: Path,
    window: u64,
    /// The target towards which the window grows as segments arrive.
    goal: u64,
    slow_start: bool,
    /// Whether the first window is still in flight.
    first: bool,
    rivals: Rivals,
    room: Room,
    /// When a round last lost many segments, and whether that still matters.
    lost_at: Time,
    lossy: bool,
}

impl Ap2 {
    /// Reads `ap2_without`.
    pub fn new(params: &Params) -> Ap2 {
        let (path, rivals) = (Path::new(), Rivals::new());
        let without = params.ap2_without;
        Ap2 {
            without,
            path,
            window: ONE,
            goal: ONE,
            slow_start: true,
            first: true,
            rivals,
            room: Room::new(TARGET_MOST),
            lost_at: Time::ZERO,
            lossy: false,
        }
    }

    /// Whether it assumes radios that put several packets in a frame.
    pub fn has_aggregates(&self) -> bool {
        self.without == Without::Radios || self.path.has_aggregates()
    }

    /// Smoothed round trip (RFC 6298), excluding the receiver's waits for a second segment.
    pub fn smoothed(&self) -> Option<Dur> {
        (self.path.smoothed > 0).then(|| Dur::from_micros(self.path.smoothed))
    }

    /// Backlog beyond the pipe; the same at any rate, so that flows on one path converge to equal shares.
    fn own(&self) -> u64 {
        match self.has_aggregates() {
            true => {
                let most = if self.path.is_radio { OWN_MOST } else { OWN_MOST_WIRED };
                (self.path.link * ONE / RATE_OF_ONE).clamp(ONE, most)
            }
            // One more, for which the receiver waits.
            false if self.path.receiver.delays_acks() => OWN_SINGLE + ONE,
            false => OWN_SINGLE,
        }
    }

    /// The mean gap between acknowledgements, in microseconds.
    fn gap(&self) -> Option<u64> {
        self.path.gaps.mean().filter(|_| self.without != Without::Gaps)
    }

    /// The longest target, in microseconds.
    fn target_most(&self) -> u64 {
        let micros = match (self.has_aggregates(), self.without != Without::Hops) {
            (false, _) => 0,
            (true, true) => (TARGET_HOP * (u64::from(self.path.hops) + 1)).min(TARGET_MOST),
            (true, false) => TARGET_MOST,
        };
        // Behind a wire there may be no frames of several segments. There, a queue longer than the path would starve
        // BBR, whose window is twice the path's capacity plus what arrives together.
        let most = match self.path.is_radio {
            true => u64::MAX,
            false => self.path.base.least().max(TARGET_GAPS * self.gap().unwrap_or(0)),
        };
        micros.min(most).min(self.room.most())
    }

    /// The time that AP2's queue may last: on a radio no longer than two gaps.
    fn target(&self) -> Dur {
        let frames = self.gap().filter(|_| self.path.is_radio).map_or(u64::MAX, |gap| TARGET_GAPS * gap);
        Dur::from_micros(self.target_most().min(frames))
    }

    /// The window that AP2 aims for at this mean round trip.
    fn next(&self, rtt: u64) -> u64 {
        self.pipe(rtt) + self.own() + self.path.rate.fixed_in(self.target())
    }

    /// The part of the window that the path holds without a queue at this mean round trip.
    fn pipe(&self, rtt: u64) -> u64 {
        self.window * self.path.base.least().min(rtt) / rtt
    }

    /// The round trip in microseconds with this queue on top of the target. Behind a wire a queue that overflows can be
    /// shorter than the target, so after a loss only half of the target counts.
    fn with_queue(&self, queue: u64) -> u64 {
        let single = if self.has_aggregates() { 0 } else { QUEUE_SINGLE };
        let parts = if self.rivals.is_lossy() && !self.path.is_radio { 2 } else { 1 };
        self.path.base.least() + self.target_most() / parts + single + queue
    }

    /// The queue of that many senders of AP2 on a link of this rate.
    fn queue_of(&self, senders: u64, link: Bandwidth) -> u64 {
        self.rivals.queue(senders * self.own(), link, self.path.is_radio)
    }

    /// The round trip above which the queue must be due to others.
    fn bound(&self) -> u64 {
        self.with_queue(self.queue_of(SENDERS, self.path.most()))
    }

    /// The round trip above which the queue may be due to others: radios are no explanation, or the wire is faster than
    /// AP2 is. The shortest round trip can contain that queue as well, and beside others the highest recent rate is
    /// low.
    fn suspected(&self) -> u64 {
        if !self.path.is_radio || !self.has_aggregates() {
            return self.bound().min(self.with_queue(self.queue_of(SENDERS_WIRED, self.path.capacity())));
        }
        let hops = u64::from(self.path.hops);
        let least = self.path.base.least();
        let sure = if self.rivals.has_proven(least) { least } else { least.min(PATH_HOP * hops) };
        let carried = self.path.link / (CARRIES * hops.min(SHARE_AIR)).max(1);
        let theirs = SENDERS * self.own() * (BITS * 1_000_000 / carried.max(1)) / ONE;
        self.bound().min(sure + self.target_most() + theirs)
    }

    /// Whether a drain has left so little of the queue that nobody else fills it. CUBIC's queue is shortest just then.
    fn is_short(&self, drained: u64, bound: u64) -> bool {
        let least = self.path.base.least().min(bound);
        drained <= least + bound.saturating_sub(least) * SHORT / 100
    }

    fn end_round(&mut self, now: Time, round: &Round) {
        self.first = false;
        let mut next = self.next(round.mean);
        let many = match self.without {
            Without::Patience => round.lost > 0,
            _ => round.lost * LOSS_SHARE > round.delivered || self.lossy && round.lost > 0,
        };
        if self.slow_start && next * 100 >= self.window * (100 + STARTUP_GROWTH) && !many {
            self.goal = (2 * self.window).min(MOST);
            return;
        }
        if self.slow_start {
            self.slow_start = false;
            self.rivals.begin(now);
        }
        if self.has_less_room(now, round, next) {
            next = self.next(round.mean);
        }
        self.rivals.note_losses(round.lost);
        let bound = self.suspected();
        let phase = self.path.base.end_round(now, round.least, self.rivals.are_near(now));
        if self.without != Without::Rivalry {
            match phase {
                Phase::Drained(least) if self.rivals.are_present() && self.is_short(least, bound) => {
                    self.rivals.leave(now);
                }
                _ => {
                    let trial = (round.least <= self.bound()).then(|| Trial::new(self.window, round.mean));
                    self.rivals.judge(now, round.least > bound, self.path.most(), trial);
                }
            }
        }
        match phase {
            Phase::Drain => {}
            _ if self.rivals.are_present()
                && !self.rivals.tries_in_vain(now, self.window, round.mean, self.path.base.least()) =>
            {
                self.contend(round, next);
            }
            _ => self.follow(now, next, many),
        }
    }

    /// Ends a round after which AP2 aims for a window of `next`. Returns whether the queue has less room than was
    /// known. Behind a wire `lossy` takes care of short queues.
    fn has_less_room(&mut self, now: Time, round: &Round, next: u64) -> bool {
        if !self.path.is_radio || !self.has_aggregates() || self.without == Without::Room {
            return false;
        }
        let overflows = round.lost > 0 && next * 10 >= self.window * 9 && !self.rivals.are_present();
        self.room.end_round(now, overflows, round.mean.saturating_sub(self.path.base.least()))
    }

    /// Moves the window towards `next`.
    fn follow(&mut self, now: Time, mut next: u64, many_lost: bool) {
        if many_lost {
            let kept = if self.lossy { LOSS_LEAVES } else { MANY_LEAVE };
            next = next.min(self.window * kept / 100);
            self.lost_at = now;
        }
        let just_lost = many_lost || self.lossy && now.saturating_since(self.lost_at) < LOSSY;
        self.lossy = just_lost && !self.path.is_radio;
        if next < self.window {
            let way = if self.without == Without::QuickFall { 2 } else { 1 };
            self.shrink(self.window - (self.window - next) / way);
        } else {
            let most = if self.lossy { ONE } else { MOST };
            self.goal = (self.window + ((next - self.window) / 2).min(most)).min(MOST);
        }
    }

    /// Others fill the queue: the window grows until it overflows, then backs off as CUBIC does.
    fn contend(&mut self, round: &Round, next: u64) {
        let floor = self.rivals.floor(round.mean);
        if self.rivals.cuts(round.lost) {
            if self.window < floor {
                self.rivals.keep_less();
            }
            self.shrink(self.window * CUT_LEAVES / 100);
            // If they contend only with each other, all of them drain now, and notice it.
            return self.path.base.drain();
        }
        let mut step = ONE + self.window / GROWTH_BESIDE;
        step = step.max(self.window * round.mean.min(GROWTH_OVER / 2) / GROWTH_OVER);
        step = step.max((self.window / REGAIN).min(floor.saturating_sub(self.window)));
        step = step.max(next.saturating_sub(self.window) / 2);
        self.goal = (self.window + step).min(MOST);
    }

    fn shrink(&mut self, window: u64) {
        self.window = window.max(ONE);
        self.goal = self.window;
    }

    fn segments(fixed: u64) -> u32 {
        ((fixed + ONE / 2) / ONE) as u32
    }

    fn apply(&self, win: &mut Window) {
        win.set_cwnd(Ap2::segments(self.window));
        let beside = self.rivals.are_present();
        if self.path.base.is_draining() {
            let pipe = self.pipe(self.path.smoothed.max(1)) * DRAIN / 100;
            let drained = if beside { pipe.min(self.window / DRAIN_BESIDE) } else { pipe };
            win.set_cwnd(Ap2::segments(drained).min(win.cwnd));
        }
        // A single segment would wait for the receiver's timer, and its round trip would be no sample of the path.
        let in_pairs = match self.has_aggregates() {
            true => self.path.receiver.waits(),
            false => self.path.receiver.delays_acks(),
        };
        if in_pairs {
            win.set_cwnd(win.cwnd.max(2));
        }
        // A burst would meet a full queue.
        let in_bursts = self.has_aggregates() && !beside && !self.lossy && self.without != Without::Bursts;
        let burst = match in_bursts {
            true if self.slow_start => 1,
            true => Ap2::segments(self.window * BURST / 100),
            false if in_pairs && !self.has_aggregates() => 2,
            false => 1,
        };
        win.burst = burst.clamp(1, win.cwnd);
        let gain = match in_bursts {
            true if self.slow_start || self.path.is_radio => GAIN_BURSTS,
            true => GAIN_WIRED,
            false => GAIN_SINGLE,
        };
        if self.path.smoothed > 0 {
            let nanos = self.path.smoothed * 1_000 * ONE / self.window * 100 / gain;
            // Linux does not pace the first ten segments of a connection either.
            let clocked = self.without == Without::Pacing || in_bursts && self.first;
            win.pacing = Some(Dur::from_nanos(if clocked { 1 } else { nanos.max(1) }));
        }
    }
}

impl CongestionControl for Ap2 {
    const OWNS_WINDOW: bool = true;

    fn name(&self) -> &'static str {
        "ap2"
    }

    fn init(&mut self, win: &mut Window, view: &View) {
        self.shrink(u64::from(win.cwnd.min(FIRST)) * ONE);
        self.path.begin(view);
        self.apply(win);
    }

    /// The model uses delivery samples, not acknowledgements.
    fn on_ack(&mut self, _win: &mut Window, _view: &View, _ack: &Ack) {}

    fn on_rate(&mut self, win: &mut Window, view: &View, sample: &RateSample) {
        if let Some(round) = self.path.take(view.now, sample, self.slow_start) {
            self.end_round(view.now, &round);
        }
        let in_use = u64::from(sample.tx_in_flight) * ONE;
        if sample.cwnd_limited || in_use >= self.window / 4 * 3 {
            let arrived = u64::from(sample.newly_acked) * ONE;
            self.window = self.goal.min(self.window + arrived).max(self.window);
        }
        self.apply(win);
    }

    fn on_lost(&mut self, _win: &mut Window, _view: &View, _lost: &Lost) {
        self.path.lost += 1;
    }

    fn on_mark(&mut self, win: &mut Window, _view: &View, _mark: &Lost) {
        self.slow_start = false;
        self.shrink(self.window * MARK_LEAVES / 100);
        self.apply(win);
    }

    fn on_restart(&mut self, _win: &mut Window, view: &View) {
        self.path.base.rest(view.now);
        self.rivals.begin(view.now);
    }

    /// The stack calls this, but ignores the answer.
    fn ssthresh(&mut self, win: &Window, _view: &View, _cause: Cause) -> u32 {
        win.ssthresh
    }

    fn on_state(&mut self, win: &mut Window, view: &View, state: CaState) {
        if state == CaState::Loss {
            self.slow_start = false;
            let kept = if self.path.is_radio { MANY_LEAVE } else { TIMEOUT_LEAVES };
            self.shrink((self.window * kept / 100).max(2 * ONE));
            win.set_cwnd(view.in_flight.saturating_add(1).min(Ap2::segments(self.window)));
            win.burst = 1;
        }
    }

    fn on_hint(&mut self, win: &mut Window, _view: &View, hint: Hint) {
        match hint {
            Hint::HopCount(hops) => self.path.hops = hops.clamp(1, 255),
            // 2^36 bit/s, which fits in 64 bits in units of a segment.
            Hint::LinkRate(rate) => (self.path.link, self.path.is_radio) = (rate.bps().min(1 << 36), true),
            _ => {}
        }
        if self.first && !self.has_aggregates() {
            self.shrink(self.window.min(FIRST_SINGLE));
            self.apply(win);
        }
    }

    fn measurements(&self) -> Measurements {
        let rtt = (self.path.newest > 0).then(|| Dur::from_micros(self.path.newest).min(MAX_SAMPLE));
        Measurements { rtt, ..Measurements::default() }
    }
}
