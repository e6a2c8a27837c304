//! The arithmetic of `include/` beside that of `fourhop_cc`: the same to the last bit, on the host and
//! under the kernel's own compiler.

mod ap2;
mod host;
mod kernel;
mod samples;
