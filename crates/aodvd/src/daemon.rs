//! The daemon: sockets, kernel, signals and the clock in one loop around the [engine](crate::engine).

use crate::authentication::Keys;
use crate::config::{Config, System};
use crate::engine::{Arrival, Engine, Task};
use crate::kept::Kept;
use crate::kernel::{self, Kernel};
use crate::port::Port;
use crate::report::{Counters, Report};
use crate::signal::Signals;
use crate::signal::emulator::written;
use crate::traffic::{Mac, Traffic};
use crate::{Error, prometheus};
use fourhop_live::clock::Clock;
use fourhop_live::instance::Instance;
use fourhop_live::netlink::look::{self, Device};
use fourhop_live::netlink::watch::{Event, Watch};
use fourhop_live::poll::{Poller, Ready};
use fourhop_live::privileges::{self, Capability};
use fourhop_live::screen::{self, note};
use fourhop_live::service::Manager;
use fourhop_live::{control, metrics, namespace};
use fourhop_proto::drop::DropReason;
use fourhop_proto::wire::{Ipv4Packet, encode};
use fourhop_units::{Dur, NodeId, Purpose, Stream, Time};
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

/// Ids in the poller: interfaces from 0, their traffic from here.
const TRAFFIC: u32 = 1_000;
const CAUGHT: u32 = 2_000;
const WATCH: u32 = 2_001;
const SIGNALS: u32 = 2_002;

/// Interval at which the state is published.
const TICK: Dur = Dur::from_secs(1);
/// Shorter interval after a change of routes.
const SOON: Dur = Dur::from_millis(100);
/// Datagrams or packets read from one source before the next has its turn.
const TURN: usize = 64;
/// More than the longest AODV datagram or IPv4 packet.
const BUFFER: usize = 1 << 16;
/// Interval between checks that the kernel still has the routes: without a notification, as when a device goes down,
/// and after one that some were removed. Usually many are removed together.
const LOOK: Dur = Dur::from_secs(10);
const LOOK_SOON: Dur = Dur::from_millis(200);

/// Name of the service: one process per network namespace has it.
pub const SERVICE: &str = "fourhop-aodvd";

/// A running daemon.
struct Daemon {
    engine: Engine,
    ports: Vec<Port>,
    kernel: Kernel,
    traffic: Traffic,
    signals: Signals,
    watch: Watch,
    poller: Poller,
    clock: Clock,
    kept: Kept,
    counters: Counters,
    /// Whether routes have changed since the state was published.
    changed: bool,
    /// Interfaces that are down or gone.
    problems: Vec<String>,
    /// Time of the next check for missing routes.
    look: Time,
    /// Why its numbers could not be written, and when it tries again.
    unwritten: Option<String>,
    write: Time,
    /// Reused buffers.
    tasks: Vec<Task>,
    buffer: Vec<u8>,
    bytes: Vec<u8>,
}

