//! Parameters of AODV: RFC 3561 section 10, and one named option for each difference in the behaviour of ns-2.35.
//!
//! [`Config::standard`] is the RFC as written, [`Config::ns2`] the AODV of ns-2.35. Start from one of them and change
//! fields. Values that depend on others are methods, so they follow any change of a field. The effects quoted are
//! relative changes of NewReno goodput over chains of 3 / 4 / 7 / 12 hops of 200 m at 2 Mbit/s in ns-2.35 when its
//! behaviour is replaced by the alternative.

use crate::route::metric::Metric;
use fourhop_units::{Db, Dbm, Dur, Time};

/// TTL of the first request for a destination that has never been reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstSearch {
    /// RFC 3561 section 6.4: TTL_START.
    TtlStart,
    /// ns-2: the last hop count of an unknown destination counts as 255, so the first request floods the network.
    /// Effect of the RFC's ring instead: within noise.
    FullFlood,
}

/// Trigger of a repeated route request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// RFC 3561 section 6.3: a timer at the end of the waiting time.
    Timer,
    /// ns-2: the next packet for the destination, or the purge tick at multiples of this period while packets wait.
    /// Effect of a 50 ms tick instead of 0.5 s: +12 / +10 / +10 / -3 %.
    PacketOrTick(Dur),
}

/// How long a route request waits for its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchTimeout {
    /// RFC 3561 sections 6.3 and 6.4: RING_TRAVERSAL_TIME; for full floods NET_TRAVERSAL_TIME, doubled with each.
    Traversal,
    /// ns-2: 2 x TTL x mean latency per hop of the last three discoveries (NODE_TRAVERSAL_TIME before the first), times
    /// the number of full floods, but at most `max`. ns-2 carries the time of the request in its messages; see
    /// [`Aodv::with_notes`](super::Aodv::with_notes).
    Measured {
        /// Longest wait; ns-2: 10 s.
        max: Dur,
    },
    /// A fixed time for every request. Gupta, Wormsbecker, Williamson (MASCOTS 2004), section 5.2, give 320 ms, which
    /// is also RING_TRAVERSAL_TIME for a TTL of 2.
    Fixed(Dur),
}

/// Behaviour once all requests have gone unanswered. The waiting packets are dropped in both cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterFailure {
    /// RFC 3561 section 6.3 says nothing: the next packet starts a new search.
    Restart,
    /// ns-2: no request for this destination during this time, then full floods only.
    LockOut(Dur),
}

/// When a route becomes invalid after its lifetime has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expiry {
    /// RFC 3561 section 6.2: at that instant.
    AtDeadline,
    /// ns-2: at the next multiple of this period. Until then it is used and renewed.
    OnTick(Dur),
}

/// How long a request's (originator, RREQ ID) is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdLifetime {
    /// RFC 3561 section 6.5: PATH_DISCOVERY_TIME.
    PathDiscovery,
    /// ns-2: for this long, and then until the next multiple of it.
    PurgedEvery(Dur),
}

/// Lifetime of the route back to the originator of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReverseLifetime {
    /// RFC 3561 section 6.5: 2 NET_TRAVERSAL_TIME - 2 HopCount NODE_TRAVERSAL_TIME.
    Minimal,
    /// ns-2: this time, or ACTIVE_ROUTE_TIMEOUT if the request also answered a search for its originator.
    Fixed(Dur),
}

/// How a node increments its own sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnSeqno {
    /// RFC 3561 section 6.1: +1 before each request; before a reply, the maximum of its own and the requested one.
    Rfc,
    /// ns-2: always even. +2 before each request and at each broken link; before a reply, the maximum of its own and
    /// the requested one, plus 1, made even. Odd numbers mark broken routes.
    Even,
}

/// Routes that a forwarded data packet keeps alive for ACTIVE_ROUTE_TIMEOUT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refresh {
    /// RFC 3561 section 6.2: those to its destination, its source and the neighbours on both sides; their lifetimes are
    /// only ever extended.
    WholePath,
    /// ns-2: only the one to its destination, whose lifetime is set, even to a shorter one.
    DestinationOnly,
}

