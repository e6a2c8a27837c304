//! Aggregation with immediate block acknowledgement (802.11n and later).
//!
//! ```text
//!            packet, DIFS + back-off            SIFS             SIFS
//! sender    ─────────────────────────► (RTS) ─────────►  A-MPDU ─────────► what is missing comes again, with others
//!                                        │     ▲           │       ▲
//! receiver                               └► CTS┘           └► BA ──┘
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`options`], `lengths` | limits; sizes |
//! | `window`, `outcome` | sequence numbers; parameters and results of an exchange |
//! | [`originator`] | transmission to one receiver: numbers, window, retries, requests that advance its window |
//! | [`recipient`] | reception from one transmitter: the scoreboard behind block acknowledgements, the reordering buffer |
//! | [`rates`] | Minstrel-HT: chooses the MCS of an exchange |
//! | [`supply`] | how the MAC asks the layer above for further packets to the same receiver |
//! | `exchange` | the part of [`Dcf`](super::Dcf) that sends and answers aggregates |
//!
//! Sources: IEEE Std 802.11-2020 clauses 9.3.1.7 and 9.3.1.8 (BlockAckReq, BlockAck), 9.7 (A-MPDU), 9.3.2.2 (A-MSDU),
//! 10.11 and 10.12 (their use), 10.25.6 (HT-immediate block ack), 10.6.6.5.2 (rates of answers). Block ack agreements
//! exist from the start and all stations have a window of 64: no ADDBA frames are sent. There is one session per
//! receiver, with EDCA one per receiver and category. Not implemented: delayed block ack, multi-TID and GCR, partial
//! state, minimum MPDU start spacing, protected block ack, fragments.
//!
//! Choices that the standard leaves open:
//!
//! - When a receiver has answered, the MPDUs it lacks wait for another exchange, which alternates with packets from the
//!   layer above, so that one bad link does not hold up the others. Without an answer the same receiver is tried again.
//! - An MPDU is given up after `short_retry_limit` exchanges that should have carried it, with or without RTS. A
//!   BlockAckReq then advances the receiver's window: at once if it has later MPDUs, otherwise before the next data.
//! - A receiver that has waited longer than `reorder_timeout` for a missing MPDU continues without it, as Linux does.

mod exchange;
mod lengths;
pub mod options;
pub mod originator;
mod outcome;
pub mod rates;
pub mod recipient;
pub mod supply;
mod window;

pub use options::{Aggregation, Protection};
pub use originator::Originator;
pub use outcome::{Choice, Outcome};
pub use recipient::Recipient;
pub use supply::Supply;
pub use window::WINDOW;

use self::rates::McsControl;
use super::config::Config;
use super::sizes::{BLOCK_ACK, CTS_OR_ACK};
use super::times::ExchangeTimes;
use crate::phy::Mcs;
use crate::wire::Msdu;
use fourhop_units::{MacAddr, Stream, Time};
use std::sync::Arc;

/// A station's state for aggregation.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    originators: Vec<Originator>,
    recipients: Vec<Recipient>,
    /// Index of the originator in the current exchange.
    current: usize,
    /// Whether the last exchange began with a packet from above, so that leftovers of others are next.
    from_above: bool,
    /// Whether a BlockAckReq is sent instead of data.
    requests: bool,
    /// MCS of the data in the current exchange.
    mcs: Mcs,
    /// Set only with rate control.
    control: Option<Box<McsControl>>,
    /// Stations without MCS, sorted by address.
    legacy: Arc<[MacAddr]>,
    /// Times of an exchange that ends with an ACK, and of one that ends with a BlockAck.
    times: [ExchangeTimes; 2],
}

impl Sessions {
    pub fn new(config: &Config, mcs: Mcs) -> Sessions {
        let times = |answer| ExchangeTimes::answered_by(config, config.basic_rate, answer);
        Sessions {
            originators: Vec::new(),
            recipients: Vec::new(),
            current: 0,
            from_above: false,
            requests: false,
            mcs,
            control: McsControl::new(config).map(Box::new),
            legacy: Arc::default(),
            times: [times(CTS_OR_ACK), times(BLOCK_ACK)],
        }
    }

    /// Whether this station supports aggregates.
    pub fn is_for(&self, to: MacAddr) -> bool {
        self.legacy.is_empty() || self.legacy.binary_search(&to).is_err()
    }

    /// Returns how frames with an MCS are announced to others.
    fn protection(&self, config: &Config) -> Protection {
        match config.aggregation.protection {
            Protection::Auto if self.legacy.is_empty() => Protection::None,
            Protection::Auto => Protection::CtsToSelf,
            always => always,
        }
    }

    /// Makes rate control draw its samples from `random`.
    pub fn sample_by(&mut self, random: Stream) {
        if let Some(control) = &mut self.control {
            control.sample_by(random);
        }
    }

    /// Returns the MCS currently used for most data to a receiver, if known.
    pub fn present(&self, to: MacAddr) -> Option<Mcs> {
        let control = self.control.as_ref()?;
        control.present(self.originators.iter().position(|originator| originator.to() == to)?)
    }

    /// Chooses the parameters of the current data exchange.
    fn choose(&mut self, now: Time, config: &Config) -> Choice {
        let choice = match &mut self.control {
            None => Choice { mcs: self.mcs, frames: config.aggregation.frames },
            Some(control) => control.choose(now, self.current, config),
        };
        self.mcs = choice.mcs;
        choice
    }

    /// Reports the fate of its data to rate control.
    fn note(&mut self, outcome: Outcome, answered: bool) {
        if let Some(control) = &mut self.control
            && outcome.sent > 0
        {
            control.handle_outcome(self.current, outcome, answered);
        }
    }

    /// Returns the index of the originator for `to`.
    fn originator(&mut self, to: MacAddr) -> usize {
        self.originators.iter().position(|originator| originator.to() == to).unwrap_or_else(|| {
            self.originators.push(Originator::new(to));
            self.originators.len() - 1
        })
    }

    fn recipient(&mut self, from: MacAddr) -> &mut Recipient {
        let place = self.recipients.iter().position(|recipient| recipient.from() == from).unwrap_or_else(|| {
            self.recipients.push(Recipient::new(from));
            self.recipients.len() - 1
        });
        &mut self.recipients[place]
    }

    /// Whether anything waits for an exchange.
    pub fn has_work(&self) -> bool {
        self.originators.iter().any(Originator::has_work)
    }

    /// Selects, in round-robin order, the next originator with something to send; returns its receiver.
    fn take_up_next(&mut self) -> Option<MacAddr> {
        let count = self.originators.len();
        let place =
            (1..=count).map(|step| (self.current + step) % count).find(|&at| self.originators[at].has_work())?;
        self.current = place;
        Some(self.originators[place].to())
    }

    /// Returns the packets that it has accepted and neither had acknowledged nor given up.
    pub fn packets(&self) -> impl Iterator<Item = &Msdu> {
        self.originators.iter().flat_map(Originator::packets)
    }

    /// Returns when a reordering buffer continues without missing packets.
    pub fn next_timeout(&self, config: &Config) -> Option<Time> {
        let first = self.recipients.iter().filter_map(Recipient::waits_since).min()?;
        Some(first + config.aggregation.reorder_timeout)
    }
}
