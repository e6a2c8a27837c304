//! A daemon in a network namespace, with the test at the other end of its interface.

use super::*;
use crate::engine::Datagram;
use crate::kept::Variable;
use crate::test_network::{in_namespace, with_tun};
use fourhop_live::device::{Device as Tap, Kind};
use fourhop_live::netlink::{Batch, Owner, mac};
use fourhop_proto::wire::{AodvMessage, Rrep};
use nix::net::if_::if_nametoindex;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::time::SystemTime;

const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const OWNER: Owner = Owner { protocol: 142, table: 142 };

fn ip(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fourhop-aodvd-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A daemon just before its main loop; a frame written to the device arrives at its interface.
fn with_daemon(name: &str, test: impl FnOnce(Daemon, Tap, &Path) + Send) {
    let folder = folder(name);
    with_tun(|| {
        let tap = Tap::create("mesh0", Kind::Tap).unwrap();
        let _ = namespace::set_variable("net/ipv6/conf/mesh0/disable_ipv6", "1");
        let device = if_nametoindex("mesh0").unwrap();
        let mut batch = Batch::default();
        batch.up(device, Some(1_400));
        batch.address(device, OWN, 32);
        batch.send().unwrap();
        let state = folder.join("state.json");
        let text = format!(
            "address = '{OWN}'\ninterfaces = ['mesh0']\nmesh = ['10.0.0.0/24']\n[hello]\nenabled = false\n\
             [system]\nuser = 'root'\nstate = '{}'\n",
            state.display()
        );
        let config = Config::parse(&text).unwrap();
        let ports = vec![Port::open("mesh0").unwrap()];
        let poller = Poller::without_signals().unwrap();
        let traffic = Traffic::start(&ports, 8, &poller, TRAFFIC).unwrap();
        let kernel = Kernel::start(&config, &ports).unwrap();
        let signals = Signals::start(&config, &[device]).unwrap();
        let numbers = Some(crate::engine::Numbers { seqno: 10, rreq_id: 1, stamp: 0 });
        let mut daemon = Daemon {
            engine: Engine::new(config, None, numbers, jitter(OWN)),
            ports,
            kernel,
            traffic,
            signals,
            watch: Watch::start().unwrap(),
            poller,
            clock: Clock::start(),
            kept: Kept::read(&state).unwrap(),
            counters: Counters::default(),
            changed: false,
            problems: Vec::new(),
            look: Time::ZERO + LOOK,
            unwritten: None,
            write: Time::ZERO,
            tasks: Vec::new(),
            buffer: vec![0; BUFFER],
            bytes: Vec::new(),
        };
        daemon.prepare_kernel().unwrap();
        test(daemon, tap, &state);
    });
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Destinations and times to live of the AODV datagrams sent.
fn sent(tap: &Tap) -> Vec<(Ipv4Addr, u8)> {
    let mut buffer = [0; 2_000];
    let mut all = Vec::new();
    while let Some(len) = tap.receive(&mut buffer).unwrap() {
        if len > 42 && buffer[12..14] == [8, 0] && buffer[36..38] == AodvMessage::PORT.to_be_bytes() {
            all.push((Ipv4Addr::new(buffer[30], buffer[31], buffer[32], buffer[33]), buffer[22]));
        }
    }
    all
}

/// A frame of the neighbour 10.0.0.2 with a message for the daemon.
fn frame(daemon: &Daemon, message: &AodvMessage) -> Vec<u8> {
    let mut payload = Vec::new();
    encode::aodv(message, &mut payload);
    let (udp, len) = (8 + payload.len() as u16, 28 + payload.len() as u16);
    let mut ip = [&[0x45, 0][..], &len.to_be_bytes(), &[0, 1, 0, 0, 5, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1]].concat();
    let sum: u32 = ip.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]]))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let port = AodvMessage::PORT.to_be_bytes();
    let to = mac(daemon.ports[0].device).unwrap();
    [&to[..], &[2, 0, 0, 0, 0, 2, 8, 0], &ip, &port, &port, &udp.to_be_bytes(), &[0, 0], &payload].concat()
}

