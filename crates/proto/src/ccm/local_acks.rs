//! Full control of the window: the module itself acknowledges data to the local TCP (Kliazovich, Granelli 2005, end of
//! section IV), keeps data that the peer has not acknowledged, and retransmits it when it is lost.
//!
//! ```text
//!   TCP ── data ──►  una ........ sent ........ end      una: acknowledged by the peer
//!       ◄─ local ACK of `acked` ──   ▲                   sent: what has left; sent - una stays within the window
//!                                   └── pump ──► down
//! ```
//!
//! Up to `acked` the module is responsible for the stream; beyond it TCP is. Until there is a measurement, `acked` is
//! `una` and everything passes unchanged; TCP's retransmissions of data above `acked` always pass. Neither SYN nor FIN
//! is ever acknowledged here, and the right edge of the window that TCP sees is never beyond the peer's.
//!
//! The paper says only that acknowledgements are generated. We assume the following: twice the window is kept; loss is
//! detected by three duplicate acknowledgements (RFC 5681) or a timeout (RFC 6298), after which each partial
//! acknowledgement triggers the next segment (RFC 6582); SACK is not used. The connection is reset if the peer is
//! silent for 16 timeouts.

use super::rto::Rto;
use crate::wire::{TcpFlags, TcpOptions, TcpSegment, Timestamps};
use fourhop_units::{Seq, Time};
use std::collections::VecDeque;

/// RFC 5681 section 3.2.
const DUPLICATES: u32 = 3;
/// Consecutive timeouts tolerated without an answer: about ten minutes (RFC 9293 section 3.8.3: at least 100 s).
const SILENCE_MAX: u32 = 15;
/// No window is larger (RFC 7323 section 2.3: below 2^30), and sequence numbers are still ordered within twice as much.
const WINDOW_MAX: u64 = 1 << 29;

/// Output of a module: segments for the network and for the local TCP.
#[derive(Clone, Default, Debug)]
pub struct Segments {
    /// For the network.
    pub down: Vec<TcpSegment>,
    /// For the local TCP.
    pub up: Vec<TcpSegment>,
}

/// State of the sender side when a segment arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bandwidth times delay in bytes, one segment at least; `None` without a measurement.
    pub window: Option<u64>,
    /// Shift of the window field in arriving segments.
    pub shift: u8,
    /// The same in segments of the local TCP.
    pub own_shift: u8,
    /// Bytes of a segment.
    pub segment: u32,
}

/// The latest acknowledgement number, window and timestamps of the local TCP, for retransmissions.
#[derive(Clone, Copy, Debug)]
struct Newest {
    ack: Seq,
    window: u16,
    timestamps: Option<Timestamps>,
}

/// Values from the peer's segments.
#[derive(Clone, Copy, Debug)]
struct Peer {
    ports: (u16, u16),
    /// Position after the last octet received: the sequence number that an acknowledgement from the peer would have.
    next: Seq,
    /// Newest TSval (RFC 7323 section 4.3: an older one would be refused).
    clock: Option<u32>,
    /// Window field of the newest acknowledgement.
    window: u16,
    /// Sequence number of that acknowledgement.
    at: Seq,
}

/// A connection whose SYN was seen.
#[derive(Clone, Debug)]
struct Stream {
    una: Seq,
    sent: Seq,
    end: Seq,
    acked: Seq,
    /// Segments from `una` to `end`, in order and without holes.
    kept: VecDeque<TcpSegment>,
    /// Right edge of the peer's window.
    edge: Seq,
    limits: Limits,
    /// Window in force: the last one measured, as long as there is data that TCP is not responsible for.
    window: Option<u64>,
    newest: Option<Newest>,
    peer: Option<Peer>,
    /// Window field last sent to TCP.
    sent_window: u16,
    duplicates: u32,
    /// Where loss recovery ends.
    recover: Option<Seq>,
    rto: Rto,
    silence: u32,
    timer: Option<Time>,
    /// Whether the peer has acknowledged the SYN.
    open: bool,
    /// Whether the connection was given up: every segment of TCP is then answered with a reset.
    dead: bool,
}

/// Local acknowledgements for one direction of a connection. Each call may change `next_timeout`.
#[derive(Clone, Default, Debug)]
pub struct LocalAcks {
    stream: Option<Stream>,
}

fn span(from: Seq, to: Seq) -> u64 {
    u64::from(to.offset_from(from))
}

fn end_of(segment: &TcpSegment) -> Seq {
    segment.seq + segment.seq_len()
}

