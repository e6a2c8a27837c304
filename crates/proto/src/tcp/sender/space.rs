//! The send sequence space (RFC 9293 section 3.3.1) and the list of segments in flight.

use crate::tcp::position::Pos;
use fourhop_units::{Seq, Time};
use std::collections::VecDeque;

/// A segment in flight. Boundaries are those of its first transmission.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Sent {
    end: Pos,
    /// When it last left.
    pub(in crate::tcp) at: Time,
    pub(in crate::tcp) retransmitted: bool,
}

/// The send side of a connection.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SendSpace {
    pub(in crate::tcp) iss: Seq,
    /// SND.UNA: everything before is acknowledged.
    pub(in crate::tcp) una: Pos,
    /// SND.NXT: what is sent next. Returns to `una` after a time-out, and is never before it.
    pub(in crate::tcp) nxt: Pos,
    /// The place after the last ever sent. `una <= max`, and `nxt <= max` but for what the window has let into the
    /// queue of [`Release::Queue`](crate::tcp::Release::Queue): that lies between `max` and `nxt`.
    pub(in crate::tcp) max: Pos,
    /// The place after the last byte the user has written.
    pub(in crate::tcp) end: Pos,
    /// The user has closed: there is a FIN at `end`.
    pub(in crate::tcp) fin: bool,
    /// SND.WND in bytes.
    pub(in crate::tcp) wnd: u64,
    /// The furthest place the peer ever offered to take.
    pub(in crate::tcp) edge: Pos,
    /// Largest window the peer ever offered: its buffer, for the silly-window rule.
    pub(in crate::tcp) max_wnd: u64,
    /// SND.WL1: where the segment that last set the window began.
    wl1: Pos,
    /// SND.WL2: what it acknowledged.
    wl2: Pos,
    /// Shift of the window field in arriving segments, SYN excepted.
    pub(in crate::tcp) scale: u8,
    /// Largest payload of a segment.
    pub(in crate::tcp) mss: u32,
    /// Acknowledged bytes that did not make a whole segment.
    acked_rest: u64,
    sent: VecDeque<Sent>,
}

/// The next segment of the stream: bytes from SND.NXT on, and whether the FIN rides on it.
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
    /// Whole segments, together with what earlier ones left over.
    pub(in crate::tcp) segments: u32,
    /// When the newest segment covered had left; `None` if any of those covered was sent more than once.
    pub(in crate::tcp) sent_at: Option<Time>,
    /// The same, whatever else was covered, if that newest one was sent once.
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

    /// The SYN leaves.
    pub(in crate::tcp) fn open(&mut self) {
        (self.nxt, self.max) = (Pos::FIRST, Pos::FIRST);
    }

    /// The peer's SYN has come: the largest payload, and how the peer scales its window.
    pub(in crate::tcp) fn agree(&mut self, mss: u32, scale: Option<u8>) {
        self.mss = mss;
        self.scale = scale.map_or(self.scale, |shift| shift.min(14));
    }

    /// The user writes so many bytes.
    pub(in crate::tcp) fn write(&mut self, bytes: u64) {
        self.end = self.end.advance(bytes);
    }

    /// Takes back what was written and never sent.
    pub(in crate::tcp) fn withdraw_unsent(&mut self) {
        self.end = self.end.min(self.max.max(Pos::FIRST));
    }

    /// The user writes no more.
    pub(in crate::tcp) fn close(&mut self) {
        self.fin = true;
    }

    /// SND.NXT moves to a place.
    pub(super) fn go_to(&mut self, nxt: Pos) {
        self.nxt = nxt;
    }

    /// Place of an arriving acknowledgement number.
    pub(in crate::tcp) fn locate(&self, ack: Seq) -> Pos {
        self.una.locate(self.iss, ack)
    }

    /// Is anything unacknowledged?
    pub(in crate::tcp) fn outstanding(&self) -> bool {
        self.max > self.una
    }

    /// Is the FIN sent and acknowledged?
    pub(in crate::tcp) fn fin_acked(&self) -> bool {
        self.fin && self.una > self.end
    }

    /// The value of SND.UNA once everything the user has handed over is acknowledged.
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

    /// Does something wait in the queue of [`Release::Queue`](crate::tcp::Release::Queue), or did when a loss emptied
    /// it?
    pub(in crate::tcp) fn has_unreleased(&self) -> bool {
        self.nxt > self.max
    }

    /// Data or FIN beyond SND.NXT?
    pub(in crate::tcp) fn unsent(&self) -> bool {
        self.nxt < self.end || (self.fin && self.nxt == self.end)
    }

    /// RFC 9293 section 3.10.7.4: takes the window of a segment that is newer than the one that set it. True if the
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

    /// Has the peer taken back some of what it offered?
    pub(in crate::tcp) fn is_taken_back(&self) -> bool {
        self.wl2 + self.wnd < self.edge
    }

    /// Notes the transmission of everything from `start` to before `end`. True if it is all fresh.
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
            // A segment that began within what was sent before is ambiguous as a whole (Karn).
            self.sent.push_back(Sent { end, at: now, retransmitted: start < known });
        }
        self.max = self.max.max(end);
        start >= known
    }

    /// The oldest segment in flight.
    pub(in crate::tcp) fn oldest(&self) -> Option<Sent> {
        self.sent.front().copied()
    }

    /// Moves SND.UNA to `ack`, which lies beyond it and not beyond what was sent.
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
