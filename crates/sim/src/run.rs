//! One run: a scenario and a seed become numbers.

use crate::batch::Control;
use crate::measure::{Marks, Recorder, endpoint};
use crate::result::{Balance, FlowResult, Named, RunResult, jain, rate_bps};
use crate::scenario::{App, NetworkFlow, Scenario, ScenarioError};
use crate::setup::FlowEnds;
use crate::trace::{PcapFolder, Tap};
use crate::translate;
use crate::world::World;
use fourhop_proto::drop::DropReason;
use fourhop_proto::node::EndpointKind;
use fourhop_proto::{mac, route};
use fourhop_units::{Dur, NodeId, Time};
use std::io;
use std::path::PathBuf;
use std::time::Instant;
use thiserror::Error;

/// What a run leaves behind besides its numbers.
#[derive(Clone, Default, Debug)]
pub struct RunOptions {
    /// Folder for capture files, one per node; with several runs each wants its own.
    pub pcap_dir: Option<PathBuf>,
    /// Nodes to capture; `None`: all.
    pub pcap_nodes: Option<Vec<u32>>,
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
        /// What the system says.
        source: io::Error,
    },
    /// It was asked to end early.
    #[error("stopped before its end")]
    Stopped,
}

/// Runs `scenario` with `seed`. The result is a function of these two, but for `wall_s`.
///
/// # Errors
/// If the scenario has no network for this seed, captures cannot be written, or `control` stops the run.
pub fn run(scenario: &Scenario, seed: u64, options: &RunOptions, control: &Control) -> Result<RunResult, RunError> {
    let begun = Instant::now();
    let (setup, flows) = translate::setup(scenario, seed)?;
    let failed = |source| RunError::Trace { path: options.pcap_dir.clone().unwrap_or_default(), source };
    let tap = match &options.pcap_dir {
        Some(folder) => {
            let count = setup.positions.len();
            let all: Vec<u32> = (0..count as u32).collect();
            let nodes = options.pcap_nodes.as_ref().unwrap_or(&all).iter().map(|&node| NodeId(node));
            let megahertz = (scenario.radio.frequency.0 / 1e6).round() as u16;
            Some(PcapFolder::create(folder, count, nodes, megahertz).map_err(failed)?)
        }
        None => None,
    };
    let (mut world, ends) = setup.build(seed, tap.map(|tap| Box::new(tap) as Box<dyn Tap>));
    let mut recorder = Recorder::new(scenario, &flows, &ends, world.nodes().len());
    // With a number of packets as its end, how far the run is shows in packets, not in time.
    let watch = if scenario.packets.is_some() { control.aside() } else { control.clone() };
    for at in recorder.instants() {
        if !world.run_until(at, &watch) {
            return Err(RunError::Stopped);
        }
        recorder.record(at, &world);
        if scenario.packets.is_some() {
            control.report(Time::ZERO + recorder.progress(at));
        }
        if recorder.is_complete() {
            break;
        }
    }
    control.report(Time::ZERO + scenario.duration);
    world.finish_trace().map_err(failed)?;
    debug_assert!(world.accounts().named().iter().all(|(_, account)| account.balances()), "{:?}", world.accounts());
    Ok(gather(recorder, seed, &world, begun.elapsed().as_secs_f64()))
}

fn gather(recorder: Recorder<'_>, seed: u64, world: &World, wall_s: f64) -> RunResult {
    let (ended_by, ended) = (recorder.ended_by(), world.now());
    let (scenario, flows, ends) = (recorder.scenario, recorder.flows, recorder.ends);
    let (marks, series) = recorder.finish(ended, world);
    let flows: Vec<FlowResult> =
        flows.iter().zip(ends).zip(&marks).map(|((flow, ends), marks)| flow_result(flow, world, ends, marks)).collect();
    let rates: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
    RunResult {
        seed,
        simulated_s: ended.min(Time::ZERO + scenario.duration).as_secs_f64(),
        ended_by,
        wall_s,
        events: world.events(),
        frames: world.frames(),
        receptions: world.receptions(),
        aggregate_goodput_bps: rates.iter().sum(),
        jain: jain(&rates),
        flows,
        drops: drops(world),
        counters: counters(world),
        conservation: balances(world),
        series,
    }
}

fn flow_result(flow: &NetworkFlow, world: &World, ends: &FlowEnds, marks: &Marks) -> FlowResult {
    let sender = endpoint(world, ends.sender);
    let stats = sender.stats();
    let (sent, rtt_mean_s) = match &sender.kind {
        EndpointKind::UdpSender(cbr) => (cbr.sent(), None),
        EndpointKind::Pinger(pinger) => {
            let mean = (pinger.received() > 0).then(|| pinger.rtt_sum().as_secs_f64() / pinger.received() as f64);
            (pinger.sent(), mean)
        }
        _ => (stats.segments_sent, sender.rtt_mean().map(Dur::as_secs_f64)),
    };
    let last = marks.borders.len() - 1;
    let (from, to) = (marks.borders[0], marks.borders[last]);
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
        src: flow.src.0,
        dst: flow.dst.0,
        hops: flow.hops,
        transport: flow.traffic.transport.name(),
        app: match flow.traffic.app {
            App::Bulk => "bulk",
            App::Transfer { .. } => "transfer",
            App::Files { .. } => "files",
            App::Cbr { .. } => "cbr",
            App::Ping { .. } => "ping",
        },
        goodput_bps: rate_bps(delivered_bytes, from, to),
        throughput_bps: rate_bps(marks.arrived[last] - marks.arrived[0], from, to),
        delivered_bytes,
        active_s,
        averaged_goodput_bps: if active_s > 0.0 { delivered_bytes as f64 * 8.0 / active_s } else { 0.0 },
        files: sender.files().map(|files| files.completed()),
        batch_goodput_bps: (0..marks.batches).map(batch).collect(),
        sent,
        retransmitted: stats.segments_retransmitted,
        timeouts: stats.timeouts,
        fast_retransmits: stats.fast_retransmits,
        rtt_mean_s,
    }
}

fn drops(world: &World) -> Named {
    let sum = world.drops();
    let mut named = Named::new();
    for &reason in DropReason::ALL {
        if sum.of(reason) > 0 {
            named.entry(reason.layer().name()).or_default().insert(reason.name(), sum.of(reason));
        }
    }
    named
}

fn counters(world: &World) -> Named {
    let mut dcf = mac::Counters::default();
    let mut routing = route::Counters::default();
    for node in world.nodes() {
        dcf.add(node.mac().counters());
        routing.add(&node.router().counters());
    }
    Named::from([("mac", dcf.named().collect()), ("route", routing.named().collect())])
}

fn balances(world: &World) -> std::collections::BTreeMap<&'static str, Balance> {
    let balance = |account: fourhop_proto::node::Account| Balance {
        taken: account.taken,
        passed: account.passed,
        dropped: account.dropped,
        held: account.held,
    };
    world.accounts().named().into_iter().map(|(layer, account)| (layer.name(), balance(account))).collect()
}
