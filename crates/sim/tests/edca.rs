//! Access categories in whole networks: shares of a saturated cell compared with an analytic model, transmission
//! opportunities on the air, and random networks of 802.11n.

use crate::bianchi::cell;
use crate::common::accounts::check_accounts;
use crate::common::{build, line, tshark, udp};
use fourhop_proto::mac::{self, edca};
use fourhop_proto::node;
use fourhop_proto::phy::PhyKind;
use fourhop_proto::wire::{Category, FrameKind, PriorityMap};
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::Setup;
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Bytes, Dur, NodeId, Purpose, Rate, Stream, Time};
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Returns a DSCP of a category.
fn dscp(category: Category) -> u8 {
    category.tid() << 3
}

/// Adds access categories at 54 Mbit/s, with one exchange per opportunity.
fn with_edca(mut setup: Setup) -> Setup {
    let mut edca = edca::Config::standard(PhyKind::Ofdm);
    for parameters in [&mut edca.bk, &mut edca.be, &mut edca.vi, &mut edca.vo] {
        parameters.txop = Dur::ZERO;
    }
    setup.node.mac = mac::Config {
        data_rate: Rate::kbps(54_000),
        basic_rate: Rate::kbps(6_000),
        edca: Some(edca),
        ..setup.node.mac.with_phy(PhyKind::Ofdm)
    };
    setup.node.link.categories = Some(PriorityMap::ClassSelector);
    setup
}

/// A saturated cell in which each station sends in all categories of one of `kinds`, assigned cyclically.
fn categories_cell(stations: u32, kinds: &[&[Category]]) -> Setup {
    let mut setup = with_edca(cell(stations, false));
    setup.flows.clear();
    for n in 1..=stations {
        for &category in kinds[n as usize % kinds.len()] {
            let mut flow = udp(n, 0, Time::from_millis(u64::from(n)), Dur::from_micros(400));
            flow.dscp = dscp(category);
            setup.flows.push(flow);
        }
    }
    setup
}

/// Returns the bit/s delivered by each flow from 1 s to 11 s, as means of 2 runs.
fn delivered(setup: &Setup) -> Vec<f64> {
    let (from, to) = (Time::from_secs(1), Time::from_secs(11));
    let mut sums = vec![0.0; setup.flows.len()];
    for seed in 1..=2 {
        let (mut world, ends) = setup.build(seed, None).unwrap();
        let mut received = |at| -> Vec<u64> {
            world.run_until(at, &Control::new());
            let bytes = |(node, index): (NodeId, usize)| world.nodes()[node.index()].endpoints()[index].received.get();
            ends.iter().map(|ends| bytes(ends.receiver)).collect()
        };
        let before = received(from);
        for (sum, (after, before)) in sums.iter_mut().zip(received(to).into_iter().zip(before)) {
            *sum += (after - before) as f64 * 8.0 / (to - from).as_secs_f64() / 2.0;
        }
    }
    sums
}

/// Throughput of a category in a saturated cell, from the probability with which a function sends at a slot boundary at
/// which it may. Each function is modelled by Bianchi's chain (JSAC 18(3), 2000) with retry limits. Zones after a busy
/// period in which some AIFS is not over yet are those of Robinson and Randhawa ("Saturation throughput analysis of
/// IEEE 802.11e enhanced distributed coordination function", JSAC 22(5), 2004). A function takes one boundary for each
/// slot and one to send. Of several functions of one station, the more urgent one sends.
struct Model<'a> {
    setup: &'a Setup,
    /// Stations, each with its saturated categories in order of urgency.
    stations: Vec<Vec<Category>>,
}

/// How long the medium is busy, in seconds, including DIFS or EIFS.
struct Busy {
    slot: f64,
    success: f64,
    collision: f64,
}

