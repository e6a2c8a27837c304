//! Packets that nodes send through their devices, valid and invalid: the corpus of the fuzz target `devices`, and
//! mutations of it.
#![cfg(target_os = "linux")]

#[path = "devices/checked.rs"]
mod checked;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::cell::Cell;

#[test]
fn nodes_may_send_anything() {
    let sum = Cell::new((0, 0, 0));
    replay::replay(&["fuzz/corpus/devices"], 3_000, |data| {
        let passed = checked::exercise(data);
        let (taken, delivered, icmp_errors) = sum.get();
        sum.set((taken + passed.taken, delivered + passed.delivered, icmp_errors + passed.icmp_errors));
    });
    let (taken, delivered, icmp_errors) = sum.get();
    assert!(taken > 5_000 && delivered > 2_000 && icmp_errors > 100, "{:?}", sum.get());
}
