//! A flow into the mesh with AP2's window (`fourhop_cc::ap2`): the gateway is its sender on the wireless side.
//!
//! Data leaves in bursts as soon as the window has room, and waits here otherwise; `window` prevents the wired sender
//! from sending much more than that. AP2's inputs are derived from passing packets:
//!
//! | input | source |
//! |---|---|
//! | delivered | acknowledged bytes, all up to the highest SACK block; without SACK a duplicate is a segment (RFC 5681) |
//! | lost | data that passes again |
//! | a round | the acknowledgement of data that left after the last round ended |
//!
//! If nothing is acknowledged for [`SILENCE`] round trips, data in flight is considered lost. Otherwise the sender's
//! retransmissions would queue behind data that waits for their acknowledgement.

use fourhop_cc::ap2::{Ap2, Without};
use fourhop_cc::rate::{Lost, RateSample};
use fourhop_cc::{CaState, CongestionControl, Hint, Measurements, Params, View, Window};
use fourhop_units::{Dur, Rate, Seq, Time};

/// In smoothed round trips, and the minimum.
const SILENCE: u64 = 3;
const SILENCE_LEAST: Dur = Dur::from_millis(200);
/// Maximum wait aimed for where a frame carries a single packet.
const SINGLE_WAIT: Dur = Dur::from_millis(20);
/// RFC 6298: no round trip is known yet.
const FIRST_SILENCE: Dur = Dur::from_secs(1);

/// Content of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Its number, and the bytes it newly acknowledges.
    pub ack: Seq,
    pub bytes: u32,
    /// Whether it repeats the previous one.
    pub duplicate: bool,
    /// Bytes from its number to the end of the highest SACK block: data missing in between is lost, because links keep
    /// the order, and a receiver that takes dozens of packets at once (GRO) does not acknowledge each.
    pub reach: u32,
    /// Round trip of the segment that triggered it, if known.
    pub rtt: Option<Dur>,
    /// Bytes between it and the newest data that has left.
    pub outstanding: u32,
    /// Largest payload.
    pub mss: u32,
    /// Whether data was waiting for it.
    pub limited: bool,
}

/// AP2 of one flow.
#[derive(Clone, Debug)]
pub struct Windowed {
    ap2: Ap2,
    window: Window,
    /// Whether the path is known. If not, everything passes.
    known: bool,
    /// Minimum time between segments for the sake of other flows, and whether it determined the last burst.
    spacing: Option<Dur>,
    spaced: bool,
    /// Smoothed round trip including the receiver's waits, so that nothing is considered lost while it waits.
    smoothed: Option<Dur>,
    /// Bytes that have arrived, and those of them reported only by duplicates.
    delivered: u64,
    beyond: u32,
    /// Bytes in flight that are considered lost.
    written_off: u32,
    /// End of a segment of the current round, and the segments delivered when it left.
    marker: Option<(Seq, u64)>,
    /// Segments of the current burst that may still leave, and when the next burst may.
    burst_left: u32,
    next: Time,
    /// When something last arrived, or left with nothing in flight.
    heard: Time,
    /// When a packet was last marked.
    marked: Option<Time>,
}

impl Windowed {
    pub fn new(now: Time) -> Windowed {
        // All senders into the mesh are paced by this gateway.
        let mut ap2 = Ap2::new(&Params { ap2_without: Without::Rivalry, ..Params::new() });
        let mut window =
            Window { cwnd: 10, cwnd_cnt: 0, ssthresh: u32::MAX, cwnd_clamp: u32::MAX, pacing: None, burst: 1 };
        ap2.init(&mut window, &view(now, 0, 0));
        Windowed {
            ap2,
            window,
            known: false,
            spacing: None,
            spaced: false,
            smoothed: None,
            delivered: 0,
            beyond: 0,
            written_off: 0,
            marker: None,
            burst_left: 0,
            next: Time::ZERO,
            heard: now,
            marked: None,
        }
    }

    pub fn measurements(&self) -> Measurements {
        self.ap2.measurements()
    }

    /// Records that the node is this many hops away.
    pub fn take_path(&mut self, now: Time, hops: u8, rate: Rate) {
        self.known = true;
        let view = view(now, 0, 0);
        self.ap2.on_hint(&mut self.window, &view, Hint::HopCount(u32::from(hops)));
        self.ap2.on_hint(&mut self.window, &view, Hint::LinkRate(rate));
    }

    /// Sets the minimum long-run time between segments.
    pub fn take_spacing(&mut self, spacing: Option<Dur>) {
        self.spacing = spacing;
    }

    /// Returns the number of segments in flight.
    fn in_flight(&self, outstanding: u32, mss: u32) -> u32 {
        outstanding.saturating_sub(self.beyond.max(self.written_off)).div_ceil(mss.max(1))
    }

    /// Returns the time between segments at which a window leaves per round trip, or the minimum if longer.
    pub fn interval(&self) -> Option<Dur> {
        let smoothed = self.ap2.smoothed().filter(|_| self.known)?;
        let interval = Dur::from_nanos(smoothed.as_nanos() / u64::from(self.window.cwnd));
        Some(self.spacing.map_or(interval, |spacing| spacing.max(interval)))
    }