impl Busy {
    fn of(setup: &Setup) -> Busy {
        let mac = &setup.node.mac;
        let data = mac.data_airtime(Bytes(1_460 + 28), mac.data_rate);
        let ack = mac.answer_airtime(mac.answer_to(mac.data_rate));
        Busy {
            slot: mac.slot.as_secs_f64(),
            success: (data + mac.sifs + ack + mac.difs()).as_secs_f64(),
            collision: (data + mac.eifs()).as_secs_f64(),
        }
    }
}

impl Model<'_> {
    fn parameters(&self, category: Category) -> edca::Parameters {
        *self.setup.node.mac.edca.unwrap().of(category)
    }

    /// Returns the attempts per boundary if an attempt collides with probability `p`.
    fn attempts(&self, category: Category, p: f64) -> f64 {
        let edca::Parameters { cw_min, cw_max, .. } = self.parameters(category);
        let (mut tried, mut boundaries, mut reached, mut cw) = (0.0, 0.0, 1.0, cw_min);
        for _ in 0..self.setup.node.mac.short_retry_limit {
            tried += reached;
            boundaries += reached * (f64::from(cw) / 2.0 + 1.0);
            reached *= p;
            cw = (2 * cw + 1).min(cw_max);
        }
        tried / boundaries
    }

    /// Whether a function of this category counts at boundary `k` after DIFS.
    fn active(&self, category: Category, k: u32) -> bool {
        k + 2 >= self.parameters(category).aifsn
    }

    /// Returns the probability that none of these functions sends at boundary `k`.
    fn silent(&self, tau: &[f64; 4], functions: &[Category], k: u32) -> f64 {
        let quiet = |&&category: &&Category| self.active(category, k);
        functions.iter().filter(quiet).map(|&category| 1.0 - tau[category as usize]).product()
    }

    /// Returns the probability that an attempt of station `at` in `category` at boundary `k` is the only one.
    fn alone(&self, tau: &[f64; 4], at: usize, category: Category, k: u32) -> f64 {
        let others = (0..self.stations.len()).filter(|&other| other != at);
        let urgent: Vec<_> = self.stations[at].iter().copied().filter(|&other| other > category).collect();
        others.map(|other| self.silent(tau, &self.stations[other], k)).product::<f64>() * self.silent(tau, &urgent, k)
    }

    /// Returns the throughput of each category in bit/s.
    fn throughput(&self) -> [f64; 4] {
        const BOUNDARIES: u32 = 600;
        let all = |tau: &[f64; 4], k| self.stations.iter().map(|own| self.silent(tau, own, k)).product::<f64>();
        // Probability that a boundary is reached between two busy periods.
        let reached = |tau: &[f64; 4]| -> Vec<f64> {
            (0..BOUNDARIES).scan(1.0, |at, k| Some(std::mem::replace(at, *at * all(tau, k)))).collect()
        };
        let mut tau = [0.05; 4];
        for _ in 0..120 {
            let reached = reached(&tau);
            let mut next = tau;
            for category in Category::ALL {
                let Some(at) = self.stations.iter().position(|own| own.contains(&category)) else { continue };
                let counted = || (0..BOUNDARIES).filter(|&k| self.active(category, k));
                let (mut visits, mut alone) = (0.0, 0.0);
                for k in counted() {
                    visits += reached[k as usize];
                    alone += reached[k as usize] * self.alone(&tau, at, category, k);
                }
                next[category as usize] = self.attempts(category, 1.0 - alone / visits);
            }
            tau = std::array::from_fn(|n| 0.8 * tau[n] + 0.2 * next[n]);
        }
        let busy = Busy::of(self.setup);
        let (mut idle, mut successes) = (0.0, [0.0; 4]);
        for (k, reached) in (0..).zip(reached(&tau)) {
            idle += reached * all(&tau, k);
            for (at, own) in self.stations.iter().enumerate() {
                for &category in own.iter().filter(|&&category| self.active(category, k)) {
                    successes[category as usize] +=
                        reached * tau[category as usize] * self.alone(&tau, at, category, k);
                }
            }
        }
        let good: f64 = successes.iter().sum();
        let cycle = idle * busy.slot + good * busy.success + (1.0 - good) * busy.collision;
        successes.map(|success| success * Bytes(1_460).bits() as f64 / cycle)
    }

    /// Returns the same by a walk from boundary to boundary, including the correlations that the chains leave out.
    fn walked(&self) -> [f64; 4] {
        struct Function {
            station: usize,
            category: Category,
            counter: u32,
            cw: u32,
            retries: u32,
        }
        let mut random = Stream::new(1, NodeId(0), Purpose::Backoff);
        let busy = Busy::of(self.setup);
        let stations = self.stations.iter().enumerate();
        let mut functions: Vec<_> = stations
            .flat_map(|(station, own)| own.iter().map(move |&category| (station, category)))
            .map(|(station, category)| {
                let cw = self.parameters(category).cw_min;
                Function { station, category, counter: random.below(cw + 1), cw, retries: 0 }
            })
            .collect();
        let (mut k, mut seconds, mut successes) = (0, 0.0, [0.0; 4]);
        while seconds < 200.0 {
            let due = |it: &Function| self.active(it.category, k) && it.counter == 0;
            let sender = |station| {
                let own = functions.iter().filter(|it| it.station == station && due(it));
                own.map(|it| it.category).max()
            };
            let senders: Vec<_> = (0..self.stations.len()).map(sender).collect();
            let count = senders.iter().flatten().count();
            for it in functions.iter_mut().filter(|it| self.active(it.category, k)) {
                if it.counter > 0 {
                    it.counter -= 1;
                    continue;
                }
                let edca::Parameters { cw_min, cw_max, .. } = self.parameters(it.category);
                let good = count == 1 && senders[it.station] == Some(it.category);
                successes[it.category as usize] += f64::from(u8::from(good));
                it.retries = if good { 0 } else { (it.retries + 1) % self.setup.node.mac.short_retry_limit };
                it.cw = if it.retries == 0 { cw_min } else { (2 * it.cw + 1).min(cw_max) };
                it.counter = random.below(it.cw + 1);
            }
            (k, seconds) = match count {
                0 => (k + 1, seconds + busy.slot),
                1 => (0, seconds + busy.success),
                _ => (0, seconds + busy.collision),
            };
        }
        successes.map(|count| count * Bytes(1_460).bits() as f64 / seconds)
    }
}

