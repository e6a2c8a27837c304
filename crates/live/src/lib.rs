//! Common parts of fourhop's Linux programs. The only crate with unsafe code for Linux: a few system calls that no
//! crate wraps, and the code between fork and exec.
//!
//! | module | content |
//! |---|---|
//! | [`clock`] | the monotonic clock as the simulator's time |
//! | [`poll`] | waiting for devices, a point in time and signals in one place |
//! | [`priority`] | the scheduling class of real-time programs |
//! | [`namespace`] | named network namespaces |
//! | [`netlink`] | interfaces, addresses and routes, in batches |
//! | [`nfqueue`] | packets from the packet filter, and their verdicts |
//! | [`device`] | TUN and TAP devices |
//! | [`capture`] | packets of a device |
//! | [`lateness`] | a histogram of delays |
//! | [`metrics`] | metrics for Prometheus |
//! | [`control`] | the state of a service, for local clients |
//! | [`service`] | notifications to systemd |
//! | [`privileges`] | dropping privileges |
//! | [`screen`] | tables that are updated in place |
//! | [`manual`] | manual pages |
//! | [`user`] | namespaces for users other than root |
//! | [`exit`] | the end of a program |
//! | [`instance`] | a single process of a service per network namespace |
//! | [`open_files`] | the limit of open files |
//! | [`host`] | load of the machine: stolen time, processor time |
//!
//! On systems other than Linux the crate has only [`exit`], [`lateness`], [`manual`], [`metrics`] and [`screen`].
// These macros panic if the line cannot be written, such as to a log on a full disk; `screen` does not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

#[cfg(target_os = "linux")]
pub mod capture;
mod clients;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod control;
#[cfg(target_os = "linux")]
pub mod device;
#[cfg(target_os = "linux")]
mod error;
pub mod exit;
#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
pub mod instance;
pub mod lateness;
pub mod manual;
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod netlink;
#[cfg(target_os = "linux")]
pub mod nfqueue;
#[cfg(target_os = "linux")]
pub mod open_files;
#[cfg(target_os = "linux")]
pub mod poll;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
pub mod privileges;
pub mod screen;
#[cfg(target_os = "linux")]
pub mod service;
#[cfg(all(test, target_os = "linux"))]
mod test_network;
#[cfg(target_os = "linux")]
pub mod user;

#[cfg(target_os = "linux")]
pub use error::{Error, Tried};
