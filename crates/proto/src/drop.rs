//! Reasons for dropping packets and frames. Every loss in the simulator has one of these names, and at the end of a run
//! each layer accounts for everything that entered it: `in` = `out` + `dropped` + `held`.

macro_rules! reasons {
    ($($layer:ident, $name:literal, $variant:ident, $doc:literal;)+) => {
        /// Why something was lost, in the order of the layers.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum DropReason { $(#[doc = $doc] $variant,)+ }

        impl DropReason {
            /// Every reason.
            pub const ALL: &[DropReason] = &[$(DropReason::$variant,)+];

            /// The layer that loses it.
            pub const fn layer(self) -> Layer {
                match self { $(DropReason::$variant => Layer::$layer,)+ }
            }

            /// Name in results.
            pub const fn name(self) -> &'static str {
                match self { $(DropReason::$variant => $name,)+ }
            }

            /// Explanation in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(DropReason::$variant => $doc,)+ }
            }
        }
    };
}

/// Layers that drop packets or frames.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    /// Copies of frames arriving at a radio.
    Radio,
    /// MSDUs in the 802.11 MAC.
    Mac,
    /// Packets in ARP and the interface queue.
    Link,
    /// Packets in IP and routing.
    Network,
    /// Packets on wired links.
    Wire,
}

impl Layer {
    /// Returns the name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::Radio => "radio",
            Layer::Mac => "mac",
            Layer::Link => "link",
            Layer::Network => "network",
            Layer::Wire => "wire",
        }
    }
}

reasons! {
    Radio, "undecodable", Undecodable, "sensed, but below the reception threshold";
    Radio, "collision", Collision, "overlapped another frame and neither was strong enough";
    Radio, "captured", Captured, "overlapped a frame that was stronger by at least the capture ratio";
    Radio, "half-duplex", HalfDuplex, "arrived or ended while the receiver was transmitting";
    Radio, "frame-error", FrameError, "noise or fading corrupted it";
    Mac, "rts-retry-limit", RtsRetryLimit, "no CTS after the last allowed RTS";
    Mac, "data-retry-limit", DataRetryLimit, "no ACK after the last allowed transmission";
    Mac, "duplicate", Duplicate, "received before; acknowledged and dropped";
    Mac, "unexpected-data", UnexpectedData, "data that did not follow a CTS of this station";
    Link, "processor-busy", ProcessorBusy, "too many packets waited for the node's processor";
    Link, "queue-full", QueueFull, "the interface queue was full";
    Link, "queue-displaced", QueueDisplaced, "pushed out of the full interface queue by a routing packet";
    Link, "link-codel", LinkCodel, "dropped by CoDel because it waited too long in the interface queue";
    Link, "link-red", LinkRed, "dropped early because the MAC had to retry previous packets";
    Link, "neighbourhood-red", NeighbourhoodRed, "dropped early because the medium in the neighbourhood was too busy";
    Link, "queue-purged", QueuePurged, "waited for a next hop whose link broke";
    Link, "arp-displaced", ArpDisplaced, "replaced by a newer packet while waiting for ARP";
    Link, "arp-unresolved", ArpUnresolved, "no reply to ARP requests";
    Network, "no-route", NoRoute, "a relay knew no route";
    Network, "ttl-expired", TtlExpired, "time to live ran out";
    Network, "route-loop", RouteLoop, "came back to its source";
    Network, "link-broken", LinkBroken, "returned by the link layer, and routing could not repair the route";
    Network, "buffer-full", BufferFull, "pushed out of routing's send buffer";
    Network, "buffer-timeout", BufferTimeout, "waited too long for a route";
    Network, "route-table-full", RouteTableFull, "the routing table had no room for its destination";
    Network, "discovery-failed", DiscoveryFailed, "no reply to any route request";
    Network, "routing-control", RoutingControl, "a routing message that had done its work or was not needed";
    Network, "gateway-queue-full", GatewayQueueFull, "a queue at the gateway was full";
    Network, "codel", Codel, "dropped by CoDel because it waited too long at the gateway";
    Network, "no-listener", NoListener, "no socket for it at its destination";
    Wire, "wired-queue-full", WiredQueueFull, "the queue of a wired link was full";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_layers_in_order() {
        let mut names: Vec<_> = DropReason::ALL.iter().map(|r| r.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DropReason::ALL.len());
        assert!(DropReason::ALL.is_sorted_by_key(|r| r.layer()));
    }
}
