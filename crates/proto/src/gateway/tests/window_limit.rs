//! Windows limited to the capacity of the path, with a sender that fills any window.

use super::*;
use std::collections::BTreeMap;

/// Delays of the wired link, and of the mesh and back, in ms.
const WIRED: u64 = 50;
const MESH: u64 = 60;
const PAYLOAD: u32 = 1_000;

/// Result of a transfer.
struct Bulk {
    /// How long each packet was queued, in ms, in order of departure.
    waits: Vec<u64>,
    script: Script,
}

/// Runs a transfer into the mesh up to `until` ms, with this window field of the receiver and its scale; the mesh loses
/// nothing and acknowledges each packet. Without `syns` the gateway has not seen the connection begin.
fn bulk(sojourn: Option<Dur>, window: u16, shift: u8, syns: bool, until: u64) -> Bulk {
    let room = Config { flow_packets: 1 << 16, flow_buffer: 1 << 30, buffer: 1 << 40, ..Config::paper() };
    let mut script = Script::new(Config { sojourn, goodput_control: None, ..room });
    if syns {
        let scaled = |segment: &mut TcpSegment, ack| {
            (segment.flags.syn, segment.flags.ack, segment.options.window_scale) = (true, ack, Some(shift));
        };
        script.packet(0, Side::Wired, flagged(segment(0, true, 0, 0, 0), |s| scaled(s, false)));
        script.packet(MESH, Side::Wireless, flagged(segment(0, false, 0, 1, 0), |s| scaled(s, true)));
    }
    script.left();
    // Arrivals at the gateway by time: data from the sender, acknowledgements from the receiver; and windows at the
    // sender.
    let (mut data, mut acks) = (BTreeMap::<u64, Vec<u32>>::new(), BTreeMap::<u64, Vec<u32>>::new());
    let mut granted = BTreeMap::<u64, Vec<(u32, u32)>>::from([(200, vec![(1, 10 * PAYLOAD)])]);
    let (mut next, mut edge) = (1, 1);
    let (mut came, mut waits) = (BTreeMap::new(), Vec::new());
    for now in 200..until {
        for (ack, bytes) in granted.remove(&now).unwrap_or_default() {
            edge = edge.max(ack + bytes);
            while next + PAYLOAD <= edge {
                data.entry(now + WIRED).or_default().push(next);
                next += PAYLOAD;
            }
        }
        script.run(now);
        for seq in data.remove(&now).unwrap_or_default() {
            came.insert(seq, now);
            script.down(now, 0, seq);
        }
        for ack in acks.remove(&now).unwrap_or_default() {
            script.packet(
                now,
                Side::Wireless,
                flagged(segment(0, false, 1, ack, 0), |segment| segment.window = window),
            );
            let Body::Tcp(sent) = &script.last.last().expect("it passes at once").body else { panic!("a segment") };
            assert!(sent.window <= window, "never raised");
            granted.entry(now + WIRED).or_default().push((ack, u32::from(sent.window) << shift));
        }
        for (at, seq, side) in script.left() {
            if side == Side::Wireless {
                waits.push(at - came[&seq]);
                acks.entry(now + 2 * MESH).or_default().push(seq + PAYLOAD);
            }
        }
    }
    Bulk { waits, script }
}

/// Over five hops of 2 Mbit/s with a round trip of 120 ms, adaptive pacing releases a packet every 56 ms.
const INTERVAL: u64 = 56;

/// A window of 4 MB, as advertised by receivers that adapt it to the path: without a limit packets wait longer and
/// longer; with one, they wait for the target and the current interval, and throughput is the same.
#[test]
fn the_queue_is_as_short_as_asked_and_never_runs_dry() {
    let free = bulk(None, 31_250, 7, true, 30_000);
    assert!(free.waits.iter().skip(300).all(|&wait| wait > 5_000), "{:?}", free.waits.last());
    for target in [50, 100, 400] {
        let queued = bulk(Some(Dur::from_millis(target)), 31_250, 7, true, 30_000);
        let late = queued.waits.iter().skip(40).max().copied().unwrap_or(u64::MAX);
        assert!(late <= target + 2 * INTERVAL, "{late} ms for {target} ms");
        assert!(queued.waits.len() + 5 >= free.waits.len(), "{} of {}", queued.waits.len(), free.waits.len());
        assert!(queued.script.gateway.counters().held_back > 300);
    }
}

/// Without the SYNs the scale of a window is unknown: it is left alone.
#[test]
fn windows_of_an_unknown_scale_are_left_alone() {
    let unknown = bulk(Some(Dur::from_millis(100)), 60_000, 0, false, 5_000);
    assert_eq!(unknown.script.gateway.counters().held_back, 0);
    assert!(unknown.waits.iter().any(|&wait| wait > 1_000));
}

/// A receiver's window that is smaller than the path allows is left alone.
#[test]
fn a_small_window_stays() {
    let small = bulk(Some(Dur::from_millis(100)), 3_000, 0, true, 5_000);
    assert_eq!(small.script.gateway.counters().held_back, 0);
}
