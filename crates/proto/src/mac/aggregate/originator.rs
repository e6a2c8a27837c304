//! Transmission to one receiver: sequence numbers, the window, retries, and requests that move the receiver on.
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

/// An MPDU that is neither acknowledged nor given up.
#[derive(Clone, Debug)]
struct Pending {
    mpdu: Mpdu,
    /// Exchanges that were to carry it and failed to.
    failures: u32,
}

/// A station's queue for one receiver.
///
/// [`Originator::accept`] a packet, [`Originator::fill`] before each exchange, then [`Originator::copy_into`] the frame
/// and [`Originator::handle_block_ack`], [`Originator::handle_ack`] or [`Originator::handle_nothing`]. A request that
/// is due comes first: [`Originator::request`], then `handle_block_ack` or [`Originator::handle_request_lost`]. There
/// are no timers.
#[derive(Clone, Debug)]
pub struct Originator {
    to: MacAddr,
    next_seq: u16,
    /// In the order of their numbers. All lie within a window that the first begins.
    pending: VecDeque<Pending>,
    /// How many of them the exchange under way carries, from the first.
    in_flight: usize,
    /// Bytes of its PSDU.
    psdu: Bytes,
    /// Taken from above, without a number so far.
    waiting: VecDeque<Msdu>,
    request: Request,
    request_failures: u32,
    /// The last number that was acknowledged.
    last_acked: Option<u16>,
    /// Exchanges in a row without an answer.
    unanswered: u32,
}

/// Does the receiver have to move its window on?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Request {
    No,
    /// Before the next data.
    BeforeData,
    /// By itself: the receiver has later MPDUs.
    Now,
}

impl Originator {
    /// Nothing has been sent to `to`; numbers begin with 0.
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

    /// The receiver.
    pub fn to(&self) -> MacAddr {
        self.to
    }

    /// Takes a packet.
    pub fn accept(&mut self, msdu: Msdu) {
        self.waiting.push_back(msdu);
    }

    /// Does anything wait for an exchange?
    pub fn has_work(&self) -> bool {
        !self.pending.is_empty() || !self.waiting.is_empty() || self.request == Request::Now
    }

    /// Packets that it has taken and that are neither acknowledged nor given up.
    pub fn packets(&self) -> impl Iterator<Item = &Msdu> {
        self.pending.iter().flat_map(|pending| pending.mpdu.msdus()).chain(&self.waiting)
    }

    /// Exchanges in a row without an answer: which rate of a chain is due.
    pub fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// How many MPDUs the exchange under way carries.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Bytes of its PSDU.
    pub fn psdu(&self) -> Bytes {
        self.psdu
    }

    /// The start of the receiver's window after the next BlockAckReq, if that must precede other frames.
    pub fn request(&self) -> Option<u16> {
        (self.request != Request::No).then(|| self.window_start())
    }

    fn window_start(&self) -> u16 {
        self.pending.front().map_or(self.next_seq, |pending| pending.mpdu.seq)
    }

    /// Chooses what the next exchange carries: what is pending, in order, and as many further packets of `next` as fit,
    /// at most `frames` MPDUs. There is something, or [`Originator::has_work`] was false. The PPDU is no longer than
    /// `within`, if it has more than one MPDU.
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
            // One that does not fit by itself goes alone.
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

    /// Makes one more MPDU out of what is taken and what `next` gives, if the window has room and there is anything.
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

    /// Puts what the exchange carries into `mpdus`.
    pub fn copy_into(&self, mpdus: &mut Vec<Mpdu>) {
        mpdus.clear();
        mpdus.extend(self.pending.iter().take(self.in_flight).map(|pending| pending.mpdu.clone()));
    }

    /// A block acknowledgement has come. MPDUs that have not arrived are retransmitted, or given up after `limit`
    /// exchanges and handed to `lost`.
    pub fn handle_block_ack(&mut self, start: u16, bitmap: u64, limit: u32, lost: impl FnMut(Msdu)) -> Outcome {
        self.unanswered = 0;
        if self.request != Request::No && self.in_flight == 0 {
            (self.request, self.request_failures) = (Request::No, 0);
        }
        self.resolve(|seq| ahead(start, seq) < WINDOW && bitmap >> ahead(start, seq) & 1 == 1, limit, lost)
    }

    /// The ACK for the only MPDU in flight has come.
    pub fn handle_ack(&mut self) -> Outcome {
        self.unanswered = 0;
        self.resolve(|_| true, u32::MAX, |_| {})
    }

    /// No answer has come, to an RTS or to data.
    pub fn handle_nothing(&mut self, limit: u32, lost: impl FnMut(Msdu)) -> Outcome {
        self.unanswered += 1;
        self.resolve(|_| false, limit, lost)
    }

    /// No answer has come to a request: after `limit` of them the receiver has to find out by itself.
    pub fn handle_request_lost(&mut self, limit: u32) {
        self.unanswered += 1;
        self.request_failures += 1;
        if self.request_failures >= limit {
            (self.request, self.request_failures) = (Request::No, 0);
        }
    }

    /// The exchange is over: takes out what was acknowledged and what is given up.
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
