//! Any bytes at C3TCP: what the fuzz targets do, on their corpus and on random bytes.
#![allow(missing_docs)]

#[path = "c3tcp/checked.rs"]
mod checked;

use proptest::prelude::*;

macro_rules! corpus {
    ($target:literal: $($name:literal)*) => {
        [$(&include_bytes!(concat!("../../../fuzz/corpus/", $target, "/", $name))[..]),*]
    };
}

#[test]
fn the_corpus_is_survived() {
    corpus!("mac_options": "data" "acknowledgement" "unknown" "longest" "truncated")
        .iter()
        .for_each(|data| checked::options(data));
    // It reaches what it is about: windows are lowered, what was acknowledged here is sent again.
    let [passing, local, silence] = corpus!("c3tcp": "transfer" "transfer_local" "silence").map(checked::modules);
    assert!(passing.0 > 0 && passing.1 == 0, "{passing:?}");
    assert!(local.1 > 0 && silence.1 > 16, "{local:?} {silence:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn any_options_at_all(mut data in prop::collection::vec(any::<u8>(), 1..60), len in 20u8..70) {
        data[0] = len;
        checked::options(&data);
    }

    #[test]
    fn any_segments_at_all(data in prop::collection::vec(any::<u8>(), 0..1_200)) {
        let (lowered, made) = checked::modules(&data);
        prop_assert!(lowered == 0 || made == 0);
    }
}
