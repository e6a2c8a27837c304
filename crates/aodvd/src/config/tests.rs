use super::*;
use fourhop_proto::route::aodv::{SearchTimeout, SignalConfig};

const LEAST: &str = "address = '10.0.0.1'\ninterfaces = ['mesh0']\nmesh = ['10.0.0.0/9']\n";

#[test]
fn the_least_file_is_rfc_3561_with_hello() {
    let config = Config::parse(LEAST).unwrap();
    let aodv = config.aodv();
    assert_eq!(aodv.hello.map(|hello| (hello.interval, hello.allowed_loss)), Some((Dur::from_secs(1), 2)));
    assert_eq!((aodv.ttl_start, aodv.net_diameter, aodv.signal), (2, 35, None));
    assert_eq!((aodv.repair, aodv.reply_ack_wait), (RepairRule::Off, None));
    assert_eq!(aodv.active_route_timeout, Dur::from_secs(3));
    assert_eq!(config.system.owner().protocol, (654 % 256) as u8);
    assert!(config.is_routed([10, 127, 0, 1].into()) && !config.is_routed([10, 128, 0, 1].into()));
}

#[test]
fn the_papers_routing_is_a_threshold_and_a_source() {
    let text =
        format!("{LEAST}[signal]\nsource = 'nl80211'\nthreshold = '-80.5dBm'\n[routing]\nrequest_wait = '320ms'");
    let aodv = Config::parse(&text).unwrap().aodv();
    let signal = aodv.signal.unwrap();
    assert!((signal.threshold.0 + 80.5).abs() < 1e-9, "{signal:?}");
    assert_eq!(signal, SignalConfig::paper(signal.threshold));
    assert_eq!(aodv.search_timeout, SearchTimeout::Fixed(Dur::from_millis(320)));
}