    /// Where a frame carries a single packet, windows are so short that a sender only 5 ms ahead wastes them: six drawn
    /// gateways of 802.11b carried 11 % less than with this.
    pub fn least_wait(&self) -> Dur {
        if self.ap2.has_aggregates() { Dur::ZERO } else { SINGLE_WAIT }
    }

    /// Returns when the next segment may leave if nothing is acknowledged before, with this many bytes outstanding and
    /// segments waiting; `None`: at once.
    pub fn due(&self, outstanding: u32, waiting: usize, mss: u32) -> Option<Time> {
        if !self.known {
            return None;
        }
        if self.is_full(outstanding, waiting, mss) {
            return Some(self.silent_at().max(if self.burst_left == 0 { self.next } else { Time::ZERO }));
        }
        (self.burst_left == 0).then_some(self.next)
    }

    /// Returns when data in flight is considered lost if nothing is acknowledged before.
    fn silent_at(&self) -> Time {
        let trips = |smoothed: Dur| Dur::from_nanos(SILENCE * smoothed.as_nanos()).max(SILENCE_LEAST);
        self.heard + self.smoothed.map_or(FIRST_SILENCE, trips)
    }

    /// Whether the window has no room for a burst, or for the rest of one.
    fn is_full(&self, outstanding: u32, waiting: usize, mss: u32) -> bool {
        let out = self.in_flight(outstanding, mss);
        let room = match self.burst_left {
            0 => self.window.has_room_for_burst(out, u32::try_from(waiting).unwrap_or(u32::MAX)),
            _ => out < self.window.cwnd,
        };
        self.known && out > 0 && !room
    }

    /// A segment that ends at `end` leaves, with `outstanding` bytes before it; `again` says whether it has left
    /// before.
    pub fn handle_departure(&mut self, now: Time, end: Seq, outstanding: u32, again: bool, mss: u32) {
        if self.is_full(outstanding, 1, mss) && self.silent_at() <= now {
            self.ap2.on_state(&mut self.window, &view(now, 0, mss), CaState::Loss);
            (self.written_off, self.beyond) = (outstanding, 0);
        }
        if self.in_flight(outstanding, mss) == 0 {
            self.heard = now;
        }
        if again {
            let lost = Lost { tx_in_flight: 1, lost: 1, is_app_limited: false, total_delivered: 0 };
            self.ap2.on_lost(&mut self.window, &view(now, 0, mss), &lost);
        }
        self.marker.get_or_insert((end, self.delivered / u64::from(mss.max(1))));
        if self.burst_left == 0 {
            self.burst_left = self.window.burst;
            let (paced, least) = (self.window.pacing.unwrap_or(Dur::ZERO), self.spacing.unwrap_or(Dur::ZERO));
            self.spaced = least > paced;
            self.next = now + Dur::from_nanos(paced.max(least).as_nanos().saturating_mul(u64::from(self.burst_left)));
        }
        self.burst_left -= 1;
    }

    pub fn handle_ack(&mut self, now: Time, acked: &Acked) {
        let mss = acked.mss.max(1);
        self.written_off = self.written_off.saturating_sub(acked.bytes);
        let known = self.beyond.min(acked.bytes);
        self.beyond -= known;
        let mut news = acked.bytes - known;
        let reach = if acked.reach == 0 && acked.duplicate { self.beyond + mss } else { acked.reach };
        let reach = reach.min(acked.outstanding);
        if reach > self.beyond {
            news += reach - self.beyond;
            self.beyond = reach;
        }
        if news > 0 {
            self.heard = now;
        }
        let before = self.delivered / u64::from(mss);
        self.delivered += u64::from(news);
        let total = self.delivered / u64::from(mss);
        if let Some(rtt) = acked.rtt {
            let mean = |smoothed: Dur| Dur::from_nanos((7 * smoothed.as_nanos() + rtt.as_nanos()) / 8);
            self.smoothed = Some(self.smoothed.map_or(rtt, mean));
        }
        let marker = self.marker.take_if(|(end, _)| !acked.ack.before(*end));
        let sample = RateSample {
            has_data: marker.is_some(),
            prior_delivered: marker.map_or(0, |(_, delivered)| delivered),
            newly_acked: u32::try_from(total - before).unwrap_or(u32::MAX),
            total_delivered: total,
            in_flight: self.in_flight(acked.outstanding, mss),
            rtt: acked.rtt,
            // If the spacing is the limit, a larger window would not be used.
            cwnd_limited: acked.limited && !self.spaced,
            ..RateSample::default()
        };
        self.ap2.on_rate(&mut self.window, &view(now, sample.in_flight, mss), &sample);
    }

    /// Whether a packet that has waited this long must be marked. Once per round trip, a packet is marked that has
    /// waited longer than the target plus a round trip: the advertised window did not restrain its sender.
    pub fn marks(&mut self, now: Time, waited: Dur, target: Dur) -> bool {
        let rest = self.smoothed.unwrap_or(FIRST_SILENCE);
        let due = waited > target + rest && self.marked.is_none_or(|at| now >= at + rest);
        if due {
            self.marked = Some(now);
        }
        due
    }
}

fn view(now: Time, in_flight: u32, mss: u32) -> View {
    View {
        now,
        in_flight,
        window: u32::MAX,
        snd_wnd: u32::MAX,
        mss,
        srtt: None,
        min_rtt: None,
        rto: FIRST_SILENCE,
        state: CaState::Open,
    }
}
