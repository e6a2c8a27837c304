//! One station on a test bench: frames are fed in by hand, and its output is compared with a time line drawn above each
//! test.
//!
//! Times are in microseconds; there is no propagation delay. Station 0 is under test, 1 is its partner, 2 and 3 are
//! others. For a packet of 1,500 bytes the RTS takes 352, the CTS 304, data 6,328 and the ACK 304 us (2 and 1 Mbit/s).
//! The bench draws the station's random numbers a second time, so each expected time also says from which window the
//! station had to draw.

mod access;
mod after_a_packet;
mod aggregates;
mod carrier_sense;
mod categories;
mod exchange;
mod filters;
mod foreign;
mod immediate_access;
mod interface;
mod retries;

use super::action::{Action, Due};
use super::aggregate::Supply;
use super::config::Config;
use super::dcf::Dcf;
use super::medium::{Medium, Rules};
use crate::drop::DropReason;
use crate::phy::Verdict;
use crate::wire::{Body, Category, Frame, FrameKind, Ipv4Packet, Msdu, PacketMeta, Payload, PriorityMap, UdpDatagram};
use fourhop_units::{Bytes, Dur, MacAddr, NodeId, Purpose, Rate, Stream, Time};
use std::collections::VecDeque;

const RTS: u64 = 352;
const CTS: u64 = 304;
const DATA: u64 = 6328;
const ACK: u64 = 304;
const SIFS: u64 = 10;
const DIFS: u64 = 50;
const SLOT: u64 = 20;
const EIFS: u64 = 364;

struct Bench {
    mac: Dcf,
    medium: Medium,
    rules: Rules,
    draws: Stream,
    air: Option<Frame>,
    out: Vec<Action>,
    log: Vec<(u64, &'static str)>,
    last_frame: Option<Frame>,
    /// The upper layer's packets for an aggregate.
    above: VecDeque<Msdu>,
}

impl Supply for VecDeque<Msdu> {
    fn next_for(&mut self, _now: Time, to: MacAddr, _category: Category) -> Option<Msdu> {
        self.pop_front_if(|msdu| msdu.dst == to)
    }

    fn next_of(&mut self, _now: Time, category: Category) -> Option<Msdu> {
        self.pop_front_if(|msdu| msdu.category(PriorityMap::ClassSelector) == category)
    }
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench::seeded(config, 1)
    }

    fn seeded(config: Config, seed: u64) -> Bench {
        let stream = Stream::new(seed, NodeId(0), Purpose::Backoff);
        let mac = Dcf::new(NodeId(0).mac(), config, stream.clone());
        Bench {
            mac,
            medium: Medium::default(),
            rules: Rules::new(&config),
            draws: stream,
            air: None,
            out: Vec::new(),
            log: Vec::new(),
            last_frame: None,
            above: VecDeque::new(),
        }
    }

    /// Creates a bench whose first draw from 0 .. 30 is `slots`.
    fn with_first_draw(config: Config, slots: u64) -> Bench {
        (0..)
            .map(|seed| Bench::seeded(config, seed))
            .find(|bench| bench.draws.clone().below(31) == slots as u32)
            .unwrap()
    }

    /// Returns the length of the back-off that the station draws next from `values` possible ones.
    fn draw(&mut self, values: u32) -> u64 {
        SLOT * u64::from(self.draws.below(values))
    }

    fn note(&mut self, now: u64) {
        for action in self.out.drain(..) {
            let what = match &action {
                Action::Deliver { .. } => "up",
                Action::Sent(_) => "sent",
                Action::GaveUp { reason, .. } | Action::Discarded(reason) => reason.name(),
            };
            self.log.push((now, what));
        }
        if let Some(frame) = self.air.take() {
            self.log.push((now, name(&frame)));
            self.last_frame = Some(frame);
        }
    }

    /// Runs timers up to and including `until`.
    fn run(&mut self, until: u64) {
        while let Some(at) = self.mac.next_timeout(&self.medium).filter(|&at| at <= us(until)) {
            let (medium, air) = (&mut self.medium, &mut self.air);
            let due = self.mac.handle_timeout(at, medium, air, &mut self.above, &mut self.out);
            assert_eq!(due == Due::Frame, self.air.is_some());
            self.note(at.as_nanos() / 1000);
        }
    }

    fn packet(&mut self, at: u64, msdu: Msdu) {
        self.run(at);
        self.mac.handle_packet(us(at), Category::Be, msdu, &mut self.medium);
    }

    /// Receives `frame` from `at` on with this verdict; returns its end.
    fn receive(&mut self, at: u64, frame: &Frame, verdict: Verdict) -> u64 {
        self.run(at);
        self.arrive(at);
        let end = at + frame.airtime.as_micros_rounded();
        self.run(end - 1);
        self.judge(us(end), verdict, frame);
        self.note(end);
        end
    }

