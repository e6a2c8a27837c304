//! From a scenario to a [`Setup`]: each section of the scenario becomes the options of the layer it describes.

use crate::scenario::sections::{self, AckPolicy, RoutingProtocol, Sizes};
use crate::scenario::{App, FlowTransport, NetworkFlow, Scenario, ScenarioError, Traffic as ScenarioTraffic};
use crate::setup::{Flow, Routing, Setup, Traffic};
use fourhop_proto::app::{cbr, ping, transfer};
use fourhop_proto::{mac, net, node, phy, route, tcp};

/// The setup of the run with `seed`, and its flows as the scenario names them.
///
/// # Errors
/// If the random topology came out disconnected in every draw.
pub fn setup(scenario: &Scenario, seed: u64) -> Result<(Setup, Vec<NetworkFlow>), ScenarioError> {
    let network = scenario.network(seed)?;
    let flows = network
        .flows
        .iter()
        .map(|flow| Flow { src: flow.src, dst: flow.dst, traffic: traffic(&scenario.tcp, &flow.traffic) })
        .collect();
    let setup = Setup {
        positions: network.positions.clone(),
        propagation: scenario.propagation(),
        node: node::Config {
            phy: radio(&scenario.radio),
            mac: dcf(&scenario.mac, &scenario.radio),
            link: link(&scenario.link),
            ttl: DEFAULT_TTL,
        },
        routing: routing(&scenario.routing),
        flows,
    };
    Ok((setup, network.flows))
}

/// Time to live of packets as their transport makes them (RFC 1700); routing may give another.
const DEFAULT_TTL: u8 = 64;

fn radio(radio: &sections::Radio) -> phy::Config {
    phy::Config {
        rx_threshold: radio.rx_threshold,
        cs_threshold: radio.cs_threshold,
        capture_ratio: radio.capture.then(|| 10f64.powf(radio.capture_ratio.0 / 10.0)),
        late_capture: radio.late_capture,
        lock_on_undecodable: radio.lock_on_undecodable,
        energy_detection: radio.energy_detection,
    }
}

fn dcf(mac: &sections::Mac, radio: &sections::Radio) -> mac::Config {
    mac::Config {
        data_rate: radio.rate,
        basic_rate: radio.basic_rate,
        plcp: radio.plcp,
        slot: mac.slot,
        sifs: mac.sifs,
        cw_min: mac.cw_min,
        cw_max: mac.cw_max,
        short_retry_limit: mac.short_retry_limit,
        long_retry_limit: mac.long_retry_limit,
        rts_threshold: mac.rts_threshold,
        data_overhead: mac.data_overhead,
        propagation_margin: mac.propagation_margin,
        backoff_draw: match mac.backoff_draw {
            sections::BackoffDraw::BelowCw => mac::BackoffDraw::BelowCw,
            sections::BackoffDraw::UpToCw => mac::BackoffDraw::UpToCw,
        },
        immediate_access: mac.immediate_access,
        cts_refused_by_eifs: mac.cts_refused_by_eifs,
        nav_reset: mac.nav_reset,
        eifs_then_difs: mac.eifs_then_difs,
        eifs_ended_by_good_frame: mac.eifs_ended_by_good_frame,
        eifs_on_undecodable: mac.eifs_on_undecodable,
        capture_nav: mac.capture_nav,
    }
}

fn link(link: &sections::Link) -> net::Config {
    net::Config {
        delay: link.delay,
        arp_delay: link.arp_delay,
        arp: link.arp,
        arp_retry: link.arp_retry,
        queue: net::queue::Config { limit: link.queue_limit as usize, routing_first: link.routing_first },
        sizes: match link.sizes {
            Sizes::Ns2 => net::sizes::Sizes::Ns2,
            Sizes::Standard => net::sizes::Sizes::Standard,
        },
    }
}

