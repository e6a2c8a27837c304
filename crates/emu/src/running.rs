//! A running emulation: the loop, and what it counts.

mod change;
mod child;
mod enter;
mod leave;
mod summary;

use crate::EmulationError;
use crate::carry::{Carry, Refused};
use crate::emulation::{Emulation, Stop};
use crate::flows::Flows;
use crate::hosted::Hosted;
use crate::icmp::Allowance;
use crate::nodes;
use crate::outgoing::Outgoing;
use crate::program::MEANT;
use crate::radio::Radio;
use crate::report::{Packets, Report};
use crate::spent::Spent;
use crate::underway::Underway;
use fourhop_live::clock::Clock;
use fourhop_live::host::Reading;
use fourhop_live::lateness::Lateness;
use fourhop_live::metrics::Server;
use fourhop_live::poll::Ready;
use fourhop_live::{Tried, priority};
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::wire::Ipv4Packet;
use fourhop_proto::wire::bytes::IpHead;
use fourhop_sim::batch::Control;
use fourhop_units::{Dur, NodeId, Time, Watt};
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command};

/// Interval at which the watcher is called and metrics are published.
const WATCHED: Dur = Dur::from_secs(1);
/// Packets taken from one device before the next has its turn.
const TURN: usize = 32;
/// Packets after which the world is brought up to the current time: more would make events late.
const PAUSE: usize = 8;
/// Longest time between looks at the devices, however far the world is behind the clock.
const LONGEST: Dur = Dur::from_millis(5);
/// Longest time between wake-ups, to check that the loop can wake: nothing else shows that packets wait at devices
/// while the machine is busy with something else.
const BEAT: Dur = Dur::from_millis(10);
/// The id of the radio's socket in the poller: no device has it.
const RADIO: u32 = u32::MAX;
/// The id of the socket for changes.
const CHANGES: u32 = u32::MAX - 1;
/// The id of the pipe to the program that started the emulation.
const READER: u32 = u32::MAX - 2;
/// More than any device carries, whatever its MTU: the largest packet plus an Ethernet header.
const BUFFER: usize = (1 << 16) + 14;

/// Reason why an emulation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Time,
    Command,
    Signal,
    Reader,
    Devices,
}

impl Ending {
    const fn name(self) -> &'static str {
        match self {
            Ending::Time => "its time",
            Ending::Command => "its command",
            Ending::Signal => "a signal",
            Ending::Reader => "the end of the program that started it",
            Ending::Devices => "the loss of all devices",
        }
    }
}

/// An emulation that is running.
pub struct Running {
    emulation: Emulation,
    clock: Clock,
    control: Control,
    lateness: Lateness,
    /// When the kernel had the processor.
    spent: Spent,
    /// The part of `lateness` that the kernel caused.
    kernel: Lateness,
    /// How far ahead of the clock the network was when packets of programs entered it.
    entering: Lateness,
    /// The maximum lateness at each node.
    late_at: Vec<Dur>,
    /// Maximum lateness with which an event of the world was handled, or the loop woke.
    behind_max: Dur,
    packets: Packets,
    underway: Underway,
    /// Packets of hosts lost in the network.
    lost_packets: BTreeMap<DropReason, u64>,
    /// The node to which an IPv6 address belongs: the first that sent from it, since nobody can forward a packet before
    /// it is sent.
    senders: HashMap<Ipv6Addr, NodeId>,
    refused: BTreeMap<Refused, u64>,
    flows: Flows,
    allowances: Vec<Allowance>,
    /// Devices that have not failed.
    alive: Vec<bool>,
    warnings: Vec<String>,
    real_time: bool,
    /// When its time is over.
    end: Time,
    /// Reused buffers.
    delivered: Vec<(NodeId, Ipv4Packet)>,
    powers: Vec<Watt>,
    wired: Vec<(usize, Ipv4Packet)>,
    lost: Vec<(NodeId, Ipv4Packet, DropReason)>,
    outgoing: Outgoing,
    /// Bytes from a device, and one segment of them; reused.
    buffer: Vec<u8>,
    segment: Vec<u8>,
}

