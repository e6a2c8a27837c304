//! Lists in the style of ns-2 (`cargo fuzz run ns2_text`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/sim/tests/inputs/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::ns2_text(data);
});
