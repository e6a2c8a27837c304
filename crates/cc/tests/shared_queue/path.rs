//! One drop-tail queue filled by several senders: a path without a stack, in whole segments and in order.
//!
//! Omits what the stack does apart from the window: a segment is known to be lost when a later one of its flow is
//! acknowledged, and lost data is sent again like any other segment.

use fourhop_cc::rate::{Bandwidth, Lost, RateSample};
use fourhop_cc::{Ack, CaState, Cause, CongestionControl, Controller, Hint, Params, Transport, View, Window};
use fourhop_units::{Dur, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const LEAST_RTO: Dur = Dur::from_secs(1);

/// The queue: its limit in segments, and the service time of the one at its head, as a function of the time at which
/// its turn comes.
pub struct Queue {
    pub limit: usize,
    pub service: Box<dyn Fn(Time) -> Dur>,
    /// Excluding queue and service, there and back.
    pub delay: Dur,
}

/// A segment under way.
#[derive(Clone, Copy)]
struct Segment {
    number: u64,
    sent: Time,
    first_sent: Time,
    delivered: u64,
    delivered_at: Time,
    in_flight: u32,
    pub lost: u64,
}

/// A sender with endless data, or with a given number of segments.
pub struct Flow {
    transport: &'static Transport,
    start: Time,
    hops: u32,
    /// Remaining segments of a file.
    left: Option<u64>,
    control: Controller,
    win: Window,
    /// Sent, and lost of that.
    pub next: u64,
    under_way: VecDeque<Segment>,
    pace: Time,
    /// When it wakes up to send.
    due: Option<Time>,
    burst_left: u32,
    state: CaState,
    recover: u64,
    delivered_at: Time,
    first_sent: Time,
    pub lost: u64,
    srtt: Option<Dur>,
    rttvar: Dur,
    /// RFC 6298, without the clock's granularity; doubles at each time-out.
    rto: Dur,
    min_rtt: Option<Dur>,
    timer: Time,
    /// All segments acknowledged, and when the last segment of a file was.
    pub delivered: u64,
    pub finished: Option<Time>,
    /// Acknowledged after the first quarter of the run.
    pub late: u64,
    /// Round trips after the first quarter of the run, in microseconds.
    pub trips: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A flow may send.
    Send(usize),
    /// A flow's retransmission timer may have expired.
    Timer(usize),
    /// The queue's head leaves.
    Depart,
    /// An acknowledgement of a segment that was sent at that time.
    Arrive(usize, u64),
}

impl Flow {
    pub fn new(name: &str, start: Dur, segments: Option<u64>) -> Flow {
        Flow::over(name, 1, start, segments)
    }

    /// Over a path with `hops` hops.
    pub fn over(name: &str, hops: u32, start: Dur, segments: Option<u64>) -> Flow {
        let transport = Transport::find(name).expect("known");
        let start = Time::from_secs(1) + start;
        Flow {
            transport,
            start,
            hops,
            left: segments,
            control: transport.controller(&Params { hystart: true, ..Params::new() }),
            win: Window { cwnd: 10, cwnd_cnt: 0, ssthresh: u32::MAX, cwnd_clamp: 1 << 16, pacing: None, burst: 1 },
            next: 0,
            under_way: VecDeque::new(),
            pace: start,
            due: None,
            burst_left: 0,
            state: CaState::Open,
            recover: 0,
            delivered_at: start,
            first_sent: start,
            lost: 0,
            srtt: None,
            rttvar: Dur::ZERO,
            rto: LEAST_RTO,
            min_rtt: None,
            timer: start,
            delivered: 0,
            late: 0,
            finished: None,
            trips: Vec::new(),
        }
    }

    fn view(&self, now: Time, in_flight: u32) -> View {
        View {
            now,
            in_flight,
            window: self.win.cwnd,
            snd_wnd: 1 << 16,
            mss: 1_460,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            rto: self.rto,
            state: self.state,
        }
    }

    fn in_flight(&self) -> u32 {
        u32::try_from(self.under_way.len()).expect("few")
    }

    /// Whether a segment may leave now; if only pacing prevents it, the time when it may.
    fn may_send(&self, now: Time) -> Result<(), Option<Time>> {
        let room = self.win.cwnd.saturating_sub(self.in_flight());
        let wanted = if self.burst_left > 0 { 1 } else { self.win.burst.min(self.win.cwnd) };
        if self.left == Some(0) || room < wanted {
            return Err(None);
        }
        if self.burst_left == 0 && self.pace > now { Err(Some(self.pace)) } else { Ok(()) }
    }

    fn send(&mut self, now: Time) {
        if self.under_way.is_empty() {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        if self.burst_left == 0 {
            self.burst_left = self.win.burst.min(self.win.cwnd);
            self.pace = self.pace.max(now);
        }
        self.burst_left -= 1;
        if let Some(interval) = self.win.pacing {
            self.pace += interval;
        }
        self.left = self.left.map(|left| left - 1);
        let in_flight = self.in_flight() + 1;
        let (number, first_sent) = (self.next, self.first_sent);
        let (delivered, delivered_at, lost) = (self.delivered, self.delivered_at, self.lost);
        self.under_way.push_back(Segment { number, sent: now, first_sent, delivered, delivered_at, in_flight, lost });
        self.next += 1;
        self.timer = now + self.rto;
    }

    fn acknowledge(&mut self, now: Time, number: u64, late: bool) {
        let before = self.in_flight();
        let Some(place) = self.under_way.iter().position(|segment| segment.number == number) else { return };
        let mut newly_lost = 0;
        for _ in 0..place {
            let gone = self.under_way.pop_front().expect("before it");
            self.lose(now, gone);
            newly_lost += 1;
        }
        let segment = self.under_way.pop_front().expect("at hand");
        self.delivered += 1;
        let rtt = now.saturating_since(segment.sent);
        if late {
            self.late += 1;
            self.trips.push(rtt.as_nanos() / 1_000);
        }
        self.measure(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.timer = now + self.rto;
        if self.state != CaState::Open && number >= self.recover {
            self.enter(now, CaState::Open);
        }
        let view = self.view(now, before);
        let cwnd_limited = before >= self.win.cwnd || self.win.in_slow_start() && 2 * before >= self.win.cwnd;
        if newly_lost > 0 && self.state == CaState::Open {
            self.recover = self.next;
            self.enter(now, CaState::Recovery);
            if !self.transport.owns_window() {
                let view = self.view(now, before);
                self.win.ssthresh = self.control.ssthresh(&self.win, &view, Cause::FastRetransmit);
                self.win.set_cwnd(self.win.ssthresh);
            }
        }
        let (total_acked, total_sent) = (self.delivered, self.next);
        let ack = Ack { acked: 1, credit: 1, rtt: Some(rtt), cwnd_limited, total_acked, total_sent };
        self.control.on_ack(&mut self.win, &View { state: self.state, ..view }, &ack);
        let took = (segment.sent.saturating_since(segment.first_sent)).max(now.saturating_since(segment.delivered_at));
        let delivered = (self.delivered - segment.delivered) as u32;
        (self.first_sent, self.delivered_at) = (segment.sent, now);
        let sample = RateSample {
            has_data: true,
            rate: Bandwidth::over(delivered, took),
            delivered,
            prior_delivered: segment.delivered,
            is_app_limited: false,
            tx_in_flight: segment.in_flight,
            lost: (self.lost - segment.lost) as u32,
            newly_acked: 1,
            newly_lost,
            total_delivered: self.delivered,
            in_flight: self.in_flight(),
            rtt: Some(rtt),
            cwnd_limited: before >= self.win.cwnd,
        };
        if self.transport.owns_window() {
            self.control.on_rate(&mut self.win, &view, &sample);
        }
        if self.left == Some(0) && self.under_way.is_empty() {
            self.finished = self.finished.or(Some(now));
        }
    }

    fn measure(&mut self, rtt: Dur) {
        let smoothed = match self.srtt {
            None => {
                self.rttvar = rtt / 2;
                rtt
            }
            Some(srtt) => {
                let off = srtt.max(rtt) - srtt.min(rtt);
                self.rttvar = (self.rttvar * 3 + off) / 4;
                (srtt * 7 + rtt) / 8
            }
        };
        self.srtt = Some(smoothed);
        self.rto = (smoothed + self.rttvar * 4).max(LEAST_RTO);
    }

    fn lose(&mut self, now: Time, gone: Segment) {
        self.lost += 1;
        self.left = self.left.map(|left| left + 1);
        let lost = (self.lost - gone.lost) as u32;
        let view = self.view(now, self.in_flight());
        if self.transport.owns_window() {
            let lost =
                Lost { tx_in_flight: gone.in_flight, lost, is_app_limited: false, total_delivered: self.delivered };
            self.control.on_lost(&mut self.win, &view, &lost);
        }
    }

    fn enter(&mut self, now: Time, state: CaState) {
        self.state = state;
        let view = self.view(now, self.in_flight());
        self.control.on_state(&mut self.win, &view, state);
    }

    fn time_out(&mut self, now: Time) {
        let view = self.view(now, 0);
        while let Some(gone) = self.under_way.pop_front() {
            self.lose(now, gone);
        }
        self.recover = self.next;
        self.enter(now, CaState::Loss);
        if !self.transport.owns_window() {
            self.win.ssthresh = self.control.ssthresh(&self.win, &view, Cause::Timeout);
            self.win.set_cwnd(self.control.loss_window());
        }
        self.rto = (self.rto * 2).min(Dur::from_secs(60));
        (self.burst_left, self.timer) = (0, now + self.rto);
    }
}

/// Lets the flows send for `duration`.
pub fn run(queue: &Queue, mut flows: Vec<Flow>, duration: Dur) -> Vec<Flow> {
    let end = Time::from_secs(1) + duration;
    let late = Time::from_secs(1) + Dur::from_nanos(duration.as_nanos() / 4);
    let mut events = BinaryHeap::new();
    let mut waiting: VecDeque<(usize, u64)> = VecDeque::new();
    for (n, flow) in flows.iter_mut().enumerate() {
        let view = flow.view(flow.start, 0);
        let srtt = Some(queue.delay);
        flow.control.init(&mut flow.win, &View { srtt, min_rtt: srtt, ..view });
        flow.control.on_hint(&mut flow.win, &view, Hint::HopCount(flow.hops));
        events.push(Reverse((flow.start, Event::Send(n))));
        events.push(Reverse((flow.start, Event::Timer(n))));
    }
    while let Some(Reverse((now, event))) = events.pop() {
        if now > end {
            break;
        }
        match event {
            Event::Depart => {
                let (n, number) = waiting.pop_front().expect("its turn");
                events.push(Reverse((now + queue.delay, Event::Arrive(n, number))));
                if !waiting.is_empty() {
                    events.push(Reverse((now + (queue.service)(now), Event::Depart)));
                }
            }
            Event::Arrive(n, number) => {
                flows[n].acknowledge(now, number, now > late);
                events.push(Reverse((now, Event::Send(n))));
            }
            Event::Timer(n) => {
                let flow = &mut flows[n];
                if now >= flow.timer && !flow.under_way.is_empty() {
                    flow.time_out(now);
                    events.push(Reverse((now, Event::Send(n))));
                }
                let again = flow.timer.max(now + Dur::from_millis(100));
                events.push(Reverse((again, Event::Timer(n))));
            }
            Event::Send(n) => {
                let flow = &mut flows[n];
                loop {
                    match flow.may_send(now) {
                        Ok(()) => {}
                        Err(Some(at)) => {
                            if flow.due != Some(at) {
                                flow.due = Some(at);
                                events.push(Reverse((at, Event::Send(n))));
                            }
                            break;
                        }
                        Err(None) => break,
                    }
                    flow.send(now);
                    if waiting.len() < queue.limit {
                        waiting.push_back((n, flow.next - 1));
                        if waiting.len() == 1 {
                            events.push(Reverse((now + (queue.service)(now), Event::Depart)));
                        }
                    }
                }
            }
        }
    }
    flows
}
