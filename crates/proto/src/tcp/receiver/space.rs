//! The receive sequence space (RFC 9293 section 3.4): reassembly, the offered window, SACK blocks (RFC 2018).
//!
//! Optionally reports duplicates by D-SACK (RFC 2883). Left out: reneging (received data is never dropped).

use crate::tcp::ack_policy::AckPolicy;
use crate::tcp::position::Pos;
use crate::wire::{SackBlocks, TcpSegment};
use fourhop_units::Seq;

/// Bytes that arrived beyond a gap.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: Pos,
    end: Pos,
    /// Larger for ranges that changed later: RFC 2018 section 4 asks for the latest first.
    stamp: u64,
}

/// The receive side of a connection.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct ReceiveSpace {
    irs: Seq,
    /// RCV.NXT: everything before it has arrived.
    nxt: Pos,
    /// RCV.NXT + RCV.WND as known to the peer; never moves back.
    edge: Pos,
    buffer: u64,
    /// Bytes that arrived in order and have not been read by the application.
    unread: u64,
    /// Disjoint, not adjacent, in order, all beyond `nxt`.
    ranges: Vec<Range>,
    stamp: u64,
    /// Whether duplicates are to be reported.
    dsack: bool,
    /// Duplicates not yet reported.
    duplicate: Option<(Pos, Pos)>,
    /// Position of the peer's FIN, once seen.
    fin: Option<Pos>,
    /// Shift of the window field in outgoing segments, except SYNs; `None` if the peer does not scale.
    scale: Option<u8>,
    /// Largest payload of arriving segments: the unit of the silly-window rule.
    mss: u32,
}

/// Result of storing a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) struct Stored {
    /// Bytes of the segment's payload to skip.
    pub(in crate::tcp) skip: u64,
    /// Where the rest begins.
    pub(in crate::tcp) start: Pos,
    /// Bytes of the rest that were accepted.
    pub(in crate::tcp) bytes: u64,
    /// Bytes that became readable in order.
    pub(in crate::tcp) delivered: u64,
    /// Whether it began at or before a gap and closed some of it.
    pub(in crate::tcp) filled_gap: bool,
    /// Whether no gap is left.
    pub(in crate::tcp) in_order: bool,
}

impl ReceiveSpace {
    pub(in crate::tcp) fn new(buffer: u32, mss: u32, dsack: bool) -> ReceiveSpace {
        ReceiveSpace {
            irs: Seq::default(),
            nxt: Pos::SYN,
            edge: Pos::SYN,
            buffer: u64::from(buffer),
            unread: 0,
            ranges: Vec::new(),
            stamp: 0,
            dsack,
            duplicate: None,
            fin: None,
            scale: None,
            mss,
        }
    }

    /// Notes the duplicate part of a range: the part before RCV.NXT, or all of it if it is within one stored range.
    pub(in crate::tcp) fn note_duplicate(&mut self, start: Pos, len: u64) {
        if !self.dsack || len == 0 {
            return;
        }
        let end = start + len;
        let contains = |range: &Range| range.start <= start && end <= range.end;
        if start < self.nxt {
            self.duplicate = Some((start, end.min(self.nxt)));
        } else if self.ranges.iter().any(contains) {
            self.duplicate = Some((start, end));
        }
    }

    /// Handles the peer's SYN: its initial sequence number, and the shift that it accepts. The window offered by our
    /// own SYN is never scaled (RFC 7323 section 2.2).
    pub(in crate::tcp) fn synchronise(&mut self, irs: Seq, scale: Option<u8>) {
        self.irs = irs;
        self.scale = scale;
        self.nxt = Pos::FIRST;
        self.edge = self.nxt + u64::from(self.syn_window());
    }

    /// RCV.NXT: everything before it has arrived.
    pub(in crate::tcp) fn nxt(&self) -> Pos {
        self.nxt
    }

    /// The shift of the window field, if the peer scales.
    pub(in crate::tcp) fn scale(&self) -> Option<u8> {
        self.scale
    }

    fn shift(&self) -> u8 {
        self.scale.unwrap_or(0)
    }

    /// Window field of a SYN.
    pub(in crate::tcp) fn syn_window(&self) -> u16 {
        u16::try_from(self.buffer).unwrap_or(u16::MAX)
    }

