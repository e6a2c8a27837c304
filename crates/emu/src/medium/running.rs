//! A running medium: the clock, the kernel's radios and the channels in one loop.
//!
//! The channels never run ahead of the clock: they are brought up to the current time, then frames sent by radios enter
//! them. The kernel ends the registration when the socket closes, so nothing is left behind however this ends.

mod kernel;
mod summary;

use super::captures::Captures;
use super::control::Control;
use super::hwsim::Address;
use super::radios::Radios;
use super::report::Report;
use super::spectrum::{Notice, Spectrum};
use crate::EmulationError;
use crate::emulation::exchange;
use crate::members::{Member, find, members};
use fourhop_live::clock::Clock;
use fourhop_live::host::Reading;
use fourhop_live::lateness::Lateness;
use fourhop_live::metrics::Server;
use fourhop_live::netlink::generic::Family;
use fourhop_live::poll::{Poller, Ready};
use fourhop_live::{Tried, priority};
use fourhop_sim::batch;
use fourhop_sim::scenario::Scenario;
use fourhop_sim::translate;
use fourhop_units::{Dur, NodeId, Time};
use kernel::Module;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The id of the kernel's socket in the poller.
const KERNEL: u32 = 0;
/// The id of the socket for changes.
const CHANGES: u32 = 1;
/// Interval at which metrics are published, and the kernel's module is looked for once radios were removed.
const WATCHED: Dur = Dur::from_secs(1);
/// Size of the packet whose air time lateness is compared with, in bytes.
const PACKET: u32 = 1500;

/// Options of a medium, apart from its scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of the simulated network; the scenario's if `None`.
    pub seed: Option<u64>,
    /// Radios assigned to nodes explicitly rather than by address: address and node name.
    pub radios: Vec<(Address, String)>,
    /// The shortest sleep of the loop: events closer together are handled together.
    pub tick: Dur,
    /// Its name; generated if `None`.
    pub id: Option<String>,
    /// Address at which metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Folder for captures of the air.
    pub pcap: Option<PathBuf>,
}

/// A medium to which the kernel sends its radios' frames.
pub struct Medium {
    poller: Poller,
    family: Family,
    spectrum: Spectrum,
    radios: Radios,
    control: Control,
    metrics: Option<Server>,
    module: Module,
    scenario: String,
    seed: u64,
    tick: Dur,
    exchange: Dur,
    clock: Clock,
    now: Time,
    notices: Vec<(Time, Notice)>,
    messages: Vec<u8>,
    lateness: Lateness,
    late_at: BTreeMap<Address, Dur>,
    behind_max: Dur,
    strangers: BTreeMap<Address, u64>,
    gone: BTreeMap<String, u64>,
    refused: BTreeMap<String, u64>,
    refused_by_kernel: u64,
    missed: u64,
    real_time: bool,
    warnings: Vec<String>,
}

impl Medium {
    /// Becomes the medium of the radios in this network namespace.
    ///
    /// # Errors
    /// If the scenario is unsuitable, the kernel has no such radios, or another program is their medium.
    pub fn new(scenario: &Scenario, options: Options) -> Result<Medium, EmulationError> {
        // First of all, because from now on signals end it in an orderly way.
        let poller = Poller::new()?;
        let seed = options.seed.unwrap_or(scenario.seed);
        let (setup, _) = translate::setup(scenario, seed, &batch::Control::new())?;
        let unsuited = |what: &str| EmulationError::Unsuited(format!("{}: {what}", scenario.file));
        if setup.stations().are_several() {
            let why = "[[radios]]: found several radios at a node, allowed: one, on the channel that the kernel \
                chooses";
            return Err(unsuited(why));
        }
        if setup.node.mac.mcs.is_some() {
            let why = "radio.phy: found 802.11n or later, allowed: \"dsss\", \"ofdm\" or \"erp-ofdm\", whose frames \
                the medium carries";
            return Err(unsuited(why));
        }
        let members = members(scenario, &setup)?;
        let given = given(&options.radios, &members)?;
        // Fail now rather than at the first frame.
        setup.build(seed, None).map_err(|too_wide| scenario.too_wide(&too_wide))?;
        let family = kernel::open()?;
        let exchange = exchange(&setup.node.mac, PACKET);
        let radios = Radios::new(setup.positions.len(), given);
        poller.add(&family, KERNEL)?;
        let names = members.iter().map(|member| member.name.clone()).collect();
        let captures = options.pcap.map(|folder| Captures::new(folder, names));
        let control = Control::start(options.id.as_deref(), &scenario.file, &members)?;
        poller.add(&control.changes, CHANGES)?;
        let mut medium = Medium {
            poller,
            family,
            spectrum: Spectrum::new(setup, seed, captures),
            radios,
            control,
            metrics: None,
            module: Module::There,
            scenario: scenario.file.clone(),
            seed,
            tick: options.tick,
            exchange,
            clock: Clock::start(),
            now: Time::ZERO,
            notices: Vec::new(),
            messages: Vec::new(),
            lateness: Lateness::default(),
            late_at: BTreeMap::new(),
            behind_max: Dur::ZERO,
            strangers: BTreeMap::new(),
            gone: BTreeMap::new(),
            refused: BTreeMap::new(),
            refused_by_kernel: 0,
            missed: 0,
            real_time: false,
            warnings: Vec::new(),
        };
        medium.register()?;
        // Last, because its thread would outlive a failure.
        let serve = |addr| Server::start(addr).tried(|| format!("cannot serve metrics at {addr}"));
        medium.metrics = options.metrics.map(serve).transpose()?;
        Ok(medium)
    }

