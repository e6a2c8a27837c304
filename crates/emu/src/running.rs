//! A running emulation: the loop, and what it counts.

mod change;
mod child;
mod enter;
mod summary;

use crate::EmulationError;
use crate::carry::{Carry, Mode, Refused};
use crate::emulation::{Emulation, Options, Stop};
use crate::flows::Flows;
use crate::hosted::Hosted;
use crate::icmp::{self, Allowance};
use crate::nodes;
use crate::program::MEANT;
use crate::radio::Radio;
use crate::report::{Packets, Report};
use crate::segments::join::Join;
use crate::underway::Underway;
use fourhop_live::clock::Clock;
use fourhop_live::device::{Form, SegmentDevice};
use fourhop_live::host::Reading;
use fourhop_live::lateness::Lateness;
use fourhop_live::metrics::Server;
use fourhop_live::poll::Ready;
use fourhop_live::{Tried, priority};
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::wire::bytes::IpHead;
use fourhop_proto::wire::{Ipv4Packet, encode};
use fourhop_sim::batch::Control;
use fourhop_units::{Dbm, Dur, NodeId, Time, Watt};
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command};

/// How often the watcher is called and metrics are published.
const WATCHED: Dur = Dur::from_secs(1);
/// After so many packets of one device it is another's turn.
const TURN: usize = 32;
/// After so many packets, the world is brought up to the present instant: more would make events late.
const PAUSE: usize = 8;
/// The loop looks at its devices at least this often, however far the world is behind the clock.
const LONGEST: Dur = Dur::from_millis(5);
/// The loop wakes at least this often, to see whether it can: nothing else tells that packets wait at devices while the
/// machine does something else.
const BEAT: Dur = Dur::from_millis(10);
/// The number of the radio's socket among what can be read: no device has it.
const RADIO: u32 = u32::MAX;
/// The socket of changes.
const CHANGES: u32 = u32::MAX - 1;
/// More than any device carries, whatever MTU somebody gives it: the largest packet and an Ethernet header.
const BUFFER: usize = (1 << 16) + 14;

/// Reason for the end of an emulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Time,
    Command,
    Signal,
    Devices,
}

impl Ending {
    const fn name(self) -> &'static str {
        match self {
            Ending::Time => "its time",
            Ending::Command => "its command",
            Ending::Signal => "a signal",
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
    /// How late it was when it began with due events: waking up, and what it did before.
    began: Lateness,
    /// How long the kernels took to take what has arrived at one instant.
    taking: Lateness,
    /// The longest lateness at each node.
    late_at: Vec<Dur>,
    /// How late an event of the world was handled, or the loop woke, at most.
    behind_max: Dur,
    packets: Packets,
    underway: Underway,
    /// Packets of hosts that the network has lost.
    lost_packets: BTreeMap<DropReason, u64>,
    /// Whose an address of IPv6 is: the node that first sent from it, since nobody can forward what has not been sent.
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
    /// Reused.
    delivered: Vec<(NodeId, Ipv4Packet)>,
    powers: Vec<Watt>,
    wired: Vec<(usize, Ipv4Packet)>,
    lost: Vec<(NodeId, Ipv4Packet, DropReason)>,
    bytes: Vec<u8>,
    /// Packets for devices at this instant.
    join: Join,
    /// Bytes from a device, and a segment of them, reused.
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
            began: Lateness::default(),
            taking: Lateness::default(),
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
            bytes: Vec::new(),
            join: Join::default(),
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

    /// How late packets were.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The flows of programs.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Packets at the devices, with what the network has lost.
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
            // Nobody hands these back.
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
            // no packets; what the MAC gives up comes back to routing, which counts what it cannot save.
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

    /// Packets have reached a node, which its kernel has taken or not; so many of them are the first of their copies.
    fn count_delivered(&mut self, packets: u64, firsts: u64, taken: bool) {
        if taken {
            self.packets.delivered += packets;
            self.packets.copies += packets - firsts;
        } else {
            self.packets.undelivered += firsts;
        }
    }

    /// The network has lost a packet. Of one that has arrived as well, nothing is lost but the word of it.
    fn count_lost(&mut self, packet: &Ipv4Packet, reason: DropReason) {
        if self.underway.leave(packet) {
            *self.lost_packets.entry(reason).or_default() += 1;
        }
    }

    /// Does this node send from this address itself?
    fn sends_from(&mut self, node: NodeId, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => address == node.ipv4(),
            // The unspecified one is everybody's.
            IpAddr::V6(address) if address.is_unspecified() => false,
            IpAddr::V6(address) => *self.senders.entry(address).or_insert(node) == node,
        }
    }

