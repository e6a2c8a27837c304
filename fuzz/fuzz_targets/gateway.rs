//! Raw packets and time at a gateway: `cargo +nightly fuzz run gateway`, in the root of the repository.
#![no_main]

#[path = "../../crates/proto/tests/gateway/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checked::exercise(data);
});