fn reply(n: u8) -> AodvMessage {
    AodvMessage::Rrep(Rrep {
        hop_count: 0,
        destination: ip(n),
        destination_seqno: 7,
        originator: OWN,
        lifetime_ms: 6_000,
        ack_required: false,
        cost: None,
    })
}

fn routes() -> Vec<(Ipv4Addr, u8)> {
    Batch::all_of(OWNER.protocol).unwrap().routes.into_iter().map(|(_, to, ..)| to).collect()
}

#[test]
fn the_clock_of_the_day_counts_microseconds_since_1970() {
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let (before, between, after) = (now(), Duration::from_micros(wall()), now());
    assert!(between + Duration::from_micros(1) > before && between <= after, "{before:?} {between:?} {after:?}");
}

#[test]
fn a_folder_that_is_missing_is_made_and_one_that_is_there_stays_somebodys() {
    let folder = folder("prepare");
    let file = folder.join("deep").join("state.json");
    prepare(&file, "root").unwrap();
    assert!(folder.join("deep").is_dir() && !file.exists());
    prepare(&file, "nobody-of-that-name").unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_kernel_gets_routes_and_loses_them_and_all_that_was_set_at_the_end() {
    let value = |name: &str| std::fs::read_to_string(Path::new("/proc/sys").join(name)).unwrap().trim().to_owned();
    with_daemon("routes", |mut daemon, _tap, state| {
        let set = Kept::read(state).unwrap().take_variables();
        assert!(!set.is_empty() && value("net/ipv4/conf/mesh0/send_redirects") == "0", "{set:?}");
        assert!(set.iter().all(|variable| value(&variable.name) != variable.before), "{set:?}");
        assert_eq!(routes(), [(ip(0), 24)], "the network leads to the device for packets without a route");
        assert_eq!(Kept::read(state).unwrap().numbers(OWN).map(|numbers| numbers.seqno), Some(1_010), "ahead");
        for (destination, next_hop) in [(ip(2), ip(2)), (ip(9), ip(2))] {
            daemon.tasks.push(Task::Up { destination, next_hop, interface: 0 });
        }
        daemon.perform();
        assert!(std::mem::take(&mut daemon.changed) && daemon.tasks.is_empty());
        assert_eq!(routes(), [(ip(0), 24), (ip(2), 32), (ip(9), 32)]);
        let present = Batch::all_of(OWNER.protocol).unwrap().routes;
        let device = daemon.ports[0].device;
        assert!(present.contains(&(142, (ip(9), 32), Some(ip(2)), device, 0)), "{present:?}");
        assert!(present.contains(&(142, (ip(2), 32), None, device, 0)), "itself: {present:?}");
        daemon.tasks.push(Task::Down { destination: ip(9) });
        daemon.perform();
        assert!(daemon.changed);
        assert_eq!((routes(), daemon.kernel.refused), (vec![(ip(0), 24), (ip(2), 32)], 0));
        let packet = Ipv4Packet::from_bytes(&frame(&daemon, &reply(2))[14..]).unwrap();
        daemon.tasks.push(Task::Lost { packet, reason: DropReason::NoRoute });
        daemon.perform();
        assert_eq!(daemon.counters.lost, [(DropReason::NoRoute.name(), 1)].into());
        daemon.end().unwrap();
        let left = Batch::all_of(OWNER.protocol).unwrap();
        assert!(left.routes.is_empty() && left.rules.is_empty(), "{left:?}");
        // The device for packets without a route is gone, along with its variables.
        let mut there = set.iter().filter(|variable| !variable.name.contains("aodv0"));
        assert!(there.all(|variable| value(&variable.name) == variable.before), "{set:?}");
        let mut kept = Kept::read(state).unwrap();
        assert_eq!(kept.numbers(OWN).map(|numbers| numbers.seqno), Some(10), "exact");
        assert!(kept.take_variables().is_empty());
    });
}

#[test]
fn what_a_killed_daemon_has_left_is_taken_back_once() {
    with_daemon("clean", |daemon, tap, state| {
        let config = daemon.engine.config().clone();
        let variables = Kept::read(state).unwrap().take_variables();
        // Its devices, and their routes, go with it.
        drop((daemon, tap));
        let there = |variable: &&Variable| Path::new("/proc/sys").join(&variable.name).exists();
        assert!(variables.iter().any(|variable| there(&variable)));
        assert_eq!(clean(&config).unwrap(), (1, variables.len()), "the rule");
        for variable in variables.iter().filter(there) {
            let value = std::fs::read_to_string(Path::new("/proc/sys").join(&variable.name)).unwrap();
            assert_eq!(value.trim(), variable.before, "{}", variable.name);
        }
        assert_eq!(clean(&config).unwrap(), (0, 0));
        std::fs::remove_file(state).unwrap();
        assert_eq!(clean(&config).unwrap(), (0, 0), "without a file");
    });
}

#[test]
fn a_second_daemon_is_refused_before_it_changes_anything() {
    let folder = folder("second");
    let path = folder.join("control");
    let first = control::Server::start(&path).unwrap();
    let system = format!("[system]\ncontrol = '{0}'\nstate = '{0}.json'", path.display());
    let text = format!("address = '{OWN}'\ninterfaces = ['mesh0']\nmesh = ['10.0.0.0/24']\n{system}");
    let said = format!(
        "system.control: found {}, but another daemon listens there; stop it, or choose another path",
        path.display()
    );
    assert_eq!(run(Config::parse(&text).unwrap()).unwrap_err().to_string(), said);
    drop(first);
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_route_that_the_kernel_refuses_is_counted() {
    with_daemon("refused", |mut daemon, _tap, _| {
        daemon.kernel.up(ip(9), ip(2), 0x7fff_ffff);
        daemon.kernel.flush();
        daemon.kernel.flush();
        assert_eq!(daemon.report(Time::ZERO).daemon["kernel_refused"], 1);
        daemon.kernel.down(ip(9));
        daemon.kernel.flush();
        assert_eq!(daemon.kernel.refused, 1, "one that has gone already is no refusal");
    });
}

#[test]
fn a_service_manager_is_notified_three_times_in_the_silence_that_it_allows() {
    assert_eq!([None, Some(300), Some(60)].map(|s| tick(s.map(Duration::from_secs))), [TICK; 3]);
    assert_eq!(tick(Some(Duration::from_millis(2_999))), Dur::from_nanos(999_666_666));
    assert_eq!(tick(Some(Duration::MAX)), TICK);
}

#[test]
fn what_is_due_is_done_at_its_time() {
    with_daemon("due", |mut daemon, tap, _| {
        assert_eq!(daemon.next_timeout(), daemon.look, "nothing else waits");
        let program = UdpSocket::bind((OWN, 0)).unwrap();
        program.send_to(b"hello", (ip(2), 5_000)).unwrap();
        daemon.catch();
        sent(&tap);
        let repeated = daemon.next_timeout();
        assert!(repeated < daemon.look);
        daemon.do_what_is_due(repeated - Dur::from_nanos(1)).unwrap();
        assert!(sent(&tap).is_empty(), "too early");
        daemon.do_what_is_due(repeated).unwrap();
        assert_eq!(sent(&tap).len(), 1, "the request is repeated");
        daemon.traffic.passed(Time::ZERO, 0, &daemon.poller);
        let look = daemon.next_timeout();
        assert_eq!(Some(look), daemon.traffic.next_timeout());
        daemon.do_what_is_due(look).unwrap();
        assert!(daemon.traffic.next_timeout().is_none() && daemon.counters.frames_seen > 0);
        Batch::remove_all_of(OWNER.protocol).unwrap();
        let restored = daemon.look;
        daemon.do_what_is_due(restored - Dur::from_nanos(1)).unwrap();
        assert_eq!(daemon.counters.restored, 0);
        daemon.do_what_is_due(restored).unwrap();
        assert_eq!((daemon.counters.restored, daemon.look), (2, restored + LOOK));
    });
}

#[test]
fn messages_go_out_by_the_interface_that_they_are_for() {
    with_daemon("messages", |mut daemon, tap, _| {
        sent(&tap);
        let datagram = |interface| Datagram { interface, to: Ipv4Addr::BROADCAST, ttl: 7, payload: vec![4, 0] };
        daemon.tasks.extend([None, Some(0), Some(1)].map(|interface| Task::Send(datagram(interface))));
        daemon.perform();
        assert_eq!((sent(&tap), daemon.counters.send_failed), (vec![(Ipv4Addr::BROADCAST, 7); 2], 0));
        drop(tap);
        daemon.tasks.push(Task::Send(datagram(None)));
        daemon.perform();
        assert_eq!(daemon.counters.send_failed, 1);
    });
}

#[test]
fn a_packet_without_a_route_is_searched_for_and_released_when_the_answer_comes() {
    with_daemon("search", |mut daemon, tap, _| {
        let program = UdpSocket::bind((OWN, 0)).unwrap();
        sent(&tap);
        program.send_to(b"hello", (ip(2), 5_000)).unwrap();
        daemon.catch();
        assert_eq!((daemon.counters.caught, sent(&tap).len()), (1, 1), "a request");
        daemon.poller.add(&daemon.ports[0], 0).unwrap();
        tap.deliver(&frame(&daemon, &reply(2))).unwrap();
        let (mut ready, end) = (Vec::new(), daemon.clock.now() + Dur::from_secs(10));
        while !ready.contains(&Ready::Readable(0)) && daemon.clock.now() < end {
            daemon.poller.wait(&daemon.clock, end, &mut ready).unwrap();
        }
        assert!(!daemon.take(&ready).unwrap());
        assert_eq!((routes(), daemon.counters.released), (vec![(ip(0), 24), (ip(2), 32)], 1));
        daemon.look(daemon.clock.now(), true).unwrap();
        assert_eq!(daemon.traffic.mac(ip(2)), Some([2, 0, 0, 0, 0, 2]));
        assert!(daemon.counters.frames_seen > 0 && daemon.counters.release_failed == 0);
        daemon.kernel.refused = 3;
        let report = daemon.report(daemon.clock.now());
        assert_eq!(report.neighbours[0].mac.as_deref(), Some("02:00:00:00:00:02"));
        assert_eq!((report.daemon["kernel_refused"], report.daemon["released"]), (3, 1));
        // The link breaks, and the route with it.
        daemon.fail(daemon.clock.now(), ip(2), DropReason::LinkBroken);
        assert_eq!(routes(), [(ip(0), 24)]);
    });
}

#[test]
fn what_another_program_takes_away_is_put_back() {
    with_daemon("restored", |mut daemon, _tap, _| {
        let now = Time::from_secs(1);
        daemon.restore_routes(now);
        assert_eq!((daemon.look, daemon.counters.restored), (now + LOOK, 0), "nothing is missing");
        daemon.hear_kernel(now).unwrap();
        daemon.look = now + LOOK;
        assert_eq!(Batch::remove_all_of(OWNER.protocol).unwrap(), 2, "a rule and the network");
        daemon.hear_kernel(now).unwrap();
        assert_eq!(daemon.look, now + LOOK_SOON, "the kernel has said that they are gone");
        daemon.restore_routes(daemon.look);
        assert_eq!((daemon.counters.restored, routes()), (2, vec![(ip(0), 24)]));
        assert_eq!(Batch::all_of(OWNER.protocol).unwrap().rules, [(142, 1_000)].into());
        assert_eq!(daemon.kernel.refused, 0);
    });
}

#[test]
fn a_device_that_goes_is_a_problem_and_its_links_are_broken() {
    with_daemon("device", |mut daemon, tap, _| {
        daemon.look_at_devices().unwrap();
        assert!(daemon.problems.is_empty() && !daemon.changed);
        let mut payload = Vec::new();
        encode::aodv(&reply(2), &mut payload);
        let arrival = Arrival { interface: 0, from: ip(2), to: OWN, ttl: 5, strength: None };
        daemon.engine.handle_datagram(daemon.clock.now(), 0, arrival, &payload, &mut daemon.tasks).unwrap();
        daemon.perform();
        assert!(daemon.engine.leads_over(ip(2)));
        daemon.changed = false;
        drop(tap);
        daemon.hear_kernel(daemon.clock.now()).unwrap();
        assert_eq!(daemon.problems, ["device mesh0 has disappeared"]);
        assert!(daemon.changed && !daemon.engine.leads_over(ip(2)));
        assert_eq!(daemon.counters.failures_device, 1);
        daemon.unwritten = Some("a full disk".to_owned());
        assert_eq!(daemon.report(Time::ZERO).problems, ["device mesh0 has disappeared", "a full disk"]);
    });
}

#[test]
fn numbers_that_cannot_be_written_are_a_problem_until_they_can() {
    with_daemon("unwritten", |mut daemon, _tap, state| {
        let obstacle = state.with_extension("new");
        let at = Time::from_secs;
        daemon.keep(at(1));
        assert_eq!((&daemon.unwritten, daemon.write), (&None, Time::ZERO));
        // A missing file, as if the numbers had caught up with those written.
        std::fs::remove_file(state).unwrap();
        daemon.kept = Kept::read(state).unwrap();
        std::fs::create_dir(&obstacle).unwrap();
        daemon.keep(at(2));
        let words = daemon.unwritten.clone().unwrap();
        assert!(words.starts_with("cannot write the numbers that a restart needs: "), "{words}");
        assert_eq!((daemon.write, daemon.counters.unwritten), (at(3), 1));
        std::fs::remove_dir(&obstacle).unwrap();
        daemon.keep(at(3) - Dur::from_nanos(1));
        assert!(daemon.unwritten.is_some() && !state.exists(), "not before it is time");
        daemon.keep(at(3));
        assert!(daemon.unwritten.is_none() && state.exists());
    });
}

#[test]
fn signals_that_end_a_service_end_it_and_others_do_not() {
    with_daemon("signals", |mut daemon, _tap, _| {
        for (signal, ends) in [(Signal::SIGHUP, false), (Signal::SIGCHLD, false), (Signal::SIGTERM, true)] {
            assert_eq!(daemon.take(&[Ready::Signal(signal)]).unwrap(), ends, "{signal}");
        }
        assert!(daemon.take(&[Ready::Signal(Signal::SIGINT)]).unwrap());
        let unknown = [TRAFFIC, CAUGHT, WATCH, SIGNALS, SIGNALS + 1].map(Ready::Readable);
        assert!(!daemon.take(&unknown).unwrap(), "nothing has come");
        let pause = daemon.traffic.next_timeout();
        assert!(pause.is_some(), "packets that have passed are looked at later");
    });
}

#[test]
fn variables_are_set_back_where_they_are() {
    in_namespace(|| {
        let name = "net/ipv4/conf/lo/accept_local".to_owned();
        kernel::restore(&[Variable { name: name.clone(), before: "1".to_owned() }]);
        let value = std::fs::read_to_string(Path::new("/proc/sys").join(&name)).unwrap();
        assert_eq!(value.trim(), "1");
    });
}
