//! Ad hoc TCP (Cho, Sirisena, Pawlikowski 2004): a receiver that reports the capacity of the path to its sender, and a
//! sender that waits and probes where others time out. docs/adhoc-tcp.md has the formulas, the states and the open
//! points.
//!
//! | file | content |
//! |---|---|
//! | [`clock`](Clock) | forward delays from timestamps, with synchronised or differing clocks |
//! | [`rater`](Rater) | throughput of a hop and its two bounds (equations 1 to 3) |
//! | [`delimiter`](Delimiter) | the window given by the capacity of the path (equation 4) |
//! | [`freezer`](Freezer) | the delay beyond which the sender is stopped (equation 5) |
//! | [`receiver`](Receiver) | all three combined: the advertised window |
//! | [`freeze`](Freeze) | the frozen state of the sender and its probes |
//!
//! `tcp/sender/freezing.rs` connects that state to the sender (figures 6 and 7).

mod clock;
mod delimiter;
mod freeze;
mod freezer;
mod rater;
mod receiver;

pub use clock::{Clock, Skew};
pub use delimiter::{Delimiter, Gate, Rounding};
pub use freeze::{Cause, Freeze, Phase, SenderOptions, SenderStats};
pub use freezer::Freezer;
pub use rater::Rater;
pub use receiver::{Packet, Receiver, ReceiverOptions, ReceiverStats};
