//! Loss recovery by selective acknowledgements: RFC 6675, and ns-2.35's `Sack1` as an option.
//!
//! RFC 6675 derives the data in flight from the scoreboard at each acknowledgement; ns-2.35 counts it: outstanding
//! segments minus the duplicate ACKs at the start, minus one for each ACK, minus two for a partial ACK, plus one for
//! each segment sent.

use super::scoreboard::Scoreboard;
use super::state::{Reaction, Recovery};
use crate::tcp::config::{Config, SackRecovery};
use crate::tcp::position::Pos;
use crate::tcp::sender::rtt::RttEstimator;
use crate::tcp::sender::space::{Next, SendSpace};
use crate::wire::TcpSegment;
use fourhop_cc::CaState;

/// Next segment in SACK recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) enum Choice {
    /// A hole, up to a position.
    Again { at: Pos, until: Pos },
    /// The last segment in flight, once per recovery (RFC 6675 section 4, rule 4).
    Rescue { at: Pos },
    /// The next segment of the stream.
    Fresh(Next),
}

/// The receiver's reports, and the progress of recovery.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Sack {
    board: Scoreboard,
    /// Whether it counts the data in flight, as ns-2.35 does.
    counts: bool,
    /// ns-2.35's count of segments in the network during recovery; below zero if ACKs outnumber them.
    pipe: i64,
    /// Duplicate ACKs that signal a loss.
    threshold: u32,
}

impl Sack {
    pub(super) fn new(config: &Config) -> Sack {
        let counts = config.sack_recovery == SackRecovery::PipeCounter;
        Sack { board: Scoreboard::new(), counts, pipe: 0, threshold: config.dup_ack_threshold }
    }

    /// Takes the SACK blocks of an acceptable segment; returns whether they report anything new. ns-2.35 ignores them
    /// between a timeout and the next new ACK.
    pub(super) fn take_blocks(&mut self, ack: Pos, segment: &TcpSegment, snd: &SendSpace, timed_out: bool) -> bool {
        let deaf = self.counts && timed_out && ack <= snd.una;
        if deaf || ack < snd.una {
            return false;
        }
        let blocks = segment.options.sack.iter().map(|&(left, right)| (snd.locate(left), snd.locate(right)));
        self.board.update(ack, snd.max, blocks)
    }

    /// Handles an ACK that does not move SND.UNA; `news`: its SACK blocks report something new.
    pub(super) fn on_duplicate(
        &mut self,
        news: bool,
        config: &Config,
        snd: &SendSpace,
        recovery: &Recovery,
    ) -> Reaction {
        let all = Reaction::Send { budget: u32::MAX };
        if recovery.state == CaState::Recovery {
            self.pipe -= 1;
            all
        } else if self.counts {
            self.on_counted_duplicate(news, config, snd, recovery)
        } else if news && self.proves_loss(snd, recovery) && snd.una >= recovery.recover {
            Reaction::Recover { budget: u32::MAX }
        } else if news && recovery.state != CaState::Loss && config.limited_transmit {
            // RFC 6675 section 5 step 3: new segments as pipe allows; SACKed data leaves pipe below cwnd.
            self.board.high_rxt = snd.una;
            Reaction::Early { extra: 0, budget: u32::MAX }
        } else {
            all
        }
    }

    /// ns-2.35: recovery begins at exactly the third duplicate ACK; nothing else is sent while duplicate ACKs arrive.
    fn on_counted_duplicate(&self, news: bool, config: &Config, snd: &SendSpace, recovery: &Recovery) -> Reaction {
        let dup_acks = recovery.dup_acks;
        if dup_acks == 0 {
            Reaction::Send { budget: u32::MAX }
        } else if news && dup_acks == self.threshold && snd.una > recovery.recover {
            // At first, only the first hole is sent.
            Reaction::Recover { budget: 0 }
        } else if news && dup_acks < self.threshold && config.limited_transmit {
            Reaction::Early { extra: dup_acks, budget: 1 }
        } else {
            Reaction::Nothing
        }
    }

