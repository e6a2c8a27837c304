//! A gateway that paces: packets come, actions go, and a timer says when the next packet may leave. Packets are bytes,
//! as a daemon has them.
//!
//! ```text
//! cargo run -p fourhop-proto --example gateway
//! ```

use core::net::Ipv4Addr;
use fourhop_proto::gateway::{Action, Config, Gateway, HashKey, Side};
use fourhop_proto::wire::{Body, Ipv4Packet, PacketMeta, TcpFlags, TcpSegment, encode};
use fourhop_units::{Dur, Rate, Seq, Time};

const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const NODE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 4);
const PAYLOAD: u32 = 1_000;

fn packet(src: Ipv4Addr, dst: Ipv4Addr, segment: TcpSegment) -> Vec<u8> {
    let body = Body::Tcp(segment);
    let packet = Ipv4Packet { src, dst, ttl: 60, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
    let mut bytes = Vec::new();
    encode::packet(&packet, &mut bytes);
    bytes
}

fn data(number: u32) -> Vec<u8> {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let seq = Seq::from_wire(number * PAYLOAD);
    let ports = TcpSegment { src_port: 80, dst_port: 5_000, window: 65_000, ..TcpSegment::default() };
    packet(SERVER, NODE, TcpSegment { seq, flags, payload: PAYLOAD, ..ports })
}

fn ack(number: u32) -> Vec<u8> {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let ack = Seq::from_wire((number + 1) * PAYLOAD);
    packet(
        NODE,
        SERVER,
        TcpSegment { src_port: 5_000, dst_port: 80, ack, flags, window: 65_000, ..TcpSegment::default() },
    )
}

fn main() {
    let mut gateway: Gateway<Vec<u8>> = Gateway::new(Config::paper(), HashKey([1, 2]));
    gateway.handle_path(NODE, 4, Rate::kbps(2_000));
    let (mut now, mut out) = (Time::ZERO, Vec::new());

    // The node is 40 ms away: the gateway learns that by data and their acknowledgements.
    for number in 0..20 {
        gateway.handle_packet(now, Side::Wired, data(number), &mut out);
        now += Dur::from_millis(40);
        while gateway.next_timeout().is_some_and(|at| at <= now) {
            gateway.handle_timeout(now, &mut out);
        }
        gateway.handle_packet(now, Side::Wireless, ack(number), &mut out);
    }
    // A burst leaves one by one.
    out.clear();
    (20..25).for_each(|number| gateway.handle_packet(now, Side::Wired, data(number), &mut out));
    let mut left = Vec::new();
    loop {
        left.extend(out.drain(..).filter(|action| matches!(action, Action::Forward { .. })).map(|_| now));
        let Some(at) = gateway.next_timeout().filter(|_| left.len() < 5) else { break };
        now = at;
        gateway.handle_timeout(now, &mut out);
    }
    println!("five packets that came at once leave at {left:?}");
    assert!(left.len() == 5 && left.windows(2).all(|pair| pair[0] < pair[1]), "they are paced");
}

#[test]
fn it_runs() {
    main();
}
