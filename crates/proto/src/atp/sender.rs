//! The sender: quick start, one packet per interval of its rate, and the response to missing feedback.
//!
//! ```text
//!            open              feedback: rate = what the path offers
//!   closed ───────► probing ─────────────────────────────────────────► sending ──► feedback: rate of `rate`
//!                     ▲   a probe in each epoch                          │   2 epochs without: half the rate
//!                     └──────────────────────────────────────────────────┘   3 epochs without
//! ```
//!
//! There is no retransmission timer, and no window that reacts to losses: lost data is resent within the rate.
//! Description: what happens after two and three epochs. Ours: an epoch counts as missed half an epoch after its
//! feedback was due.

use super::Config;
use super::rate::PacketRate;
use super::scoreboard::Scoreboard;
use crate::counters::counters;
use crate::wire::{AtpData, AtpFeedback};
use fourhop_units::{Dur, Seq, Time};

/// Epochs without feedback after which the rate is halved.
const HALVED_AFTER: u32 = 2;
/// Epochs without feedback after which the path is probed anew.
const PROBED_AFTER: u32 = 3;

counters! {
    /// Counters of a sender.
    pub struct Stats {
        /// Packets with data, probes and retransmissions included.
        pub packets_sent: u64,
        /// Of those, retransmissions.
        pub packets_retransmitted: u64,
        /// Packets known to have arrived.
        pub packets_acked: u64,
        /// Epochs without feedback.
        pub missed: u64,
        /// Times that the path was probed anew because feedback failed to come.
        pub restarts: u64,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Closed,
    /// With the time of the next probe.
    Probing(Time),
    Sending,
}

/// The sender of one stream.
///
/// Call [`Sender::open`] first, and once. Every call may change `next_timeout`; [`Sender::handle_timeout`] returns at
/// most one packet and is called again until there is none.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    board: Scoreboard,
    phase: Phase,
    rate: PacketRate,
    /// Time of the last transmission.
    sent: Time,
    /// Since when feedback has been awaited, and the epochs that have passed without it.
    heard: Time,
    missed: u32,
    last_feedback: Option<Seq>,
    offered: Option<Dur>,
    rtt: Option<Dur>,
    rtt_samples: (u64, Dur),
    stats: Stats,
}

impl Sender {
    /// A sender with nothing to send, whose transmissions are numbered from `first`.
    pub fn new(config: Config, first: Seq) -> Sender {
        Sender {
            config,
            board: Scoreboard::new(config.mss, first),
            phase: Phase::Closed,
            rate: PacketRate::of_delay(config.epoch),
            sent: Time::ZERO,
            heard: Time::ZERO,
            missed: 0,
            last_feedback: None,
            offered: None,
            rtt: None,
            rtt_samples: (0, Dur::ZERO),
            stats: Stats::default(),
        }
    }

    /// Starts sending this many bytes.
    pub fn open(&mut self, now: Time, bytes: u64) {
        self.board.write(bytes);
        self.phase = Phase::Probing(now);
    }

    /// Takes back data that has not been sent.
    pub fn withdraw_unsent(&mut self) {
        self.board.withdraw_unsent();
    }

    /// When [`Sender::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.phase {
            Phase::Closed => None,
            Phase::Probing(at) => Some(at).filter(|_| self.board.awaits() || self.board.has_next()),
            Phase::Sending => {
                let next = self.board.has_next().then(|| self.sent + self.rate.interval());
                Time::earlier_of(next, self.board.awaits().then(|| self.feedback_missed()))
            }
        }
    }

    /// When the next epoch counts as missed.
    fn feedback_missed(&self) -> Time {
        self.heard + self.config.epoch * u64::from(self.missed + 1) + self.config.epoch / 2
    }

    /// Returns the packet due at `now`, if any; nothing if called early.
    pub fn handle_timeout(&mut self, now: Time) -> Option<AtpData> {
        while self.phase == Phase::Sending && self.board.awaits() && self.feedback_missed() <= now {
            self.feedback_failed(now);
        }
        self.next_timeout().filter(|&at| at <= now)?;
        if !self.board.awaits() {
            // Feedback is awaited from the first packet on.
            (self.heard, self.missed) = (now, 0);
        }
        let (data, again) = match self.phase {
            Phase::Closed => return None,
            Phase::Probing(_) => {
                self.phase = Phase::Probing(now + self.config.epoch);
                self.board.probe(now)?
            }
            Phase::Sending => self.board.next(now)?,
        };
        self.sent = now;
        self.stats.packets_sent += 1;
        self.stats.packets_retransmitted += u64::from(again);
        Some(data)
    }

    fn feedback_failed(&mut self, now: Time) {
        self.missed += 1;
        self.stats.missed += 1;
        match self.missed {
            HALVED_AFTER => self.rate = self.rate.halved(&self.config),
            PROBED_AFTER => {
                self.phase = Phase::Probing(now);
                self.stats.restarts += 1;
            }
            _ => {}
        }
    }

    /// Handles feedback.
    pub fn handle_feedback(&mut self, now: Time, feedback: &AtpFeedback) {
        if self.phase == Phase::Closed || self.last_feedback.is_some_and(|last| !feedback.number.after(last)) {
            return;
        }
        self.last_feedback = Some(feedback.number);
        let news = self.board.handle_feedback(now, feedback, self.config.epoch);
        self.stats.packets_acked += news.arrived;
        if let Some(sent) = news.newest_sent {
            let rtt = now.saturating_since(sent).saturating_sub(Dur::from_micros(u64::from(feedback.waited_us)));
            self.rtt = Some(rtt);
            self.rtt_samples = (self.rtt_samples.0 + 1, self.rtt_samples.1 + rtt);
        }
        let delay = Dur::from_micros(u64::from(feedback.delay_us));
        let offered = PacketRate::of_delay(delay);
        self.offered = Some(delay);
        self.rate = match self.phase {
            Phase::Sending => self.rate.after_feedback(offered, &self.config),
            // Quick start: the path's rate at once.
            Phase::Closed | Phase::Probing(_) => offered.at_least_one_in(self.config.epoch),
        };
        self.phase = Phase::Sending;
        (self.heard, self.missed) = (now, 0);
    }

    /// Time between packets, once the path has reported a rate.
    pub fn interval(&self) -> Option<Dur> {
        self.offered.map(|_| self.rate.interval())
    }

    /// The delay reported by the last feedback.
    pub fn offered(&self) -> Option<Dur> {
        self.offered
    }

    /// The newest round trip, without the wait for feedback at the receiver.
    pub fn rtt(&self) -> Option<Dur> {
        self.rtt
    }

    /// Number and sum of the round trips.
    pub fn rtt_samples(&self) -> (u64, Dur) {
        self.rtt_samples
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Whether the ages of bytes are recorded.
    pub fn records_ages(&self) -> bool {
        self.config.delivery_ages
    }
}