impl LocalAcks {
    /// Handles a segment of the local TCP.
    pub fn handle_outgoing(&mut self, now: Time, mut segment: TcpSegment, limits: &Limits, out: &mut Segments) {
        let flags = segment.flags;
        let first = segment.seq + 1;
        if flags.syn && self.stream.as_ref().is_none_or(|stream| stream.end != first) {
            self.stream = Some(Stream::new(first, *limits));
        }
        let Some(stream) = self.stream.as_mut().filter(|_| !flags.syn) else {
            out.down.push(segment);
            return;
        };
        if flags.rst {
            // RFC 5961 section 3.2: only the number expected by the peer resets.
            segment.seq = segment.seq.min(stream.sent);
            out.down.push(segment);
            self.stream = None;
            return;
        }
        if stream.dead {
            out.up.push(reset((segment.dst_port, segment.src_port), segment.ack, segment.seq));
            return;
        }
        stream.learn(limits);
        if flags.ack {
            let (ack, window, timestamps) = (segment.ack, segment.window, segment.options.timestamps);
            stream.newest = Some(Newest { ack, window, timestamps });
        }
        if segment.seq_len() > 0 && segment.seq.before(stream.acked) {
            // TCP has missed an acknowledgement. Pure acknowledgements are not answered, or the exchange would never
            // end.
            stream.acknowledge(out);
        }
        if segment.seq_len() == 0 {
            // The module may still keep TCP's data, and the peer refuses a number beyond its window.
            segment.seq = segment.seq.min(stream.sent);
            if stream.window.is_some() {
                segment.seq = segment.seq.min(stream.edge.max(stream.una));
            }
            out.down.push(segment);
        } else {
            stream.keep(segment, out);
        }
        stream.go_on(now, out);
    }

    /// Handles a segment for the local TCP, with the window advertised by the peer. TCP's part goes up.
    pub fn handle_incoming(&mut self, now: Time, mut segment: TcpSegment, limits: &Limits, out: &mut Segments) {
        let flags = segment.flags;
        let Some(stream) = self.stream.as_mut().filter(|stream| !stream.dead) else {
            out.up.push(segment);
            return;
        };
        if flags.rst {
            // RFC 5961 section 3.2: TCP challenges any other number.
            if stream.newest.is_none_or(|newest| newest.ack == segment.seq) {
                self.stream = None;
            }
            out.up.push(segment);
            return;
        }
        let news = stream.note_peer(&segment);
        stream.open |= flags.ack && !segment.ack.before(stream.una);
        if flags.syn || !flags.ack || segment.ack.after(stream.end) {
            out.up.push(segment);
            return;
        }
        stream.learn(limits);
        let pure = segment.seq_len() == 0;
        let mut repeated = false;
        if !segment.ack.before(stream.una) {
            stream.silence = 0;
            let advanced = segment.ack.after(stream.una);
            let same = stream.peer.is_some_and(|peer| peer.window == segment.window);
            let old_edge = stream.edge;
            if advanced || news {
                stream.edge = segment.ack + ((u32::from(segment.window)) << limits.shift);
                stream.peer.iter_mut().for_each(|peer| peer.window = segment.window);
            }
            if advanced {
                stream.advance(now, segment.ack, out);
            } else if pure && same {
                repeated = true;
                stream.duplicate(out);
            } else {
                stream.opened(old_edge, out);
            }
        }
        if segment.ack.before(stream.acked) {
            // TCP already knows more than that.
            if !pure {
                segment.ack = stream.acked;
                segment.options.sack.clear();
                segment.window = stream.offered();
                stream.hand_up(segment, out);
            }
        } else {
            if stream.window.is_some() {
                // RFC 5681 section 2: TCP recognises a duplicate by its unchanged window.
                segment.window = if repeated { stream.sent_window.min(segment.window) } else { stream.offered() };
            }
            stream.hand_up(segment, out);
        }
        stream.go_on(now, out);
    }

    /// Does what is due at `now`; nothing if called early.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Segments) {
        let Some(stream) = &mut self.stream else { return };
        if stream.timer.take_if(|at| *at <= now).is_none() {
            return;
        }
        stream.silence += 1;
        if stream.silence > SILENCE_MAX {
            stream.give_up(out);
            return;
        }
        stream.rto.back_off();
        stream.duplicates = 0;
        stream.recover = Some(stream.sent);
        stream.resend(out);
        stream.arm(now);
    }

    /// When [`LocalAcks::handle_timeout`] must be called.
    pub fn next_timeout(&self) -> Option<Time> {
        self.stream.as_ref()?.timer
    }

    /// Whether anything is kept that the peer has not acknowledged.
    pub fn holds(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| !stream.kept.is_empty())
    }

    /// Bytes that the local TCP considers acknowledged but the peer has not acknowledged.
    pub fn buffered(&self) -> u64 {
        self.stream.as_ref().map_or(0, |stream| span(stream.una, stream.acked))
    }
}

