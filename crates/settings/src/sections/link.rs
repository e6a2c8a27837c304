//! `[link]`: interface queue and ARP.

use crate::key::{Choice, Kind, number, share, size, time};
use crate::value::{Number, Share};
use crate::{choice, section};
use fourhop_proto::net::{self, QueueKind, sizes::Sizes};
use fourhop_units::{Bytes, Dur};

choice! {
    for Sizes {
        Ns2 = "ns2", "as in ns-2, without UDP and LLC headers";
        Standard = "standard", "by the actual headers";
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
        /// Size of a `drop-tail` queue; one packet fewer than this waits in it, as in ns-2.
        queue_limit: u32, Kind::Int(2, 1_000_000) => queue.limit;
        /// Put routing packets at the head of the queue.
        routing_first: bool, Kind::Bool => queue.routing_first;
        /// Packet limit of all queues of `fq-codel`.
        fq_limit: u32, Kind::Int(1, 1_000_000) => fq.limit;
        /// Byte limit of these queues.
        fq_memory: Bytes, size("1kB", "1GB") => fq.memory;
        /// Bytes that a flow may send in a round.
        fq_quantum: Bytes, size("1B", "64kB") => fq.quantum;
        /// Delay that CoDel accepts in a queue that does not become empty.
        codel_target: Dur, time("1us", "100s") => fq.codel.target;
        /// Time above the target after which CoDel drops a packet.
        codel_interval: Dur, time("1us", "1000s") => fq.codel.interval;
        /// Share air time evenly between neighbours; otherwise they take turns.
        airtime_fairness: bool, Kind::Bool => fq.airtime_fairness;
        /// Air time that a neighbour may use in a round.
        airtime_quantum: Dur, time("1us", "1s") => fq.airtime_quantum;
        /// Link-layer RED: drop packets before the MAC by its mean number of retries (Fu et al. 2003).
        red: bool, Kind::Bool => red.enabled;
        /// Mean retries per packet at which drops begin.
        red_low: Number, number("0", "1000") => red.low;
        /// Mean retries at which the probability is the largest.
        red_high: Number, number("0", "1000") => red.high;
        /// Largest probability of a drop.
        red_max_drop: Share, share("0%", "100%") => red.max_drop;
        /// Neighbourhood RED: nodes that share the medium drop packets early, each by its part of the load (Xu et al.
        /// 2003).
        nred: bool, Kind::Bool => nred.enabled;
        /// Busy share of the medium at which drops begin.
        nred_low: Share, share("0%", "100%") => nred.low;
        /// Busy share at which the probability is the largest.
        nred_high: Share, share("0%", "100%") => nred.high;
        /// Largest probability of a drop, at a node that causes all the load.
        nred_max_drop: Share, share("0%", "100%") => nred.max_drop;
        /// Time between two estimates of the load.
        nred_interval: Dur, time("1ms", "1000s") => nred.interval;
        /// Weight of the old average of the load.
        nred_smoothing: Share, share("0%", "99.9%") => nred.smoothing;
        /// `red`, `nred` and `fq-codel` mark packets of TCP with `tcp.ecn` instead of dropping them (RFC 3168).
        ecn: bool, Kind::Bool => ecn;
        /// Processing delay of a packet in each direction.
        delay: Dur, time("0s", "1s") => delay;
        /// Processor time per packet sent or forwarded; at most 512 packets wait for it (docs/mesh.md).
        packet_cost: Dur, time("0s", "100ms") => packet_cost;
        /// ARP finds link addresses; if false, every node knows them.
        arp: bool, Kind::Bool => arp;
        /// Processing delay of ARP.
        arp_delay: Dur, time("0s", "1s") => arp_delay;
        /// Time after which an unanswered ARP request is repeated; none: only another packet repeats it.
        arp_retry: Option<Dur>, time("1ms", "1000s") => arp_retry;
        /// Headers counted in sizes on the air.
        sizes: Sizes, Kind::Choice(Sizes::CHOICES) => sizes;
    }
}
