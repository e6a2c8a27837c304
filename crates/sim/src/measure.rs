//! What a run looks at while it goes on: bytes of the flows at the borders of the measured interval and of its batches,
//! and time series.
//!
//! The interval is cut by time, into parts equally long, or by packets, into parts in which equally much was delivered
//! (batch means as the measurement papers take them: so many packets, the first batch dropped). Packets are counted
//! every [`LOOK_EVERY`], not event by event: a part then ends a few packets late, at a known instant with a known number
//! of bytes, so that its rate is exact all the same.

use crate::result::{FlowSeries, NodeSeries, Series, rate_bps};
use crate::scenario::{App, FlowTransport, NetworkFlow, Scenario};
use crate::setup::FlowEnds;
use crate::world::World;
use fourhop_cc::tcp_ap::variation;
use fourhop_proto::node::{Endpoint, EndpointKind};
use fourhop_units::{Dur, NodeId, Time};

/// How often a run that is cut by packets counts them.
const LOOK_EVERY: Dur = Dur::from_millis(10);

/// Looks at the flows at the instants that matter.
pub struct Recorder<'a> {
    pub scenario: &'a Scenario,
    pub flows: &'a [NetworkFlow],
    pub ends: &'a [FlowEnds],
    /// For each flow, delivered and arrived bytes at its instants.
    marks: Vec<Marks>,
    packets: Option<Packets>,
    series: Option<Series>,
    previous: (Time, Vec<u64>),
}

/// Bytes of a flow at the borders of its measured interval and its batches.
pub struct Marks {
    /// The first and the last bound the measured interval.
    pub borders: Vec<Time>,
    /// Bytes delivered up to each border, each once.
    pub delivered: Vec<u64>,
    /// Bytes arrived up to each border.
    pub arrived: Vec<u64>,
    /// Time with something on its way up to each border, for files.
    pub active: Vec<Option<Dur>>,
    /// How many of the parts between the borders are batches, from the first on.
    pub batches: usize,
}

/// The count by which a run is cut.
struct Packets {
    /// With how many the run ends.
    end: u64,
    /// Parts, the unmeasured first one included.
    parts: u64,
    /// Delivered before the count began, if it has begun.
    before: Option<u64>,
    delivered: u64,
    /// Parts that are whole.
    whole: u64,
}

impl Packets {
    /// Packets with which part number `part` ends, the first being 1.
    fn border(&self, part: u64) -> u64 {
        (self.end * part).div_ceil(self.parts)
    }
}

