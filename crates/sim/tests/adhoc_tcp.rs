//! Ad hoc TCP in whole networks: each combination of its ends, nodes that walk, clocks that disagree, and the series.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::trace::SeriesPaths;
use fourhop_sim::{RunOptions, run};

fn simulate(text: &str, series: Option<SeriesPaths>) -> RunResult {
    let scenario = load_toml(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 1, &RunOptions { series, ..RunOptions::default() }, &Control::new()).expect("a run")
}

fn chain(transport: &str, hops: u32, more: &str) -> String {
    format!(
        "profile = 'ns2'\nduration = '60s'\nwarmup = '0s'\n[topology]\nkind = 'chain'\nhops = {hops}\n\
         [tcp]\ntimestamps = true\n{more}\n[[flows]]\nfrom = 'first'\nto = 'last'\ntransport = '{transport}'\n"
    )
}

fn goodput(text: &str) -> f64 {
    simulate(text, None).flows[0].goodput_bps
}

/// Cho et al. 2004, figure 1: two segments in flight outperform SACK. With a plain receiver the ad hoc sender behaves
/// like SACK, packet by packet.
#[test]
fn each_end_does_its_part() {
    let of = |transport| goodput(&chain(transport, 5, ""));
    let sack = of("sack");
    for better in ["adhoc-receiver", "adhoc-tcp"] {
        assert!(of(better) > 1.1 * sack, "{better}: {} against {sack}", of(better));
    }
    // The unit of the timestamps is not transmitted, so nothing else differs either.
    assert_eq!(of("adhoc-sender"), sack);
}

/// Returns the series, by column names, of a chain along which the sender walks towards the receiver and back.
fn walk(transport: &str, columns: &[&str]) -> Vec<Vec<Option<f64>>> {
    let text = format!(
        "profile = 'ns2'\nduration = '120s'\nwarmup = '0s'\nsample_every = '100ms'\n[topology]\nkind = 'chain'\nhops \
            = 8\n\
         [mobility]\nmodel = 'waypoints'\nwaypoints = [[0, '5s', '0m', '0m'], [0, '20m/s', '1000m', '0m'], [0, \
         '20m/s', '1m', '0m']]\n\
         [tcp]\nmss = '500B'\ntimestamps = true\n[[flows]]\nfrom = 0\nto = 8\ntransport = '{transport}'\n"
    );
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("adhoc-tcp").join(transport);
    let paths = SeriesPaths::new(&folder, 1);
    simulate(&text, Some(paths.clone()));
    let table = std::fs::read_to_string(&paths.flows).expect("written");
    let mut lines = table.lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').collect();
    let places: Vec<_> =
        columns.iter().map(|name| header.iter().position(|other| other == name).expect("a column")).collect();
    lines
        .map(|line| {
            let fields: Vec<_> = line.split(',').collect();
            places.iter().map(|&place| fields[place].parse().ok()).collect()
        })
        .collect()
}

/// The series show each mechanism: the number of hops follows the walk, the window follows the path's capacity, and
/// each freeze is counted under its cause.
#[test]
fn series_say_which_mechanism_acted() {
    let columns = [
        "time_s",
        "hops",
        "adwin_segments",
        "delimiter_segments",
        "frozen",
        "freezes_closed",
        "freezes_timeout",
        "probes",
        "zwas",
        "timeouts",
        "ssthresh_segments",
    ];
    let rows = walk("adhoc-tcp", &columns);
    let hops: Vec<_> = rows.iter().filter_map(|row| row[1]).collect();
    assert!(hops.iter().any(|&hops| hops >= 8.0) && hops.iter().any(|&hops| hops <= 4.0), "{hops:?}");
    let last = rows.last().expect("rows");
    let [closed, timeout, probes, zwas, timeouts] = [5, 6, 7, 8, 9].map(|column| last[column].expect("a number"));
    assert!(timeout > 0.0 && timeout <= timeouts && probes > 0.0, "{last:?}");
    assert!(closed <= zwas, "each closed window comes from a packet that took too long: {last:?}");
    let frozen = rows.iter().filter(|row| row[4] == Some(3.0)).count();
    assert!(frozen > 0 && frozen < rows.len() / 2, "{frozen} of {}", rows.len());
    // After the handshake the window is closed, or the one that the delimiter allows.
    for row in rows.iter().filter(|row| row[3].is_some() && row[0].unwrap() > 3.0) {
        assert!(row[2].unwrap() <= 3.0, "{row:?}");
    }
    // A plain flow has none of these values.
    let plain = walk("sack", &columns);
    assert!(plain.iter().all(|row| row[1].is_none() && row[4].is_none() && row[9].is_some()));
}

/// A clock that is ahead makes all delays longer, so W_practical shrinks less. One that is behind by more than the
/// delay makes every packet seem faster than radio allows, which the rater takes for a wire: the window is not limited.
#[test]
fn a_clock_that_is_behind_disarms_the_delimiter() {
    let of = |offset: &str| goodput(&chain("adhoc-receiver", 5, &format!("[adhoc_tcp]\nclock_offset = '{offset}'")));
    let (sack, agree, ahead, behind) = (goodput(&chain("sack", 5, "")), of("0s"), of("50ms"), of("-1s"));
    assert!((ahead / agree - 1.0).abs() < 0.05, "{ahead} {agree}");
    assert!(behind < 1.1 * sack && sack < 1.1 * behind, "{behind} {sack}");
}

/// Two flows of each kind share a network.
#[test]
fn kinds_mix() {
    let mut text = "profile = 'ns2'\nduration = '60s'\n[topology]\nkind = 'chain'\nhops = 4\n".to_owned();
    for transport in ["adhoc-tcp", "newreno", "adhoc-tcp", "newreno"] {
        text += &format!("[[flows]]\nfrom = 'first'\nto = 'last'\ntransport = '{transport}'\n");
    }
    let result = simulate(&text, None);
    assert!(result.flows.iter().all(|flow| flow.delivered_bytes > 50_000), "{:?}", result.flows);
    let kinds: Vec<_> = result.flows.iter().map(|flow| flow.transport).collect();
    assert_eq!(kinds, ["adhoc-tcp", "newreno", "adhoc-tcp", "newreno"]);
}
