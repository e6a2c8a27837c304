//! Datagrams at Babel (`cargo fuzz run babel`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/proto/tests/babel/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::packets(data);
});