/// The node that repairs a broken route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairRule {
    /// None. Effect in ns-2: 0 / 0 / +44 / +48 %.
    Off,
    /// RFC 3561 section 6.12: a relay at most MAX_REPAIR_TTL hops from the destination, by one request with TTL
    /// max(last hop count, half the hops to the source) + LOCAL_ADD_TTL. The other routes over the link are given up.
    WithinMaxRepairTtl,
    /// ns-2: a relay that the packet reached over more hops than it has left, by an ordinary search. The other routes
    /// over the link stay up, and the packets queued for it stay queued. ns-2 counts the hops in the packet; see
    /// [`Aodv::with_notes`](super::Aodv::with_notes).
    FartherFromSource,
}

/// When a repair counts as failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairDeadline {
    /// RFC 3561 section 6.12: after the waiting time of the request.
    DiscoveryPeriod,
    /// ns-2: its timer mistakes the instant at which the waiting time ends for a delay, so it fires at about twice the
    /// current time, in practice never. Effect of a correct timer: 0 / 0 / +38 / +51 %.
    InstantAsDelay,
}

/// HELLO messages (RFC 3561 section 6.9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HelloConfig {
    /// HELLO_INTERVAL; RFC 3561 section 10: 1 s.
    pub interval: Dur,
    /// ALLOWED_HELLO_LOSS; RFC 3561 section 10: 2.
    pub allowed_loss: u32,
    /// Whether every node sends HELLOs, not only those on an active route (section 6.9), and even after other
    /// broadcasts.
    pub always: bool,
    /// Maximum distance of each HELLO, in either direction, from the end of its interval; the first one is sent at any
    /// instant of the first interval. RFC 3561 has no jitter; without it, nodes that were switched on together send
    /// together for ever.
    pub jitter: Dur,
}

impl HelloConfig {
    /// RFC 3561 section 10.
    pub const fn standard() -> HelloConfig {
        HelloConfig { interval: Dur::from_secs(1), allowed_loss: 2, always: false, jitter: Dur::ZERO }
    }

    /// How long a silent neighbour counts as reachable.
    pub const fn neighbour_lifetime(&self) -> Dur {
        self.interval.saturating_mul(self.allowed_loss as u64)
    }
}