#[test]
fn errors_say_what_is_allowed() {
    for (text, said) in [
        (
            "address = '10.0.0.1'\ninterfaces = []\nmesh = ['10.0.0.0/9']",
            "interfaces: found an empty list, allowed: a list of at least 1",
        ),
        (
            "address = '10.0.0.1'\ninterfaces = ['x']\nmesh = ['10.1.0.0/16']",
            "mesh: found networks without 10.0.0.1, allowed:",
        ),
        ("address = '10.0.0.1'\ninterfaces = ['x']\nmesh = ['fd00::/8']", "each item an IPv4 network"),
        (&format!("{LEAST}[signal]\nthreshold = '-70dBm'"), "allowed: a threshold only with a source"),
        (&format!("{LEAST}[signal]\nsource = 'monitor'"), "signal.monitor: missing"),
        (&format!("{LEAST}[signal]\nsource = 'magic'"), "signal.source: found \"magic\", allowed: \"nl80211\" or"),
        (&format!("{LEAST}[limits]\nroutes = 0"), "limits.routes: found 0, allowed: a whole number from 4 to 100000"),
        (&format!("{LEAST}[signal]\nthreshold = -80.0"), "the unit is missing"),
        (&format!("{LEAST}[routing]\nttl = 3"), "routing.ttl: found an unknown key"),
        (&format!("{LEAST}[device]\n"), "failures, limits, authentication, system"),
        (
            &format!("{LEAST}[signal]\nsource = 'nl80211'\nweight = 1.5"),
            "signal.weight: found 1.5, allowed: a number from",
        ),
        (&format!("{LEAST}[authentication]\nsign_with = 1\nkeys = []"), "sign_with: found 1, allowed: the id"),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn of_the_plan_the_longer_network_decides() {
    let config = Config::parse(&format!("outside = ['0.0.0.0/0']\n{LEAST}")).unwrap();
    assert!(config.plan().is_outside([192, 0, 2, 1].into()) && !config.plan().is_outside([10, 1, 0, 1].into()));
    assert!(config.is_mesh([10, 1, 0, 1].into()) && !config.is_mesh([192, 0, 2, 1].into()));
}

#[test]
fn without_hello_messages_searches_begin_as_the_profile_says() {
    for (line, ttl) in [("", 2), ("[hello]\nenabled = false", 1), ("[routing]\nttl_start = 1", 1)] {
        assert_eq!(Config::parse(&format!("{LEAST}{line}")).unwrap().aodv().ttl_start, ttl, "{line}");
    }
    let ns2 = Config::parse(&format!("profile = 'ns2'\n{LEAST}")).unwrap().aodv();
    assert_eq!((ns2.ttl_start, ns2.search_timeout), (5, route::Config::ns2().search_timeout));
}

#[test]
fn keys_are_files_with_numbers() {
    let keys = "[authentication]\nsign_with = 2\nkeys = [{ id = 1, file = 'a' }, { id = 2, file = 'b' }]";
    let authentication = Config::parse(&format!("{LEAST}{keys}")).unwrap().authentication.unwrap();
    assert_eq!((authentication.sign_with, authentication.keys.len(), authentication.require), (2, 2, true));
    let error = Config::parse(&format!("{LEAST}{}", keys.replace("id = 2", "di = 2"))).unwrap_err().to_string();
    assert!(error.contains("authentication.keys[1].di: found an unknown key"), "{error}");
}

#[test]
fn the_document_has_every_key() {
    assert!(System::default().control.starts_with(RUN));
    file::assert_documented("aodvd.md", &reference());
}

#[test]
fn a_problem_is_reported_with_its_file_and_line() {
    let file = std::env::temp_dir().join(format!("fourhop-aodvd-config-{}.toml", std::process::id()));
    std::fs::write(&file, LEAST).unwrap();
    assert_eq!(Config::read(&file).unwrap(), Config::parse(LEAST).unwrap());
    std::fs::write(&file, format!("{LEAST}outside = ['x']\n")).unwrap();
    let error = Config::read(&file).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}:4", file.display())) && error.contains("outside"), "{error}");
    std::fs::remove_file(&file).unwrap();
    let error = Config::read(&file).unwrap_err().to_string();
    assert!(error.contains(&*file.to_string_lossy()), "{error}");
}

#[test]
fn each_limit_is_that_of_its_key() {
    let text = format!("{LEAST}[limits]\nroutes = 5\nrequests = 6\nneighbours = 7\nmessages = 8");
    let limits = Config::parse(&text).unwrap().limits.limits();
    assert_eq!(limits, Limits { routes: 5, requests: 6, neighbours: 7, messages: 8 });
    let standard = Config::parse(LEAST).unwrap().limits.limits();
    assert_eq!(standard, Limits { routes: 1_000, requests: 4_000, neighbours: 128, messages: 256 });
}

#[test]
fn repair_and_acknowledgements_of_replies_are_asked_for() {
    let text = format!("{LEAST}[routing]\nlocal_repair = true\nreply_acks = true\nnode_traversal_time = '50ms'");
    let aodv = Config::parse(&text).unwrap().aodv();
    assert_eq!((aodv.repair, aodv.repair_without_packet), (RepairRule::WithinMaxRepairTtl, true));
    assert_eq!(aodv.reply_ack_wait, Some(Dur::from_millis(60)), "NEXT_HOP_WAIT of RFC 3561 section 10");
    // A kernel treats packets the same in each profile.
    for profile in ["standard", "ns2"] {
        let aodv = Config::parse(&format!("profile = '{profile}'\n{LEAST}")).unwrap().aodv();
        assert!(aodv.repair_seqno_incremented && aodv.repair_failure_reported && aodv.control_breaks_links);
        assert!(aodv.link_layer_detection && !aodv.purge_queue && !aodv.repair_without_packet, "{profile}");
        assert_eq!((aodv.data_ttl, aodv.reply_ack_wait), (None, None), "{profile}");
    }
}

#[test]
fn a_threshold_needs_hellos_and_an_emulator_its_socket() {
    let source = "[signal]\nsource = 'emulator'";
    for (text, said) in [
        (source.to_owned(), "signal.emulator: missing, allowed: the path of the emulator's socket"),
        (
            format!("{source}\nemulator = '/x'\nthreshold = '-80dBm'\n[hello]\nenabled = false"),
            "hello.enabled: found false with signal.threshold, allowed: true, since HELLOs are measured",
        ),
        (
            "[authentication]\nsign_with = 3\nkeys = [{ id = 1, file = 'a' }]".to_owned(),
            "authentication.sign_with: found 3, allowed: the id of one of the keys",
        ),
    ] {
        let error = Config::parse(&format!("{LEAST}{text}")).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    for text in [
        format!("{source}\nemulator = '/x'\n[hello]\nenabled = false"),
        format!("{source}\nemulator = '/x'\nthreshold = '-80dBm'"),
        "[signal]\nsource = 'monitor'\nmonitor = 'mon0'".to_owned(),
    ] {
        assert_eq!(Config::parse(&format!("{LEAST}{text}")).map(drop), Ok(()), "{text}");
    }
}

#[test]
fn routes_are_searched_for_in_the_mesh_behind_gateways_and_behind_this_node() {
    let text = format!("outside = ['192.0.2.0/24']\nannounce = ['198.51.100.0/24']\n{LEAST}");
    let config = Config::parse(&text).unwrap();
    for (address, routed, mesh, outside) in [
        ([10, 1, 0, 1], true, true, false),
        ([192, 0, 2, 1], true, false, true),
        ([198, 51, 100, 1], true, false, true),
        ([203, 0, 113, 1], false, false, false),
    ] {
        let address = Ipv4Addr::from(address);
        assert_eq!((config.is_routed(address), config.is_mesh(address)), (routed, mesh), "{address}");
        assert_eq!(config.plan().is_outside(address), outside, "{address}");
    }
}

#[test]
fn routes_are_written_under_the_protocol_and_table_of_the_file() {
    let config = Config::parse(&format!("{LEAST}[system]\nprotocol = 77\ntable = 1000")).unwrap();
    let owner = config.system.owner();
    assert_eq!((owner.protocol, owner.table), (77, 1_000));
    let standard = System::default();
    assert_eq!((standard.owner().table, standard.rule, &*standard.device), (142, 1_000, "aodv0"));
    assert_eq!((&*standard.user, standard.variables, standard.metrics), ("nobody", true, None));
}
