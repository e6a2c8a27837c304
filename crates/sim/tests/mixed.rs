//! 802.11a stations among 802.11n stations: air times by hand, throughput of a mixed cell, protection.

use crate::bianchi;
use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::{Scenario, load_toml};
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Bytes, Dur, Rate};

/// Three nodes a few metres apart; `legacy` nodes have no MCS. Flows are pairs of nodes with more to send than fits.
fn cell(legacy: &str, mac: &str, flows: &[(u32, u32)]) -> (Scenario, RunResult) {
    let mut text = format!(
        "profile = 'standard'\nduration = '8s'\nwarmup = '1s'\n[topology]\nkind = 'positions'\n\
         positions = [['0m', '0m'], ['3m', '0m'], ['0m', '1m']]\n[radio]\nmodel = 'sinr'\nphy = 'ht'\n\
         frame_capture = 'none'\n[mac]\nrts_threshold = '64kB'\nanswer_rate = 'mandatory'\n{mac}\n\
         [routing]\nprotocol = 'static'\n[link]\narp = false\n{legacy}\n"
    );
    for (from, to) in flows {
        text +=
            &format!("[[flows]]\nfrom = {from}\nto = {to}\ntransport = 'udp'\nrate = '80Mbps'\npayload = '1472B'\n");
    }
    let scenario = load_toml(&text, "cell.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    for (layer, balance) in &result.conservation {
        assert_eq!(balance.taken, balance.passed + balance.dropped + balance.held, "{layer}");
    }
    (scenario, result)
}

const OLD: &str = "[[nodes]]\nnode = 2\nphy = 'ofdm'\n";
const US: fn(u64) -> Dur = Dur::from_micros;
/// 1,472 bytes, 28 of UDP and IP, 36 of LLC, addresses and FCS: 57 symbols of 216 bits at 54 Mbit/s after 20 us.
const SINGLE: u64 = 20 + 4 * 57;
/// An ACK and a BlockAck at 24 Mbit/s: two and three symbols of 96 bits.
const ACK: u64 = 20 + 4 * 2;
const BLOCK_ACK: u64 = 20 + 4 * 3;
const SIFS: u64 = 16;
const DIFS: u64 = 34;

/// 28 MPDUs of 1,538 bytes fit into 5,484 us at 65 Mbit/s.
const MPDUS: u64 = 28;

fn aggregate() -> Dur {
    let mcs = Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap();
    mcs.airtime(fourhop_proto::phy::PhyKind::Ofdm, Bytes(MPDUS * 1544 - 2))
}

// DIFS, 7.5 slots of 9 us on average, the frame, SIFS, ACK; 3 m take 10 ns.
#[test]
fn between_old_and_new_each_packet_is_a_frame_of_its_own() {
    let expected = 1472.0 * 8.0 / ((DIFS + SINGLE + SIFS + ACK) as f64 + 7.5 * 9.0);
    for (from, to) in [(0, 2), (2, 0)] {
        let (scenario, result) = cell(OLD, "", &[(from, to)]);
        assert_eq!(scenario.mac_config().without_mcs().data_airtime(Bytes(1500), Rate::kbps(54_000)), US(SINGLE));
        let found = result.flows[0].goodput_bps / 1e6;
        assert!((found / expected - 1.0).abs() < 0.003, "{from} to {to}: {found} of {expected} Mbit/s");
        assert_eq!(result.counters["mac"]["mpdus_sent"], 0);
    }
    // Two 802.11n stations next to it still use aggregates.
    let (_, result) = cell(OLD, "", &[(0, 1)]);
    let expected =
        (MPDUS * 1472 * 8) as f64 / (aggregate().as_secs_f64() * 1e6 + (DIFS + SIFS + BLOCK_ACK) as f64 + 67.5);
    let found = result.flows[0].goodput_bps / 1e6;
    assert!((found / expected - 1.0).abs() < 0.003, "{found} of {expected} Mbit/s");
}

/// Both stations send to node 0. Each has about as many exchanges as the other, so the one without aggregates has a
/// 28th of the packets. This is Bianchi's model for two, with the mean of both exchanges, and the aggregate's air time
/// if both collide. The old station is closer, so no aggregate survives a collision. It has somewhat more turns than in
/// the model: we think because the other one waits for an answer after a collision (SIFS and BlockAck, six slots) when
/// the old one's wait is long over.
#[test]
fn an_old_station_has_as_many_turns_and_one_packet_in_each() {
    let (scenario, result) = cell(OLD, "", &[(1, 0), (2, 0)]);
    let mac = scenario.mac_config();
    let success = (aggregate() + US(SIFS + BLOCK_ACK) + US(SINGLE + SIFS + ACK)) / 2 + mac.difs();
    let collision = aggregate() + mac.eifs();
    let model = |packets: u64| bianchi::throughput(2, &mac, success, collision, Bytes(packets * 1472 / 2)) / 1e6;
    let found = [0, 1].map(|flow| result.flows[flow].goodput_bps / 1e6);
    println!("{found:?}, model {} {}", model(MPDUS), model(1));
    for (found, model, range) in [(found[0], model(MPDUS), 0.95..1.02), (found[1], model(1), 1.0..1.18)] {
        assert!(range.contains(&(found / model)), "{found} of {model} Mbit/s");
    }
}

#[test]
fn aggregates_are_protected_where_an_old_station_is() {
    let sent = |legacy: &str, protection: &str| {
        let (_, result) = cell(legacy, &format!("protection = '{protection}'"), &[(1, 0), (2, 0)]);
        let count = |name: &str| result.counters["mac"][name];
        println!("{legacy:?} {protection}: {:?}", [0, 1].map(|flow| result.flows[flow].goodput_bps / 1e6));
        (count("self_cts_sent"), result.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>())
    };
    assert_eq!(sent("", "auto").0, 0);
    let ((none, open), (protected, carried)) = (sent(OLD, "none"), sent(OLD, "auto"));
    assert!(none == 0 && protected > 500, "{none} {protected}");
    // A collision costs a CTS and a short frame instead of an aggregate.
    assert!(carried > 1.05 * open, "{carried} with protection, {open} without");
}

/// An old station knows the duration of an aggregate that it cannot decode, and never starts during one.
#[test]
fn an_old_station_keeps_off_aggregates() {
    let (_, result) = cell(OLD, "", &[(0, 1), (2, 0)]);
    // Only collisions: the two have one in about eight exchanges.
    let (timeouts, sent) = (result.counters["mac"]["data_timeouts"], result.counters["mac"]["data_sent"]);
    println!("{timeouts} of {sent}");
    assert!(timeouts * 5 < sent, "{timeouts} of {sent}");
    let lost: u64 = result.drops.get("mac").map_or(0, |drops| drops.values().sum());
    assert_eq!(lost, 0, "{:?}", result.drops);
}
