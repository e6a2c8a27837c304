//! Arriving segments, state by state (RFC 9293 section 3.10.7), with the checks of RFC 5961 and RFC 7323.

use super::ack_policy::{AckDecision, AckPolicy, Arrival};
use super::action::Action;
use super::adhoc::Packet;
use super::position::Pos;
use super::recovery::Strategy;
use super::socket::{Socket, TimestampState};
use super::state::State;
use super::timer::Timer;
use crate::wire::TcpSegment;
use fourhop_cc::CongestionControl;
use fourhop_units::{Dur, Time};

impl Socket {
    /// RFC 9293 section 3.10.7.2.
    pub(super) fn on_segment_in_listen(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if segment.flags.ack {
            out.extend(Socket::refuse(segment).map(|segment| Action::Send { segment, stream_offset: 0 }));
        } else if segment.flags.syn && !segment.flags.rst {
            self.remote_port = segment.src_port;
            self.take_syn(now, segment);
            self.start_handshake(now, State::SynReceived, out);
        }
    }

    /// RFC 9293 section 3.10.7.3.
    pub(super) fn on_segment_in_syn_sent(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        let acks_syn = segment.flags.ack && self.snd.locate(segment.ack) == self.snd.max;
        if segment.flags.ack && !acks_syn {
            out.extend(Socket::refuse(segment).map(|segment| Action::Send { segment, stream_offset: 0 }));
        } else if segment.flags.rst {
            if acks_syn {
                self.end(Action::Reset, out);
            }
        } else if segment.flags.syn {
            self.take_syn(now, segment);
            if acks_syn {
                self.establish(now, segment, out);
                // The acknowledgement rides on data if there is any.
                self.ack_due = true;
                self.transmit(now, out);
                if self.ack_due {
                    self.send_ack(now, out);
                }
            } else {
                // Simultaneous open (RFC 9293 section 3.5, figure 7).
                self.state = State::SynReceived;
                self.send_syn(now, out);
            }
        }
    }

    /// Every state from SYN-RECEIVED on: RFC 9293 section 3.10.7.4, whose checks stand in order.
    pub(super) fn on_segment(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        let flags = segment.flags;
        if self.policy.wants_packets() {
            self.tell_policy(now, segment);
        }
        let outdated = self.is_outdated(now, segment);
        if outdated || !self.rcv.accepts(segment) {
            if flags.fin && self.state == State::TimeWait {
                self.timers.set(Timer::TimeWait, now + self.config.time_wait);
            }
            self.ack_due |= !flags.rst;
            self.rcv.note_duplicate(self.rcv.locate(segment.seq), segment.payload.into());
            if !outdated && self.tells_news_late(segment) {
                self.take_acknowledgement(now, segment, out);
            }
            return;
        }
        self.take_timestamp(now, segment);
        if flags.rst {
            // RFC 5961 section 3.2: only the exact number resets; another one in the window is asked about.
            if self.rcv.locate(segment.seq) == self.rcv.nxt {
                self.end(Action::Reset, out);
            } else {
                self.ack_due = true;
            }
            return;
        }
        if flags.syn {
            // RFC 5961 section 4.2: a challenge ACK.
            self.ack_due = true;
            return;
        }
        if !flags.ack {
            return;
        }
        if self.state == State::SynReceived {
            if self.snd.locate(segment.ack) != Pos::FIRST {
                out.extend(Socket::refuse(segment).map(|segment| Action::Send { segment, stream_offset: 0 }));
                return;
            }
            self.establish(now, segment, out);
            if self.snd.fin {
                self.state = State::FinWait1;
            }
        } else if self.snd.locate(segment.ack) > self.snd.max {
            self.ack_due = true;
            return;
        }
        self.stats.marks_received += u64::from(self.ecn.handle_arrival(segment));
        // Payload before the acknowledgement, so that what that one releases carries the answer to the payload.
        if self.state.may_receive() {
            self.take_payload(now, segment, out);
        }
        self.take_acknowledgement(now, segment, out);
        if self.state.may_receive() {
            self.take_fin(now, segment, out);
        }
    }

    /// Does a segment from before the window acknowledge what none in the window has? Its acknowledgement is then as good
    /// as any (4.4BSD takes it, too). RFC 9293 drops the whole segment, and two ends which have both taken a probe of a
    /// window they had opened, without the other's knowledge, would answer each other's acknowledgements for ever.
    fn tells_news_late(&self, segment: &TcpSegment) -> bool {
        let (ack, flags) = (self.snd.locate(segment.ack), segment.flags);
        let agreed = flags.ack && !flags.syn && !flags.rst && self.state != State::SynReceived;
        agreed && self.rcv.was_in_window(segment) && self.snd.una < ack && ack <= self.snd.max
    }

