//! BBR on a path with one bottleneck queue and a delay: sequences of states, and the effect of a loss.

use super::*;
use crate::tests::{view, window};
use std::collections::VecDeque;

const MS: fn(u64) -> Dur = Dur::from_millis;

#[derive(Clone, Copy)]
struct Sent {
    at: Time,
    /// When its acknowledgement arrives; `None` if it was dropped.
    back: Option<Time>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    tx_in_flight: u32,
}

/// A sender with endless data, a bottleneck that takes `service` per segment and has room for `buffer` of them, and
/// `delay` there and back. A loss is detected when the next segment is acknowledged.
struct Path {
    bbr: Bbr,
    win: Window,
    now: Time,
    service: Dur,
    delay: Dur,
    buffer: u32,
    free_at: Time,
    next_send: Time,
    flight: VecDeque<Sent>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Recovery ends when this much has been delivered.
    recover: u64,
    recovering: bool,
    /// Queue found by each segment, and the states with their start times.
    queues: Vec<u32>,
    states: Vec<(Time, State)>,
}

impl Path {
    fn new(service: Dur, delay: Dur, buffer: u32) -> Path {
        let mut path = Path {
            bbr: Bbr::new(&Params::new()),
            win: window(10, u32::MAX),
            now: Time::from_secs(1),
            service,
            delay,
            buffer,
            free_at: Time::ZERO,
            next_send: Time::ZERO,
            flight: VecDeque::new(),
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            recover: 0,
            recovering: false,
            queues: Vec::new(),
            states: vec![(Time::from_secs(1), State::Startup)],
        };
        let view = path.view();
        path.bbr.init(&mut path.win, &view);
        path
    }

    fn view(&self) -> View {
        let state = if self.recovering { CaState::Recovery } else { CaState::Open };
        let srtt = Some(self.delay + self.service);
        View { now: self.now, in_flight: self.flight.len() as u32, srtt, min_rtt: srtt, state, ..view() }
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let room = (self.flight.len() as u32) < self.win.cwnd;
            let send = room.then_some(self.next_send.max(self.now));
            let back = self.flight.iter().find_map(|sent| sent.back);
            let next = Time::earlier_of(send, back).expect("something happens");
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if back == Some(next) {
                self.acknowledge()
            } else {
                self.send()
            }
            if self.states.last().is_some_and(|&(_, state)| state != self.bbr.state) {
                self.states.push((self.now, self.bbr.state));
            }
        }
    }

    fn send(&mut self) {
        let in_flight = self.flight.len() as u32;
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (self.now, self.now);
        }
        let waits = self.free_at.saturating_since(self.now);
        let queue = waits.as_nanos().div_ceil(self.service.as_nanos()) as u32;
        self.queues.push(queue);
        let back = (queue <= self.buffer).then(|| {
            self.free_at = self.free_at.max(self.now) + self.service;
            self.free_at + self.delay
        });
        self.flight.push_back(Sent {
            at: self.now,
            back,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            tx_in_flight: in_flight + 1,
        });
        self.next_send = self.now + self.win.pacing.expect("paced");
    }

    fn acknowledge(&mut self) {
        let mut newly_lost = 0;
        while let Some(sent) = self.flight.pop_front() {
            if sent.back.is_none() {
                self.lost += 1;
                newly_lost += 1;
                let lost = Lost {
                    tx_in_flight: sent.tx_in_flight,
                    lost: (self.lost - sent.lost) as u32,
                    is_app_limited: false,
                    total_delivered: self.delivered,
                };
                let view = self.view();
                self.bbr.on_lost(&mut self.win, &view, &lost);
                continue;
            }
            self.deliver(sent, newly_lost);
            return;
        }
    }

    fn deliver(&mut self, sent: Sent, newly_lost: u32) {
        self.delivered += 1;
        (self.delivered_at, self.first_sent) = (self.now, sent.at);
        let repairs = newly_lost > 0 || (self.recovering && self.delivered < self.recover);
        if repairs != self.recovering {
            self.recovering = repairs;
            self.recover = self.delivered + self.flight.len() as u64;
            let view = self.view();
            self.bbr.on_state(&mut self.win, &view, view.state);
        }
        let interval = (sent.at - sent.first_sent).max(self.now - sent.delivered_at);
        let delivered = (self.delivered - sent.delivered) as u32;
        let sample = RateSample {
            has_data: true,
            rate: Bandwidth::over(delivered, interval),
            delivered,
            prior_delivered: sent.delivered,
            is_app_limited: self.bbr.marks_app_limited(),
            tx_in_flight: sent.tx_in_flight,
            lost: (self.lost - sent.lost) as u32,
            newly_acked: 1,
            newly_lost,
            total_delivered: self.delivered,
            in_flight: self.flight.len() as u32,
            rtt: Some(self.now - sent.at),
            cwnd_limited: self.flight.len() as u32 + 1 >= self.win.cwnd,
        };
        let view = self.view();
        self.bbr.on_rate(&mut self.win, &view, &sample);
    }

    /// Start and length of each visit to a state.
    fn visits(&self, state: State) -> Vec<(Time, Dur)> {
        let ends = self.states.iter().skip(1);
        self.states.iter().zip(ends).filter(|(a, _)| a.1 == state).map(|(a, b)| (a.0, b.0 - a.0)).collect()
    }

    fn median_queue(&self) -> u32 {
        let mut queues = self.queues.clone();
        queues.sort_unstable();
        queues[queues.len() / 2]
    }
}

