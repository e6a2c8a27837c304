//! The module as a whole: packet scripts, and properties of the window it writes.

mod local_acks;
mod table;

use super::*;
use crate::ccm::local_acks::Limits;
use crate::wire::options::Echo;
use crate::wire::{TcpFlags, TcpOptions};
use fourhop_units::{Dur, Seq};
use proptest::prelude::*;

fn seq(n: u32) -> Seq {
    Seq::from_wire(n)
}

fn segment(from: u32, payload: u32, ack: u32, window: u16) -> TcpSegment {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let (seq, ack) = (seq(from), seq(ack));
    TcpSegment {
        src_port: 1,
        dst_port: 2,
        seq,
        ack,
        flags,
        window,
        options: TcpOptions::default(),
        payload,
        ..TcpSegment::default()
    }
}

fn syn(mss: u16, scale: Option<u8>, ack: bool) -> TcpSegment {
    let options = TcpOptions { mss: Some(mss), window_scale: scale, ..TcpOptions::default() };
    let flags = TcpFlags { syn: true, ack, ..TcpFlags::default() };
    TcpSegment { flags, options, ..segment(0, 0, 0, 65_535) }
}

/// A sender's module after the handshake.
fn sender(mss: u16, ours: Option<u8>, peers: Option<u8>) -> Ccm {
    let mut module = Ccm::new(Options::NEWEST);
    module.handle_outgoing(&syn(mss, ours, false));
    module.handle_incoming(Time::ZERO, &mut syn(mss, peers, true), None, 0, None);
    module
}

/// Options of an acknowledgement: `kbps` and `ms` for the forward path, `back` ms for its own over `links`.
fn echo(kbps: u32, ms: u32, back: u32, links: u8) -> Carried {
    let options = options::Options {
        echo: Some(Echo { bandwidth: kbps * 1000, delay: ms * 1000 }),
        back: Some(Back { delay: back * 1000, links }),
        ..options::Options::default()
    };
    Carried { options, ..Carried::default() }
}

fn window_after(module: &mut Ccm, ms: u64, mut ack: TcpSegment, carried: Option<&Carried>) -> u16 {
    module.handle_incoming(Time::from_millis(ms), &mut ack, carried, 0, None);
    ack.window
}

fn measured(bandwidth: u32, delay: u32) -> Carried {
    let path = Path { bandwidth, delay, links: 2 };
    Carried { options: options::Options { path: Some(path), ..options::Options::default() }, ..Carried::default() }
}

#[test]
fn the_window_is_bandwidth_times_delay() {
    let mut module = sender(1000, None, None);
    // 800 kbit/s x (20 + 10) ms = 24,000 bit.
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    assert_eq!(module.window().written(), Some(3_000));
    // The peer's window if it is smaller, one segment if the product is.
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 2, 2_500), Some(&echo(800, 20, 10, 2))), 2_500);
    assert_eq!(window_after(&mut module, 120, segment(0, 0, 3, 60_000), Some(&echo(8, 20, 10, 2))), 1_000);
    assert_eq!(window_after(&mut module, 130, segment(0, 0, 4, 300), Some(&echo(8, 20, 10, 2))), 300);
    assert_eq!(window_after(&mut module, 140, segment(0, 0, 5, 0), Some(&echo(800, 20, 10, 2))), 0);
}

#[test]
fn scaled_windows_are_written_in_their_unit() {
    let mut module = sender(1000, Some(0), Some(7));
    // 3,000 bytes are 23 units of 128; a segment of 1,000 bytes is 8 of them.
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 500), Some(&echo(800, 20, 10, 2))), 23);
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 2, 500), Some(&echo(8, 20, 10, 2))), 8);
    // Scaled only if both SYNs say so (RFC 7323 section 2.2).
    let mut module = sender(1000, None, Some(7));
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
}

