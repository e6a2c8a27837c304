//! Departure of a segment: its header, and its entry in the sender's lists.

use super::Sender;
use crate::tcp::context::Context;
use crate::tcp::position::Pos;
use crate::tcp::timers::Timer;
use crate::wire::{TcpFlags, TcpSegment};

const ACK: TcpFlags = TcpFlags { ack: true, syn: false, fin: false, rst: false, psh: false, ece: false, cwr: false };

impl Sender {
    /// Retransmits at most one segment from `at` on, not beyond `until`; returns where it ends.
    pub(super) fn retransmit(&mut self, cx: &mut Context, at: Pos, until: Pos) -> Pos {
        let data_end = self.space.end.min(self.space.max).min(until);
        let len = data_end.beyond(at).min(u64::from(self.space.mss));
        let end = at + len;
        let fin = self.space.fin && end == self.space.end && self.space.max > self.space.end;
        self.emit(cx, at, len, fin);
        let end = end + u64::from(fin);
        self.space.go_to(self.space.nxt.max(end));
        end
    }

    /// Sends `len` bytes from `start` on, and the FIN if asked.
    pub(super) fn emit(&mut self, cx: &mut Context, start: Pos, len: u64, fin: bool) {
        let end = start + len + u64::from(fin);
        // Only a sender paced by ns-2.35's timer has the retransmission timer running with nothing in flight.
        let first = !self.space.outstanding() && !self.is_paced_by_timer();
        let fresh = self.space.note_sent(start, end, cx.now);
        if fresh {
            self.rtt.start_timing(end, cx.now);
        } else {
            self.stats.segments_retransmitted += 1;
        }
        self.stats.segments_sent += 1;
        self.strategy.note_sent(start, end, cx.now);
        if first || !cx.timers.is_set(Timer::Retransmit) {
            cx.timers.set(Timer::Retransmit, cx.now + self.rtt.rto());
        }
        let interval = self.control.window().pacing.map(|interval| interval * u64::from(self.in_burst.max(1)));
        self.pacer.departed(cx.now, interval);
        let flags = TcpFlags { fin, psh: len > 0 && start + len == self.space.end, ..ACK };
        let mut segment = self.header(cx, start, flags, len as u32);
        segment.flags.ece = cx.rx.ecn.echoes();
        if fresh {
            self.ecn.stamp(&mut segment);
        }
        cx.send(segment, start.offset());
    }

    /// Sends an acknowledgement without data.
    pub(in crate::tcp) fn send_ack(&mut self, cx: &mut Context) {
        // SND.MAX, not SND.NXT, which a timeout pulls back: the peer would find it old. Within the peer's window.
        let at = self.space.max.min(self.space.edge).max(self.space.una);
        let mut segment = self.header(cx, at, ACK, 0);
        segment.flags.ece = cx.rx.ecn.echoes();
        self.stats.acks_sent += 1;
        cx.send(segment, at.offset());
    }

    /// Asks for an acknowledgement (RFC 1122 section 4.2.3.6): an empty segment numbered just before SND.UNA.
    pub(super) fn send_keep_alive(&mut self, cx: &mut Context) {
        let segment = self.header(cx, self.space.una.before(), ACK, 0);
        cx.send(segment, self.space.una.offset());
    }

    fn header(&self, cx: &mut Context, at: Pos, flags: TcpFlags, payload: u32) -> TcpSegment {
        let options = cx.rx.options(cx.now, payload.into(), self.space.mss);
        cx.segment(at.seq(self.space.iss), flags, options, payload)
    }
}
