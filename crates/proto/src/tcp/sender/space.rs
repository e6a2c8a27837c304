//! The send sequence space (RFC 9293 section 3.3.1) and the list of segments in flight.

use crate::tcp::position::Pos;
use fourhop_units::{Seq, Time};
use std::collections::VecDeque;

/// A segment in flight. Boundaries are those of its first transmission.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Sent {
    end: Pos,
    /// When it was last sent.
    pub(in crate::tcp) at: Time,
    pub(in crate::tcp) retransmitted: bool,
}

/// The send side of a connection.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SendSpace {
    pub(in crate::tcp) iss: Seq,
    /// SND.UNA: everything before it is acknowledged.
    pub(in crate::tcp) una: Pos,
    /// SND.NXT: the position to send next. Returns to `una` after a timeout, and is never before it.
    pub(in crate::tcp) nxt: Pos,
    /// The position after the last ever sent. `una <= max`, and `nxt <= max` except for data that the window has let
    /// into the queue of [`Release::Queue`](crate::tcp::Release::Queue), which is between `max` and `nxt`.
    pub(in crate::tcp) max: Pos,
    /// The position after the last byte written by the user.
    pub(in crate::tcp) end: Pos,
    /// Whether the user has closed; then there is a FIN at `end`.
    pub(in crate::tcp) fin: bool,
    /// SND.WND in bytes.
    pub(in crate::tcp) wnd: u64,
    /// The furthest position that the peer has ever offered to accept.
    pub(in crate::tcp) edge: Pos,
    /// Largest window that the peer has ever offered: its buffer, for the silly-window rule.
    pub(in crate::tcp) max_wnd: u64,
    /// SND.WL1: start of the segment that last set the window.
    wl1: Pos,
    /// SND.WL2: acknowledgement of that segment.
    wl2: Pos,
    /// Shift of the window field in arriving segments, SYN excepted.
    pub(in crate::tcp) scale: u8,
    /// Largest payload of a segment.
    pub(in crate::tcp) mss: u32,
    /// Acknowledged bytes that did not add up to a whole segment.
    acked_rest: u64,
    sent: VecDeque<Sent>,
}

/// The next segment of the stream: bytes from SND.NXT on, and whether it carries the FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) struct Next {
    pub(in crate::tcp) len: u64,
    pub(in crate::tcp) fin: bool,
}

impl Next {
    /// Its length in the sequence space.
    pub(in crate::tcp) fn seq_len(self) -> u64 {
        self.len + u64::from(self.fin)
    }
}

/// Data covered by a new acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Acked {
    /// Bytes of the stream.
    pub(in crate::tcp) bytes: u64,
    /// Whole segments, including leftovers of earlier acknowledgements.
    pub(in crate::tcp) segments: u32,
    /// Departure of the newest segment covered; `None` if any segment covered was sent more than once.
    pub(in crate::tcp) sent_at: Option<Time>,
    /// Departure of the newest segment covered if that one was sent once, whatever else was covered.
    pub(in crate::tcp) newest_sent_at: Option<Time>,
}

impl SendSpace {
    pub(in crate::tcp) fn new(iss: Seq, mss: u32) -> SendSpace {
        SendSpace {
            iss,
            una: Pos::SYN,
            nxt: Pos::SYN,
            max: Pos::SYN,
            end: Pos::FIRST,
            fin: false,
            wnd: 0,
            edge: Pos::SYN,
            max_wnd: 0,
            wl1: Pos::SYN,
            wl2: Pos::SYN,
            scale: 0,
            mss,
            acked_rest: 0,
            sent: VecDeque::new(),
        }
    }

    /// Accounts for the SYN.
    pub(in crate::tcp) fn open(&mut self) {
        (self.nxt, self.max) = (Pos::FIRST, Pos::FIRST);
    }

    /// Takes from the peer's SYN the largest payload and the scale of the window.
    pub(in crate::tcp) fn agree(&mut self, mss: u32, scale: Option<u8>) {
        self.mss = mss;
        self.scale = scale.map_or(self.scale, |shift| shift.min(14));
    }

    /// Appends bytes written by the user.
    pub(in crate::tcp) fn write(&mut self, bytes: u64) {
        self.end = self.end.advance(bytes);
    }

    /// Takes back data that was written but never sent.
    pub(in crate::tcp) fn withdraw_unsent(&mut self) {
        self.end = self.end.min(self.max.max(Pos::FIRST));
    }

    /// Ends the stream: the user writes no more.
    pub(in crate::tcp) fn close(&mut self) {
        self.fin = true;
    }

    /// Moves SND.NXT.
    pub(super) fn go_to(&mut self, nxt: Pos) {
        self.nxt = nxt;
    }

    /// Position of an arriving acknowledgement number.
    pub(in crate::tcp) fn locate(&self, ack: Seq) -> Pos {
        self.una.locate(self.iss, ack)
    }

    /// Whether anything is unacknowledged.
    pub(in crate::tcp) fn outstanding(&self) -> bool {
        self.max > self.una
    }

    /// Whether the FIN is sent and acknowledged.
    pub(in crate::tcp) fn fin_acked(&self) -> bool {
        self.fin && self.una > self.end
    }

    /// The value of SND.UNA once everything handed over by the user is acknowledged.
    pub(in crate::tcp) fn finish(&self) -> Pos {
        self.end + u64::from(self.fin)
    }

