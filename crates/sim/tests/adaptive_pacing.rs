//! TCP-AP in whole networks: information from routing and packets, fairness to other flows, short files, series.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::trace::SeriesPaths;
use fourhop_sim::{RunOptions, run};

fn simulate(text: &str, seed: u64) -> RunResult {
    let scenario = load_toml(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, seed, &RunOptions::default(), &Control::new()).expect("a run")
}

/// Returns the series of a run: for each row the flow and the values of `columns`.
fn series(text: &str, test: &str, columns: [&str; 4]) -> Vec<(String, [Option<f64>; 4])> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("adaptive-pacing").join(test);
    let paths = SeriesPaths::new(&folder, 1);
    let scenario = load_toml(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { series: Some(paths.clone()), ..RunOptions::default() };
    run(&scenario, 1, &options, &Control::new()).expect("a run");
    let table = std::fs::read_to_string(&paths.flows).expect("written");
    let mut lines = table.lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').collect();
    let places = columns.map(|column| header.iter().position(|name| *name == column).expect("a column"));
    lines
        .map(|line| {
            let fields: Vec<_> = line.split(',').collect();
            (fields[0].to_owned(), places.map(|place| fields[place].parse().ok()))
        })
        .collect()
}

fn chain(hops: u32, duration: &str, more: &str) -> RunResult {
    let text = format!(
        "profile = 'ns2'\nduration = '{duration}'\n[topology]\nkind = 'chain'\nhops = {hops}\nspacing = '200m'\n\
         [traffic]\ntransport = 'tcp-ap'\n{more}"
    );
    simulate(&text, 1)
}

/// The number of hops is the same whether it comes from the route, the time to live or the count on the packet, so the
/// whole run is the same; the profiles differ.
#[test]
fn hops_may_come_from_the_time_to_live() {
    let runs = ["routing", "ttl", "travelled"].map(|source| chain(5, "60s", &format!("[tcp_ap]\nhops = '{source}'\n")));
    assert!(runs.iter().all(|run| run.flows[0].delivered_bytes == runs[0].flows[0].delivered_bytes));
    assert!(runs[0].flows[0].goodput_bps > 150e3, "{}", runs[0].flows[0].goodput_bps);
    let code = chain(5, "60s", "[tcp_ap]\nprofile = 'authors-code'\n");
    assert_ne!(code.flows[0].delivered_bytes, runs[0].flows[0].delivered_bytes);
}

/// ElRakabawy et al. 2005, Figure 14, at one length: over 8 hops TCP-AP is well ahead of NewReno, with SACK recovery,
/// too. Four hops are another matter: there ns-2 and we see NewReno ahead.
#[test]
fn pacing_pays_over_long_chains() {
    let goodput = |hops, transport: &str| {
        let text = format!(
            "profile = 'ns2'\nduration = '100s'\n[topology]\nkind = 'chain'\nhops = {hops}\nspacing = '200m'\n\
             [traffic]\ntransport = '{transport}'\n"
        );
        (1..=3).map(|seed| simulate(&text, seed).aggregate_goodput_bps).sum::<f64>() / 3.0
    };
    let newreno = goodput(8, "newreno");
    for transport in ["tcp-ap", "tcp-ap-sack"] {
        assert!(goodput(8, transport) > 1.2 * newreno, "{transport} {} {newreno}", goodput(8, transport));
    }
    assert!(goodput(4, "tcp-ap") < goodput(4, "newreno"));
}

/// Section 4.6: a NewReno flow competing with a TCP-AP flow takes most of the bandwidth.
#[test]
fn newreno_takes_most_beside_tcp_ap() {
    let text = "profile = 'ns2'\nduration = '150s'\n[topology]\nkind = 'cross'\nhops = 4\nspacing = '200m'\n\
                [[flows]]\nfrom = 0\nto = 4\ntransport = 'tcp-ap'\n\
                [[flows]]\nfrom = 5\nto = 8\ntransport = 'newreno'\n";
    let shares: Vec<f64> = (1..=3)
        .map(|seed| {
            let run = simulate(text, seed);
            assert_eq!((run.flows[0].transport, run.flows[1].transport), ("tcp-ap", "newreno"));
            run.flows[1].goodput_bps / run.aggregate_goodput_bps
        })
        .collect();
    assert!(shares.iter().sum::<f64>() / 3.0 > 0.6, "{shares:?}");
}

