//! BBR in this stack: which segments leave when, and the effects of a loss and of a mark.

use super::script::{Script, plain, segment};
use crate::tcp::Config;
use fourhop_cc::CaState;
use fourhop_units::{Dur, Time};

fn sending() -> Script {
    Script::sending_with("bbr", plain(), 1_000_000)
}

/// Section 5.6.2: the first window, 10 segments, is spread over a round trip of 100 ms divided by 2.77.
#[test]
fn the_first_window_is_paced() {
    let mut s = sending();
    let interval = s.socket.pacing_interval().expect("paced").as_nanos() / 1_000;
    assert_eq!((s.out.len(), interval), (1, 3_610));
    s.wait(100 + 9 * 4);
    assert_eq!(s.out.len(), 10);
}

/// Section 5.6.4.4: recovery leaves the window alone, except for changes by the model; the lost segment waits for the
/// pacer.
#[test]
fn a_loss_is_repaired_and_the_window_stays() {
    let mut s = sending();
    s.wait(150);
    s.out.clear();
    s.sack(200, 1, &[(1, 2)]);
    s.sack(204, 1, &[(1, 3)]);
    s.sack(208, 1, &[(1, 4)]);
    assert_eq!(s.socket.recovery_state(), CaState::Recovery);
    s.wait(220);
    assert_eq!(s.socket.stats().segments_retransmitted, 1);
    let during = s.socket.cwnd();
    assert!(during >= 10, "{during}");
    s.ack(310, 10_001);
    assert!(s.socket.recovery_state() == CaState::Recovery || s.socket.cwnd() >= during);
}

/// A timeout leaves a window of one segment more than is in flight.
#[test]
fn a_timeout_leaves_one_segment() {
    let mut s = sending();
    s.wait(150);
    s.out.clear();
    s.wait(1_700);
    assert!(s.socket.stats().timeouts >= 1);
    assert_eq!((s.socket.recovery_state(), s.socket.cwnd()), (CaState::Loss, 1));
}

/// Section 3.7: a mark means congestion. Two rounds with marks end Startup, so the interval exceeds that of its gain.
#[test]
fn marks_end_startup() {
    let rate_after = |flags: &str| {
        let transport = fourhop_cc::Transport::find("bbr").expect("known");
        let mut s = Script::active_with(transport, Config { ecn: true, ..plain() });
        s.socket.open(Time::ZERO, &mut s.out);
        let mut answer = segment("SE.", 0, 0, 1);
        answer.options.sack_permitted = true;
        s.arrives(100, answer);
        s.socket.write(Time::from_millis(100), 10_000_000, &mut s.out);
        let mut acked = 1;
        for round in 0..6u64 {
            for n in 0..10u64 {
                let ms = 250 + round * 100 + n * 10;
                s.wait(ms);
                acked += 1_000;
                s.arrives(ms, segment(flags, 1, 0, acked));
            }
        }
        (s.socket.pacing_interval().expect("paced"), s.socket.stats().marks_answered)
    };
    let ((free, none), (marked, answered)) = (rate_after("."), rate_after("E."));
    assert_eq!(none, 0);
    assert!(answered >= 2, "{answered}");
    assert!(marked > free * 2, "{marked} {free}");
    assert!(marked < Dur::from_millis(40), "{marked}");
}

/// Section 5.3.3: the pace varies around the bandwidth, up to find more of it, and down to drain what that leaves. Only
/// a flow that restarts after idling stays at the bandwidth; one that always has data to send never idles.
#[test]
fn a_flow_that_always_has_data_probes_for_more() {
    let mut s = sending();
    let mut intervals = Vec::new();
    for n in 0..480u64 {
        s.ack(200 + n * 10, 1_001 + n as u32 * 1_000);
        s.out.clear();
        intervals.push(s.socket.pacing_interval().expect("paced"));
    }
    // Startup and Drain are over.
    let probing = &intervals[200..];
    let (least, most) = (probing.iter().min().expect("some"), probing.iter().max().expect("some"));
    assert!(*least * 5 < *most * 4, "{least} to {most}");
}
