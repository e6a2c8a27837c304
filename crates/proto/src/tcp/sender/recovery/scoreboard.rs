//! Data beyond SND.UNA that the receiver has according to its SACK blocks (RFC 2018), and the losses that follow from
//! it (RFC 6675 section 4).
//!
//! Left out: D-SACK (RFC 2883), whose blocks are below SND.UNA and are ignored.

use crate::tcp::position::Pos;

/// The scoreboard of one connection.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    /// Received ranges: disjoint, not adjacent, in order, all beyond SND.UNA.
    ranges: Vec<(Pos, Pos)>,
    /// The position after HighRxt: everything before it that needed retransmission in this recovery has been resent.
    pub(super) high_rxt: Pos,
    /// The position after RescueRxt.
    pub(super) rescue_rxt: Pos,
}

/// Bytes missing at the receiver, between two positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hole {
    pub(super) start: Pos,
    pub(super) end: Pos,
}

impl Scoreboard {
    pub(super) fn new() -> Scoreboard {
        Scoreboard { ranges: Vec::new(), high_rxt: Pos::SYN, rescue_rxt: Pos::SYN }
    }

    /// RFC 6675 section 4, `Update()`: forgets everything before `una` and adds `blocks`. Blocks that are not within
    /// the data in flight are ignored. Returns whether anything was new.
    pub(super) fn update(&mut self, una: Pos, max: Pos, blocks: impl Iterator<Item = (Pos, Pos)>) -> bool {
        let below = self.ranges.partition_point(|&(_, end)| end <= una);
        self.ranges.drain(..below);
        if let Some((start, _)) = self.ranges.first_mut() {
            *start = una.max(*start);
        }
        let mut changed = false;
        for (start, end) in blocks {
            if una <= start && start < end && end <= max {
                changed |= self.insert(start, end);
            }
        }
        changed
    }

    fn insert(&mut self, mut start: Pos, mut end: Pos) -> bool {
        let first = self.ranges.partition_point(|&(_, e)| e < start);
        let last = self.ranges.partition_point(|&(s, _)| s <= end);
        if first == last {
            self.ranges.insert(first, (start, end));
            return true;
        }
        if self.ranges[first].0 <= start && end <= self.ranges[first].1 {
            return false;
        }
        start = start.min(self.ranges[first].0);
        end = end.max(self.ranges[last - 1].1);
        self.ranges[first] = (start, end);
        self.ranges.drain(first + 1..last);
        true
    }

    /// Forgets everything (RFC 2018 section 8: after a timeout the receiver may have dropped SACKed data).
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The last hole below `max`, with the data in flight starting at `una`; empty if all of it is SACKed.
    pub(super) fn last_hole(&self, una: Pos, max: Pos) -> Hole {
        let mut before = self.ranges.iter().rev();
        let end = match before.clone().next() {
            Some(&(start, end)) if end == max => {
                before.next();
                start
            }
            _ => max,
        };
        Hole { start: before.next().map_or(una, |&(_, end)| end), end }
    }

    /// SACKed bytes before `place`.
    pub(super) fn sacked_before(&self, place: Pos) -> u64 {
        self.ranges.iter().map(|&(start, end)| end.min(place).beyond(start)).sum()
    }

    /// The first position from `from` on without a SACK, and the start of the next SACKed range.
    pub(super) fn missing_from(&self, from: Pos) -> (Pos, Option<Pos>) {
        let next = self.ranges.partition_point(|&(_, end)| end <= from);
        match self.ranges.get(next) {
            Some(&(start, end)) if start <= from => (end, self.ranges.get(next + 1).map(|r| r.0)),
            other => (from, other.map(|r| r.0)),
        }
    }

    /// The first hole from `from` on, below the highest SACKed position.
    pub(super) fn hole_from(&self, from: Pos) -> Option<Hole> {
        let (start, end) = self.missing_from(from);
        end.map(|end| Hole { start, end })
    }

    /// RFC 6675 section 4, `IsLost()`: `threshold` separate ranges are SACKed beyond `place`, or more bytes than
    /// `threshold - 1` segments contain.
    pub(super) fn is_lost(&self, place: Pos, mss: u32, threshold: u32) -> bool {
        let above = self.ranges.partition_point(|&(_, end)| end <= place);
        self.proves_loss(above, mss, threshold)
    }

