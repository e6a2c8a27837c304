//! Time series as files: their content, and that an interrupted run leaves nothing that could be taken for complete.

use fourhop_sim::batch::Control;
use fourhop_sim::scenario::{Scenario, load_toml};
use fourhop_sim::trace::{FLOW_COLUMNS, SeriesPaths};
use fourhop_sim::{RunError, RunOptions, run};
use std::fs;
use std::path::{Path, PathBuf};

fn scenario() -> Scenario {
    let text = "profile = 'standard'\nduration = '10s'\nwarmup = '0s'\nsample_every = '300ms'\n[topology]\nkind = \
        'chain'\nhops = 2\n\
                [[flows]]\nname = 'the \"first\", of two'\nfrom = 0\nto = 2\ntransport = 'rbp'\n\
                [[flows]]\nfrom = 2\nto = 0\ntransport = 'udp'\nrate = '100kbps'\n";
    load_toml(text, "series.toml", &[]).unwrap()
}

fn paths(test: &str) -> SeriesPaths {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("series").join(test);
    let _ = fs::remove_dir_all(&folder);
    SeriesPaths::new(&folder, 1)
}

fn part(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.part", path.display()))
}

#[test]
fn a_row_for_each_flow_and_node_at_each_step() {
    let (scenario, paths) = (scenario(), paths("rows"));
    let options = RunOptions { series: Some(paths.clone()), ..RunOptions::default() };
    let result = run(&scenario, 1, &options, &Control::new()).unwrap();
    let text = fs::read_to_string(&paths.flows).unwrap();
    let mut lines = text.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    assert_eq!(header[..2], ["flow", "time_s"]);
    assert_eq!(header[2..], FLOW_COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>());
    let rows: Vec<_> = lines.collect();
    assert_eq!(rows.len(), 2 * 33, "every 0.3 s of 10 s");
    let mut delivered = [0.0; 2];
    let mut paced = false;
    for (n, row) in rows.iter().enumerate() {
        let (name, rest) = [("\"the \"\"first\"\", of two\",", 0), ("\"flow-2\",", 1)]
            .into_iter()
            .find_map(|(name, flow)| Some((flow, row.strip_prefix(name)?)))
            .unwrap();
        assert_eq!(name, n % 2, "flows in the scenario's order");
        let values: Vec<Option<f64>> = rest.split(',').map(|field| field.parse().ok()).collect();
        assert_eq!(values[0], Some((300 * (n / 2 + 1)) as f64 / 1000.0));
        delivered[name] += values[1].unwrap() * 0.3 / 8.0;
        // Pacing starts at some point.
        let column = |name: &str| FLOW_COLUMNS.iter().position(|column| column.name == name).unwrap();
        paced |= values[1 + column("pacing_interval_s")].is_some();
        // UDP has neither a window nor a round trip.
        assert_eq!(values[2].is_some(), name == 0);
        assert!(name == 0 || values[2..].iter().all(Option::is_none), "{row}");
    }
    assert!(paced);
    for (flow, bytes) in result.flows.iter().zip(delivered) {
        // The series ends at 9.9 s, the run at 10 s.
        let whole = flow.delivered_bytes as f64;
        assert!(bytes > 0.9 * whole && bytes < whole + 1.0, "{}: {bytes} of {whole}", flow.name);
    }
    let queues = fs::read_to_string(&paths.queues).unwrap();
    assert!(queues.starts_with("node,to,time_s,queue_packets\n0,,0.3,"));
    assert_eq!(queues.lines().count(), 1 + 3 * 33);
    assert!(!part(&paths.flows).exists() && !part(&paths.queues).exists());
}

#[test]
fn recording_changes_no_result() {
    let (scenario, paths) = (scenario(), paths("unchanged"));
    let with = run(&scenario, 3, &RunOptions { series: Some(paths), ..RunOptions::default() }, &Control::new());
    let mut with = with.unwrap();
    let without = run(&scenario, 3, &RunOptions::default(), &Control::new()).unwrap();
    with.wall_s = without.wall_s;
    assert_eq!(with, without);
}

#[test]
fn a_run_cut_short_leaves_its_files_marked() {
    let (scenario, paths) = (scenario(), paths("stopped"));
    let control = Control::new();
    control.stop();
    let options = RunOptions { series: Some(paths.clone()), ..RunOptions::default() };
    let mut long = scenario;
    long.duration = long.duration * 1000;
    assert!(matches!(run(&long, 1, &options, &control), Err(RunError::Stopped)));
    assert!(!paths.flows.exists() && !paths.queues.exists());
    assert!(part(&paths.flows).exists() && part(&paths.queues).exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let options = RunOptions { series: Some(SeriesPaths::new(&folder, 1)), ..RunOptions::default() };
    let error = run(&scenario(), 1, &options, &Control::new()).unwrap_err().to_string();
    assert!(error.contains("Cargo.toml") && error.contains("cannot write time series"), "{error}");
}
