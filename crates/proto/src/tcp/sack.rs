//! Loss recovery by selective acknowledgements: RFC 6675, and ns-2.35's `Sack1` as an option.
//!
//! RFC 6675 derives how much is under way from the scoreboard at each acknowledgement; ns-2.35 counts it: outstanding
//! segments less the duplicate ACKs at the start, one less for each ACK, two less for a partial one, one more for each
//! segment sent.

use super::action::Action;
use super::config::SackRecovery;
use super::position::Pos;
use super::send::Next;
use super::socket::Socket;
use crate::wire::TcpSegment;
use fourhop_cc::{CaState, Recovery as Strategy};
use fourhop_units::Time;

/// What recovery by SACK sends next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// A hole, up to a place.
    Again { at: Pos, until: Pos },
    /// The last segment under way, once per recovery (RFC 6675 section 4, rule 4).
    Rescue { at: Pos },
    /// The next segment of the stream.
    Fresh(Next),
}

impl Socket {
    /// Does this connection recover by SACK? A peer without SACK leaves it NewReno.
    pub(super) fn recovers_by_sack(&self) -> bool {
        self.sack && self.transport.recovery == Strategy::Sack
    }

    /// Recovers in ns-2.35's manner, by counting?
    pub(super) fn counts_pipe(&self) -> bool {
        self.config.sack_recovery == SackRecovery::PipeCounter
    }

    /// Bytes believed to be in the network (RFC 6675 `pipe`).
    pub(super) fn pipe(&self) -> u64 {
        self.scoreboard.pipe(self.snd.una, self.snd.max, self.snd.mss, self.config.dup_ack_threshold)
    }

    /// An ACK that does not move SND.UNA; `news` says whether its SACK blocks did tell anything.
    pub(super) fn on_sack_duplicate(&mut self, now: Time, news: bool, out: &mut Vec<Action>) {
        self.recovery.dup_acks += u32::from(news);
        self.stats.duplicate_acks += u64::from(news);
        if self.recovery.state == CaState::Recovery {
            self.recovery.pipe -= 1;
            self.transmit(now, out);
        } else if self.counts_pipe() {
            self.on_counted_duplicate(now, news, out);
        } else {
            self.on_reported_duplicate(now, news, out);
        }
    }

    /// ns-2.35: recovery begins with exactly the third duplicate ACK; while duplicate ACKs arrive nothing else is sent.
    fn on_counted_duplicate(&mut self, now: Time, news: bool, out: &mut Vec<Action>) {
        let (dup_acks, threshold) = (self.recovery.dup_acks, self.config.dup_ack_threshold);
        if dup_acks == 0 {
            self.transmit(now, out);
        } else if news && dup_acks == threshold && self.snd.una > self.recovery.recover {
            self.enter_sack_recovery(now, out);
        } else if news && dup_acks < threshold && self.config.limited_transmit {
            self.announce_disorder(now);
            self.recovery.limited += self.transmit_at_most(now, dup_acks, 1, out);
        }
    }

    /// RFC 6675 section 5.
    fn on_reported_duplicate(&mut self, now: Time, news: bool, out: &mut Vec<Action>) {
        let (mss, threshold) = (self.snd.mss, self.config.dup_ack_threshold);
        let proved = self.recovery.dup_acks >= threshold || self.scoreboard.is_lost(self.snd.una, mss, threshold);
        if news && proved && self.snd.una >= self.recovery.recover {
            self.enter_sack_recovery(now, out);
        } else if news && self.recovery.state != CaState::Loss && self.config.limited_transmit {
            self.announce_disorder(now);
            // Step 3: fresh segments as pipe allows, which is short of cwnd by what has been reported.
            self.scoreboard.high_rxt = self.snd.una;
            self.recovery.limited += self.transmit_at_most(now, 0, u32::MAX, out);
        } else {
            self.transmit(now, out);
        }
    }

