//! An emulation: the world of a scenario, the clock, and the devices of the nodes, in one loop.
//!
//! The world runs ahead of the clock, from event to event, by at most [`Options::ahead`]: packets that leave it are
//! ready when they are due, however long an event takes to compute. Packets of programs enter after the last event
//! handled.

use crate::behind::Behind;
use crate::carry::link::Link;
use crate::carry::measured::Measured;
use crate::carry::receivers::Receivers;
use crate::carry::{Carry, Mode};
use crate::change::Changes;
use crate::error::EmulationError;
use crate::forecast::saturated_speed;
use crate::hosted::Hosted;
use crate::members::{Member, find, members};
use crate::nodes::{Network, Nodes, Plan};
use crate::program::forbidden;
use crate::radio::Radio;
use crate::report::Report;
use crate::running::Running;
use crate::state::State;
use crate::wires::{self, Wires};
use fourhop_live::Tried;
use fourhop_live::device::Kind;
use fourhop_live::poll::Poller;
use fourhop_proto::mac;
use fourhop_proto::route::{Place, Protocol};
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::NetworkFlow;
use fourhop_sim::scenario::Scenario;
use fourhop_sim::scenario::sections::RoutingProtocol;
use fourhop_sim::setup::{Flow, FlowEnds, Routing, Setup};
use fourhop_sim::trace::{CaptureForm, Folder, Kind as TraceKind, PcapFolder, Recorder, Request, Taps};
use fourhop_sim::translate;
use fourhop_sim::wired::Plan as WiredPlan;
use fourhop_sim::world::World;
use fourhop_units::{Bytes, Dur, NodeId, Purpose, Stream, Time};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of an emulation, apart from its scenario and its mode.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its name; generated if `None`.
    pub id: Option<String>,
    /// Seed of the simulated network; the scenario's if `None`.
    pub seed: Option<u64>,
    /// Whether the scenario's flows run beside the programs.
    pub flows: bool,
    /// Whether the nodes receive as ad hoc TCP does.
    pub adhoc_receivers: bool,
    /// MTU of the devices.
    pub mtu: u32,
    /// The shortest sleep of the loop: events closer together are handled together, and late by at most this. If
    /// `None`, a thirtieth of a full packet's air time, at most 100 us.
    pub tick: Option<Dur>,
    /// How long before packets are due the loop stays awake. If `None`, half of `ahead`.
    pub spin: Option<Dur>,
    /// How long before they are due events are handled. If `None`, a third of a full packet's air time, at most 100 us.
    pub ahead: Option<Dur>,
    /// Whether TCP segments that arrive at the same instant are handed to the kernel as one packet.
    pub gro: bool,
    /// Folder for captures of the air.
    pub pcap: Option<PathBuf>,
    /// The trace of all events in the network, if requested.
    pub trace: Option<Request>,
    /// Address at which metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Socket at which routing daemons learn what the radios of their nodes receive, in mode `link`.
    pub radio: Option<PathBuf>,
    /// Names of the nodes hosted by the simulator's AODV or Babel, in mode `link`.
    pub hosted: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            id: None,
            seed: None,
            flows: true,
            adhoc_receivers: false,
            mtu: 1500,
            tick: None,
            spin: None,
            ahead: None,
            gro: true,
            pcap: None,
            trace: None,
            metrics: None,
            radio: None,
            hosted: Vec::new(),
        }
    }
}

/// When an emulation ends by itself. Signals can end it at any time.
#[derive(Debug, Default)]
pub struct Stop {
    /// After this time.
    pub after: Option<Dur>,
    /// When this program ends, which is started in the emulator's namespace once the nodes are ready.
    pub command: Vec<String>,
    /// When nobody has the other end of this pipe open any more: the program that started the emulation was killed.
    pub reader: Option<File>,
}

