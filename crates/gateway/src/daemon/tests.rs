use super::*;
use crate::status::{Class, Flow};
use crate::worker::Report;
use fourhop_settings::Network;
use fourhop_units::Rate;
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
    let said = "a, b by iptables, 2 worker(s), mode gap, hops by the table, dry run";
    assert_eq!(daemon.summary(), said);
    for (more, end) in [
        ("hops = 'command'\ncommand = ['say', 'all']\n", "hops by the program say, dry run"),
        ("hops = 'aodv'\nsocket = '/s'\n[rules]\nmanage = false\n", "hops by fourhop-aodvd at /s, dry run"),
    ] {
        daemon.config = config(more);
        assert!(daemon.summary().ends_with(end), "{}", daemon.summary());
    }
    assert!(daemon.summary().starts_with("no-mesh0 by external rules, "), "{}", daemon.summary());
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
    // Node 5 has the most bytes, all of them out of the mesh.
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
    let said = Config::read(&file).unwrap_err().to_string();
    assert!(said.contains("/no/such/gateway.toml"), "{said}");
    assert_eq!(run(Start { file: file.clone(), dry_run: true }).unwrap_err().to_string(), said);
    assert_eq!(crate::check::check(&file).unwrap_err().to_string(), said);
}

/// Serves with a worker that runs or has ended, and these signals; returns the result and the status then.
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
    // On a separate thread, in which signals stay blocked.
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
fn at_the_end_workers_are_notified_and_their_errors_are_reported() {
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
    let more = Class { wireless_rtt_s: Some(0.2), wired_rtt_s: Some(0.3), interval_s: Some(0.4), ..Class::default() };
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
fn who_may_not_have_a_queue_hears_what_to_do() {
    let said = |kind: std::io::ErrorKind| {
        advised(fourhop_live::Error { what: "packet queue 7".to_owned(), source: kind.into() }).to_string()
    };
    let advice = "another program uses it, or this one lacks CAP_NET_ADMIN; stop the other, or run this as root";
    assert_eq!(said(std::io::ErrorKind::PermissionDenied), format!("packet queue 7: permission denied: {advice}"));
    assert_eq!(said(std::io::ErrorKind::TimedOut), "packet queue 7: timed out");
}
