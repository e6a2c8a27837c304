//! The main thread: sets everything up, listens to signals, asks for hops, reports, and takes everything back.

use crate::config::{Backend, Config, Entry, Service, Source};
use crate::hops::{self, Routes};
use crate::keeper::Keeper;
use crate::pulse::Pulse;
use crate::reread::Reread;
use crate::status::{Node, State, Status, Totals, Waits};
use crate::worker::{COPIED, Shared, Worker};
use crate::{Error, SERVICE, prometheus, rules, selftest};
use fourhop_live::clock::Clock;
use fourhop_live::instance::Instance;
use fourhop_live::netlink::look;
use fourhop_live::nfqueue::guard::Guarded;
use fourhop_live::nfqueue::{Keep, Queues};
use fourhop_live::poll::{Poller, Ready};
use fourhop_live::privileges::{self, Capability};
use fourhop_live::service::Manager;
use fourhop_live::{Tried, control, metrics, screen};
use fourhop_proto::gateway::{Config as Gap, HashKey, Mode};
use fourhop_settings::key::Choice as _;
use fourhop_units::{Dur, Rate, Time};
use nix::sys::signal::Signal;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Between two reports.
const TICK: Dur = Dur::from_secs(1);
/// Memory of the kernel for packets nobody has looked at.
const UNSEEN: usize = 4 << 20;
/// A worker goes round every 100 ms; one that has not for so long is stuck.
const STUCK: Dur = Dur::from_secs(5);

/// The kernel's errors if another socket has the queue: EPERM and EBUSY.
const BUSY: [i32; 2] = [nix::errno::Errno::EPERM as i32, nix::errno::Errno::EBUSY as i32];

/// How it was started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The file of the configuration.
    pub file: PathBuf,
    /// Measure everything, change nothing.
    pub dry_run: bool,
}

/// A worker's, and what it ends with.
type Thread = JoinHandle<Result<(), fourhop_live::Error>>;

struct Daemon {
    start: Start,
    file: Reread,
    config: Config,
    backend: Backend,
    /// Keeps the rules, if they are of this program.
    keeper: Option<Keeper>,
    /// Lets packets pass when the workers stand still.
    pulse: Pulse,
    manager: Manager,
    clock: Clock,
    workers: Vec<(Arc<Shared>, Thread)>,
    /// The source's entries besides the table, and its last error; a thread that asks writes them.
    found: Arc<Mutex<Found>>,
    /// The version of it that the workers have.
    announced: u64,
    said: Option<String>,
    /// The last warning and the counters then, so that a flood logs one line per minute.
    warned: (Option<Time>, Totals),
    /// Packets that had come, and when that last changed.
    came: (u64, Time),
}

#[derive(Debug, Default)]
struct Found {
    version: u64,
    entries: Vec<Entry>,
    error: Option<String>,
    /// Whom to ask, and how often.
    source: Option<Source>,
}

impl Found {
    /// The answer of this source, which counts unless another one is asked meanwhile.
    fn take(&mut self, source: Option<&Source>, answer: Option<Result<Vec<Entry>, String>>) {
        if self.source.as_ref() != source {
            return;
        }
        match answer {
            Some(Ok(entries)) if entries == self.entries => self.error = None,
            Some(Ok(entries)) => {
                (self.entries, self.error) = (entries, None);
                self.version += 1;
            }
            // Keep the old entries until there are new ones.
            Some(Err(error)) => self.error = Some(error),
            None => self.error = None,
        }
    }
}

/// Runs until a signal ends it.
///
/// # Errors
/// If it cannot begin, or a queue fails.
pub fn run(start: Start) -> Result<(), Error> {
    let config = Config::read(&start.file)?;
    let manager = Manager::find();
    if let Some(device) = missing(&config).next() {
        return Err(Error::Refused(format!("{}: {}", start.file.display(), absent(device))));
    }
    // Before anything is taken away: what is there may be of a process that runs.
    let _only = only(&config.service)?;
    // From here on a signal ends the loop and not the process, so that the rules go.
    let poller = Poller::new()?;
    let backend = rules::probe(&config)?;
    // Remains of a killed process.
    if config.rules.manage {
        rules::clear(backend);
    }
    let opened = open(&config)?;
    let keeper = config.rules.manage.then(|| Keeper::set(&config, backend)).transpose()?;
    begin(start, config, backend, keeper, manager, opened, poller)
}

/// The only gateway of this network namespace.
///
/// # Errors
/// If there is another one.
pub fn only(service: &Service) -> Result<Instance, Error> {
    Ok(Instance::take(SERVICE, &service.user, service.socket.parent().unwrap_or(Path::new("/")))?)
}

/// The devices of the file that are not there.
fn missing(config: &Config) -> impl Iterator<Item = &String> {
    config.devices.iter().filter(|device| nix::net::if_::if_nametoindex(device.as_str()).is_err())
}

fn absent(device: &str) -> String {
    format!("mesh.devices: found {device:?}, allowed: a device of this machine (ip link shows them)")
}

/// One socket for each worker, with its queue in either direction.
fn open(config: &Config) -> Result<Vec<(Queues, u16)>, Error> {
    let keep = Keep { copied: COPIED, packets: config.packets, unseen: UNSEEN };
    let mut opened = Vec::new();
    for worker in 0..config.rules.workers {
        let numbers = rules::queues(config.rules.queue, config.rules.workers, worker);
        let queues = taken(&numbers, keep).map_err(advised)?;
        opened.push((queues, numbers[0]));
    }
    Ok(opened)
}

/// Why there is no queue, with what to do.
fn advised(error: fourhop_live::Error) -> Error {
    match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Refused(format!(
            "{error}: another program uses it, or this one lacks CAP_NET_ADMIN; stop the other, or run this as root"
        )),
        _ => error.into(),
    }
}

