//! Packet scripts for the gateway, with packets of the simulator; the arithmetic is checked in `fourhop_cc`, arbitrary
//! traffic in `tests/gateway.rs`.

mod bytes;
mod comparison;
mod limits;
mod plain;
mod script;
mod window_limit;
mod windowed;

use super::*;
use crate::wire::{Body, Ipv4Packet, PacketMeta, TcpFlags, TcpOptions, TcpSegment};
use core::net::Ipv4Addr;
use fourhop_units::{Bytes, Dur, Seq};

pub const HOST: Ipv4Addr = Ipv4Addr::new(10, 128, 0, 1);
pub const NODE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 6);

pub fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// A segment of flow `n`, towards the wireless side if `down`.
pub fn segment(n: u16, down: bool, seq: u32, ack: u32, payload: u32) -> Ipv4Packet {
    let (wired, wireless) = ((HOST, 5_001), (NODE, 40_000 + n));
    let ((src, src_port), (dst, dst_port)) = if down { (wired, wireless) } else { (wireless, wired) };
    let body = Body::Tcp(TcpSegment {
        src_port,
        dst_port,
        seq: Seq::from_wire(seq),
        ack: Seq::from_wire(ack),
        flags: TcpFlags { ack: true, ..TcpFlags::default() },
        window: 60_000,
        options: TcpOptions::default(),
        payload,
        ..TcpSegment::default()
    });
    Ipv4Packet { src, dst, ttl: 60, ident: seq as u16, dscp: 0, body, meta: PacketMeta::default() }
}

/// Returns the packet with its segment changed.
pub fn flagged(mut packet: Ipv4Packet, change: impl Fn(&mut TcpSegment)) -> Ipv4Packet {
    if let Body::Tcp(segment) = &mut packet.body {
        change(segment);
    }
    packet
}

pub fn key(n: u16) -> FlowKey {
    FlowKey { wireless: (NODE.into(), 40_000 + n), wired: (HOST.into(), 5_001) }
}

/// A gateway, the time, and the packets that have left: (ms, sequence number, side).
pub struct Script {
    pub gateway: Gateway<Ipv4Packet>,
    pub left: Vec<(u64, u32, Side)>,
    pub last: Vec<Ipv4Packet>,
    out: Vec<Action<Ipv4Packet>>,
}

impl Script {
    pub fn new(config: Config) -> Script {
        let mut gateway = Gateway::new(config, HashKey([7, 8]));
        gateway.handle_path(NODE, 5, Rate::kbps(2_000));
        Script { gateway, left: Vec::new(), last: Vec::new(), out: Vec::new() }
    }

    pub fn packet(&mut self, at: u64, from: Side, packet: Ipv4Packet) {
        self.run(at);
        self.gateway.handle_packet(ms(at), from, packet, &mut self.out);
        self.collect(ms(at));
    }

    /// Passes in data of flow `n` towards the wireless side.
    pub fn down(&mut self, at: u64, n: u16, seq: u32) {
        self.packet(at, Side::Wired, segment(n, true, seq, 1, 1_000));
    }

    /// Passes in an acknowledgement of such data from the wireless side.
    pub fn down_acked(&mut self, at: u64, n: u16, ack: u32) {
        self.packet(at, Side::Wireless, segment(n, false, 1, ack, 0));
    }

    pub fn path_lost(&mut self, at: u64, node: Ipv4Addr) {
        self.run(at);
        self.gateway.handle_path_lost(ms(at), node, &mut self.out);
        self.collect(ms(at));
    }

    /// Runs all timers up to `at`.
    pub fn run(&mut self, at: u64) {
        while let Some(due) = self.gateway.next_timeout().filter(|&due| due <= ms(at)) {
            self.gateway.handle_timeout(due, &mut self.out);
            self.collect(due);
            assert!(self.gateway.next_timeout().is_none_or(|next| next > due), "a timer is handled once");
        }
    }

    fn collect(&mut self, now: Time) {
        self.last.clear();
        for action in self.out.drain(..) {
            let Action::Forward { packet, to } = action else { panic!("{action:?}") };
            let Body::Tcp(segment) = &packet.body else { panic!("{packet:?}") };
            self.left.push((now.as_nanos() / 1_000_000, segment.seq.to_wire(), to));
            self.last.push(packet);
        }
    }

    /// Returns the packets that have left since the last call.
    pub fn left(&mut self) -> Vec<(u64, u32, Side)> {
        std::mem::take(&mut self.left)
    }

    pub fn interval(&self, n: u16) -> Option<Dur> {
        self.gateway.flow(&key(n))?.interval
    }
}