    /// The acknowledgement of a segment, and what it means for a FIN of ours.
    fn take_acknowledgement(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        self.process_ack(now, segment, out);
        if self.snd.fin_acked() {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.end(Action::Closed, out),
                _ => {}
            }
        }
    }

    fn take_payload(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if segment.payload == 0 {
            return;
        }
        let stored = self.rcv.store(self.rcv.locate(segment.seq), u64::from(segment.payload));
        if stored.bytes == 0 {
            self.ack_due = true;
            return;
        }
        out.push(Action::Stored {
            skip: stored.skip as u32,
            stream_offset: stored.start.offset(),
            bytes: stored.bytes as u32,
        });
        if stored.delivered > 0 {
            self.stats.bytes_delivered += stored.delivered;
            if !self.config.explicit_read {
                self.rcv.read(stored.delivered);
            }
            out.push(Action::Delivered { bytes: stored.delivered });
        }
        let arrival = Arrival {
            in_order: stored.in_order,
            filled_gap: stored.filled_gap,
            bytes: segment.payload,
            mss: self.snd.mss,
            received: self.rcv.nxt.offset(),
        };
        match self.policy.on_segment(&arrival) {
            AckDecision::Now => self.ack_due = true,
            AckDecision::Within(time) if !self.timers.is_set(Timer::DelayedAck) => {
                self.timers.set(Timer::DelayedAck, now + time);
            }
            AckDecision::Within(_) => {}
        }
    }

    /// RFC 9293 section 3.10.7.4, eighth check.
    fn take_fin(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if segment.flags.fin {
            self.rcv.note_fin(self.rcv.locate(segment.seq) + u64::from(segment.payload));
            self.ack_due = true;
        }
        if !self.rcv.take_fin() {
            return;
        }
        self.ack_due = true;
        out.push(Action::PeerClosed);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// The peer's SYN: its number and options.
    fn take_syn(&mut self, now: Time, segment: &TcpSegment) {
        let options = &segment.options;
        self.rcv.synchronise(segment.seq);
        self.last_ack_sent = self.rcv.nxt;
        let offered = options.mss.map_or(self.config.mss_without_option, u32::from).max(1);
        self.snd.mss = offered.min(self.config.mss);
        self.peer_scales = options.window_scale.is_some();
        if let Some(shift) = options.window_scale {
            self.snd.scale = shift.min(14);
            self.rcv.scale = self.config.window_scale();
        }
        self.sack = self.config.sack && options.sack_permitted;
        self.ecn.agree(self.config.ecn, segment.flags);
        self.strategy = Strategy::new(self.transport.recovery, self.sack, &self.config);
        self.timestamps = options
            .timestamps
            .filter(|_| self.config.timestamps)
            .map(|t| TimestampState { recent: t.value, taken: now });
        if self.timestamps.is_some() {
            // RFC 6691: the option counts without TCP options; the sender makes room for them. 10 bytes and 2 padding.
            self.snd.mss = self.snd.mss.saturating_sub(12).max(1);
        }
    }

    /// Our SYN is acknowledged, the peer's has arrived.
    fn establish(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        self.state = State::Established;
        let seq = self.rcv.locate(segment.seq);
        self.snd.acknowledge(Pos::FIRST);
        self.snd.update_window(seq, Pos::FIRST, segment.window, !segment.flags.syn);
        if self.recovery.timeouts > 0 {
            self.rtt.syn_was_lost();
            // RFC 5681 section 3.1: a lost SYN means an initial window of one segment.
            self.win.set_cwnd(1);
        } else if let Some(rtt) = self.rtt.finish_timing(Pos::FIRST, now) {
            self.rtt.sample(rtt, now);
        }
        self.rtt.cancel_timing();
        self.recovery.timeouts = 0;
        self.timers.stop(Timer::Retransmit);
        let view = self.view(now, 0);
        self.cc.init(&mut self.win, &view);
        out.push(Action::Connected);
    }

    /// The round trip a timestamp echo tells, rounded up to the clock's tick.
    pub(super) fn echoed_rtt(&self, now: Time, segment: &TcpSegment) -> Option<Dur> {
        self.timestamps?;
        let echo = segment.options.timestamps?.echo;
        Some(self.config.clock.tick * u64::from(self.timestamp(now).wrapping_sub(echo)).max(1))
    }

    /// What the path has done to the packet of `segment`.
    fn tell_policy(&mut self, now: Time, segment: &TcpSegment) {
        let skew = self.policy.adhoc.map(|adhoc| adhoc.skew()).unwrap_or_default();
        let stamp = segment.options.timestamps.filter(|_| self.timestamps.is_some());
        let packet = Packet {
            bytes: segment.payload,
            mss: self.snd.mss,
            hops: self.hops,
            delay: stamp.and_then(|stamp| self.config.clock.delay_since(stamp.value, now, skew)),
            probe: segment.seq_len() == 0 && self.rcv.locate(segment.seq) < self.rcv.nxt,
        };
        self.policy.on_packet(now, &packet);
    }

    /// RFC 7323 section 5.3: does the timestamp show that the segment comes from before the numbers wrapped?
    fn is_outdated(&self, now: Time, segment: &TcpSegment) -> bool {
        let (Some(state), Some(arrived)) = (self.timestamps, segment.options.timestamps) else { return false };
        let older = (arrived.value.wrapping_sub(state.recent) as i32) < 0;
        older && !segment.flags.rst && now - state.taken < self.config.clock.outdated()
    }

    /// RFC 7323 section 4.3: what to echo. A segment beyond the last acknowledgement sent leaves a gap and does not count.
    fn take_timestamp(&mut self, now: Time, segment: &TcpSegment) {
        let (Some(state), Some(arrived)) = (&mut self.timestamps, segment.options.timestamps) else { return };
        if self.rcv.locate(segment.seq) <= self.last_ack_sent && !segment.flags.rst {
            *state = TimestampState { recent: arrived.value, taken: now };
        }
    }
}