/// A process that was killed may have its queues for a moment yet.
fn taken(numbers: &[u16], keep: Keep) -> Result<Queues, fourhop_live::Error> {
    let mut tries = 20;
    loop {
        match Queues::open(numbers, keep) {
            Err(error) if tries > 0 && error.source.raw_os_error().is_some_and(|code| BUSY.contains(&code)) => {
                tries -= 1;
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            done => return done,
        }
    }
}

fn begin(
    start: Start,
    config: Config,
    backend: Backend,
    keeper: Option<Keeper>,
    manager: Manager,
    opened: Vec<(Queues, u16)>,
    mut poller: Poller,
) -> Result<(), Error> {
    if let Some(folder) = config.service.socket.parent() {
        privileges::folder(folder, &config.service.user)?;
    }
    let file = Reread::of(&start.file);
    // Raw sockets are what the old iptables talks to the kernel by.
    let keep = match backend {
        Backend::Nft => vec![Capability::NetAdmin],
        Backend::Iptables => vec![Capability::NetAdmin, Capability::NetRaw],
    };
    privileges::drop_to(&config.service.user, &keep)?;
    let control = control::Server::start(&config.service.socket)?;
    let server = config.service.metrics.map(metrics::Server::start).transpose();
    let server = server.tried(|| format!("service.metrics: cannot listen on {:?}", config.service.metrics))?;
    let key = key()?;
    let guarded = opened.iter().map(|(queues, _)| Guarded::of(queues)).collect::<Result<Vec<_>, _>>()?;
    let mut workers = Vec::new();
    for (number, (queues, down)) in opened.into_iter().enumerate() {
        let shared = Arc::<Shared>::default();
        // Before it takes its first packet: what comes until it looks at its orders again would pass unpaced.
        shared.order(orders(&config, start.dry_run, &[]));
        let worker = Worker::new(&config, queues, down, key, shared.clone());
        let thread = std::thread::Builder::new().name(format!("worker-{number}"));
        let thread = thread.spawn(move || worker.run()).tried(|| "cannot start a thread".to_owned())?;
        workers.push((shared, thread));
    }
    let found = Arc::new(Mutex::new(Found { version: 1, source: Some(config.source.clone()), ..Found::default() }));
    let pulse = Pulse::start(guarded, workers.iter().map(|(shared, _)| shared.clone()).collect())?;
    asking(found.clone())?;
    let counted = workers.iter().map(|(shared, _)| shared.clone()).collect();
    keeper.as_ref().map_or(Ok(()), |keeper| keeper.watch(counted))?;
    let clock = Clock::start();
    let warned = (None, Totals::default());
    let mut daemon = Daemon {
        start,
        file,
        config,
        backend,
        keeper,
        pulse,
        manager,
        clock,
        workers,
        found,
        announced: 0,
        said: None,
        warned,
        came: (0, Time::ZERO),
    };
    daemon.announce();
    let status = daemon.status();
    log!(6, "started: {}", daemon.summary());
    daemon.manager.ready(&daemon.summary());
    control.publish(json(&status));
    let ended = daemon.serve(&mut poller, &control, server.as_ref());
    daemon.manager.stopping();
    ended.and(daemon.end())
}

/// Options of the workers, and how far nodes are.
fn orders(config: &Config, dry_run: bool, found: &[Entry]) -> (Gap, Arc<Routes>) {
    let routes = Routes::new(&config.table, found, config.rate, config.source == Source::Ttl);
    (Gap { observe: dry_run, ..config.gap }, Arc::new(routes))
}

/// A thread that asks for hops, again and again: what it asks may take its time.
fn asking(found: Arc<Mutex<Found>>) -> Result<(), Error> {
    let ask = move || {
        loop {
            let source = found.lock().unwrap_or_else(PoisonError::into_inner).source.clone();
            let every = source.as_ref().and_then(Source::every).unwrap_or(TICK);
            let answer = source.as_ref().and_then(hops::ask);
            found.lock().unwrap_or_else(PoisonError::into_inner).take(source.as_ref(), answer);
            std::thread::sleep(std::time::Duration::from_nanos(every.as_nanos()));
        }
    };
    std::thread::Builder::new().name("hops".to_owned()).spawn(ask).tried(|| "cannot start a thread".to_owned())?;
    Ok(())
}

/// Sixteen bytes that nobody knows.
fn key() -> Result<HashKey, Error> {
    let mut bytes = [0; 16];
    let failed = || "/dev/urandom".to_owned();
    std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).tried(failed)?;
    let (first, second) = bytes.split_at(8);
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    Ok(HashKey([word(first), word(second)]))
}

fn json(status: &Status) -> String {
    // INVARIANT: numbers and text alone.
    serde_json::to_string(status).expect("it has a form in JSON")
}

impl Daemon {
    fn summary(&self) -> String {
        let Config { devices, source, rules, .. } = &self.config;
        let source = match source {
            Source::Table => "the table".to_owned(),
            Source::Ttl => "time to live".to_owned(),
            Source::Command(words, _) => format!("the program {}", words[0]),
            Source::Aodv(socket, _) => format!("fourhop-aodvd at {}", socket.display()),
        };
        let made = match (rules.manage, self.backend) {
            (false, _) => "rules of others",
            (true, Backend::Nft) => "nft",
            (true, Backend::Iptables) => "iptables",
        };
        let mode = self.config.gap.mode.name();
        let only = if self.start.dry_run { ", only looks" } else { "" };
        let workers = rules.workers;
        format!("{} by {made}, {workers} worker(s), mode {mode}, hops by {source}{only}", devices.join(", "))
    }

