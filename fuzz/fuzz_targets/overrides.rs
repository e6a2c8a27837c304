//! Overrides, as `--set` takes them (`cargo fuzz run overrides`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/sim/tests/inputs/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::overrides(data);
});
