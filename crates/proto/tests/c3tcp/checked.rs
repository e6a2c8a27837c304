//! Checks on C3TCP: options of MAC headers, and the modules of two ends with anything that may happen between them.
//! Shared by the tests next to it and the fuzz targets in `fuzz/`.

use fourhop_proto::ccm::table::Packets;
use fourhop_proto::ccm::{Modules, Options};
use fourhop_proto::wire::options::{self, Carried};
use fourhop_proto::wire::{Body, Ipv4Packet, MeasuredSegment, PacketMeta, TcpFlags, TcpOptions, TcpSegment};
use fourhop_units::{Dur, Seq, Time};
use std::net::Ipv4Addr;

/// Interprets `data` as the options of a MAC header: they are rejected, or the same after encoding, even behind other
/// bytes.
#[allow(dead_code)]
pub fn options(data: &[u8]) {
    let Ok((read, len)) = options::Options::parse(data) else { return };
    assert!(len <= data.len() && len == read.len(), "no more than is there, and all of it");
    let mut again = vec![0xaa; 3];
    read.encode(&mut again);
    assert_eq!(again[..3], [0xaa; 3]);
    assert_eq!(options::Options::parse(&again[3..]), Ok((read, len)));
}

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

/// Interprets `data` as events at the modules of a host: the first byte selects local acknowledgements. Each following
/// step is eleven bytes, which make a segment that is sent or received after some time, with options of a MAC header
/// after them if it is received. Returns how many windows were lowered, and how many packets were created here.
#[allow(dead_code)]
pub fn modules(data: &[u8]) -> (u64, u64) {
    let Some((&first, mut rest)) = data.split_first() else { return (0, 0) };
    let local_acks = first & 1 == 1;
    let mut modules = Modules::new(Options { local_acks, smoothing: u32::from(first) * 4, ..Options::NEWEST });
    let mut now = Time::from_secs(1);
    let mut out = Packets::default();
    let (mut given, mut got, mut lowered) = (0, 0, 0);
    while let Some((step, after)) = rest.split_first_chunk::<11>() {
        rest = after;
        now += Dur::from_millis(u64::from(step[0]) * u64::from(step[0]));
        while let Some(at) = modules.next_timeout().filter(|&at| at <= now) {
            modules.handle_timeout(at, &mut out);
            assert!(modules.next_timeout().is_none_or(|next| next > at), "a timer that is due is handled");
        }
        let outgoing = step[1] & 1 == 0;
        let segment = segment(step);
        let advertised = segment.window;
        let (src, dst) = if outgoing { (HERE, THERE) } else { (THERE, HERE) };
        let mut body = Body::Tcp(segment.clone());
        if !outgoing && let Ok((read, len)) = options::Options::parse(rest) {
            rest = &rest[len..];
            body = Body::Measured(Box::new(MeasuredSegment {
                segment: segment.clone(),
                carried: Carried { options: read, ..Carried::default() },
            }));
        }
        let mut packet =
            Ipv4Packet { src, dst, ttl: 64 - step[1] % 4, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        given += 1;
        let goes_on = match outgoing {
            true => modules.handle_outgoing(now, &mut packet),
            false => modules.handle_incoming(now, &mut packet),
        };
        assert!(!(goes_on && local_acks), "what is kept here comes out later");
        if goes_on {
            got += 1;
            lowered += u64::from(packet.segment().is_some_and(|segment| segment.window < advertised));
            let after = packet.segment().expect("it is TCP still");
            assert!(after.window <= advertised, "a window is never raised");
            assert_eq!(*after, TcpSegment { window: after.window, ..segment }, "nothing else is touched");
            assert!(outgoing || packet.carried().is_none(), "the options end here");
        }
    }
    assert_eq!(got, if local_acks { 0 } else { given });
    // A silent peer is given up eventually; then nothing is left to do.
    for _ in 0..100 {
        let Some(at) = modules.next_timeout() else { break };
        modules.handle_timeout(at, &mut out);
    }
    assert_eq!(modules.next_timeout(), None);
    let (absorbed, emitted) = modules.balance();
    assert_eq!((absorbed, emitted), (given - got, (out.down.len() + out.up.len()) as u64));
    assert!(out.down.iter().all(|packet| packet.src == HERE) && out.up.iter().all(|packet| packet.dst == HERE));
    (lowered, emitted)
}

/// Makes a segment from bytes: numbers in steps of 100 around the wrap; rare flags are rare.
fn segment(step: &[u8; 11]) -> TcpSegment {
    let number = |high: u8, low: u8| {
        let steps = i32::from(i16::from_be_bytes([high, low]) % 400);
        Seq::from_wire((u32::MAX - 9_000).wrapping_add_signed(steps * 100))
    };
    let flags = step[2];
    let syn = flags & 0x0f == 0x0f;
    let sack = (flags & 0x30 == 0x30).then(|| (number(step[3], step[10]), number(step[3], step[10]) + 1_000));
    TcpSegment {
        src_port: if step[1] & 1 == 0 { 1 } else { 2 },
        dst_port: if step[1] & 1 == 0 { 2 } else { 1 },
        // A SYN occupies the number before that of the first byte.
        seq: Seq::from_wire(number(step[3], step[4]).to_wire().wrapping_sub(u32::from(syn))),
        ack: number(step[5], step[6]),
        flags: TcpFlags {
            syn,
            ack: flags & 0xc0 != 0xc0,
            fin: flags & 0x1f == 0x10,
            rst: flags == 0x20,
            psh: false,
            ..TcpFlags::default()
        },
        window: u16::from_be_bytes([step[7], step[8]]),
        options: TcpOptions {
            mss: syn.then_some(1_000),
            window_scale: Some(step[10] % 16).filter(|_| syn && step[10] < 128),
            sack: sack.into_iter().collect(),
            ..TcpOptions::default()
        },
        payload: u32::from(step[9] / 64) * 500,
        ..TcpSegment::default()
    }
}
