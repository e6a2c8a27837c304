//! A flow into the mesh with AP2's window (`fourhop_cc::ap2`): the gateway is its sender on the wireless side.
//!
//! Data leaves in bursts as long as the window has room, and waits here otherwise; `window` keeps the wired sender from
//! sending much more than that. AP2's inputs come from passing packets:
//!
//! | what | from |
//! |---|---|
//! | delivered | acknowledged bytes, all up to the highest SACK block; without SACK a duplicate is a segment (RFC 5681) |
//! | lost | data that passes again |
//! | a round | the acknowledgement of data that left after the last round ended |
//!
//! If nothing is acknowledged for [`SILENCE`] round trips, what is in flight is taken for lost. Otherwise the sender's
//! retransmissions would wait behind data that waits for their acknowledgement.

use fourhop_cc::ap2::{Ap2, Without};
use fourhop_cc::rate::{Lost, RateSample};
use fourhop_cc::{CaState, CongestionControl, Hint, Measurements, Params, View, Window};
use fourhop_units::{Dur, Rate, Seq, Time};

/// Smoothed round trips, and at least so long.
const SILENCE: u64 = 3;
const SILENCE_LEAST: Dur = Dur::from_millis(200);
/// Longest wait that is aimed at where frames carry one packet.
const SINGLE_WAIT: Dur = Dur::from_millis(20);
/// RFC 6298's: no round trip is known yet.
const FIRST_SILENCE: Dur = Dur::from_secs(1);

/// News of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Its number, and the bytes that it newly acknowledges.
    pub ack: Seq,
    pub bytes: u32,
    /// Does it repeat the one before it?
    pub duplicate: bool,
    /// Bytes from there to the end of the highest SACK block: what is missing between is lost, because links keep the
    /// order, and a receiver that takes packets by dozens (GRO) does not answer each.
    pub reach: u32,
    /// Round trip of the segment that caused it, if that is known.
    pub rtt: Option<Dur>,
    /// Bytes between it and the newest data that has left.
    pub outstanding: u32,
    /// Largest payload.
    pub mss: u32,
    /// Did data wait for it?
    pub limited: bool,
}

/// AP2 of one flow.
#[derive(Clone, Debug)]
pub struct Windowed {
    ap2: Ap2,
    window: Window,
    /// Is the path known? Otherwise everything passes.
    known: bool,
    /// Least time between segments, for the sake of others, and did the last burst have to keep it?
    spacing: Option<Dur>,
    spaced: bool,
    /// Round trip with the receiver's waits: nothing is taken for lost while it waits.
    smoothed: Option<Dur>,
    /// Bytes that have arrived; of those, bytes that only duplicates report.
    delivered: u64,
    beyond: u32,
    /// Bytes in flight that were taken for lost.
    written_off: u32,
    /// End of a segment of this round, and segments that had been delivered as it left.
    marker: Option<(Seq, u64)>,
    /// Segments of the burst that may still leave, and when the next burst may.
    burst_left: u32,
    next: Time,
    /// When something last arrived or left with nothing in flight.
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

    /// The node is so many hops away.
    pub fn take_path(&mut self, now: Time, hops: u8, rate: Rate) {
        self.known = true;
        let view = view(now, 0, 0);
        self.ap2.on_hint(&mut self.window, &view, Hint::HopCount(u32::from(hops)));
        self.ap2.on_hint(&mut self.window, &view, Hint::LinkRate(rate));
    }

    /// Segments keep this distance from now on, in the long run.
    pub fn take_spacing(&mut self, spacing: Option<Dur>) {
        self.spacing = spacing;
    }

    /// Segments in flight.
    fn in_flight(&self, outstanding: u32, mss: u32) -> u32 {
        outstanding.saturating_sub(self.beyond.max(self.written_off)).div_ceil(mss.max(1))
    }

    /// Time between segments at which the window leaves once a round trip, or the least one.
    pub fn interval(&self) -> Option<Dur> {
        let smoothed = self.ap2.smoothed().filter(|_| self.known)?;
        let interval = Dur::from_nanos(smoothed.as_nanos() / u64::from(self.window.cwnd));
        Some(self.spacing.map_or(interval, |spacing| spacing.max(interval)))
    }

    /// Where frames carry one packet, windows are so short that a sender which is 5 ms ahead wastes them: six drawn
    /// gateways of 802.11b carried 11 % less than with this.
    pub fn least_wait(&self) -> Dur {
        if self.ap2.has_aggregates() { Dur::ZERO } else { SINGLE_WAIT }
    }

    /// When the next segment may leave if nothing is acknowledged before, with so many bytes outstanding and segments
    /// waiting; `None`: at once.
    pub fn due(&self, outstanding: u32, waiting: usize, mss: u32) -> Option<Time> {
        if !self.known {
            return None;
        }
        if self.is_full(outstanding, waiting, mss) {
            return Some(self.silent_at().max(if self.burst_left == 0 { self.next } else { Time::ZERO }));
        }
        (self.burst_left == 0).then_some(self.next)
    }

    /// When what is in flight is taken for lost if nothing is acknowledged before.
    fn silent_at(&self) -> Time {
        let trips = |smoothed: Dur| Dur::from_nanos(SILENCE * smoothed.as_nanos()).max(SILENCE_LEAST);
        self.heard + self.smoothed.map_or(FIRST_SILENCE, trips)
    }

    /// Has the window no room for a burst, or for the rest of one?
    fn is_full(&self, outstanding: u32, waiting: usize, mss: u32) -> bool {
        let out = self.in_flight(outstanding, mss);
        let room = match self.burst_left {
            0 => self.window.has_room_for_burst(out, u32::try_from(waiting).unwrap_or(u32::MAX)),
            _ => out < self.window.cwnd,
        };
        self.known && out > 0 && !room
    }

    /// A segment that ends at `end` leaves, with so many bytes outstanding before it; `again`: it has left before.
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
            // Where the distance limits it, more of a window would not be used.
            cwnd_limited: acked.limited && !self.spaced,
            ..RateSample::default()
        };
        self.ap2.on_rate(&mut self.window, &view(now, sample.in_flight, mss), &sample);
    }

    /// Is a packet to be marked that has waited for so long? Once a round trip one that has waited for the target and a
    /// round trip: the advertised window did not keep its sender from that.
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