    /// The scenario's nodes.
    pub fn members(&self) -> &[Member] {
        self.control.members()
    }

    /// Its name.
    pub fn id(&self) -> &str {
        self.control.id()
    }

    /// Carries frames until its time is over or a signal arrives.
    ///
    /// # Errors
    /// If the system fails.
    pub fn run(mut self, after: Option<Dur>) -> Result<Report, EmulationError> {
        let _awake = priority::awake();
        match priority::on_time() {
            Ok(()) => self.real_time = true,
            Err(error) => self.warnings.push(format!("{error}: other programs can make frames late")),
        }
        self.clock = Clock::start();
        let before = Reading::now();
        let end = after.map_or(Time::NEVER, |after| Time::ZERO + after);
        let ended = self.pass_time(end)?;
        let machine = Reading::now().since(&before);
        if let Err(error) = self.spectrum.finish() {
            self.warnings.push(format!("captures are incomplete: {error}"));
        }
        Ok(self.report(ended, machine))
    }

    fn pass_time(&mut self, end: Time) -> Result<&'static str, EmulationError> {
        let mut ready = Vec::new();
        let mut watched = Time::ZERO + WATCHED;
        loop {
            let now = self.clock.now();
            self.advance(now.min(end))?;
            if self.now >= end {
                return Ok("time");
            }
            if now >= watched {
                self.look_for_module()?;
                if let Some(server) = &self.metrics {
                    server.publish(self.page());
                }
                watched = now + WATCHED;
            }
            ready.clear();
            let due = self.spectrum.next_event().unwrap_or(Time::NEVER);
            match due <= now {
                true => self.poller.look(&mut ready)?,
                false => {
                    let at = due.max(now + self.tick).min(watched).min(end);
                    self.poller.wait(&self.clock, at, &mut ready)?;
                    let awake = self.clock.now();
                    self.behind_max = self.behind_max.max(awake.saturating_since(at));
                    self.advance(awake.min(end))?;
                }
            }
            for &event in &ready {
                match event {
                    Ready::Readable(CHANGES) => self.change(),
                    Ready::Readable(_) => self.listen()?,
                    Ready::Signal(Signal::SIGCHLD) => {}
                    Ready::Signal(_) => return Ok("a signal"),
                }
            }
        }
    }

    /// Handles and answers requests from clients.
    fn change(&mut self) {
        let Medium { control, spectrum, warnings, now, .. } = self;
        control.changes.serve(|request| {
            spectrum.change(request, control.members())?;
            let done = request.done(*now);
            warnings.push(done.clone());
            Ok(done)
        });
    }

    /// Brings the channels up to `end`, and reports to the kernel what has happened.
    fn advance(&mut self, end: Time) -> Result<(), EmulationError> {
        if let Some(at) = self.spectrum.next_event() {
            self.behind_max = self.behind_max.max(end.saturating_since(at));
        }
        self.spectrum.advance(end, &self.radios, &mut self.notices);
        self.now = self.now.max(end);
        self.notify()
    }
}

/// Resolves the nodes assigned to radios.
fn given(radios: &[(Address, String)], members: &[Member]) -> Result<BTreeMap<Address, NodeId>, EmulationError> {
    let mut given = BTreeMap::new();
    for (address, name) in radios {
        let found = find(members, name).filter(|member| member.node.wired_number().is_none());
        let missing = || {
            let allowed = format!("nodes with radios, such as \"{}\"", members[0].name);
            EmulationError::Unsuited(format!("--map: found {name:?}, allowed: {allowed}"))
        };
        let node = found.ok_or_else(missing)?.node;
        if given.values().any(|&other| other == node) {
            return Err(EmulationError::Unsuited(format!("--map: found {name:?} twice, allowed: one radio per node")));
        }
        given.insert(*address, node);
    }
    Ok(given)
}
