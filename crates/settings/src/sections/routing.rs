//! `[routing]`: routing of packets.

use crate::key::{Choice, Fallback::*, Kind, Section, number, power, time};
use crate::layer::Profiled;
use crate::optional;
use crate::quantity::Unit;
use crate::sections::Profile;
use crate::value::{Field, Number, Value, Values};
use crate::{choice, section};
use fourhop_proto::route::Metric;
use fourhop_proto::route::aodv::{
    self, AfterFailure, Expiry, FirstSearch, HelloConfig, IdLifetime, MetricConfig, OwnSeqno, Refresh, RepairDeadline,
    RepairRule, Retry, ReverseLifetime, SearchTimeout, SignalConfig,
};
use fourhop_units::{Db, Dbm, Dur, Watt};

/// Defaults of the keys that apply if HELLO messages are sent.
const HELLO: HelloConfig = HelloConfig::standard();
/// Default of the link probes.
const PROBES: MetricConfig = MetricConfig::paper(Metric::Etx);
/// Defaults of the keys that apply with `ssa-aodv`, except for the threshold.
const SIGNAL: SignalConfig = SignalConfig::paper(Dbm(0.0));

choice! {
    /// Routing protocol.
    RoutingProtocol {
        Aodv = "aodv", "Ad hoc On-demand Distance Vector, RFC 3561";
        SsaAodv = "ssa-aodv", "AODV by signal strength (docs/aodv.md)";
        Babel = "babel", "RFC 8966 (docs/babel.md)";
        Static = "static", "shortest paths by `metric`, fixed at the start";
    }
}

choice! {
    /// The metric of paths.
    RouteMetric {
        Hops = "hops", "hop count";
        Etx = "etx", "expected transmissions (De Couto et al., 2003)";
        Ett = "ett", "expected transmission time (Draves et al., 2004)";
        Airtime = "airtime", "air time of a test frame, with overhead (IEEE 802.11-2020 clause 14.9)";
    }
}

impl RouteMetric {
    /// Returns the link metric to sum up, unless it is the hop count; `overhead` is that of channel access.
    pub fn of_links(self, overhead: Dur) -> Option<Metric> {
        match self {
            RouteMetric::Hops => None,
            RouteMetric::Etx => Some(Metric::Etx),
            RouteMetric::Ett => Some(Metric::Ett),
            RouteMetric::Airtime => Some(Metric::Airtime(overhead)),
        }
    }
}

choice! {
    for FirstSearch {
        TtlStart = "ttl-start", "`ttl_start`, RFC 3561 section 6.4";
        FullFlood = "full-flood", "the whole network, as in ns-2";
    }
}

choice! {
    for OwnSeqno {
        Rfc = "rfc", "by one before each request, RFC 3561 section 6.1";
        Even = "even", "by two, so that it is always even, as in ns-2";
    }
}

choice! {
    for Refresh {
        WholePath = "whole-path", "to destination, source and both neighbours, RFC 3561 section 6.2";
        DestinationOnly = "destination-only", "to the destination, as in ns-2";
    }
}

choice! {
    for RepairRule {
        Off = "off", "none";
        WithinMaxRepairTtl = "within-max-repair-ttl", "a relay near the destination, RFC 3561 section 6.12";
        FartherFromSource = "farther-from-source", "a relay beyond the middle of the path, as in ns-2";
    }
}

choice! {
    for RepairDeadline {
        DiscoveryPeriod = "discovery-period", "after the waiting time of the request, RFC 3561 section 6.12";
        InstantAsDelay = "instant-as-delay", "at about twice the current time, as in ns-2; in practice, never";
    }
}

optional! { Dur:
    Retry: None is Timer, Some is PacketOrTick;
    AfterFailure: None is Restart, Some is LockOut;
    Expiry: None is AtDeadline, Some is OnTick;
    IdLifetime: None is PathDiscovery, Some is PurgedEvery;
    ReverseLifetime: None is Minimal, Some is Fixed;
}

