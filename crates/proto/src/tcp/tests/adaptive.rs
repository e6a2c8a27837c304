//! When the segments of adaptive pacing leave: slots, the queue of its authors' agent, and invariants on any path.

use super::script::{Script, ns2, plain};
use crate::tcp::{Action, Config, Release, Socket};
use fourhop_cc::tcp_ap;
use fourhop_cc::{Hint, Params, Transport};
use fourhop_units::{Dur, Rate, Time};
use proptest::prelude::*;

/// One hop at a rate at which bytes take practically no time: the interval is half the round trip.
fn paced(release: Release, config: Config) -> Script {
    let tcp_ap = tcp_ap::Params { history: 1, link_rate: Rate::from_bps(1_000_000_000_000), ..tcp_ap::Params::paper() };
    let config = Config { release, cc: Params { tcp_ap, ..config.cc }, initial_window: 2, ..config };
    let mut s = Script::sending_with("tcp-ap", config, 1_000_000);
    s.socket.handle_hint(Time::from_millis(100), Hint::HopCount(1), &mut s.out);
    s.out.clear();
    s
}

/// Times in ms and numbers of the segments with data that leave until `end`.
fn departures(s: &mut Script, from: u64, end: u64) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    let mut take = |now: u64, out: &mut Vec<Action>| {
        for action in out.drain(..) {
            if let Action::Send { segment, stream_offset } = action
                && segment.payload > 0
            {
                found.push((now, stream_offset as u32 / 1_000));
            }
        }
    };
    take(from, &mut s.out);
    while let Some(at) = s.socket.next_timeout().filter(|at| *at < Time::from_millis(end)) {
        s.socket.handle_timeout(at, &mut s.out);
        take(at.as_nanos() / 1_000_000, &mut s.out);
    }
    found
}

/// Figure 8: one segment per tick if the window allows, otherwise nothing; an unused tick is lost. The first ACK (round
/// trip 80 ms, so 40 ms between ticks) starts the timer.
#[test]
fn slots_send_one_segment_a_tick() {
    let mut s = paced(Release::Slots, plain());
    s.ack(180, 1_001);
    assert_eq!(departures(&mut s, 180, 400), [(180, 2), (220, 3)], "the window of three is full");
    assert_eq!(s.socket.pacing_interval().map(Dur::as_millis), Some(40));
    // The window opens between two ticks; those of 260, 300, 340 and 380 ms are lost, and the next is at 420 ms.
    s.ack(405, 2_001);
    let (next, _) = departures(&mut s, 405, 700)[0];
    assert_eq!(next, 420);
}

/// Retransmissions do not wait for a tick (section 4.4: TCP's strategy is kept); data marked unsent by a timeout does.
#[test]
fn retransmissions_do_not_wait_for_slots() {
    let mut s = paced(Release::Slots, Config { initial_ssthresh: 2, ..ns2() });
    s.ack(180, 1_001);
    s.ack(181, 2_001);
    departures(&mut s, 181, 290);
    s.out.clear();
    for ms in [291, 292, 293] {
        s.ack(ms, 2_001);
    }
    let resent: Vec<_> = departures(&mut s, 293, 294);
    assert_eq!((resent.first(), s.socket.stats().fast_retransmits), (Some(&(293, 2)), 1));
}

/// The authors' agent: the window fills a queue, the first segment leaves at once, the rest one per tick; three
/// duplicate ACKs empty the queue, and after the next ACK the timer starts anew.
#[test]
fn the_queue_is_emptied_by_duplicate_acks() {
    let mut s = paced(Release::Queue, Config { limited_transmit: false, window_limit: Some(4), ..ns2() });
    s.ack(180, 1_001);
    s.ack(181, 2_001);
    // Window 4: segments 2 to 5; 40 ms between ticks.
    assert_eq!(departures(&mut s, 181, 225), [(181, 2), (220, 3)]);
    for ms in [226, 227, 228] {
        s.ack(ms, 2_001);
    }
    assert_eq!(departures(&mut s, 228, 229), [(228, 2)], "the retransmission at once, nothing else");
    assert_eq!(departures(&mut s, 229, 320), [], "segments 4 and 5 stay away");
    // Everything actually sent is acknowledged: TCP's timer goes back to segment 4, although nothing is in flight.
    s.ack(321, 4_001);
    let next = departures(&mut s, 321, 4_000);
    assert_eq!(next.first().map(|&(_, number)| number), Some(4));
    assert!(s.socket.stats().timeouts > 0);
}

