//! Checks on texts that users write. Each text becomes a scenario, which stays the same when it is written and read
//! again, or an error whose problems have a position and an explanation. Shared by the tests and by the fuzz targets in
//! `fuzz/`.
#![allow(dead_code, reason = "a fuzz target takes only its part of it")]

use fourhop_sim::batch::Control;
use fourhop_sim::mobility::file::{FileError, Tracks};
use fourhop_sim::mobility::{Movement, bonnmotion, ns2};
use fourhop_sim::scenario::{Form, Overrides, Scenario, ScenarioError, load, load_json, load_toml};
use fourhop_sim::topology::Topology;
use fourhop_units::Time;
use std::sync::Arc;

/// The folder does not exist, so no movement file is found next to the scenario.
const FILE: &str = "no such folder/input";

/// Base scenario for overrides and movements.
const BASE: &str = "profile = 'ns2'\nduration = '100s'\n[topology]\nkind = 'chain'\nhops = 1\n\
                    [[flows]]\nfrom = 0\nto = 1\ntransport = 'newreno'\n";

/// Reads `data` as a scenario in TOML, or in JSON if it begins with a brace. Returns whether it is one.
pub fn scenario(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let form = if text.trim_start().starts_with('{') { Form::Json } else { Form::Toml };
    checked(form, text, &[]).is_some()
}

/// Reads each line of `data` as an override. Returns whether they form a scenario.
pub fn overrides(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let once: Vec<String> = text.lines().map(str::to_owned).collect();
    let Some(scenario) = checked(Form::Toml, BASE, &once) else { return false };
    // Setting the same values again changes nothing.
    let twice =
        checked(Form::Toml, BASE, &[&once[..], &once[..]].concat()).expect("what could be set can be set again");
    assert_eq!(format!("{scenario:?}"), format!("{twice:?}"));
    true
}

/// Reads `data` as an ns-2 style list; a comment in its first line may name transport and duration. Returns whether it
/// is one.
pub fn ns2_text(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let options = text.lines().next().and_then(|line| line.strip_prefix('#')).unwrap_or_default();
    let mut options = options.split_whitespace();
    let (transport, duration) = (options.next(), options.next());
    checked(Form::Ns2 { transport, duration }, text, &[]).is_some()
}

/// Reads `data` as movement files of both formats. Returns how many of them accept it.
pub fn movement(data: &[u8]) -> usize {
    let Ok(text) = str::from_utf8(data) else { return 0 };
    [ns2::read(text), bonnmotion::read(text)].into_iter().filter(|read| moves(text, read.as_ref())).count()
}

/// Returns the scenario that a text describes, if any.
fn checked(form: Form<'_>, text: &str, overrides: &[String]) -> Option<Scenario> {
    // The search for a connected random network may take hours, so it gets one draw.
    let stopped = Control::new();
    stopped.stop();
    let read = load(form, text, FILE, Overrides::set(overrides), &stopped).or_else(|error| {
        if error.problems.iter().any(|problem| problem.found.contains("after 0 draws")) {
            let one = [overrides, &["topology.redraws=1".to_owned()]].concat();
            return load(form, text, FILE, Overrides::set(&one), &Control::new());
        }
        Err(error)
    });
    match read {
        Ok(scenario) => {
            assert_reads_back(&scenario);
            Some(scenario)
        }
        Err(error) => {
            assert_explained(&error, text);
            None
        }
    }
}

fn assert_reads_back(scenario: &Scenario) {
    let toml = scenario.to_toml();
    for again in [load_toml(&toml, FILE, &[]), load_json(&scenario.to_json(), FILE, &[])] {
        let again = again.unwrap_or_else(|error| panic!("{error}\n{toml}"));
        assert_eq!(format!("{again:?}"), format!("{scenario:?}"), "{toml}");
        assert_eq!((again.to_toml(), again.to_json()), (toml.clone(), scenario.to_json()));
    }
}

/// Checks that each problem states its position, the value found and the allowed values.
fn assert_explained(error: &ScenarioError, text: &str) {
    assert!(!error.problems.is_empty());
    for problem in &error.problems {
        assert!(!problem.found.is_empty() && !problem.allowed.is_empty(), "{problem}");
        assert!([FILE, "--set", "--transport", "--duration"].contains(&&*problem.file), "{problem}");
        assert!(problem.line.is_none() || problem.file == FILE);
        assert_is_in(text, problem.line.unwrap_or(1), problem.column.unwrap_or(1), problem);
    }
}

/// Checks that the position is in the text, at most one letter after the end of its line or one line after the last.
fn assert_is_in(text: &str, line: usize, column: usize, what: &dyn std::fmt::Display) {
    let letters = text.split('\n').nth(line - 1).map(|line| line.chars().count());
    assert!(
        letters.is_some_and(|letters| column <= letters + 1) || (line, column) == (text.lines().count() + 1, 1),
        "{what}"
    );
}

fn moves(text: &str, read: Result<&Tracks, &FileError>) -> bool {
    let tracks = match read {
        Ok(tracks) => tracks,
        Err(error) => {
            assert!(!error.found.is_empty() && !error.allowed.is_empty());
            assert_is_in(text, error.line, error.column, error);
            return false;
        }
    };
    assert_eq!(tracks.starts.len(), tracks.waypoints.len());
    for way in &tracks.waypoints {
        assert!(way.is_sorted_by_key(|point| point.at), "time never runs backwards");
        assert!(way.iter().all(|point| point.at <= Time::from_secs(1_000_000)));
    }
    // A scenario that names the file becomes this one, which needs no file.
    let mut scenario = load_toml(BASE, FILE, &[]).expect("the base is right");
    scenario.topology = Topology::Positions(tracks.starts.clone());
    scenario.movement = Some(Movement::Waypoints(Arc::new(tracks.waypoints.clone())));
    assert_reads_back(&scenario);
    true
}
