//! Anything at all from the devices of emulated nodes (`cargo fuzz run devices`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/emu/tests/devices/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::exercise(data);
});
