//! One run: turns a scenario and a seed into numbers.

use crate::batch::Control;
use crate::measure::{Marks, Recorder, endpoint, received};
use crate::paced_udp::PacedUdp;
use crate::result::{Balance, ByLink, FlowResult, Named, RoundTrips, RunResult, jain, rate_bps};
use crate::scenario::{NetworkFlow, Scenario, ScenarioError};
use crate::setup::FlowEnds;
use crate::trace::{
    Background, CaptureForm, FlowSample, Folder, Kind, PcapFolder, Recorder as TraceRecorder, Request, SeriesFiles,
    SeriesPaths, SeriesSink, Taps,
};
use crate::translate;
use crate::world::World;
use fourhop_proto::app::ages::Ages;
use fourhop_proto::ccm::{self, Ccm};
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::gateway::{Discipline, FlowKey, FlowState, Gateway};
use fourhop_proto::node::EndpointKind;
use fourhop_proto::route::{Protocol, Usage};
use fourhop_proto::wire::{Category, Ipv4Packet};
use fourhop_proto::{mac, route};
use fourhop_units::{Dur, NodeId, Time};
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use thiserror::Error;

/// Name of the file beside a trace with the results of its run.
pub const RESULT: &str = "result.json";

/// The outputs of a run besides its results.
#[derive(Clone, Default, Debug)]
pub struct RunOptions {
    /// Folder for capture files; several runs need one each.
    pub pcap_dir: Option<PathBuf>,
    /// Nodes to capture; `None`: all.
    pub pcap_nodes: Option<Vec<u32>>,
    /// Format of capture files.
    pub capture: CaptureForm,
    /// A trace of everything that happens; several runs need a folder each.
    pub trace: Option<Request>,
    /// Files for the time series, which are recorded only if the scenario asks for them.
    pub series: Option<SeriesPaths>,
    /// Replacement of one flow's traffic.
    pub paced_udp: Option<PacedUdp>,
}

