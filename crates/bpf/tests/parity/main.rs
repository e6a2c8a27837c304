//! The arithmetic of `include/fourhop_pace.h` beside that of `fourhop_cc`: the same to the last bit, on the host and
//! under the kernel's own compiler.

mod host;
mod kernel;
mod samples;
