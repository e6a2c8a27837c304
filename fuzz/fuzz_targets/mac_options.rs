//! Options of MAC headers (`cargo fuzz run mac_options`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/proto/tests/c3tcp/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checked::options(data));