impl Stream {
    fn new(first: Seq, limits: Limits) -> Stream {
        Stream {
            una: first,
            sent: first,
            end: first,
            acked: first,
            kept: VecDeque::new(),
            edge: first,
            limits,
            window: None,
            newest: None,
            peer: None,
            sent_window: 0,
            duplicates: 0,
            recover: None,
            rto: Rto::default(),
            silence: 0,
            timer: None,
            open: false,
            dead: false,
        }
    }

    fn learn(&mut self, limits: &Limits) {
        self.limits = *limits;
        match limits.window {
            Some(window) => self.window = Some(window.min(WINDOW_MAX)),
            None if !self.acked.after(self.una) => self.window = None,
            None => {}
        }
    }

    /// Notes the peer's values; returns whether they are no older than before (RFC 9293 section 3.10.7.4, SND.WL1).
    fn note_peer(&mut self, segment: &TcpSegment) -> bool {
        let (end, at) = (end_of(segment), segment.seq);
        let clock = segment.options.timestamps.map(|timestamps| timestamps.value);
        let Some(peer) = &mut self.peer else {
            let ports = (segment.src_port, segment.dst_port);
            self.peer = Some(Peer { ports, next: end, clock, window: segment.window, at });
            return true;
        };
        peer.next = peer.next.max(end);
        if let Some(clock) = clock
            && peer.clock.is_none_or(|old| clock.wrapping_sub(old) < 1 << 31)
        {
            peer.clock = Some(clock);
        }
        let news = !at.before(peer.at);
        peer.at = peer.at.max(at);
        news
    }

    /// Takes in data of the local TCP, or lets it pass if TCP is responsible for it.
    fn keep(&mut self, mut segment: TcpSegment, out: &mut Segments) {
        let end = end_of(&segment);
        if segment.seq.after(self.end) {
            // A hole that cannot occur; TCP gets no acknowledgement and sends again.
            return;
        }
        if segment.seq.before(self.sent) && end.after(self.acked) {
            let mut again = segment.clone();
            if end.after(self.end) {
                again.payload = self.end.offset_from(segment.seq);
                again.flags.fin = false;
            }
            if again.seq_len() > 0 {
                self.rto.forget();
                out.down.push(again);
            }
        }
        if end.after(self.end) {
            segment.payload -= self.end.offset_from(segment.seq);
            segment.seq = self.end;
            self.end = end;
            self.kept.push_back(segment);
        }
    }

    /// Handles an acknowledgement of new data by the peer.
    fn advance(&mut self, now: Time, ack: Seq, out: &mut Segments) {
        self.una = ack;
        self.sent = self.sent.max(ack);
        self.acked = self.acked.max(ack);
        self.duplicates = 0;
        self.rto.acknowledged(now, ack);
        self.timer = None;
        while self.kept.front().is_some_and(|front| !end_of(front).after(ack)) {
            self.kept.pop_front();
        }
        self.recover = self.recover.filter(|until| ack.before(*until));
        if self.recover.is_some() {
            self.resend(out);
        }
    }

    fn duplicate(&mut self, out: &mut Segments) {
        if self.una == self.sent {
            return;
        }
        self.duplicates += 1;
        if self.duplicates == DUPLICATES && self.recover.is_none() && self.acked.after(self.una) {
            self.recover = Some(self.sent);
            self.resend(out);
        }
    }

    /// Handles a moved window: data sent as a probe of a closed one was refused, and fits now.
    fn opened(&mut self, old_edge: Seq, out: &mut Segments) {
        let Some(front) = self.kept.front() else { return };
        if end_of(front).after(old_edge) && !end_of(front).after(self.edge) && self.una != self.sent {
            self.rto.backoff = 0;
            self.timer = None;
            self.resend(out);
        }
    }

    /// Resends the oldest segment, unless TCP is responsible for it.
    fn resend(&mut self, out: &mut Segments) {
        if self.acked.after(self.una)
            && let Some(front) = self.kept.front()
        {
            out.down.push(self.fresh(front));
            self.rto.forget();
        }
    }

    /// Follows up on an event.
    fn go_on(&mut self, now: Time, out: &mut Segments) {
        self.pump(now, out);
        self.acknowledge_locally(out);
        self.arm(now);
    }