    /// Is a packet to this address at its end at this node? One for several is where it arrives first.
    fn ends_at(&self, node: NodeId, address: IpAddr, first: bool) -> bool {
        match address {
            IpAddr::V4(address) if nodes::is_group(address) => first,
            IpAddr::V6(address) if address.is_multicast() => first,
            IpAddr::V4(address) => address == node.ipv4(),
            IpAddr::V6(address) => self.senders.get(&address) == Some(&node),
        }
    }

    /// Name of the node that has this address, or the address.
    pub fn name_of(&self, address: IpAddr) -> String {
        let number = match address {
            IpAddr::V4(address) => return self.name(address),
            IpAddr::V6(address) => self.senders.get(&address).and_then(|&node| self.number(node)),
        };
        number.map_or_else(|| address.to_string(), |number| self.emulation.state().members[number].name.clone())
    }

    /// Name of the node that has this address, or the address.
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
        let mut child = self.start_command(&stop.command)?;
        // Last, so that threads and programs started before have the usual priority.
        let _awake = priority::awake();
        match priority::on_time() {
            Ok(()) => self.real_time = true,
            Err(error) => self.warnings.push(format!("{error}: other programs can make packets late")),
        }
        self.clock = Clock::start();
        let before = Reading::now();
        self.end = stop.after.map_or(Time::NEVER, |after| Time::ZERO + after);
        let ended = self.pass_time(&mut child, watch, server.as_ref())?;
        let machine = Reading::now().since(&before);
        let exit_status = child.and_then(|mut child| child::end(&mut child));
        if let Err(error) = self.emulation.world.finish_trace() {
            self.warnings.push(format!("captures or the trace are not whole: {error}"));
        }
        let report = self.report(ended, machine, exit_status);
        // Programs in the nodes go first, which takes a moment: the report does not wait for what they would send.
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
            if self.now() >= self.end {
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
            // Do not wait for events that are due, but look at the devices.
            let due = self.next_event().unwrap_or(Time::NEVER);
            match due <= now {
                true => self.emulation.poller.look(&mut ready)?,
                false => {
                    let at = due.max(now + self.emulation.tick).min(watched).min(now + BEAT).min(self.end);
                    self.wait(at, &mut ready)?;
                    let awake = self.clock.now();
                    self.behind_max = self.behind_max.max(awake.saturating_since(at));
                    self.advance(awake);
                }
            }
            for &event in &ready {
                match event {
                    Ready::Readable(RADIO) => self.emulation.radio.iter_mut().for_each(Radio::welcome),
                    Ready::Readable(CHANGES) => self.change(),
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

    /// Waits until `at` or the first event: asleep, at the end awake.
    fn wait(&mut self, at: Time, ready: &mut Vec<Ready>) -> Result<(), EmulationError> {
        let Options { spin, .. } = self.emulation.options;
        let asleep = Time::ZERO + at.saturating_since(Time::ZERO + spin);
        if asleep > self.clock.now() {
            self.emulation.poller.wait(&self.clock, asleep, ready)?;
        }
        while ready.is_empty() && self.clock.now() < at {
            self.emulation.poller.look(ready)?;
        }
        Ok(())
    }

    /// When something happens next, on the air or on a wire.
    fn next_event(&mut self) -> Option<Time> {
        let hosts = self.emulation.hosted.iter().filter_map(Hosted::next_timeout).min();
        let world = Time::earlier_of(self.emulation.world.next_event(), hosts);
        Time::earlier_of(world, self.emulation.wires.next_event())
    }

    /// Brings the world up to `now`, or as far as it comes before devices have to be looked at. Packets are handed over
    /// where they fall due, each with its lateness.
    fn advance(&mut self, now: Time) {
        let end = now.min(self.end);
        let begun = self.clock.now();
        let mut steps = 0_u32;
        if let Some(at) = self.next_event() {
            self.behind_max = self.behind_max.max(begun.saturating_since(at));
            if at <= end {
                self.began.record(begun.saturating_since(at));
            }
        }
        while let Some(at) = self.next_event().filter(|&at| at <= end) {
            self.emulation.world.run_until(at, &self.control);
            self.hand_over();
            self.hand_over_wired(at);
            self.wake_hosts(at);
            steps += 1;
            if steps.is_multiple_of(64) && self.clock.now() > begun + LONGEST {
                return;
            }
        }
        if end > self.now() {
            self.emulation.world.run_until(end, &self.control);
        }
    }

    /// Delivers packets to the kernels of their nodes, and answers lost ones.
    fn hand_over(&mut self) {
        let mut delivered = std::mem::take(&mut self.delivered);
        let mut lost = std::mem::take(&mut self.lost);
        let mut powers = std::mem::take(&mut self.powers);
        powers.extend(self.emulation.world.delivered_powers());
        delivered.extend(self.emulation.world.drain_delivered());
        lost.extend(self.emulation.world.drain_lost());
        for ((node, packet), power) in delivered.drain(..).zip(powers.drain(..)) {
            if self.is_hosted(node) {
                self.hand_to_host(node, &packet, power.to_dbm());
                continue;
            }
            if let (Some(radio), Some(from)) = (&mut self.emulation.radio, NodeId::from_ipv4(packet.src)) {
                radio.heard(node, from, power.to_dbm());
            }
            self.deliver(node, &packet);
        }
        self.write();
        for (node, packet, reason) in lost.drain(..) {
            self.count_lost(&packet, reason);
            self.answer(node, &packet, reason);
        }
        (self.delivered, self.powers, self.lost) = (delivered, powers, lost);
    }

    fn is_hosted(&self, node: NodeId) -> bool {
        self.emulation.hosted.iter().any(|host| host.node() == node)
    }

    /// Hands a packet to the simulator's routing, as the frame that a device would have got.
    fn hand_to_host(&mut self, node: NodeId, packet: &Ipv4Packet, strength: Dbm) {
        let (now, mut frame, mut frames) = (self.now(), Vec::new(), Vec::new());
        if self.emulation.carry.leave(now, node, packet, &mut frame)
            && let Some(host) = self.emulation.hosted.iter_mut().find(|host| host.node() == node)
        {
            host.handle_frame(now, &frame, strength, &mut frames);
        }
        let first = self.underway.leave(packet);
        self.count_delivered(1, first.into(), true);
        self.send_of_host(node, frames);
    }

    /// Lets hosts do what is due.
    fn wake_hosts(&mut self, now: Time) {
        for n in 0..self.emulation.hosted.len() {
            let host = &mut self.emulation.hosted[n];
            if host.next_timeout().is_some_and(|at| at <= now) {
                let mut frames = Vec::new();
                host.handle_timeout(now, &mut frames);
                let node = host.node();
                self.send_of_host(node, frames);
            }
        }
    }

    fn send_of_host(&mut self, node: NodeId, frames: Vec<Vec<u8>>) {
        for frame in frames {
            self.enter_frame(node, &frame);
        }
    }

    /// Hands to the kernels what has come out of wires.
    fn hand_over_wired(&mut self, now: Time) {
        let mut wired = std::mem::take(&mut self.wired);
        self.emulation.wires.leave(now, &mut wired);
        for (end, packet) in wired.drain(..) {
            let late = self.clock.now().saturating_since(now);
            self.lateness.record(late);
            let number = self.emulation.nodes.wire(end);
            self.late_at[number] = self.late_at[number].max(late);
            self.bytes.clear();
            encode::packet(&packet, &mut self.bytes);
            let device = self.emulation.nodes.wire_device(end);
            let taken = take(&self.clock, &mut self.taking, device, Form::Whole, &self.bytes);
            let first = self.underway.leave(&packet);
            self.count_delivered(1, first.into(), taken);
            if let Some((bytes, head)) = with_head(&self.bytes)
                && head.dst == self.emulation.state().members[number].address
            {
                self.flows.arrived(now, bytes, &head);
            }
        }
        self.wired = wired;
    }

    /// A packet for a device, to which it is written with what else arrives at this instant.
    fn deliver(&mut self, node: NodeId, packet: &Ipv4Packet) {
        let Some(number) = self.number(node) else { return };
        let now = self.emulation.world.now();
        let mut bytes = self.join.memory();
        let first = self.underway.leave(packet);
        if !self.emulation.carry.leave(now, node, packet, &mut bytes) {
            // Its earlier state is lost.
            self.count_delivered(1, first.into(), false);
            return self.join.keep(bytes);
        }
        let head = self.emulation.carry.ip(&bytes).and_then(with_head);
        if let Some((ip, head)) = &head
            && self.ends_at(node, head.dst, first)
        {
            self.flows.arrived(now, ip, head);
        }
        let (head, link) = (head.map(|(_, head)| head), self.emulation.carry.header());
        self.join.push(number, bytes, link, head.as_ref(), self.emulation.options.gro, first);
    }

    /// Hands the kernels what has arrived at this instant. Packets that are joined are equally late.
    fn write(&mut self) {
        let mut join = std::mem::take(&mut self.join);
        join.flush(|joined| {
            let late = self.clock.now().saturating_since(self.now());
            (0..joined.packets).for_each(|_| self.lateness.record(late));
            self.late_at[joined.device] = self.late_at[joined.device].max(late);
            let device = &self.emulation.nodes.devices()[joined.device];
            let (form, bytes) = joined.finish();
            let taken = take(&self.clock, &mut self.taking, device, form, bytes);
            self.count_delivered(joined.packets, joined.firsts, taken);
        });
        self.join = join;
    }

    /// The node at which a packet was lost tells the sender, as far as a router may.
    fn answer(&mut self, node: NodeId, packet: &Ipv4Packet, reason: DropReason) {
        let Some(number) = self.number(node) else { return };
        // Between kernels that route, the network below loses frames, and says nothing of it.
        let routed = self.emulation.mode == Mode::Routed;
        let now = self.now();
        // A full queue is no broken link.
        let broken = reason.layer() != Layer::Link || reason == DropReason::ArpUnresolved;
        if let Some(host) = self.emulation.hosted.iter_mut().find(|host| broken && host.node() == node) {
            let mut frames = Vec::new();
            host.handle_failure(now, packet.dst, &mut frames);
            self.send_of_host(node, frames);
        }
        if let (Some(radio), Some(to)) = (&mut self.emulation.radio, NodeId::from_ipv4(packet.dst).filter(|_| broken)) {
            radio.failed(node, to);
        }
        let now = self.now();
        let address = node.ipv4();
        if !routed || !self.allowances[number].take(now) {
            return;
        }
        let Some(bytes) = icmp::message(address, packet, reason) else { return };
        self.packets.icmp_errors += 1;
        if packet.src == address {
            // The sender is here: its own kernel gets the error.
            self.packets.undelivered +=
                u64::from(self.emulation.nodes.devices()[number].deliver(Form::Whole, &bytes).is_err());
        } else if let Ok(mut message) = Ipv4Packet::from_bytes(&bytes) {
            self.packets.from_routers += 1;
            self.underway.enter(now, &mut message);
            self.emulation.world.inject(node, message);
        }
    }

    /// A device is gone: somebody has removed it, or its namespace. The others go on.
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

    /// Number in the world of a member.
    fn node(&self, member: usize) -> NodeId {
        self.emulation.state().members[member].node
    }

    /// Place of a node among the members: radios come first.
    fn number(&self, node: NodeId) -> Option<usize> {
        let count = self.emulation.state().members.len();
        let radios = self.emulation.world.nodes().len();
        let number = node.wired_number().map_or(node.index(), |host| radios + host);
        (number < count).then_some(number)
    }
}

/// Hands bytes to a kernel and records how long it takes; is its device up?
fn take(clock: &Clock, taking: &mut Lateness, device: &SegmentDevice, form: Form, bytes: &[u8]) -> bool {
    let given = clock.now();
    let taken = device.deliver(form, bytes).is_ok();
    taking.record(clock.now().saturating_since(given));
    taken
}

fn with_head(bytes: &[u8]) -> Option<(&[u8], IpHead)> {
    Some((bytes, IpHead::read(bytes)?))
}