/// The largest packet that fits in a frame: the 2304 bytes of an MSDU (IEEE 802.11-2020 clause 9.2.4.7) less the
/// overhead of encryption and LLC.
const LARGEST_MTU: u32 = 2272;
/// Upper limit of the default `tick`: packets of slow networks may be this late.
const LONGEST_TICK: Dur = Dur::from_micros(100);
/// Upper limit of the default `ahead`: packets of programs may enter slow networks this late.
const LONGEST_AHEAD: Dur = Dur::from_micros(100);
/// The smallest MTU that every host accepts (RFC 1122 section 3.3.2).
const SMALLEST_MTU: u32 = 576;

/// An emulation whose nodes exist.
pub struct Emulation {
    pub(crate) poller: Poller,
    pub(crate) nodes: Nodes,
    pub(crate) world: World,
    pub(crate) carry: Carry,
    pub(crate) wires: Wires,
    pub(crate) radio: Option<Radio>,
    pub(crate) changes: Changes,
    /// The current state of the network.
    pub(crate) setup: Setup,
    pub(crate) hosted: Vec<Hosted>,
    pub(crate) mode: Mode,
    pub(crate) options: Options,
    pub(crate) seed: u64,
    pub(crate) setup_s: f64,
    pub(crate) speed: Option<f64>,
    /// Air time of one full-size packet.
    pub(crate) exchange: Dur,
    /// The shortest sleep of the loop.
    pub(crate) tick: Dur,
    /// How long before they are due events are handled.
    pub(crate) ahead: Dur,
    /// How long before packets are due the loop stays awake.
    pub(crate) spin: Dur,
    pub(crate) warnings: Vec<String>,
    /// Flows of the scenario: name, start and endpoints.
    pub(crate) simulated: Vec<(String, Time, FlowEnds)>,
    /// Payload bytes of their full segments.
    pub(crate) mss: u64,
}

