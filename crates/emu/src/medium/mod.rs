//! The medium of the kernel's own Wi-Fi: radios of mac80211_hwsim hear each other as the scenario's nodes do.
//!
//! ```text
//! mac80211 ──► hwsim ── frame, rates ──► spectrum: a world for each channel, its MAC and radios ──┐
//! mac80211 ◄── hwsim ◄── frame, rate, signal; what became of the one sent ◄───────────────────────┘
//! ```
//!
//! | module | what |
//! |---|---|
//! | `control` | who finds it while it runs |
//! | [`hwsim`] | messages from and to the kernel |
//! | [`radios`] | which radio of the kernel is which node, with which addresses, on which channel |
//! | [`spectrum`] | the channels: frames wait, contend, are lost and arrive |
//! | `channel` | one of them |
//! | [`captures`] | what is on it, as files |
//! | [`series`] | the rates of a frame, as attempts and as what was tried |
//! | `running` | clock, kernel and channels in one loop; changes and metrics |
//! | [`report`] | what has been carried, and whether its time was true |

pub mod captures;
mod channel;
mod control;
pub mod hwsim;
pub mod radios;
pub mod report;
mod running;
pub mod series;
pub mod spectrum;

pub use running::{Medium, Options};