/// Parameters and options of AODV. Names in capitals in the documentation are those of RFC 3561 section 10.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// ACTIVE_ROUTE_TIMEOUT. RFC 3 s; ns-2 10 s (3 s there: 0 / 0 / +27 / +30 %, 50 s: 0 / 0 / -52 / -61 %).
    pub active_route_timeout: Dur,
    /// MY_ROUTE_TIMEOUT, the lifetime in a destination's reply; `None`: twice ACTIVE_ROUTE_TIMEOUT. ns-2: 10 s.
    pub my_route_timeout: Option<Dur>,
    /// NET_DIAMETER: TTL of a full flood and of replies. RFC 35, ns-2 30.
    pub net_diameter: u8,
    /// NODE_TRAVERSAL_TIME. RFC 40 ms, ns-2 30 ms.
    pub node_traversal_time: Dur,
    /// TIMEOUT_BUFFER, in hops. RFC 2.
    pub timeout_buffer: u8,
    /// TTL_START. RFC 1; ns-2 5, which is unused with [`FirstSearch::FullFlood`].
    pub ttl_start: u8,
    /// TTL_INCREMENT. 2.
    pub ttl_increment: u8,
    /// TTL_THRESHOLD: a ring of this size is followed by a full flood. 7.
    pub ttl_threshold: u8,
    /// RREQ_RETRIES: full floods after the first one. RFC 2, ns-2 3.
    pub rreq_retries: u8,
    /// RREQ_RATELIMIT: own requests per second. RFC 10; ns-2 none.
    pub rreq_rate_limit: Option<u8>,
    /// RERR_RATELIMIT: route errors per second. RFC 10; ns-2 none.
    pub rerr_rate_limit: Option<u8>,
    /// LOCAL_ADD_TTL of [`RepairRule::WithinMaxRepairTtl`]. RFC 2.
    pub local_add_ttl: u8,
    /// Whether own requests carry the D flag: only the destination may answer. Received D flags are always honoured.
    pub destination_only: bool,
    /// Whether own requests carry the G flag, which makes an intermediate replier notify the destination of the route
    /// back (RFC 3561 section 6.3 asks for it where traffic is expected in both directions). ns-2 has no gratuitous
    /// replies.
    pub gratuitous: bool,
    /// HELLO messages. Off in both profiles: the link layer reports broken links.
    pub hello: Option<HelloConfig>,
    /// Signal-strength awareness. Off in both profiles.
    pub signal: Option<SignalConfig>,
    /// The metric by which routes are compared instead of hops. Off in both profiles.
    pub metric: Option<MetricConfig>,
    /// Whether a frame that the link layer gave up breaks the link (RFC 3561 section 6.10). Otherwise only the packet
    /// is lost, and detection is left to HELLOs.
    pub link_layer_detection: bool,

    /// TTL of the first request.
    pub first_search: FirstSearch,
    /// Trigger of repeated requests.
    pub retry: Retry,
    /// How long a request waits.
    pub search_timeout: SearchTimeout,
    /// Behaviour after a failed search.
    pub after_failure: AfterFailure,
    /// When routes expire.
    pub expiry: Expiry,
    /// Whether to forget invalid routes after DELETE_PERIOD (RFC 3561 section 6.11). ns-2 never forgets a sequence
    /// number.
    pub delete_invalid_routes: bool,
    /// How long a request is remembered.
    pub id_lifetime: IdLifetime,
    /// Lifetime of reverse routes.
    pub reverse_lifetime: ReverseLifetime,
    /// Whether a message from a neighbour makes or renews a route to it (RFC 3561 sections 6.5 and 6.7). ns-2: no.
    pub neighbour_routes: bool,
    /// How a node increments its own sequence number.
    pub own_seqno: OwnSeqno,
    /// Routes that data packets keep alive.
    pub refresh: Refresh,
    /// Whether the remaining lifetime in an intermediate reply is in whole seconds, where the lifetime of a route under
    /// repair, which lies in the past, wraps to an eternity (ns-2), or in milliseconds (RFC).
    pub lifetime_in_whole_seconds: bool,
    /// Whether a route under repair answers requests (ns-2). The RFC requires an active route.
    pub reply_from_repair: bool,

    /// The node that repairs a broken route.
    pub repair: RepairRule,
    /// Whether the request of a repair asks for the number after the last known sequence number (RFC 3561 section
    /// 6.12). In ns-2 it asks for the last known one. Neighbours then answer with routes that lead back to the
    /// repairing node, which refuses them: a dead end. Effect of asking for the next number: 0 / 0 / +44 / +56 %. For
    /// nodes behind gateways, which ns-2's AODV does not have, it asks for the next number in both profiles.
    pub repair_seqno_incremented: bool,
    /// When a repair counts as failed.
    pub repair_deadline: RepairDeadline,
    /// Whether a failed repair drops the waiting packets and reports the destination as lost (RFC 3561 section 6.12).
    /// In ns-2 the route goes down without a message to neighbours. Unless `repair_seqno_incremented`, its number is
    /// unchanged, so a neighbour that sends through this node may answer its next request, which causes a loop until
    /// one of the routes breaks.
    pub repair_failure_reported: bool,

    /// Whether the loss of a neighbour without a data packet, because its HELLOs stopped or the driver reports it,
    /// starts the repair of the routes over it that others use: where a kernel forwards, it keeps the packet. Only with
    /// [`RepairRule::WithinMaxRepairTtl`]. Off in both profiles, where failed packets start repairs.
    pub repair_without_packet: bool,
    /// How long a neighbour may take to send the RREP-ACK that replies ask for before it is blacklisted, NEXT_HOP_WAIT
    /// (RFC 3561 section 6.8; section 10: NODE_TRAVERSAL_TIME + 10 ms). `None` in both profiles: replies do not ask.
    pub reply_ack_wait: Option<Dur>,

    /// Whether an AODV message that the link layer could not deliver breaks the link, as a data packet does. ns-2: no.
    pub control_breaks_links: bool,
    /// Whether a node that gets its own packet back buffers it and searches again. ns-2 drops it; the RFC leaves this
    /// open.
    pub rediscover_at_source: bool,
    /// Whether a broken link purges all packets that wait for it from the interface queue (ns-2). The RFC does not
    /// mention queues. Effect of not purging: -7 / -2 / -4 / -1 %.
    pub purge_queue: bool,
    /// Whether the node that detects a broken link broadcasts a route error listing all lost routes (ns-2). Otherwise
    /// it lists only routes with precursors and sends it to those, by unicast if there is only one (RFC 3561 section
    /// 6.11).
    pub rerr_without_precursors: bool,
    /// Whether a received route error counts only if its sequence number is at least the known one (ns-2); the RFC
    /// requires only that it comes from the next hop.
    pub rerr_needs_seqno: bool,

    /// Largest random delay before a broadcast is relayed. 10 ms in ns-2; the RFC leaves it to the implementation.
    pub broadcast_jitter: Dur,
    /// Spacing of the packets that a reply releases from the send buffer. 10 ms in ns-2, where later packets are sent
    /// at once and overtake them. Effect of 0: within noise.
    pub flush_spacing: Dur,
    /// TTL given to packets made here. ns-2: 30, regardless of the transport.
    pub data_ttl: Option<u8>,
    /// Size of the send buffer, in packets for all destinations together; the oldest is dropped. 64.
    pub buffer_capacity: usize,
    /// Longest stay in the send buffer, checked when packets are put in or taken out. 30 s.
    pub buffer_timeout: Dur,
}

