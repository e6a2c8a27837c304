//! Segments and options at C3TCP's modules (`cargo fuzz run c3tcp`; all targets: `make fuzz`).
#![no_main]

#[path = "../../crates/proto/tests/c3tcp/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::modules(data);
});
