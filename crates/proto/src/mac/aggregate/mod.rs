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
//! | `window`, `outcome` | sequence numbers; how an exchange is to go, and how it went |
//! | [`originator`] | what is sent to one receiver: numbers, window, retries, requests that move the receiver on |
//! | [`recipient`] | what comes from one transmitter: the scoreboard behind block acknowledgements, the reordering buffer |
//! | [`rates`] | Minstrel-HT: by which MCS an exchange goes |
//! | [`supply`] | how the MAC asks the layer above for further packets to the same receiver |
//! | `exchange` | the part of [`Dcf`](super::Dcf) that sends and answers aggregates |
//!
//! Sources: IEEE Std 802.11-2020 clauses 9.3.1.7 and 9.3.1.8 (BlockAckReq, BlockAck), 9.7 (A-MPDU), 9.3.2.2 (A-MSDU),
//! 10.11 and 10.12 (their use), 10.25.6 (HT-immediate block ack), 10.6.6.5.2 (rates of answers). Agreements stand from
//! the beginning and all stations have a window of 64: no ADDBA frames are sent. With EDCA there is a session to each
//! receiver for each category, otherwise one to each receiver. Left out: delayed block ack, multi-TID and GCR, partial
//! state, minimum MPDU start spacing, protected block ack, fragments.
//!
//! Choices that the standard leaves open:
//!
//! - When a receiver has answered, what it has not got waits for another exchange, which takes its turn with what the
//!   layer above offers next, so that one bad link does not hold up the others. Without an answer the same receiver is
//!   tried again.
//! - An MPDU is given up after `short_retry_limit` exchanges that were to carry it, with or without RTS. A BlockAckReq
//!   then tells the receiver to move on: at once if it has later MPDUs, otherwise before the next data.
//! - A receiver that waits longer than `reorder_timeout` for a missing MPDU goes on without it, as Linux does.

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

/// State of a station for aggregation.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    originators: Vec<Originator>,
    recipients: Vec<Recipient>,
    /// Place of the originator whose exchange is in hand.
    current: usize,
    /// Did the last exchange begin with a packet of the layer above, so that what others have left comes next?
    from_above: bool,
    /// Is a BlockAckReq sent, not data?
    requests: bool,
    /// How the data of the exchange in hand is sent.
    mcs: Mcs,
    /// With rate control.
    control: Option<Box<McsControl>>,
    /// Stations that know no MCS, in order.
    legacy: Arc<[MacAddr]>,
    /// Of an exchange that ends with an ACK, and of one that ends with a BlockAck.
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

    /// Does this station take aggregates?
    pub fn is_for(&self, to: MacAddr) -> bool {
        self.legacy.is_empty() || self.legacy.binary_search(&to).is_err()
    }

    /// How frames with an MCS are announced to others.
    fn protection(&self, config: &Config) -> Protection {
        match config.aggregation.protection {
            Protection::Auto if self.legacy.is_empty() => Protection::None,
            Protection::Auto => Protection::CtsToSelf,
            always => always,
        }
    }

    /// Rate control draws its samples from `random`.
    pub fn sample_by(&mut self, random: Stream) {
        if let Some(control) = &mut self.control {
            control.sample_by(random);
        }
    }

    /// The MCS that most data for a receiver has at present, if it is known.
    pub fn present(&self, to: MacAddr) -> Option<Mcs> {
        let control = self.control.as_ref()?;
        control.present(self.originators.iter().position(|originator| originator.to() == to)?)
    }

    /// How the exchange of data in hand goes.
    fn choose(&mut self, now: Time, config: &Config) -> Choice {
        let choice = match &mut self.control {
            None => Choice { mcs: self.mcs, frames: config.aggregation.frames },
            Some(control) => control.choose(now, self.current, config),
        };
        self.mcs = choice.mcs;
        choice
    }

    /// Fate of its data.
    fn note(&mut self, outcome: Outcome, answered: bool) {
        if let Some(control) = &mut self.control
            && outcome.sent > 0
        {
            control.handle_outcome(self.current, outcome, answered);
        }
    }

    /// Place of the originator for `to`.
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

    /// Does anything wait for an exchange?
    pub fn has_work(&self) -> bool {
        self.originators.iter().any(Originator::has_work)
    }

    /// Takes up the next originator that has something to send, in turn; its receiver.
    fn take_up_next(&mut self) -> Option<MacAddr> {
        let count = self.originators.len();
        let place =
            (1..=count).map(|step| (self.current + step) % count).find(|&at| self.originators[at].has_work())?;
        self.current = place;
        Some(self.originators[place].to())
    }

    /// Packets that it has taken and that are neither acknowledged nor given up.
    pub fn packets(&self) -> impl Iterator<Item = &Msdu> {
        self.originators.iter().flat_map(Originator::packets)
    }

    /// When a reordering buffer goes on without what is missing.
    pub fn next_timeout(&self, config: &Config) -> Option<Time> {
        let first = self.recipients.iter().filter_map(Recipient::waits_since).min()?;
        Some(first + config.aggregation.reorder_timeout)
    }
}