impl<'a> Recorder<'a> {
    pub fn new(scenario: &'a Scenario, flows: &'a [NetworkFlow], ends: &'a [FlowEnds], nodes: usize) -> Recorder<'a> {
        let end = Time::ZERO + scenario.duration;
        let warm = Time::ZERO + scenario.warmup;
        let by_time = |flow: &NetworkFlow| {
            let from = warm.max(flow.traffic.start).min(end);
            let to = flow.traffic.stop.unwrap_or(end).clamp(from, end);
            let parts = u64::from(scenario.batches);
            (0..=parts).map(|part| from + to.saturating_since(from) * part / parts).collect()
        };
        let marks = flows
            .iter()
            .map(|flow| {
                let borders = if scenario.packets.is_some() { Vec::new() } else { by_time(flow) };
                let batches = borders.len().saturating_sub(1);
                Marks { borders, delivered: Vec::new(), arrived: Vec::new(), active: Vec::new(), batches }
            })
            .collect();
        let packets = scenario.packets.map(|end| {
            let parts = u64::from(scenario.batches) + 1;
            Packets { end, parts, before: None, delivered: 0, whole: 0 }
        });
        let series = scenario.sample_every.map(|_| Series {
            time_s: Vec::new(),
            flows: flows.iter().map(|flow| FlowSeries { name: flow.name.clone(), ..FlowSeries::default() }).collect(),
            nodes: (0..nodes as u32).map(|node| NodeSeries { node, ..NodeSeries::default() }).collect(),
        });
        Recorder { scenario, flows, ends, marks, packets, series, previous: (Time::ZERO, vec![0; flows.len()]) }
    }

    /// Every instant to stop at, in order, the longest the run may last at the end.
    pub fn instants(&self) -> Instants {
        let end = Time::ZERO + self.scenario.duration;
        let mut planned: Vec<Time> = self.marks.iter().flat_map(|marks| marks.borders.iter().copied()).collect();
        if self.packets.is_some() {
            planned.push(Time::ZERO + self.scenario.warmup);
        }
        planned.push(end);
        planned.sort_unstable();
        let look = self.packets.as_ref().map(|_| LOOK_EVERY);
        Instants { planned: planned.into_iter(), steps: [self.scenario.sample_every, look], last: None, end }
    }

    /// Takes down what `world` shows at `at`.
    pub fn record(&mut self, at: Time, world: &World) {
        if self.packets.is_some() {
            self.count(at, world);
        } else {
            for (marks, ends) in self.marks.iter_mut().zip(self.ends) {
                // Borders may coincide where a flow is hardly active.
                while marks.delivered.len() < marks.borders.len() && marks.borders[marks.delivered.len()] <= at {
                    marks.take(at, world, ends);
                }
            }
        }
        if let Some(step) = self.scenario.sample_every
            && at.as_nanos().is_multiple_of(step.as_nanos())
        {
            self.sample(at, world);
        }
    }

    /// Counts packets and sets borders where a part has become whole.
    fn count(&mut self, at: Time, world: &World) {
        let Some(packets) = &mut self.packets else { return };
        if at < Time::ZERO + self.scenario.warmup {
            return;
        }
        let scenario = self.scenario;
        let in_flow = |(flow, ends)| received(world, ends).0 / packet_bytes(scenario, flow);
        let now: u64 = self.flows.iter().zip(self.ends).map(in_flow).sum();
        let first = packets.before.is_none();
        let before = *packets.before.get_or_insert(now);
        packets.delivered = now - before;
        let mut whole = packets.whole;
        while whole < packets.parts && packets.delivered >= packets.border(whole + 1) {
            whole += 1;
        }
        let closed = whole - packets.whole;
        packets.whole = whole;
        // More than one at once only if parts are tiny: the later ones are then empty.
        for _ in 0..closed + u64::from(first) {
            for (marks, ends) in self.marks.iter_mut().zip(self.ends) {
                marks.borders.push(at);
                marks.take(at, world, ends);
            }
        }
    }

    /// Has every packet asked for been delivered?
    pub fn is_complete(&self) -> bool {
        self.packets.as_ref().is_some_and(|packets| packets.whole == packets.parts)
    }

    /// What ended the run.
    pub fn ended_by(&self) -> &'static str {
        if self.is_complete() { "packets" } else { "duration" }
    }

    /// How far the run is at `at`, as a part of the longest it may last: by time or by packets, whichever is farther.
    pub fn progress(&self, at: Time) -> Dur {
        let by_time = at.saturating_since(Time::ZERO);
        let Some(packets) = &self.packets else { return by_time };
        let whole = u128::from(self.scenario.duration.as_nanos());
        let part = whole * u128::from(packets.delivered.min(packets.end)) / u128::from(packets.end);
        by_time.max(Dur::from_nanos(part as u64))
    }

    fn sample(&mut self, at: Time, world: &World) {
        let Some(series) = &mut self.series else { return };
        series.time_s.push(at.as_secs_f64());
        let (since, before) = &mut self.previous;
        for ((flow, ends), bytes) in series.flows.iter_mut().zip(self.ends).zip(before) {
            let (delivered, _) = received(world, ends);
            flow.goodput_bps.push(rate_bps(delivered - *bytes, *since, at));
            *bytes = delivered;
            let sender = endpoint(world, ends.sender);
            let socket = sender.socket();
            flow.cwnd_segments.push(socket.map(|socket| socket.cwnd()));
            let rtt = match &sender.kind {
                EndpointKind::Pinger(pinger) => pinger.last_rtt(),
                _ => socket.and_then(|socket| socket.srtt()),
            };
            flow.srtt_s.push(rtt.map(Dur::as_secs_f64));
            let measured = socket.map(|socket| socket.measurements()).unwrap_or_default();
            flow.rtt_s.push(measured.rtt.map(Dur::as_secs_f64));
            flow.delay_s.push(measured.delay.map(Dur::as_secs_f64));
            flow.variation.push(measured.variation.map(|units| f64::from(units) / f64::from(variation::ONE)));
            flow.pacing_interval_s.push(socket.and_then(|socket| socket.pacing_interval()).map(Dur::as_secs_f64));
        }
        *since = at;
        for (node, series) in world.nodes().iter().zip(&mut series.nodes) {
            series.queue_packets.push(node.link().queue_len() as u32);
        }
    }