#[test]
fn categories_of_a_saturated_cell_get_what_the_models_predict() {
    use Category::{Be, Bk, Vi, Vo};
    // Allowed error of the chains, which ignore correlations, for the less urgent category, which has few packets.
    let cases: [(u32, &[&[Category]], f64); 6] = [
        (10, &[&[Be]], 0.02),
        (10, &[&[Be], &[Bk]], 0.06),
        (10, &[&[Vi], &[Be]], 0.06),
        (6, &[&[Vo], &[Be]], 0.25),
        (5, &[&[Be, Bk]], 0.08),
        (5, &[&[Vi, Be]], 0.08),
    ];
    for (stations, kinds, far) in cases {
        let setup = categories_cell(stations, kinds);
        let kinds_of = (1..=stations).map(|n| kinds[n as usize % kinds.len()].to_vec()).collect();
        let model = Model { setup: &setup, stations: kinds_of };
        let (predicted, walked) = (model.throughput(), model.walked());
        let measured = delivered(&setup);
        let most = Category::ALL.into_iter().filter(|category| kinds.iter().any(|kind| kind.contains(category))).max();
        for category in Category::ALL.into_iter().filter(|category| kinds.iter().any(|kind| kind.contains(category))) {
            let of_category = setup.flows.iter().zip(&measured).filter(|(flow, _)| flow.dscp == dscp(category));
            let sum: f64 = of_category.map(|(_, bps)| bps).sum();
            let [predicted, walked] = [predicted, walked].map(|model| sum / model[category as usize]);
            let case = format!("{stations} {kinds:?}, {category:?}: {predicted:.4} of the chains, {walked:.4} walked");
            let urgent = Some(category) == most;
            assert!((predicted - 1.0).abs() < if urgent { 0.02 } else { far }, "{case}");
            // Four standard deviations of the number of packets.
            let chance = 4.0 / (sum * 20.0 / Bytes(1_460).bits() as f64).sqrt();
            assert!((walked - 1.0).abs() < if urgent { 0.01 } else { chance.max(0.03) }, "{case}");
        }
    }
}

