//! Connects RACK-TLP (`recovery::rack`) to the socket: acknowledgements, the timer, what is sent. Under it the stack always sends by
//! what is under way: the first lost segment, or the next of the stream, while the window has room (RFC 8985 section 6; RFC 6675's
//! pipe without its rules). Proportional rate reduction (RFC 6937) is left out.

use super::action::Action;
use super::position::Pos;
use super::recovery::{Awaits, Rack, Report, RoundTrips, Strategy};
use super::socket::Socket;
use super::timer::Timer;
use crate::wire::TcpSegment;
use arrayvec::ArrayVec;
use fourhop_cc::{Ack, CaState, Cause, CongestionControl};
use fourhop_units::Time;

impl Socket {
    fn round_trips(&self) -> RoundTrips {
        RoundTrips { min: self.rtt.min_rtt(), srtt: self.rtt.srtt() }
    }

    /// Segments on their way.
    pub(super) fn under_way(&self) -> u32 {
        match &self.strategy {
            Strategy::Rack(rack) => rack.flight.in_flight(),
            _ => self.snd.in_flight_segments(),
        }
    }

    fn is_repairing(&self) -> bool {
        matches!(self.recovery.state, CaState::Recovery | CaState::Loss)
    }

    /// What a segment reports: SACK blocks within the data in flight, and a D-SACK, which is the first block if that lies before the
    /// acknowledgement or within the second (RFC 2883 section 4).
    fn read_report(&self, ack: Pos, segment: &TcpSegment) -> Report {
        let mut blocks: ArrayVec<(Pos, Pos), 4> = segment
            .options
            .sack
            .iter()
            .map(|&(left, right)| (self.snd.locate(left), self.snd.locate(right)))
            .filter(|(left, right)| left < right)
            .collect();
        let dsack = blocks.first().copied().filter(|&(left, right)| {
            right <= ack || blocks.get(1).is_some_and(|&(from, to)| from <= left && right <= to)
        });
        blocks.retain(|&mut (left, right)| ack <= left && right <= self.snd.max);
        Report { ack, blocks, dsack }
    }

