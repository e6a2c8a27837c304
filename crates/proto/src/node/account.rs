//! Packet accounting: how many packets entered and left each layer of a node, how many were lost, and why.

use crate::counters::counters;
use crate::drop::{DropReason, Layer};
use crate::mac::Dcf;

/// Losses by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drops(pub(super) [u64; DropReason::ALL.len()]);

impl Default for Drops {
    fn default() -> Drops {
        Drops([0; DropReason::ALL.len()])
    }
}

impl Drops {
    /// Counts one more loss.
    pub fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// Returns the losses for this reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Returns the losses for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the losses in a layer.
    pub fn in_layer(&self, layer: Layer) -> u64 {
        DropReason::ALL.iter().filter(|reason| reason.layer() == layer).map(|&reason| self.of(reason)).sum()
    }

    /// Adds another node's losses.
    pub fn add(&mut self, other: &Drops) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

counters! {
    /// The balance of a layer: `taken` = `passed` + `dropped` + `held`.
    pub struct Account {
        /// Packets received or made.
        pub taken: u64,
        /// Packets passed on, consumed or returned.
        pub passed: u64,
        /// Lost packets, by reason.
        pub dropped: u64,
        /// Packets still queued.
        pub held: u64,
    }
}

impl Account {
    /// Returns the account of outgoing MSDUs in this MAC.
    pub(super) fn of_mac(mac: &Dcf) -> Account {
        let counters = mac.counters();
        Account {
            taken: counters.accepted,
            passed: counters.acknowledged + counters.broadcasts,
            dropped: counters.rts_limit_drops + counters.data_limit_drops,
            held: mac.msdus().count() as u64,
        }
    }

    /// Whether everything is accounted for.
    pub const fn balances(&self) -> bool {
        self.taken == self.passed + self.dropped + self.held
    }
}

/// The accounts of the layers that can lose packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Layers {
    /// Copies of frames at the receiver.
    pub radio: Account,
    /// Outgoing MSDUs in the MAC.
    pub mac: Account,
    /// Packets in ARP, the queue and the link delays, in both directions.
    pub link: Account,
    /// Packets in IP and routing.
    pub network: Account,
    /// Packets on wired links, queued or in transit.
    pub wire: Account,
}

impl Layers {
    /// Returns all accounts with their layers.
    pub fn named(&self) -> [(Layer, Account); 5] {
        [
            (Layer::Radio, self.radio),
            (Layer::Mac, self.mac),
            (Layer::Link, self.link),
            (Layer::Network, self.network),
            (Layer::Wire, self.wire),
        ]
    }

    /// Adds another node's accounts.
    pub fn add(&mut self, other: &Layers) {
        self.radio.add(&other.radio);
        self.mac.add(&other.mac);
        self.link.add(&other.link);
        self.network.add(&other.network);
        self.wire.add(&other.wire);
    }
}

/// Packets handed from one layer to another.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LayerCounts {
    pub mac_to_link: u64,
    pub link_to_mac: u64,
    pub link_to_network: u64,
    pub network_to_link: u64,
    pub given_back: u64,
    pub link_given_back: u64,
    pub arp_received: u64,
    pub routing_sent: u64,
    /// Copies of broadcasts, for radios after the first.
    pub copied: u64,
    pub routing_received: u64,
    pub notifications_sent: u64,
    pub notifications_received: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_counted_by_reason_and_by_layer() {
        let mut drops = Drops::default();
        for (reason, times) in (1..).zip(DropReason::ALL) {
            (0..reason).for_each(|_| drops.count(*times));
        }
        for (times, reason) in (1..).zip(DropReason::ALL) {
            assert_eq!(drops.of(*reason), times);
        }
        let count = DropReason::ALL.len() as u64;
        assert_eq!(drops.total(), count * (count + 1) / 2);
        let layers = Layers::default().named().map(|(layer, _)| drops.in_layer(layer));
        assert_eq!(layers.iter().sum::<u64>(), drops.total());
        assert!(layers.iter().all(|&of_layer| of_layer > 0));
        let mut sum = drops;
        sum.add(&drops);
        assert!(DropReason::ALL.iter().all(|&reason| sum.of(reason) == 2 * drops.of(reason)));
    }

    /// Whether an account with these counts balances.
    fn balances(taken: u64, passed: u64, dropped: u64, held: u64) -> bool {
        Account { taken, passed, dropped, held }.balances()
    }

    #[test]
    fn an_account_balances_if_everything_is_somewhere() {
        assert!(balances(9, 4, 3, 2) && balances(0, 0, 0, 0));
        assert!(!balances(10, 4, 3, 2) && !balances(8, 4, 3, 2));
    }

    #[test]
    fn accounts_of_nodes_add_up_layer_by_layer() {
        let account = |taken| Account { taken, passed: taken, dropped: 0, held: 0 };
        let [radio, mac, link, network, wire] = [1, 2, 3, 4, 5].map(account);
        let mut sum = Layers { radio, mac, link, network, wire };
        sum.add(&sum.clone());
        assert_eq!(sum.named().map(|(_, of)| of.taken), [2, 4, 6, 8, 10]);
        let names = [Layer::Radio, Layer::Mac, Layer::Link, Layer::Network, Layer::Wire];
        assert_eq!(sum.named().map(|(layer, _)| layer), names);
    }
}