    /// Position of the number `seq` in the peer's stream.
    pub(in crate::tcp) fn locate(&self, seq: Seq) -> Pos {
        self.nxt.locate(self.irs, seq)
    }

    /// RCV.NXT for the header.
    pub(in crate::tcp) fn ack(&self) -> Seq {
        self.nxt.seq(self.irs)
    }

    /// RCV.WND.
    pub(in crate::tcp) fn window(&self) -> u64 {
        self.edge - self.nxt
    }

    /// RFC 9293 section 3.4, the four cases of acceptability. An acknowledgement is also accepted at the right edge,
    /// from where a peer that has filled the window sends it (Linux and 4.4BSD accept it).
    pub(in crate::tcp) fn accepts(&self, segment: &TcpSegment) -> bool {
        let start = self.locate(segment.seq);
        let len = u64::from(segment.seq_len());
        if len == 0 { self.nxt <= start && start <= self.edge } else { start < self.edge && start + len > self.nxt }
    }

    /// Whether a segment was in the window at most a buffer's length ago.
    pub(in crate::tcp) fn was_in_window(&self, segment: &TcpSegment) -> bool {
        let start = self.locate(segment.seq);
        start < self.nxt && self.nxt <= start + self.buffer
    }

    /// Stores the part of a payload of `len` bytes at `start` that is within the window. The segment must be
    /// acceptable.
    pub(in crate::tcp) fn store(&mut self, start: Pos, len: u64) -> Stored {
        self.note_duplicate(start, len);
        let from = start.max(self.nxt);
        let to = (start + len).min(self.edge);
        let had_gap = !self.ranges.is_empty();
        let before = self.nxt;
        let bytes = to.beyond(from);
        if bytes > 0 {
            self.insert(from, to);
        }
        let delivered = self.nxt - before;
        self.unread += delivered;
        Stored {
            skip: from - start,
            start: from,
            bytes,
            delivered,
            filled_gap: had_gap && delivered > 0,
            in_order: delivered > 0 && self.ranges.is_empty(),
        }
    }

    fn insert(&mut self, mut from: Pos, mut to: Pos) {
        let first = self.ranges.partition_point(|r| r.end < from);
        let last = self.ranges.partition_point(|r| r.start <= to);
        if first < last {
            from = from.min(self.ranges[first].start);
            to = to.max(self.ranges[last - 1].end);
        }
        if from <= self.nxt {
            self.nxt = to;
            self.ranges.drain(first..last);
            return;
        }
        self.stamp += 1;
        let range = Range { start: from, end: to, stamp: self.stamp };
        if first < last {
            self.ranges[first] = range;
            self.ranges.drain(first + 1..last);
        } else {
            self.ranges.insert(first, range);
        }
    }

    /// Notes the position of the peer's FIN, if it is within the window.
    pub(in crate::tcp) fn note_fin(&mut self, at: Pos) {
        if at < self.edge || at == self.nxt {
            self.fin.get_or_insert(at);
        }
    }

    /// Steps over the FIN once everything before it has arrived; returns true only that once.
    pub(in crate::tcp) fn take_fin(&mut self) -> bool {
        let reached = self.fin == Some(self.nxt);
        if reached {
            self.nxt = self.nxt + 1;
            self.edge = self.edge.max(self.nxt);
            self.fin = None;
        }
        reached
    }

    /// Reads up to `bytes` for the application; returns the number read.
    pub(in crate::tcp) fn read(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.min(self.unread);
        self.unread -= bytes;
        bytes
    }

    /// Bytes waiting for the application.
    pub(in crate::tcp) fn unread(&self) -> u64 {
        self.unread
    }

    /// How far the window's right edge could move if it were advertised at once.
    pub(in crate::tcp) fn could_open(&self) -> u64 {
        self.target().beyond(self.edge)
    }

    fn target(&self) -> Pos {
        let free = self.buffer - self.unread.min(self.buffer);
        let offer = free.min(u64::from(u16::MAX) << self.shift());
        self.nxt + ((offer >> self.shift()) << self.shift())
    }

