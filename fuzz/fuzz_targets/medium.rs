//! Anything at all from the kernel's simulated radios (`cargo fuzz run medium`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/emu/tests/medium/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::exercise(data);
});
