//! Reception from one transmitter: the scoreboard behind block acknowledgements, and the reordering buffer.
//!
//! ```text
//! board     start ├─1─1─0─1─────────────────┤ start + 63     what was received, moved on by what lies beyond
//! buffer         next ├─·─█─█─·─█───────────┤ next + 63      what waits for an earlier one
//! ```
//!
//! Source: IEEE Std 802.11-2020 clauses 10.25.6.3 (scoreboard, full state) and 10.25.6.6 (reordering buffer).

use super::window::{SEQ_HALF, SEQ_MASK, WINDOW, after, ahead};
use crate::wire::{Mpdu, Msdu};
use fourhop_units::{Dur, MacAddr, Time};
use std::collections::VecDeque;

/// Buffered data of one sequence number.
#[derive(Clone, Debug)]
struct Buffered {
    first: Msdu,
    more: Vec<Msdu>,
}

/// Scoreboard and reordering buffer for one transmitter.
///
/// Call [`Recipient::handle_mpdu`] for every MPDU received intact and [`Recipient::handle_request`] for a BlockAckReq;
/// both deliver the packets that are next in order. Call [`Recipient::handle_timeout`] when something has waited too
/// long since [`Recipient::waits_since`].
#[derive(Clone, Debug)]
pub struct Recipient {
    from: MacAddr,
    /// WinStart_R.
    board_start: u16,
    /// Bit n: `board_start` + n has been received.
    board: u64,
    /// WinStart_B: the next number to be delivered.
    next: u16,
    /// Entry n is for `next` + n. The first is empty, the last is not.
    buffered: VecDeque<Option<Buffered>>,
    /// Since when the buffer has been waiting for `next`.
    since: Time,
}

/// Fate of an MPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is delivered, now or later.
    Taken,
    /// It was received before, or the buffer has moved past it.
    Late,
}

impl Recipient {
    /// Creates the state for a transmitter from which nothing has arrived; numbers start at 0.
    pub fn new(from: MacAddr) -> Recipient {
        Recipient { from, board_start: 0, board: 0, next: 0, buffered: VecDeque::new(), since: Time::ZERO }
    }

    /// Returns the transmitter.
    pub fn from(&self) -> MacAddr {
        self.from
    }

    /// Returns the starting sequence number and bitmap of a block acknowledgement sent now.
    pub fn block_ack(&self) -> (u16, u64) {
        (self.board_start, self.board)
    }

    /// Returns the number of packets in the buffer.
    pub fn buffered(&self) -> usize {
        self.buffered.iter().flatten().map(|buffered| 1 + buffered.more.len()).sum()
    }

    /// Returns since when the buffer has been waiting for a missing packet.
    pub fn waits_since(&self) -> Option<Time> {
        (!self.buffered.is_empty()).then_some(self.since)
    }

    /// An MPDU was received intact at `now`. Packets that are next in order go to `up`.
    pub fn handle_mpdu(&mut self, now: Time, mpdu: &Mpdu, mut up: impl FnMut(Msdu)) -> Fate {
        self.note(mpdu.seq);
        let mut place = ahead(self.next, mpdu.seq);
        if place >= SEQ_HALF {
            return Fate::Late;
        }
        if place == 0 && self.buffered.is_empty() {
            mpdu.msdus().cloned().for_each(up);
            self.next = after(self.next, 1);
            return Fate::Taken;
        }
        if place >= WINDOW {
            self.move_to(now, after(mpdu.seq, SEQ_MASK_BUT_WINDOW), &mut up);
            place = ahead(self.next, mpdu.seq);
        }
        let place = usize::from(place);
        if self.buffered.get(place).is_some_and(Option::is_some) {
            return Fate::Late;
        }
        if self.buffered.is_empty() {
            self.since = now;
        }
        if self.buffered.len() <= place {
            self.buffered.resize_with(place + 1, || None);
        }
        self.buffered[place] = Some(Buffered { first: mpdu.first.clone(), more: mpdu.more.clone() });
        self.release(now, &mut up);
        Fate::Taken
    }

    /// The transmitter will not send anything before `start` any more.
    pub fn handle_request(&mut self, now: Time, start: u16, mut up: impl FnMut(Msdu)) {
        let board = ahead(self.board_start, start);
        if board < SEQ_HALF {
            self.shift_board(board);
        }
        if ahead(self.next, start) < SEQ_HALF {
            self.move_to(now, start, &mut up);
            self.release(now, &mut up);
        }
    }

    /// Continues without the missing packets if the buffer has waited for them since at least `timeout` before `now`.
    pub fn handle_timeout(&mut self, now: Time, timeout: Dur, mut up: impl FnMut(Msdu)) {
        if self.waits_since().is_some_and(|since| since + timeout <= now) {
            let missing = self.buffered.iter().take_while(|buffered| buffered.is_none()).count() as u16;
            self.move_to(now, after(self.next, missing), &mut up);
            self.release(now, &mut up);
        }
    }

    fn note(&mut self, seq: u16) {
        let place = ahead(self.board_start, seq);
        if place < WINDOW {
            self.board |= 1 << place;
        } else if place < SEQ_HALF {
            self.shift_board(place - (WINDOW - 1));
            self.board |= 1 << (WINDOW - 1);
        }
    }

    fn shift_board(&mut self, by: u16) {
        self.board = self.board.checked_shr(u32::from(by)).unwrap_or(0);
        self.board_start = after(self.board_start, by);
    }

    /// Delivers everything before `start`, which becomes the next number.
    fn move_to(&mut self, now: Time, start: u16, up: &mut impl FnMut(Msdu)) {
        for _ in 0..ahead(self.next, start) {
            if let Some(Some(buffered)) = self.buffered.pop_front() {
                hand_up(buffered, up);
            }
        }
        self.next = start;
        self.since = now;
    }

    /// Delivers the packets that are next in order.
    fn release(&mut self, now: Time, up: &mut impl FnMut(Msdu)) {
        while let Some(buffered) = self.buffered.front_mut().and_then(Option::take) {
            self.buffered.pop_front();
            hand_up(buffered, up);
            self.next = after(self.next, 1);
            self.since = now;
        }
    }
}

/// Added to a number, it gives the start of the window that ends with that number.
const SEQ_MASK_BUT_WINDOW: u16 = SEQ_MASK + 1 - (WINDOW - 1);

fn hand_up(buffered: Buffered, up: &mut impl FnMut(Msdu)) {
    up(buffered.first);
    buffered.more.into_iter().for_each(up);
}