/// Without back-off the timeout stays the same.
#[test]
fn the_timeout_need_not_back_off() {
    for (rto_backoff, doubles) in [(true, true), (false, false)] {
        let mut s = paced(Release::Slots, Config { rto_backoff, ..plain() });
        s.ack(180, 1_001);
        let times: Vec<_> =
            departures(&mut s, 180, 9_000).into_iter().filter(|&(_, n)| n == 1).map(|(at, _)| at).collect();
        let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps[1] > gaps[0] + 100, doubles, "{gaps:?}");
    }
}

/// Events of a path that loses, delays and reports at will, applied to one sender.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Acknowledge this many more segments after this many microseconds.
    Ack(u32, u64),
    /// A duplicate ACK.
    Duplicate(u64),
    /// The round trip of an echo.
    RoundTrip(u64),
    /// Hop count and rate.
    Path(u32, u64),
    /// Silence.
    Wait(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let micros = 1u64..400_000;
    let event = prop_oneof![
        6 => (1u32..6, micros.clone()).prop_map(|(n, t)| Event::Ack(n, t)),
        3 => micros.clone().prop_map(Event::Duplicate),
        2 => any::<u64>().prop_map(Event::RoundTrip),
        1 => (any::<u32>(), 1u64..).prop_map(|(hops, rate)| Event::Path(hops, rate)),
        1 => (1u64..5_000_000).prop_map(Event::Wait),
    ];
    prop::collection::vec(event, 1..150)
}

/// Departing segments, and the limits that apply to them.
struct Watch {
    release: Release,
    /// When the last segment that had to wait left, and the interval then in force for the next.
    last: Option<(Time, Dur)>,
    highest: u32,
    acked: u32,
}

impl Watch {
    fn look(&mut self, now: Time, socket: &Socket, out: &mut Vec<Action>) -> Result<(), TestCaseError> {
        socket.check_order();
        for action in out.drain(..) {
            let Action::Send { segment, stream_offset } = action else { continue };
            if segment.payload == 0 {
                continue;
            }
            let number = stream_offset as u32 / 1_000;
            let fresh = number >= self.highest;
            self.highest = self.highest.max(number + 1);
            if fresh {
                // TCP-friendliness (section 4.6): never more in flight than TCP's window would allow, here 64 segments.
                prop_assert!(self.highest - self.acked <= 64, "{} under way", self.highest - self.acked);
                if self.release != Release::Queue {
                    if let Some((before, wait)) = self.last {
                        prop_assert!(now >= before + wait, "{now} after {before}, which had to be {wait} apart");
                    }
                    self.last = socket.pacing_interval().map(|interval| (now, interval));
                }
            }
        }
        Ok(())
    }
}

