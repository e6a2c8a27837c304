//! The bytes of TCP connections, for modules that acknowledge data themselves (`c3tcp.local_acks`): the kernel has
//! released what it considers acknowledged, and a module's segments begin and end where it wants.

use fourhop_proto::wire::TcpSegment;
use fourhop_units::{Seq, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// Most connections tracked, in either direction; beyond that, the one silent for longest is forgotten. Modules
/// remember fewer.
const MOST: usize = 4096;
/// Bytes of a connection kept although the peer has acknowledged them: a module that has not heard of it retransmits
/// them.
const BEHIND: usize = 1 << 18;
/// Most bytes of a connection kept: more than an unscaled window, or than the kernel's autotuning reaches.
const AHEAD: usize = 1 << 24;

/// An end of a connection.
pub type End = (Ipv4Addr, u16);

/// Data sent over all connections, from the first of the two ends to the second.
#[derive(Debug, Default)]
pub struct Streams {
    by_ends: BTreeMap<(End, End), Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    /// In order, without overlaps.
    pieces: VecDeque<(Seq, Box<[u8]>)>,
    /// Total bytes of the pieces.
    buffered: usize,
    /// The peer's own acknowledgements.
    acked: Option<Seq>,
    used: Time,
}

fn end_of((seq, bytes): &(Seq, Box<[u8]>)) -> Seq {
    *seq + bytes.len() as u32
}

impl Stream {
    fn push(&mut self, seq: Seq, payload: &[u8]) {
        let old = match self.pieces.back() {
            Some(last) if seq.before(end_of(last)) => end_of(last).offset_from(seq) as usize,
            _ => 0,
        };
        if let Some(new) = payload.get(old..).filter(|new| !new.is_empty()) {
            self.pieces.push_back((seq + old as u32, new.into()));
            self.buffered += new.len();
        }
    }

    fn prune(&mut self) {
        while let Some(front) = self.pieces.front() {
            let done = |acked: Seq| !end_of(front).after(acked) && acked.offset_from(end_of(front)) as usize > BEHIND;
            if !self.acked.is_some_and(done) && self.buffered <= AHEAD {
                return;
            }
            self.buffered -= front.1.len();
            self.pieces.pop_front();
        }
    }

    /// Fills `out` with the bytes from `seq` on. Returns false if some are missing.
    fn fill(&self, seq: Seq, out: &mut [u8]) -> bool {
        let mut done = 0;
        for piece in &self.pieces {
            let at = seq + done as u32;
            if done == out.len() || piece.0.after(at) {
                break;
            }
            let skipped = at.offset_from(piece.0) as usize;
            if let Some(bytes) = piece.1.get(skipped..) {
                let len = bytes.len().min(out.len() - done);
                out[done..done + len].copy_from_slice(&bytes[..len]);
                done += len;
            }
        }
        done == out.len()
    }
}

impl Streams {
    /// The kernel at the first of the two ends has sent this segment.
    pub fn enter(&mut self, now: Time, ends: (End, End), segment: &TcpSegment, payload: &[u8]) {
        if segment.flags.syn {
            self.by_ends.remove(&ends);
            if self.by_ends.len() >= MOST
                && let Some(oldest) = self.by_ends.iter().min_by_key(|(_, stream)| stream.used).map(|(&ends, _)| ends)
            {
                self.by_ends.remove(&oldest);
            }
            self.by_ends.insert(ends, Stream::default());
        }
        if let Some(stream) = self.by_ends.get_mut(&ends) {
            stream.used = now;
            stream.push(segment.seq, payload);
            stream.prune();
        }
        if let Some(back) = self.by_ends.get_mut(&(ends.1, ends.0)).filter(|_| segment.flags.ack) {
            back.acked = Some(back.acked.map_or(segment.ack, |acked| acked.max(segment.ack)));
            back.prune();
        }
    }

    /// Whether these are the ends of a connection whose handshake was seen.
    pub fn knows(&self, ends: (End, End)) -> bool {
        self.by_ends.contains_key(&ends) || self.by_ends.contains_key(&(ends.1, ends.0))
    }

    /// Fills `out` with the bytes the first end sent from `seq` on. Returns false if some are missing.
    pub fn fill(&self, ends: (End, End), seq: Seq, out: &mut [u8]) -> bool {
        self.by_ends.get(&ends).is_some_and(|stream| stream.fill(seq, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::wire::TcpFlags;

    const ENDS: (End, End) = ((Ipv4Addr::new(10, 0, 0, 1), 4_000), (Ipv4Addr::new(10, 0, 0, 2), 80));
    const BACK: (End, End) = (ENDS.1, ENDS.0);

    fn segment(seq: u32, ack: u32, syn: bool) -> TcpSegment {
        let flags = TcpFlags { syn, ack: true, ..TcpFlags::default() };
        TcpSegment { seq: Seq::from_wire(seq), ack: Seq::from_wire(ack), flags, ..TcpSegment::default() }
    }

    fn content(from: usize, len: usize) -> Vec<u8> {
        (from..from + len).map(|n| (n * 7 % 251) as u8).collect()
    }

    /// Streams of one connection whose sequence numbers wrap after 100 bytes.
    fn streams() -> Streams {
        let mut streams = Streams::default();
        streams.enter(Time::ZERO, ENDS, &segment(u32::MAX - 100, 0, true), &[]);
        streams.enter(Time::ZERO, BACK, &segment(0, 0, true), &[]);
        streams
    }

    fn send(streams: &mut Streams, from: usize, len: usize) {
        let seq = (u32::MAX - 99).wrapping_add(from as u32);
        streams.enter(Time::ZERO, ENDS, &segment(seq, 1, false), &content(from, len));
    }

    fn found(streams: &Streams, from: usize, len: usize) -> bool {
        let mut out = vec![0; len];
        let seq = Seq::from_wire((u32::MAX - 99).wrapping_add(from as u32));
        let whole = streams.fill(ENDS, seq, &mut out);
        assert!(!whole || out == content(from, len), "from {from}");
        whole
    }

    #[test]
    fn any_part_of_what_was_sent_is_found_however_it_was_sent() {
        let mut streams = streams();
        for (from, len) in [(0, 60), (60, 60), (0, 60), (40, 100), (140, 60)] {
            send(&mut streams, from, len);
        }
        for (from, len) in [(0, 200), (59, 2), (95, 10), (139, 61), (10, 0)] {
            assert!(found(&streams, from, len), "{from} {len}");
        }
        assert!(!found(&streams, 150, 51), "not sent yet");
        send(&mut streams, 230, 20);
        assert!(!found(&streams, 190, 50) && found(&streams, 235, 5), "what is missing is missing");
        assert!(!streams.fill(BACK, Seq::from_wire(0), &mut [0]));
    }

    #[test]
    fn what_is_long_acknowledged_is_let_go_and_what_is_not_stays() {
        let mut streams = streams();
        (0..600).for_each(|n| send(&mut streams, n * 1_000, 1_000));
        let buffered = |streams: &Streams| streams.by_ends[&ENDS].buffered;
        assert_eq!(buffered(&streams), 600_000);
        streams.enter(Time::ZERO, BACK, &segment(1, (u32::MAX - 99).wrapping_add(500_000), false), &[]);
        assert!((BEHIND + 100_000..BEHIND + 102_000).contains(&buffered(&streams)), "{}", buffered(&streams));
        assert!(found(&streams, 300_000, 300_000) && !found(&streams, 200_000, 10));
        (600..18_000).for_each(|n| send(&mut streams, n * 1_000, 1_000));
        assert!(buffered(&streams) <= AHEAD);
    }

    #[test]
    fn a_new_connection_forgets_and_there_is_an_end_to_connections() {
        let mut streams = streams();
        send(&mut streams, 0, 100);
        streams.enter(Time::ZERO, ENDS, &segment(7, 0, true), &[]);
        assert!(!found(&streams, 0, 1) && streams.knows(ENDS));
        for port in 0..2 * MOST as u16 {
            let ends = ((ENDS.0.0, port), (ENDS.1.0, 81));
            streams.enter(Time::from_millis(u64::from(port) + 1), ends, &segment(0, 0, true), &[]);
        }
        assert!(streams.by_ends.len() <= MOST && !streams.knows(ENDS));
    }
}
