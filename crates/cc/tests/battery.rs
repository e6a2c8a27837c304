//! Properties of every algorithm of the registry, whatever the network does: one random course of a connection over
//! every entry of [`Transport::ALL`], driven as the documentation of [`CongestionControl`] says that a stack does.

use fourhop_cc::rate::{Bandwidth, Lost, RateSample};
use fourhop_cc::tcp_ap::{self, DelaySource, Samples};
use fourhop_cc::{
    Ack, CaState, Cause, CongestionControl, Hint, MAX_SAMPLE, Params, PathTime, Transport, View, Window, rbp,
};
use fourhop_cc::{ap2, bbr};
use fourhop_units::{Dur, Rate, Time};
use proptest::prelude::*;
use std::fmt::Debug;

/// An event of a connection.
#[derive(Clone, Copy, Debug)]
enum Event {
    Ack {
        acked: u32,
        credit: u32,
        rtt: Option<Dur>,
        cwnd_limited: bool,
    },
    Loss {
        cause: Cause,
        in_use: u32,
    },
    /// Recovery ends, or duplicate ACKs begin.
    State(CaState),
    Undo {
        prior: u32,
    },
    Hint(Hint),
    /// Delivery, for algorithms that own the window.
    Rate(RateSample),
    Lost(Lost),
    Mark(Lost),
    Restart,
}

/// The stack's view at an event, and the time since the previous one.
#[derive(Clone, Copy, Debug)]
struct Around {
    pause: Dur,
    in_flight: u32,
    snd_wnd: u32,
    srtt: Option<Dur>,
    min_rtt: Option<Dur>,
    rto: Dur,
}

/// Any number, with likely and extreme ones more often.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..=100, 1 => any::<u32>(), 1 => prop::sample::select(vec![1, u32::MAX - 1, u32::MAX])]
}

/// Any length of time, with those typical of networks and extreme ones more often.
fn dur() -> impl Strategy<Value = Dur> {
    prop_oneof![
        4 => 1_000_000u64..2_000_000_000,
        1 => any::<u64>(),
        1 => prop::sample::select(vec![0, 1, MAX_SAMPLE.as_nanos(), u64::MAX]),
    ]
    .prop_map(Dur::from_nanos)
}

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![4 => 500_000u64..100_000_000, 1 => 1u64..100, 1 => any::<u64>()]
        .prop_filter_map("a rate is above zero", Rate::from_bps)
}

fn hint() -> impl Strategy<Value = Hint> {
    prop_oneof![
        1 => number().prop_map(Hint::HopCount),
        1 => rate().prop_map(Hint::LinkRate),
        1 => dur().prop_map(Hint::WiredRtt),
        1 => rate().prop_map(Hint::PathCapacity),
        1 => prop::collection::vec(rate(), 1..20)
            .prop_map(|rates| Hint::PathTime(PathTime::over(rates).expect("at least one link"))),
        4 => dur().prop_map(Hint::RoundTrip),
        1 => (dur(), number()).prop_map(|(delay, hops)| Hint::ForwardDelay { delay, hops }),
    ]
}

fn lost() -> impl Strategy<Value = Lost> {
    (number(), number(), any::<(bool, u32)>()).prop_map(|(tx_in_flight, lost, (is_app_limited, delivered))| Lost {
        tx_in_flight,
        lost,
        is_app_limited,
        total_delivered: delivered.into(),
    })
}