    /// RFC 6675 section 5: enough ACKs that report something, or enough data in the reports.
    fn proves_loss(&self, snd: &SendSpace, recovery: &Recovery) -> bool {
        recovery.dup_acks >= self.threshold || self.board.is_lost(snd.una, snd.mss, self.threshold)
    }

    /// RFC 6675 section 5 step 4: the first hole is resent at once.
    pub(super) fn begin(&mut self, snd: &SendSpace) {
        let outstanding = (snd.max - snd.una).div_ceil(u64::from(snd.mss));
        self.pipe = outstanding as i64 - i64::from(self.threshold);
        let first = self.board.hole_from(snd.una).map_or(snd.max, |hole| hole.end);
        self.board.high_rxt = first.min(snd.una + u64::from(snd.mss));
        self.board.rescue_rxt = self.board.high_rxt;
    }

    /// Handles a new ACK short of the recovery point; it restarts the retransmission timer.
    pub(super) fn on_partial_ack(&mut self, rtt: &mut RttEstimator) -> bool {
        if self.counts {
            self.pipe -= 2;
            rtt.end_back_off();
        }
        true
    }

    /// Handles a new ACK outside recovery, or the one that ends it. The latter does not grow the window.
    pub(super) fn on_whole_ack(&mut self, ends_recovery: bool, recovery: &mut Recovery) -> bool {
        if self.counts {
            self.board.clear();
            if ends_recovery {
                recovery.recover = Pos::SYN;
            }
        }
        !ends_recovery
    }

    /// RFC 2018 section 8: after a timeout the receiver may have dropped its out-of-order data.
    pub(super) fn forget(&mut self) {
        self.board.clear();
    }

    /// Segments that may be sent now in recovery, under a window of `cwnd` segments (RFC 6675 section 5 step C).
    pub(in crate::tcp) fn room(&self, snd: &SendSpace, cwnd: u32) -> u64 {
        if self.counts {
            return u64::try_from(i64::from(cwnd) - self.pipe).unwrap_or(0);
        }
        let (window, mss) = (u64::from(cwnd) * u64::from(snd.mss), u64::from(snd.mss));
        window.saturating_sub(self.board.pipe(snd.una, snd.max, snd.mss, self.threshold)) / mss
    }

    /// RFC 6675 section 4, `NextSeg()`, rule 1: a lost hole precedes new data. ns-2.35 takes each hole below the
    /// highest SACKed position once, lost or not; it has neither rule 3 nor rule 4.
    pub(in crate::tcp) fn lost_hole(&self, snd: &SendSpace) -> Option<Choice> {
        let hole = self.board.hole_from(self.board.high_rxt.max(snd.una))?;
        let lost = self.counts || self.board.is_lost(hole.start, snd.mss, self.threshold);
        lost.then_some(Choice::Again { at: hole.start, until: hole.end })
    }

    /// Rules 3 and 4, when no new data may be sent: a hole not known to be lost, then the last segment.
    pub(in crate::tcp) fn last_resort(&self, snd: &SendSpace) -> Option<Choice> {
        let board = &self.board;
        if self.counts {
            return None;
        }
        if let Some(hole) = board.hole_from(board.high_rxt.max(snd.una)) {
            return Some(Choice::Again { at: hole.start, until: hole.end });
        }
        let last = board.last_hole(snd.una, snd.max);
        let tail = (last.end - last.start).min(u64::from(snd.mss));
        let due = snd.una > board.rescue_rxt && tail > 0;
        due.then(|| Choice::Rescue { at: last.start + (last.end - last.start - tail) })
    }

    /// Notes a segment sent in recovery; a retransmission reached up to `end`.
    pub(in crate::tcp) fn note_sent(&mut self, choice: Choice, end: Pos, recovery: &Recovery) {
        match choice {
            Choice::Again { .. } => self.board.high_rxt = self.board.high_rxt.max(end),
            Choice::Rescue { .. } => self.board.rescue_rxt = recovery.recover,
            Choice::Fresh(_) => {}
        }
        self.pipe += 1;
    }

    pub(super) fn missing_from(&self, from: Pos) -> (Pos, Option<Pos>) {
        self.board.missing_from(from)
    }