/// Drives one sender through `events`: never more in flight than the window allows; never two new segments closer than
/// the interval in force when the first left; and no starvation: as long as something is unacknowledged, a timer is
/// pending.
fn drive(events: &[Event], release: Release, transport: &str, every_ack: bool) -> Result<(), TestCaseError> {
    let samples = if every_ack { tcp_ap::Samples::EveryAck } else { tcp_ap::Samples::Unambiguous };
    let first_interval = Some(Dur::from_millis(10));
    let tcp_ap = tcp_ap::Params { samples, first_interval, ..tcp_ap::Params::paper() };
    let config = Config { release, cc: Params { tcp_ap, ..Params::new() }, ..ns2() };
    let transport = Transport::find(transport).expect("in the table");
    let mut s = Script::active_with(transport, config);
    s.socket.open(Time::ZERO, &mut s.out);
    let mut syn_ack = super::script::segment("S.", 0, 0, 1);
    syn_ack.options.sack_permitted = true;
    s.arrives(100, syn_ack);
    let mut now = Time::from_millis(100);
    s.out.clear();
    s.socket.write(now, 1 << 40, &mut s.out);
    let mut watch = Watch { release, last: None, highest: 0, acked: 0 };
    watch.look(now, &s.socket, &mut s.out)?;
    for &event in events {
        let until = now
            + Dur::from_micros(match event {
                Event::Ack(_, t) | Event::Duplicate(t) | Event::Wait(t) => t,
                Event::RoundTrip(_) | Event::Path(..) => 1,
            });
        let mut timers = 0;
        while let Some(at) = s.socket.next_timeout().filter(|&at| at <= until) {
            prop_assert!(at >= now, "a timer in the past");
            now = at;
            s.socket.handle_timeout(now, &mut s.out);
            watch.look(now, &s.socket, &mut s.out)?;
            timers += 1;
            prop_assert!(timers < 300_000, "the timer spins");
        }
        now = until;
        match event {
            Event::Ack(count, _) => {
                watch.acked = (watch.acked + count).min(watch.highest);
                let ack = super::script::segment(".", 1, 0, watch.acked * 1_000 + 1);
                s.socket.handle_segment(now, &ack, &mut s.out);
            }
            Event::Duplicate(_) => {
                let mut ack = super::script::segment(".", 1, 0, watch.acked * 1_000 + 1);
                if watch.highest > watch.acked + 1 {
                    let left = ack.ack + 1_000;
                    ack.options.sack.push((left, left + (watch.highest - watch.acked - 1) * 1_000));
                }
                s.socket.handle_segment(now, &ack, &mut s.out);
            }
            Event::RoundTrip(nanos) => {
                s.socket.handle_hint(now, Hint::RoundTrip(Dur::from_nanos(nanos)), &mut s.out);
            }
            Event::Path(hops, bps) => {
                s.socket.handle_hint(now, Hint::HopCount(hops), &mut s.out);
                let rate = Rate::from_bps(bps).expect("above 0");
                s.socket.handle_hint(now, Hint::LinkRate(rate), &mut s.out);
            }
            Event::Wait(_) => {}
        }
        watch.look(now, &s.socket, &mut s.out)?;
        prop_assert!(s.socket.next_timeout().is_some(), "nothing would ever move again");
    }
    Ok(())
}

/// A hole is resent while the gate is shut, on an ACK that also shortens the interval: segments behind the gate still
/// wait out the longer one.
#[test]
fn a_retransmission_does_not_open_the_gate() {
    use Event::{Ack, Duplicate, Path, Wait};
    let events = [
        Path(197, 11_778_446_293),
        Wait(231_404),
        Ack(2, 223_848),
        Ack(2, 129_781),
        Duplicate(9_720),
        Duplicate(8_629),
        Duplicate(1),
        Duplicate(18_277),
        Ack(2, 72),
        Ack(1, 8_195),
    ];
    drive(&events, Release::Gate, "tcp-ap", false).expect("every promise kept");
}

proptest! {
    #[test]
    fn pacing_keeps_its_promises(
        events in events(),
        release in prop_oneof![Just(Release::Slots), Just(Release::Gate), Just(Release::Queue)],
        transport in prop_oneof![Just("tcp-ap"), Just("tcp-ap-sack")],
        every_ack in any::<bool>(),
    ) {
        drive(&events, release, transport, every_ack)?;
    }
}

/// A driver's round trip, and the wired part of it that a gateway wrote into the segment, reach congestion control the
/// same way: once per ACK, duplicate or not, and the part before the whole.
#[test]
fn a_round_trip_comes_after_its_wired_part() {
    let tcp_ap = tcp_ap::Params { samples: tcp_ap::Samples::EveryAck, ..tcp_ap::Params::paper() };
    let mut s = Script::sending_with("tcp-ap", Config { cc: Params { tcp_ap, ..Params::new() }, ..plain() }, 1_000_000);
    s.socket.handle_hint(Time::from_millis(100), Hint::HopCount(1), &mut s.out);
    s.socket.handle_hint(Time::from_millis(100), Hint::LinkRate(Rate::kbps(2_000)), &mut s.out);
    let mut arrives = |ms: u64, ack: u32, wired: Option<u16>, whole: Option<u64>| {
        let mut segment = super::script::segment(".", 1, 0, ack);
        segment.options.wired_rtt = wired;
        if let Some(whole) = whole {
            s.socket.note_round_trip(Dur::from_millis(whole));
        }
        s.arrives(ms, segment);
        s.socket.measurements().rtt.map(Dur::as_millis)
    };
    assert_eq!(arrives(200, 1_001, Some(40), Some(100)), Some(60), "a part known before the whole");
    assert_eq!(arrives(210, 1_001, Some(50), Some(120)), Some(70), "a duplicate");
    assert_eq!(arrives(220, 2_001, None, Some(95)), Some(45), "the part reported last");
    assert_eq!(arrives(230, 3_001, None, None), Some(45), "a reported round trip is used once");
}
