//! Transmission to one receiver: sequence numbers, the window, retries, and requests that advance the receiver's
//! window.
//!
//! ```text
//! pending   12 ├─13─15─16─17─18─────────────┤ next_seq       13 and 15 come again, 14 was acknowledged
//!              └──── in flight ────┘
//! ```
//!
//! Source: IEEE Std 802.11-2020 clauses 10.25.6.4, 10.25.6.5 and 10.25.6.8 (originator).

use super::lengths::with_subframe;
use super::outcome::{Choice, Outcome};
use super::window::{SEQ_HALF, WINDOW, after, ahead};
use crate::mac::config::Config;
use crate::phy::Mcs;
use crate::phy::mcs::Format;
use crate::wire::{Mpdu, Msdu, with_one_more};
use fourhop_units::{Bytes, Dur, MacAddr};
use std::collections::VecDeque;

/// An MPDU neither acknowledged nor given up.
#[derive(Clone, Debug)]
struct Pending {
    mpdu: Mpdu,
    /// Failed exchanges that should have carried it.
    failures: u32,
}

/// A station's queue for one receiver.
///
/// Call [`Originator::accept`] for a packet and [`Originator::fill`] before each exchange, then
/// [`Originator::copy_into`] for the frame and [`Originator::handle_block_ack`], [`Originator::handle_ack`] or
/// [`Originator::handle_nothing`]. A due request comes first: [`Originator::request`], then `handle_block_ack` or
/// [`Originator::handle_request_lost`]. There are no timers.
#[derive(Clone, Debug)]
pub struct Originator {
    to: MacAddr,
    next_seq: u16,
    /// In order of sequence number, all within a window that starts at the first.
    pending: VecDeque<Pending>,
    /// How many of them, counted from the first, the current exchange carries.
    in_flight: usize,
    /// Bytes of its PSDU.
    psdu: Bytes,
    /// Packets from above that have no number yet.
    waiting: VecDeque<Msdu>,
    request: Request,
    request_failures: u32,
    /// The last acknowledged number.
    last_acked: Option<u16>,
    /// Consecutive exchanges without an answer.
    unanswered: u32,
}

/// Whether the receiver must advance its window, and when it is asked to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Request {
    No,
    /// Before the next data.
    BeforeData,
    /// Immediately: the receiver has later MPDUs.
    Now,
}

impl Originator {
    /// Creates the state for `to`, to which nothing has been sent; numbers start at 0.
    pub fn new(to: MacAddr) -> Originator {
        Originator {
            to,
            next_seq: 0,
            pending: VecDeque::new(),
            in_flight: 0,
            psdu: Bytes(0),
            waiting: VecDeque::new(),
            request: Request::No,
            request_failures: 0,
            last_acked: None,
            unanswered: 0,
        }
    }

    /// Returns the receiver.
    pub fn to(&self) -> MacAddr {
        self.to
    }

    /// Accepts a packet.
    pub fn accept(&mut self, msdu: Msdu) {
        self.waiting.push_back(msdu);
    }

    /// Whether anything waits for an exchange.
    pub fn has_work(&self) -> bool {
        !self.pending.is_empty() || !self.waiting.is_empty() || self.request == Request::Now
    }

    /// Returns the packets that it has accepted and neither had acknowledged nor given up.
    pub fn packets(&self) -> impl Iterator<Item = &Msdu> {
        self.pending.iter().flat_map(|pending| pending.mpdu.msdus()).chain(&self.waiting)
    }

    /// Returns the number of consecutive exchanges without an answer, which selects a rate of the retry chain.
    pub fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// Returns the number of MPDUs in the current exchange.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns the bytes of its PSDU.
    pub fn psdu(&self) -> Bytes {
        self.psdu
    }

    /// Returns the start of the receiver's window after the next BlockAckReq, if that must precede other frames.
    pub fn request(&self) -> Option<u16> {
        (self.request != Request::No).then(|| self.window_start())
    }

    fn window_start(&self) -> u16 {
        self.pending.front().map_or(self.next_seq, |pending| pending.mpdu.seq)
    }

    /// Chooses the MPDUs of the next exchange, at most `frames`: pending ones in order, then as many further packets
    /// from `next` as fit. There is at least one, unless [`Originator::has_work`] was false. If the PPDU has more than
    /// one MPDU, it is no longer than `within`.
    pub fn fill(
        &mut self,
        config: &Config,
        Choice { mcs, frames }: Choice,
        within: Dur,
        mut next: impl FnMut() -> Option<Msdu>,
    ) {
        let rules = &config.aggregation;
        let longest = rules.longest(config, mcs, within);
        let most = (frames.min(u32::from(WINDOW)) as usize).max(1);
        let (mut count, mut len) = (0, Bytes(0));
        while count < most && (count < self.pending.len() || self.append(config, mcs, &mut next)) {
            let with = with_one_more(len, self.pending[count].mpdu.len);
            // An MPDU that is too long by itself is sent alone.
            if with > longest && count > 0 {
                break;
            }
            (count, len) = (count + 1, with);
        }
        self.in_flight = count;
        self.psdu = match self.pending.front() {
            Some(alone) if count == 1 && mcs.format() == Format::Ht => alone.mpdu.len,
            _ => len,
        };
    }