/// Why a run has no result.
#[derive(Error, Debug)]
pub enum RunError {
    /// The scenario has no network for this seed.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A capture file could not be written.
    #[error("{path}: cannot write capture files: {source}")]
    Trace {
        /// The folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// A trace could not be written.
    #[error("{path}: cannot write the trace: {source}")]
    Tables {
        /// The folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// Time series could not be written.
    #[error("{path}: cannot write time series: {source}")]
    Series {
        /// The file with the series of the flows; the series of the queues go to the same folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The run was asked to end early.
    #[error("stopped before its end")]
    Stopped,
}

/// Builds the network of the run with `seed`, like [`run`] before its first event.
///
/// # Errors
/// If the scenario has no network for this seed.
pub fn can_run(scenario: &Scenario, seed: u64, control: &Control) -> Result<(), ScenarioError> {
    let (setup, _) = translate::setup(scenario, seed, control)?;
    setup.build(seed, None).map(|_| ()).map_err(|too_wide| scenario.too_wide(&too_wide))
}

/// Runs `scenario` with `seed`. The result is a function of these two, except `wall_s`.
///
/// # Errors
/// If the scenario has no network for this seed, captures or series cannot be written, or `control` stops the run.
pub fn run(scenario: &Scenario, seed: u64, options: &RunOptions, control: &Control) -> Result<RunResult, RunError> {
    let begun = Instant::now();
    let stopped_or = |error| if control.is_stopped() { RunError::Stopped } else { RunError::Scenario(error) };
    let (mut setup, mut flows) = translate::setup(scenario, seed, control).map_err(stopped_or)?;
    if let Some(paced) = &options.paced_udp {
        paced.replace(&mut setup, &mut flows)?;
    }
    let failed = |source| RunError::Trace { path: options.pcap_dir.clone().unwrap_or_default(), source };
    let traced = options.trace.as_ref().map(|request| &request.folder);
    let not_traced = |source| RunError::Tables { path: traced.cloned().unwrap_or_default(), source };
    let mut taps = Taps::default();
    if let Some(folder) = &options.pcap_dir {
        let stations = scenario.captured(&setup.stations(), options.pcap_nodes.as_deref());
        let ends = setup.wired.iter().flat_map(|plan| scenario.wire_ends(plan)).filter(|(end, _)| {
            let number = scenario.number(end.node);
            options.pcap_nodes.as_ref().is_none_or(|chosen| chosen.contains(&number))
        });
        let files = PcapFolder::create(folder, options.capture, stations.into_iter(), ends).map_err(failed)?;
        let interest = files.interest();
        taps.add(Background::new(files, interest));
    }
    if let Some(request) = &options.trace {
        request.filter(scenario, &setup, &flows)?;
        let folder = Folder::create(&request.folder, request.form()).map_err(not_traced)?;
        taps.add(TraceRecorder::new(scenario, (&setup, &flows), seed, Kind::Simulated, request, Box::new(folder))?);
    }
    let series_failed =
        |source| RunError::Series { path: options.series.clone().map(|paths| paths.flows).unwrap_or_default(), source };
    let mut sampler = match (scenario.sample_every, &options.series) {
        (Some(step), Some(paths)) => {
            Some(Sampler::new(step, flows.len(), SeriesFiles::create(paths).map_err(series_failed)?))
        }
        _ => None,
    };
    let (mut world, ends) = setup.build(seed, taps.into_tap()).map_err(|too_wide| scenario.too_wide(&too_wide))?;
    let mut recorder = Recorder::new(scenario, &flows, &ends);
    let end = Time::ZERO + scenario.duration;
    // If the run ends after a number of packets, progress is measured in packets, not in time.
    let watch = if scenario.packets.is_some() { control.without_progress() } else { control.clone() };
    loop {
        let next = [recorder.next_look(), sampler.as_ref().map(|sampler| sampler.next)];
        let at = next.into_iter().flatten().fold(end, Time::min);
        // The world checks the stop flag only every so many steps; short calls can return before it has.
        if control.is_stopped() || !world.run_until(at, &watch) {
            return Err(RunError::Stopped);
        }
        recorder.record(at, &world);
        if let Some(sampler) = &mut sampler {
            sampler.record(at, &world, scenario, &flows, &ends);
        }
        if scenario.packets.is_some() {
            control.report(Time::ZERO + recorder.progress(at));
        }
        if at == end || recorder.is_complete() {
            break;
        }
    }
    control.report(end);
    world.finish_trace().map_err(|source| if traced.is_some() { not_traced(source) } else { failed(source) })?;
    if let Some(sampler) = &mut sampler {
        sampler.sink.finish().map_err(series_failed)?;
    }
    debug_assert!(world.accounts().named().iter().all(|(_, account)| account.balances()), "{:?}", world.accounts());
    let result = gather(recorder, seed, &world, begun.elapsed().as_secs_f64());
    if let Some(folder) = traced {
        let text = serde_json::to_string_pretty(&result).expect("INVARIANT: a result is JSON");
        std::fs::write(folder.join(RESULT), text + "\n").map_err(not_traced)?;
    }
    Ok(result)
}

/// Samples at regular intervals and passes the samples on; its memory does not grow with their number.
struct Sampler<S> {
    step: Dur,
    next: Time,
    since: Time,
    /// Bytes that each flow had delivered by `since`.
    delivered: Vec<u64>,
    sink: S,
}

impl<S: SeriesSink> Sampler<S> {
    fn new(step: Dur, flows: usize, sink: S) -> Sampler<S> {
        Sampler { step, next: Time::ZERO + step, since: Time::ZERO, delivered: vec![0; flows], sink }
    }

    fn record(&mut self, now: Time, world: &World, scenario: &Scenario, flows: &[NetworkFlow], ends: &[FlowEnds]) {
        if now < self.next {
            return;
        }
        let gateways: Vec<_> = gateways(world).collect();
        for ((flow, ends), before) in flows.iter().zip(ends).zip(&mut self.delivered) {
            let (delivered, _) = received(world, ends);
            let module = module(world, ends);
            let sample = FlowSample {
                goodput_bps: rate_bps(delivered - *before, self.since, now),
                sender: endpoint(world, ends.sender),
                receiver: endpoint(world, ends.receiver),
                capacity: module.and_then(|module| module.window().current(now)),
                written_window: module.and_then(|module| module.window().written()),
                gateway: at_gateway(world, &gateways, ends),
                signal: world.nodes().get(flow.src.index()).and_then(|node| node.router().signal(flow.dst.ipv4())),
            };
            *before = delivered;
            self.sink.flow(now, &flow.name, &sample);
        }
        for (index, node) in world.nodes().iter().enumerate() {
            let waiting = (0..node.radios()).map(|radio| node.link_at(radio).queue_len()).sum();
            self.sink.queue(now, index as u32, None, waiting);
        }
        for wire in world.wired().wires() {
            let (from, to) = (scenario.number(wire.from), scenario.number(wire.to));
            self.sink.queue(now, from, Some(to), wire.port.queue_len(now));
        }
        self.since = now;
        self.next = now + self.step;
    }
}

/// The C3TCP module below the sender of a flow.
fn module<'a>(world: &'a World, ends: &FlowEnds) -> Option<&'a Ccm> {
    if ends.sender.0.wired_number().is_some() {
        return None;
    }
    let modules = world.nodes()[ends.sender.0.index()].modules()?;
    let address = &endpoint(world, ends.sender).address;
    let key = ccm::FlowKey { peer: address.peer, local_port: address.local_port, peer_port: address.remote_port };
    modules.of(key)
}

/// The flow's state at the gateway that paces it; after a handover, at the gateway that saw its last packet.
fn at_gateway(world: &World, gateways: &[&Gateway<Ipv4Packet>], ends: &FlowEnds) -> Option<FlowState> {
    let address = |node: NodeId| (node.ipv4(), node.wired_number().is_some());
    let flow = endpoint(world, ends.sender).address;
    let (here, there) = (address(ends.sender.0), address(ends.receiver.0));
    let ends = [(here.0.into(), flow.local_port), (there.0.into(), flow.remote_port)];
    let key = match (here.1, there.1) {
        (false, true) => FlowKey { wireless: ends[0], wired: ends[1] },
        (true, false) => FlowKey { wireless: ends[1], wired: ends[0] },
        _ => return None,
    };
    gateways.iter().filter_map(|gateway| gateway.flow(&key)).max_by_key(|flow| flow.seen)
}

fn gateways(world: &World) -> impl Iterator<Item = &Gateway<Ipv4Packet>> {
    world.nodes().iter().filter_map(|node| node.wired_side()?.discipline()?.gateway())
}

fn gather(recorder: Recorder<'_>, seed: u64, world: &World, wall_s: f64) -> RunResult {
    let (ended_by, ended) = (recorder.ended_by(), world.now());
    let (flows, ends, scenario) = (recorder.flows, recorder.ends, recorder.scenario);
    let marks = recorder.finish(ended, world);
    let flows: Vec<FlowResult> = flows
        .iter()
        .zip(ends)
        .zip(&marks)
        .map(|((flow, ends), marks)| flow_result(scenario, flow, world, ends, marks))
        .collect();
    let rates: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
    RunResult {
        seed,
        simulated_s: ended.as_secs_f64(),
        ended_by,
        wall_s,
        events: world.events(),
        frames: world.frames(),
        receptions: world.receptions(),
        aggregate_goodput_bps: rates.iter().sum(),
        jain: jain(&rates),
        flows,
        drops: drops(world),
        counters: counters(world, ends),
        conservation: balances(world),
        link_drops: link_drops(world),
        wires: wires(scenario, world),
    }
}

fn flow_result(scenario: &Scenario, flow: &NetworkFlow, world: &World, ends: &FlowEnds, marks: &Marks) -> FlowResult {
    let sender = endpoint(world, ends.sender);
    let counts = sender.counts();
    let round_trips = match &sender.kind {
        EndpointKind::Pinger(pinger) => RoundTrips::new(pinger.round_trips()),
        _ => RoundTrips::default(),
    };
    // Wired hosts do not discover routes.
    let usage =
        world.nodes().get(flow.src.index()).map_or_else(Usage::default, |node| node.router().usage(flow.dst.ipv4()));
    let found = usage.discoveries;
    let if_found = |dur: Dur| (found.count > 0).then(|| dur.as_secs_f64());
    let (sent, rtt_mean_s) = match &sender.kind {
        EndpointKind::UdpSender(cbr) => (cbr.sent(), None),
        EndpointKind::Pinger(pinger) => {
            let mean = (pinger.received() > 0).then(|| pinger.rtt_sum().as_secs_f64() / pinger.received() as f64);
            (pinger.sent(), mean)
        }
        _ => (counts.sent, sender.rtt_mean().map(Dur::as_secs_f64)),
    };
    let last = marks.borders.len() - 1;
    let (from, to) = (marks.borders[0], marks.borders[last]);
    let ages = sender.ages().zip(endpoint(world, ends.receiver).ages());
    let ages = ages.and_then(|(sent, received)| Ages::of(sent, received, from, to));
    let age = |of: fn(&Ages) -> Dur| ages.as_ref().map(|ages| of(ages).as_secs_f64());
    let batch = |part: usize| {
        let bytes = marks.delivered[part + 1] - marks.delivered[part];
        rate_bps(bytes, marks.borders[part], marks.borders[part + 1])
    };
    let delivered_bytes = marks.delivered[last] - marks.delivered[0];
    let active_s = match (marks.active[0], marks.active[last]) {
        (Some(before), Some(after)) => (after - before).as_secs_f64(),
        _ => to.saturating_since(from).as_secs_f64(),
    };
    FlowResult {
        name: flow.name.clone(),
        src: scenario.number(flow.src),
        dst: scenario.number(flow.dst),
        hops: flow.hops,
        transport: flow.traffic.transport.name(),
        app: flow.traffic.app.name(),
        goodput_bps: rate_bps(delivered_bytes, from, to),
        throughput_bps: rate_bps(marks.arrived[last] - marks.arrived[0], from, to),
        delivered_bytes,
        active_s,
        averaged_goodput_bps: if active_s > 0.0 { delivered_bytes as f64 * 8.0 / active_s } else { 0.0 },
        file_goodput_bps: sender.files().and_then(|files| files.mean_goodput()),
        files: sender.files().map(|files| files.completed()),
        batch_goodput_bps: (0..marks.batches).map(batch).collect(),
        sent,
        retransmitted: counts.retransmitted,
        timeouts: counts.timeouts,
        fast_retransmits: counts.fast_retransmits,
        rtt_mean_s,
        rtt_min_s: round_trips.min,
        rtt_median_s: round_trips.median,
        rtt_max_s: round_trips.max,
        rtt_std_s: round_trips.std,
        age_mean_s: age(|ages| ages.mean),
        age_median_s: age(|ages| ages.median),
        age_p95_s: age(|ages| ages.p95),
        age_p99_s: age(|ages| ages.p99),
        route_changes: usage.route_changes,
        route_discoveries: found.count,
        discovery_first_s: found.first.map(Dur::as_secs_f64),
        discovery_mean_s: if_found(found.sum / found.count.max(1)),
        discovery_max_s: if_found(found.longest),
    }
}

fn drops(world: &World) -> Named {
    let sum = world.drops();
    let mut named = Named::new();
    for &reason in DropReason::ALL {
        if sum.of(reason) > 0 {
            named.entry(reason.layer().name().into()).or_default().insert(reason.name(), sum.of(reason));
        }
    }
    named
}

/// Sums the counters of all layers and nodes so far, by layer and name, including those of the simulated flows, `ends`.
pub fn counters(world: &World, ends: &[FlowEnds]) -> Named {
    let mut dcf = mac::Counters::default();
    let mut named = Named::from([("route".into(), route::Counters::default().named().collect())]);
    for node in world.nodes() {
        (0..node.radios()).for_each(|radio| dcf.add(&node.mac_at(radio).counters()));
        node.router().count(&mut |protocol, counters| {
            let sums = named.entry(protocol.into()).or_default();
            counters.for_each(|(name, count)| *sums.entry(name).or_default() += count);
        });
    }
    named.insert("mac".into(), dcf.named().collect());
    if !world.stations().share_one_channel() {
        count_radios(world, &mut named);
    }
    count_airtime(world, &mut named);
    count_categories(world, &mut named);
    let counted = |gateway: &Gateway<Ipv4Packet>| {
        let control = gateway.control_counters().copied().unwrap_or_default();
        gateway.counters().named().chain(control.named())
    };
    for (name, count) in gateways(world).flat_map(counted) {
        *named.entry("gateway".into()).or_default().entry(name).or_default() += count;
    }
    let sinks = ends.iter().filter_map(|ends| match &endpoint(world, ends.receiver).kind {
        EndpointKind::UdpReceiver(sink) => Some(sink),
        _ => None,
    });
    for (name, count) in sinks.flat_map(|sink| sink.counters().named()) {
        *named.entry("udp".into()).or_default().entry(name).or_default() += count;
    }
    for (layer, name, count) in tcp_counters(world, ends) {
        if count > 0 {
            named.entry(layer.into()).or_default().insert(name, count);
        }
    }
    named
}

/// Returns the counters of probes and marks, zero if neither is in use.
fn tcp_counters(world: &World, ends: &[FlowEnds]) -> [(&'static str, &'static str, u64); 6] {
    let stats = ends.iter().map(|ends| [endpoint(world, ends.sender).stats(), endpoint(world, ends.receiver).stats()]);
    let sum = stats.flatten().fold(fourhop_proto::tcp::Stats::default(), |mut sum, stats| {
        sum.add(&stats);
        sum
    });
    let queues = world.nodes().iter().flat_map(|node| (0..node.radios()).map(|radio| node.link_at(radio)));
    let fair = queues.flat_map(|link| link.station_queues()).map(|queues| queues.marked());
    let early = world.nodes().iter().filter_map(|node| node.early_drops()).map(|early| early.marked);
    let codel = world.nodes().iter().filter_map(|node| match node.wired_side()?.discipline()? {
        Discipline::FqCodel(queue) => Some(queue.marked()),
        _ => None,
    });
    [
        ("tcp", "tail_probes", sum.tail_probes),
        ("tcp", "timeouts_undone", sum.timeouts_undone),
        ("tcp", "marks_received", sum.marks_received),
        ("tcp", "marks_answered", sum.marks_answered),
        ("link", "marked", early.chain(fair).sum()),
        ("gateway", "marked", codel.sum()),
    ]
}

fn balances(world: &World) -> std::collections::BTreeMap<&'static str, Balance> {
    let balance = |account: fourhop_proto::node::Account| Balance {
        taken: account.taken,
        passed: account.passed,
        dropped: account.dropped,
        held: account.held,
    };
    let wires = !world.wired().wires().is_empty();
    let named = world.accounts().named().into_iter().filter(|&(layer, _)| layer != Layer::Wire || wires);
    named.map(|(layer, account)| (layer.name(), balance(account))).collect()
}