impl Config {
    /// RFC 3561 as written. The send buffer and the jitter, which it leaves open, are those of ns-2.
    pub const fn standard() -> Config {
        Config {
            active_route_timeout: Dur::from_secs(3),
            my_route_timeout: None,
            net_diameter: 35,
            node_traversal_time: Dur::from_millis(40),
            timeout_buffer: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            rreq_retries: 2,
            rreq_rate_limit: Some(10),
            rerr_rate_limit: Some(10),
            local_add_ttl: 2,
            destination_only: false,
            gratuitous: true,
            hello: None,
            signal: None,
            metric: None,
            link_layer_detection: true,
            first_search: FirstSearch::TtlStart,
            retry: Retry::Timer,
            search_timeout: SearchTimeout::Traversal,
            after_failure: AfterFailure::Restart,
            expiry: Expiry::AtDeadline,
            delete_invalid_routes: true,
            id_lifetime: IdLifetime::PathDiscovery,
            reverse_lifetime: ReverseLifetime::Minimal,
            neighbour_routes: true,
            own_seqno: OwnSeqno::Rfc,
            refresh: Refresh::WholePath,
            lifetime_in_whole_seconds: false,
            reply_from_repair: false,
            repair: RepairRule::WithinMaxRepairTtl,
            repair_seqno_incremented: true,
            repair_deadline: RepairDeadline::DiscoveryPeriod,
            repair_failure_reported: true,
            repair_without_packet: false,
            reply_ack_wait: None,
            control_breaks_links: true,
            rediscover_at_source: true,
            purge_queue: false,
            rerr_without_precursors: false,
            rerr_needs_seqno: false,
            broadcast_jitter: Dur::from_millis(10),
            flush_spacing: Dur::ZERO,
            data_ttl: None,
            buffer_capacity: 64,
            buffer_timeout: Dur::from_secs(30),
        }
    }

    /// ns-2.35 as shipped: link-layer detection and local repair on, HELLO off. Fields not listed here have their
    /// standard values.
    pub const fn ns2() -> Config {
        Config {
            active_route_timeout: Dur::from_secs(10),
            my_route_timeout: Some(Dur::from_secs(10)),
            net_diameter: 30,
            node_traversal_time: Dur::from_millis(30),
            ttl_start: 5,
            rreq_retries: 3,
            rreq_rate_limit: None,
            rerr_rate_limit: None,
            gratuitous: false,
            first_search: FirstSearch::FullFlood,
            retry: Retry::PacketOrTick(Dur::from_millis(500)),
            search_timeout: SearchTimeout::Measured { max: Dur::from_secs(10) },
            after_failure: AfterFailure::LockOut(Dur::from_secs(10)),
            expiry: Expiry::OnTick(Dur::from_millis(500)),
            delete_invalid_routes: false,
            id_lifetime: IdLifetime::PurgedEvery(Dur::from_secs(6)),
            reverse_lifetime: ReverseLifetime::Fixed(Dur::from_secs(6)),
            neighbour_routes: false,
            own_seqno: OwnSeqno::Even,
            refresh: Refresh::DestinationOnly,
            lifetime_in_whole_seconds: true,
            reply_from_repair: true,
            repair: RepairRule::FartherFromSource,
            repair_seqno_incremented: false,
            repair_deadline: RepairDeadline::InstantAsDelay,
            repair_failure_reported: false,
            control_breaks_links: false,
            rediscover_at_source: false,
            purge_queue: true,
            rerr_without_precursors: true,
            rerr_needs_seqno: true,
            flush_spacing: Dur::from_millis(10),
            data_ttl: Some(30),
            ..Config::standard()
        }
    }

