//! Arbitrary traffic at a gateway: interleaving, losses, duplicates, reordering, sequence numbers that wrap, floods,
//! garbage.

#[path = "gateway/checked.rs"]
mod checked;

use checked::{Checked, exercise, small};
use fourhop_proto::gateway::{Config, Mode, Side};
use fourhop_proto::wire::{Body, Ecn, Ipv4Packet, PacketMeta, TcpFlags, TcpOptions, TcpSegment, encode};
use fourhop_units::{Dur, Seq};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::net::Ipv4Addr;

#[derive(Clone, Debug)]
enum Op {
    Advance(u32),
    Path(u8, u8, u16),
    PathLost(u8),
    Segment {
        flow: u8,
        from_wired: bool,
        seq: i16,
        ack: i16,
        len: u16,
        flags: u8,
        sack: Option<(i16, u8)>,
    },
    /// New data and, this many ms later, its acknowledgement.
    Exchange {
        flow: u8,
        from_wired: bool,
        ms: u8,
    },
    /// A copy of an earlier packet, perhaps damaged.
    Again(prop::sample::Index, Option<(prop::sample::Index, u8)>),
    Syns(u16),
    Garbage(Vec<u8>),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let sack = prop::option::of((-40..400i16, 0..9u8));
    let segment = (0..6u8, any::<bool>(), -40..400i16, -40..400i16, 0..1_400u16, any::<u8>(), sack).prop_map(
        |(flow, from_wired, seq, ack, len, flags, sack)| {
            let len = if len < 300 { 0 } else { len };
            Op::Segment { flow, from_wired, seq, ack, len, flags, sack }
        },
    );
    let flip = prop::option::of((any::<prop::sample::Index>(), any::<u8>()));
    let op = prop_oneof![
        3 => (0..300u32).prop_map(Op::Advance),
        1 => (0..100_000u32).prop_map(Op::Advance),
        1 => (0..6u8, 0..9u8, 1..20_000u16).prop_map(|(node, hops, kbps)| Op::Path(node, hops, kbps)),
        1 => (0..6u8).prop_map(Op::PathLost),
        12 => segment,
        6 => (0..6u8, any::<bool>(), any::<u8>())
            .prop_map(|(flow, from_wired, ms)| Op::Exchange { flow, from_wired, ms }),
        2 => (any::<prop::sample::Index>(), flip).prop_map(|(n, flip)| Op::Again(n, flip)),
        1 => (0..40u16).prop_map(Op::Syns),
        1 => prop::collection::vec(any::<u8>(), 0..80).prop_map(Op::Garbage),
    ];
    prop::collection::vec(op, 1..150)
}

/// Sequence numbers around the wrap, in steps of 100 bytes.
fn number(steps: i16) -> Seq {
    Seq::from_wire((u32::MAX - 9_000).wrapping_add_signed(i32::from(steps) * 100))
}

fn bytes(flow: u8, from_wired: bool, ident: u16, segment: TcpSegment) -> Vec<u8> {
    let (wireless, wired) = (Ipv4Addr::new(10, 0, 0, flow % 4), Ipv4Addr::new(10, 128, 0, 1));
    let (src, dst) = if from_wired { (wired, wireless) } else { (wireless, wired) };
    let mut bytes = Vec::new();
    let packet = Ipv4Packet { src, dst, ttl: 9, ident, dscp: 0, body: Body::Tcp(segment), meta: PacketMeta::default() };
    encode::packet(&packet, &mut bytes);
    bytes
}