/// 1,000 segments per second, 50 ms: a pipe of 51 segments.
fn wide(buffer: u32) -> Path {
    Path::new(MS(1), MS(50), buffer)
}

/// Section 5.3.1: the rate doubles in each round until it has not grown for three; Drain then empties the queue.
///
/// ```text
///   Startup (10, 20, 40, .. segments a round, then three rounds without growth) ─► Drain ─► DOWN, CRUISE at once
/// ```
#[test]
fn startup_ends_when_the_pipe_is_full() {
    let mut path = wide(1_000);
    path.run_until(Time::from_secs(2));
    let order: Vec<State> = path.states.iter().map(|&(_, state)| state).take(3).collect();
    assert_eq!(order, [State::Startup, State::Drain, State::Cruise]);
    let (_, startup) = path.visits(State::Startup)[0];
    // Three doublings and three rounds of up to twice the round trip.
    assert!(startup > MS(200) && startup < MS(700), "{startup}");
    let rate = path.bbr.max_bw.get().per_second();
    assert!((980..=1_010).contains(&rate), "{rate}");
    assert_eq!(path.bbr.min_rtt, Some(MS(51)));
    // The window of twice the pipe limits the queue of Startup to about another pipe.
    assert!(path.queues.iter().all(|&queue| queue <= 80), "{:?}", path.queues.iter().max());
    assert_eq!(path.lost, 0);
}

/// Section 5.3.3: DOWN, CRUISE, REFILL, UP, with 2 to 3 s, or 63 rounds at most, between two probes.
#[test]
fn the_cycle_goes_round_in_its_order() {
    let mut path = wide(1_000);
    path.run_until(Time::from_secs(30));
    let order: Vec<State> = path.states.iter().map(|&(_, state)| state).collect();
    for pair in order.windows(2) {
        let next = match pair[0] {
            State::Startup => State::Drain,
            // Drain's inflight ends DOWN at once; ProbeRTT ends in CRUISE.
            State::Drain | State::Down | State::ProbeRtt => State::Cruise,
            State::Up => State::Down,
            State::Cruise => State::Refill,
            State::Refill => State::Up,
        };
        assert!(pair[1] == next || pair[1] == State::ProbeRtt, "{order:?}");
    }
    let probes = path.visits(State::Up);
    assert!((5..=14).contains(&probes.len()), "{}", probes.len());
    for pair in probes.windows(2) {
        let between = pair[1].0 - pair[0].0;
        assert!(between > Dur::from_secs(2) && between < MS(6_500), "{between}");
    }
    assert!(path.visits(State::Refill).iter().all(|&(_, length)| length >= MS(45) && length < MS(120)));
    // The purpose of BBR: the path is full, and its queue is not.
    assert!(path.delivered > 27_500, "{} of 29,000", path.delivered);
    assert!(path.median_queue() <= 5, "{}", path.median_queue());
}

/// Section 5.6.1: the pacing interval follows the gain of each state.
#[test]
fn the_interval_follows_the_gain() {
    let mut path = wide(1_000);
    path.run_until(Time::from_secs(3));
    let gains = [(State::Down, 90), (State::Cruise, 100), (State::Refill, 100), (State::Up, 125), (State::Drain, 50)];
    for (state, gain) in gains {
        path.bbr.state = state;
        let mut win = path.win;
        path.bbr.set_pacing(&mut win, path.bbr.pacing_gain());
        // 1 ms per segment, 1 per cent less for the margin.
        let expected = 1_000_000.0 / 0.99 / f64::from(gain) * 100.0;
        let found = win.pacing.expect("paced").as_nanos() as f64;
        assert!((found / expected - 1.0).abs() < 0.03, "{state:?}: {found} {expected}");
    }
}

/// Section 5.3.4: every 5 s, for 200 ms and a round trip, at half the pipe.
#[test]
fn round_trips_are_probed_every_five_seconds() {
    let mut path = wide(1_000);
    path.run_until(Time::from_secs(31));
    let probes = path.visits(State::ProbeRtt);
    assert!((4..=6).contains(&probes.len()), "{}", probes.len());
    for pair in probes.windows(2) {
        let between = pair[1].0 - pair[0].0;
        assert!(between >= Dur::from_secs(5) && between < MS(6_000), "{between}");
    }
    for (_, length) in probes {
        assert!(length >= MS(200) && length < MS(450), "{length}");
    }
    assert!(path.bbr.prior_cwnd > path.bbr.probe_rtt_cwnd());
}

/// Section 5.5.10.2: BBR detects a queue of a fifth of the pipe, and bounds inflight by it with few losses.
#[test]
fn a_short_queue_bounds_what_is_in_flight() {
    let mut path = wide(10);
    path.run_until(Time::from_secs(30));
    let bound = path.bbr.inflight_longterm;
    assert!((45..=80).contains(&bound), "{bound}");
    assert!(path.lost > 0 && path.lost * 50 < path.delivered, "{} of {}", path.lost, path.delivered);
    assert!(path.delivered > 25_000, "{}", path.delivered);
}