/// Returns the packets that MACs gave up, by link. Links between the same two nodes on different channels are counted
/// together.
fn link_drops(world: &World) -> ByLink {
    let mut links = ByLink::new();
    for (from, node) in world.nodes().iter().enumerate() {
        for drops in node.link_drops() {
            let Some(to) = drops.to.node() else { continue };
            let link = links.entry(format!("{from}-{}", world.stations().node(to))).or_default();
            for (kind, count) in [("tcp_data", drops.tcp_data), ("tcp_acks", drops.tcp_acks), ("other", drops.other)] {
                *link.entry(kind).or_default() += count;
            }
        }
    }
    links
}

/// Adds the counters of each radio's MAC.
fn count_radios(world: &World, named: &mut Named) {
    let stations = world.stations();
    for station in (0..stations.count() as u32).map(NodeId) {
        let (node, radio) = stations.owner(station);
        let counters = world.nodes()[node.index()].mac_at(radio).counters();
        named.insert(format!("radio {node}@{}", stations.channel(station)).into(), counters.named().collect());
    }
}

/// Adds the counters of each access category, for sent frames only.
fn count_categories(world: &World, named: &mut Named) {
    for category in Category::ALL {
        let macs = world.nodes().iter().flat_map(|node| (0..node.radios()).map(|radio| node.mac_at(radio)));
        for (frames, own) in macs.filter_map(|mac| mac.counters_of(category)) {
            let counts = named.entry(format!("category {}", category.name()).into()).or_default();
            for (name, count) in frames.sending().chain(own.named()) {
                *counts.entry(name).or_default() += count;
            }
        }
    }
}