fn run(config: Config, ops: Vec<Op>) -> Checked {
    let mut checked = Checked::new(config);
    let mut sent: Vec<(Side, Vec<u8>)> = Vec::new();
    // The next number per flow and side in exchanges.
    let mut next = [[number(0); 2]; 6];
    for (ident, op) in ops.into_iter().enumerate() {
        let blank = |flow: u8, from_wired: bool| {
            let (near, far) = (1_000 + u16::from(flow), 80);
            let (src_port, dst_port) = if from_wired { (far, near) } else { (near, far) };
            let flags = TcpFlags::default();
            let (seq, ack) = (number(0), number(0));
            TcpSegment {
                src_port,
                dst_port,
                seq,
                ack,
                flags,
                window: if flow.is_multiple_of(2) { 2_000 } else { 20_000 },
                options: TcpOptions::default(),
                payload: 0,
                ecn: Ecn::Ect0,
            }
        };
        let packet = match op {
            Op::Advance(ms) => {
                checked.advance(Dur::from_millis(ms.into()));
                continue;
            }
            Op::Path(node, hops, kbps) => {
                checked.path(Ipv4Addr::new(10, 0, 0, node), hops, kbps.into());
                continue;
            }
            Op::PathLost(node) => {
                checked.path_lost(Ipv4Addr::new(10, 0, 0, node));
                continue;
            }
            Op::Segment { flow, from_wired, seq, ack, len, flags, sack } => {
                let bit = |bit: u8| flags >> bit & 7 == 7;
                let sack = sack.map(|(left, len)| (number(left), number(left) + 100 * u32::from(len)));
                let segment = TcpSegment {
                    seq: number(seq),
                    ack: number(ack),
                    flags: TcpFlags {
                        syn: bit(0),
                        fin: bit(2),
                        rst: bit(4),
                        ack: flags & 3 != 0,
                        psh: false,
                        ..TcpFlags::default()
                    },
                    options: TcpOptions { sack: sack.into_iter().collect(), ..TcpOptions::default() },
                    payload: len.into(),
                    ..blank(flow, from_wired)
                };
                let from = if from_wired { Side::Wired } else { Side::Wireless };
                (from, bytes(flow, from_wired, ident as u16, segment))
            }
            Op::Exchange { flow, from_wired, ms } => {
                let seq = next[usize::from(flow)][usize::from(from_wired)];
                let ack = next[usize::from(flow)][usize::from(!from_wired)];
                let end = seq + 1_000;
                next[usize::from(flow)][usize::from(from_wired)] = end;
                let sides = if from_wired { [Side::Wired, Side::Wireless] } else { [Side::Wireless, Side::Wired] };
                let flags = TcpFlags { ack: true, ..TcpFlags::default() };
                let data = TcpSegment { seq, ack, flags, payload: 1_000, ..blank(flow, from_wired) };
                checked.packet(sides[0], bytes(flow, from_wired, ident as u16, data));
                checked.advance(Dur::from_millis(ms.into()));
                let answer = TcpSegment { seq: ack, ack: end, flags, ..blank(flow, !from_wired) };
                checked.packet(sides[1], bytes(flow, !from_wired, ident as u16, answer));
                continue;
            }
            Op::Again(n, flip) if !sent.is_empty() => {
                let (from, mut packet) = sent[n.index(sent.len())].clone();
                if let Some((at, bits)) = flip {
                    let at = at.index(packet.len().max(1));
                    packet.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
                }
                (from, packet)
            }
            Op::Again(..) => continue,
            Op::Syns(count) => {
                for n in 0..count {
                    let flags = TcpFlags { syn: true, ..TcpFlags::default() };
                    let segment = TcpSegment { src_port: n, flags, ..blank(0, true) };
                    checked.packet(Side::Wired, bytes(0, true, ident as u16, segment));
                }
                continue;
            }
            Op::Garbage(bytes) => (Side::Wired, bytes),
        };
        sent.push(packet.clone());
        checked.packet(packet.0, packet.1);
    }
    checked
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// With bounds so small that all of them are met.
    #[test]
    fn nothing_is_lost_changed_repeated_or_put_out_of_order(ops in ops()) {
        run(small(), ops).finish();
    }

    #[test]
    fn the_same_with_ap2s_windows(ops in ops()) {
        run(Config { mode: Mode::Ap2, ..small() }, ops).finish();
    }

    /// The same with room enough, and with each part on its own.
    #[test]
    fn the_same_with_parts_switched_off(ops in ops(), pacing: bool, option: bool, control: bool) {
        let paper = Config::paper();
        let goodput_control = paper.goodput_control.filter(|_| control);
        run(Config { pacing, option, goodput_control, ..paper }, ops).finish();
    }
}

/// The fuzz target, without a fuzzer.
#[test]
fn any_bytes_at_all() {
    crate::replay::replay(&["fuzz/corpus/gateway"], 2_000, |data| {
        exercise(data);
    });
}

#[test]
fn the_corpus_of_the_fuzz_target_reaches_what_it_is_about() {
    let download = exercise(include_bytes!("../../../fuzz/corpus/gateway/download"));
    assert!(download.waited > 0 && download.ended == 1, "{download:?}");
    let upload = exercise(include_bytes!("../../../fuzz/corpus/gateway/upload"));
    assert!(upload.options > 0 && upload.ended == 1, "{upload:?}");
    let garbage = exercise(include_bytes!("../../../fuzz/corpus/gateway/garbage"));
    assert_eq!((garbage.packets, garbage.followed), (3, 0));
}

/// The properties above would be true of a gateway that does nothing: their traffic must reach the code under test.
#[test]
fn the_traffic_reaches_every_part() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut sum = std::collections::BTreeMap::<&str, u64>::new();
    for mode in [Mode::Gap, Mode::Ap2].repeat(300) {
        let ops = ops().new_tree(&mut runner).expect("a strategy without rejections").current();
        let checked = run(Config { mode, ..small() }, ops);
        let control = checked.gateway().control_counters().map(|counters| counters.named());
        for (name, count) in checked.gateway().counters().named().chain(control.into_iter().flatten()) {
            *sum.entry(name).or_default() += count;
        }
        checked.finish();
    }
    for (name, count) in sum {
        // No header is full here; that case has its own test.
        assert!(count > 0 || name == "no_room", "{name} is never met");
    }
}