    /// An acknowledgement (RFC 8985 sections 6.2 and 7.4).
    pub(super) fn process_ack_by_time(&mut self, now: Time, ack: Pos, segment: &TcpSegment, out: &mut Vec<Action>) {
        if ack < self.snd.una {
            return self.transmit(now, out);
        }
        self.note_application_limit();
        let report = self.read_report(ack, segment);
        let bare = ack == self.snd.una && segment.payload == 0 && segment.options.sack.is_empty();
        let prior = self.under_way();
        let limited = prior >= self.win.cwnd;
        let grows = !self.config.grow_only_when_limited
            || limited
            || (self.win.in_slow_start() && 2 * u64::from(prior) >= u64::from(self.win.cwnd));
        let echo = self.timestamps.and(segment.options.timestamps).map(|stamp| stamp.echo);
        let readings = (self.config.clock, self.timestamp_start());
        let min_rtt = self.rtt.min_rtt();
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        let news = rack.take(now, &report, min_rtt, |at| {
            // The clock has the tick that the segment left in, so that an equal reading is not older.
            let left = readings.0.reading(at).wrapping_add(readings.1);
            echo.is_some_and(|echo| (echo.wrapping_sub(left) as i32) < 0)
        });
        let repaired = rack.probe_repaired(&report, bare);
        let advanced = ack > self.snd.una;
        if advanced {
            self.take_back_timeout(now, echo);
        }
        self.stats.duplicate_acks += u64::from(!advanced && news.sacked);

        let exits = advanced && self.is_repairing() && ack >= self.recovery.recover;
        let event = advanced.then(|| self.take_cumulative(now, ack, segment, grows));
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.adapt_window(self.snd.una, self.snd.max, report.dsack.is_some(), exits);
        }
        if exits {
            self.set_ca_state(now, CaState::Open);
        }
        let newly_lost = self.find_losses(now, prior);
        if newly_lost == 0 && repaired && !self.is_repairing() {
            self.cut_for_probe(now);
        }
        if let Some(mut event) = event {
            // As after any recovery the ACK that ends it does not grow the window.
            event.credit = if exits { 0 } else { event.credit };
            let view = self.view(now, prior);
            self.cc.on_ack(&mut self.win, &view, &event);
            self.restart_retransmit_timer(now);
        }
        if self.transport.owns_window() {
            let mut sample = news.sample;
            (sample.newly_lost, sample.in_flight, sample.cwnd_limited) = (newly_lost, self.under_way(), limited);
            let view = self.view(now, prior);
            self.cc.on_rate(&mut self.win, &view, &sample);
            if let (true, Strategy::Rack(rack)) = (self.cc.marks_app_limited(), &mut self.strategy) {
                rack.mark_app_limited();
            }
        } else if self.config.stack_pacing && advanced {
            self.pace_by_window();
        }
        if advanced {
            self.schedule_probe(now);
        }
        self.transmit(now, out);
    }

    /// SND.UNA moves.
    fn take_cumulative(&mut self, now: Time, ack: Pos, segment: &TcpSegment, cwnd_limited: bool) -> Ack {
        let acked = self.snd.acknowledge(ack);
        self.stats.bytes_acked += acked.bytes;
        self.stats.segments_acked += u64::from(acked.segments);
        self.recovery.timeouts = 0;
        self.recovery.resend = self.recovery.resend.filter(|&at| at >= ack);
        let rtt = self.sample_rtt(now, ack, acked.sent_at, segment, false);
        Ack {
            acked: acked.segments,
            credit: if self.echoes_mark(segment) { 0 } else { acked.segments.min(self.config.growth_limit) },
            rtt,
            cwnd_limited,
            total_acked: self.stats.segments_acked,
            total_sent: self.stats.segments_sent - self.stats.segments_retransmitted,
        }
    }

    /// Section 6.2 step 5, what follows from it for recovery, and the timer for the rest of the reordering window. Returns how
    /// many segments are lost that were not.
    fn find_losses(&mut self, now: Time, prior: u32) -> u32 {
        let (trips, repairing, owns) = (self.round_trips(), self.is_repairing(), self.transport.owns_window());
        let view = self.view(now, prior);
        let Strategy::Rack(rack) = &mut self.strategy else { return 0 };
        let (cc, win) = (&mut self.cc, &mut self.win);
        let search = rack.detect_loss(now, trips, repairing, |lost| {
            if owns {
                cc.on_lost(win, &view, lost);
            }
        });
        if let Some(wait) = search.wait {
            rack.awaits = Awaits::Reordering;
            self.timers.set(Timer::Rack, now + wait);
        } else if rack.awaits == Awaits::Reordering {
            self.timers.stop(Timer::Rack);
        }
        if search.lost > 0 && !repairing {
            self.enter_recovery(now);
        } else if !repairing {
            let Strategy::Rack(rack) = &self.strategy else { return 0 };
            let next = if rack.flight.counts.sacked > 0 { CaState::Disorder } else { CaState::Open };
            if next != self.recovery.state {
                self.set_ca_state(now, next);
            }
        }
        search.lost
    }

    /// Section 7.4: a probe has repaired the only loss; the window answers it as a recovery that is over already.
    fn cut_for_probe(&mut self, now: Time) {
        if !self.transport.owns_window() {
            self.cut(now, CaState::Recovery, Cause::FastRetransmit);
            self.set_ca_state(now, CaState::Open);
        }
    }

    /// Section 7.2: restarts the timer for a probe, if one is to come; it is not to be later than the retransmission timer.
    pub(super) fn schedule_probe(&mut self, now: Time) {
        let quiet = matches!(self.recovery.state, CaState::Open | CaState::Disorder);
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        if self.timers.is_set(Timer::Rack) && rack.awaits == Awaits::Reordering {
            return;
        }
        match rack.probe_timeout(self.rtt.srtt()).filter(|_| quiet) {
            Some(wait) => {
                rack.awaits = Awaits::Probe;
                self.timers.set(Timer::Rack, (now + wait).min(self.timers.at(Timer::Retransmit)));
            }
            None => self.timers.stop(Timer::Rack),
        }
    }

    /// The timer of RACK-TLP expired.
    pub(super) fn on_rack_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        if !self.state.may_transmit() || self.freeze.is_frozen() {
            return;
        }
        self.note_application_limit();
        let Strategy::Rack(rack) = &self.strategy else { return };
        match rack.awaits {
            Awaits::Reordering => {
                self.find_losses(now, self.under_way());
                self.transmit(now, out);
            }
            Awaits::Probe => self.send_tail_probe(now, out),
        }
    }

    /// Section 7.3, `TLP_send_probe()`: one segment beyond what the congestion window allows.
    fn send_tail_probe(&mut self, now: Time, out: &mut Vec<Action>) {
        let last = match &self.strategy {
            Strategy::Rack(rack) => rack.last(),
            _ => None,
        };
        let (end, again) = match (self.next_segment(u64::from(u32::MAX)), last) {
            (Some(next), _) => {
                self.send_next(now, next, out);
                (self.snd.nxt, false)
            }
            (None, Some(last)) => (self.retransmit(now, last.start, last.end, out), true),
            (None, None) => return,
        };
        self.stats.tail_probes += 1;
        if let Strategy::Rack(rack) = &mut self.strategy {
            rack.note_probe(end, again);
        }
        self.restart_retransmit_timer(now);
    }

    /// Sends at most `budget` segments while the window has room for what is under way.
    pub(super) fn transmit_by_flight(&mut self, now: Time, budget: u32, out: &mut Vec<Action>) -> u32 {
        self.tell_restart(now);
        let all_wait = self.config.pace_retransmissions || self.config.stack_pacing || self.transport.owns_window();
        let (mut sent, mut fresh_sent) = (0, false);
        while sent < budget {
            let Strategy::Rack(rack) = &self.strategy else { break };
            let lost = rack.flight.first_lost();
            // What waits in a pacing queue has its place in the window.
            let queued = self.snd.nxt.beyond(self.snd.max).div_ceil(u64::from(self.snd.mss)) as u32;
            let has_room = rack.flight.in_flight().saturating_add(queued) < self.win.cwnd;
            // RFC 6675 section 5 step 4.3: the first loss goes again whatever is under way.
            if !has_room && (self.recovery.resend.is_none() || lost.is_none()) {
                break;
            }
            let next = match lost {
                Some(_) => None,
                None => self.next_segment(u64::from(u32::MAX)),
            };
            if lost.is_none() && next.is_none() {
                break;
            }
            let fresh = next.is_some();
            if (fresh || all_wait) && self.is_held_back(now, true) {
                break;
            }
            match (lost, next) {
                (Some(lost), _) => {
                    self.recovery.resend = None;
                    self.pacer.pass_slot();
                    self.retransmit(now, lost.start, lost.end, out);
                }
                (None, Some(next)) => self.send_next(now, next, out),
                (None, None) => break,
            }
            fresh_sent |= fresh;
            sent += 1;
        }
        if fresh_sent {
            self.schedule_probe(now);
        }
        self.watch_window(now);
        sent
    }

    /// `BBRHandleRestartFromIdle()` of the draft asks to know.
    fn tell_restart(&mut self, now: Time) {
        let Strategy::Rack(rack) = &self.strategy else { return };
        let idle = rack.flight.in_flight() == 0 && rack.is_app_limited();
        if idle && self.transport.owns_window() && self.snd.unsent() {
            let view = self.view(now, 0);
            self.cc.on_restart(&mut self.win, &view);
        }
    }

    /// `CheckIfApplicationLimited()` of draft-ietf-ccwg-bbr-05, section 4.1.2.4: what is sent from now on tells nothing of the path.
    pub(super) fn note_application_limit(&mut self) {
        let nothing_left = !self.snd.unsent();
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        if nothing_left && rack.flight.counts.lost == 0 && rack.flight.in_flight() < self.win.cwnd {
            rack.mark_app_limited();
        }
    }

    /// Section 6.3, before the window is cut.
    pub(super) fn lose_by_timeout(&mut self, now: Time) {
        let (trips, owns) = (self.round_trips(), self.transport.owns_window());
        let view = self.view(now, self.under_way());
        let Strategy::Rack(rack) = &mut self.strategy else { return };
        let (cc, win) = (&mut self.cc, &mut self.win);
        rack.lose_on_timeout(now, trips, |lost| {
            if owns {
                cc.on_lost(win, &view, lost);
            }
        });
        self.timers.stop(Timer::Rack);
    }

    /// The recovery by time, if that is how this connection recovers.
    pub(super) fn rack(&self) -> Option<&Rack> {
        match &self.strategy {
            Strategy::Rack(rack) => Some(rack),
            _ => None,
        }
    }
}