impl Emulation {
    /// Creates the nodes of a scenario.
    ///
    /// # Errors
    /// If the scenario is unsuitable or the system refuses. Nothing is left behind.
    pub fn new(scenario: &Scenario, mode: Mode, options: Options) -> Result<Emulation, EmulationError> {
        // First of all, because from now on signals end it in an orderly way.
        let poller = Poller::new()?;
        let mtu = options.mtu;
        if !(SMALLEST_MTU..=LARGEST_MTU).contains(&mtu) {
            let allowed = format!("{SMALLEST_MTU} to {LARGEST_MTU} bytes, to fit an 802.11 frame");
            return Err(EmulationError::Unsuited(format!("--mtu: found {mtu}, allowed: {allowed}")));
        }
        let seed = options.seed.unwrap_or(scenario.seed);
        let (mut setup, mut flows) = translate::setup(scenario, seed, &Control::new())?;
        if !options.flows {
            setup.flows.clear();
            flows.clear();
        }
        if mode == Mode::Link && setup.stations().are_several() {
            let why = "[[radios]]: found several radios at a node, allowed with --tap: one, because the device of a \
                node is its radio";
            return Err(EmulationError::Unsuited(format!("{}: {why}", scenario.file)));
        }
        let members = members(scenario, &setup)?;
        let hosted = hosted(&options, mode, &setup, &members, seed)?;
        let (mut routes, mut ends, mut wires) = (Vec::new(), Vec::new(), Wires::default());
        if mode == Mode::Link {
            if let Some(unsuited) = unsuited_for_link(scenario) {
                return Err(EmulationError::Unsuited(format!("{}: {unsuited}", scenario.file)));
            }
            let wired = |flow: &Flow| flow.src.wired_number().or(flow.dst.wired_number()).is_some();
            let mut both = flows.iter().zip(&setup.flows);
            if options.flows
                && let Some((flow, _)) = both.find(|(flow, ends)| flow.hops != Some(1) || wired(ends))
            {
                let why = "the kernels of the nodes route, and they do not know simulated flows over several hops";
                return Err(EmulationError::Unsuited(format!(
                    "{}: flow {:?} cannot run together with programs with --tap: {why}; leave out the flows with \
                        --without-flows",
                    scenario.file, flow.name
                )));
            }
            if scenario.routing.protocol == RoutingProtocol::Static {
                routes = kernel_routes(scenario, &setup, seed)?;
            } else if let Some(plan) = &setup.wired {
                routes = ways_out(&setup, plan);
            }
            // The kernels route over the wires too, so the simulated network has none.
            if let Some(plan) = setup.wired.take() {
                (ends, wires) = (wires::ends(&setup, &plan), Wires::new(&plan));
            }
            (setup.routing, setup.node.link.arp) = (Routing::Outside, false);
        }
        if options.adhoc_receivers && (scenario.c3tcp.enabled || mode == Mode::Link) {
            let why = "needs simulated routing and full control of the window: leave out --tap and [c3tcp]";
            return Err(EmulationError::Unsuited(format!("{}: --adhoc-receivers: {why}", scenario.file)));
        }
        let mut warnings = Vec::new();
        let speed = saturated_speed(&setup, seed);
        if let Some(speed) = speed.filter(|&speed| speed < 1.0) {
            let count = members.len();
            warnings.push(format!(
                "if all {count} nodes send at once, this machine simulates them at {speed:.2} of real time: packets \
                    will \
                 be late under load; use fewer nodes or a faster machine"
            ));
        }
        let taps = taps(scenario, &setup, &flows, seed, &options)?;
        let (world, ends_of_flows) =
            setup.build(seed, taps.into_tap()).map_err(|too_wide| scenario.too_wide(&too_wide))?;
        let id = options.id.clone().unwrap_or_else(made_up);
        check_id(&id, &members)?;
        if options.radio.is_some() && mode != Mode::Link {
            let why = "--radio: needs --tap, where the kernels route: add --tap";
            return Err(EmulationError::Unsuited(why.to_owned()));
        }
        let radio = options.radio.as_deref().map(Radio::start).transpose()?;
        let begun = Instant::now();
        let kind = if mode == Mode::Link { Kind::Tap } else { Kind::Tun };
        let mut state = State::new(&id, &scenario.file, &members);
        state.trace = options.trace.as_ref().and_then(|request| std::path::absolute(&request.folder).ok());
        let nodes = Nodes::create(state, &Plan { kind, mtu, routes, wires: ends })
            .map_err(|error| forbidden(error, "fourhop emulate"))?;
        let changes = Changes::start(&id)?;
        let mut world = world;
        // If the world has no wires, it has no nodes without radios.
        let in_world = members.iter().filter(|member| mode == Mode::Routed || member.node.wired_number().is_none());
        in_world.for_each(|member| world.attach(member.node));
        let exchange = exchange(&setup.node.mac, mtu);
        let tick = options.tick.unwrap_or_else(|| (exchange / 30).min(LONGEST_TICK));
        let ahead = options.ahead.unwrap_or_else(|| (exchange / 3).min(LONGEST_AHEAD));
        let spin = options.spin.unwrap_or(ahead / 2);
        let carry = match mode {
            Mode::Routed if scenario.c3tcp.enabled => {
                Carry::Measured(Measured::new(setup.positions.len(), scenario.c3tcp.local_acks))
            }
            Mode::Routed if options.adhoc_receivers => {
                Carry::Receivers(Receivers::new(scenario.adhoc_receiver(), scenario.adhoc_clock()))
            }
            Mode::Routed => Carry::Routed,
            Mode::Link => Carry::Link(Link::new(setup.positions.len(), setup.node.link.sizes)),
        };
        Ok(Emulation {
            poller,
            nodes,
            world,
            carry,
            wires,
            radio,
            changes,
            hosted,
            mode,
            options,
            seed,
            setup_s: begun.elapsed().as_secs_f64(),
            speed,
            exchange,
            tick,
            ahead,
            spin,
            warnings,
            simulated: flows
                .iter()
                .zip(ends_of_flows)
                .map(|(named, ends)| (named.name.clone(), named.traffic.start, ends))
                .collect(),
            mss: scenario.tcp.mss.get(),
            setup,
        })
    }

    /// Its name and nodes.
    pub fn state(&self) -> &State {
        self.nodes.state()
    }

    /// Frames on the air so far.
    pub fn frames(&self) -> u64 {
        self.world.frames()
    }