// AIFS + back-off | DATA |SIFS| ACK |SIFS| DATA |SIFS| ACK | ...
// 54 Mbit/s, ACK at 24 Mbit/s: 248 + 28 + 2 * 16 us each
#[test]
fn a_txop_on_the_air_is_what_its_duration_fields_say() {
    let mut setup = with_edca(line(node::Config::standard(), &[0.0, 100.0]));
    setup.node.mac.edca = Some(edca::Config::standard(PhyKind::Ofdm));
    setup.node.mac.rts_threshold = Bytes(10_000);
    setup.node.mac.answer_rate = mac::AnswerRate::Mandatory;
    let mut flow = udp(0, 1, Time::from_millis(1), Dur::from_micros(200));
    flow.dscp = dscp(Category::Vo);
    setup.flows.push(flow);
    let (mut world, _, recorder) = build(&setup, 1);
    world.run_until(Time::from_millis(300), &Control::new());
    let sent: Vec<_> = recorder.seen().into_iter().filter(|seen| seen.sent).collect();
    let (sifs, flight, limit) = (Dur::from_micros(16), Dur::from_nanos(333), Dur::from_micros(2_080));
    let mut opportunities = 0;
    let mut at = 0;
    while at + 20 < sent.len() {
        let begin = sent[at].at;
        let mut frames = 0;
        loop {
            let (data, ack) = (&sent[at], &sent[at + 1]);
            assert!(matches!(data.frame.kind, FrameKind::Data { qos: Some(Category::Vo), .. }), "{data:?}");
            assert_eq!(
                (ack.frame.kind.clone(), ack.at),
                (FrameKind::Ack, data.at + data.frame.airtime + flight + sifs)
            );
            let answered = ack.at + ack.frame.airtime + flight;
            (at, frames) = (at + 2, frames + 1);
            let reserved = data.at + data.frame.airtime + data.frame.duration;
            if reserved < answered + sifs {
                assert_eq!(ack.frame.duration, Dur::ZERO);
                assert!(answered <= begin + limit && reserved <= answered, "{frames}");
                break;
            }
            // The duration fields of this frame and of its ACK cover the rest, except for propagation delays, which are
            // unknown to the sender.
            let (next, its_ack) = (&sent[at], &sent[at + 1]);
            assert_eq!(next.at, answered + sifs);
            let ends = its_ack.at + its_ack.frame.airtime;
            let left = ack.at + ack.frame.airtime + ack.frame.duration;
            assert!(reserved <= ends && reserved + flight * 4 >= ends && reserved <= left && left <= ends);
        }
        opportunities += 1;
        // 6 * (248 + 28 + 32) - 16 us and propagation; initially fewer packets are queued.
        assert!(frames == 6 || begin < Time::from_millis(20), "{frames}");
    }
    let (frames, own) = world.nodes()[0].mac().counters_of(Category::Vo).unwrap();
    assert!(opportunities > 100 && own.txops.abs_diff(opportunities) <= 4, "{own:?}");
    assert!(
        own.continued > 4 * own.txops && frames.data_sent.abs_diff(own.txops + own.continued) <= 1,
        "{own:?} {frames:?}"
    );
}

