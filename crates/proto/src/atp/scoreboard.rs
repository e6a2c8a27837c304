//! A sender's segments: arrived, lost, or next to send.
//!
//! Data is cut into packets of equal size, except the last. Each transmission has a number, and feedback names the
//! newest number received. Earlier transmissions that have not arrived are lost (there is no allowance for reordering).
//! Later ones are lost after two epochs in flight; an epoch is longer than a round trip.

use crate::wire::{AtpData, AtpFeedback};
use fourhop_units::{Dur, Seq, Time};
use std::collections::VecDeque;

/// Packets that may be sent beyond the first that has not arrived: as many as a receiver keeps. Ours.
pub const WINDOW: usize = 16_384;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    UnderWay,
    Arrived,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: Seq,
    at: Time,
    state: State,
}

/// Result of feedback.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct News {
    /// Packets now known to have arrived.
    pub arrived: u64,
    /// When the newest transmission received was sent, if still known.
    pub newest_sent: Option<Time>,
}

/// The packets of one stream.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    mss: u64,
    /// Bytes of the stream.
    end: u64,
    /// Number of the first packet of `sent` in the stream.
    base: u64,
    sent: VecDeque<Sent>,
    next_number: Seq,
    lost: usize,
}

impl Scoreboard {
    /// An empty stream, in packets of `mss` bytes, whose first transmission has the number `first`.
    pub fn new(mss: u32, first: Seq) -> Scoreboard {
        let mss = u64::from(mss.max(1));
        Scoreboard { mss, end: 0, base: 0, sent: VecDeque::new(), next_number: first, lost: 0 }
    }

    /// Appends bytes to send; everything written before must have been sent, or be a multiple of the packet size.
    pub fn write(&mut self, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
    }

    /// Takes back data that has not been sent.
    pub fn withdraw_unsent(&mut self) {
        self.end = self.behind(self.sent.len());
    }

    /// Whether anything is outstanding, as far as is known.
    pub fn awaits(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Whether there is something to send now.
    pub fn has_next(&self) -> bool {
        self.lost > 0 || self.has_new()
    }

    fn has_new(&self) -> bool {
        self.sent.len() < WINDOW && self.behind(self.sent.len()) < self.end
    }

    /// Stream position at which the first `count` packets of `sent` end.
    fn behind(&self, count: usize) -> u64 {
        ((self.base + count as u64) * self.mss).min(self.end)
    }

    /// Returns the next packet: lost ones first (description: retransmissions first), then new data. The flag says
    /// whether it has been sent before.
    pub fn next(&mut self, now: Time) -> Option<(AtpData, bool)> {
        let place = match self.lost {
            0 => None,
            _ => self.sent.iter().position(|sent| sent.state == State::Lost),
        };
        place.map(|place| (self.again(now, place), true)).or_else(|| Some((self.new_data(now)?, false)))
    }

    /// Returns a probe: the first packet that has not arrived.
    pub fn probe(&mut self, now: Time) -> Option<(AtpData, bool)> {
        let (data, again) = if self.awaits() { (self.again(now, 0), true) } else { (self.new_data(now)?, false) };
        Some((AtpData { asks: true, ..data }, again))
    }

    fn again(&mut self, now: Time, place: usize) -> AtpData {
        if self.sent[place].state == State::Lost {
            self.lost -= 1;
        }
        let number = self.number();
        self.sent[place] = Sent { number, at: now, state: State::UnderWay };
        self.data(place, number)
    }

    fn new_data(&mut self, now: Time) -> Option<AtpData> {
        self.has_new().then(|| {
            let number = self.number();
            self.sent.push_back(Sent { number, at: now, state: State::UnderWay });
            self.data(self.sent.len() - 1, number)
        })
    }

    fn number(&mut self) -> Seq {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    fn data(&self, place: usize, number: Seq) -> AtpData {
        let (offset, behind) = (self.behind(place), self.behind(place + 1));
        AtpData {
            number,
            offset,
            payload: (behind - offset) as u32,
            asks: false,
            delay_us: 0,
            entered_queue: Time::ZERO,
        }
    }

    /// Handles feedback, however old.
    pub fn handle_feedback(&mut self, now: Time, feedback: &AtpFeedback, epoch: Dur) -> News {
        let newest_sent = self.sent.iter().find(|sent| sent.number == feedback.newest).map(|sent| sent.at);
        let mut news = News { arrived: 0, newest_sent };
        for (first, behind) in &feedback.blocks {
            let from = (feedback.complete + u64::from(*first)).div_ceil(self.mss).saturating_sub(self.base);
            for place in (from as usize)..self.sent.len() {
                if self.behind(place + 1) > feedback.complete + u64::from(*behind) {
                    break;
                }
                self.note_arrived(place, &mut news);
            }
        }
        while self.awaits() && self.behind(1) <= feedback.complete {
            self.note_arrived(0, &mut news);
            self.sent.pop_front();
            self.base += 1;
        }
        self.note_lost(now, feedback, epoch);
        news
    }

    fn note_arrived(&mut self, place: usize, news: &mut News) {
        let sent = &mut self.sent[place];
        match sent.state {
            State::Arrived => return,
            State::Lost => self.lost -= 1,
            State::UnderWay => {}
        }
        sent.state = State::Arrived;
        news.arrived += 1;
    }

    fn note_lost(&mut self, now: Time, feedback: &AtpFeedback, epoch: Dur) {
        // If all blocks are used, the state of packets beyond the last block is unknown.
        let known = match feedback.blocks.last() {
            Some((_, behind)) if feedback.blocks.is_full() => feedback.complete + u64::from(*behind),
            _ => u64::MAX,
        };
        for place in 0..self.sent.len() {
            if self.behind(place + 1) > known {
                break;
            }
            let sent = &mut self.sent[place];
            let passed = !sent.number.after(feedback.newest) || now.saturating_since(sent.at) >= epoch * 2;
            if sent.state == State::UnderWay && passed {
                sent.state = State::Lost;
                self.lost += 1;
            }
        }
    }
}