    /// Builds one more MPDU from waiting packets and those of `next`; returns false if the window has no room or there
    /// are none.
    fn append(&mut self, config: &Config, mcs: Mcs, next: &mut impl FnMut() -> Option<Msdu>) -> bool {
        if ahead(self.window_start(), self.next_seq) >= WINDOW {
            return false;
        }
        let Some(first) = self.waiting.pop_front().or_else(&mut *next) else { return false };
        let mut mpdu = Mpdu { seq: self.next_seq, retry: false, len: config.mpdu_len(&first), first, more: Vec::new() };
        let most = config.aggregation.amsdu.get();
        let mut content = with_subframe(0, &mpdu.first);
        while content < most {
            let Some(further) = self.waiting.pop_front().or_else(&mut *next) else { break };
            let with = with_subframe(content, &further);
            let len = config.amsdu_mpdu_len(with);
            if with > most || len > config.aggregation.longest_amsdu(config, mcs.format()) {
                self.waiting.push_front(further);
                break;
            }
            (content, mpdu.len) = (with, len);
            mpdu.more.push(further);
        }
        self.next_seq = after(self.next_seq, 1);
        self.pending.push_back(Pending { mpdu, failures: 0 });
        true
    }

    /// Copies the MPDUs of the exchange into `mpdus`.
    pub fn copy_into(&self, mpdus: &mut Vec<Mpdu>) {
        mpdus.clear();
        mpdus.extend(self.pending.iter().take(self.in_flight).map(|pending| pending.mpdu.clone()));
    }

    /// A block acknowledgement has arrived. Missing MPDUs are retransmitted, or after `limit` exchanges given up and
    /// passed to `lost`.
    pub fn handle_block_ack(&mut self, start: u16, bitmap: u64, limit: u32, lost: impl FnMut(Msdu)) -> Outcome {
        self.unanswered = 0;
        if self.request != Request::No && self.in_flight == 0 {
            (self.request, self.request_failures) = (Request::No, 0);
        }
        self.resolve(|seq| ahead(start, seq) < WINDOW && bitmap >> ahead(start, seq) & 1 == 1, limit, lost)
    }

    /// The ACK for the only MPDU in flight has arrived.
    pub fn handle_ack(&mut self) -> Outcome {
        self.unanswered = 0;
        self.resolve(|_| true, u32::MAX, |_| {})
    }

    /// An RTS or data was not answered.
    pub fn handle_nothing(&mut self, limit: u32, lost: impl FnMut(Msdu)) -> Outcome {
        self.unanswered += 1;
        self.resolve(|_| false, limit, lost)
    }

    /// A request was not answered; after `limit` such failures the receiver must find out by itself.
    pub fn handle_request_lost(&mut self, limit: u32) {
        self.unanswered += 1;
        self.request_failures += 1;
        if self.request_failures >= limit {
            (self.request, self.request_failures) = (Request::No, 0);
        }
    }

    /// Ends the exchange: removes MPDUs that were acknowledged or are given up.
    fn resolve(&mut self, acked: impl Fn(u16) -> bool, limit: u32, mut lost: impl FnMut(Msdu)) -> Outcome {
        let mut outcome = Outcome { sent: self.in_flight as u32, ..Outcome::default() };
        let mut given_up = None;
        let mut place = 0;
        for _ in 0..core::mem::take(&mut self.in_flight) {
            let pending = &mut self.pending[place];
            let seq = pending.mpdu.seq;
            let arrived = acked(seq);
            if arrived {
                outcome.acked += 1;
                outcome.acked_packets += pending.mpdu.msdus().count() as u64;
                self.last_acked = Some(seq);
            } else {
                pending.failures += 1;
                pending.mpdu.retry = true;
                if pending.failures < limit {
                    place += 1;
                    continue;
                }
                given_up.get_or_insert(seq);
            }
            // INVARIANT: `place` is below the number in flight that are left.
            let Some(Pending { mpdu, .. }) = self.pending.remove(place) else { break };
            if !arrived {
                lost(mpdu.first);
                mpdu.more.into_iter().for_each(&mut lost);
            }
        }
        if let Some(seq) = given_up {
            let has_later = self.last_acked.is_some_and(|last| (1..SEQ_HALF).contains(&ahead(seq, last)));
            self.request = if has_later { Request::Now } else { Request::BeforeData };
        }
        outcome
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
