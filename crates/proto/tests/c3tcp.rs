//! Arbitrary bytes to C3TCP: what the fuzz targets do, on their corpora and mutations of them.

#[path = "c3tcp/checked.rs"]
mod checked;

use crate::replay::replay;

#[test]
fn any_options_at_all() {
    replay(&["fuzz/corpus/mac_options"], 20_000, checked::options);
}

#[test]
fn any_segments_at_all() {
    replay(&["fuzz/corpus/c3tcp"], 20_000, |data| {
        let (lowered, made) = checked::modules(data);
        assert!(lowered == 0 || made == 0);
    });
}

/// Windows are lowered, and locally acknowledged data is retransmitted.
#[test]
fn the_corpus_reaches_what_it_is_about() {
    let modules = checked::modules;
    let passing = modules(include_bytes!("../../../fuzz/corpus/c3tcp/transfer"));
    let local = modules(include_bytes!("../../../fuzz/corpus/c3tcp/transfer_local"));
    let silence = modules(include_bytes!("../../../fuzz/corpus/c3tcp/silence"));
    assert!(passing.0 > 0 && passing.1 == 0, "{passing:?}");
    assert!(local.1 > 0 && silence.1 > 16, "{local:?} {silence:?}");
}
