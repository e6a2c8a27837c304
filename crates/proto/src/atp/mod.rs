//! ATP, the ad hoc transport protocol (Sundaresan, Anantharaman, Hsieh, Sivakumar, MobiHoc 2003; IEEE Transactions on
//! Mobile Computing 4, 2005): reliable, paced by a rate that the nodes of the path report; it is no TCP.
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
//! We did not have the paper itself: this follows descriptions by others, above all the papers on TCP-AP and
//! TCP-GAP, and the abstracts. docs/atp.md lists their constants, ours where they leave them open, and
//! omissions. A constant that is not marked as theirs is ours.

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

/// Options of ATP, at its ends and at nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time between two feedbacks; longer than a round trip. The description has one second.
    pub epoch: Dur,
    /// Weight of the old average of delays, at nodes and at the receiver, in thousandths. Ours: 3/4.
    pub smoothing: u32,
    /// By how much the path has to offer more than the present rate before that rises, as a share of it in thousandths.
    /// Ours: 1/10.
    pub increase_over: u32,
    /// Share of what the path offers more by which the rate then rises, in thousandths. Ours: 1/5.
    pub increase_by: u32,
    /// Assumption of a node that has sent nothing for an epoch: so many packets of the flow compete around it for
    /// the medium. Ours: 3, a packet that arrives, one that leaves, and the one at the next node.
    pub idle_factor: u32,
    /// Payload of a packet in bytes.
    pub mss: u32,
    /// Are the ages of bytes at delivery written down?
    pub delivery_ages: bool,
}

impl Config {
    /// The published values, and ours for those left open.
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

    /// The average after `new`, given that before it.
    fn averaged(&self, old: Option<Dur>, new: Dur) -> Dur {
        let Some(old) = old else { return new };
        let weight = u128::from(self.smoothing.min(999));
        let sum = u128::from(old.as_nanos()) * weight + u128::from(new.as_nanos()) * (1000 - weight);
        Dur::from_nanos((sum / 1000) as u64)
    }
}

/// A delay as the header has it; more than the field holds, 71 minutes, is its largest value.
fn micros(delay: Dur) -> u32 {
    u32::try_from(delay.as_micros_rounded()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