/// Delayed acknowledgements, plain and dynamic, are compatible with pacing: fewer ACKs, but nothing is lost for lack of
/// them.
#[test]
fn delayed_acks_go_together_with_pacing() {
    let mut frames_per_byte = Vec::new();
    for policy in ["every-segment", "delayed", "dynamic-delayed"] {
        let more = format!("[tcp]\nack_policy = '{policy}'\n[tcp_ap]\nsamples = 'every-ack-latest'\n");
        let run = chain(6, "100s", &more);
        assert!(run.flows[0].goodput_bps > 150e3, "{policy} {}", run.flows[0].goodput_bps);
        frames_per_byte.push(run.frames as f64 / run.flows[0].delivered_bytes as f64);
    }
    assert!(frames_per_byte[1] < 0.9 * frames_per_byte[0] && frames_per_byte[2] < 0.9 * frames_per_byte[0]);
}

/// Synchronised clocks (section 5.1.1): the delay measured by the fourth node is close to that derived from the round
/// trip.
#[test]
fn measured_delays_are_near_the_estimate() {
    let delay = |source: &str| {
        let run = chain(6, "60s", &format!("[tcp_ap]\ndelay = '{source}'\n"));
        assert!(run.flows[0].goodput_bps > 150e3, "{source} {}", run.flows[0].goodput_bps);
        let text = format!(
            "profile = 'ns2'\nduration = '60s'\nsample_every = '1s'\n[topology]\nkind = 'chain'\nhops = 6\n\
             spacing = '200m'\n[traffic]\ntransport = 'tcp-ap'\n[tcp_ap]\ndelay = '{source}'\n"
        );
        let rows = series(&text, source, ["delay_s"; 4]);
        let delays: Vec<f64> = rows.iter().skip(10).filter_map(|(_, [delay, ..])| *delay).collect();
        assert!(delays.len() > 40);
        delays.iter().sum::<f64>() / delays.len() as f64
    };
    let estimate = delay("round-trip");
    for source in ["one-way", "stamped"] {
        let measured = delay(source);
        // At 2 Mbit/s a segment is on the air for at least four times 7.3 ms.
        assert!(measured > 0.0292 && (measured / estimate - 1.0).abs() < 0.35, "{source} {measured} {estimate}");
    }
}

/// The series show the mechanism: at every step, the interval is the delay stretched by the variation.
#[test]
fn series_hold_what_the_interval_is_made_of() {
    let text = "profile = 'ns2'\nduration = '40s'\nsample_every = '500ms'\n[topology]\nkind = 'cross'\nhops = 4\n\
                spacing = '200m'\n[traffic]\ntransport = 'tcp-ap'\n";
    let rows = series(text, "mechanism", ["delay_s", "variation", "pacing_interval_s", "rtt_s"]);
    let mut seen = std::collections::BTreeMap::new();
    for (flow, values) in rows {
        let [Some(delay), Some(variation), Some(interval), Some(rtt)] = values else { continue };
        assert!((interval / (delay * (1.0 + 2.0 * variation)) - 1.0).abs() < 1e-5, "{interval} {delay} {variation}");
        assert!(rtt > 0.0);
        *seen.entry(flow).or_insert(0) += 1;
    }
    assert!(seen.len() == 2 && seen.values().all(|&steps| steps > 60), "{seen:?}");
}

/// Section 5.2: pauses do not count towards the averaged goodput, which hardly depends on them over a chain without
/// competition.
#[test]
fn averaged_goodput_leaves_out_the_pauses() {
    for connection in ["same", "fresh"] {
        let with = |pause: &str| {
            let app = format!("app = 'files'\nmean_pause = '{pause}'\nconnection = '{connection}'\n");
            chain(3, "200s", &app).flows.remove(0)
        };
        let busy = with("0s");
        assert!((busy.averaged_goodput_bps / busy.goodput_bps - 1.0).abs() < 1e-9, "{connection}");
        assert!(busy.active_s == 180.0 && busy.files.is_some_and(|files| files > 50), "{connection} {busy:?}");
        let idle = with("1s");
        assert!(idle.active_s < 150.0 && idle.goodput_bps < 0.9 * busy.goodput_bps, "{connection} {idle:?}");
        assert!((idle.averaged_goodput_bps / busy.averaged_goodput_bps - 1.0).abs() < 0.25, "{connection} {idle:?}");
        assert!(idle.averaged_goodput_bps * idle.active_s / 8.0 - idle.delivered_bytes as f64 <= 1.0);
    }
    // Without files, all of a flow's time counts.
    let bulk = chain(3, "20s", "").flows.remove(0);
    assert_eq!((bulk.files, bulk.averaged_goodput_bps), (None, bulk.goodput_bps));
}