    /// The borders of each flow, and the time series. `ended` is when the run did.
    pub fn finish(mut self, ended: Time, world: &World) -> (Vec<Marks>, Option<Series>) {
        if let Some(packets) = &self.packets {
            for (marks, ends) in self.marks.iter_mut().zip(self.ends) {
                // The first part is the warm-up. A run too short to end it is measured whole.
                if packets.whole > 0 {
                    marks.drop_first();
                }
                marks.batches = packets.whole.saturating_sub(1) as usize;
                // What a run that `duration` ended had of its last part counts in the whole, though not as a batch.
                if marks.borders.last() != Some(&ended) {
                    marks.borders.push(ended);
                    marks.take(ended, world, ends);
                }
            }
        }
        (self.marks, self.series)
    }
}

impl Marks {
    fn take(&mut self, at: Time, world: &World, ends: &FlowEnds) {
        let (delivered, arrived) = received(world, ends);
        self.delivered.push(delivered);
        self.arrived.push(arrived);
        self.active.push(endpoint(world, ends.sender).files().map(|files| files.active(at)));
    }

    fn drop_first(&mut self) {
        self.borders.remove(0);
        self.delivered.remove(0);
        self.arrived.remove(0);
        self.active.remove(0);
    }
}

/// The instants at which a run stops to look: planned ones, and the multiples of some steps.
pub struct Instants {
    planned: std::vec::IntoIter<Time>,
    steps: [Option<Dur>; 2],
    last: Option<Time>,
    end: Time,
}

impl Iterator for Instants {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let last = self.last;
        let planned = self.planned.as_slice();
        let done = planned.partition_point(|&at| last.is_some_and(|last| at <= last));
        for _ in 0..done {
            self.planned.next();
        }
        let planned = self.planned.as_slice().first().copied();
        let from = last.unwrap_or(Time::ZERO);
        let multiple = |step: &Dur| Time::ZERO + *step * (from.saturating_since(Time::ZERO).div_floor(*step) + 1);
        let steps = self.steps.iter().flatten().map(multiple).filter(|&at| at <= self.end);
        self.last = planned.into_iter().chain(steps).min().or(last);
        self.last.filter(|_| self.last != last)
    }
}

/// The end of a flow that is at this node, in this place.
pub fn endpoint(world: &World, (node, index): (NodeId, usize)) -> &Endpoint {
    &world.nodes()[node.index()].endpoints()[index]
}

/// Payload bytes of a flow so far: delivered once, arrived in all.
fn received(world: &World, ends: &FlowEnds) -> (u64, u64) {
    let end = endpoint(world, ends.receiver);
    match &end.kind {
        EndpointKind::Pinger(pinger) => {
            let bytes = pinger.received() * pinger.payload().get();
            (bytes, bytes)
        }
        _ => (end.received.get(), end.arrived.get()),
    }
}

/// What counts as one packet of a flow.
fn packet_bytes(scenario: &Scenario, flow: &NetworkFlow) -> u64 {
    match (flow.traffic.transport, flow.traffic.app) {
        (FlowTransport::Tcp(_), _) => scenario.tcp.mss.get(),
        (_, App::Cbr { payload, .. } | App::Ping { payload, .. }) => payload.get(),
        (_, App::Bulk | App::Transfer { .. } | App::Files { .. }) => scenario.tcp.mss.get(),
    }
}
