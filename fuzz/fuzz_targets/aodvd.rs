//! Datagrams, packets and time at the routing daemon (`cargo fuzz run aodvd`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/aodvd/tests/messages/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::messages(data);
});