impl Running {
    pub(crate) fn new(emulation: Emulation) -> Running {
        let count = emulation.state().members.len();
        Running {
            clock: Clock::start(),
            control: Control::new(),
            lateness: Lateness::default(),
            spent: Spent::default(),
            kernel: Lateness::default(),
            entering: Lateness::default(),
            late_at: vec![Dur::ZERO; count],
            behind_max: Dur::ZERO,
            packets: Packets::default(),
            underway: Underway::default(),
            lost_packets: BTreeMap::new(),
            senders: HashMap::new(),
            refused: BTreeMap::new(),
            flows: Flows::default(),
            allowances: vec![Allowance::default(); count],
            alive: vec![true; emulation.nodes.devices().len()],
            warnings: emulation.warnings.clone(),
            real_time: false,
            end: Time::NEVER,
            delivered: Vec::new(),
            powers: Vec::new(),
            wired: Vec::new(),
            lost: Vec::new(),
            outgoing: Outgoing::default(),
            buffer: vec![0; BUFFER],
            segment: Vec::new(),
            emulation,
        }
    }

    /// The emulated scenario.
    pub fn emulation(&self) -> &Emulation {
        &self.emulation
    }

    /// How long it has run.
    pub fn now(&self) -> Time {
        self.emulation.world.now()
    }

    /// Lateness of the packets.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The flows of programs.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Packets at the devices, including those lost in the network.
    pub fn packets(&self) -> Packets {
        let refused = self.refused.iter().map(|(reason, &count)| (reason.name(), count)).collect();
        let mut lost: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        let mut count = |reason: DropReason, count: u64| {
            *lost.entry(reason.layer().name()).or_default().entry(reason.name()).or_default() += count;
        };
        self.lost_packets.iter().for_each(|(&reason, &packets)| count(reason, packets));
        let (mut in_flight, unheard) = self.underway.count(self.now());
        let drops = self.emulation.world.drops();
        if self.emulation.simulated.is_empty() {
            // Nobody reports these otherwise.
            for reason in [DropReason::LinkCodel, DropReason::WiredQueueFull] {
                let uncounted = drops.of(reason).saturating_sub(self.lost_packets.get(&reason).copied().unwrap_or(0));
                if uncounted > 0 {
                    count(reason, uncounted);
                    in_flight = in_flight.saturating_sub(uncounted);
                }
            }
        }
        if let Carry::Measured(_) = self.emulation.carry {
            // Segments that C3TCP measures are the simulator's, which counts them. Copies at radios and in the MAC are
            // not packets; those that the MAC gives up return to routing, which counts the ones it cannot salvage.
            let reasons = DropReason::ALL.iter().filter(|reason| !matches!(reason.layer(), Layer::Radio | Layer::Mac));
            for &reason in reasons {
                let counted = self.lost_packets.get(&reason).copied().unwrap_or(0);
                if drops.of(reason) > counted {
                    count(reason, drops.of(reason) - counted);
                }
            }
        }
        if unheard > 0 {
            lost.entry(Layer::Radio.name()).or_default().insert("unheard", unheard);
        }
        Packets { refused, lost, in_flight, ..self.packets.clone() }
    }

    /// Counts packets that have reached a node, `firsts` of them being the first of their copies; `taken`: its kernel
    /// accepted them.
    fn count_delivered(&mut self, packets: u64, firsts: u64, taken: bool) {
        if taken {
            self.packets.delivered += packets;
            self.packets.copies += packets - firsts;
        } else {
            self.packets.undelivered += firsts;
        }
    }

    /// The network has lost a packet. If it has arrived as well, only the sender's knowledge of that is lost.
    fn count_lost(&mut self, packet: &Ipv4Packet, reason: DropReason) {
        if self.underway.leave(packet) {
            *self.lost_packets.entry(reason).or_default() += 1;
        }
    }

