//! Arriving segments, state by state (RFC 9293 section 3.10.7), with the checks of RFC 5961 and RFC 7323.

use super::action::Action;
use super::ecn;
use super::position::Pos;
use super::socket::Socket;
use super::state::State;
use super::timers::Timer;
use crate::wire::TcpSegment;
use fourhop_units::Time;

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
        let acks_syn = segment.flags.ack && self.tx.space.locate(segment.ack) == self.tx.space.max;
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
                // Piggybacks the acknowledgement on data if there is any.
                self.rx.owe_ack();
                self.transmit(now, out);
                if self.rx.owes_ack() {
                    self.send_ack(now, out);
                }
            } else {
                // Simultaneous open (RFC 9293 section 3.5, figure 7).
                self.state = State::SynReceived;
                self.send_syn(now, out);
            }
        }
    }

    /// Every state from SYN-RECEIVED on: RFC 9293 section 3.10.7.4, with its checks in order.
    pub(super) fn on_segment(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        let flags = segment.flags;
        self.rx.inform_policy(now, segment, self.tx.space.mss);
        let outdated = self.rx.stamps.is_outdated(now, segment);
        if outdated || !self.rx.space.accepts(segment) {
            if flags.fin && self.state == State::TimeWait {
                self.timers.set(Timer::TimeWait, now + self.tx.config.time_wait);
            }
            self.rx.take_unacceptable(segment);
            if !outdated && self.reports_late(segment) {
                self.take_acknowledgement(now, segment, out);
            }
            return;
        }
        let seq = self.rx.space.locate(segment.seq);
        self.rx.stamps.take(now, seq, segment);
        if flags.rst {
            // RFC 5961 section 3.2: only the exact number resets; another one in the window gets a challenge ACK.
            if seq == self.rx.space.nxt() {
                self.end(Action::Reset, out);
            } else {
                self.rx.owe_ack();
            }
            return;
        }
        if flags.syn {
            // RFC 5961 section 4.2: a challenge ACK.
            self.rx.owe_ack();
            return;
        }
        if !flags.ack {
            return;
        }
        if self.state == State::SynReceived {
            if self.tx.space.locate(segment.ack) != Pos::FIRST {
                out.extend(Socket::refuse(segment).map(|segment| Action::Send { segment, stream_offset: 0 }));
                return;
            }
            self.establish(now, segment, out);
            if self.tx.space.fin {
                self.state = State::FinWait1;
            }
        } else if self.tx.space.locate(segment.ack) > self.tx.space.max {
            self.rx.owe_ack();
            return;
        }
        self.rx.ecn.handle_arrival(segment);
        // Payload before the acknowledgement, so that segments released by the latter also acknowledge the former.
        if self.state.may_receive() {
            self.rx.take_payload(now, segment, self.tx.space.mss, &mut self.timers, out);
        }
        self.take_acknowledgement(now, segment, out);
        if self.state.may_receive() {
            self.take_fin(now, segment, out);
        }
    }

    /// Whether a segment from before the window acknowledges more than any in the window has. Its acknowledgement is
    /// then as good as any (4.4BSD takes it, too). RFC 9293 drops the whole segment. Two ends that have both accepted a
    /// probe of a window they had opened, without the other's knowledge, would then answer each other's
    /// acknowledgements forever.
    fn reports_late(&self, segment: &TcpSegment) -> bool {
        let (ack, flags) = (self.tx.space.locate(segment.ack), segment.flags);
        let agreed = flags.ack && !flags.syn && !flags.rst && self.state != State::SynReceived;
        agreed && self.rx.space.was_in_window(segment) && self.tx.space.una < ack && ack <= self.tx.space.max
    }

    /// Handles the acknowledgement of a segment, including that of our FIN.
    fn take_acknowledgement(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        let (tx, mut cx) = self.halves(now, out);
        tx.process_ack(&mut cx, segment);
        if self.tx.space.fin_acked() {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.end(Action::Closed, out),
                _ => {}
            }
        }
    }

    /// RFC 9293 section 3.10.7.4, eighth check.
    fn take_fin(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if !self.rx.take_fin(segment) {
            return;
        }
        out.push(Action::PeerClosed);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// Takes the peer's SYN: its number and options.
    fn take_syn(&mut self, now: Time, segment: &TcpSegment) {
        let config = &self.tx.config;
        let ecn = config.ecn && ecn::is_offered(segment.flags);
        self.rx.agree(now, segment, config, ecn);
        self.tx.agree(segment, self.rx.reports(), self.rx.stamps.are_agreed(), ecn);
    }

    /// Enters ESTABLISHED: our SYN is acknowledged, the peer's has arrived.
    fn establish(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        self.state = State::Established;
        let (tx, mut cx) = self.halves(now, out);
        let seq = cx.rx.space.locate(segment.seq);
        tx.establish(&mut cx, seq, segment);
        out.push(Action::Connected);
    }
}