    fn serve(
        &mut self,
        poller: &mut Poller,
        control: &control::Server,
        server: Option<&metrics::Server>,
    ) -> Result<(), Error> {
        let mut ready = Vec::new();
        let (mut next, mut rounds, mut moved) = (Time::ZERO, usize::MAX, self.clock.now());
        loop {
            let now = self.clock.now();
            if now >= next {
                next = now + TICK;
                self.announce();
                let status = self.status();
                self.warn(now, &status.totals);
                if let Some(server) = server {
                    server.publish(prometheus::page(&status));
                }
                control.publish(json(&status));
                // The slowest worker counts.
                let least = self.workers.iter().map(|(shared, _)| shared.rounds.load(Ordering::Relaxed)).min();
                if least != Some(rounds) {
                    (rounds, moved) = (least.unwrap_or(0), now);
                }
                if self.workers.iter().any(|(_, thread)| thread.is_finished()) {
                    return Err(Error::Refused("a worker has ended".to_owned()));
                }
                if now.saturating_since(moved) < STUCK {
                    self.manager.alive();
                }
            }
            poller.wait(&self.clock, next, &mut ready)?;
            for event in ready.drain(..) {
                match event {
                    Ready::Signal(Signal::SIGHUP) => self.reload(),
                    Ready::Signal(Signal::SIGINT | Signal::SIGTERM) => return Ok(()),
                    _ => {}
                }
            }
        }
    }

    /// Announces hop counts that the workers do not have yet.
    fn announce(&mut self) {
        let (version, found, error) = {
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            (found.version, found.entries.clone(), found.error.clone())
        };
        if error != self.said {
            match &error {
                Some(error) => log!(4, "hops: {error}"),
                None => log!(6, "hops: the source works again"),
            }
            self.said = error;
        }
        if version == self.announced {
            return;
        }
        self.announced = version;
        let orders = orders(&self.config, self.start.dry_run, &found);
        self.workers.iter().for_each(|(shared, _)| shared.order(orders.clone()));
    }

    /// Reads the file again. If it is invalid, the old configuration stays.
    fn reload(&mut self) {
        self.manager.reloading();
        match self.file.read(&self.config.service.user) {
            Ok(config) if missing(&config).next().is_some() => {
                missing(&config).for_each(|device| log!(3, "not reloaded: {}", absent(device)));
            }
            Ok(config) => self.change(config),
            Err(error) => log!(3, "not reloaded: {error}"),
        }
        self.manager.ready(&self.summary());
    }

    fn change(&mut self, config: Config) {
        let old = &self.config;
        let rest = if holds_later(old, &config) {
            "; [rules], [service], limits.flows, limits.nodes and limits.packets hold from the next start on"
        } else {
            ""
        };
        let devices = config.devices != old.devices;
        self.config = Config { rules: old.rules.clone(), packets: old.packets, service: old.service.clone(), ..config };
        if devices
            && let Some(keeper) = &self.keeper
            && let Err(error) = keeper.change(&self.config)
        {
            log!(3, "the rules could not be changed: {error}");
        }
        {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            if found.source.as_ref() != Some(&self.config.source) {
                found.source = Some(self.config.source.clone());
                found.entries.clear();
            }
            found.version += 1;
        }
        self.announce();
        log!(6, "reloaded: {}{rest}", self.summary());
    }

    /// All workers together.
    fn status(&mut self) -> Status {
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: self.clock.now().saturating_since(Time::ZERO).as_secs_f64(),
            dry_run: self.start.dry_run,
            mode: self.config.gap.mode.name().to_owned(),
            rules: if self.backend == Backend::Nft { "nft" } else { "iptables" }.to_owned(),
            devices: self.config.devices.clone(),
            hops_error: self.said.clone(),
            ..Status::default()
        };
        for (shared, _) in &self.workers {
            let report = shared.report.lock().unwrap_or_else(PoisonError::into_inner).clone();
            status.totals.add(&report.totals);
            status.sojourn = worse(status.sojourn, report.sojourn);
            for node in report.nodes {
                // A node whose flows several workers have.
                match status.nodes.iter_mut().find(|there| there.address == node.address) {
                    Some(there) => join(there, &node),
                    None => status.nodes.push(node),
                }
            }
            status.flows.extend(report.flows);
        }
        let now = self.clock.now();
        if status.totals.packets != self.came.0 {
            self.came = (status.totals.packets, now);
        }
        status.silent_s = now.saturating_since(self.came.1).as_secs_f64();
        if let Some(keeper) = &self.keeper {
            let state = keeper.state();
            status.totals.rules_restored = state.restored;
            status.problems.extend(state.problem);
            // The numbers of packets tell of a full queue at once, but not of one without a listener.
            status.totals.overload = status.totals.overload.max(state.unpaced);
        }
        status.problems.extend(self.pulse.problem());
        // A kernel that does not say is no fault of the devices.
        status.problems.extend(look::devices().map_or(vec![], |devices| look::idle(&self.config.devices, &devices)));
        status.state = State::of(&status);
        status.nodes.sort_by_key(|node| std::cmp::Reverse(node.into_bytes + node.out_bytes));
        status.flows.sort_by_key(|flow| std::cmp::Reverse(flow.into_bytes + flow.out_bytes));
        status
    }

    /// Says, at most once a minute, what an operator should know.
    fn warn(&mut self, now: Time, totals: &Totals) {
        let (when, before) = self.warned;
        if when.is_some_and(|when| now.saturating_since(when) < Dur::from_secs(60)) {
            return;
        }
        let more = [
            (totals.overload - before.overload, "packets passed unpaced: this program was too slow, or did not run"),
            (totals.table_full - before.table_full, "segments passed unpaced: limits.flows is too small"),
            (totals.buffer_full - before.buffer_full, "segments passed unpaced: limits.buffer is too small"),
            (totals.nodes_full - before.nodes_full, "packets of nodes beyond limits.nodes"),
            (totals.unknown - before.unknown, "data packets passed unpaced: the hop counts of their nodes are unknown"),
        ];
        for (count, words) in more.into_iter().filter(|(count, _)| *count > 0) {
            log!(4, "{count} {words}");
            self.warned = (Some(now), *totals);
        }
    }

    /// Takes everything back: rules first, so that nothing new comes.
    fn end(self) -> Result<(), Error> {
        drop(self.keeper);
        self.workers.iter().for_each(|(shared, _)| shared.stop.store(true, Ordering::Release));
        let mut ended = Ok(());
        let mut totals = Totals::default();
        for (shared, thread) in self.workers {
            let done = thread.join().unwrap_or_else(|_| {
                Err(std::io::Error::other("it panicked")).tried(|| "a worker has failed".to_owned())
            });
            ended = ended.and(done);
            totals.add(&shared.report.lock().unwrap_or_else(PoisonError::into_inner).totals);
        }
        drop(self.pulse);
        log!(6, "ended: {} packets, of which {} waited and {} left early", totals.packets, totals.waited, totals.early);
        Ok(ended?)
    }
}

