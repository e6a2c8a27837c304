//! Gateway: addresses outside the mesh are reached through it (RFC 3561 section 7).
//!
//! A mesh node searches for such an address as for any other. Every gateway that the request reaches answers for it, as
//! if the address were zero hops behind the gateway. In the RFC, a subnet's single leader assigns the sequence numbers
//! of the answers. Here several gateways lead to the same addresses and do not know of each other, so they choose the
//! same number without coordination: an answer has the number that the request asks for, or 0 if it asks for none. Two
//! answers to one request are then equally new, and the nearer gateway wins. Relays raise the number in a request to
//! the newest they know, and a node that loses a route increments its number before it asks. The answer is therefore
//! valid for every node on its path, and routes still lead only to a newer number, or to the same number with fewer
//! hops, which keeps them loop-free. A gateway itself never follows such a route.
//!
//! For packets from outside, the gateway acts as the source: it searches for their destinations itself.

use super::Aodv;
use crate::route::address_plan::AddressPlan;
use crate::wire::Prefix;
use core::net::Ipv4Addr;

impl Aodv {
    /// Sets the address plan, which lists the prefixes behind gateways. Without a plan there are none.
    pub fn with_plan(self, plan: AddressPlan) -> Aodv {
        Aodv { plan, ..self }
    }

    /// Makes this node answer for addresses in `prefixes`, which the plan then counts as outside the mesh.
    pub fn with_gateway(self, prefixes: impl IntoIterator<Item = Prefix>) -> Aodv {
        let served: Vec<_> = prefixes.into_iter().collect();
        let plan = self.plan.with_outside(served.iter().copied());
        Aodv { served, plan, ..self }
    }

    /// Returns whether this node answers requests for `dst` as a gateway.
    pub(super) fn serves(&self, dst: Ipv4Addr) -> bool {
        self.served.iter().any(|prefix| prefix.contains(dst)) && self.plan.is_outside(dst)
    }

    /// Returns whether packets from `src` enter the mesh here.
    pub(super) fn is_source(&self, src: Ipv4Addr) -> bool {
        src == self.addr || self.serves(src)
    }
}
