//! A sender's knowledge of its path: round trips, delivery rate, and measurements by other layers.

use super::base::Base;
use super::gaps::Gaps;
use super::receiver::{Answer, Receiver};
use crate::rate::{Bandwidth, RateSample};
use crate::{MAX_SAMPLE, View};
use fourhop_units::{Dur, Time};

/// The highest rate covers the last one or two periods of this length.
const MOST_OVER: Dur = Dur::from_secs(10);
/// Time constant of the mean rate, in microseconds.
const RATE_OVER: u64 = 1_000_000;
/// Behind a wire, the spacing of this many segments shows how fast the slowest link is. Acknowledgements that come
/// faster than this show nothing: we think that they waited for each other in a frame or in a network card.
const TRAIN: u32 = 6;
const COMPRESSED: Dur = Dur::from_micros(50);
/// The slowest rate with aggregates, which is HT's (IEEE 802.11-2020, table 19-27), and the faster OFDM and 802.11b
/// rates below 12 Mbit/s without.
const SLOWEST: u64 = 6_500_000;
const SINGLE: [u64; 2] = [9_000_000, 11_000_000];
/// Defaults until the path is known: 802.11n with one antenna at its best, and four hops.
const LINK: u64 = 65_000_000;
const HOPS: u32 = 4;

/// A completed round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Round {
    /// Mean of its samples in microseconds, above zero.
    pub(super) mean: u64,
    /// The shortest of them.
    pub(super) least: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// Times are in microseconds, zero if not measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Bit rate of the first link, and hops, as reported by other layers.
    pub(super) link: u64,
    pub(super) hops: u32,
    /// Whether the first link is known to be a radio.
    pub(super) is_radio: bool,
    pub(super) newest: u64,
    /// RFC 6298's mean, weight 1/8.
    pub(super) smoothed: u64,
    pub(super) rate: Bandwidth,
    /// Segments lost since the round began.
    pub(super) lost: u64,
    sum: u64,
    samples: u64,
    round_at: Time,
    round_delivered: u64,
    round_least: u64,
    pub(super) base: Base,
    most: [Bandwidth; 2],
    most_at: Time,
    /// The highest rates of trains, like `most`, and the train under way.
    speed: [Bandwidth; 2],
    train: u32,
    train_at: Time,
    pub(super) receiver: Receiver,
    pub(super) gaps: Gaps,
}

impl Path {
    pub(super) fn new() -> Path {
        Path {
            link: LINK,
            hops: HOPS,
            is_radio: false,
            newest: 0,
            smoothed: 0,
            rate: Bandwidth::default(),
            lost: 0,
            sum: 0,
            samples: 0,
            round_at: Time::ZERO,
            round_delivered: 0,
            round_least: u64::MAX,
            base: Base::new(),
            most: [Bandwidth::default(); 2],
            most_at: Time::ZERO,
            speed: [Bandwidth::default(); 2],
            train: 0,
            train_at: Time::ZERO,
            receiver: Receiver::new(),
            gaps: Gaps::new(),
        }
    }

    pub(super) fn begin(&mut self, view: &View) {
        (self.round_at, self.most_at) = (view.now, view.now);
        if let Some(srtt) = view.srtt {
            self.smoothed = micros(srtt);
            self.base.note(view.now, self.smoothed);
        }
    }

    /// The highest recent rate.
    pub(super) fn most(&self) -> Bandwidth {
        self.most[0].max(self.most[1])
    }

    /// The rate of the slowest link, as far as segments that left together show it: at least [`Path::most`].
    pub(super) fn capacity(&self) -> Bandwidth {
        self.most().max(self.speed[0]).max(self.speed[1])
    }

    /// Whether its radios aggregate, judging by the first link.
    pub(super) fn has_aggregates(&self) -> bool {
        self.link >= SLOWEST && !SINGLE.contains(&self.link)
    }

    /// Takes an acknowledgement; returns the round that it ends.
    pub(super) fn take(&mut self, now: Time, sample: &RateSample, slow_start: bool) -> Option<Round> {
        if !self.is_radio {
            self.note_train(now, sample.newly_acked);
        }
        if sample.newly_acked > 0 {
            self.gaps.note(now);
        }
        let rtt = sample.rtt.map(micros);
        let (segments, in_flight, least) = (sample.newly_acked, sample.in_flight, self.base.least());
        let counts = self.receiver.take(&Answer { segments, in_flight, rtt, least });
        if let Some(rtt) = rtt.filter(|_| counts) {
            self.note_round_trip(now, rtt, u64::from(segments.clamp(1, 1 << 10)));
        }
        if !sample.has_data || sample.prior_delivered < self.round_delivered {
            return None;
        }
        let took = now.saturating_since(self.round_at);
        let delivered = sample.total_delivered.saturating_sub(self.round_delivered);
        let (mean, least) = (self.sum / self.samples.max(1), self.round_least);
        let round = Round { mean, least, delivered, lost: self.lost };
        let measured = self.samples > 0 && took > Dur::ZERO;
        (self.round_at, self.round_delivered) = (now, sample.total_delivered);
        (self.sum, self.samples, self.lost, self.round_least) = (0, 0, 0, u64::MAX);
        if !measured {
            self.base.end_unmeasured(now);
            return None;
        }
        self.gaps.end_round();
        let rate = Bandwidth::over(u32::try_from(delivered).unwrap_or(u32::MAX), took);
        let time = micros(took);
        self.rate = match slow_start {
            _ if self.rate.is_zero() => rate,
            true => self.rate.towards(rate, 1, 2),
            false => self.rate.towards(rate, time, time + RATE_OVER),
        };
        if now.saturating_since(self.most_at) > MOST_OVER {
            (self.most, self.most_at) = ([self.most[1], Bandwidth::default()], now);
            self.speed = [self.speed[1], Bandwidth::default()];
        }
        self.most[1] = self.most[1].max(self.rate);
        Some(round)
    }

    fn note_train(&mut self, now: Time, acked: u32) {
        self.train = self.train.saturating_add(acked);
        if self.train < TRAIN {
            return;
        }
        let took = now.saturating_since(self.train_at);
        if took >= COMPRESSED * u64::from(self.train) {
            self.speed[1] = self.speed[1].max(Bandwidth::over(self.train, took));
        }
        (self.train, self.train_at) = (0, now);
    }

    fn note_round_trip(&mut self, now: Time, rtt: u64, segments: u64) {
        self.newest = rtt;
        // Samples of less than 2^26 us, counted up to 2^10 times each, and rounds of less than 2^28 acknowledgements.
        if self.samples < 1 << 37 {
            self.sum += rtt * segments;
            self.samples += segments;
        }
        self.smoothed = if self.smoothed == 0 { rtt } else { (7 * self.smoothed + rtt) / 8 };
        self.round_least = self.round_least.min(rtt);
        self.base.note(now, rtt);
    }
}

/// Whole microseconds, at least one, at most [`MAX_SAMPLE`].
pub(super) fn micros(time: Dur) -> u64 {
    (time.min(MAX_SAMPLE).as_nanos() / 1_000).max(1)
}
