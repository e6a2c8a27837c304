//! Packet scripts: segments arrive at given times, and departures are compared in packetdrill's notation, with numbers
//! relative to both initial sequence numbers.

use crate::tcp::{Action, Config, ReceiverPolicy, Socket};
use crate::wire::{Ecn, TcpFlags, TcpOptions, TcpSegment};
use fourhop_cc::Transport;
use fourhop_units::{Seq, Time};
use std::fmt::Write;

/// Initial numbers that wrap within the first kilobyte, so that every script crosses the wrap.
const ISS: Seq = Seq::from_wire(u32::MAX - 700);
const IRS: Seq = Seq::from_wire(u32::MAX - 300);

/// A socket under test with a scripted peer.
pub(super) struct Script {
    pub(super) socket: Socket,
    pub(super) out: Vec<Action>,
}

/// The standard profile in round numbers: segments of 1,000 bytes, no options, each segment acknowledged at once.
pub(super) fn plain() -> Config {
    Config {
        mss: 1_000,
        timestamps: false,
        sack: false,
        receive_buffer: 50_000,
        receiver: ReceiverPolicy::EVERY_SEGMENT,
        ..Config::standard()
    }
}

/// ns-2.35's profile with segments of 1,000 bytes.
pub(super) fn ns2() -> Config {
    Config { mss: 1_000, ..Config::ns2() }
}

pub(super) fn newreno() -> &'static Transport {
    Transport::find("newreno").expect("a transport of that name")
}

/// A segment from the peer: relative numbers, flags as in tcpdump.
pub(super) fn segment(flags: &str, seq: u32, len: u32, ack: u32) -> TcpSegment {
    TcpSegment {
        src_port: 80,
        dst_port: 4_000,
        seq: IRS + seq,
        ack: ISS + ack,
        flags: TcpFlags {
            syn: flags.contains('S'),
            ack: flags.contains('.'),
            fin: flags.contains('F'),
            rst: flags.contains('R'),
            psh: flags.contains('P'),
            ece: flags.contains('E'),
            cwr: flags.contains('W'),
        },
        window: 50_000,
        options: TcpOptions { mss: flags.contains('S').then_some(1_000), ..TcpOptions::default() },
        payload: len,
        ..TcpSegment::default()
    }
}

impl Script {
    pub(super) fn active(config: Config) -> Script {
        Script::active_with(newreno(), config)
    }

    pub(super) fn active_with(transport: &'static Transport, config: Config) -> Script {
        Script { socket: Socket::new(config, transport, 4_000, 80, ISS), out: Vec::new() }
    }

    pub(super) fn passive(config: Config) -> Script {
        Script { socket: Socket::listen(config, newreno(), 4_000, ISS), out: Vec::new() }
    }

    /// Connected at 100 ms, after a round trip of 100 ms, with nothing written.
    pub(super) fn established(config: Config) -> Script {
        let mut s = Script::active(config);
        s.socket.open(Time::ZERO, &mut s.out);
        s.arrives(100, segment("S.", 0, 0, 1));
        s.out.clear();
        s
    }

    /// Like `sending`, with another transport and a peer that supports SACK.
    pub(super) fn sending_with(transport: &str, config: Config, bytes: u64) -> Script {
        let mut s = Script::active_with(Transport::find(transport).expect("a transport of that name"), config);
        s.socket.open(Time::ZERO, &mut s.out);
        let mut answer = segment("S.", 0, 0, 1);
        answer.options.sack_permitted = true;
        s.arrives(100, answer);
        s.out.clear();
        s.socket.write(Time::from_millis(100), bytes, &mut s.out);
        s
    }

    /// Connected, with `bytes` written at 100 ms; the resulting segments are still in `out`.
    pub(super) fn sending(config: Config, bytes: u64) -> Script {
        let mut s = Script::established(config);
        s.socket.write(Time::from_millis(100), bytes, &mut s.out);
        s
    }

    /// Delivers a segment at `ms`, after firing all earlier timers at their instants.
    #[track_caller]
    pub(super) fn arrives(&mut self, ms: u64, segment: TcpSegment) {
        self.wait(ms);
        self.socket.handle_segment(Time::from_millis(ms), &segment, &mut self.out);
        self.check();
    }

