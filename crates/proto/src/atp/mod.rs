//! ATP, the ad hoc transport protocol (Sundaresan, Anantharaman, Hsieh, Sivakumar, MobiHoc 2003; IEEE Transactions on
//! Mobile Computing 4, 2005): reliable, and paced at a rate reported by the nodes of the path; it is not TCP.
//!
//! ```text
//!  sender ── data, a packet every 1 / rate ──► node ──► node ──► receiver
//!    ▲          each node: delay in the packet = max(it, wait in its queue + transmission, both averaged)
//!    └───────── feedback once per epoch: average of those delays, data received ───────────────┘
//! ```
//!
//! | file | content |
//! |---|---|
//! | [`meter`] | a node: averages, and the delay it writes into packets |
//! | [`rate`] | the sender's rate: increase, decrease, maintain |
//! | [`scoreboard`] | the sender's segments: sent, arrived, lost |
//! | [`sender`] | quick start, pacing, missing feedback |
//! | [`receiver`] | the stream in order, averages, feedback |
//! | [`end`] | both ends as their nodes see them |
//!
//! We did not have the paper itself: this follows descriptions by others, above all the papers on TCP-AP and TCP-GAP,
//! and the abstracts. docs/atp.md lists their constants, ours where they leave one open, and omissions. A constant not
//! marked as theirs is ours.

pub mod end;
pub mod meter;
pub mod rate;
pub mod receiver;
pub mod scoreboard;
pub mod sender;

pub use meter::Meter;
pub use rate::PacketRate;
pub use receiver::Receiver;
pub use sender::{Sender, Stats};

use fourhop_units::Dur;

/// Options of ATP, for its ends and for nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time between two feedback packets; longer than a round trip. The description uses one second.
    pub epoch: Dur,
    /// Weight of the old average in averages of delays, at nodes and at the receiver, in thousandths. Ours: 3/4.
    pub smoothing: u32,
    /// How much more than the present rate the path must offer before the rate rises, as a share of it in thousandths.
    /// Ours: 1/10.
    pub increase_over: u32,
    /// Share of the surplus offered by the path by which the rate then rises, in thousandths. Ours: 1/5.
    pub increase_by: u32,
    /// Number of the flow's packets assumed to compete for the medium around a node that has sent nothing for an epoch.
    /// Ours: 3, a packet that arrives, one that leaves, and the one at the next node.
    pub idle_factor: u32,
    /// Payload of a packet in bytes.
    pub mss: u32,
    /// Whether the ages of bytes at delivery are recorded.
    pub delivery_ages: bool,
}

impl Config {
    /// The published values, and our own for those left open.
    pub const fn published() -> Config {
        Config {
            epoch: Dur::from_secs(1),
            smoothing: 750,
            increase_over: 100,
            increase_by: 200,
            idle_factor: 3,
            mss: 1460,
            delivery_ages: false,
        }
    }

    /// The average after `new`, given the average before it.
    fn averaged(&self, old: Option<Dur>, new: Dur) -> Dur {
        let Some(old) = old else { return new };
        let weight = u128::from(self.smoothing.min(999));
        let sum = u128::from(old.as_nanos()) * weight + u128::from(new.as_nanos()) * (1000 - weight);
        Dur::from_nanos((sum / 1000) as u64)
    }
}

/// A delay in the unit of the header; delays beyond the field's range, 71 minutes, saturate.
fn micros(delay: Dur) -> u32 {
    u32::try_from(delay.as_micros_rounded()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
