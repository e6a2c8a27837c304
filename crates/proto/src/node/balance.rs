//! The balance of each layer of a node: how many packets entered it, left it, were lost in it and are still there.

use super::account::{Account, Layers};
use super::radio::FIRST;
use super::stack::Node;
use crate::drop::Layer;
use crate::route::Protocol;

impl Node {
    /// Returns the balance of each layer except the radio, which is the ear's.
    pub fn accounts(&self) -> Layers {
        let c = &self.layer_counts;
        let mut mac = Account::default();
        let (mut arp_sent, mut link_queued) = (0, 0);
        for radio in FIRST..self.radios() {
            let (dcf, link) = (self.mac_at(radio), self.link_at(radio));
            mac.add(&Account::of_mac(dcf));
            let (down, up) = link.queued();
            (arp_sent, link_queued) = (arp_sent + link.arp_sent(), link_queued + down + up);
        }
        let (from_wires, to_wires, discipline) =
            self.wired.as_ref().map_or((0, 0, 0), |wired| (wired.ports.received, wired.ports.sent, wired.queued()));
        let account = |layer, taken, passed, held: usize| Account {
            taken,
            passed,
            dropped: self.drops.in_layer(layer),
            held: held as u64,
        };
        let (absorbed, emitted) = self.modules.as_ref().map(|modules| modules.balance()).unwrap_or_default();
        Layers {
            radio: Account::default(),
            mac,
            link: account(
                Layer::Link,
                c.network_to_link + arp_sent + c.mac_to_link,
                c.link_to_mac + c.link_to_network + c.arp_received + c.link_given_back,
                link_queued,
            ),
            network: account(
                Layer::Network,
                self.local.originated()
                    + c.routing_sent
                    + c.copied
                    + c.notifications_sent
                    + c.link_to_network
                    + c.given_back
                    + from_wires
                    + emitted,
                c.network_to_link
                    + self.local.delivered
                    + c.routing_received
                    + c.notifications_received
                    + to_wires
                    + absorbed,
                self.router.buffered() + discipline,
            ),
            wire: Account::default(),
        }
    }
}