    /// Whether this address belongs to the node as a sender.
    fn sends_from(&mut self, node: NodeId, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => address == node.ipv4(),
            // The unspecified address belongs to everyone.
            IpAddr::V6(address) if address.is_unspecified() => false,
            IpAddr::V6(address) => *self.senders.entry(address).or_insert(node) == node,
        }
    }

    /// Whether a packet to this address ends at this node. One for several nodes ends where it arrives first.
    fn ends_at(&self, node: NodeId, address: IpAddr, first: bool) -> bool {
        match address {
            IpAddr::V4(address) if nodes::is_group(address) => first,
            IpAddr::V6(address) if address.is_multicast() => first,
            IpAddr::V4(address) => address == node.ipv4(),
            IpAddr::V6(address) => self.senders.get(&address) == Some(&node),
        }
    }

    /// The name of the node with this address, or the address.
    pub fn name_of(&self, address: IpAddr) -> String {
        let number = match address {
            IpAddr::V4(address) => return self.name(address),
            IpAddr::V6(address) => self.senders.get(&address).and_then(|&node| self.number(node)),
        };
        number.map_or_else(|| address.to_string(), |number| self.emulation.state().members[number].name.clone())
    }

    /// The name of the node with this address, or the address.
    pub fn name(&self, address: Ipv4Addr) -> String {
        let number = NodeId::from_ipv4(address).and_then(|node| self.number(node));
        number.map_or_else(|| address.to_string(), |number| self.emulation.state().members[number].name.clone())
    }

    pub(crate) fn run(mut self, stop: &Stop, watch: &mut dyn FnMut(&Running)) -> Result<Report, EmulationError> {
        let server = match self.emulation.options.metrics {
            Some(addr) => Some(Server::start(addr).tried(|| format!("cannot serve metrics at {addr}"))?),
            None => None,
        };
        for (number, device) in self.emulation.nodes.devices().iter().enumerate() {
            self.emulation.poller.add(device, number as u32)?;
        }
        if let Some(radio) = &self.emulation.radio {
            self.emulation.poller.add(radio, RADIO)?;
        }
        self.emulation.poller.add(&self.emulation.changes, CHANGES)?;
        if let Some(reader) = &stop.reader {
            self.emulation.poller.add(reader, READER)?;
        }
        let mut child = self.start_command(&stop.command)?;
        // Last, so that threads and programs started before have normal priority.
        let _awake = priority::awake();
        match priority::on_time() {
            Ok(()) => self.real_time = true,
            Err(error) => self.warnings.push(format!("{error}: other programs can make packets late")),
        }
        self.clock = Clock::start();
        let before = Reading::now();
        self.end = stop.after.map_or(Time::NEVER, |after| Time::ZERO + after);
        let ended = self.pass_time(&mut child, watch, server.as_ref())?;
        self.write_all();
        let machine = Reading::now().since(&before);
        let exit_status = child.and_then(|mut child| child::end(&mut child));
        if let Err(error) = self.emulation.world.finish_trace() {
            self.warnings.push(format!("captures or the trace are incomplete: {error}"));
        }
        let report = self.report(ended, machine, exit_status);
        // Programs in the nodes are ended first, which takes a moment: the report does not wait for what they would
        // send.
        self.emulation.nodes.remove()?;
        Ok(report)
    }

    fn start_command(&self, words: &[String]) -> Result<Option<Child>, EmulationError> {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(arguments).env(MEANT, &self.emulation.state().id);
        let started = priority::with_signals(&mut command).spawn();
        Ok(Some(started.tried(|| format!("cannot start {program}"))?))
    }

    /// The loop.
    fn pass_time(
        &mut self,
        child: &mut Option<Child>,
        watch: &mut dyn FnMut(&Running),
        server: Option<&Server>,
    ) -> Result<Ending, EmulationError> {
        let mut ready = Vec::new();
        let mut watched = Time::ZERO + WATCHED;
        loop {
            let now = self.clock.now();
            self.advance(now);
            if self.now().min(now) >= self.end {
                return Ok(Ending::Time);
            }
            if now >= watched {
                self.emulation.world.touch_trace();
                watch(self);
                if let Some(server) = server {
                    server.publish(self.page());
                }
                watched = now + WATCHED;
            }
            ready.clear();
            // If something is due, only check the devices without waiting.
            let due = self.next_due(now);
            match due <= now {
                true => self.emulation.poller.look(&mut ready)?,
                false => {
                    let at = due.min(watched).min(now + BEAT).min(self.end);
                    self.wait(at, &mut ready)?;
                    let awake = self.clock.now();
                    if awake > at {
                        self.spent.record(at, awake);
                    }
                    self.behind_max = self.behind_max.max(awake.saturating_since(at));
                    self.advance(awake);
                }
            }
            for &event in &ready {
                match event {
                    Ready::Readable(RADIO) => self.emulation.radio.iter_mut().for_each(Radio::welcome),
                    Ready::Readable(CHANGES) => self.change(),
                    Ready::Readable(READER) => return Ok(Ending::Reader),
                    Ready::Readable(number) => self.take(number as usize),
                    Ready::Signal(Signal::SIGCHLD) => {
                        if let Some(Ok(Some(_))) = child.as_mut().map(Child::try_wait) {
                            return Ok(Ending::Command);
                        }
                    }
                    Ready::Signal(_) => return Ok(Ending::Signal),
                }
            }
            if !self.alive.contains(&true) {
                return Ok(Ending::Devices);
            }
        }
    }

    /// Waits until `at` or the first event: asleep, but busy-waiting at the end if packets are due.
    fn wait(&mut self, at: Time, ready: &mut Vec<Ready>) -> Result<(), EmulationError> {
        let spin = if self.outgoing.next_due() == Some(at) { self.emulation.spin } else { Dur::ZERO };
        let asleep = Time::ZERO + at.saturating_since(Time::ZERO + spin);
        if asleep > self.clock.now() {
            self.emulation.poller.wait(&self.clock, asleep, ready)?;
        }
        while ready.is_empty() && self.clock.now() < at {
            self.emulation.poller.look(ready)?;
        }
        Ok(())
    }

    /// When the loop next has to hand packets over or start on an event.
    fn next_due(&mut self, now: Time) -> Time {
        let leaves = Time::or_never(self.outgoing.next_due());
        if self.is_close(leaves, now) {
            return leaves;
        }
        let Emulation { ahead, tick, .. } = self.emulation;
        let event = Time::or_never(self.next_event());
        // Events within a tick are handled together.
        leaves.min(if event <= now + ahead {
            now
        } else {
            (now + tick).max(now + (event.saturating_since(now + ahead)))
        })
    }

    /// Whether packets are due so soon that no event may be handled early, because computing it would make them late.
    fn is_close(&self, leaves: Time, now: Time) -> bool {
        leaves <= now + self.emulation.ahead / 2
    }

    /// When the next event happens, on the air or on a wire.
    fn next_event(&mut self) -> Option<Time> {
        let hosts = self.emulation.hosted.iter().filter_map(Hosted::next_timeout).min();
        let world = Time::earlier_of(self.emulation.world.next_event(), hosts);
        Time::earlier_of(world, self.emulation.wires.next_event())
    }

    /// Brings the world up to `now`, and handles events up to `ahead` beyond it, or as many as possible before devices
    /// have to be checked. Packets are handed over when they are due.
    fn advance(&mut self, now: Time) {
        let latest = Time::earlier_of(self.next_event(), self.outgoing.next_due());
        self.behind_max = self.behind_max.max(latest.map_or(Dur::ZERO, |at| now.saturating_since(at)));
        self.write();
        let (now, horizon) = (now.min(self.end), (now + self.emulation.ahead).min(self.end));
        let begun = self.clock.now();
        let mut steps = 0_u32;
        while let Some(at) = self.next_event().filter(|&at| at <= horizon) {
            if at > now && self.outgoing.next_due().is_some_and(|leaves| self.is_close(leaves, self.clock.now())) {
                break;
            }
            self.emulation.world.run_until(at, &self.control);
            self.hand_over();
            self.hand_over_wired(at);
            self.wake_hosts(at);
            self.write();
            steps += 1;
            if steps.is_multiple_of(64) && self.clock.now() > begun + LONGEST {
                return;
            }
        }
        if now > self.now() {
            self.emulation.world.run_until(now, &self.control);
        }
    }

    /// A device is gone because somebody removed it or its namespace. The others continue.
    fn give_up(&mut self, number: usize, error: &std::io::Error) {
        self.emulation.poller.remove(&self.emulation.nodes.devices()[number]);
        self.alive[number] = false;
        let (what, member) = match self.emulation.nodes.wire_end(number) {
            Some(end) => ("a wire", self.emulation.nodes.wire(end)),
            None => ("the device", number),
        };
        let name = &self.emulation.state().members[member].name;
        self.warnings.push(format!("{what} of {name} is gone: {error}"));
    }

    /// The number of a member in the world.
    fn node(&self, member: usize) -> NodeId {
        self.emulation.state().members[member].node
    }

    /// The index of a node among the members: radios come first.
    fn number(&self, node: NodeId) -> Option<usize> {
        let count = self.emulation.state().members.len();
        let radios = self.emulation.world.nodes().len();
        let number = node.wired_number().map_or(node.index(), |host| radios + host);
        (number < count).then_some(number)
    }
}

fn with_head(bytes: &[u8]) -> Option<(&[u8], IpHead)> {
    Some((bytes, IpHead::read(bytes)?))
}