    /// Sends what the window allows; without a window everything, within TCP's own window.
    fn pump(&mut self, now: Time, out: &mut Segments) {
        for segment in &self.kept {
            let end = end_of(segment);
            if !end.after(self.sent) {
                continue;
            }
            // With nothing in flight, a segment is sent whatever the window: it also probes a closed one.
            if let Some(window) = self.window
                && self.una != self.sent
                && (span(self.una, end) > window || end.after(self.edge))
            {
                break;
            }
            self.sent = end;
            self.rto.sent(now, end);
            out.down.push(self.fresh(segment));
        }
    }

    /// Acknowledges data to the local TCP, as far as allowed, or announces that the window has opened.
    fn acknowledge_locally(&mut self, out: &mut Segments) {
        if self.limits.window.is_none() || !self.open {
            return;
        }
        let right = self.right();
        let mut acked = self.acked;
        for segment in &self.kept {
            if segment.flags.fin || end_of(segment).after(right) {
                break;
            }
            acked = acked.max(end_of(segment));
        }
        let (offered, last) = (self.bytes(self.offered()), self.bytes(self.sent_window));
        let segment = u64::from(self.limits.segment);
        if acked.after(self.acked) {
            self.acked = acked;
            self.acknowledge(out);
        } else if offered > last && (last < segment || offered - last >= segment) {
            self.acknowledge(out);
        }
    }

    /// Runs the retransmission timer while there is data in flight that TCP is not responsible for.
    fn arm(&mut self, now: Time) {
        if self.una == self.sent || !self.acked.after(self.una) {
            self.timer = None;
        } else if self.timer.is_none() {
            self.timer = Some(now + self.rto.get());
        }
    }

    fn give_up(&mut self, out: &mut Segments) {
        self.dead = true;
        self.kept.clear();
        let (Some(peer), Some(newest)) = (self.peer, self.newest) else { return };
        out.up.push(reset(peer.ports, newest.ack, self.acked));
        out.down.push(reset((peer.ports.1, peer.ports.0), self.una, newest.ack));
    }

    /// Right edge for TCP's window: within the peer's, and within twice our own.
    fn right(&self) -> Seq {
        match self.window {
            Some(window) => self.edge.min(self.una + 2 * window as u32),
            None => self.edge,
        }
    }

    /// Window field for that edge.
    fn offered(&self) -> u16 {
        let right = self.right();
        let bytes = if right.after(self.acked) { span(self.acked, right) } else { 0 };
        u16::try_from(bytes >> self.limits.shift).unwrap_or(u16::MAX)
    }

    fn bytes(&self, window: u16) -> u64 {
        u64::from(window) << self.limits.shift
    }

    /// A kept segment, updated with TCP's latest acknowledgement, window and timestamps.
    fn fresh(&self, kept: &TcpSegment) -> TcpSegment {
        let mut segment = kept.clone();
        if let Some(newest) = self.newest {
            if segment.ack != newest.ack {
                // Drop SACK blocks: their data may be acknowledged by now.
                segment.options.sack.clear();
            }
            (segment.ack, segment.window, segment.options.timestamps) = (newest.ack, newest.window, newest.timestamps);
        }
        segment
    }

    fn hand_up(&mut self, segment: TcpSegment, out: &mut Segments) {
        self.sent_window = segment.window;
        out.up.push(segment);
    }

    /// An acknowledgement as the peer would send it.
    fn acknowledge(&mut self, out: &mut Segments) {
        let (Some(peer), Some(newest)) = (self.peer.filter(|_| self.open), self.newest) else { return };
        // TCP refuses a number beyond its own window, which that of a probe may be.
        let seq = peer.next.min(newest.ack + (u32::from(newest.window) << self.limits.own_shift));
        let timestamps = peer.clock.zip(newest.timestamps);
        let timestamps = timestamps.map(|(value, ours)| Timestamps { value, echo: ours.value });
        let segment = TcpSegment {
            src_port: peer.ports.0,
            dst_port: peer.ports.1,
            seq,
            ack: self.acked,
            flags: TcpFlags { ack: true, ..TcpFlags::default() },
            window: self.offered(),
            options: TcpOptions { timestamps, ..TcpOptions::default() },
            payload: 0,
            ..TcpSegment::default()
        };
        self.hand_up(segment, out);
    }
}

fn reset(ports: (u16, u16), seq: Seq, ack: Seq) -> TcpSegment {
    TcpSegment {
        src_port: ports.0,
        dst_port: ports.1,
        seq,
        ack,
        flags: TcpFlags { rst: true, ack: true, ..TcpFlags::default() },
        ..TcpSegment::default()
    }
}