section! {
    /// Routing protocol, and the parameters of AODV (RFC 3561 section 10). The options cover the differences between
    /// ns-2.35 and the RFC.
    Routing = "routing" of aodv::Config {
        /// Routing protocol.
        protocol: RoutingProtocol, Kind::Choice(RoutingProtocol::CHOICES), Both("aodv");
        /// Metric of paths. `static` computes it from the radio, `aodv` measures it with probes (docs/aodv.md), `babel`
        /// with its Hellos (default "etx"; "hops" requires two of the last three Hellos); `ssa-aodv` supports only
        /// "hops".
        metric: RouteMetric, Kind::Choice(RouteMetric::CHOICES), Both("hops");
        /// `static` with radio model `sinr` and a `metric` other than "hops": compute delivery over all fades, not at
        /// the mean power.
        metric_over_fades: bool, Kind::Bool, Both("false");
        /// Mean time between the probes with which `aodv` measures links if `metric` is not "hops"; the last ten count.
        probe_interval: Dur, time("10ms", "1000s"), Layer(|_| PROBES.interval.to_value());
        /// Lifetime of a route that is not used.
        active_route_timeout: Dur, time("10ms", "10000s") => active_route_timeout;
        /// Lifetime that a destination gives to routes to itself; none: twice `active_route_timeout`.
        my_route_timeout: Option<Dur>, time("10ms", "10000s") => my_route_timeout;
        /// Maximum expected hop count: the time to live of a full flood.
        net_diameter: u8, Kind::Int(1, 255) => net_diameter;
        /// Estimated time that a message takes over one hop.
        node_traversal_time: Dur, time("1us", "10s") => node_traversal_time;
        /// Hops added to the time to live of a ring when its waiting time is computed.
        timeout_buffer: u8, Kind::Int(0, 255) => timeout_buffer;
        /// Time to live of the first request. The default is 2 with `ssa-aodv` (RFC 3561 section 10), and
        /// `net_diameter` with a `metric` other than "hops".
        ttl_start: u8, Kind::Int(1, 255) => ttl_start;
        /// Increase of the time to live from ring to ring.
        ttl_increment: u8, Kind::Int(1, 255) => ttl_increment;
        /// Rings grow until they reach this time to live; then the next request is a full flood.
        ttl_threshold: u8, Kind::Int(1, 255) => ttl_threshold;
        /// Number of full floods after the first one.
        rreq_retries: u8, Kind::Int(0, 255) => rreq_retries;
        /// Maximum number of own requests per second.
        rreq_rate_limit: Option<u8>, Kind::Int(1, 255) => rreq_rate_limit;
        /// Maximum number of route errors per second.
        rerr_rate_limit: Option<u8>, Kind::Int(1, 255) => rerr_rate_limit;
        /// Hops added to the range of a repair.
        local_add_ttl: u8, Kind::Int(0, 255) => local_add_ttl;
        /// Only the destination answers requests. The default is true with a `metric` other than "hops".
        destination_only: bool, Kind::Bool => destination_only;
        /// A relay that answers also sends the destination a gratuitous reply about the route back.
        gratuitous: bool, Kind::Bool => gratuitous;
        /// Send HELLO messages. The default is true with `ssa-aodv`.
        hello: bool, Kind::Bool, Layer(|profile| aodv::Config::of(profile).hello.is_some().to_value());
        /// Time between HELLO messages.
        hello_interval: Dur, time("1ms", "1000s"), Layer(|_| HELLO.interval.to_value());
        /// Number of HELLO messages missed before a link counts as broken.
        allowed_hello_loss: u32, Kind::Int(1, 255), Layer(|_| HELLO.allowed_loss.to_value());
        /// Every node sends HELLO messages, not only nodes on active routes. The default is true with `ssa-aodv`.
        hello_always: bool, Kind::Bool, Layer(|_| HELLO.always.to_value());
        /// Random shift of HELLO messages; 0s: all nodes send at the same instants. The default is 100ms with
        /// `ssa-aodv`.
        hello_jitter: Dur, time("0s", "1000s"), Layer(|_| HELLO.jitter.to_value());
        /// A frame that the link layer gave up breaks the link; if false, only missing HELLO messages do. The default
        /// is false with `ssa-aodv`.
        link_layer_detection: bool, Kind::Bool => link_layer_detection;
        /// Minimum smoothed strength of a neighbour for `ssa-aodv`. The paper does not state a value.
        signal_threshold: Option<Watt>, power("-150dBm", "0dBm"), Computed("required for `ssa-aodv`, else unused");
        /// Weight of the newest message's strength in `ssa-aodv`'s average.
        signal_weight: Number, number("0.001", "1"), Layer(|_| Number(SIGNAL.weight).to_value());
        /// Margin above the threshold that a neighbour must reach before `ssa-aodv` accepts it again.
        signal_hysteresis: Db, Kind::Quantity(Unit::Ratio, "0dB", "100dB"), Layer(|_| SIGNAL.hysteresis.to_value());
        /// `ssa-aodv` keeps a route over a strong neighbour when a fresher or shorter one over a weaker neighbour
        /// appears.
        keep_stable: bool, Kind::Bool, Layer(|_| SIGNAL.keep_stable.to_value());
        /// Time to live of the first search.
        first_search: FirstSearch, Kind::Choice(FirstSearch::CHOICES) => first_search;
        /// Requests are repeated at multiples of this time and when a packet arrives; none: when the wait ends.
        retry_tick: Option<Dur>, time("1us", "1000s") => retry;
        /// Maximum wait for a reply, if the wait follows from measurements; none: it follows from
        /// `node_traversal_time`.
        measured_wait_max: Option<Dur>, time("1us", "1000s"), Layer(|p| match aodv::Config::of(p).search_timeout {
            SearchTimeout::Measured { max } => max.to_value(),
            _ => None,
        });
        /// Fixed wait for the reply to a request; none: according to the keys above.
        request_wait: Option<Dur>, time("1us", "1000s"), Layer(|p| match aodv::Config::of(p).search_timeout {
            SearchTimeout::Fixed(wait) => wait.to_value(),
            _ => None,
        });
        /// Time without requests after an unsuccessful search; none: the next packet starts a new search.
        lock_out: Option<Dur>, time("1us", "1000s") => after_failure;
        /// Routes expire at multiples of this time; none: as soon as their lifetime ends.
        expiry_tick: Option<Dur>, time("1us", "1000s") => expiry;
        /// Invalid routes are deleted after DELETE_PERIOD.
        delete_invalid_routes: bool, Kind::Bool => delete_invalid_routes;
        /// Received requests are forgotten after this time, at multiples of it; none: after the path discovery time.
        id_period: Option<Dur>, time("1us", "1000s") => id_lifetime;
        /// Lifetime of routes back to the originator of a request; none: it depends on the distance (RFC 3561 section
        /// 6.5).
        reverse_lifetime: Option<Dur>, time("1us", "1000s") => reverse_lifetime;
        /// A message from a neighbour creates a route to it.
        neighbour_routes: bool, Kind::Bool => neighbour_routes;
        /// Increments of a node's own sequence number.
        own_seqno: OwnSeqno, Kind::Choice(OwnSeqno::CHOICES) => own_seqno;
        /// Routes that a forwarded packet keeps alive.
        refresh: Refresh, Kind::Choice(Refresh::CHOICES) => refresh;
        /// The lifetime in a relay's reply is in whole seconds, and wraps for routes under repair.
        lifetime_in_whole_seconds: bool, Kind::Bool => lifetime_in_whole_seconds;
        /// A route under repair answers requests.
        reply_from_repair: bool, Kind::Bool => reply_from_repair;
        /// Node that repairs a broken route.
        repair: RepairRule, Kind::Choice(RepairRule::CHOICES) => repair;
        /// A repair asks for a newer sequence number than the last known one.
        repair_seqno_incremented: bool, Kind::Bool => repair_seqno_incremented;
        /// Deadline of a repair.
        repair_deadline: RepairDeadline, Kind::Choice(RepairDeadline::CHOICES) => repair_deadline;
        /// A failed repair reports the destination as lost.
        repair_failure_reported: bool, Kind::Bool => repair_failure_reported;
        /// A routing message that could not be delivered breaks the link, as data does.
        control_breaks_links: bool, Kind::Bool => control_breaks_links;
        /// A node starts a new search when its own packet comes back.
        rediscover_at_source: bool, Kind::Bool => rediscover_at_source;
        /// A broken link removes its packets from the interface queue.
        purge_queue: bool, Kind::Bool => purge_queue;
        /// The node that detects a broken link reports all routes over it, to all neighbours.
        rerr_without_precursors: bool, Kind::Bool => rerr_without_precursors;
        /// A route error counts only if its sequence number is at least the known one.
        rerr_needs_seqno: bool, Kind::Bool => rerr_needs_seqno;
        /// Maximum random delay before a relayed broadcast.
        broadcast_jitter: Dur, time("0s", "10s") => broadcast_jitter;
        /// Time between the packets that a reply releases from the send buffer.
        flush_spacing: Dur, time("0s", "10s") => flush_spacing;
        /// Time to live of packets; none: the value that the transport requests.
        data_ttl: Option<u8>, Kind::Int(1, 255) => data_ttl;
        /// Capacity of the send buffer in packets.
        buffer_capacity: u32, Kind::Int(1, 1_000_000) => buffer_capacity;
        /// Maximum time of a packet in the send buffer.
        buffer_timeout: Dur, time("1ms", "10000s") => buffer_timeout;
    }
}