    /// A copy starts to occupy the receiver.
    fn arrive(&mut self, at: u64) {
        if self.medium.handle_arrival(us(at), &self.rules) {
            self.mac.handle_access_lost(us(at), &mut self.medium);
        }
    }

    /// The frame in the receiver ends with this verdict.
    fn judge(&mut self, now: Time, verdict: Verdict, frame: &Frame) {
        let for_us = frame.dst == NodeId(0).mac();
        match verdict {
            Verdict::Good => {
                let reserved = if for_us { Time::ZERO } else { now + frame.duration };
                self.medium.handle_good_frame(now, reserved, frame.kind == FrameKind::Rts, &self.rules);
            }
            lost => self.medium.handle_error(now, lost, &self.rules),
        }
        self.medium.handle_quiet(now);
        if verdict == Verdict::Good && (for_us || frame.dst.is_broadcast()) {
            self.mac.handle_reception(now, frame, u64::MAX, &mut self.medium, &mut self.out);
        }
    }

    /// Receives a good frame; returns its end.
    fn hear(&mut self, at: u64, frame: &Frame) -> u64 {
        self.receive(at, frame, Verdict::Good)
    }

    /// Receives a frame of `airtime` that is lost for `reason`; returns its end.
    fn noise(&mut self, at: u64, airtime: u64, reason: DropReason) -> u64 {
        let frame = Frame { airtime: Dur::from_micros(airtime), ..frame(FrameKind::Ack, 3, 2, 0) };
        self.receive(at, &frame, Verdict::Bad(reason))
    }

    /// Feeds in the partner's answer to the frame sent at `at`, SIFS after its end; returns the end of the answer.
    fn answer(&mut self, at: u64, kind: FrameKind) -> u64 {
        self.run(at);
        let sent = self.last_frame.clone().expect("something was sent");
        self.hear(at + sent.airtime.as_micros_rounded() + SIFS, &frame(kind, 1, 0, 0))
    }

    /// Checks the events since the last call.
    #[track_caller]
    fn expect(&mut self, events: &[(u64, &str)]) {
        assert_eq!(core::mem::take(&mut self.log), events);
    }

    /// Checks that nothing happens until `what` does at `at`.
    #[track_caller]
    fn next_is(&mut self, at: u64, what: &'static str) {
        self.run(at);
        self.expect(&[(at, what)]);
    }
}

fn us(us: u64) -> Time {
    Time::from_micros(us)
}

fn name(frame: &Frame) -> &'static str {
    match &frame.kind {
        FrameKind::Rts => "RTS",
        FrameKind::Cts => "CTS",
        FrameKind::Ack => "ACK",
        FrameKind::Aggregate(_) => "A-MPDU",
        FrameKind::BlockAck { .. } => "BA",
        FrameKind::BlockAckRequest { .. } => "BAR",
        FrameKind::Data { .. } if frame.dst.is_broadcast() => "broadcast",
        FrameKind::Data { retry: true, .. } => "DATA again",
        FrameKind::Data { .. } => "DATA",
    }
}

fn msdu(dst: MacAddr, len: u64) -> Msdu {
    let datagram = UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 0 };
    let (src, to) = (NodeId(0).ipv4(), NodeId(1).ipv4());
    let packet =
        Ipv4Packet { src, dst: to, ttl: 1, ident: 0, dscp: 0, body: Body::Udp(datagram), meta: PacketMeta::default() };
    Msdu { dst, len: Bytes(len), payload: Payload::Ipv4(packet) }
}

/// 1,500 bytes for station 1.
fn packet() -> Msdu {
    msdu(NodeId(1).mac(), 1500)
}

/// A frame between two stations with its air time at the ns-2 rates and `duration` us in its duration field.
fn frame(kind: FrameKind, src: u32, dst: u32, duration: u64) -> Frame {
    let config = Config::ns2();
    let airtime = match &kind {
        FrameKind::Rts => config.rts_airtime(config.basic_rate),
        FrameKind::Cts | FrameKind::Ack => config.answer_airtime(config.basic_rate),
        FrameKind::Data { msdu, .. } => config.data_airtime(msdu.len, config.data_rate),
        other => panic!("{other:?} is sent by an MCS"),
    };
    let (src, dst) = (NodeId(src).mac(), NodeId(dst).mac());
    Frame { dst, src, duration: Dur::from_micros(duration), rate: config.basic_rate, airtime, kind }
}

fn data(seq: u16, len: u64) -> FrameKind {
    FrameKind::Data { seq, retry: false, qos: None, msdu: msdu(NodeId(0).mac(), len) }
}

/// An RTS from station 1 to station 0 for 1,500 bytes.
fn rts_for_us() -> Frame {
    frame(FrameKind::Rts, 1, 0, 6966)
}