fn routing(routing: &sections::Routing) -> Routing {
    use route::aodv::{
        AfterFailure, Expiry, FirstSearch, HelloConfig, IdLifetime, OwnSeqno, Refresh, RepairDeadline, RepairRule,
        Retry, ReverseLifetime, SearchTimeout,
    };
    if routing.protocol == RoutingProtocol::Static {
        return Routing::Static;
    }
    Routing::Aodv(Box::new(route::Config {
        active_route_timeout: routing.active_route_timeout,
        my_route_timeout: routing.my_route_timeout,
        net_diameter: routing.net_diameter,
        node_traversal_time: routing.node_traversal_time,
        timeout_buffer: routing.timeout_buffer,
        ttl_start: routing.ttl_start,
        ttl_increment: routing.ttl_increment,
        ttl_threshold: routing.ttl_threshold,
        rreq_retries: routing.rreq_retries,
        rreq_rate_limit: routing.rreq_rate_limit,
        rerr_rate_limit: routing.rerr_rate_limit,
        local_add_ttl: routing.local_add_ttl,
        destination_only: routing.destination_only,
        gratuitous: routing.gratuitous,
        hello: routing
            .hello
            .then_some(HelloConfig { interval: routing.hello_interval, allowed_loss: routing.allowed_hello_loss }),
        first_search: match routing.first_search {
            sections::FirstSearch::TtlStart => FirstSearch::TtlStart,
            sections::FirstSearch::FullFlood => FirstSearch::FullFlood,
        },
        retry: routing.retry_tick.map_or(Retry::Timer, Retry::PacketOrTick),
        search_timeout: routing
            .measured_wait_max
            .map_or(SearchTimeout::Traversal, |max| SearchTimeout::Measured { max }),
        after_failure: routing.lock_out.map_or(AfterFailure::Restart, AfterFailure::LockOut),
        expiry: routing.expiry_tick.map_or(Expiry::AtDeadline, Expiry::OnTick),
        delete_invalid_routes: routing.delete_invalid_routes,
        id_lifetime: routing.id_period.map_or(IdLifetime::PathDiscovery, IdLifetime::PurgedEvery),
        reverse_lifetime: routing.reverse_lifetime.map_or(ReverseLifetime::Minimal, ReverseLifetime::Fixed),
        neighbour_routes: routing.neighbour_routes,
        own_seqno: match routing.own_seqno {
            sections::OwnSeqno::Rfc => OwnSeqno::Rfc,
            sections::OwnSeqno::Even => OwnSeqno::Even,
        },
        refresh: match routing.refresh {
            sections::Refresh::WholePath => Refresh::WholePath,
            sections::Refresh::DestinationOnly => Refresh::DestinationOnly,
        },
        lifetime_in_whole_seconds: routing.lifetime_in_whole_seconds,
        reply_from_repair: routing.reply_from_repair,
        repair: match routing.repair {
            sections::RepairRule::Off => RepairRule::Off,
            sections::RepairRule::WithinMaxRepairTtl => RepairRule::WithinMaxRepairTtl,
            sections::RepairRule::FartherFromSource => RepairRule::FartherFromSource,
        },
        repair_seqno_incremented: routing.repair_seqno_incremented,
        repair_deadline: match routing.repair_deadline {
            sections::RepairDeadline::DiscoveryPeriod => RepairDeadline::DiscoveryPeriod,
            sections::RepairDeadline::InstantAsDelay => RepairDeadline::InstantAsDelay,
        },
        repair_failure_reported: routing.repair_failure_reported,
        control_breaks_links: routing.control_breaks_links,
        rediscover_at_source: routing.rediscover_at_source,
        purge_queue: routing.purge_queue,
        rerr_without_precursors: routing.rerr_without_precursors,
        rerr_needs_seqno: routing.rerr_needs_seqno,
        broadcast_jitter: routing.broadcast_jitter,
        flush_spacing: routing.flush_spacing,
        data_ttl: routing.data_ttl,
        buffer_capacity: routing.buffer_capacity as usize,
        buffer_timeout: routing.buffer_timeout,
    }))
}

fn traffic(tcp: &sections::Tcp, traffic: &ScenarioTraffic) -> Traffic {
    let (start, stop) = (traffic.start, traffic.stop);
    match (traffic.transport, traffic.app) {
        (FlowTransport::Tcp(transport), app) => {
            let size = match app {
                App::Transfer { size } => Some(size),
                _ => None,
            };
            let config = Box::new(tcp_config(tcp, traffic.window));
            Traffic::Tcp { transport, config, transfer: transfer::Config { start, stop, size } }
        }
        (_, App::Cbr { rate, payload }) => Traffic::Udp(cbr::Config { start, stop, rate, payload }),
        (_, App::Ping { interval, payload }) => Traffic::Ping(ping::Config { start, stop, interval, payload }),
        // INVARIANT: the scenario's reader pairs udp with cbr and ping with ping.
        (transport, app) => unreachable!("{} carries no {app:?}", transport.name()),
    }
}