    /// Delivers an ACK.
    #[track_caller]
    pub(super) fn ack(&mut self, ms: u64, ack: u32) {
        self.arrives(ms, segment(".", 1, 0, ack));
    }

    /// Delivers an ACK with SACK blocks, given by the numbers of their thousand-byte segments.
    #[track_caller]
    pub(super) fn sack(&mut self, ms: u64, ack: u32, blocks: &[(u32, u32)]) {
        let mut segment = segment(".", 1, 0, ack);
        let edge = |n: u32| ISS + (n * 1_000 + 1);
        segment.options.sack = blocks.iter().map(|&(left, right)| (edge(left), edge(right))).collect();
        self.arrives(ms, segment);
    }

    /// Lets the timers run up to `ms`. The number of expiries is bounded: a timer that re-arms in place would hang.
    #[track_caller]
    pub(super) fn wait(&mut self, ms: u64) {
        for _ in 0..1_000 {
            let Some(at) = self.socket.next_timeout().filter(|at| *at <= Time::from_millis(ms)) else { return };
            let before = self.out.len();
            self.socket.handle_timeout(Time::from_nanos(at.as_nanos().saturating_sub(1)), &mut self.out);
            assert_eq!(self.out.len(), before, "an early handle_timeout does nothing");
            self.socket.handle_timeout(at, &mut self.out);
            self.check();
        }
        panic!("timers fire without end");
    }

    #[track_caller]
    fn check(&self) {
        assert!(self.socket.cwnd() >= 1);
        assert!(self.socket.ssthresh() >= 2);
        self.socket.check_order();
        if let Some(rack) = self.socket.tx.rack() {
            rack.flight.check();
        }
    }

    /// Checks the departures and reports since the last call, in order.
    #[track_caller]
    pub(super) fn expect(&mut self, expected: &[&str]) {
        let got: Vec<String> = self.out.drain(..).filter_map(|action| describe(&action)).collect();
        assert_eq!(got, expected);
    }

    /// Checks that there were none.
    #[track_caller]
    pub(super) fn expect_nothing(&mut self) {
        self.expect(&[]);
    }

    /// The last segment sent.
    #[track_caller]
    pub(super) fn last_segment(&self) -> TcpSegment {
        let last = self.out.iter().rev().find_map(|action| match action {
            Action::Send { segment, .. } => Some(segment.clone()),
            _ => None,
        });
        last.expect("a segment has left")
    }
}

impl Socket {
    /// Checks the invariants stated in the comments on SND.UNA, SND.NXT and SND.MAX.
    #[track_caller]
    pub(super) fn check_order(&self) {
        let (una, nxt, max) = (self.tx.space.una, self.tx.space.nxt, self.tx.space.max);
        assert!(una <= nxt && una <= max, "{una:?} {nxt:?} {max:?}");
        assert!(nxt <= max || self.tx.config.release == crate::tcp::Release::Queue, "{nxt:?} {max:?}");
    }
}

fn describe(action: &Action) -> Option<String> {
    let Action::Send { segment, stream_offset } = action else {
        return match action {
            Action::Stored { .. } => None,
            Action::Delivered { bytes } => Some(format!("delivered {bytes}")),
            other => Some(format!("{other:?}").to_lowercase()),
        };
    };
    let flags = segment.flags;
    let seq = segment.seq.offset_from(ISS);
    let mut text = String::new();
    let letters =
        [(flags.syn, 'S'), (flags.fin, 'F'), (flags.rst, 'R'), (flags.ece, 'E'), (flags.cwr, 'W'), (flags.ack, '.')];
    for (set, letter) in letters {
        if set {
            text.push(letter);
        }
    }
    if segment.payload > 0 {
        assert_eq!(u64::from(seq), stream_offset + 1, "offset and number agree");
    }
    write!(text, " {seq}:{}({})", seq + segment.payload, segment.payload).expect("a string takes all");
    if flags.ack {
        write!(text, " ack {}", segment.ack.offset_from(IRS)).expect("a string takes all");
    }
    if segment.ecn != Ecn::NotEct {
        write!(text, " {:?}", segment.ecn).expect("a string takes all");
    }
    for (left, right) in segment.options.sack.iter() {
        write!(text, " sack {}-{}", left.offset_from(IRS), right.offset_from(IRS)).expect("a string takes all");
    }
    Some(text)
}
