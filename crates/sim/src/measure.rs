//! Measurements during a run: bytes of the flows at the bounds of the measured interval and of its batches.
//!
//! The interval is divided by time, into parts of equal length, or by packets, into parts with equal numbers of
//! delivered packets (batch means as in the papers: a number of packets, with the first batch dropped). Packets are
//! counted every [`LOOK_EVERY`], not event by event: a part then ends a few packets late, but at a known instant with a
//! known number of bytes, so its rate is exact.

use crate::scenario::{App, FlowTransport, NetworkFlow, Scenario};
use crate::setup::FlowEnds;
use crate::world::World;
use fourhop_proto::node::{Endpoint, EndpointKind};
use fourhop_units::{Dur, NodeId, Time};

/// Interval at which packets are counted in a run that is cut by packets.
const LOOK_EVERY: Dur = Dur::from_millis(10);

/// Records the progress of the flows at the relevant instants.
pub struct Recorder<'a> {
    pub scenario: &'a Scenario,
    pub flows: &'a [NetworkFlow],
    pub ends: &'a [FlowEnds],
    /// For each flow, delivered and arrived bytes at its bounds.
    marks: Vec<Marks>,
    packets: Option<Packets>,
}

/// Bytes of a flow at the bounds of its measured interval and its batches.
pub struct Marks {
    /// Bounds. The first and the last are those of the measured interval.
    pub borders: Vec<Time>,
    /// Bytes delivered up to each bound, each counted once.
    pub delivered: Vec<u64>,
    /// Bytes arrived up to each bound.
    pub arrived: Vec<u64>,
    /// Time up to each bound during which data was on its way, for files.
    pub active: Vec<Option<Dur>>,
    /// Number of batches: the parts between the bounds, counted from the first.
    pub batches: usize,
}

/// The packet count by which a run is cut.
struct Packets {
    /// Number of packets that ends the run.
    end: u64,
    /// Number of parts, including the unmeasured first one.
    parts: u64,
    /// Time of the next count.
    next: Time,
    /// Number delivered before counting began, if it has begun.
    before: Option<u64>,
    delivered: u64,
    /// Number of complete parts.
    whole: u64,
}

impl Packets {
    /// Returns the number of packets that completes part `part`, counted from 1.
    fn border(&self, part: u64) -> u64 {
        (self.end * part).div_ceil(self.parts)
    }
}

impl<'a> Recorder<'a> {
    pub fn new(scenario: &'a Scenario, flows: &'a [NetworkFlow], ends: &'a [FlowEnds]) -> Recorder<'a> {
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
            Packets { end, parts, next: warm, before: None, delivered: 0, whole: 0 }
        });
        Recorder { scenario, flows, ends, marks, packets }
    }

    /// Returns the next instant at which to record, if any.
    pub fn next_look(&self) -> Option<Time> {
        match &self.packets {
            Some(packets) => Some(packets.next),
            None => self.marks.iter().filter_map(|marks| marks.borders.get(marks.delivered.len()).copied()).min(),
        }
    }

    /// Records the state of `world` at `at`.
    pub fn record(&mut self, at: Time, world: &World) {
        if self.packets.is_some() {
            self.count(at, world);
        } else {
            for (marks, ends) in self.marks.iter_mut().zip(self.ends) {
                // Bounds may coincide if a flow is hardly active.
                while marks.delivered.len() < marks.borders.len() && marks.borders[marks.delivered.len()] <= at {
                    marks.take(at, world, ends);
                }
            }
        }
    }

    /// Counts packets and adds a bound when a part is complete.
    fn count(&mut self, at: Time, world: &World) {
        let Some(packets) = &mut self.packets else { return };
        if at < packets.next {
            return;
        }
        packets.next = at + LOOK_EVERY;
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

    /// Whether all requested packets have been delivered.
    pub fn is_complete(&self) -> bool {
        self.packets.as_ref().is_some_and(|packets| packets.whole == packets.parts)
    }

    /// Returns the reason for the end of the run.
    pub fn ended_by(&self) -> &'static str {
        if self.is_complete() { "packets" } else { "duration" }
    }

    /// Returns the progress of the run at `at`, as a part of its longest duration: by time or by packets, whichever is
    /// further.
    pub fn progress(&self, at: Time) -> Dur {
        let by_time = at.saturating_since(Time::ZERO);
        let Some(packets) = &self.packets else { return by_time };
        let whole = u128::from(self.scenario.duration.as_nanos());
        let part = whole * u128::from(packets.delivered.min(packets.end)) / u128::from(packets.end);
        by_time.max(Dur::from_nanos(part as u64))
    }

    /// Returns the bounds of each flow for a run that ended at `ended`.
    pub fn finish(mut self, ended: Time, world: &World) -> Vec<Marks> {
        if let Some(packets) = &self.packets {
            for (marks, ends) in self.marks.iter_mut().zip(self.ends) {
                // The first part is the warm-up. A run too short to complete it is measured as a whole.
                if packets.whole > 0 {
                    marks.drop_first();
                }
                marks.batches = packets.whole.saturating_sub(1) as usize;
                // If `duration` ended the run, the last part counts towards the whole but is no batch.
                if marks.borders.last() != Some(&ended) {
                    marks.borders.push(ended);
                    marks.take(ended, world, ends);
                }
            }
        }
        self.marks
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

/// Returns an endpoint of a flow, by node and index.
pub fn endpoint(world: &World, (node, index): (NodeId, usize)) -> &Endpoint {
    &world.endpoints(node)[index]
}

/// Returns the payload bytes of a flow so far: delivered, each counted once, and arrived, repetitions included.
pub fn received(world: &World, ends: &FlowEnds) -> (u64, u64) {
    let end = endpoint(world, ends.receiver);
    match &end.kind {
        EndpointKind::Pinger(pinger) => (pinger.received() * pinger.payload().get(), end.arrived.get()),
        _ => (end.received.get(), end.arrived.get()),
    }
}

/// Returns the size of one packet of a flow.
fn packet_bytes(scenario: &Scenario, flow: &NetworkFlow) -> u64 {
    match (flow.traffic.transport, flow.traffic.app) {
        (FlowTransport::Tcp(_) | FlowTransport::Own(_), _) => scenario.tcp.mss.get(),
        (_, App::Cbr { payload, .. } | App::Ping { payload, .. }) => payload.get(),
        (_, App::Bulk | App::Transfer { .. } | App::Stream { .. } | App::Files { .. }) => scenario.tcp.mss.get(),
    }
}