fn tcp_config(tcp: &sections::Tcp, window: Option<u32>) -> tcp::Config {
    tcp::Config {
        mss: tcp.mss.get() as u32,
        mss_without_option: tcp.mss_without_option.get() as u32,
        initial_window: tcp.initial_window,
        initial_ssthresh: tcp.initial_ssthresh.unwrap_or(u32::MAX),
        window_limit: window.or(tcp.window),
        cwnd_clamp: tcp.cwnd_clamp.unwrap_or(u32::MAX),
        grow_only_when_limited: tcp.grow_only_when_limited,
        growth_limit: tcp.growth_limit,
        dup_ack_threshold: tcp.dup_ack_threshold,
        limited_transmit: tcp.limited_transmit,
        window_cut: match tcp.window_cut {
            sections::WindowCut::WindowInUse => tcp::WindowCut::WindowInUse,
            sections::WindowCut::FlightSize => tcp::WindowCut::FlightSize,
        },
        cut_on_each_timeout: tcp.cut_on_each_timeout,
        recovery_burst: tcp.recovery_burst,
        impatient: tcp.impatient,
        grow_on_full_ack: tcp.grow_on_full_ack,
        rtt_tick: tcp.rtt_tick,
        rtt_sampling: match tcp.rtt_sampling {
            sections::RttSampling::OneTimedSegment => tcp::RttSampling::OneTimedSegment,
            sections::RttSampling::EveryAck => tcp::RttSampling::EveryAck,
        },
        rto_initial: tcp.rto_initial,
        rto_min: tcp.rto_min,
        rto_max: tcp.rto_max,
        rto_granularity: tcp.rto_granularity,
        forget_srtt_beyond_backoff: tcp.forget_srtt_beyond_backoff,
        max_timeouts: tcp.max_timeouts,
        pace_retransmissions: tcp.pace_retransmissions,
        nagle: tcp.nagle,
        timestamps: tcp.timestamps,
        sack: tcp.sack,
        sack_blocks: tcp.sack_blocks,
        sack_recovery: match tcp.sack_recovery {
            sections::SackRecovery::Scoreboard => tcp::SackRecovery::Scoreboard,
            sections::SackRecovery::PipeCounter => tcp::SackRecovery::PipeCounter,
        },
        receive_buffer: tcp.receive_buffer.get() as u32,
        sample_behind_holes: tcp.sample_behind_holes,
        vegas_backs_off: tcp.vegas_backs_off,
        vegas_keeps_inflation: tcp.vegas_keeps_inflation,
        vegas_without_header: tcp.vegas_without_header,
        cc: fourhop_cc::Params {
            alpha: tcp.alpha,
            beta: tcp.beta,
            gamma: tcp.gamma,
            pacing_v: tcp.pacing_v,
            limit: tcp.limit,
        },
        explicit_read: false,
        receiver: match tcp.ack_policy {
            AckPolicy::EverySegment => tcp::ReceiverPolicy::EVERY_SEGMENT,
            AckPolicy::Delayed => tcp::ReceiverPolicy::delayed(tcp.delayed_ack_timeout),
            AckPolicy::DynamicDelayed => tcp::ReceiverPolicy::dynamic(tcp.delayed_ack_timeout),
        },
        time_wait: tcp.time_wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load_toml;

    fn chain(profile: &str) -> Setup {
        let text = format!(
            "name = \"x\"\nprofile = \"{profile}\"\nduration = \"10s\"\n[topology]\nkind = \"chain\"\nhops = 2\n\
             spacing = \"200m\"\n[traffic]\ntransport = \"newreno\"\n"
        );
        setup(&load_toml(&text, "x.toml", &[]).expect("a good scenario"), 1).expect("a chain is connected").0
    }

    // A scenario that says nothing but its profile gives every layer the options that the layer itself calls so: the
    // defaults in the key tables and the constructors in the protocol crate cannot drift apart.
    #[test]
    fn the_profiles_of_scenarios_are_those_of_the_layers() {
        for (profile, node, aodv, tcp) in [
            ("ns2", node::Config::ns2(), route::Config::ns2(), tcp::Config::ns2()),
            ("standard", node::Config::standard(), route::Config::standard(), tcp::Config::standard()),
        ] {
            let setup = chain(profile);
            let ttl = DEFAULT_TTL;
            assert_eq!(format!("{:?}", setup.node), format!("{:?}", node::Config { ttl, ..node }), "{profile}");
            let Routing::Aodv(found) = setup.routing else { panic!("AODV is the default") };
            assert_eq!(format!("{found:?}"), format!("{aodv:?}"), "{profile}");
            let Traffic::Tcp { config, .. } = &setup.flows[0].traffic else { panic!("newreno is a TCP") };
            assert_eq!(format!("{config:?}"), format!("{tcp:?}"), "{profile}");
        }
    }
}
