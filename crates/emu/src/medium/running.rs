//! A running medium: the clock, the kernel's radios and the channels in one loop.
//!
//! The channels never run ahead of the clock: they are brought up to the present instant, then what radios have sent
//! enters them. The kernel ends the registration with the socket, so that nothing is left behind however this ends.

use super::hwsim::{self, Address, FAMILY, Message};
use super::radios::Radios;
use super::report::{RadioReport, Report};
use super::spectrum::{Spectrum, Told};
use crate::EmulationError;
use crate::emulation::exchange;
use crate::members::{Member, members};
use crate::report::{Machine, Truth};
use fourhop_live::clock::Clock;
use fourhop_live::host::Reading;
use fourhop_live::lateness::Lateness;
use fourhop_live::netlink::generic::{Family, Received};
use fourhop_live::poll::{Poller, Ready};
use fourhop_live::priority;
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::Scenario;
use fourhop_sim::translate;
use fourhop_units::{Dur, NodeId, Time};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;

/// Bytes that are sent to the kernel together.
const TOGETHER: usize = 32 * 1024;
/// Datagrams that are read before time goes on.
const AT_ONCE: usize = 64;
/// The kernel's socket among what is waited for.
const KERNEL: u32 = 0;
/// The largest wait: then a change of the clock cannot be missed for long.
const BEAT: Dur = Dur::from_secs(1);
/// Bytes of the packet whose air time lateness is compared with.
const PACKET: u32 = 1500;

/// Choices about a medium besides its scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of the simulated network; that of the scenario if there is none.
    pub seed: Option<u64>,
    /// Nodes of radios whose address does not say it: address and name.
    pub radios: Vec<(Address, String)>,
    /// The loop sleeps at least so long: events that are closer together are handled together.
    pub tick: Dur,
}

/// A medium to which the kernel sends its radios' frames.
pub struct Medium {
    poller: Poller,
    family: Family,
    spectrum: Spectrum,
    radios: Radios,
    members: Vec<Member>,
    scenario: String,
    seed: u64,
    tick: Dur,
    exchange: Dur,
    clock: Clock,
    now: Time,
    told: Vec<(Time, Told)>,
    messages: Vec<u8>,
    lateness: Lateness,
    late_at: BTreeMap<Address, Dur>,
    behind_max: Dur,
    strangers: BTreeMap<Address, u64>,
    refused: BTreeMap<String, u64>,
    refused_by_kernel: u64,
    missed: u64,
    real_time: bool,
    warnings: Vec<String>,
}

impl Medium {
    /// Becomes the medium of the radios of this network namespace.
    ///
    /// # Errors
    /// If the scenario is not suited, the kernel has no such radios, or somebody else is their medium.
    pub fn new(scenario: &Scenario, options: Options) -> Result<Medium, EmulationError> {
        // First of all: from now on signals end it in order.
        let poller = Poller::new()?;
        let seed = options.seed.unwrap_or(scenario.seed);
        let (setup, _) = translate::setup(scenario, seed, &Control::new())?;
        let unsuited = |what: &str| EmulationError::Unsuited(format!("{}: {what}", scenario.file));
        if setup.stations().are_several() {
            let why = "[[radios]]: found several radios at a node, allowed: one, which is on the channel that the \
                kernel chooses";
            return Err(unsuited(why));
        }
        if setup.node.mac.mcs.is_some() {
            let why = "radio.phy: found 802.11n or later, allowed: \"dsss\", \"ofdm\" or \"erp-ofdm\", whose frames \
                the medium carries";
            return Err(unsuited(why));
        }
        let members = members(scenario, &setup)?;
        let given = given(&options.radios, &members)?;
        // Refused now rather than with the first frame.
        setup.build(seed, None).map_err(|too_wide| scenario.too_wide(&too_wide))?;
        let family = Family::open(FAMILY, "simulated radios").map_err(|error| match error.source.kind() {
            std::io::ErrorKind::NotFound => EmulationError::Unsuited(
                "this kernel has no simulated radios. Try: modprobe mac80211_hwsim radios=2".to_owned(),
            ),
            _ => EmulationError::System(error),
        })?;
        let exchange = exchange(&setup.node.mac, PACKET);
        let radios = Radios::new(setup.positions.len(), given);
        poller.add(&family, KERNEL)?;
        let mut medium = Medium {
            poller,
            family,
            spectrum: Spectrum::new(setup, seed),
            radios,
            members,
            scenario: scenario.file.clone(),
            seed,
            tick: options.tick,
            exchange,
            clock: Clock::start(),
            now: Time::ZERO,
            told: Vec::new(),
            messages: Vec::new(),
            lateness: Lateness::default(),
            late_at: BTreeMap::new(),
            behind_max: Dur::ZERO,
            strangers: BTreeMap::new(),
            refused: BTreeMap::new(),
            refused_by_kernel: 0,
            missed: 0,
            real_time: false,
            warnings: Vec::new(),
        };
        medium.register()?;
        Ok(medium)
    }

