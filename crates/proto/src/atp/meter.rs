//! A node's part: how long packets wait in its queue, how long their transmission takes, and the delay it writes into
//! ATP packets.
//!
//! ```text
//!   enters queue        leaves queue                         acknowledged, or given up
//!        │      wait         │           transmission                    │
//!        ├───────────────────┼───────────────────────────────────────────┤
//!                            ▲ packet's delay = max(it, mean wait + mean transmission so far)
//! ```
//!
//! The transmission time includes access to the medium and every retry, so that the neighbours' traffic counts. Means
//! are exponential and belong to the node, not to a flow. Waits are those of ATP data, which carries the time of its
//! arrival at the queue; in a queue served in order, everything else waits as long. Transmission times are those of all
//! unicast packets.

use super::{Config, micros};
use crate::wire::{AtpContent, AtpData, Body, Msdu, Payload, Segment};
use fourhop_units::{Dur, Time};

/// The averages of a node.
///
/// Call [`Meter::handle_departure`] for each packet that leaves the queue for the MAC, and [`Meter::handle_free`] when
/// the MAC has nothing in hand, as often as you like. There are no timers.
#[derive(Clone, Debug)]
pub struct Meter {
    config: Config,
    wait: Option<Dur>,
    transmission: Option<Dur>,
    /// Since when the MAC has had a unicast packet in hand.
    in_hand: Option<Time>,
    /// When it last finished one.
    freed: Time,
}

impl Meter {
    /// The meter of a node that has sent nothing.
    pub fn new(config: Config) -> Meter {
        Meter { config, wait: None, transmission: None, in_hand: None, freed: Time::ZERO }
    }

    /// Notes that the MAC has nothing in hand.
    #[inline]
    pub fn handle_free(&mut self, now: Time) {
        if let Some(since) = self.in_hand.take() {
            self.transmission = Some(self.config.averaged(self.transmission, now - since));
            self.freed = now;
        }
    }

    /// Handles a packet that leaves the queue for the MAC. `alone` gives the minimum duration of its transmission,
    /// without contention.
    pub fn handle_departure(&mut self, now: Time, msdu: &mut Msdu, alone: impl FnOnce(&Msdu) -> Dur) {
        self.handle_free(now);
        if msdu.dst.is_broadcast() || matches!(msdu.payload, Payload::Arp(_)) {
            return;
        }
        if now.saturating_since(self.freed) >= self.config.epoch {
            // Old measurements no longer apply.
            (self.wait, self.transmission) = (None, None);
        }
        self.in_hand = Some(now);
        let alone = if self.transmission.is_none() { alone(msdu) } else { Dur::ZERO };
        let Some(data) = data(msdu) else { return };
        let wait = self.config.averaged(self.wait, now.saturating_since(data.entered_queue));
        self.wait = Some(wait);
        let delay = match self.transmission {
            Some(transmission) => wait + transmission,
            None => (wait + alone).saturating_mul(u64::from(self.config.idle_factor)),
        };
        data.delay_us = data.delay_us.max(micros(delay));
    }
}

fn data(msdu: &mut Msdu) -> Option<&mut AtpData> {
    let Payload::Ipv4(packet) = &mut msdu.payload else { return None };
    let Body::Transport(Segment::Atp(packet)) = &mut packet.body else { return None };
    match &mut packet.content {
        AtpContent::Data(data) => Some(data),
        AtpContent::Feedback(_) => None,
    }
}
