//! Movement files (`cargo fuzz run movement`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/sim/tests/inputs/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::movement(data);
});