#[test]
fn an_aggregate_fits_its_txop() {
    let text = "profile = 'standard'\nduration = '2s'\n[topology]\nkind = 'chain'\nhops = 1\n[radio]\nphy = 'ht'\n\
                [mac]\nedca = true\n[[flows]]\nfrom = 0\nto = 1\ntransport = 'udp'\nrate = '100Mbps'\ndscp = ";
    // n MPDUs of 1,526 bytes: 36 us and symbols of 4 us for 260 bits; RTS and CTS with SIFS take 128 us before, SIFS
    // and BA 84 after. 9: 1,948 of 2,080 us; 20: 4,020 of 4,096; 12: 2,512 of 2,528. One more takes 188 us.
    for (dscp, mpdus) in [(48, 9), (32, 20), (0, 12)] {
        let scenario = load_toml(&format!("{text}{dscp}"), "txop.toml", &[]).unwrap();
        let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
        let mac = &result.counters["mac"];
        let each = mac["mpdus_sent"] as f64 / mac["data_sent"] as f64;
        // The first ones find few packets.
        assert!((-0.3..=0.0).contains(&(each - f64::from(mpdus))), "DSCP {dscp}: {each} MPDUs in an aggregate");
    }
}

/// Returns round trips of 20 pings per second with this DSCP, competing with five bulk transfers in a cell, in ms:
/// (median, largest).
fn round_trips(edca: bool, dscp: u8) -> (f64, f64) {
    let mut text = format!(
        "profile = 'standard'\nduration = '12s'\nwarmup = '2s'\n[topology]\nkind = 'positions'\n\
         positions = [['0m', '0m'], ['1m', '0m'], ['0m', '1m'], ['2m', '0m'], ['0m', '2m'], ['3m', '0m']]\n\
         [radio]\nphy = 'ofdm'\nrate = '54Mbps'\nbasic_rate = '6Mbps'\n[mac]\nedca = {edca}\n[routing]\nprotocol = \
         'static'\n\
         [[flows]]\nfrom = 1\nto = 0\ntransport = 'ping'\ninterval = '50ms'\npayload = '160B'\ndscp = {dscp}\n"
    );
    for node in 1..6 {
        text += &format!("[[flows]]\nfrom = {node}\nto = 0\ntransport = 'cubic'\n");
    }
    let scenario = load_toml(&text, "voice.toml", &[]).unwrap();
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    check_accounts(&result).unwrap();
    let ping = &result.flows[0];
    (ping.rtt_median_s.unwrap() * 1e3, ping.rtt_max_s.unwrap() * 1e3)
}

#[test]
fn voice_passes_bulk_by_its_category_alone() {
    let (without, marked, with) = (round_trips(false, 48), round_trips(true, 0), round_trips(true, 48));
    assert!(with.0 < 8.0 && with.1 < 60.0, "{with:?} with EDCA");
    assert!(
        without.0 > 4.0 * with.0 && marked.0 > 4.0 * with.0,
        "{without:?} without, {marked:?} as best effort, {with:?}"
    );
}