/// Section 5.5.10.3: a round with a loss in CRUISE lowers the rate to the delivery rate, by three tenths at most, until
/// the next probe.
#[test]
fn a_loss_while_cruising_lowers_the_short_term_bounds() {
    let mut path = wide(1_000);
    while path.bbr.state != State::Cruise {
        path.run_until(path.now + MS(1));
    }
    path.run_until(path.now + MS(60));
    assert_eq!((path.bbr.bw_shortterm, path.bbr.inflight_shortterm), (Bandwidth::MAX, NONE));
    let lost = Lost { tx_in_flight: 50, lost: 1, is_app_limited: false, total_delivered: path.delivered };
    let (before, view) = (path.bbr.bw, path.view());
    path.bbr.on_lost(&mut path.win, &view, &lost);
    path.run_until(path.now + MS(120));
    assert!(path.bbr.bw_shortterm < Bandwidth::MAX && path.bbr.bw_shortterm >= before.percent(70));
    assert!(path.bbr.inflight_shortterm < NONE && path.win.cwnd <= path.bbr.inflight_shortterm);
    while path.bbr.state != State::Refill {
        path.run_until(path.now + MS(1));
    }
    assert_eq!((path.bbr.bw_shortterm, path.bbr.inflight_shortterm), (Bandwidth::MAX, NONE));
}

/// `BBRInflightAtLoss()`, solved by hand: with 100 in flight, the third loss is the first above 2 per cent.
#[test]
fn losses_above_the_threshold_name_the_amount() {
    for (lost, too_high) in [(1, false), (2, false), (3, true)] {
        assert_eq!(Bbr::is_inflight_too_high(lost, 100), too_high, "{lost}");
    }
    let mut path = wide(1_000);
    path.run_until(Time::from_secs(3));
    let view = path.view();
    let mut lose = |lost, samples| {
        (path.bbr.bw_probe_samples, path.bbr.state) = (samples, State::Up);
        let lost = Lost { tx_in_flight: 100, lost, is_app_limited: false, total_delivered: path.delivered };
        path.bbr.on_lost(&mut path.win, &view, &lost);
        (path.bbr.inflight_longterm, path.bbr.state)
    };
    assert_eq!(lose(2, true), (NONE, State::Up));
    assert_eq!(lose(3, false), (NONE, State::Up), "what left before the probe");
    assert_eq!(lose(3, true), (99, State::Down));
}

/// Section 5.6.4.4: recovery saves the window, a time-out leaves one segment plus those in flight, and the end of
/// recovery restores the window.
#[test]
fn the_window_comes_back_after_a_timeout() {
    let mut path = wide(1_000);
    path.run_until(Time::from_secs(3));
    let (mut win, view) = (path.win, path.view());
    let before = win.cwnd;
    path.bbr.on_state(&mut win, &View { in_flight: 7, ..view }, CaState::Loss);
    assert_eq!(win.cwnd, 8);
    path.bbr.on_state(&mut win, &view, CaState::Open);
    assert_eq!(win.cwnd, before);
}

/// Our choice for section 3.7: a mark in UP ends it, as losses above the threshold do.
#[test]
fn a_mark_ends_the_probe() {
    let mut path = wide(1_000);
    while path.bbr.state != State::Up {
        path.run_until(path.now + MS(1));
    }
    let mark = Lost { tx_in_flight: 60, lost: 0, is_app_limited: false, total_delivered: path.delivered };
    let view = path.view();
    path.bbr.on_mark(&mut path.win, &view, &mark);
    assert_eq!((path.bbr.state, path.bbr.inflight_longterm), (State::Down, 60));
}

/// 107 segments per second and 12 ms: twice the path's capacity is 3. The draft's smallest window is 4; version 1 adds
/// three quanta, of two segments above 1.2 Mbit/s (1,448 bytes per segment: 104 per second), and rounds up to the next
/// even number.
#[test]
fn the_room_for_quanta_is_the_drafts_or_that_of_linuxs_version_1() {
    let room = |bbr_budget, rate, state| {
        let mut bbr = Bbr::new(&Params { bbr_budget, ..Params::new() });
        let mut win = window(10, u32::MAX);
        bbr.init(&mut win, &View { mss: 1_448, ..view() });
        (bbr.bw, bbr.min_rtt, bbr.full_bw_reached, bbr.state) =
            (Bandwidth::over(rate, Dur::from_secs(1)), Some(MS(12)), true, state);
        bbr.set_pacing(&mut win, 100);
        bbr.inflight(200)
    };
    assert_eq!(room(Budget::Draft, 107, State::Cruise), 4);
    assert_eq!(room(Budget::LinuxV1, 107, State::Cruise), 10);
    assert_eq!(room(Budget::LinuxV1, 107, State::Up), 12);
    assert_eq!(room(Budget::LinuxV1, 103, State::Cruise), 6);
}