    /// The scenario's nodes.
    pub fn nodes(&self) -> usize {
        self.members.len()
    }

    /// Asks the kernel for the frames of its radios.
    fn register(&mut self) -> Result<(), EmulationError> {
        let mut message = Vec::new();
        self.family.message(hwsim::REGISTER, true, &mut message, |_| ());
        self.family.send(&message)?;
        let mut answer = None;
        self.family.receive(|received| {
            if let Received::Answer(code) = received {
                answer = Some(code);
            }
        });
        // The kernel answers before `send` returns.
        let refused = |what: String| Err(EmulationError::Unsuited(what));
        match Errno::from_raw(answer.map_or(0, |code| -code)) {
            Errno::UnknownErrno => Ok(()), // 0: it agrees
            Errno::EBUSY => refused("another program is the medium of the simulated radios: end it first".to_owned()),
            Errno::EPERM => refused("only root may be the radios' medium. Try: sudo fourhop medium".to_owned()),
            Errno::EOPNOTSUPP => refused(
                "radios: found some that are on several channels at once, allowed: one channel each. Try: \
                 modprobe -r mac80211_hwsim, then modprobe mac80211_hwsim channels=1"
                    .to_owned(),
            ),
            errno => refused(format!("the kernel refuses to let the radios have a medium: {}", errno.desc())),
        }
    }

