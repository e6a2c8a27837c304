//! The arithmetic of `include/` against that of `fourhop_cc`: identical to the last bit, on the host and under the
//! kernel's own compiler.

mod ap2;
mod host;
mod kernel;
mod samples;
