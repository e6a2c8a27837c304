//! The medium of the kernel's own Wi-Fi: radios of mac80211_hwsim hear each other as the scenario's nodes do.
//!
//! ```text
//! mac80211 ──► hwsim ── frame, rates ──► spectrum: a world for each channel, its MAC and radios ──┐
//! mac80211 ◄── hwsim ◄── frame, rate, signal; what became of the one sent ◄───────────────────────┘
//! ```
//!
//! | module | content |
//! |---|---|
//! | `control` | the record by which it is found while it runs |
//! | [`hwsim`] | messages from and to the kernel |
//! | [`radios`] | the kernel's radios: their nodes, addresses and channels |
//! | [`spectrum`] | the channels: frames are queued, contend, are lost and arrive |
//! | `channel` | a single channel |
//! | [`captures`] | captures of the channels |
//! | [`series`] | the rates of a frame: the attempts, and the tries reported |
//! | `running` | clock, kernel and channels in one loop; changes and metrics |
//! | [`report`] | results, and whether the timing was accurate |

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