    /// ns-2.35 counts SACKed bytes as in flight.
    pub(super) fn sacked_before(&self, place: Pos) -> u64 {
        if self.counts { 0 } else { self.board.sacked_before(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::TcpOptions;
    use fourhop_units::{Dur, Seq, Time};

    const MSS: u64 = 1_000;

    fn at(segment: u64) -> Pos {
        Pos::FIRST + segment * MSS
    }

    /// Segments 0 to 9 in flight, those in `sacked` SACKed.
    fn reported(config: &Config, sacked: &[(u64, u64)]) -> (Sack, SendSpace) {
        let mut snd = SendSpace::new(Seq::from_wire(1), MSS as u32);
        (snd.una, snd.nxt, snd.max, snd.end) = (at(0), at(0), at(0), at(10));
        (0..10).for_each(|n| {
            snd.note_sent(at(n), at(n + 1), Time::ZERO);
        });
        snd.nxt = snd.max;
        let mut sack = Sack::new(config);
        sack.board.update(at(0), at(10), sacked.iter().map(|&(a, b)| (at(a), at(b))));
        (sack, snd)
    }

    fn again(from: u64, until: u64) -> Option<Choice> {
        Some(Choice::Again { at: at(from), until: at(until) })
    }

    /// ns-2.35's `Sack1` ignores blocks between a timeout and the next new ACK. RFC 6675 section 5.1 does not.
    #[test]
    fn only_ns2_is_deaf_after_a_time_out() {
        for (config, timed_out, ack, hears) in [
            (Config::ns2(), true, 0, false),
            (Config::ns2(), true, 1, true),
            (Config::ns2(), false, 0, true),
            (Config::standard(), true, 0, true),
        ] {
            let (mut sack, snd) = reported(&config, &[]);
            let edge = |segment| at(segment).seq(Seq::from_wire(1));
            let options = TcpOptions { sack: [(edge(3), edge(4))].into_iter().collect(), ..TcpOptions::default() };
            let segment = TcpSegment { options, ..TcpSegment::default() };
            assert_eq!(sack.take_blocks(at(ack), &segment, &snd, timed_out), hears, "{timed_out} {ack}");
            assert_eq!(sack.board.sacked_before(at(10)), if hears { MSS } else { 0 });
        }
    }

    /// RFC 6675 section 5: recovery begins with enough evidence, from the recovery point on, and not with less.
    #[test]
    fn evidence_begins_recovery() {
        let config = Config::standard();
        let early = Reaction::Early { extra: 0, budget: u32::MAX };
        let recover = Reaction::Recover { budget: u32::MAX };
        let send = Reaction::Send { budget: u32::MAX };
        let react = |sacked: &[(u64, u64)], news, recovery: Recovery| {
            let (mut sack, snd) = reported(&config, sacked);
            sack.on_duplicate(news, &config, &snd, &recovery)
        };
        let after = |dup_acks, recover| Recovery { dup_acks, recover, ..Recovery::new() };
        assert_eq!(react(&[(1, 3)], true, after(2, at(0))), early, "two segments are no proof");
        assert_eq!(react(&[(1, 4)], true, after(1, at(0))), recover, "more than two are");
        assert_eq!(react(&[(1, 2)], true, after(3, at(0))), recover, "or three ACKs");
        assert_eq!(react(&[(1, 4)], false, after(3, at(0))), send, "an ACK that reports nothing begins nothing");
        assert_eq!(react(&[(1, 4)], true, after(3, at(1))), early, "nor does one short of the recovery point");
        let lost = Recovery { state: CaState::Loss, ..after(1, at(5)) };
        assert_eq!(react(&[(1, 4)], true, lost), send, "no limited transmit after a time-out");
    }

    /// ns-2.35's `Sack1`: limited transmit up to the third duplicate, which begins recovery unless it falls short of
    /// the recovery point; nothing after that.
    #[test]
    fn ns2_counts_duplicates() {
        let config = Config { limited_transmit: true, ..Config::ns2() };
        let early = |extra| Reaction::Early { extra, budget: 1 };
        let recover = Reaction::Recover { budget: 0 };
        for (dup_acks, news, point, expected) in [
            (0, true, Pos::SYN, Reaction::Send { budget: u32::MAX }),
            (1, true, Pos::SYN, early(1)),
            (2, true, Pos::SYN, early(2)),
            (2, false, Pos::SYN, Reaction::Nothing),
            (3, true, Pos::SYN, recover),
            (3, false, Pos::SYN, Reaction::Nothing),
            (3, true, at(1), Reaction::Nothing),
            (4, true, Pos::SYN, Reaction::Nothing),
        ] {
            let (mut sack, snd) = reported(&config, &[(1, 2)]);
            let recovery = Recovery { dup_acks, recover: point, ..Recovery::new() };
            assert_eq!(sack.on_duplicate(news, &config, &snd, &recovery), expected, "{dup_acks} {news}");
        }
    }

    /// RFC 6675 section 4, `NextSeg()`, rule by rule; HighRxt advances with each retransmission.
    #[test]
    fn holes_go_in_the_order_of_the_rules() {
        let config = Config::standard();
        let (mut sack, mut snd) = reported(&config, &[(1, 2), (3, 6), (8, 9)]);
        let recovery = Recovery { recover: at(10), ..Recovery::new() };
        sack.begin(&snd);
        // 0 was sent when recovery began. 2 has four SACKed segments above it, 6 and 7 have one.
        assert_eq!(sack.lost_hole(&snd), again(2, 3));
        sack.note_sent(Choice::Again { at: at(2), until: at(3) }, at(3), &recovery);
        assert_eq!((sack.lost_hole(&snd), sack.last_resort(&snd)), (None, again(6, 8)));
        sack.note_sent(Choice::Again { at: at(6), until: at(8) }, at(8), &recovery);
        assert_eq!(sack.last_resort(&snd), None, "no rescue before the first retransmission has arrived");
        snd.acknowledge(at(2));
        sack.board.update(at(2), at(10), core::iter::empty());
        assert_eq!(sack.last_resort(&snd), Some(Choice::Rescue { at: at(9) }));
        sack.note_sent(Choice::Rescue { at: at(9) }, at(10), &recovery);
        assert_eq!(sack.last_resort(&snd), None, "once per recovery");
    }

    /// Room is the window minus pipe: 0 and 2 are lost; 2 has not been resent, 0 has, and 6, 7 and 9 are in flight.
    #[test]
    fn room_is_what_pipe_leaves() {
        let (mut sack, snd) = reported(&Config::standard(), &[(1, 2), (3, 6), (8, 9)]);
        sack.begin(&snd);
        assert_eq!([3, 4, 5, 8].map(|cwnd| sack.room(&snd, cwnd)), [0, 0, 1, 4]);
    }

    /// ns-2.35: outstanding minus three, minus one for an ACK, minus two for a partial ACK, plus one for a segment
    /// sent; every hole below the highest report is sent once, and nothing beyond.
    #[test]
    fn ns2_counts() {
        let config = Config::ns2();
        let (mut sack, snd) = reported(&config, &[(1, 4), (5, 6)]);
        let mut recovery = Recovery { dup_acks: 3, ..Recovery::new() };
        assert_eq!(sack.on_duplicate(true, &config, &snd, &recovery), Reaction::Recover { budget: 0 });
        sack.begin(&snd);
        assert_eq!([6, 7, 9].map(|cwnd| sack.room(&snd, cwnd)), [0, 0, 2]);
        recovery.state = CaState::Recovery;
        sack.on_duplicate(false, &config, &snd, &recovery);
        let mut rtt = RttEstimator::new(&config, Dur::ZERO);
        rtt.back_off();
        assert!(sack.on_partial_ack(&mut rtt) && rtt.rto() == rtt.base_rto(), "the back-off ends");
        assert_eq!(sack.room(&snd, 7), 3);
        assert_eq!(sack.lost_hole(&snd), again(4, 5));
        sack.note_sent(Choice::Again { at: at(4), until: at(5) }, at(5), &recovery);
        assert_eq!((sack.room(&snd, 7), sack.lost_hole(&snd), sack.last_resort(&snd)), (2, None, None));
        assert!(!sack.on_whole_ack(true, &mut recovery) && recovery.recover == Pos::SYN);
        assert_eq!((sack.missing_from(at(1)), sack.sacked_before(at(9))), ((at(1), None), 0));
    }
}