/// The time in microseconds since 1970.
fn wall() -> u64 {
    // INVARIANT: Linux has this clock.
    let now = clock_gettime(ClockId::CLOCK_REALTIME).expect("Linux has a clock of the day");
    u64::try_from(now.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(now.tv_nsec()).unwrap_or(0) / 1_000
}

/// Nodes switched on together must not transmit together.
fn jitter(address: Ipv4Addr) -> Stream {
    Stream::new(wall() ^ u64::from(std::process::id()) << 40, NodeId(address.to_bits()), Purpose::RoutingJitter)
}

/// Interval between two publications of the state. Each also shows the service manager that the daemon is alive, well
/// within the silence that it allows.
fn tick(watchdog: Option<Duration>) -> Dur {
    watchdog
        .map_or(TICK, |silence| TICK.min(Dur::from_nanos(u64::try_from(silence.as_nanos() / 3).unwrap_or(u64::MAX))))
}

/// Creates the folder of a file and gives it to the user, unless it exists: an existing one belongs to somebody.
fn prepare(file: &Path, user: &str) -> Result<(), Error> {
    match file.parent() {
        Some(folder) if !folder.exists() => Ok(privileges::folder(folder, user)?),
        _ => Ok(()),
    }
}

/// Makes this process the only daemon of this network namespace.
fn only(system: &System) -> Result<Instance, Error> {
    Ok(Instance::take(SERVICE, &system.user, system.control.parent().unwrap_or(Path::new("/")))?)
}

/// Cleans up after a killed daemon; returns the number of routes and rules, and of variables.
///
/// # Errors
/// If a daemon is running, or the kernel refuses something.
pub fn clean(config: &Config) -> Result<(usize, usize), Error> {
    let system = &config.system;
    // Nothing is removed while a daemon runs in this network namespace.
    let _only = only(system)?;
    let left = kernel::clean(system.owner())?;
    if !system.state.exists() {
        return Ok((left, 0));
    }
    let mut kept = Kept::read(&system.state)?;
    let variables = kept.take_variables();
    kernel::restore(&variables);
    kept.save()?;
    Ok((left, variables.len()))
}

/// Runs until a signal ends it, and cleans up.
///
/// # Errors
/// If something it needs is missing, or disappears.
pub fn run(config: Config) -> Result<(), Error> {
    let system = config.system.clone();
    if control::ask(&system.control).is_ok() {
        let path = system.control.display();
        return Err(Error::Refused(format!(
            "system.control: found {path}, but another daemon listens there; stop it, or choose another path"
        )));
    }
    // Before anything is cleaned up: existing entries may belong to a running daemon.
    let _only = only(&system)?;
    // From here on a signal ends the loop rather than the process, so that everything is cleaned up.
    let poller = Poller::new()?;
    prepare(&system.control, &system.user)?;
    prepare(&system.state, &system.user)?;
    let mut kept = Kept::read(&system.state)?;
    let (left, variables) = (kernel::clean(system.owner())?, kept.take_variables());
    kernel::restore(&variables);
    if left + variables.len() > 0 {
        let variables = variables.len();
        note(format_args!("a daemon was killed: removed its {left} routes and rules, restored {variables} variables"));
    }
    let keys = config.authentication.as_ref().map(Keys::read).transpose();
    let keys = keys.map_err(|what| Error::Refused(format!("authentication.keys: {what}")))?;
    let ports = config.interfaces.iter().map(|name| Port::open(name)).collect::<Result<Vec<_>, _>>()?;
    let devices: Vec<u32> = ports.iter().map(|port| port.device).collect();
    let signals = Signals::start(&config, &devices)?;
    let watch = Watch::start()?;
    let kernel = Kernel::start(&config, &ports)?;
    let traffic = Traffic::start(&ports, 4 * config.limits.limits().neighbours, &poller, TRAFFIC)?;
    let (address, numbers) = (config.address, kept.numbers(config.address));
    let clock = Clock::start();
    let engine = Engine::new(config, keys, numbers, jitter(address));
    let (tasks, buffer, bytes) = (Vec::new(), vec![0; BUFFER], Vec::new());
    let counters = Counters::default();
    let mut daemon = Daemon {
        engine,
        ports,
        kernel,
        traffic,
        signals,
        watch,
        poller,
        clock,
        kept,
        counters,
        changed: false,
        problems: Vec::new(),
        look: Time::ZERO + LOOK,
        unwritten: None,
        write: Time::ZERO,
        tasks,
        buffer,
        bytes,
    };
    let done = daemon.serve();
    let ended = daemon.end();
    done.and(ended)
}

impl Daemon {
    /// The main loop.
    fn serve(&mut self) -> Result<(), Error> {
        let system = self.engine.config().system.clone();
        self.prepare_kernel()?;
        for (number, port) in (0..).zip(&self.ports) {
            self.poller.add(port, number)?;
        }
        self.poller.add(&self.kernel.caught, CAUGHT)?;
        self.poller.add(&self.watch, WATCH)?;
        if let Some(source) = self.signals.source() {
            self.poller.add(source, SIGNALS)?;
        }
        // Everything is open: only routes follow, for which this capability suffices.
        privileges::drop_to(&system.user, &[Capability::NetAdmin])?;
        let control = control::Server::start(&system.control)?;
        let server = system.metrics.map(metrics::Server::start).transpose();
        let server = server.map_err(|error| {
            Error::Refused(format!("system.metrics: found {:?}, but cannot listen there: {error}", system.metrics))
        })?;
        let manager = Manager::find();
        let tick = tick(manager.watchdog());
        let publish = |daemon: &mut Daemon, now| {
            let report = daemon.report(now);
            if let Some(server) = &server {
                server.publish(prometheus::page(&report));
            }
            // INVARIANT: it contains text, numbers, and maps with text keys.
            control.publish(serde_json::to_string(&report).expect("it has a form in JSON"));
        };
        self.look_at_devices()?;
        publish(self, self.clock.now());
        let (address, interfaces) = (self.engine.config().address, self.engine.config().interfaces.join(" "));
        let _ = screen::line(format_args!("routing for {address} over {interfaces}"));
        if self.engine.is_quiet(self.clock.now()) {
            let wait = self.engine.aodv().config().delete_period().as_secs_f64();
            let _ = screen::line(format_args!(
                "silent for {wait} s: without the previous sequence numbers, other nodes could take old routes for \
                    new ones (RFC 3561 section 6.13; routing.reboot_wait = false skips this)"
            ));
        }
        manager.ready(&format!("routing for {address} over {interfaces}"));
        let (mut ready, mut ticked) = (Vec::new(), self.clock.now());
        loop {
            let now = self.clock.now();
            self.do_what_is_due(now)?;
            if std::mem::take(&mut self.changed) {
                ticked = ticked.min(now + SOON);
            }
            if now >= ticked {
                ticked = now + tick;
                publish(self, now);
                manager.alive();
            }
            self.keep(now);
            ready.clear();
            self.poller.wait(&self.clock, ticked.min(self.next_timeout()), &mut ready)?;
            if self.take(&ready)? {
                manager.stopping();
                return Ok(());
            }
        }
    }

    fn do_what_is_due(&mut self, now: Time) -> Result<(), Error> {
        if self.engine.next_timeout().is_some_and(|at| at <= now) {
            self.engine.handle_timeout(now, wall(), &mut self.tasks);
            self.perform();
        }
        if self.traffic.next_timeout().is_some_and(|at| at <= now) {
            self.look(now, false)?;
        }
        if self.signals.next_timeout().is_some_and(|at| at <= now) {
            self.read_signals(now)?;
        }
        if self.look <= now {
            self.restore_routes(now);
        }
        Ok(())
    }

    /// The next timeout.
    fn next_timeout(&self) -> Time {
        let timeouts = [self.engine.next_timeout(), self.traffic.next_timeout(), self.signals.next_timeout()];
        timeouts.into_iter().flatten().fold(self.look, Time::min)
    }

    /// Writes numbers and variables to the file before anything is sent or set.
    fn prepare_kernel(&mut self) -> Result<(), Error> {
        let config = self.engine.config();
        let changes = if config.system.variables { kernel::changes(config) } else { Vec::new() };
        self.kept.set_variables(changes.iter().map(|(variable, _)| variable.clone()).collect());
        self.kept.write_ahead(config.address, self.engine.numbers())?;
        for (variable, value) in &changes {
            namespace::set_variable(&variable.name, value)?;
        }
        Ok(())
    }

    /// A full disk does not stop routing.
    fn keep(&mut self, now: Time) {
        if now < self.write {
            return;
        }
        let kept = self.kept.keep_ahead(self.engine.config().address, self.engine.numbers());
        self.unwritten = kept.err().map(|error| format!("cannot write the numbers that a restart needs: {error}"));
        if let Some(words) = &self.unwritten {
            self.write = now + TICK;
            self.counters.unwritten += 1;
            if self.counters.unwritten.is_power_of_two() {
                note(format_args!("warning: {words} ({} so far)", self.counters.unwritten));
            }
        }
    }

    /// Cleans up.
    fn end(mut self) -> Result<(), Error> {
        let owner = self.engine.config().system.owner();
        let cleaned = kernel::clean(owner);
        kernel::restore(&self.kept.take_variables());
        let kept = self.kept.write(self.engine.config().address, self.engine.numbers());
        cleaned.map(drop).and(kept)
    }

    /// Handles readable sources and signals. Returns true if the daemon is to end.
    fn take(&mut self, ready: &[Ready]) -> Result<bool, Error> {
        let now = self.clock.now();
        let readable = |number| ready.contains(&Ready::Readable(number));
        // A message's strength is known before the message.
        if readable(SIGNALS) {
            self.read_signals(now)?;
        }
        if readable(WATCH) {
            self.hear_kernel(now)?;
        }
        for event in ready {
            match *event {
                Ready::Signal(Signal::SIGINT | Signal::SIGTERM) => return Ok(true),
                Ready::Signal(Signal::SIGHUP) => {
                    note(format_args!("SIGHUP ignored: to use another configuration, restart fourhop-aodvd"));
                }
                Ready::Readable(number) if (number as usize) < self.ports.len() => self.receive(number as usize)?,
                Ready::Readable(CAUGHT) => self.catch(),
                Ready::Readable(number) if (TRAFFIC..CAUGHT).contains(&number) => {
                    self.traffic.passed(now, (number - TRAFFIC) as usize, &self.poller);
                }
                Ready::Readable(_) | Ready::Signal(_) => {}
            }
        }
        Ok(false)
    }

    /// Handles datagrams of an interface.
    fn receive(&mut self, interface: usize) -> Result<(), Error> {
        if self.signals.source().is_some() || self.signals.next_timeout().is_some() {
            // First map MAC addresses to nodes, from the datagrams that wait.
            self.look(self.clock.now(), true)?;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..TURN {
            let Some(got) = self.ports[interface].receive(&mut buffer) else { break };
            let strength = self.traffic.mac(got.from).and_then(|mac| self.signals.strength(mac));
            let arrival = Arrival { interface, from: got.from, to: got.to, ttl: got.ttl, strength };
            let now = self.clock.now();
            // Refusals are counted.
            let _ = self.engine.handle_datagram(now, wall(), arrival, &buffer[..got.len], &mut self.tasks);
            self.perform();
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Handles packets for which the kernel has no route.
    fn catch(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..TURN {
            let Ok(Some(len)) = self.kernel.caught.receive(&mut buffer) else { break };
            let Ok(packet) = Ipv4Packet::from_bytes(&buffer[..len]) else { continue };
            self.counters.caught += 1;
            let own = packet.src == self.engine.config().address || kernel::is_local(packet.src);
            self.engine.handle_caught(self.clock.now(), wall(), packet, own, &mut self.tasks);
            self.perform();
        }
        self.buffer = buffer;
    }

    /// Reports routes that the kernel used.
    fn look(&mut self, now: Time, all: bool) -> Result<(), Error> {
        for used in self.traffic.look(now, all, &self.poller, TRAFFIC)? {
            self.engine.handle_used(now, used.dst, used.src, used.from);
        }
        self.counters.frames_seen = self.traffic.seen;
        Ok(())
    }

    fn read_signals(&mut self, now: Time) -> Result<(), Error> {
        let mut failed: Vec<Mac> = Vec::new();
        self.signals.read(now, &mut failed)?;
        for mac in failed {
            let Some(neighbour) = self.traffic.neighbour(mac) else { continue };
            if self.engine.leads_over(neighbour) {
                self.counters.failures_frames += 1;
                self.fail(now, neighbour, DropReason::DataRetryLimit);
            }
        }
        Ok(())
    }

    /// Handles the kernel's notifications about neighbours, devices, routes and rules.
    fn hear_kernel(&mut self, now: Time) -> Result<(), Error> {
        let mut events = Vec::new();
        self.watch.read(&mut events);
        if events.iter().any(|event| matches!(event, Event::Device { .. } | Event::Missed)) {
            self.look_at_devices()?;
        }
        for event in events {
            match event {
                Event::Unanswered { device, address } => {
                    let ours = self.ports.iter().any(|port| port.device == device);
                    if ours && self.engine.config().failures.arp && self.engine.leads_over(address) {
                        self.counters.failures_arp += 1;
                        self.fail(now, address, DropReason::ArpUnresolved);
                    }
                }
                Event::Device { device, up: false } => {
                    let Some(interface) = self.ports.iter().position(|port| port.device == device) else { continue };
                    for neighbour in self.engine.next_hops(interface) {
                        self.counters.failures_device += 1;
                        self.fail(now, neighbour, DropReason::LinkBroken);
                    }
                }
                // Its own removals are among them: the check will then find that nothing is missing.
                Event::Gone { protocol } if protocol != self.engine.config().system.owner().protocol => {}
                Event::Gone { .. } | Event::Missed => self.look = self.look.min(now + LOOK_SOON),
                // Neighbours whose failure was missed are noticed by their missing HELLOs.
                Event::Device { .. } => {}
            }
        }
        Ok(())
    }

    /// Records interfaces that are down or gone. One that was removed and created again is a different device: the
    /// sockets know only the old one, and opening new ones takes rights that this process has dropped.
    fn look_at_devices(&mut self) -> Result<(), Error> {
        let Ok(devices) = look::devices() else { return Ok(()) };
        let same = |port: &&Port, device: &Device| device.name == port.name && device.index != port.device && device.up;
        if let Some(port) = self.ports.iter().find(|port| devices.iter().any(|device| same(port, device))) {
            return Err(Error::Refused(format!("{} was removed and is back: restart the daemon", port.name)));
        }
        let problems = look::idle(&self.engine.config().interfaces, &devices);
        for words in problems.iter().filter(|words| !self.problems.contains(words)) {
            note(format_args!("warning: {words}"));
        }
        self.changed |= problems != self.problems;
        self.problems = problems;
        Ok(())
    }

    /// Restores routes that another program has removed.
    fn restore_routes(&mut self, now: Time) {
        self.look = now + LOOK;
        let ports = &self.ports;
        let routes = self.engine.routes().iter();
        let routes = routes.map(|(&to, &(next_hop, interface))| (to, next_hop, ports[interface].device));
        match self.kernel.restore_routes(routes) {
            Ok(0) => {}
            Ok(count) => {
                self.counters.restored += count as u64;
                let so_far = self.counters.restored;
                note(format_args!(
                    "warning: another program removed {count} routes and rules: restored ({so_far} so far)"
                ));
            }
            Err(error) => {
                self.kernel.refused += 1;
                if self.kernel.refused.is_power_of_two() {
                    let so_far = self.kernel.refused;
                    note(format_args!(
                        "warning: routes that another program removed cannot be restored: {error} ({so_far} so far)"
                    ));
                }
            }
        }
    }

    fn fail(&mut self, now: Time, neighbour: Ipv4Addr, reason: DropReason) {
        self.engine.handle_failure(now, wall(), neighbour, reason, &mut self.tasks);
        self.perform();
    }

    /// Performs the engine's tasks.
    fn perform(&mut self) {
        let mut tasks = std::mem::take(&mut self.tasks);
        for task in tasks.drain(..) {
            match task {
                Task::Up { destination, next_hop, interface } => {
                    self.changed = true;
                    self.kernel.up(destination, next_hop, self.ports[interface].device);
                }
                Task::Down { destination } => {
                    self.changed = true;
                    self.kernel.down(destination);
                }
                Task::Send(datagram) => {
                    let from = self.engine.config().address;
                    for (number, port) in self.ports.iter_mut().enumerate() {
                        let here = datagram.interface.is_none_or(|wanted| wanted == number);
                        if here && port.send(from, datagram.to, datagram.ttl, &datagram.payload).is_err() {
                            self.counters.send_failed += 1;
                        }
                    }
                }
                Task::Release { packet, interface } => {
                    self.kernel.flush();
                    self.bytes.clear();
                    encode::packet(&packet, &mut self.bytes);
                    match self.ports[interface].release(packet.dst, &self.bytes) {
                        Ok(()) => self.counters.released += 1,
                        Err(_) => self.counters.release_failed += 1,
                    }
                }
                Task::Lost { reason, .. } => *self.counters.lost.entry(reason.name()).or_default() += 1,
            }
        }
        self.kernel.flush();
        self.tasks = tasks;
    }

    fn report(&mut self, now: Time) -> Report {
        self.counters.kernel_refused = self.kernel.refused;
        let mac = |address| self.traffic.mac(address).map(written);
        let problems = self.problems.iter().chain(&self.unwritten).cloned().collect();
        Report { problems, ..Report::new(now, &self.engine, &self.counters, mac) }
    }
}

#[cfg(test)]
mod tests;