/// Is there something new that a gateway cannot change while it runs?
fn holds_later(old: &Config, new: &Config) -> bool {
    let fixed = |config: &Config| {
        let Config { rules, gap, packets, service, .. } = config.clone();
        (rules.queue, rules.workers, rules.manage, rules.backend, packets, service, gap.flows, gap.nodes)
    };
    fixed(old) != fixed(new)
}

/// Of quantiles that cannot be joined, the larger.
fn worse(one: Waits, other: Waits) -> Waits {
    Waits {
        count: one.count + other.count,
        p50: one.p50.max(other.p50),
        p99: one.p99.max(other.p99),
        max: one.max.max(other.max),
    }
}

fn join(node: &mut Node, other: &Node) {
    node.into_bytes += other.into_bytes;
    node.into_packets += other.into_packets;
    node.out_bytes += other.out_bytes;
    node.out_packets += other.out_packets;
    node.unknown += other.unknown;
    node.sojourn = worse(node.sojourn, other.sojourn);
    for (class, more) in [(&mut node.into, &other.into), (&mut node.out, &other.out)] {
        class.flows += more.flows;
        class.waiting += more.waiting;
        class.queued_bytes += more.queued_bytes;
        class.throttled += more.throttled;
        class.wireless_rtt_s = class.wireless_rtt_s.or(more.wireless_rtt_s);
        class.wired_rtt_s = class.wired_rtt_s.or(more.wired_rtt_s);
        class.interval_s = class.interval_s.or(more.interval_s);
    }
}

/// The warning about links that are faster than adaptive pacing is made for.
fn too_fast(config: &Config) -> Option<String> {
    if config.gap.mode == Mode::Ap2 {
        return None;
    }
    let rates = config.table.iter().filter_map(|entry| entry.rate).chain([config.rate]);
    let fastest = rates.max_by_key(|rate| rate.bps()).filter(|rate| *rate > Rate::kbps(11_000))?;
    Some(format!(
        "rate: found links of {} Mbit/s: pace.mode \"gap\" is for 802.11b, up to 11 Mbit/s; set \"ap2\", the default, \
            or measure whether it helps (fourhop measure)",
        fastest.bps() / 1_000_000
    ))
}

/// Whether this setting of the kernel will do, and words about it: IPv4 has to be forwarded, IPv6 need not be.
fn forwarding(family: &str, value: &str) -> (bool, String) {
    let on = value.trim() == "1";
    let needed = family.starts_with("ipv4");
    let name = format!("net.{}", family.replace('/', "."));
    let advice = match (on, needed) {
        (true, _) => String::new(),
        (false, true) => format!(": sysctl -w {name}=1 lets packets cross"),
        (false, false) => ": IPv6 is not routed here".to_owned(),
    };
    (on || !needed, format!("{name} is {}{advice}", if on { "on" } else { "off" }))
}

