//! Messages of the kernel's radios, valid and invalid: the corpus of the fuzz target `medium`, and mutations of it.
#![cfg(target_os = "linux")]

#[path = "medium/checked.rs"]
mod checked;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::cell::Cell;

#[test]
fn a_medium_hears_anything_from_the_kernel() {
    let sum = Cell::new((0, 0, 0));
    replay::replay(&["fuzz/corpus/medium"], 2_000, |data| {
        let passed = checked::exercise(data);
        let (taken, delivered, refused) = sum.get();
        sum.set((taken + passed.taken, delivered + passed.delivered, refused + passed.refused));
    });
    let (taken, delivered, refused) = sum.get();
    assert!(taken > 1_000 && delivered > 500 && refused > 300, "{:?}", sum.get());
}