#[test]
fn what_is_not_known_is_left_alone() {
    // No handshake seen: the scale is not known.
    let mut module = Ccm::new(Options::NEWEST);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 60_000);
    // No options.
    let mut module = sender(1000, None, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), None), 60_000);
    // A node on the way has not measured: three hops, two links.
    let mut ack = segment(0, 0, 2, 60_000);
    module.handle_incoming(Time::from_millis(110), &mut ack, Some(&echo(800, 20, 10, 2)), 3, None);
    assert_eq!(ack.window, 60_000);
    let mut ack = segment(0, 0, 3, 60_000);
    module.handle_incoming(Time::from_millis(120), &mut ack, Some(&echo(800, 20, 10, 2)), 2, None);
    assert_eq!(ack.window, 3_000);
}

#[test]
fn a_measurement_holds_for_a_while() {
    let mut module = sender(1000, None, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    assert_eq!(window_after(&mut module, 3_100, segment(0, 0, 2, 60_000), None), 3_000);
    assert_eq!(window_after(&mut module, 3_101, segment(0, 0, 3, 60_000), None), 60_000);
}

/// RFC 5681 section 2: a duplicate repeats the window of the ACK before it, or fast retransmit never happens.
#[test]
fn duplicate_acknowledgements_keep_their_window() {
    let mut module = sender(1000, None, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    // With SACK a duplicate may carry news.
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 1, 60_000), Some(&echo(900, 20, 10, 2))), 3_000);
    assert_eq!(window_after(&mut module, 5_000, segment(0, 0, 1, 60_000), None), 3_000);
    // A window update is not a duplicate, and must not look like one.
    assert_eq!(window_after(&mut module, 5_010, segment(0, 0, 1, 59_000), Some(&echo(800, 20, 10, 2))), 3_001);
    assert_eq!(window_after(&mut module, 5_020, segment(0, 0, 2, 60_000), None), 3_000);
}

/// The weight of the old average in thousandths: 3/4 of 800 kbit/s and of 30 ms, 1/4 of 1,600 kbit/s and of 50 ms make
/// 1,000 kbit/s times 35 ms.
#[test]
fn measurements_are_smoothed() {
    let mut module = Ccm::new(Options { smoothing: 750, ..Options::NEWEST });
    module.handle_outgoing(&syn(1_000, None, false));
    module.handle_incoming(Time::ZERO, &mut syn(1_000, None, true), None, 0, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 2, 60_000), Some(&echo(1_600, 35, 15, 2))), 4_375);
    // Old values are not averaged.
    assert_eq!(window_after(&mut module, 9_000, segment(0, 0, 3, 60_000), Some(&echo(1_600, 35, 15, 2))), 10_000);
}

/// A measurement by no link at all does not count; one over links that cannot be counted does.
#[test]
fn a_measurement_is_of_at_least_one_link() {
    let mut module = sender(1000, None, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 0))), 60_000);
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 2, 60_000), Some(&echo(800, 20, 10, 1))), 3_000);
}

/// In the simulator: the time of a packet on the forward path and of its acknowledgement on the way back.
#[test]
fn the_true_delay_is_that_of_both_ways() {
    let mut module = sender(1000, None, None);
    let carried = Carried { forward: Some(Dur::from_millis(20)), ..echo(800, 20, 10, 2) };
    let (now, created) = (Time::from_millis(100), Time::from_millis(88));
    module.handle_incoming(now, &mut segment(0, 0, 1, 60_000), Some(&carried), 2, Some(created));
    assert_eq!(module.window().current(now).and_then(|estimate| estimate.truth), Some(Dur::from_millis(32)));
}

