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
        Airtime = "airtime", "time of a test frame with overhead (IEEE 802.11-2020 clause 14.9)";
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
        Even = "even", "always even, by two, as in ns-2";
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
        InstantAsDelay = "instant-as-delay", "at about twice the present time, as in ns-2: in practice never";
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
    /// Routing protocol and the parameters of AODV (RFC 3561 section 10); the named options are where ns-2.35 and the
    /// RFC differ.
    Routing = "routing" of aodv::Config {
        /// Routing protocol.
        protocol: RoutingProtocol, Kind::Choice(RoutingProtocol::CHOICES), Both("aodv");
        /// Metric of paths. `static` computes it from the radio, `aodv` measures it by probes (docs/aodv.md), `babel`
        /// by its Hellos (default "etx"; "hops" needs two of the last three); `ssa-aodv` has "hops" only.
        metric: RouteMetric, Kind::Choice(RouteMetric::CHOICES), Both("hops");
        /// `static` with a `metric` of links, radio `sinr`: count delivery over all fades, not at the mean power.
        metric_over_fades: bool, Kind::Bool, Both("false");
        /// Mean time between the probes by which `aodv` measures its links where `metric` is not "hops"; the last ten
        /// count.
        probe_interval: Dur, time("10ms", "1000s"), Layer(|_| PROBES.interval.to_value());
        /// Life of a route that is not used.
        active_route_timeout: Dur, time("10ms", "10000s") => active_route_timeout;
        /// Life a destination gives the route to itself; none: twice `active_route_timeout`.
        my_route_timeout: Option<Dur>, time("10ms", "10000s") => my_route_timeout;
        /// Largest hop count expected: time to live of a full flood.
        net_diameter: u8, Kind::Int(1, 255) => net_diameter;
        /// Estimate of the time a message takes over one hop.
        node_traversal_time: Dur, time("1us", "10s") => node_traversal_time;
        /// Hops added to the waiting time of a ring.
        timeout_buffer: u8, Kind::Int(0, 255) => timeout_buffer;
        /// Time to live of the first request. Default with `ssa-aodv` 2 (RFC 3561 section 10), with a `metric` of links
        /// `net_diameter`.
        ttl_start: u8, Kind::Int(1, 255) => ttl_start;
        /// Step of the expanding ring.
        ttl_increment: u8, Kind::Int(1, 255) => ttl_increment;
        /// A ring that was this large is followed by a full flood.
        ttl_threshold: u8, Kind::Int(1, 255) => ttl_threshold;
        /// Full floods after the first one.
        rreq_retries: u8, Kind::Int(0, 255) => rreq_retries;
        /// Own requests a second.
        rreq_rate_limit: Option<u8>, Kind::Int(1, 255) => rreq_rate_limit;
        /// Route errors a second.
        rerr_rate_limit: Option<u8>, Kind::Int(1, 255) => rerr_rate_limit;
        /// Hops added to the range of a repair.
        local_add_ttl: u8, Kind::Int(0, 255) => local_add_ttl;
        /// Only the destination answers requests. Default with a `metric` of links true.
        destination_only: bool, Kind::Bool => destination_only;
        /// A relay that answers sends the destination a gratuitous reply about the route back.
        gratuitous: bool, Kind::Bool => gratuitous;
        /// Send HELLO messages. Default with `ssa-aodv` true.
        hello: bool, Kind::Bool, Layer(|profile| aodv::Config::of(profile).hello.is_some().to_value());
        /// Time between HELLO messages.
        hello_interval: Dur, time("1ms", "1000s"), Layer(|_| HELLO.interval.to_value());
        /// HELLO messages missed before a link counts as broken.
        allowed_hello_loss: u32, Kind::Int(1, 255), Layer(|_| HELLO.allowed_loss.to_value());
        /// Every node sends HELLO messages, not only those on active routes. Default with `ssa-aodv` true.
        hello_always: bool, Kind::Bool, Layer(|_| HELLO.always.to_value());
        /// Random shift of HELLO messages; 0s: all nodes send at the same instants. Default with `ssa-aodv` 100ms.
        hello_jitter: Dur, time("0s", "1000s"), Layer(|_| HELLO.jitter.to_value());
        /// A frame that the link layer gave up breaks the link; if false, only missing HELLO messages do.
        /// `ssa-aodv`: false, if the key is not given.
        link_layer_detection: bool, Kind::Bool => link_layer_detection;
        /// Minimum smoothed strength of a neighbour for `ssa-aodv`. The paper does not state a value.
        signal_threshold: Option<Watt>, power("-150dBm", "0dBm"), Computed("`ssa-aodv` needs it, others ignore it");
        /// Weight of the newest message's strength in `ssa-aodv`'s average.
        signal_weight: Number, number("0.001", "1"), Layer(|_| Number(SIGNAL.weight).to_value());
        /// Rise above the threshold before `ssa-aodv` accepts the neighbour again.
        signal_hysteresis: Db, Kind::Quantity(Unit::Ratio, "0dB", "100dB"), Layer(|_| SIGNAL.hysteresis.to_value());
        /// `ssa-aodv` keeps a route over a strong neighbour when a fresher or shorter one over a weaker turns up.
        keep_stable: bool, Kind::Bool, Layer(|_| SIGNAL.keep_stable.to_value());
        /// Time to live of the first search.
        first_search: FirstSearch, Kind::Choice(FirstSearch::CHOICES) => first_search;
        /// Requests are repeated at multiples of this and when a packet comes; none: by a timer at the end of the wait.
        retry_tick: Option<Dur>, time("1us", "1000s") => retry;
        /// The wait for a reply is measured, up to this; none: it follows from `node_traversal_time`.
        measured_wait_max: Option<Dur>, time("1us", "1000s"), Layer(|p| match aodv::Config::of(p).search_timeout {
            SearchTimeout::Measured { max } => max.to_value(),
            _ => None,
        });
        /// Wait of every request for its reply; none: as the keys above say.
        request_wait: Option<Dur>, time("1us", "1000s"), Layer(|p| match aodv::Config::of(p).search_timeout {
            SearchTimeout::Fixed(wait) => wait.to_value(),
            _ => None,
        });
        /// No request for this long after an unsuccessful search; none: the next packet starts one.
        lock_out: Option<Dur>, time("1us", "1000s") => after_failure;
        /// Routes expire at multiples of this; none: when their life is over.
        expiry_tick: Option<Dur>, time("1us", "1000s") => expiry;
        /// Invalid routes are deleted after DELETE_PERIOD.
        delete_invalid_routes: bool, Kind::Bool => delete_invalid_routes;
        /// Requests seen are forgotten after this, at multiples of it; none: after the path discovery time.
        id_period: Option<Dur>, time("1us", "1000s") => id_lifetime;
        /// Life of routes back to the originator of a request; none: what its distance demands.
        reverse_lifetime: Option<Dur>, time("1us", "1000s") => reverse_lifetime;
        /// A message from a neighbour makes a route to it.
        neighbour_routes: bool, Kind::Bool => neighbour_routes;
        /// Counting of a node's own sequence number.
        own_seqno: OwnSeqno, Kind::Choice(OwnSeqno::CHOICES) => own_seqno;
        /// Routes that a forwarded packet keeps alive.
        refresh: Refresh, Kind::Choice(Refresh::CHOICES) => refresh;
        /// The lifetime in a relay's answer is in whole seconds and wraps for routes under repair.
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
        /// A node whose own packet comes back searches again.
        rediscover_at_source: bool, Kind::Bool => rediscover_at_source;
        /// A broken link removes its packets from the interface queue.
        purge_queue: bool, Kind::Bool => purge_queue;
        /// The node that saw a link break reports all routes over it, to everyone.
        rerr_without_precursors: bool, Kind::Bool => rerr_without_precursors;
        /// A route error counts only if its sequence number is at least the known one.
        rerr_needs_seqno: bool, Kind::Bool => rerr_needs_seqno;
        /// Largest random delay before a relayed broadcast.
        broadcast_jitter: Dur, time("0s", "10s") => broadcast_jitter;
        /// Distance between the packets that a reply releases from the send buffer.
        flush_spacing: Dur, time("0s", "10s") => flush_spacing;
        /// Time to live given to packets; none: what the transport asked for.
        data_ttl: Option<u8>, Kind::Int(1, 255) => data_ttl;
        /// Packets the send buffer holds.
        buffer_capacity: u32, Kind::Int(1, 1_000_000) => buffer_capacity;
        /// Longest stay in the send buffer.
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
