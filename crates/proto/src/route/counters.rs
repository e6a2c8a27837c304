//! Routing counters, named after AODV's messages. Another protocol counts its messages of the same kind under these
//! names, or adds names.

use crate::counters::counters;

counters! {
    /// Counters of a node's routing.
    pub struct Counters {
        /// Own requests sent, repeats included.
        pub rreq_originated: u64,
        /// Own requests that repeated an unanswered one.
        pub rreq_repeated: u64,
        /// Requests received.
        pub rreq_received: u64,
        /// Requests that were received before or originated here.
        pub rreq_duplicates: u64,
        /// Requests of others forwarded.
        pub rreq_relayed: u64,
        /// Requests of others answered by this node as their destination, or as a gateway to it.
        pub rreq_replied_as_destination: u64,
        /// Requests of others answered with a route of this node.
        pub rreq_replied_as_intermediate: u64,
        /// Searches that ended without an answer.
        pub searches_failed: u64,
        /// Replies originated here, including gratuitous ones.
        pub rrep_originated: u64,
        /// Gratuitous replies originated here.
        pub rrep_gratuitous: u64,
        /// Replies forwarded.
        pub rrep_forwarded: u64,
        /// Replies to requests of this node that gave it a route.
        pub rrep_accepted: u64,
        /// Replies that were no better than what was known and were not forwarded.
        pub rrep_suppressed: u64,
        /// Replies for whose receiver no route was known.
        pub rrep_lost: u64,
        /// Route errors sent, including forwarded ones.
        pub rerr_sent: u64,
        /// Route errors received.
        pub rerr_received: u64,
        /// Route errors not sent because of the rate limit.
        pub rerr_limited: u64,
        /// Repairs of a route.
        pub repairs_started: u64,
        /// Repairs that found a route.
        pub repairs_succeeded: u64,
        /// Repairs given up.
        pub repairs_failed: u64,
        /// Link failures reported by the link layer.
        pub link_failures: u64,
        /// Link failures because ARP requests were not answered.
        pub link_failures_unresolved: u64,
        /// Neighbours whose HELLOs stopped.
        pub neighbours_lost: u64,
        /// HELLOs sent.
        pub hellos_sent: u64,
        /// HELLOs received.
        pub hellos_received: u64,
        /// Acknowledgements of replies, sent because a reply asked for one.
        pub rrep_acks_sent: u64,
        /// Acknowledgements of replies of this node.
        pub rrep_acks_received: u64,
        /// Neighbours blacklisted because they acknowledged no reply.
        pub neighbours_blacklisted: u64,
        /// Requests and HELLOs of blacklisted neighbours.
        pub blacklisted_ignored: u64,
        /// Routes forgotten early to make room in a full table.
        pub routes_displaced: u64,
        /// Routes and searches for which a full table had no room.
        pub routes_refused: u64,
        /// Requests forgotten early to make room for newer ones.
        pub requests_displaced: u64,
        /// Messages not passed on because too many waited for their jitter.
        pub relays_refused: u64,
        /// Neighbours not watched because there were too many.
        pub neighbours_refused: u64,
        /// Messages ignored because their sender is received too weakly.
        pub weak_ignored: u64,
        /// Requests and replies ignored because the link they came over is not measured, or they name no cost.
        pub unmeasured_ignored: u64,
        /// Probes of links sent.
        pub probes_sent: u64,
        /// Probes of links received.
        pub probes_received: u64,
    }
}