    /// Warnings from the set-up.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Runs it to its end and removes the nodes. `watch` is called once per second; it should not take long.
    ///
    /// # Errors
    /// If the system fails. The nodes are removed in any case.
    pub fn run(self, stop: &Stop, watch: &mut dyn FnMut(&Running)) -> Result<Report, EmulationError> {
        Running::new(self).run(stop, watch)
    }
}

/// Why the mode `link` does not suit a scenario, or `None` if it does.
fn unsuited_for_link(scenario: &Scenario) -> Option<&'static str> {
    if scenario.discipline_config().is_some() {
        return Some("[gateway] needs simulated routing: leave out --tap, where the kernels are the gateways");
    }
    scenario.c3tcp.enabled.then_some("[c3tcp] needs simulated routing: leave out --tap")
}

/// Routes for the kernels if the scenario has static ones: for each node with a radio, destinations and the next hops
/// towards them.
fn kernel_routes(
    scenario: &Scenario,
    setup: &Setup,
    seed: u64,
) -> Result<Vec<Vec<(Network, Ipv4Addr)>>, EmulationError> {
    let (world, _) = setup.build(seed, None).map_err(|too_wide| scenario.too_wide(&too_wide))?;
    let plan = setup.wired.as_ref();
    let radios = || (0..setup.positions.len() as u32).map(NodeId);
    let hosts = |from: NodeId| {
        // A gateway has wires.
        let count = plan.filter(|plan| !plan.gateways.contains(&from)).map_or(0, |plan| plan.hosts);
        (0..count).map(NodeId::wired)
    };
    let of = |from: NodeId| {
        let router = world.nodes()[from.index()].router();
        let all = radios().chain(hosts(from)).map(|node| node.ipv4());
        let ways = all.filter_map(|to| Some((to, router.next_hop(to)?))).filter(|(to, via)| to != via);
        ways.map(|(to, via)| ((to, 32), via)).collect()
    };
    Ok(radios().map(of).collect())
}

/// Where every radio address counts as a neighbour, the nearest gateway is the next hop for addresses behind gateways.
fn ways_out(setup: &Setup, plan: &WiredPlan) -> Vec<Vec<(Network, Ipv4Addr)>> {
    let hops = setup.hops_to(&plan.gateways);
    let outside = (WiredPlan::OUTSIDE.addr(), WiredPlan::OUTSIDE.bits());
    let out = |n: usize| {
        let distance = |gateway: &usize| hops[*gateway][n].unwrap_or(u32::MAX);
        let nearest = (0..plan.gateways.len()).min_by_key(distance).map(|gateway| plan.gateways[gateway]);
        let nearest = nearest.filter(|gateway| gateway.index() != n && !plan.gateways.contains(&NodeId(n as u32)));
        nearest.into_iter().map(|gateway| (outside, gateway.ipv4())).collect()
    };
    (0..setup.positions.len()).map(out).collect()
}

/// Creates the observers.
fn taps(
    scenario: &Scenario,
    setup: &Setup,
    flows: &[NetworkFlow],
    seed: u64,
    options: &Options,
) -> Result<Taps, EmulationError> {
    let mut taps = Taps::default();
    if let Some(folder) = &options.pcap {
        taps.add(captures(scenario, setup, folder)?);
    }
    if let Some(request) = &options.trace {
        request.filter(scenario, setup, flows)?;
        let folder = Folder::create(&request.folder, request.form())
            .tried(|| format!("cannot write a trace to {}", request.folder.display()))?;
        let sink = Box::new(Behind::new(folder));
        taps.add(Recorder::new(scenario, (setup, flows), seed, TraceKind::Emulated, request, sink)?);
    }
    Ok(taps)
}

fn captures(scenario: &Scenario, setup: &Setup, folder: &Path) -> Result<PcapFolder, EmulationError> {
    let stations = scenario.captured(&setup.stations(), None).into_iter();
    let ends = setup.wired.iter().flat_map(|plan| scenario.wire_ends(plan));
    let made = PcapFolder::create(folder, CaptureForm::default(), stations, ends);
    Ok(made.tried(|| format!("cannot write captures to {}", folder.display()))?)
}