    /// RFC 6675 section 5 step 4.
    fn enter_sack_recovery(&mut self, now: Time, out: &mut Vec<Action>) {
        self.enter_recovery(now);
        self.recovery.inflation = 0;
        let outstanding = (self.snd.max - self.snd.una).div_ceil(u64::from(self.snd.mss));
        self.recovery.pipe = outstanding as i64 - i64::from(self.config.dup_ack_threshold);
        let first = self.scoreboard.hole_from(self.snd.una).map_or(self.snd.max, |hole| hole.end);
        self.scoreboard.high_rxt = first.min(self.snd.una + u64::from(self.snd.mss));
        self.scoreboard.rescue_rxt = self.scoreboard.high_rxt;
        // ns-2.35 sends the first hole alone at first.
        let budget = if self.counts_pipe() { 0 } else { u32::MAX };
        self.transmit_at_most(now, 0, budget, out);
    }

    /// A new ACK short of the recovery point.
    pub(super) fn on_sack_partial_ack(&mut self, now: Time) {
        if self.counts_pipe() {
            self.recovery.pipe -= 2;
            self.rtt.end_back_off();
        }
        self.restart_retransmit_timer(now);
    }

    /// A new ACK outside recovery, or the one that ends it.
    pub(super) fn on_sack_ack(&mut self, ends_recovery: bool) {
        if self.counts_pipe() {
            self.scoreboard.clear();
            if ends_recovery {
                self.recovery.recover = Pos::SYN;
            }
        }
    }

    /// Takes the SACK blocks of an acceptable segment; true if they tell anything. ns-2.35 does not listen between a
    /// time-out and the next new ACK.
    pub(super) fn take_sack_blocks(&mut self, ack: Pos, segment: &TcpSegment) -> bool {
        let deaf = self.counts_pipe() && self.recovery.timeouts > 0 && ack <= self.snd.una;
        if deaf || ack < self.snd.una {
            return false;
        }
        let snd = &self.snd;
        let blocks = segment.options.sack.iter().map(|&(left, right)| (snd.locate(left), snd.locate(right)));
        self.scoreboard.update(ack, snd.max, blocks)
    }

    /// Sends in recovery what RFC 6675 section 5 step C allows.
    pub(super) fn transmit_in_sack_recovery(&mut self, now: Time, out: &mut Vec<Action>) {
        let mss = u64::from(self.snd.mss);
        let cwnd = u64::from(self.win.cwnd) * mss;
        let mut pipe = self.pipe();
        loop {
            let room = match self.config.sack_recovery {
                SackRecovery::PipeCounter => self.recovery.pipe < i64::from(self.win.cwnd),
                SackRecovery::Scoreboard => pipe + mss <= cwnd,
            };
            let Some(choice) = self.choose().filter(|_| room) else { break };
            let fresh = matches!(choice, Choice::Fresh(_));
            if (fresh || self.config.pace_retransmissions) && self.is_held_back(now, fresh) {
                break;
            }
            match choice {
                Choice::Again { at, until } => {
                    let end = self.retransmit(now, at, until, out);
                    self.scoreboard.high_rxt = self.scoreboard.high_rxt.max(end);
                }
                Choice::Rescue { at } => {
                    self.scoreboard.rescue_rxt = self.recovery.recover;
                    self.retransmit(now, at, Pos::LAST, out);
                }
                Choice::Fresh(next) => self.send_next(now, next, out),
            }
            self.recovery.pipe += 1;
            pipe += mss;
        }
    }

    /// RFC 6675 section 4, `NextSeg()`. ns-2.35 takes each hole below the highest place held once, lost or not, and then
    /// fresh data; it knows neither rule 3 nor 4.
    fn choose(&self) -> Option<Choice> {
        let (board, snd) = (&self.scoreboard, &self.snd);
        let hole =
            board.hole_from(board.high_rxt.max(snd.una)).map(|hole| Choice::Again { at: hole.start, until: hole.end });
        let lost = |at| board.is_lost(at, snd.mss, self.config.dup_ack_threshold);
        if let Some(Choice::Again { at, .. }) = hole
            && (self.counts_pipe() || lost(at))
        {
            return hole;
        }
        if let Some(next) = self.next_segment(u64::from(u32::MAX)) {
            return Some(Choice::Fresh(next));
        }
        if self.counts_pipe() {
            return None;
        }
        let rescue = || {
            let last = board.last_hole(snd.una, snd.max);
            let tail = (last.end - last.start).min(u64::from(snd.mss));
            let due = snd.una > board.rescue_rxt && tail > 0;
            due.then(|| Choice::Rescue { at: last.start + (last.end - last.start - tail) })
        };
        hole.or_else(rescue)
    }
}