prop_compose! {
    fn sample()(flags in any::<[bool; 3]>(), counts in prop::array::uniform7(number()), interval in dur(),
                delivered in any::<[u32; 2]>(), rtt in prop::option::of(dur())) -> RateSample {
        let [has_data, is_app_limited, cwnd_limited] = flags;
        let [over, delivered_over, tx_in_flight, lost, newly_acked, newly_lost, in_flight] = counts;
        let [prior_delivered, total_delivered] = delivered.map(u64::from);
        let rate = Bandwidth::over(over, interval);
        RateSample {
            has_data, rate, delivered: delivered_over, prior_delivered, is_app_limited, tx_in_flight, lost, newly_acked,
            newly_lost, total_delivered, in_flight, rtt, cwnd_limited,
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    let causes = vec![
        Cause::FastRetransmit,
        Cause::Timeout,
        Cause::Mark,
        Cause::Overdue { again: false },
        Cause::Overdue { again: true },
    ];
    let credit = prop_oneof![20 => 0u32..=100, 1 => 0u32..=Ack::MAX_CREDIT];
    prop_oneof![
        6 => (number(), credit, prop::option::of(dur()), prop::bool::weighted(0.8)).prop_map(
            |(acked, credit, rtt, cwnd_limited)| Event::Ack { acked, credit: credit.min(acked), rtt, cwnd_limited }
        ),
        2 => (prop::sample::select(causes), number()).prop_map(|(cause, in_use)| Event::Loss { cause, in_use }),
        1 => prop::sample::select(vec![CaState::Open, CaState::Disorder]).prop_map(Event::State),
        1 => number().prop_map(|prior| Event::Undo { prior }),
        4 => hint().prop_map(Event::Hint),
        6 => sample().prop_map(Event::Rate),
        2 => lost().prop_map(Event::Lost),
        1 => lost().prop_map(Event::Mark),
        1 => Just(Event::Restart),
    ]
}

prop_compose! {
    fn around()(pause in dur(), in_flight in number(), snd_wnd in number(), srtt in prop::option::of(dur()),
                min_rtt in prop::option::of(dur()), rto in dur()) -> Around {
        // 200 pauses of 2^54 ns, half a year, stay within the 584 years of the clock.
        let pause = pause.min(Dur::from_nanos(1 << 54));
        Around { pause, in_flight, snd_wnd, srtt, min_rtt, rto }
    }
}

prop_compose! {
    fn adaptive_pacing()(author in any::<bool>(), alpha in 0u32..=1_000, history in 1u32..=200, factor in 1u32..=8,
                         every_ack in any::<bool>(), clocks in any::<bool>()) -> tcp_ap::Params {
        let profile = if author { tcp_ap::Params::authors_code() } else { tcp_ap::Params::paper() };
        let samples = if every_ack { Samples::EveryAck } else { Samples::Unambiguous };
        let delay_source = if clocks { DelaySource::Clocks } else { DelaySource::RoundTrip };
        tcp_ap::Params { alpha, history, factor, samples, delay_source, ..profile }
    }
}

prop_compose! {
    /// Parameters within the range of a scenario.
    fn params()(alpha in 0u32..=1_000, beta in 0u32..=1_000, gamma in 0u32..=1_000, pacing_v in 0u32..=1_000,
                limit in prop::option::of(1u32..=1_000_000), tcp_ap in adaptive_pacing(),
                (hears_all, hystart, adds) in any::<(bool, bool, bool)>()) -> Params {
        let pacing_samples = if hears_all { rbp::Samples::EveryAck } else { rbp::Samples::Timer };
        let ap2_without = if adds { ap2::Without::Pacing } else { ap2::Without::Nothing };
        let bbr_budget = if adds { bbr::Budget::LinuxV1 } else { bbr::Budget::Draft };
        Params { alpha, beta, gamma, hystart, bbr_budget, pacing_v, pacing_samples, limit, tcp_ap, ap2_without }
    }
}

prop_compose! {
    fn initial()(cwnd in number(), ssthresh in number(), clamp in number()) -> Window {
        let cwnd_clamp = clamp.max(1);
        let cwnd = cwnd.clamp(1, cwnd_clamp);
        Window { cwnd, cwnd_cnt: 0, ssthresh: ssthresh.max(2), cwnd_clamp, pacing: None, burst: 1 }
    }
}

/// Invariants after every call. The bounds of the interval are those of TCP-AP, the only algorithm that stretches round
/// trips: nothing is longer than the longest sample, which is the largest retransmission time-out, times 1 + 2 cov of
/// ElRakabawy et al. 2005, section 4.4, where cov is at most sqrt(N).
fn check(win: &Window, mss: u32, history: u32) -> Result<(), TestCaseError> {
    prop_assert!((1..=win.cwnd_clamp).contains(&win.cwnd) && win.cwnd_cnt < Window::ONE, "{:?}", win);
    prop_assert!(win.ssthresh >= 2, "{:?}", win);
    if let Some(interval) = win.pacing {
        let longest = MAX_SAMPLE.as_secs_f64() * (1.0 + 2.0 * f64::from(history).sqrt());
        prop_assert!(interval > Dur::ZERO && interval.as_secs_f64() <= 1.001 * longest, "{:?}", win);
        // The gap that Linux derives from the rate (tcp_update_skb_after_send) is never shorter.
        let gap = u64::from(mss) * 1_000_000_000 / u64::from(win.max_pacing_rate(mss));
        prop_assert!(gap >= interval.as_nanos() || interval > Dur::from_secs(mss.into()), "{:?} {}", win, gap);
    }
    Ok(())
}

/// Drives a transport through a connection as the stack does; returns the windows between the events.
fn drive(
    transport: &Transport,
    params: &Params,
    mut win: Window,
    mss: u32,
    course: &[(Event, Around)],
) -> Result<Vec<Window>, TestCaseError> {
    let mut view = View {
        now: Time::from_secs(1),
        in_flight: 0,
        window: win.cwnd,
        snd_wnd: 0,
        mss,
        srtt: None,
        min_rtt: None,
        rto: Dur::from_secs(1),
        state: CaState::Open,
    };
    let (mut total_acked, mut total_sent) = (0, 0);
    let (mut most_ever, mut unseen) = (win.cwnd, 0u32);
    // Two segments, the least threshold of RFC 5681 (equation 4), are Vegas's least window and AP2's after a timeout.
    // AP2's window grows while a drain hides its size.
    let (vegas, ap2) = (transport.name == "vegas", transport.name == "ap2");
    if ap2 {
        most_ever = most_ever.max(2);
    }
    let mut cc = transport.controller(params);
    let check = |win: &Window, after: &dyn Debug| {
        check(win, mss, params.tcp_ap.history)
            .map_err(|error| TestCaseError::fail(format!("{}: {error} after {after:?}", transport.name)))
    };
    cc.init(&mut win, &view);
    check(&win, &"init")?;
    let mut windows = vec![win];
    for &(event, Around { pause, in_flight, snd_wnd, srtt, min_rtt, rto }) in course {
        view = View { now: view.now + pause, in_flight, window: win.cwnd, snd_wnd, srtt, min_rtt, rto, ..view };
        let before = win;
        match event {
            Event::Ack { acked, credit, rtt, cwnd_limited } => {
                total_acked += u64::from(acked);
                total_sent = total_acked.max(total_sent) + u64::from(in_flight.saturating_sub(acked));
                cc.on_ack(&mut win, &view, &Ack { acked, credit, rtt, cwnd_limited, total_acked, total_sent });
                // RFC 5681 section 3.1, RFC 3465 section 2.3: the window grows at most by the ACK's credit.
                let may_grow = cwnd_limited && view.state != CaState::Recovery;
                let most = if may_grow { u64::from(credit.max(1)) * u64::from(Window::ONE) } else { 0 };
                prop_assert!(
                    win.fixed() <= before.fixed() + most || vegas && win.cwnd <= 2,
                    "{}: {:?} {:?} {}",
                    transport.name,
                    before,
                    win,
                    credit
                );
            }
            Event::Loss { cause, in_use } => {
                view.state = if cause == Cause::Timeout { CaState::Loss } else { CaState::Recovery };
                win.set_cwnd(win.cwnd.min(in_use));
                cc.on_state(&mut win, &view, view.state);
                win.ssthresh = cc.ssthresh(&win, &view, cause);
                win.set_cwnd(if cause == Cause::Timeout { cc.loss_window() } else { win.ssthresh });
            }
            Event::State(state) => {
                view.state = state;
                cc.on_state(&mut win, &view, state);
            }
            Event::Undo { prior } => win.set_cwnd(cc.undo(&win, prior)),
            Event::Hint(hint) => cc.on_hint(&mut win, &view, hint),
            Event::Rate(sample) => {
                cc.on_rate(&mut win, &view, &sample);
                // It grows at most by the segments that arrived, unless it returns to its value before recovery or
                // ProbeRTT; at least four.
                let most = most_ever.saturating_add(unseen).saturating_add(sample.newly_acked).max(4);
                prop_assert!(win.cwnd <= most, "{}: {:?} {:?} {:?}", transport.name, before, win, sample);
            }
            Event::Lost(lost) => cc.on_lost(&mut win, &view, &lost),
            Event::Mark(mark) => cc.on_mark(&mut win, &view, &mark),
            Event::Restart => cc.on_restart(&mut win, &view),
        }
        check(&win, &event)?;
        let stays = before.pacing.is_none() || win.pacing.is_some() || srtt.is_none();
        prop_assert!(stays, "{} is not paced any longer after {:?}", transport.name, event);
        if win.cwnd >= most_ever {
            (most_ever, unseen) = (win.cwnd, 0);
        } else if let (true, Event::Rate(sample)) = (ap2, event) {
            unseen = unseen.saturating_add(sample.newly_acked);
        }
        windows.push(win);
    }
    Ok(windows)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_stays_within_its_bounds_and_repeats(
        params in params(),
        window in initial(),
        mss in prop_oneof![536u32..=1_460, any::<u32>()],
        course in prop::collection::vec((event(), around()), 1..200),
        cut in any::<prop::sample::Index>(),
    ) {
        for transport in Transport::ALL {
            let windows = drive(transport, &params, window, mss, &course)?;
            // The same events give the same windows, and later events do not change earlier windows.
            let part = drive(transport, &params, window, mss, &course[..cut.index(course.len())])?;
            prop_assert_eq!(&part[..], &windows[..part.len()], "{}", transport.name);
        }
    }
}

/// A course without losses and hints: every algorithm grows its window to the clamp, so nobody starves.
#[test]
fn every_algorithm_fills_a_path_that_loses_nothing() {
    for transport in Transport::ALL {
        let rtt = Dur::from_millis(100);
        let window = Window { cwnd: 2, cwnd_cnt: 0, ssthresh: u32::MAX, cwnd_clamp: 8, pacing: None, burst: 1 };
        let ack = Event::Ack { acked: 1, credit: 1, rtt: Some(rtt), cwnd_limited: true };
        let sample = RateSample {
            has_data: true,
            rate: Bandwidth::over(8, rtt),
            newly_acked: 1,
            rtt: Some(rtt),
            cwnd_limited: true,
            ..RateSample::default()
        };
        let event = if transport.owns_window() { Event::Rate(sample) } else { ack };
        let around = Around {
            pause: rtt,
            in_flight: 8,
            snd_wnd: 64,
            srtt: Some(rtt),
            min_rtt: Some(rtt),
            rto: Dur::from_secs(1),
        };
        let windows = drive(transport, &Params::new(), window, 1_460, &[(event, around); 100]).expect("bounds hold");
        assert_eq!(windows.last().map(|window| window.cwnd), Some(8), "{}", transport.name);
    }
}
