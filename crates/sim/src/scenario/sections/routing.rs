//! `[routing]`: how packets find their way.

use crate::scenario::key::{Fallback::*, Kind, choice, section, time};
use fourhop_units::Dur;

choice! {
    /// Routing protocol.
    RoutingProtocol {
        Aodv = "aodv", "Ad hoc On-demand Distance Vector, RFC 3561";
        Static = "static", "shortest paths by hops, known from the start and never changed";
    }
}

choice! {
    /// Time to live of the first search for a destination.
    FirstSearch {
        TtlStart = "ttl-start", "`ttl_start`, RFC 3561 section 6.4";
        FullFlood = "full-flood", "the whole network, as in ns-2";
    }
}

choice! {
    /// How a node counts its own sequence number.
    OwnSeqno {
        Rfc = "rfc", "by one before each request, RFC 3561 section 6.1";
        Even = "even", "always even, by two, as in ns-2";
    }
}

choice! {
    /// Which routes a forwarded packet keeps alive.
    Refresh {
        WholePath = "whole-path", "to destination, source and both neighbours, RFC 3561 section 6.2";
        DestinationOnly = "destination-only", "to the destination, as in ns-2";
    }
}

choice! {
    /// Which node repairs a broken route.
    RepairRule {
        Off = "off", "none";
        WithinMaxRepairTtl = "within-max-repair-ttl", "a relay near the destination, RFC 3561 section 6.12";
        FartherFromSource = "farther-from-source", "a relay beyond the middle of the path, as in ns-2";
    }
}

choice! {
    /// When a repair has failed.
    RepairDeadline {
        DiscoveryPeriod = "discovery-period", "after the waiting time of the request, RFC 3561 section 6.12";
        InstantAsDelay = "instant-as-delay", "at about twice the present time, as in ns-2: in practice never";
    }
}

