//! Arbitrary texts for the readers of scenarios, overrides and movement files: runs the checks of the fuzz targets on
//! their corpora and on mutations of them.

mod checked;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::cell::Cell;

/// Replays `folders` with that many mutations. Some inputs must be accepted and some refused; otherwise half of the
/// properties would never be checked.
fn replay(folders: &[&str], mutations: u32, is_accepted: impl Fn(&[u8]) -> bool) {
    let [accepted, tried] = [const { Cell::new(0) }; 2];
    replay::replay(folders, mutations, |data| {
        tried.set(tried.get() + 1);
        accepted.set(accepted.get() + u32::from(is_accepted(data)));
    });
    let (accepted, tried) = (accepted.get(), tried.get());
    assert!((tried / 50..tried).contains(&accepted), "{accepted} of {tried} accepted");
}

#[test]
fn any_scenario_at_all() {
    replay(&["fuzz/corpus/scenario", "scenarios"], 800, checked::scenario);
}

#[test]
fn any_overrides_at_all() {
    replay(&["fuzz/corpus/overrides"], 800, checked::overrides);
}

#[test]
fn any_list_in_the_style_of_ns2_at_all() {
    replay(&["fuzz/corpus/ns2_text", "crates/sim/tests/data/ns2"], 1_500, checked::ns2_text);
}

#[test]
fn any_movement_at_all() {
    replay(&["fuzz/corpus/movement"], 2_000, |data| checked::movement(data) > 0);
}
