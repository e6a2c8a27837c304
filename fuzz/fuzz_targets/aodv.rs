//! Datagrams at AODV (`cargo fuzz run aodv`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/proto/tests/aodv/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::messages(data);
});
