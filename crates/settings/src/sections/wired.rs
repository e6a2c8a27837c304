//! `[wired]` and `[[wires]]`: gateways, nodes without radios, and the links between them.

use crate::key::{Fallback::*, Kind, rate, size, time};
use crate::section;
use crate::value::Value;
use fourhop_units::{Bytes, Dur, Rate};

section! {
    /// Hosts and routers without radios, and the gateways between them and the nodes of the topology. Links are
    /// full-duplex and point-to-point, and lose packets only at full queues. Without `[[wires]]`, every gateway has a
    /// link to the first of `nodes`, and these form a line.
    WiredKeys = "wired" {
        /// Nodes of the topology that have wires, such as `[4]`. They are called gateway-1, gateway-2, ... in this
        /// order. Among equally near gateways, nodes use the first. "random" draws a node in every run.
        gateways: Value, Kind::Gateways, Required;
        /// Names of the nodes without radios, such as `["router", "host"]`.
        nodes: Value, Kind::Names(1), Required;
        /// Rate of every link, in each direction.
        rate: Rate, rate("1kbps", "400Gbps"), Both("10Mbps");
        /// Propagation delay of a link.
        delay: Dur, time("0s", "100s"), Both("40ms");
        /// Queue limit in packets for each direction of a link, without the packet being sent.
        queue: u32, Kind::Int(1, 1_000_000), Both("50");
        /// Queue limit in bytes.
        queue_bytes: Option<Bytes>, size("1B", "10GB"), Both("none");
        /// Bytes that a link adds to each packet; Ethernet adds 38B.
        overhead: Bytes, size("0B", "1000B"), Both("0B");
    }
}

section! {
    /// A link between two nodes without radios, or between such a node and a gateway.
    WireKeys = "wires" {
        /// Names of the two ends, such as `["gateway-1", "router"]`.
        ends: Value, Kind::Names(2), Required;
        /// Rate of the link, in each direction.
        rate: Option<Rate>, rate("1kbps", "400Gbps"), Computed("`wired.rate`");
        /// Propagation delay of the link.
        delay: Option<Dur>, time("0s", "100s"), Computed("`wired.delay`");
        /// Queue limit in packets for each direction.
        queue: Option<u32>, Kind::Int(1, 1_000_000), Computed("`wired.queue`");
        /// Queue limit in bytes.
        queue_bytes: Option<Bytes>, size("1B", "10GB"), Computed("`wired.queue_bytes`");
        /// Bytes that the link adds to each packet.
        overhead: Option<Bytes>, size("0B", "1000B"), Computed("`wired.overhead`");
    }
}
