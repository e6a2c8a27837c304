//! The main thread: sets everything up, handles signals, obtains hop counts, reports, and cleans up.

use crate::config::{Backend, Config, Entry, Service, Source};
use crate::hops::{self, Routes};
use crate::keeper::Keeper;
use crate::pulse::Pulse;
use crate::reread::Reread;
use crate::status::{Node, State, Status, Totals, Waits};
use crate::worker::{COPIED, Shared, Worker};
use crate::{Error, SERVICE, prometheus, rules};
use fourhop_live::clock::Clock;
use fourhop_live::instance::Instance;
use fourhop_live::netlink::look;
use fourhop_live::nfqueue::guard::Guarded;
use fourhop_live::nfqueue::{Keep, Queues};
use fourhop_live::poll::{Poller, Ready};
use fourhop_live::privileges::{self, Capability};
use fourhop_live::service::Manager;
use fourhop_live::{Tried, control, metrics};
use fourhop_proto::gateway::{Config as Gap, HashKey};
use fourhop_settings::key::Choice as _;
use fourhop_units::{Dur, Time};
use nix::sys::signal::Signal;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Interval between two reports.
const TICK: Dur = Dur::from_secs(1);
/// Kernel memory for packets not yet read.
const UNSEEN: usize = 4 << 20;
/// A worker's loop runs every 100 ms; one that has not for this long is stuck.
const STUCK: Dur = Dur::from_secs(5);

/// The kernel's errors if another socket has the queue: EPERM and EBUSY.
const BUSY: [i32; 2] = [nix::errno::Errno::EPERM as i32, nix::errno::Errno::EBUSY as i32];

/// Start options.
#[derive(Clone, Debug)]
pub struct Start {
    /// The configuration file.
    pub file: PathBuf,
    /// Measure everything, change nothing.
    pub dry_run: bool,
}

/// A worker's thread, with its result.
type Thread = JoinHandle<Result<(), fourhop_live::Error>>;

struct Daemon {
    start: Start,
    file: Reread,
    config: Config,
    backend: Backend,
    /// Keeps the rules in place, if this program manages them.
    keeper: Option<Keeper>,
    /// Lets packets pass when the workers stall.
    pulse: Pulse,
    manager: Manager,
    clock: Clock,
    workers: Vec<(Arc<Shared>, Thread)>,
    /// The source's entries in addition to the table, and its last error; written by a separate thread.
    found: Arc<Mutex<Found>>,
    /// The version of `found` that the workers have.
    announced: u64,
    said: Option<String>,
    /// The time of the last warning and the counters then, so that a flood logs one line per minute.
    warned: (Option<Time>, Totals),
    /// The number of packets received, and when it last changed.
    came: (u64, Time),
}

#[derive(Debug, Default)]
struct Found {
    version: u64,
    entries: Vec<Entry>,
    error: Option<String>,
    /// The source to query, with its interval.
    source: Option<Source>,
}

impl Found {
    /// Takes the answer of this source, which counts unless the source was changed in the meantime.
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
/// If it cannot start, or a queue fails.
pub fn run(start: Start) -> Result<(), Error> {
    let config = Config::read(&start.file)?;
    let manager = Manager::find();
    if let Some(device) = missing(&config).next() {
        return Err(Error::Refused(format!("{}: {}", start.file.display(), absent(device))));
    }
    // Before anything is removed: existing rules may belong to a running process.
    let _only = only(&config.service)?;
    // From here on a signal ends the loop rather than the process, so that the rules are removed.
    let poller = Poller::new()?;
    let backend = rules::probe(&config)?;
    // Left over from a killed process.
    if config.rules.manage {
        rules::clear(backend);
    }
    let opened = open(&config)?;
    let keeper = config.rules.manage.then(|| Keeper::set(&config, backend)).transpose()?;
    begin(start, config, backend, keeper, manager, opened, poller)
}

/// Makes this process the only gateway of this network namespace.
///
/// # Errors
/// If there is another one.
pub fn only(service: &Service) -> Result<Instance, Error> {
    Ok(Instance::take(SERVICE, &service.user, service.socket.parent().unwrap_or(Path::new("/")))?)
}

/// The devices in the file that do not exist.
fn missing(config: &Config) -> impl Iterator<Item = &String> {
    config.devices.iter().filter(|device| nix::net::if_::if_nametoindex(device.as_str()).is_err())
}

fn absent(device: &str) -> String {
    format!("mesh.devices: found {device:?}, allowed: a device of this machine (ip link shows them)")
}

/// One socket per worker, with its two queues, one per direction.
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

/// An error for a queue that cannot be opened, with advice.
fn advised(error: fourhop_live::Error) -> Error {
    match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::Refused(format!(
            "{error}: another program uses it, or this one lacks CAP_NET_ADMIN; stop the other, or run this as root"
        )),
        _ => error.into(),
    }
}

/// A killed process may keep its queues for a moment.
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
    // The legacy iptables talks to the kernel through raw sockets.
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
        // Before it takes its first packet: until it checks its orders again, packets would pass unpaced.
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

/// Options of the workers, and hop counts of the nodes.
fn orders(config: &Config, dry_run: bool, found: &[Entry]) -> (Gap, Arc<Routes>) {
    let routes = Routes::new(&config.table, found, config.rate, config.source == Source::Ttl);
    (Gap { observe: dry_run, ..config.gap }, Arc::new(routes))
}

/// A thread that queries hop counts repeatedly: a query may take a while.
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

/// Sixteen secret random bytes.
fn key() -> Result<HashKey, Error> {
    let mut bytes = [0; 16];
    let failed = || "/dev/urandom".to_owned();
    std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).tried(failed)?;
    let (first, second) = bytes.split_at(8);
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    Ok(HashKey([word(first), word(second)]))
}

fn json(status: &Status) -> String {
    // INVARIANT: it contains only numbers and text.
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
            (false, _) => "external rules",
            (true, Backend::Nft) => "nft",
            (true, Backend::Iptables) => "iptables",
        };
        let mode = self.config.gap.mode.name();
        let only = if self.start.dry_run { ", dry run" } else { "" };
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

    /// Passes on hop counts that the workers do not have yet.
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

    /// Reloads the file. If it is invalid, the old configuration stays.
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
            "; [rules], [service], limits.flows, limits.nodes and limits.packets take effect after a restart"
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

    /// The combined status of all workers.
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
                // A node with flows at several workers.
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
            // Packet numbers reveal a full queue at once, but not a queue without a listener.
            status.totals.overload = status.totals.overload.max(state.unpaced);
        }
        status.problems.extend(self.pulse.problem());
        // A kernel that does not answer is not a problem of the devices.
        status.problems.extend(look::devices().map_or(vec![], |devices| look::idle(&self.config.devices, &devices)));
        status.state = State::of(&status);
        status.nodes.sort_by_key(|node| std::cmp::Reverse(node.into_bytes + node.out_bytes));
        status.flows.sort_by_key(|flow| std::cmp::Reverse(flow.into_bytes + flow.out_bytes));
        status
    }

    /// Logs, at most once a minute, what an operator should know.
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

    /// Cleans up: rules first, so that nothing new arrives.
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

/// Whether a change cannot be applied by a running gateway.
fn holds_later(old: &Config, new: &Config) -> bool {
    let fixed = |config: &Config| {
        let Config { rules, gap, packets, service, .. } = config.clone();
        (rules.queue, rules.workers, rules.manage, rules.backend, packets, service, gap.flows, gap.nodes)
    };
    fixed(old) != fixed(new)
}

/// The larger of quantiles that cannot be merged.
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

#[cfg(test)]
mod tests;
