//! The gateway alone: packets per second on one core, and memory, with 1, 200 and 100,000 flows.
//!
//! Each step is that of a flow from a wired sender: a data packet of 1500 bytes arrives, and the acknowledgement of an
//! earlier one returns. Packets are measured as bytes, as in a daemon, and as packets of the simulator. Buffers are
//! cloned from templates; a separate bench measures that alone.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fourhop_proto::gateway::{Action, Config, Gateway, HashKey, Packet, Side};
use fourhop_proto::wire::{Body, Ipv4Packet, PacketMeta, TcpFlags, TcpOptions, TcpSegment, encode};
use fourhop_units::{Dur, Rate, Seq, Time};
use std::hint::black_box;
use std::net::Ipv4Addr;

const PAYLOAD: u32 = 1_460;
const FLOWS: [u32; 3] = [1, 200, 100_000];

fn segment(from_wired: bool) -> Ipv4Packet {
    let (wired, wireless) = (Ipv4Addr::new(10, 128, 0, 1), Ipv4Addr::new(10, 0, 0, 1));
    let (src, dst) = if from_wired { (wired, wireless) } else { (wireless, wired) };
    let body = Body::Tcp(TcpSegment {
        src_port: 80,
        dst_port: 80,
        seq: Seq::from_wire(0),
        ack: Seq::from_wire(0),
        flags: TcpFlags { ack: true, ..TcpFlags::default() },
        window: u16::MAX,
        options: TcpOptions::default(),
        payload: if from_wired { PAYLOAD } else { 0 },
        ..TcpSegment::default()
    });
    Ipv4Packet { src, dst, ttl: 60, ident: 0, dscp: 0, body, meta: PacketMeta::default() }
}

/// A packet whose flow and numbers can be set.
trait Template: Packet + Clone {
    fn template(from_wired: bool) -> Self;
    fn set(&mut self, flow: u32, seq: u32, ack: u32);
}

impl Template for Ipv4Packet {
    fn template(from_wired: bool) -> Ipv4Packet {
        segment(from_wired)
    }

    fn set(&mut self, flow: u32, seq: u32, ack: u32) {
        let Body::Tcp(segment) = &mut self.body else { return };
        // The port of the wireless end and the address of the wired end distinguish flows.
        let (port, addr) = (flow as u16, Ipv4Addr::from(0x0a80_0000 + (flow >> 16)));
        match segment.payload {
            0 => (segment.src_port, self.dst) = (port, addr),
            _ => (segment.dst_port, self.src) = (port, addr),
        }
        (segment.seq, segment.ack) = (Seq::from_wire(seq), Seq::from_wire(ack));
    }
}

impl Template for Vec<u8> {
    fn template(from_wired: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode::packet(&segment(from_wired), &mut bytes);
        bytes
    }

    fn set(&mut self, flow: u32, seq: u32, ack: u32) {
        let (port, addr) = ((flow as u16).to_be_bytes(), (0x0a80_0000 + (flow >> 16)).to_be_bytes());
        let (port_at, addr_at) = if self.len() == 40 { (20, 16) } else { (22, 12) };
        self[port_at..port_at + 2].copy_from_slice(&port);
        self[addr_at..addr_at + 4].copy_from_slice(&addr);
        self[24..28].copy_from_slice(&seq.to_be_bytes());
        self[28..32].copy_from_slice(&ack.to_be_bytes());
    }
}

/// Cycles through the flows, each with a round trip of `LAG` of its packets.
struct Load<P> {
    gateway: Gateway<P>,
    now: Time,
    flows: u32,
    next: u32,
    round: u32,
    data: P,
    ack: P,
    out: Vec<Action<P>>,
}

const LAG: u32 = 2;
const KEY: HashKey = HashKey([0; 2]);

impl<P: Template> Load<P> {
    fn new(flows: u32) -> Load<P> {
        let config = Config { flows: 1 << 17, buffer: 1 << 40, ..Config::paper() };
        let mut gateway = Gateway::new(config, KEY);
        gateway.handle_path(Ipv4Addr::new(10, 0, 0, 1), 4, Rate::kbps(11_000));
        let (data, ack) = (P::template(true), P::template(false));
        let mut load = Load { gateway, now: Time::ZERO, flows, next: 0, round: 0, data, ack, out: Vec::new() };
        // Warm-up: each flow is known, has a full set of samples, and paces.
        for _ in 0..60 * flows.clamp(200, 10_000) {
            load.step();
        }
        load
    }

    /// Sends two packets of the next flow; time advances so that each flow has a data packet every 50 ms or more.
    fn step(&mut self) {
        let (flow, round) = (self.next, self.round);
        self.next += 1;
        if self.next == self.flows {
            (self.next, self.round) = (0, round + 1);
        }
        self.now += Dur::from_nanos((50_000_000 / u64::from(self.flows)).max(1_000));
        let seq = round.wrapping_mul(PAYLOAD);
        let mut data = self.data.clone();
        data.set(flow, seq, 0);
        self.gateway.handle_packet(self.now, Side::Wired, data, &mut self.out);
        let mut ack = self.ack.clone();
        ack.set(flow, 0, seq.wrapping_sub((LAG - 1) * PAYLOAD));
        self.gateway.handle_packet(self.now, Side::Wireless, ack, &mut self.out);
        while self.gateway.next_timeout().is_some_and(|at| at <= self.now) {
            self.gateway.handle_timeout(self.now, &mut self.out);
        }
        black_box(&self.out);
        self.out.clear();
    }
}

fn packets<P: Template>(c: &mut Criterion, kind: &str) {
    let mut group = c.benchmark_group(format!("gateway/data and its ACK, {kind}"));
    group.throughput(Throughput::Elements(2));
    for flows in FLOWS {
        let mut load = Load::<P>::new(flows);
        group.bench_function(BenchmarkId::new("flows", flows), |b| b.iter(|| load.step()));
        let followed = load.gateway.counters().followed;
        assert_eq!(followed, load.gateway.counters().packets, "all belong to flows");
        // At most the number that took turns during the bench.
        let (known, queued) = (load.gateway.flows(), load.gateway.queued());
        let memory =
            load.gateway.memory() - Gateway::<P>::new(Config { flows: 1 << 17, ..Config::paper() }, KEY).memory();
        println!(
            "{kind}, {flows} flows: {known} known, {} bytes of state each, {queued} packets wait",
            memory / known.max(1)
        );
    }
    let (data, ack) = (P::template(true), P::template(false));
    group.bench_function("templates alone", |b| {
        b.iter(|| {
            let (mut data, mut ack) = (data.clone(), ack.clone());
            data.set(7, 7, 7);
            ack.set(7, 7, 7);
            black_box((data, ack))
        });
    });
    group.finish();
}

fn gateway(c: &mut Criterion) {
    packets::<Vec<u8>>(c, "bytes");
    packets::<Ipv4Packet>(c, "simulated");
}

criterion_group!(benches, gateway);
criterion_main!(benches);