/// Returns TID and DSCP, as read by tshark, of every data frame that a node with this PHY sent.
fn captured(phy: &str, name: &str) -> Vec<(String, String)> {
    let text = format!(
        "profile = 'standard'\nduration = '3s'\n[topology]\nkind = 'chain'\nhops = 2\n[radio]\n{phy}\n[mac]\nedca = \
            true\n\
         [[flows]]\nfrom = 0\nto = 2\ntransport = 'udp'\nrate = '1Mbps'\ndscp = 46\n\
         [[flows]]\nfrom = 2\nto = 0\ntransport = 'cubic'\ndscp = 8\n[[flows]]\nfrom = 0\nto = 2\ntransport = 'ping'\n"
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edca").join(name);
    let options = RunOptions { pcap_dir: Some(folder.clone()), ..RunOptions::default() };
    run(&load_toml(&text, "captured.toml", &[]).unwrap(), 1, &options, &Control::new()).unwrap();
    let file = folder.join("node-1.pcap");
    let complaints = tshark(&file, &["-Y", "_ws.malformed || _ws.expert.severity == \"Error\""]);
    assert!(complaints.is_empty(), "{complaints}");
    let fields =
        ["-Y", "ip && wlan.ta == 02:00:00:00:00:01", "-T", "fields", "-e", "wlan.qos.tid", "-e", "ip.dsfield.dscp"];
    let output = tshark(&file, &fields);
    output.lines().filter_map(|line| line.split_once('\t')).map(|(tid, dscp)| (tid.into(), dscp.into())).collect()
}

#[test]
fn captures_show_tid_and_dscp() {
    if Command::new("tshark").arg("--version").output().is_err() {
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, captures were not checked with it").unwrap();
        return;
    }
    for (phy, name) in [("phy = 'ofdm'\nrate = '54Mbps'\nbasic_rate = '6Mbps'", "ofdm"), ("phy = 'ht'", "ht")] {
        let mut seen: Vec<_> = captured(phy, name);
        seen.sort();
        seen.dedup();
        // Best effort, background, EF as mapped by Linux, routing.
        let expected = [("0", "0"), ("1", "8"), ("5", "46"), ("6", "48")].map(|(tid, dscp)| (tid.into(), dscp.into()));
        assert_eq!(seen, expected, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// 802.11n: sessions for each category, either kind of queue, limits that cut aggregates short. Twice the same
    /// comes to the same.
    #[test]
    fn networks_of_80211n_account_for_every_packet(
        (hops, spacing, radio) in (1u32..=4, 5u32..=30, prop::sample::select(vec!["threshold", "sinr"])),
        (queue, edca) in (
            prop::sample::select(vec!["drop-tail", "fq-codel"]),
            prop::sample::select(vec![
                "",
                "be_txop = '0s'\nvo_txop = '400us'",
                "vo_cw_min = 1\nvo_cw_max = 1",
                "dscp_map = 'rfc8325'",
            ]),
        ),
        (rts, amsdu, protection) in (
            prop::sample::select(vec![0u32, 64_000]),
            prop::sample::select(vec![0u32, 3_839]),
            prop::sample::select(vec!["none", "cts-to-self"]),
        ),
        flows in prop::collection::vec((0u32..5, 0u32..5, 0u32..64, any::<bool>()), 1..=5),
        seed in 0u64..1_000,
    ) {
        let mut text = format!(
            "profile = 'standard'\nduration = '700ms'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = {hops}\n\
                spacing = '{spacing}m'\n\
             [radio]\nmodel = '{radio}'\nphy = 'ht'\n[mac]\nedca = true\nrts_threshold = '{rts}B'\namsdu_bytes = \
             '{amsdu}B'\n\
             protection = '{protection}'\n[edca]\n{edca}\n[link]\nqueue = '{queue}'\n"
        );
        for (from, to, dscp, tcp) in flows {
            let (from, to) = (from % (hops + 1), to % (hops + 1));
            let to = if from == to { (to + 1) % (hops + 1) } else { to };
            let what = if tcp { "transport = 'cubic'" } else { "transport = 'udp'\nrate = '20Mbps'" };
            text += &format!("[[flows]]\nfrom = {from}\nto = {to}\n{what}\ndscp = {dscp}\nstart = '10ms'\n");
        }
        let scenario = load_toml(&text, "random.toml", &[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let once = || run(&scenario, seed, &RunOptions::default(), &Control::new()).unwrap();
        let (first, second) = (once(), once());
        check_accounts(&first).map_err(|error| TestCaseError::fail(format!("{error}\nseed {seed} of\n{text}")))?;
        prop_assert_eq!(first.events, second.events);
        prop_assert_eq!((&first.flows, &first.counters), (&second.flows, &second.counters));
        let categories = first.counters.iter().filter(|(name, _)| name.starts_with("category "));
        let accepted: u64 = categories.map(|(_, counts)| counts["accepted"]).sum();
        prop_assert_eq!(accepted, first.counters["mac"]["accepted"]);
    }
}
