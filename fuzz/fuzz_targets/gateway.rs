//! Raw packets and time at a gateway (`cargo fuzz run gateway`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/proto/tests/gateway/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::exercise(data);
});
