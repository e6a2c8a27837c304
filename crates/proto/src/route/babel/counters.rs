//! Counters of Babel.

use crate::counters::counters;

counters! {
    /// Counters of a node's Babel.
    pub struct Counters {
        /// Packets sent.
        pub packets_sent: u64,
        /// Packets received.
        pub packets_received: u64,
        /// Hellos sent.
        pub hellos_sent: u64,
        /// Hellos received.
        pub hellos_received: u64,
        /// IHUs sent.
        pub ihus_sent: u64,
        /// IHUs received that were for this node.
        pub ihus_received: u64,
        /// Links that have come up: Hellos and an IHU of the neighbour arrived.
        pub links_up: u64,
        /// Links that have gone down.
        pub links_down: u64,
        /// Updates of all routes sent to all.
        pub dumps_sent: u64,
        /// Updates sent, those of whole tables included.
        pub updates_sent: u64,
        /// Updates received.
        pub updates_received: u64,
        /// Updates for a selected route that were not feasible and were ignored.
        pub unfeasible_ignored: u64,
        /// Retractions sent.
        pub retractions_sent: u64,
        /// Retractions received.
        pub retractions_received: u64,
        /// Requests for updates sent.
        pub route_requests_sent: u64,
        /// Requests for updates received.
        pub route_requests_received: u64,
        /// Requests for a sequence number originated here, without repeats.
        pub seqno_requests_made: u64,
        /// Requests for a sequence number received.
        pub seqno_requests_received: u64,
        /// Requests for a sequence number forwarded.
        pub seqno_requests_forwarded: u64,
        /// Sequence numbers originated because of a request.
        pub seqnos_made: u64,
        /// Destinations that gained a first route.
        pub routes_found: u64,
        /// Destinations for which the last route was lost.
        pub routes_lost: u64,
        /// Selected routes that now lead to another neighbour.
        pub routes_changed: u64,
        /// Times that routes of a destination were not renewed.
        pub routes_expired: u64,
        /// Packets that the link layer gave up.
        pub link_failures: u64,
    }
}