    /// Carries frames until it is over or a signal comes.
    ///
    /// # Errors
    /// If the system fails it.
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
        Ok(self.report(ended, Reading::now().since(&before)))
    }

    fn pass_time(&mut self, end: Time) -> Result<&'static str, EmulationError> {
        let mut ready = Vec::new();
        loop {
            let now = self.clock.now();
            self.advance(now.min(end))?;
            if self.now >= end {
                return Ok("time");
            }
            ready.clear();
            let due = self.spectrum.next_event().unwrap_or(Time::NEVER);
            match due <= now {
                true => self.poller.look(&mut ready)?,
                false => {
                    let at = due.max(now + self.tick).min(now + BEAT).min(end);
                    self.poller.wait(&self.clock, at, &mut ready)?;
                    let awake = self.clock.now();
                    self.behind_max = self.behind_max.max(awake.saturating_since(at));
                    self.advance(awake.min(end))?;
                }
            }
            for &event in &ready {
                match event {
                    Ready::Readable(_) => self.listen()?,
                    Ready::Signal(Signal::SIGCHLD) => {}
                    Ready::Signal(_) => return Ok("a signal"),
                }
            }
        }
    }

    /// Brings the channels up to `end`, and tells the kernel what has happened.
    fn advance(&mut self, end: Time) -> Result<(), EmulationError> {
        if let Some(at) = self.spectrum.next_event() {
            self.behind_max = self.behind_max.max(end.saturating_since(at));
        }
        self.spectrum.advance(end, &self.radios, &mut self.told);
        self.now = self.now.max(end);
        self.tell()
    }

    /// Sends all news to the kernel.
    fn tell(&mut self) -> Result<(), EmulationError> {
        let mut told = std::mem::take(&mut self.told);
        for (at, one) in told.drain(..) {
            let to = match &one {
                Told::Received { radio, .. } | Told::Status { radio, .. } => *radio,
            };
            self.write(&one);
            let late = self.clock.now().saturating_since(at);
            self.lateness.record(late);
            let worst = self.late_at.entry(to).or_default();
            *worst = late.max(*worst);
            if self.messages.len() > TOGETHER {
                self.family.send(&self.messages)?;
                self.messages.clear();
            }
        }
        self.told = told;
        if !self.messages.is_empty() {
            self.family.send(&self.messages)?;
            self.messages.clear();
        }
        Ok(())
    }

    fn write(&mut self, told: &Told) {
        match told {
            Told::Received { radio, frame, place, signal, frequency } => {
                let how = (*signal, *frequency);
                // The flag of frames that are sent again.
                const RETRY: u8 = 0x08;
                let mut bytes = [0; hwsim::LONGEST];
                let bytes = &mut bytes[..frame.bytes().len()];
                bytes.copy_from_slice(frame.bytes());
                if frame.is_repeat() {
                    bytes[1] |= RETRY;
                }
                let write = |out: &mut Vec<u8>| hwsim::write_received(*radio, bytes, *place, how, out);
                self.family.message(hwsim::FRAME, false, &mut self.messages, write);
            }
            Told::Status { radio, cookie, flags, tries, signal } => {
                let write = |out: &mut Vec<u8>| hwsim::write_status(*radio, *cookie, *flags, (tries, *signal), out);
                self.family.message(hwsim::STATUS, false, &mut self.messages, write);
            }
        }
    }

    /// Takes what the kernel has sent.
    fn listen(&mut self) -> Result<(), EmulationError> {
        let Medium { family, spectrum, radios, told, strangers, refused, refused_by_kernel, missed, .. } = self;
        let mut failed = Ok(());
        for _ in 0..AT_ONCE {
            let some = family.receive(|received| match received {
                Received::Message(command, bytes) => match hwsim::read(command, bytes) {
                    Ok(Message::Sent(sent)) => {
                        radios.learn(sent.radio, sent.transmitter());
                        match radios.meet(sent.radio) {
                            Some(radio) => {
                                (radio.frequency, radio.sent) = (Some(sent.frequency), radio.sent + 1);
                                let node = radio.node;
                                if let Err(error) = spectrum.enter(node, &sent, radios, told) {
                                    failed = Err(error);
                                }
                            }
                            None => *strangers.entry(sent.radio).or_default() += 1,
                        }
                    }
                    Ok(Message::Address { radio, address, gone: false }) => radios.learn(radio, address),
                    Ok(Message::Address { radio, address, gone: true }) => radios.forget(radio, address),
                    Ok(Message::Other) => {}
                    Err(reason) => *refused.entry(reason.to_string()).or_default() += 1,
                },
                Received::Answer(code) => *refused_by_kernel += u64::from(code != 0),
                Received::Missed => *missed += 1,
                Received::Garbage => *refused.entry(hwsim::Refused::Incomplete.to_string()).or_default() += 1,
            });
            if !some {
                break;
            }
        }
        failed?;
        self.tell()
    }

    fn report(&self, ended_by: &'static str, machine: Reading) -> Report {
        let ran_s = self.now.as_secs_f64();
        let name = |node: NodeId| self.members[node.index()].name.clone();
        Report {
            scenario: self.scenario.clone(),
            seed: self.seed,
            ran_s,
            ended_by,
            radios: RadioReport::all(&self.radios, |radio| name(radio.node)),
            strangers: self
                .strangers
                .iter()
                .map(|(&radio, &sent)| (super::radios::Shown(radio).to_string(), sent))
                .collect(),
            frames: self.spectrum.counts().clone(),
            lost: self.spectrum.lost(),
            in_flight: self.spectrum.held(),
            on_air: self.spectrum.frames(),
            refused: self.refused.clone(),
            refused_by_kernel: self.refused_by_kernel,
            missed: self.missed,
            lateness_us: self.lateness.summary(),
            truth: self.truth(),
            machine: Machine::new(machine, ran_s, self.real_time, None),
            warnings: self.warnings.clone(),
        }
    }

    /// Was the time of the network that of the clock?
    fn truth(&self) -> Truth {
        let worst = self.late_at.iter().max_by_key(|(_, late)| **late);
        let latest = worst.and_then(|(&address, late)| {
            let radio = self.radios.all().find(|(other, _)| *other == address)?.1;
            Some((self.members[radio.node.index()].name.clone(), late.as_nanos() as f64 / 1e3))
        });
        let truth = Truth::new("frame", self.exchange, &self.lateness, self.behind_max, latest);
        match self.missed {
            0 => truth,
            missed => Truth {
                holds: false,
                because: Some(format!("{missed} times the kernel sent more frames at once than the medium could take")),
                ..truth
            },
        }
    }
}

/// The nodes that radios are given to.
fn given(radios: &[(Address, String)], members: &[Member]) -> Result<BTreeMap<Address, NodeId>, EmulationError> {
    let mut given = BTreeMap::new();
    for (address, name) in radios {
        let found = members
            .iter()
            .find(|member| [&member.name, &member.label].contains(&name) && member.node.wired_number().is_none());
        let missing = || {
            let allowed = format!("nodes with radios, as \"{}\"", members[0].name);
            EmulationError::Unsuited(format!("--map: found {name:?}, allowed: {allowed}"))
        };
        let node = found.ok_or_else(missing)?.node;
        if given.values().any(|&other| other == node) {
            return Err(EmulationError::Unsuited(format!("--map: found {name:?} twice, allowed: one radio at a node")));
        }
        given.insert(*address, node);
    }
    Ok(given)
}
