//! Scenarios in TOML and JSON (`cargo fuzz run scenario`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/sim/tests/inputs/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::scenario(data);
});
