//! A gateway: addresses outside the mesh are found through it (RFC 3561 section 7).
//!
//! A node of the mesh searches for such an address as for any other, and every gateway that a request reaches answers
//! in its place, as if the address were zero hops behind the gateway. In the RFC the one leader of a subnet assigns the
//! sequence numbers of the answers. Here several gateways lead to the same addresses and do not know of each other, so
//! they choose the same number without coordination: an answer has the number that the request asks for, or 0 if it
//! asks for none. Two answers to one request are then equally new, and the nearer gateway wins. Relays raise the number
//! in a request to what they know, and a node that loses a route has incremented its number before it asks. The answer
//! is therefore valid for every node on its path, and routes still lead only to a newer number, or to the same number
//! with fewer hops, which keeps them free of loops. A gateway itself never follows such a route.
//!
//! For packets from outside, the gateway acts as the source: it searches for their destinations itself.

use super::Aodv;
use crate::route::address_plan::AddressPlan;
use crate::wire::Prefix;
use core::net::Ipv4Addr;

impl Aodv {
    /// The same, knowing which addresses are behind gateways. Without a plan none is.
    pub fn with_plan(self, plan: AddressPlan) -> Aodv {
        Aodv { plan, ..self }
    }

    /// The same, answering from now on for addresses in `prefixes` outside the mesh; the plan counts them as outside.
    pub fn with_gateway(self, prefixes: impl IntoIterator<Item = Prefix>) -> Aodv {
        let served: Vec<_> = prefixes.into_iter().collect();
        let plan = self.plan.with_outside(served.iter().copied());
        Aodv { served, plan, ..self }
    }

    /// Does this node answer requests for `dst` as a gateway?
    pub(super) fn serves(&self, dst: Ipv4Addr) -> bool {
        self.served.iter().any(|prefix| prefix.contains(dst)) && self.plan.is_outside(dst)
    }

    /// Do packets of `src` enter the mesh here?
    pub(super) fn is_source(&self, src: Ipv4Addr) -> bool {
        src == self.addr || self.serves(src)
    }
}