    fn proves_loss(&self, above: usize, mss: u32, threshold: u32) -> bool {
        let bytes = || self.ranges[above..].iter().map(|&(start, end)| end - start).sum::<u64>();
        self.ranges.len() - above >= threshold as usize || bytes() > u64::from(threshold - 1) * u64::from(mss)
    }

    /// RFC 6675 section 4, `SetPipe()`: bytes between `una` and `max` believed to be in the network.
    pub(super) fn pipe(&self, una: Pos, max: Pos, mss: u32, threshold: u32) -> u64 {
        let mut pipe = 0;
        let mut from = una;
        for (above, &(start, end)) in self.ranges.iter().enumerate() {
            if !self.proves_loss(above, mss, threshold) {
                pipe += start.beyond(from);
            }
            pipe += start.min(self.high_rxt).beyond(from);
            from = end;
        }
        pipe + max.beyond(from) + max.min(self.high_rxt).beyond(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 100;

    fn at(segment: u64) -> Pos {
        Pos::FIRST + segment * u64::from(MSS)
    }

    fn board(blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard { high_rxt: at(0), ..Scoreboard::new() };
        board.update(at(0), at(20), blocks.iter().map(|&(a, b)| (at(a), at(b))));
        board
    }

    #[test]
    fn blocks_merge_and_old_ones_go() {
        let mut board = board(&[(4, 5), (8, 9), (5, 6), (7, 8)]);
        assert_eq!(board.ranges, [(at(4), at(6)), (at(7), at(9))]);
        assert!(!board.update(at(0), at(20), [(at(4), at(5)), (at(7), at(9))].into_iter()));
        assert!(board.update(at(1), at(20), [(at(5), at(8))].into_iter()));
        assert_eq!(board.ranges, [(at(4), at(9))]);
        // Below SND.UNA, empty, beyond what was sent.
        let odd = [(at(0), at(1)), (at(6), at(6)), (at(19), at(21))];
        assert!(!board.update(at(2), at(20), odd.into_iter()));
        assert!(!board.update(at(9), at(20), core::iter::empty()) && board.ranges.is_empty());
    }

    /// RFC 6675 section 4, `IsLost()`: three separate ranges, or more than two segments' bytes, above.
    #[test]
    fn three_ranges_or_more_than_two_segments_prove_loss() {
        let lost = |blocks: &[(u64, u64)], segment| board(blocks).is_lost(at(segment), MSS, 3);
        assert!(!lost(&[(1, 3)], 0));
        assert!(lost(&[(1, 4)], 0));
        assert!(!lost(&[(1, 2), (3, 4)], 0));
        assert!(lost(&[(1, 2), (3, 4), (5, 6)], 0));
        assert!(!lost(&[(1, 2), (3, 4), (5, 6)], 2));
    }

    /// RFC 6675 section 4, `SetPipe()`: a lost byte counts only if it was retransmitted; one that is not lost but was
    /// retransmitted counts twice.
    #[test]
    fn pipe_counts_what_is_neither_received_nor_lost() {
        let mut board = board(&[(1, 2), (3, 7)]);
        let pipe = |board: &Scoreboard| board.pipe(at(0), at(10), MSS, 3) / u64::from(MSS);
        // Segments 0 and 2 are lost, 7 to 9 are in flight.
        assert_eq!(pipe(&board), 3);
        board.high_rxt = at(1);
        assert_eq!(pipe(&board), 4);
        board.high_rxt = at(8);
        assert_eq!(pipe(&board), 3 + 2 + 1);
    }

    #[test]
    fn holes_are_found_upwards() {
        let board = board(&[(1, 2), (4, 5)]);
        let hole = |from| board.hole_from(at(from)).map(|hole| (hole.start, hole.end));
        assert_eq!(hole(0), Some((at(0), at(1))));
        assert_eq!(hole(1), Some((at(2), at(4))));
        assert_eq!(hole(3), Some((at(3), at(4))));
        assert_eq!(hole(4), None);
        assert_eq!(board.missing_from(at(4)), (at(5), None));
        assert_eq!(board.sacked_before(at(5)), 200);
        let last = |max| board.last_hole(at(0), at(max));
        assert_eq!((last(7), last(5)), (Hole { start: at(5), end: at(7) }, Hole { start: at(2), end: at(4) }));
    }
}