/// It is averaged like the measured delay, so that the two can be compared: 3/4 of 32 ms and 1/4 of 52 ms make 37 ms.
/// If the newest packet does not report it, it is unknown.
#[test]
fn the_true_delay_is_averaged_like_the_measured_one() {
    let mut module = Ccm::new(Options { smoothing: 750, ..Options::NEWEST });
    let mut truth = |at: u64, ack, created, forward: Option<u64>| {
        let carried = Carried { forward: forward.map(Dur::from_millis), ..echo(800, 20, 10, 2) };
        let (now, created) = (Time::from_millis(at), Time::from_millis(created));
        module.handle_incoming(now, &mut segment(0, 0, ack, 60_000), Some(&carried), 2, Some(created));
        module.window().current(now).and_then(|estimate| estimate.truth)
    };
    assert_eq!(truth(100, 1, 88, Some(20)), Some(Dur::from_millis(32)));
    assert_eq!(truth(200, 2, 178, Some(30)), Some(Dur::from_millis(37)));
    assert_eq!(truth(210, 3, 200, None), None);
    assert_eq!(truth(300, 4, 288, Some(20)), Some(Dur::from_millis(32)));
}

/// Local acknowledgements follow the estimate: at least one segment, and no window without a measurement.
#[test]
fn limits_are_of_at_least_one_segment() {
    let mut module = sender(1_000, Some(2), Some(7));
    let limits = Limits { window: None, shift: 7, own_shift: 2, segment: 1_000 };
    assert_eq!(module.limits(Time::ZERO), limits);
    window_after(&mut module, 100, segment(0, 0, 1, 500), Some(&echo(8, 20, 10, 2)));
    assert_eq!(module.limits(Time::from_millis(100)), Limits { window: Some(1_000), ..limits });
    window_after(&mut module, 110, segment(0, 0, 2, 500), Some(&echo(800, 20, 10, 2)));
    assert_eq!(module.limits(Time::from_millis(110)), Limits { window: Some(3_000), ..limits });
}

/// A repeated SYN with an acknowledgement belongs to the same connection; a SYN without one begins another connection,
/// about which nothing is known.
#[test]
fn a_connection_begins_with_a_syn() {
    let mut module = Ccm::new(Options::NEWEST);
    let now = Time::from_millis(100);
    module.handle_incoming(Time::ZERO, &mut syn(1_000, None, false), None, 0, None);
    module.handle_outgoing(&syn(1_000, None, true));
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    module.handle_incoming(now, &mut syn(1_000, None, true), None, 0, None);
    assert!(module.window().current(now).is_some());
    module.handle_incoming(now, &mut syn(1_000, None, false), None, 0, None);
    assert_eq!(module.window().current(now), None);
}

/// A window update states the current estimate; only one that would look like a duplicate is a unit larger, and never
/// larger than the peer's window.
#[test]
fn window_updates_say_the_estimate() {
    let mut module = sender(1000, None, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 1, 59_000), Some(&echo(1_200, 20, 10, 2))), 4_500);
    assert_eq!(window_after(&mut module, 120, segment(0, 0, 1, 58_000), None), 4_501);
    assert_eq!(window_after(&mut module, 130, segment(0, 0, 1, 4_501), Some(&echo(1_600, 20, 10, 2))), 4_501);
}

/// An old acknowledgement that was overtaken changes nothing: duplicates are those of the newest.
#[test]
fn an_overtaken_acknowledgement_changes_nothing() {
    let mut module = sender(1000, None, None);
    assert_eq!(window_after(&mut module, 100, segment(0, 0, 1, 60_000), Some(&echo(800, 20, 10, 2))), 3_000);
    assert_eq!(window_after(&mut module, 110, segment(0, 0, 9, 60_000), Some(&echo(1_200, 20, 10, 2))), 4_500);
    assert_eq!(window_after(&mut module, 120, segment(0, 0, 5, 60_000), Some(&echo(1_600, 20, 10, 2))), 6_000);
    assert_eq!(module.window().written(), Some(4_500));
    assert_eq!(window_after(&mut module, 130, segment(0, 0, 9, 60_000), None), 4_500, "a duplicate of the newest");
}