    /// MY_ROUTE_TIMEOUT: 2 ACTIVE_ROUTE_TIMEOUT (RFC 3561 section 10) unless set.
    pub const fn my_route_timeout(&self) -> Dur {
        match self.my_route_timeout {
            Some(timeout) => timeout,
            None => self.active_route_timeout.saturating_mul(2),
        }
    }

    /// NET_TRAVERSAL_TIME: 2 NODE_TRAVERSAL_TIME NET_DIAMETER (RFC 3561 section 10).
    pub const fn net_traversal_time(&self) -> Dur {
        self.node_traversal_time.saturating_mul(2 * self.net_diameter as u64)
    }

    /// RING_TRAVERSAL_TIME: 2 NODE_TRAVERSAL_TIME (TTL_VALUE + TIMEOUT_BUFFER) (RFC 3561 section 10).
    pub const fn ring_traversal_time(&self, ttl: u8) -> Dur {
        self.node_traversal_time.saturating_mul(2 * (ttl as u64 + self.timeout_buffer as u64))
    }

    /// PATH_DISCOVERY_TIME: 2 NET_TRAVERSAL_TIME (RFC 3561 section 10).
    pub const fn path_discovery_time(&self) -> Dur {
        self.net_traversal_time().saturating_mul(2)
    }

    /// DELETE_PERIOD: 5 max(ACTIVE_ROUTE_TIMEOUT, HELLO_INTERVAL) (RFC 3561 section 10, K = 5).
    pub fn delete_period(&self) -> Dur {
        let hello = self.hello.map_or(Dur::ZERO, |hello| hello.interval);
        self.active_route_timeout.max(hello).saturating_mul(5)
    }

    /// BLACKLIST_TIMEOUT: RREQ_RETRIES NET_TRAVERSAL_TIME (RFC 3561 section 10).
    pub const fn blacklist_timeout(&self) -> Dur {
        self.net_traversal_time().saturating_mul(self.rreq_retries as u64)
    }

    /// MAX_REPAIR_TTL: 0.3 NET_DIAMETER, rounded down (RFC 3561 section 10).
    pub const fn max_repair_ttl(&self) -> u8 {
        (self.net_diameter as u32 * 3 / 10) as u8
    }

    /// Returns when a route with this lifetime becomes invalid, or an invalid one is forgotten.
    pub(super) fn expiry_due(&self, expires: Time) -> Time {
        match self.expiry {
            Expiry::AtDeadline => expires,
            Expiry::OnTick(tick) => expires.next_multiple_of(tick),
        }
    }

    /// Returns until when a request seen `now` is remembered.
    pub(super) fn id_forgotten_at(&self, now: Time) -> Time {
        match self.id_lifetime {
            IdLifetime::PathDiscovery => now + self.path_discovery_time(),
            // At each multiple of the period, ns-2 removes entries that have reached their age. One nanosecond is
            // subtracted so that an age reached exactly at a multiple ends there.
            IdLifetime::PurgedEvery(period) => {
                Time::from_nanos((now + period).as_nanos().saturating_sub(1)).next_multiple_of(period)
            }
        }
    }
}

/// How links are measured and routes compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricConfig {
    /// Quantity summed along a path.
    pub metric: Metric,
    /// Mean time between two probes. De Couto et al.: 1 s.
    pub interval: Dur,
}

impl MetricConfig {
    /// The papers' probes.
    pub const fn paper(metric: Metric) -> MetricConfig {
        MetricConfig { metric, interval: Dur::from_secs(1) }
    }

    /// Returns how far a probe may deviate from its turn, in either direction: a tenth of the interval in the paper.
    pub(super) const fn jitter(&self) -> Dur {
        Dur::from_nanos(self.interval.as_nanos() / 10)
    }
}

/// Parameters of signal-strength awareness.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SignalConfig {
    /// HELLO_STRENGTH_THRESHOLD. The paper does not state its value.
    pub threshold: Dbm,
    /// Weight of the newest sample. The paper: 0.25.
    pub weight: f64,
    /// How far above the threshold the average must rise before a neighbour counts again. The paper: 0 dB.
    pub hysteresis: Db,
    /// Whether stable routes are preferred to fresh or short ones.
    pub keep_stable: bool,
}

impl SignalConfig {
    /// The paper's parameters, with this threshold.
    pub const fn paper(threshold: Dbm) -> SignalConfig {
        SignalConfig { threshold, weight: 0.25, hysteresis: Db(0.0), keep_stable: true }
    }
}