/// Checks everything that `run` needs and prints the findings; returns the number of problems.
///
/// # Errors
/// If the file is invalid.
pub fn check(file: &Path) -> Result<u32, Error> {
    let config = Config::read(file)?;
    screen::line(format_args!("{}: sound", file.display()))?;
    let mut problems = 0;
    let mut say = |good: bool, words: String| {
        problems += u32::from(!good);
        screen::line(format_args!("{}: {words}", if good { "good" } else { "ERROR" }))
    };
    for device in &config.devices {
        let there = nix::net::if_::if_nametoindex(device.as_str()).is_ok();
        say(there, format!("device {device} is {}there", if there { "" } else { "not " }))?;
    }
    if let Err(error) = privileges::known(&config.service.user) {
        say(false, error.to_string())?;
    }
    match rules::probe(&config) {
        Ok(backend) => {
            let name = if backend == Backend::Nft { "nft" } else { "iptables" };
            say(true, format!("{name} accepts the rules"))?;
            match selftest::run(backend) {
                Ok(()) => say(true, "a packet went through the kernel's queue and back".to_owned())?,
                Err(error) => say(false, format!("self-test in a network namespace of its own: {error}"))?,
            }
        }
        Err(error) => say(false, error.to_string().replace('\n', "; "))?,
    }
    for family in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
        let value = std::fs::read_to_string(format!("/proc/sys/net/{family}")).unwrap_or_default();
        let (good, words) = forwarding(family, &value);
        say(good, words)?;
    }
    if let Some(rate) = too_fast(&config) {
        screen::line(format_args!("warning: {rate}"))?;
    }
    if rules::offload() {
        say(false, "flow offloading takes connections past every filter, and unpaced: switch it off".to_owned())?;
    }
    match hops::ask(&config.source) {
        Some(Ok(entries)) => say(!entries.is_empty(), format!("hops of {} networks are known", entries.len()))?,
        Some(Err(error)) => say(false, error)?,
        None => {}
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Class, Flow};
    use crate::worker::Report;
    use fourhop_settings::Network;
    use std::net::IpAddr;
    use std::sync::mpsc;

    const LEAST: &str = "[mesh]\ndevices = ['no-mesh0']\nrate = '2Mbps'\n";

    fn config(more: &str) -> Config {
        Config::parse(&format!("{LEAST}{more}")).unwrap()
    }

    fn entry(last: u8, hops: u8) -> Entry {
        Entry { to: Network([10, 0, 0, last].into(), 32), hops, rate: None }
    }

    /// A daemon without rules and queues, whose workers have these reports and have ended.
    fn daemon(config: Config, reports: Vec<Report>) -> Daemon {
        let worker = |report: Report| {
            let shared = Arc::<Shared>::default();
            *shared.report.lock().unwrap() = report;
            (shared, std::thread::spawn(|| Ok(())))
        };
        let file = PathBuf::from("/no/such/file");
        Daemon {
            file: Reread::of(&file),
            start: Start { file, dry_run: false },
            found: Arc::new(Mutex::new(Found { source: Some(config.source.clone()), ..Found::default() })),
            config,
            backend: Backend::Nft,
            keeper: None,
            pulse: Pulse::with(None),
            manager: Manager::find(),
            clock: Clock::start(),
            workers: reports.into_iter().map(worker).collect(),
            announced: 0,
            said: None,
            warned: (None, Totals::default()),
            came: (0, Time::ZERO),
        }
    }

    fn node(last: u8, bytes: u64) -> Node {
        Node {
            address: [10, 0, 0, last].into(),
            hops: Some(3),
            rate_bps: Some(2_000_000),
            into_bytes: bytes,
            into_packets: 2,
            out_bytes: 3,
            out_packets: 4,
            unknown: 5,
            sojourn: Waits { count: 1, p50: 2.0, p99: 7.0, max: 8.0 },
            into: Class { flows: 6, waiting: 7, queued_bytes: 8, throttled: 9, ..Class::default() },
            out: Class { flows: 10, interval_s: Some(0.5), ..Class::default() },
        }
    }

    #[test]
    fn the_summary_names_rules_mode_and_source_of_hops() {
        let mut daemon = daemon(config(""), vec![]);
        assert_eq!(daemon.summary(), "no-mesh0 by nft, 1 worker(s), mode ap2, hops by time to live");
        daemon.backend = Backend::Iptables;
        daemon.start.dry_run = true;
        let two = "[mesh]\ndevices = ['a', 'b']\nrate = '2Mbps'\nhops = 'table'\n[[node]]\nto = '10.0.0.4'\nhops = 3\n\
                   [pace]\nmode = 'gap'\n[rules]\nworkers = 2\n";
        daemon.config = Config::parse(two).unwrap();
        let said = "a, b by iptables, 2 worker(s), mode gap, hops by the table, only looks";
        assert_eq!(daemon.summary(), said);
        for (more, end) in [
            ("hops = 'command'\ncommand = ['say', 'all']\n", "hops by the program say, only looks"),
            ("hops = 'aodv'\nsocket = '/s'\n[rules]\nmanage = false\n", "hops by fourhop-aodvd at /s, only looks"),
        ] {
            daemon.config = config(more);
            assert!(daemon.summary().ends_with(end), "{}", daemon.summary());
        }
        assert!(daemon.summary().starts_with("no-mesh0 by rules of others, "), "{}", daemon.summary());
    }

    #[test]
    fn the_status_joins_what_the_workers_report() {
        let flow = |into_bytes, out_bytes| Flow {
            node: "n".to_owned(),
            host: "h".to_owned(),
            into_bytes,
            out_bytes,
            waiting: 0,
            queued_bytes: 0,
            wireless_rtt_s: None,
            wired_rtt_s: None,
            variation: 0.0,
            interval_s: None,
            own_interval_s: None,
            throttle_bps: None,
        };
        let report = |packets, nodes, flows| Report {
            totals: Totals { packets, ..Totals::default() },
            sojourn: Waits { count: packets, p50: 2.0, p99: 7.0, max: 8.0 },
            nodes,
            flows,
        };
        // The second has most by what comes out of the mesh.
        let much = Node { out_bytes: 5_000, ..node(5, 0) };
        let first = report(5, vec![node(4, 100), node(6, 1_000), much], vec![flow(70, 5), flow(5, 80)]);
        let second = report(6, vec![node(4, 300)], vec![flow(60, 0), flow(90, 0)]);
        let mut daemon = daemon(config(""), vec![first, second]);
        daemon.pulse = Pulse::with(Some("a worker hangs"));
        daemon.said = Some("no answer".to_owned());
        daemon.start.dry_run = true;
        let status = daemon.status();
        assert_eq!((status.totals.packets, status.sojourn.count), (11, 11));
        let last = |node: &Node| (node.address.to_string(), node.into_bytes);
        let nodes: Vec<_> = status.nodes.iter().map(last).collect();
        let expected = [("10.0.0.5", 0), ("10.0.0.6", 1_000), ("10.0.0.4", 400)];
        assert_eq!(nodes, expected.map(|(address, bytes)| (address.to_owned(), bytes)));
        assert_eq!(status.flows.iter().map(|flow| flow.into_bytes).collect::<Vec<_>>(), [90, 5, 70, 60]);
        assert_eq!(status.problems, ["a worker hangs", "device no-mesh0 has disappeared"]);
        assert_eq!((status.state, status.dry_run, &status.rules[..]), (State::Impaired, true, "nft"));
        assert_eq!((&status.mode[..], &status.devices[..]), ("ap2", &["no-mesh0".to_owned()][..]));
        assert_eq!((status.hops_error.as_deref(), status.pid), (Some("no answer"), std::process::id()));
        assert!(!status.version.is_empty() && status.uptime_s > 0.0);
        daemon.backend = Backend::Iptables;
        assert_eq!(daemon.status().rules, "iptables");
    }

    #[test]
    fn silence_begins_with_the_last_packet() {
        let totals = Totals { packets: 5, ..Totals::default() };
        let mut daemon = daemon(config(""), vec![Report { totals, ..Report::default() }]);
        let never = Time::from_secs(1 << 30);
        daemon.came = (4, never);
        daemon.status();
        assert!(daemon.came.0 == 5 && daemon.came.1 < never, "one has come");
        daemon.came = (5, never);
        daemon.status();
        assert_eq!(daemon.came, (5, never), "none has come");
        daemon.came = (5, Time::ZERO);
        let status = daemon.status();
        assert!(status.silent_s >= status.uptime_s && status.uptime_s > 0.0, "none ever since it began");
    }

    #[test]
    fn it_warns_of_each_kind_of_unpaced_packets_once_a_minute() {
        let kinds: [fn(&mut Totals) -> &mut u64; 5] = [
            |totals| &mut totals.overload,
            |totals| &mut totals.table_full,
            |totals| &mut totals.buffer_full,
            |totals| &mut totals.nodes_full,
            |totals| &mut totals.unknown,
        ];
        for kind in kinds {
            let mut daemon = daemon(config(""), vec![]);
            let mut totals = Totals { packets: 70, ..Totals::default() };
            let mut warned = |seconds, count| {
                *kind(&mut totals) = count;
                daemon.warn(Time::from_secs(seconds), &totals);
                daemon.warned.0
            };
            assert_eq!(warned(1, 0), None, "nothing has passed unpaced");
            let first = Some(Time::from_secs(2));
            assert_eq!(warned(2, 3), first);
            assert_eq!(warned(61, 4), first, "not yet again");
            assert_eq!(warned(62, 3), first, "nothing new");
            assert_eq!(warned(62, 4), Some(Time::from_secs(62)));
            assert_eq!(warned(200, 4), Some(Time::from_secs(62)), "nothing new");
        }
    }

    #[test]
    fn workers_hear_of_hops_that_are_others_and_of_nothing_twice() {
        let mut daemon = daemon(config(""), vec![Report::default()]);
        let shared = daemon.workers[0].0.clone();
        let changes = || shared.changes.load(Ordering::Acquire);
        daemon.announce();
        assert_eq!(changes(), 0);
        daemon.found.lock().unwrap().take(Some(&Source::Ttl), Some(Ok(vec![entry(4, 3)])));
        daemon.announce();
        daemon.announce();
        assert_eq!(changes(), 1);
        let (_, routes) = shared.orders.lock().unwrap().clone().unwrap();
        assert_eq!(routes.path([10, 0, 0, 4].into(), None), Some((3, Rate::kbps(2_000))));
        daemon.found.lock().unwrap().error = Some("no answer".to_owned());
        daemon.announce();
        assert_eq!((daemon.said.as_deref(), changes()), (Some("no answer"), 1));
        daemon.found.lock().unwrap().error = None;
        daemon.announce();
        assert_eq!(daemon.said, None);
    }

    #[test]
    fn an_answer_counts_for_the_source_that_was_asked() {
        let source = Source::Command(vec!["say".to_owned()], TICK);
        let mut found = Found { source: Some(source.clone()), ..Found::default() };
        let mut take = |source: &Source, answer| {
            found.take(Some(source), answer);
            (found.version, found.entries.len(), found.error.clone())
        };
        assert_eq!(take(&Source::Ttl, Some(Ok(vec![entry(4, 3)]))), (0, 0, None), "of another source");
        assert_eq!(take(&source, Some(Ok(vec![entry(4, 3)]))), (1, 1, None));
        let error = Some("no answer".to_owned());
        assert_eq!(take(&source, Some(Err("no answer".to_owned()))), (1, 1, error.clone()), "the old ones stay");
        assert_eq!(take(&Source::Ttl, None), (1, 1, error), "of another source");
        assert_eq!(take(&source, Some(Ok(vec![entry(4, 3)]))), (1, 1, None), "the same, and no error any more");
        take(&source, Some(Err("no answer".to_owned())));
        assert_eq!(take(&source, Some(Ok(vec![entry(4, 2)]))), (2, 1, None));
        take(&source, Some(Err("no answer".to_owned())));
        assert_eq!(take(&source, None), (2, 1, None), "there is nothing to ask");
    }

    #[test]
    fn orders_have_the_table_and_the_time_to_live_only_where_the_file_says_so() {
        let node: IpAddr = [10, 0, 0, 4].into();
        let (gap, routes) = orders(&config(""), true, &[]);
        assert_eq!((gap.observe, routes.path(node, Some(5))), (true, Some((5, Rate::kbps(2_000)))));
        let table = config("hops = 'table'\n[[node]]\nto = '10.0.0.5'\nhops = 2\n");
        let (gap, routes) = orders(&table, false, &[entry(4, 3)]);
        let paths = [4, 5, 6].map(|last| routes.path([10, 0, 0, last].into(), Some(5)).map(|(hops, _)| hops));
        assert_eq!((gap.observe, paths), (false, [Some(3), Some(2), None]));
        assert_eq!(gap, table.gap);
    }

    #[test]
    fn a_running_gateway_keeps_its_rules_and_takes_the_rest() {
        let mut daemon = daemon(config("hops = 'command'\ncommand = ['say']\n"), vec![Report::default()]);
        let old = daemon.config.clone();
        let version = |daemon: &Daemon| daemon.found.lock().unwrap().version;
        daemon.found.lock().unwrap().entries = vec![entry(4, 3)];
        let more = "hops = 'command'\ncommand = ['say']\n[pace]\nmtu = 1400\n[limits]\npackets = 99\n\
                    [rules]\nqueue = 9\n[service]\nuser = 'other'\n";
        daemon.change(config(more));
        assert_eq!((daemon.config.gap.mtu, daemon.config.packets), (1_400, old.packets));
        assert_eq!((&daemon.config.rules, &daemon.config.service), (&old.rules, &old.service));
        assert_eq!((version(&daemon), daemon.announced), (1, 1));
        assert_eq!(daemon.found.lock().unwrap().entries, [entry(4, 3)], "the source is the same");
        assert_eq!(daemon.workers[0].0.orders.lock().unwrap().as_ref().map(|(gap, _)| gap.mtu), Some(1_400));
        daemon.change(config(""));
        let found = daemon.found.lock().unwrap();
        assert_eq!((&found.source, &found.entries[..], found.version), (&Some(Source::Ttl), &[][..], 2));
    }

    #[test]
    fn what_needs_another_start_is_known() {
        let old = config("");
        assert!(!holds_later(&old, &old));
        assert!(!holds_later(&old, &config("[pace]\nmode = 'gap'\n[limits]\nbuffer = '1MB'\n")));
        for more in [
            "[limits]\nflows = 5\n",
            "[limits]\nnodes = 5\n",
            "[limits]\npackets = 99\n",
            "[rules]\nqueue = 9\n",
            "[rules]\nworkers = 2\n",
            "[rules]\nmanage = false\n",
            "[rules]\nbackend = 'nft'\n",
            "[service]\nuser = 'other'\n",
        ] {
            assert!(holds_later(&old, &config(more)), "{more}");
        }
    }

    #[test]
    fn a_bad_file_or_one_of_absent_devices_changes_nothing() {
        let file = std::env::temp_dir().join(format!("fourhop-gateway-reload-{}", std::process::id()));
        let mut daemon = daemon(config(""), vec![]);
        daemon.file = Reread::of(&file);
        for (text, rate) in [
            ("[mesh]\ndevices = ['lo']\nrate = '3Mbps'\n", 3_000),
            ("[mesh]\ndevices = ['lo']\nrate = '4'\n", 3_000),
            ("[mesh]\ndevices = ['lo', 'no-mesh0']\nrate = '5Mbps'\n", 3_000),
            ("[mesh]\ndevices = ['lo']\nrate = '6Mbps'\n", 6_000),
        ] {
            std::fs::write(&file, text).unwrap();
            daemon.reload();
            assert_eq!(daemon.config.rate, Rate::kbps(rate), "{text}");
        }
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn devices_that_are_not_there_are_named() {
        let config = Config::parse("[mesh]\ndevices = ['no-mesh1', 'lo', 'no-mesh0']\nrate = '2Mbps'\n").unwrap();
        assert_eq!(missing(&config).collect::<Vec<_>>(), ["no-mesh1", "no-mesh0"]);
        let said = "mesh.devices: found \"no-mesh0\", allowed: a device of this machine (ip link shows them)";
        assert_eq!(absent("no-mesh0"), said);
    }

    #[test]
    fn without_a_file_nothing_begins() {
        let file = PathBuf::from("/no/such/gateway.toml");
        let said = check(&file).unwrap_err().to_string();
        assert!(said.contains("/no/such/gateway.toml"), "{said}");
        assert_eq!(run(Start { file, dry_run: true }).unwrap_err().to_string(), said);
    }

    /// How it serves with a worker that lives, or has ended, and gets these signals; what it says then.
    fn served(
        mut daemon: Daemon,
        lives: bool,
        signals: &'static [Signal],
        name: &str,
    ) -> (Result<(), String>, Daemon, Status) {
        let (ends, until) = mpsc::channel::<()>();
        let wait = std::time::Duration::from_secs(if lives { 30 } else { 0 });
        let thread = std::thread::spawn(move || {
            let _ = until.recv_timeout(wait);
            Ok(())
        });
        while !lives && !thread.is_finished() {
            std::thread::yield_now();
        }
        daemon.workers.push((Arc::default(), thread));
        let socket = std::env::temp_dir().join(format!("fourhop-gateway-{name}-{}", std::process::id()));
        let server = control::Server::start(&socket).unwrap();
        // A thread of its own, in which signals stay blocked.
        let serving = std::thread::spawn(move || {
            let mut poller = Poller::new().unwrap();
            signals.iter().for_each(|&signal| nix::sys::signal::raise(signal).unwrap());
            let done = daemon.serve(&mut poller, &server, None).map_err(|error| error.to_string());
            let (_, status) = control::read(&socket).unwrap();
            (done, daemon, status)
        });
        let served = serving.join().unwrap();
        drop(ends);
        served
    }

    #[test]
    fn a_signal_ends_it_after_another_has_made_it_read_its_file() {
        let file = std::env::temp_dir().join(format!("fourhop-gateway-signal-{}", std::process::id()));
        std::fs::write(&file, "[mesh]\ndevices = ['lo']\nrate = '3Mbps'\n").unwrap();
        let mut of_file = daemon(config(""), vec![]);
        of_file.file = Reread::of(&file);
        let (done, of_file, status) = served(of_file, true, &[Signal::SIGHUP, Signal::SIGTERM], "term");
        assert_eq!((done, of_file.config.rate), (Ok(()), Rate::kbps(3_000)));
        assert_eq!((&status.mode[..], status.pid), ("ap2", std::process::id()), "its state was there before");
        std::fs::remove_file(file).unwrap();
        let (done, daemon, _) = served(daemon(config(""), vec![]), true, &[Signal::SIGINT], "int");
        assert_eq!((done, daemon.config.rate), (Ok(()), Rate::kbps(2_000)));
    }

    #[test]
    fn it_does_not_go_on_without_a_worker() {
        let (done, ..) = served(daemon(config(""), vec![]), false, &[], "ended");
        assert_eq!(done, Err("a worker has ended".to_owned()));
    }

    #[test]
    fn at_the_end_workers_are_told_and_their_errors_are_said() {
        let mut daemon = daemon(config(""), vec![Report::default()]);
        let failed = || Err(std::io::Error::other("no room")).tried(|| "the packet queue".to_owned());
        daemon.workers.push((Arc::default(), std::thread::spawn(failed)));
        daemon.workers.push((Arc::default(), std::thread::spawn(|| Ok(()))));
        let shared: Vec<_> = daemon.workers.iter().map(|(shared, _)| shared.clone()).collect();
        assert_eq!(daemon.end().unwrap_err().to_string(), "the packet queue: no room");
        assert!(shared.iter().all(|shared| shared.stop.load(Ordering::Acquire)));
    }

    #[test]
    fn nobody_can_guess_the_places_of_flows() {
        let keys: Vec<HashKey> = (0..100).map(|_| key().unwrap()).collect();
        for place in 0..2 {
            let words = || keys.iter().map(|key| key.0[place]);
            assert_eq!(
                (words().fold(0, |all, word| all | word), words().fold(u64::MAX, |all, word| all & word)),
                (u64::MAX, 0)
            );
        }
        assert!(keys.iter().any(|key| key.0[0] != key.0[1]));
    }

    #[test]
    fn the_state_in_json_is_read_again() {
        let status = Status { mode: "gap".to_owned(), nodes: vec![node(4, 100)], ..Status::default() };
        assert_eq!(serde_json::from_str::<Status>(&json(&status)).unwrap(), status);
    }

    #[test]
    fn of_two_quantiles_the_larger_counts() {
        let one = Waits { count: 3, p50: 1.0, p99: 9.0, max: 10.0 };
        let other = Waits { count: 4, p50: 2.0, p99: 7.0, max: 11.0 };
        let expected = Waits { count: 7, p50: 2.0, p99: 9.0, max: 11.0 };
        assert_eq!((worse(one, other), worse(other, one)), (expected, expected));
    }

    #[test]
    fn a_node_of_several_workers_has_the_sums_of_all() {
        let mut sum = node(4, 100);
        let more =
            Class { wireless_rtt_s: Some(0.2), wired_rtt_s: Some(0.3), interval_s: Some(0.4), ..Class::default() };
        let other = Node {
            into_packets: 20,
            out_bytes: 30,
            out_packets: 40,
            unknown: 50,
            sojourn: Waits { count: 2, p50: 3.0, p99: 4.0, max: 5.0 },
            into: Class { flows: 60, waiting: 70, queued_bytes: 80, throttled: 90, ..more },
            out: Class { flows: 5, waiting: 4, queued_bytes: 3, throttled: 2, ..more },
            ..node(4, 200)
        };
        join(&mut sum, &other);
        let expected = Node {
            into_bytes: 300,
            into_packets: 22,
            out_bytes: 33,
            out_packets: 44,
            unknown: 55,
            sojourn: Waits { count: 3, p50: 3.0, p99: 7.0, max: 8.0 },
            into: Class { flows: 66, waiting: 77, queued_bytes: 88, throttled: 99, ..more },
            out: Class { flows: 15, waiting: 4, queued_bytes: 3, throttled: 2, interval_s: Some(0.5), ..more },
            ..node(4, 0)
        };
        assert_eq!(sum, expected);
    }

    #[test]
    fn links_beyond_802_11b_get_a_warning_with_gap_alone() {
        let gap = |rate: &str, of_node: &str| {
            let node = format!("[[node]]\nto = '10.0.0.4'\nhops = 1\n{of_node}\n");
            let mesh = format!("[mesh]\ndevices = ['a']\nrate = '{rate}'\n");
            too_fast(&Config::parse(&format!("{mesh}{node}[pace]\nmode = 'gap'\n")).unwrap())
        };
        assert_eq!(gap("11Mbps", ""), None);
        assert!(gap("11001kbps", "").unwrap().contains("links of 11 Mbit/s"));
        assert!(gap("2Mbps", "rate = '54Mbps'").unwrap().starts_with("rate: found links of 54 Mbit/s: "));
        assert!(gap("54Mbps", "rate = '2Mbps'").is_some());
        let ap2 = Config::parse("[mesh]\ndevices = ['a']\nrate = '54Mbps'\n").unwrap();
        assert_eq!(too_fast(&ap2), None);
    }

    #[test]
    fn ipv4_has_to_be_forwarded_and_ipv6_need_not_be() {
        let (v4, v6) = ("ipv4/ip_forward", "ipv6/conf/all/forwarding");
        assert_eq!(forwarding(v4, "1\n"), (true, "net.ipv4.ip_forward is on".to_owned()));
        let off = "net.ipv4.ip_forward is off: sysctl -w net.ipv4.ip_forward=1 lets packets cross";
        assert_eq!(forwarding(v4, "0\n"), (false, off.to_owned()));
        assert_eq!(forwarding(v6, "1\n"), (true, "net.ipv6.conf.all.forwarding is on".to_owned()));
        let off = "net.ipv6.conf.all.forwarding is off: IPv6 is not routed here";
        assert_eq!(forwarding(v6, ""), (true, off.to_owned()), "a kernel without IPv6");
    }

    #[test]
    fn who_may_not_have_a_queue_hears_what_to_do() {
        let said = |kind: std::io::ErrorKind| {
            advised(fourhop_live::Error { what: "packet queue 7".to_owned(), source: kind.into() }).to_string()
        };
        let advice = "another program uses it, or this one lacks CAP_NET_ADMIN; stop the other, or run this as root";
        assert_eq!(said(std::io::ErrorKind::PermissionDenied), format!("packet queue 7: permission denied: {advice}"));
        assert_eq!(said(std::io::ErrorKind::TimedOut), "packet queue 7: timed out");
    }
}
