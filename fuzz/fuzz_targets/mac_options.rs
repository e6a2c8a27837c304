//! Options of MAC headers: `cargo +nightly fuzz run mac_options`, in the root of the repository.
#![no_main]

#[path = "../../crates/proto/tests/c3tcp/checked.rs"]
mod checked;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checked::options(data));