impl Routing {
    /// Returns AODV's configuration; `metric` is the link metric to sum up, unless it is the hop count.
    pub fn aodv(&self, profile: Profile, metric: Option<Metric>) -> aodv::Config {
        aodv::Config {
            hello: self.hello.then_some(HelloConfig {
                interval: self.hello_interval,
                allowed_loss: self.allowed_hello_loss,
                always: self.hello_always,
                jitter: self.hello_jitter,
            }),
            signal: self.signal_threshold.filter(|_| self.protocol == RoutingProtocol::SsaAodv).map(|threshold| {
                SignalConfig {
                    threshold: threshold.to_dbm(),
                    weight: self.signal_weight.0,
                    hysteresis: self.signal_hysteresis,
                    keep_stable: self.keep_stable,
                }
            }),
            metric: metric.map(|metric| MetricConfig { metric, interval: self.probe_interval }),
            search_timeout: match (self.request_wait, self.measured_wait_max) {
                (Some(wait), _) => SearchTimeout::Fixed(wait),
                (None, Some(max)) => SearchTimeout::Measured { max },
                (None, None) => SearchTimeout::Traversal,
            },
            ..self.configured(profile)
        }
    }
}

/// Fills in values that depend on the protocol. `given` tells whether a key was written.
pub fn complete(values: &mut Values, given: impl Fn(&str) -> bool) {
    let is = |key: &str, name: &str| matches!(values.get(key), Some(Value::Text(text)) if text == name);
    let aware = [
        ("ttl_start", Value::Int(2)),
        ("hello", Value::Bool(true)),
        ("hello_always", Value::Bool(true)),
        ("hello_jitter", Value::Quantity(Unit::Time, 1e8)),
        ("link_layer_detection", Value::Bool(false)),
    ];
    let mut rows = Vec::new();
    if is("protocol", RoutingProtocol::SsaAodv.name()) {
        rows.extend(aware);
    } else if is("protocol", RoutingProtocol::Babel.name()) {
        rows.push(("metric", Value::Text(RouteMetric::Etx.name().to_owned())));
    } else if !is("metric", RouteMetric::Hops.name()) {
        rows.extend(values.get("net_diameter").map(|whole| ("ttl_start", whole.clone())));
        rows.push(("destination_only", Value::Bool(true)));
    }
    for (key, value) in rows.into_iter().filter(|(key, _)| !given(key)) {
        values.insert(key, value);
    }
}
