//! Common parts of fourhop's Linux programs. The only crate with unsafe code for Linux: a few system calls that no
//! crate wraps, and what runs between fork and exec.
//!
//! | module | what |
//! |---|---|
//! | [`clock`] | the monotonic clock as the simulator's time |
//! | [`poll`] | waiting for devices, an instant and signals in one place |
//! | [`priority`] | the scheduling class of real-time programs |
//! | [`namespace`] | network namespaces with a name |
//! | [`netlink`] | interfaces, addresses and routes, many at a time |
//! | [`nfqueue`] | packets that the filter hands over, and what becomes of them |
//! | [`device`] | TUN and TAP devices |
//! | [`capture`] | packets of a device |
//! | [`lateness`] | a histogram of delays |
//! | [`metrics`] | metrics for Prometheus |
//! | [`control`] | the state of a service, for local clients |
//! | [`service`] | notifications to systemd |
//! | [`privileges`] | dropping privileges |
//! | [`screen`] | tables that are drawn again and again |
//! | [`manual`] | manual pages |
//! | [`user`] | namespaces for those who are not root |
//! | [`exit`] | how a program ends |
//! | [`instance`] | one process of a service in a network namespace |
//! | [`open_files`] | how many a process may have |
//! | [`host`] | what the machine did meanwhile: stolen time, processor time |
//!
//! Elsewhere than on Linux the crate is empty but for [`exit`], [`lateness`], [`manual`], [`metrics`] and [`screen`].

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
#[cfg(target_os = "linux")]
pub mod user;

#[cfg(target_os = "linux")]
pub use error::{Error, Tried};