    /// Bytes between SND.UNA and SND.NXT.
    pub(in crate::tcp) fn in_flight(&self) -> u64 {
        self.nxt.beyond(self.una)
    }

    /// The same in segments, rounded up.
    pub(in crate::tcp) fn in_flight_segments(&self) -> u32 {
        self.in_flight().div_ceil(u64::from(self.mss)) as u32
    }

    /// Whether something waits in the queue of [`Release::Queue`](crate::tcp::Release::Queue), or did when a loss
    /// emptied it.
    pub(in crate::tcp) fn has_unreleased(&self) -> bool {
        self.nxt > self.max
    }

    /// Whether data or a FIN is left from SND.NXT on.
    pub(in crate::tcp) fn unsent(&self) -> bool {
        self.nxt < self.end || (self.fin && self.nxt == self.end)
    }

    /// RFC 9293 section 3.10.7.4: takes the window of a segment newer than the one that set it. Returns whether the
    /// window changed.
    pub(in crate::tcp) fn update_window(&mut self, seq: Pos, ack: Pos, field: u16, scaled: bool) -> bool {
        let newer = self.wl1 < seq || (self.wl1 == seq && self.wl2 <= ack);
        if !newer || ack < self.una {
            return false;
        }
        let wnd = u64::from(field) << if scaled { self.scale } else { 0 };
        let changed = wnd != self.wnd;
        (self.wnd, self.wl1, self.wl2) = (wnd, seq, ack);
        self.max_wnd = self.max_wnd.max(wnd);
        self.edge = self.edge.max(ack + wnd);
        changed
    }

    /// Whether the peer has taken back part of its offer.
    pub(in crate::tcp) fn is_taken_back(&self) -> bool {
        self.wl2 + self.wnd < self.edge
    }

    /// Notes the transmission of everything from `start` to before `end`. Returns whether all of it is new.
    pub(in crate::tcp) fn note_sent(&mut self, start: Pos, end: Pos, now: Time) -> bool {
        let known = self.max;
        if start < known {
            let first = self.sent.partition_point(|sent| sent.end <= start);
            let mut from = first.checked_sub(1).map_or(self.una, |before| self.sent[before].end);
            for sent in self.sent.range_mut(first..) {
                if from >= end {
                    break;
                }
                sent.retransmitted = true;
                sent.at = now;
                from = sent.end;
            }
        }
        let recorded = self.sent.back().map_or(self.una, |last| last.end);
        if end > recorded {
            // A segment that began within data sent before is ambiguous as a whole (Karn).
            self.sent.push_back(Sent { end, at: now, retransmitted: start < known });
        }
        self.max = self.max.max(end);
        start >= known
    }

    /// The oldest segment in flight.
    pub(in crate::tcp) fn oldest(&self) -> Option<Sent> {
        self.sent.front().copied()
    }

    /// Moves SND.UNA to `ack`, which is beyond it but not beyond what was sent.
    pub(in crate::tcp) fn acknowledge(&mut self, ack: Pos) -> Acked {
        let bytes = ack.min(self.end).offset() - self.una.min(self.end).offset();
        let mut sent_at = None;
        let mut newest_sent_at = None;
        let mut ambiguous = false;
        while let Some(front) = self.sent.front().copied().filter(|front| front.end <= ack) {
            ambiguous |= front.retransmitted;
            sent_at = Some(front.at);
            newest_sent_at = sent_at.filter(|_| !front.retransmitted);
            self.sent.pop_front();
        }
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.acked_rest += bytes;
        let mss = u64::from(self.mss);
        let mut segments = self.acked_rest / mss;
        self.acked_rest %= mss;
        if !self.outstanding() && self.acked_rest > 0 {
            segments += 1;
            self.acked_rest = 0;
        }
        Acked { bytes, segments: segments as u32, sent_at: sent_at.filter(|_| !ambiguous), newest_sent_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Karn's rule on the list: an acknowledgement that covers a segment sent twice gives no time.
    #[test]
    fn an_ack_over_a_retransmission_gives_no_time() {
        let mut snd = SendSpace::new(Seq::from_wire(7), 100);
        let at = |n: u64| Pos::FIRST + n * 100;
        (snd.una, snd.nxt, snd.max, snd.end) = (at(0), at(0), at(0), at(50));
        for n in 0..4 {
            assert!(snd.note_sent(at(n), at(n + 1), Time::from_millis(n)));
        }
        assert_eq!(snd.acknowledge(at(1)).sent_at, Some(Time::ZERO));
        assert!(!snd.note_sent(at(1), at(2), Time::from_millis(9)));
        let acked = snd.acknowledge(at(3));
        assert_eq!((acked.sent_at, acked.segments), (None, 2));
        assert_eq!(snd.acknowledge(at(4)).sent_at, Some(Time::from_millis(3)));
    }

    #[test]
    fn parts_of_segments_add_up() {
        let mut snd = SendSpace::new(Seq::from_wire(7), 100);
        (snd.una, snd.nxt, snd.max, snd.end) = (Pos::FIRST, Pos::FIRST, Pos::FIRST, Pos::FIRST + 250);
        snd.note_sent(Pos::FIRST, Pos::FIRST + 250, Time::ZERO);
        assert_eq!(snd.acknowledge(Pos::FIRST + 60).segments, 0);
        assert_eq!(snd.acknowledge(Pos::FIRST + 120).segments, 1);
        assert_eq!(snd.acknowledge(Pos::FIRST + 250).segments, 2);
    }
}
