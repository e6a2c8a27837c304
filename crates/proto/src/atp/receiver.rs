//! The receiver: puts the stream in order, averages the delays reported by packets, and sends feedback once per epoch.
//!
//! Feedback also answers a probe, at once and with that probe's delay alone, since quick start asks for the present
//! state of the path. Ours: a receiver that gets nothing for three epochs stays silent until something arrives. By then
//! its sender is probing, or has sent everything, so no packet is needed to end a stream.

use super::{Config, micros};
use crate::wire::{AtpData, AtpFeedback};
use arrayvec::ArrayVec;
use fourhop_units::{Dur, Seq, Time};

/// Epochs without data after which no feedback is sent.
const SILENT_AFTER: u32 = 3;

/// Actions for the driver.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outcome {
    /// Bytes handed to the application, in order.
    pub delivered: u64,
    /// Feedback for the sender.
    pub feedback: Option<Box<AtpFeedback>>,
}

/// The receiver of one stream. Both `handle_*` calls may change `next_timeout`.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Config,
    /// Bytes delivered.
    complete: u64,
    /// Ranges [first, behind last) beyond that, in order, not adjacent.
    beyond: Vec<(u64, u64)>,
    delay: Option<Dur>,
    /// The newest number, and when it arrived.
    newest: Option<(Seq, Time)>,
    next_number: Seq,
    epoch_ends: Option<Time>,
    /// Consecutive epochs without data.
    silent: u32,
    heard: bool,
}

impl Receiver {
    /// A receiver that has received nothing.
    pub fn new(config: Config) -> Receiver {
        Receiver {
            config,
            complete: 0,
            beyond: Vec::new(),
            delay: None,
            newest: None,
            next_number: Seq::from_wire(0),
            epoch_ends: None,
            silent: 0,
            heard: false,
        }
    }

    /// When [`Receiver::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.epoch_ends
    }

    /// Handles a data packet.
    pub fn handle_data(&mut self, now: Time, data: &AtpData) -> Outcome {
        let delay = Dur::from_micros(u64::from(data.delay_us));
        self.delay = Some(if data.asks { delay } else { self.config.averaged(self.delay, delay) });
        if self.newest.is_none_or(|(newest, _)| data.number.after(newest)) {
            self.newest = Some((data.number, now));
        }
        self.heard = true;
        let before = self.complete;
        self.insert(data.offset, data.offset + u64::from(data.payload));
        let delivered = self.complete - before;
        let next = now + self.config.epoch;
        if data.asks {
            self.epoch_ends = Some(next);
            return Outcome { delivered, feedback: self.feedback(now) };
        }
        self.epoch_ends.get_or_insert(next);
        Outcome { delivered, feedback: None }
    }

    /// Handles the end of an epoch; does nothing if called early.
    pub fn handle_timeout(&mut self, now: Time) -> Outcome {
        let Some(ended) = self.epoch_ends.filter(|&at| at <= now) else { return Outcome::default() };
        self.silent = if core::mem::take(&mut self.heard) { 0 } else { self.silent + 1 };
        if self.silent == SILENT_AFTER {
            (self.epoch_ends, self.silent) = (None, 0);
            return Outcome::default();
        }
        self.epoch_ends = Some(ended + self.config.epoch);
        Outcome { delivered: 0, feedback: self.feedback(now) }
    }

    fn insert(&mut self, first: u64, behind: u64) {
        let (mut first, mut behind) = (first.max(self.complete), behind);
        if behind <= first {
            return;
        }
        let from = self.beyond.partition_point(|block| block.1 < first);
        let to = self.beyond.partition_point(|block| block.0 <= behind);
        if from < to {
            (first, behind) = (first.min(self.beyond[from].0), behind.max(self.beyond[to - 1].1));
        }
        self.beyond.splice(from..to, [(first, behind)]);
        if first == self.complete {
            self.complete = behind;
            self.beyond.remove(0);
        }
    }

    fn feedback(&mut self, now: Time) -> Option<Box<AtpFeedback>> {
        let (newest, came) = self.newest?;
        let distance = |place: u64| u32::try_from(place - self.complete).ok();
        // Distances that do not fit cannot come from a sender that keeps to its window.
        let fitting = self.beyond.iter().map_while(|&(first, behind)| Some((distance(first)?, distance(behind)?)));
        let blocks: ArrayVec<_, { crate::wire::SACK_BLOCKS }> = fitting.take(crate::wire::SACK_BLOCKS).collect();
        let number = self.next_number;
        self.next_number += 1;
        Some(Box::new(AtpFeedback {
            number,
            delay_us: micros(self.delay.unwrap_or(Dur::ZERO)),
            complete: self.complete,
            blocks,
            newest,
            waited_us: micros(now.saturating_since(came)),
        }))
    }

    /// Whether the ages of bytes are recorded.
    pub fn records_ages(&self) -> bool {
        self.config.delivery_ages
    }
}