    /// Window field of the next segment; moves the right edge. RFC 9293 section 3.8.6.2.2: the edge stays until it can
    /// move by a segment or half the buffer. A policy may limit the field to less, but data within an earlier offer is
    /// still accepted.
    pub(in crate::tcp) fn advertise(&mut self, policy: &impl AckPolicy) -> u16 {
        let target = self.target();
        if target.beyond(self.edge) >= (self.buffer / 2).min(u64::from(self.mss)) {
            self.edge = target;
        }
        // Rounded up: a window that is not a multiple of the scale must not seem to shrink (RFC 7323 section 2.4).
        let field = self.window().div_ceil(1 << self.shift()).min(u64::from(u16::MAX));
        self.edge = self.edge.max(self.nxt + (field << self.shift()));
        match policy.limit() {
            None => field as u16,
            Some(limit) => field.min(limit.div_ceil(1 << self.shift())) as u16,
        }
    }

    /// Whether there is a gap or a duplicate to report.
    pub(in crate::tcp) fn has_report(&self) -> bool {
        !self.ranges.is_empty() || self.duplicate.is_some()
    }

    /// Up to `limit` blocks: a duplicate, reported once, then ranges, the latest change first.
    pub(in crate::tcp) fn sack_blocks(&mut self, limit: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if limit > 0
            && let Some((start, end)) = self.duplicate.take()
        {
            blocks.push((start.seq(self.irs), end.seq(self.irs)));
        }
        let mut below = u64::MAX;
        while blocks.len() < limit.min(SackBlocks::MAX) {
            let Some(range) = self.ranges.iter().filter(|r| r.stamp < below).max_by_key(|r| r.stamp) else { break };
            below = range.stamp;
            blocks.push((range.start.seq(self.irs), range.end.seq(self.irs)));
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::ack_policy::ReceiverPolicy;

    fn receiver() -> ReceiveSpace {
        let mut receiver = ReceiveSpace::new(10_000, 1_000, false);
        receiver.synchronise(Seq::from_wire(u32::MAX - 500), None);
        receiver
    }

    fn at(offset: u64) -> Pos {
        Pos::FIRST + offset
    }

    /// RFC 2018 section 4: the first block contains the latest arrival; the others follow, latest change first.
    #[test]
    fn sack_blocks_name_the_latest_arrival_first() {
        let mut receiver = receiver();
        for offset in [2_000, 4_000, 6_000] {
            assert_eq!(receiver.store(at(offset), 1_000).delivered, 0);
        }
        receiver.store(at(3_000), 500);
        let seq = |offset: u64| at(offset).seq(Seq::from_wire(u32::MAX - 500));
        let blocks = receiver.sack_blocks(3);
        assert_eq!(*blocks, [(seq(2_000), seq(3_500)), (seq(6_000), seq(7_000)), (seq(4_000), seq(5_000))]);
        assert_eq!(receiver.sack_blocks(1).len(), 1);
    }

    #[test]
    fn a_closed_gap_delivers_all_that_waited() {
        let mut receiver = receiver();
        receiver.store(at(1_000), 1_000);
        receiver.store(at(3_000), 1_000);
        let stored = receiver.store(at(0), 1_500);
        assert_eq!((stored.delivered, stored.filled_gap, stored.in_order), (2_000, true, false));
        let stored = receiver.store(at(1_500), 1_500);
        assert_eq!((stored.skip, stored.bytes, stored.delivered), (500, 1_000, 2_000));
        assert!(stored.in_order && receiver.sack_blocks(4).is_empty());
    }

    #[test]
    fn bytes_beyond_the_window_are_cut() {
        let mut receiver = receiver();
        let stored = receiver.store(at(9_500), 1_000);
        assert_eq!(stored.bytes, 500);
    }

    /// RFC 9293 section 3.8.6.2.2: the window does not open in small steps.
    #[test]
    fn the_window_opens_by_a_segment_at_least() {
        let policy = ReceiverPolicy::EVERY_SEGMENT;
        let mut receiver = receiver();
        receiver.store(at(0), 10_000);
        assert_eq!(receiver.advertise(&policy), 0);
        receiver.read(999);
        assert_eq!(receiver.advertise(&policy), 0);
        receiver.read(1);
        assert_eq!(receiver.advertise(&policy), 1_000);
    }
}
