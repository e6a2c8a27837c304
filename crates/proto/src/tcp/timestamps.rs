//! Timestamps (RFC 7323): our own clock, and echoes of the peer's.

use super::adhoc::Clock;
use super::position::Pos;
use crate::wire::{TcpSegment, Timestamps};
use fourhop_units::{Dur, Seq, Time};

/// The peer's last timestamp.
#[derive(Clone, Copy, Debug)]
struct Peer {
    /// TS.Recent: the value to echo.
    recent: u32,
    /// When it was taken.
    taken: Time,
}

/// The timestamps of a connection.
#[derive(Clone, Debug)]
pub(super) struct Stamps {
    clock: Clock,
    /// Reading of our clock at time zero: arbitrary, unless clocks must agree (RFC 7323 section 5.4).
    start: u32,
    /// Present if both ends offered timestamps.
    peer: Option<Peer>,
    /// Last.ACK.sent.
    last_ack_sent: Pos,
}

impl Stamps {
    pub(super) fn new(clock: Clock, iss: Seq) -> Stamps {
        let start = if clock.synchronised { 0 } else { iss.to_wire() };
        Stamps { clock, start, peer: None, last_ack_sent: Pos::SYN }
    }

    /// Handles the peer's SYN; `offered` is present if both ends want timestamps.
    pub(super) fn agree(&mut self, now: Time, offered: Option<Timestamps>) {
        self.peer = offered.map(|offered| Peer { recent: offered.value, taken: now });
    }

    /// Whether both ends send timestamps.
    pub(super) fn are_agreed(&self) -> bool {
        self.peer.is_some()
    }

    /// Reading of our clock.
    pub(super) fn reading(&self, now: Time) -> u32 {
        self.clock.reading(now).wrapping_add(self.start)
    }

    /// The option for segments sent once both ends have agreed.
    pub(super) fn option(&self, now: Time) -> Option<Timestamps> {
        self.peer.map(|peer| Timestamps { value: self.reading(now), echo: peer.recent })
    }

    /// The option for a SYN that offers timestamps.
    pub(super) fn offer(&self, now: Time) -> Timestamps {
        Timestamps { value: self.reading(now), echo: self.peer.map_or(0, |peer| peer.recent) }
    }

    /// The timestamp that the peer echoes.
    pub(super) fn echo(&self, segment: &TcpSegment) -> Option<u32> {
        self.peer.and(segment.options.timestamps).map(|stamp| stamp.echo)
    }

    /// Whether `echo` answers a segment sent in an earlier tick than one sent at `at`.
    pub(super) fn answers_earlier(&self, echo: u32, at: Time) -> bool {
        (echo.wrapping_sub(self.reading(at)) as i32) < 0
    }

    /// The round trip given by an echo, rounded up to the clock's tick.
    pub(super) fn round_trip(&self, now: Time, segment: &TcpSegment) -> Option<Dur> {
        let echo = self.echo(segment)?;
        Some(self.clock.tick * u64::from(self.reading(now).wrapping_sub(echo)).max(1))
    }

    /// One-way delay of a segment, if the two clocks agree up to `skew`.
    pub(super) fn forward_delay(&self, now: Time, segment: &TcpSegment, skew: super::adhoc::Skew) -> Option<Dur> {
        let stamp = self.peer.and(segment.options.timestamps)?;
        self.clock.delay_since(stamp.value, now, skew)
    }

    /// RFC 7323 section 5.3: whether the timestamp shows that the segment dates from before the numbers wrapped.
    pub(super) fn is_outdated(&self, now: Time, segment: &TcpSegment) -> bool {
        let (Some(peer), Some(arrived)) = (self.peer, segment.options.timestamps) else { return false };
        let older = (arrived.value.wrapping_sub(peer.recent) as i32) < 0;
        older && !segment.flags.rst && now - peer.taken < self.clock.outdated()
    }

    /// RFC 7323 section 4.3: whether the timestamp of a segment at `seq` would be the next to be echoed. A segment
    /// beyond the last acknowledgement sent leaves a gap and is not echoed.
    pub(super) fn would_echo(&self, seq: Pos, segment: &TcpSegment) -> bool {
        seq <= self.last_ack_sent && !segment.flags.rst
    }

    /// Takes the timestamp of an acceptable segment at `seq`.
    pub(super) fn take(&mut self, now: Time, seq: Pos, segment: &TcpSegment) {
        if let (Some(_), Some(arrived)) = (self.peer, segment.options.timestamps)
            && self.would_echo(seq, segment)
        {
            self.peer = Some(Peer { recent: arrived.value, taken: now });
        }
    }

    /// Notes an outgoing acknowledgement of everything before `nxt`.
    pub(super) fn note_ack_sent(&mut self, nxt: Pos) {
        self.last_ack_sent = nxt;
    }
}
