//! `[link]`: interface queue and ARP.

use crate::key::{Choice, Kind, number, share, size, time};
use crate::value::{Number, Share};
use crate::{choice, section};
use fourhop_proto::net::{self, QueueKind, sizes::Sizes};
use fourhop_units::{Bytes, Dur};

choice! {
    for Sizes {
        Ns2 = "ns2", "as in ns-2, without UDP and LLC headers";
        Standard = "standard", "the actual headers";
    }
}

choice! {
    for QueueKind {
        DropTail = "drop-tail", "one queue";
        FqCodel = "fq-codel", "queues per flow and neighbour with CoDel and fair air time (docs/radios.md)";
    }
}

section! {
    /// Interface queue and ARP.
    Link = "link" of net::Config {
        /// Kind of interface queue.
        queue: QueueKind, Kind::Choice(QueueKind::CHOICES) => queue_kind;
        /// Size of a `drop-tail` queue; at most one packet fewer than this waits in it, as in ns-2.
        queue_limit: u32, Kind::Int(2, 1_000_000) => queue.limit;
        /// Put routing packets at the head of the queue.
        routing_first: bool, Kind::Bool => queue.routing_first;
        /// Packet limit of all queues of `fq-codel` together.
        fq_limit: u32, Kind::Int(1, 1_000_000) => fq.limit;
        /// Byte limit of all queues of `fq-codel` together.
        fq_memory: Bytes, size("1kB", "1GB") => fq.memory;
        /// Bytes that a flow may send per round.
        fq_quantum: Bytes, size("1B", "64kB") => fq.quantum;
        /// CoDel's target: the acceptable delay of a standing queue.
        codel_target: Dur, time("1us", "100s") => fq.codel.target;
        /// CoDel's interval: the time above the target after which it drops a packet.
        codel_interval: Dur, time("1us", "1000s") => fq.codel.interval;
        /// Share air time evenly between neighbours; otherwise they take turns.
        airtime_fairness: bool, Kind::Bool => fq.airtime_fairness;
        /// Air time that a neighbour may use per round.
        airtime_quantum: Dur, time("1us", "1s") => fq.airtime_quantum;
        /// Link-layer RED: drop packets before they reach the MAC, depending on its mean number of retries (Fu et al.
        /// 2003).
        red: bool, Kind::Bool => red.enabled;
        /// Mean retries per packet at which drops begin.
        red_low: Number, number("0", "1000") => red.low;
        /// Mean retries per packet at which the drop probability reaches its maximum.
        red_high: Number, number("0", "1000") => red.high;
        /// Maximum drop probability.
        red_max_drop: Share, share("0%", "100%") => red.max_drop;
        /// Neighbourhood RED: nodes that share the medium drop packets early, each according to its share of the load
        /// (Xu et al. 2003).
        nred: bool, Kind::Bool => nred.enabled;
        /// Busy share of the medium at which drops begin.
        nred_low: Share, share("0%", "100%") => nred.low;
        /// Busy share of the medium at which the drop probability reaches its maximum.
        nred_high: Share, share("0%", "100%") => nred.high;
        /// Maximum drop probability, at a node that causes all the load.
        nred_max_drop: Share, share("0%", "100%") => nred.max_drop;
        /// Time between two estimates of the load.
        nred_interval: Dur, time("1ms", "1000s") => nred.interval;
        /// Weight of the previous value in the moving average of the load.
        nred_smoothing: Share, share("0%", "99.9%") => nred.smoothing;
        /// `red`, `nred` and `fq-codel` mark packets of TCP connections that use ECN (`tcp.ecn`) instead of dropping
        /// them (RFC 3168).
        ecn: bool, Kind::Bool => ecn;
        /// Processing delay of a packet in each direction.
        delay: Dur, time("0s", "1s") => delay;
        /// Processor time per packet sent or forwarded; at most 512 packets wait for the processor (docs/mesh.md).
        packet_cost: Dur, time("0s", "100ms") => packet_cost;
        /// ARP finds link addresses; if false, every node knows them.
        arp: bool, Kind::Bool => arp;
        /// Processing delay of ARP.
        arp_delay: Dur, time("0s", "1s") => arp_delay;
        /// Time after which an unanswered ARP request is repeated; none: only another packet triggers a new request.
        arp_retry: Option<Dur>, time("1ms", "1000s") => arp_retry;
        /// Headers that count in the sizes of packets on the air.
        sizes: Sizes, Kind::Choice(Sizes::CHOICES) => sizes;
    }
}