section! {
    /// Routing protocol and the parameters of AODV (RFC 3561 section 10); the named options are where ns-2.35 and the
    /// RFC differ.
    Routing = "routing" {
        /// Routing protocol.
        protocol: RoutingProtocol, Kind::Choice(RoutingProtocol::CHOICES), Both("aodv");
        /// Life of a route that is not used.
        active_route_timeout: Dur, time("10ms", "10000s"), Profile("10s", "3s");
        /// Life a destination gives the route to itself; none: twice `active_route_timeout`.
        my_route_timeout: Option<Dur>, time("10ms", "10000s"), Profile("10s", "none");
        /// Largest hop count expected: time to live of a full flood.
        net_diameter: u8, Kind::Int(1, 255), Profile("30", "35");
        /// Estimate of the time a message takes over one hop.
        node_traversal_time: Dur, time("1us", "10s"), Profile("30ms", "40ms");
        /// Hops added to the waiting time of a ring.
        timeout_buffer: u8, Kind::Int(0, 255), Both("2");
        /// Time to live of the first request.
        ttl_start: u8, Kind::Int(1, 255), Profile("5", "1");
        /// Step of the expanding ring.
        ttl_increment: u8, Kind::Int(1, 255), Both("2");
        /// A ring that was this large is followed by a full flood.
        ttl_threshold: u8, Kind::Int(1, 255), Both("7");
        /// Full floods after the first one.
        rreq_retries: u8, Kind::Int(0, 255), Profile("3", "2");
        /// Own requests a second.
        rreq_rate_limit: Option<u8>, Kind::Int(1, 255), Profile("none", "10");
        /// Route errors a second.
        rerr_rate_limit: Option<u8>, Kind::Int(1, 255), Profile("none", "10");
        /// Hops added to the range of a repair.
        local_add_ttl: u8, Kind::Int(0, 255), Both("2");
        /// May only the destination answer a request?
        destination_only: bool, Kind::Bool, Both("false");
        /// Does a relay that answers tell the destination about the route back?
        gratuitous: bool, Kind::Bool, Profile("false", "true");
        /// Are HELLO messages sent? Without, the link layer reports broken links.
        hello: bool, Kind::Bool, Both("false");
        /// Time between HELLO messages.
        hello_interval: Dur, time("1ms", "1000s"), Both("1s");
        /// HELLO messages missed before a link counts as broken.
        allowed_hello_loss: u32, Kind::Int(1, 255), Both("2");
        /// Time to live of the first search.
        first_search: FirstSearch, Kind::Choice(FirstSearch::CHOICES), Profile("full-flood", "ttl-start");
        /// Requests are repeated at multiples of this and when a packet comes; none: by a timer at the end of the wait.
        retry_tick: Option<Dur>, time("1us", "1000s"), Profile("500ms", "none");
        /// The wait for a reply is measured, up to this; none: it follows from `node_traversal_time`.
        measured_wait_max: Option<Dur>, time("1us", "1000s"), Profile("10s", "none");
        /// No request for this long after an unsuccessful search; none: the next packet starts one.
        lock_out: Option<Dur>, time("1us", "1000s"), Profile("10s", "none");
        /// Routes expire at multiples of this; none: when their life is over.
        expiry_tick: Option<Dur>, time("1us", "1000s"), Profile("500ms", "none");
        /// Are invalid routes forgotten after a while?
        delete_invalid_routes: bool, Kind::Bool, Profile("false", "true");
        /// Requests seen are forgotten after this, at multiples of it; none: after the path discovery time.
        id_period: Option<Dur>, time("1us", "1000s"), Profile("6s", "none");
        /// Life of routes back to the originator of a request; none: what its distance demands.
        reverse_lifetime: Option<Dur>, time("1us", "1000s"), Profile("6s", "none");
        /// Does a message from a neighbour make a route to it?
        neighbour_routes: bool, Kind::Bool, Profile("false", "true");
        /// Counting of a node's own sequence number.
        own_seqno: OwnSeqno, Kind::Choice(OwnSeqno::CHOICES), Profile("even", "rfc");
        /// Which routes a forwarded packet keeps alive.
        refresh: Refresh, Kind::Choice(Refresh::CHOICES), Profile("destination-only", "whole-path");
        /// Is the life in a relay's answer in whole seconds, wrapping for routes under repair?
        lifetime_in_whole_seconds: bool, Kind::Bool, Profile("true", "false");
        /// Does a route under repair answer requests?
        reply_from_repair: bool, Kind::Bool, Profile("true", "false");
        /// Which node repairs a broken route.
        repair: RepairRule, Kind::Choice(RepairRule::CHOICES), Profile("farther-from-source", "within-max-repair-ttl");
        /// Does a repair ask for a newer sequence number than the last known one?
        repair_seqno_incremented: bool, Kind::Bool, Profile("false", "true");
        /// When a repair has failed.
        repair_deadline: RepairDeadline, Kind::Choice(RepairDeadline::CHOICES),
            Profile("instant-as-delay", "discovery-period");
        /// Is the destination reported as lost when a repair has failed?
        repair_failure_reported: bool, Kind::Bool, Profile("false", "true");
        /// Does a routing message that could not be delivered break the link, as data does?
        control_breaks_links: bool, Kind::Bool, Profile("false", "true");
        /// Does a node whose own packet comes back search again?
        rediscover_at_source: bool, Kind::Bool, Profile("false", "true");
        /// Does a broken link remove the packets that wait for it from the interface queue?
        purge_queue: bool, Kind::Bool, Profile("true", "false");
        /// Does the node that saw a link break report all routes over it, to everyone?
        rerr_without_precursors: bool, Kind::Bool, Profile("true", "false");
        /// Does a route error count only with a sequence number at least the known one?
        rerr_needs_seqno: bool, Kind::Bool, Profile("true", "false");
        /// Largest random delay before a relayed broadcast.
        broadcast_jitter: Dur, time("0s", "10s"), Both("10ms");
        /// Distance between the packets that a reply releases from the send buffer.
        flush_spacing: Dur, time("0s", "10s"), Profile("10ms", "0s");
        /// Time to live given to packets; none: what the transport asked for.
        data_ttl: Option<u8>, Kind::Int(1, 255), Profile("30", "none");
        /// Packets the send buffer holds.
        buffer_capacity: u32, Kind::Int(1, 1_000_000), Both("64");
        /// Longest stay in the send buffer.
        buffer_timeout: Dur, time("1ms", "10000s"), Both("30s");
    }
}