/// Adds the air time as the queues account for it. Links between the same two nodes on different channels are counted
/// together.
fn count_airtime(world: &World, named: &mut Named) {
    for (from, node) in world.nodes().iter().enumerate() {
        let queues = (0..node.radios()).flat_map(|radio| node.link_at(radio).station_queues());
        for (to, airtime) in queues.flat_map(|queues| queues.airtimes()) {
            let to = to.node().map_or_else(|| "all".to_owned(), |to| world.stations().node(to).to_string());
            let link = named.entry(format!("airtime {from}-{to}").into()).or_default();
            for (name, time) in [("sent_us", airtime.sent), ("received_us", airtime.received)] {
                *link.entry(name).or_default() += time.as_nanos() / 1_000;
            }
        }
    }
}

fn wires(scenario: &Scenario, world: &World) -> ByLink {
    let mut table = ByLink::new();
    for wire in world.wired().wires() {
        let port = &wire.port;
        let own = [
            ("longest_queue", port.longest_queue() as u64),
            ("held", port.queued() as u64),
            // Total over all packets of the time each waited before it was sent.
            ("waited_us", port.waited().as_nanos() / 1000),
        ];
        let link =
            table.entry(format!("{}-{}", scenario.node_name(wire.from), scenario.node_name(wire.to))).or_default();
        for (name, count) in port.counters().named().chain(own) {
            *link.entry(name).or_default() += count;
        }
    }
    table
}