#[test]
fn an_acknowledgement_tells_of_the_last_packet_it_covers() {
    let mut module = Ccm::new(Options::NEWEST);
    let arrive = |module: &mut Ccm, from: u32, bandwidth: u32| {
        let carried = measured(bandwidth, 5);
        let mut data = segment(from, 100, 0, 1000);
        module.handle_incoming(Time::from_secs(1), &mut data, Some(&carried), 2, Some(Time::from_millis(990)));
    };
    let echoed = |module: &mut Ccm, ack: TcpSegment| {
        module.handle_outgoing(&ack).and_then(|carried| carried.options.echo).map(|echo| echo.bandwidth)
    };
    // A delayed acknowledgement of two.
    arrive(&mut module, 1_000, 11);
    arrive(&mut module, 1_100, 12);
    assert_eq!(echoed(&mut module, segment(0, 0, 1_200, 1000)), Some(12));
    // It is returned once.
    assert_eq!(echoed(&mut module, segment(0, 0, 1_200, 1000)), None);
    // Beyond a hole: not acknowledged until the hole is closed, and then the closing packet is the last to have
    // arrived.
    arrive(&mut module, 1_300, 13);
    assert_eq!(echoed(&mut module, segment(0, 0, 1_200, 1000)), None);
    arrive(&mut module, 1_200, 14);
    assert_eq!(echoed(&mut module, segment(0, 0, 1_400, 1000)), Some(14));
    // With SACK it is acknowledged at once.
    arrive(&mut module, 1_500, 15);
    let mut sack = segment(0, 0, 1_400, 1000);
    sack.options.sack.push((seq(1_500), seq(1_600)));
    assert_eq!(echoed(&mut module, sack), Some(15));
}

#[test]
fn only_data_and_acknowledgements_of_measured_data_carry_options() {
    let mut module = Ccm::new(Options::NEWEST);
    assert_eq!(module.handle_outgoing(&syn(1000, None, false)), None);
    assert_eq!(module.handle_outgoing(&segment(0, 0, 5, 1000)), None);
    let data = module.handle_outgoing(&segment(1, 100, 5, 1000)).unwrap().options;
    assert_eq!((data.path, data.back, data.echo), (Some(Path::START), None, None));
    let carried = measured(7, 8);
    module.handle_incoming(Time::ZERO, &mut segment(5, 100, 1, 1000), Some(&carried), 2, None);
    let ack = module.handle_outgoing(&segment(101, 0, 105, 1000)).unwrap().options;
    assert_eq!((ack.path, ack.back, ack.echo), (None, Some(Back::default()), Some(Echo { bandwidth: 7, delay: 8 })));
    module.handle_incoming(Time::ZERO, &mut segment(105, 100, 1, 1000), Some(&carried), 2, None);
    let mut reset = segment(101, 0, 205, 1000);
    reset.flags.rst = true;
    assert_eq!(module.handle_outgoing(&reset), None);
}

proptest! {
    /// Never above what the peer advertised; never below one segment, unless the peer's own window is; and a window
    /// left alone without measurements.
    #[test]
    fn the_window_stays_within_its_bounds(
        mss in 1u16..9_000,
        (ours, peers) in any::<(Option<u8>, Option<u8>)>(),
        acks in prop::collection::vec((any::<(u8, u16, bool)>(), any::<(u32, u32, u32)>(), 0u64..5_000), 1..60),
    ) {
        let mut module = sender(mss, ours, peers);
        let shift = if ours.is_some() { peers.unwrap_or(0).min(14) } else { 0 };
        let mut now = 0;
        for ((number, advertised, measured), (bandwidth, delay, back), wait) in acks {
            now += wait;
            let carried = Carried {
                options: options::Options {
                    echo: Some(Echo { bandwidth, delay }),
                    back: Some(Back { delay: back, links: 1 }),
                    ..options::Options::default()
                },
                ..Carried::default()
            };
            let ack = segment(0, 0, u32::from(number), advertised);
            let written = window_after(&mut module, now, ack, measured.then_some(&carried));
            prop_assert!(written <= advertised);
            prop_assert!(written == advertised || u64::from(written) << shift >= u64::from(mss));
            if module.window().current(Time::from_millis(now)).is_none() && module.window().written().is_none() {
                prop_assert_eq!(written, advertised);
            }
        }
    }
}
