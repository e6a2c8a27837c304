//! Enhanced distributed channel access (EDCA): four access functions in one station, one per access category.
//!
//! ```text
//! busy ──┤SIFS│ 2 slots │                      AIFSN 2: VO, VI     0 .. CW slots, then a frame, or several in a TXOP
//!        ┤SIFS│ 3 slots     │                  AIFSN 3: BE
//!        ┤SIFS│ 7 slots                     │  AIFSN 7: BK
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`parameters`](Parameters) | parameters of the categories |
//! | `access` | channel access of a function, its transmission opportunity and its counters |
//! | `election` | which function is next; collisions within the station |
//! | `txop` | frames that follow within a transmission opportunity |
//!
//! A station exchanges frames for one of its functions at a time, the active one. A station without EDCA has a single
//! function and none of this.
//!
//! Sources: IEEE Std 802.11-2020 clauses 10.2.3.2 (EDCA), 10.23.2 (its procedures), 9.2.5.2 (duration fields), table
//! 9-155 (parameters), 10.3.2.14.2 (sequence numbers per receiver and TID).
//!
//! Counting a back-off: the first slot is counted at the boundary after AIFS, in DCF one slot later (clauses 10.23.2.4
//! and 10.3.4.3). Without an interruption both send at the same instant; each interruption counts one more slot. A
//! boundary counts if it is at most the receive-to-transmit turnaround ahead, since the station has then started to
//! send.
//!
//! Not implemented: recovery after PIFS when an answer within a TXOP is missing (the function contends anew), CF-End,
//! fragments, admission control, MSDU lifetimes, the reverse direction, TXOP sharing, AIFSN 1 (of access points). All
//! stations of a network support EDCA: broadcasts are QoS data too, as in a mesh BSS.

mod access;
mod election;
pub(super) mod parameters;
mod txop;

pub use access::Counters;
pub(super) use access::{Access, Txop};
pub use parameters::{Config, Parameters};