/// A name that no other running emulation of this machine has.
pub(crate) fn made_up() -> String {
    format!("e{}", std::process::id())
}

/// Names of namespaces are file names; those of nodes are appended.
pub(crate) fn check_id(id: &str, members: &[Member]) -> Result<(), EmulationError> {
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let longest = members.iter().map(|member| member.name.len()).max().unwrap_or(0);
    if id.is_empty() || id.len() > 32 || !id.bytes().all(alphabet) || longest > 200 {
        let allowed = "1 to 32 letters, digits and underscores";
        return Err(EmulationError::Unsuited(format!("--name: found {id:?}, allowed: {allowed}")));
    }
    Ok(())
}

/// Time that a packet of `mtu` bytes takes on the air including its whole exchange: DIFS, RTS and CTS if used, data and
/// ACK (IEEE 802.11-2020 clause 10.3).
pub(crate) fn exchange(mac: &mac::Config, mtu: u32) -> Dur {
    let len = Bytes(u64::from(mtu));
    let rates = mac.rates_around(mac.reference_rate());
    let data = mac.alone_airtime(len) + mac.sifs + mac.answer_airtime(rates.ack);
    let before = match mac.data_len(len) > mac.rts_threshold {
        true => mac.rts_airtime(rates.rts) + mac.answer_airtime(rates.cts) + mac.sifs * 2,
        false => Dur::ZERO,
    };
    mac.difs() + before + data
}

/// The nodes hosted by the simulator's routing.
fn hosted(
    options: &Options,
    mode: Mode,
    setup: &Setup,
    members: &[Member],
    seed: u64,
) -> Result<Vec<Hosted>, EmulationError> {
    let unsuited = |what: String| EmulationError::Unsuited(format!("--hosted: {what}"));
    let jitter = |node| Stream::new(seed, node, Purpose::RoutingJitter);
    let router = |node: NodeId| match &setup.routing {
        Routing::Finding(protocol) => Some(protocol.router(Place::new(node.ipv4(), jitter(node)))),
        Routing::Static | Routing::Cheapest(_) | Routing::Outside => None,
    };
    if options.hosted.is_empty() {
        return Ok(Vec::new());
    }
    if mode == Mode::Routed {
        return Err(unsuited("needs --tap, where the kernels route: add --tap".to_owned()));
    }
    let host = |name: &String| {
        let found = find(members, name).filter(|member| member.node.wired_number().is_none());
        let missing =
            || unsuited(format!("found {name:?}, allowed: nodes with radios, such as \"{}\"", members[0].name));
        let node = found.ok_or_else(missing)?.node;
        let allowed = || {
            unsuited(
                "found static routes, which need no daemon, allowed: routing.protocol \"aodv\", \"ssa-aodv\" or \
                \"babel\""
                    .to_owned(),
            )
        };
        Ok(Hosted::new(node, router(node).ok_or_else(allowed)?))
    };
    options.hosted.iter().map(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_of_full_size_takes_seven_and_a_half_milliseconds_at_two_megabits() {
        // DIFS 50, RTS 352, CTS 304, data 192 + 1534 * 8 / 2 = 6328, ACK 304, three SIFS of 10.
        assert_eq!(exchange(&mac::Config::ns2(), 1500), Dur::from_micros(50 + 352 + 304 + 6328 + 304 + 30));
    }

    #[test]
    fn only_a_packet_longer_than_the_threshold_has_rts_and_cts() {
        let mut mac = mac::Config::ns2();
        mac.rts_threshold = mac.data_len(Bytes(1500));
        assert_eq!(exchange(&mac, 1500), Dur::from_micros(50 + 6328 + 10 + 304));
        assert_eq!(exchange(&mac, 1501), Dur::from_micros(50 + 352 + 304 + 6332 + 304 + 30));
    }

    #[test]
    fn names_are_those_that_files_can_have() {
        assert!(check_id("mesh_1", &[]).is_ok());
        for id in ["", "a/b", "a-b", &"x".repeat(33)] {
            let error = check_id(id, &[]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--name: found {id:?}, allowed: 1 to 32")), "{error}");
        }
    }
}
