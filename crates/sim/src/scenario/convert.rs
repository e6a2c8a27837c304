//! From the sections of a scenario to the configurations of the protocol crates.

use super::sections::{
    self, AckPolicy, AnswerRate, ApDelay, ApHops, ApRelease, ApSamples, ApShortPath, ApSpread, BackoffDraw,
    GatewayKind, ProbeBound, RoutingProtocol,
};
use super::{FlowTransport, Scenario, Traffic};
use fourhop_cc::registry::Recovery;
use fourhop_cc::tcp_ap::{self, variation::Spread};
use fourhop_proto::gateway::{self, CrossingConfig};
use fourhop_proto::route::aodv;
use fourhop_proto::tcp::adhoc::{Clock, Gate, ReceiverOptions, SenderOptions, Skew};
use fourhop_proto::{mac, net, route, tcp};
use fourhop_units::{Bytes, Dur};

impl Scenario {
    /// What the MAC of every node is given.
    pub fn mac_config(&self) -> mac::Config {
        let (mac, radio) = (&self.mac, &self.radio);
        mac::Config {
            phy: radio.phy.kind(),
            data_rate: radio.rate,
            basic_rate: radio.basic_rate,
            answer_rate: match mac.answer_rate {
                AnswerRate::Basic => mac::AnswerRate::Basic,
                AnswerRate::Mandatory => mac::AnswerRate::Mandatory,
            },
            plcp: radio.plcp,
            rate_control: self.rate_control(),
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
                BackoffDraw::BelowCw => mac::BackoffDraw::BelowCw,
                BackoffDraw::UpToCw => mac::BackoffDraw::UpToCw,
            },
            immediate_access: mac.immediate_access,
            cts_refused_by_eifs: mac.cts_refused_by_eifs,
            nav_reset: mac.nav_reset,
            eifs_then_difs: mac.eifs_then_difs,
            eifs_ended_by_good_frame: mac.eifs_ended_by_good_frame,
            eifs_on_undecodable: mac.eifs_on_undecodable,
            capture_nav: mac.capture_nav,
            options: mac::OptionsRule::Strip,
        }
    }

    /// What the link layer of every node is given.
    pub fn link_config(&self) -> net::Config {
        let link = &self.link;
        net::Config {
            delay: link.delay,
            arp_delay: link.arp_delay,
            arp: link.arp,
            arp_retry: link.arp_retry,
            queue: net::queue::Config { limit: link.queue_limit as usize, routing_first: link.routing_first },
            sizes: match link.sizes {
                sections::Sizes::Ns2 => net::sizes::Sizes::Ns2,
                sections::Sizes::Standard => net::sizes::Sizes::Standard,
            },
        }
    }

    /// What AODV of every node is given, if that is the routing protocol.
    pub fn aodv_config(&self) -> route::Config {
        let routing = &self.routing;
        aodv::Config {
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
            hello: routing.hello.then_some(aodv::HelloConfig {
                interval: routing.hello_interval,
                allowed_loss: routing.allowed_hello_loss,
                always: routing.hello_always,
                jitter: routing.hello_jitter,
            }),
            signal: routing.signal_threshold.filter(|_| routing.protocol == RoutingProtocol::SsaAodv).map(
                |threshold| aodv::SignalConfig {
                    threshold: threshold.to_dbm(),
                    weight: routing.signal_weight.0,
                    hysteresis: routing.signal_hysteresis,
                    keep_stable: routing.keep_stable,
                },
            ),
            link_layer_detection: routing.link_layer_detection,
            first_search: match routing.first_search {
                sections::FirstSearch::TtlStart => aodv::FirstSearch::TtlStart,
                sections::FirstSearch::FullFlood => aodv::FirstSearch::FullFlood,
            },
            retry: routing.retry_tick.map_or(aodv::Retry::Timer, aodv::Retry::PacketOrTick),
            search_timeout: match (routing.request_wait, routing.measured_wait_max) {
                (Some(wait), _) => aodv::SearchTimeout::Fixed(wait),
                (None, Some(max)) => aodv::SearchTimeout::Measured { max },
                (None, None) => aodv::SearchTimeout::Traversal,
            },
            after_failure: routing.lock_out.map_or(aodv::AfterFailure::Restart, aodv::AfterFailure::LockOut),
            expiry: routing.expiry_tick.map_or(aodv::Expiry::AtDeadline, aodv::Expiry::OnTick),
            delete_invalid_routes: routing.delete_invalid_routes,
            id_lifetime: routing.id_period.map_or(aodv::IdLifetime::PathDiscovery, aodv::IdLifetime::PurgedEvery),
            reverse_lifetime: routing
                .reverse_lifetime
                .map_or(aodv::ReverseLifetime::Minimal, aodv::ReverseLifetime::Fixed),
            neighbour_routes: routing.neighbour_routes,
            own_seqno: match routing.own_seqno {
                sections::OwnSeqno::Rfc => aodv::OwnSeqno::Rfc,
                sections::OwnSeqno::Even => aodv::OwnSeqno::Even,
            },
            refresh: match routing.refresh {
                sections::Refresh::WholePath => aodv::Refresh::WholePath,
                sections::Refresh::DestinationOnly => aodv::Refresh::DestinationOnly,
            },
            lifetime_in_whole_seconds: routing.lifetime_in_whole_seconds,
            reply_from_repair: routing.reply_from_repair,
            repair: match routing.repair {
                sections::RepairRule::Off => aodv::RepairRule::Off,
                sections::RepairRule::WithinMaxRepairTtl => aodv::RepairRule::WithinMaxRepairTtl,
                sections::RepairRule::FartherFromSource => aodv::RepairRule::FartherFromSource,
            },
            repair_seqno_incremented: routing.repair_seqno_incremented,
            repair_deadline: match routing.repair_deadline {
                sections::RepairDeadline::DiscoveryPeriod => aodv::RepairDeadline::DiscoveryPeriod,
                sections::RepairDeadline::InstantAsDelay => aodv::RepairDeadline::InstantAsDelay,
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
        }
    }
    /// What both ends of a TCP connection with `traffic` are given. A transport that recovers by SACK has it switched on, one
    /// of ad hoc TCP timestamps.
    pub fn tcp_config(&self, traffic: &Traffic) -> tcp::Config {
        let options = &self.tcp;
        let paces = matches!(traffic.transport, FlowTransport::Tcp(t) if t.is_tcp_ap());
        let adhoc = match traffic.transport {
            FlowTransport::Tcp(t) => (t.has_adhoc_sender(), t.has_adhoc_receiver()),
            _ => (false, false),
        };
        let is_adhoc = adhoc.0 || adhoc.1;
        let timing = match options.ack_policy {
            AckPolicy::EverySegment => tcp::ReceiverPolicy::EVERY_SEGMENT,
            AckPolicy::Delayed => tcp::ReceiverPolicy::delayed(options.delayed_ack_timeout),
            AckPolicy::DynamicDelayed => tcp::ReceiverPolicy::dynamic(options.delayed_ack_timeout),
        };
        let recovers_by_sack = matches!(traffic.transport, FlowTransport::Tcp(t) if t.recovery == Recovery::Sack);
        tcp::Config {
            mss: options.mss.get() as u32,
            mss_without_option: options.mss_without_option.get() as u32,
            initial_window: options.initial_window,
            initial_ssthresh: options.initial_ssthresh.unwrap_or(u32::MAX),
            window_limit: traffic.window,
            cwnd_clamp: options.cwnd_clamp.unwrap_or(u32::MAX),
            grow_only_when_limited: options.grow_only_when_limited,
            growth_limit: options.growth_limit,
            dup_ack_threshold: options.dup_ack_threshold,
            limited_transmit: options.limited_transmit,
            window_cut: match options.window_cut {
                sections::WindowCut::WindowInUse => tcp::WindowCut::WindowInUse,
                sections::WindowCut::FlightSize => tcp::WindowCut::FlightSize,
            },
            cut_on_each_timeout: options.cut_on_each_timeout,
            recovery_burst: options.recovery_burst,
            impatient: options.impatient,
            grow_on_full_ack: options.grow_on_full_ack,
            rtt_tick: options.rtt_tick,
            rtt_sampling: match options.rtt_sampling {
                sections::RttSampling::OneTimedSegment => tcp::RttSampling::OneTimedSegment,
                sections::RttSampling::EveryAck => tcp::RttSampling::EveryAck,
            },
            rto_initial: options.rto_initial,
            rto_min: options.rto_min,
            rto_max: options.rto_max,
            rto_granularity: options.rto_granularity,
            forget_srtt_beyond_backoff: options.forget_srtt_beyond_backoff,
            max_timeouts: options.max_timeouts,
            pace_retransmissions: options.pace_retransmissions,
            release: match self.tcp_ap.release {
                ApRelease::Slots if paces => tcp::Release::Slots,
                ApRelease::Queue if paces => tcp::Release::Queue,
                _ => tcp::Release::Gate,
            },
            rto_backoff: !paces || self.tcp_ap.rto_backoff,
            path_hints: if paces { self.path_hints() } else { tcp::PathHints::PLAIN },
            nagle: options.nagle,
            timestamps: options.timestamps || is_adhoc,
            clock: if is_adhoc { self.adhoc_clock() } else { Clock::OWN },
            adhoc_sender: adhoc.0.then(|| self.adhoc_sender()),
            sack: options.sack || recovers_by_sack,
            sack_blocks: options.sack_blocks,
            sack_recovery: match options.sack_recovery {
                sections::SackRecovery::Scoreboard => tcp::SackRecovery::Scoreboard,
                sections::SackRecovery::PipeCounter => tcp::SackRecovery::PipeCounter,
            },
            // A window of two segments wants a finer scale than that of a gigabyte.
            receive_buffer: (options.receive_buffer.get() as u32).min(if is_adhoc { 1 << 20 } else { u32::MAX }),
            sample_behind_holes: options.sample_behind_holes,
            vegas_backs_off: options.vegas_backs_off,
            vegas_keeps_inflation: options.vegas_keeps_inflation,
            vegas_without_header: options.vegas_without_header,
            cc: fourhop_cc::Params {
                alpha: options.alpha,
                beta: options.beta,
                gamma: options.gamma,
                pacing_v: options.pacing_v,
                limit: options.limit,
                tcp_ap: self.tcp_ap_params(),
            },
            explicit_read: false,
            receiver: if adhoc.1 { timing.with_adhoc(self.adhoc_receiver()) } else { timing },
            time_wait: options.time_wait,
        }
    }

    fn adhoc_clock(&self) -> Clock {
        Clock { tick: self.adhoc_tcp.timestamp_tick, synchronised: true }
    }

    fn adhoc_sender(&self) -> SenderOptions {
        let options = &self.adhoc_tcp;
        SenderOptions {
            probe_max: options.probe_max,
            probe_rtos: match options.probe_bound {
                ProbeBound::Fixed => None,
                ProbeBound::LargestRto => Some(options.probe_rtos),
            },
        }
    }

    fn adhoc_receiver(&self) -> ReceiverOptions {
        let options = &self.adhoc_tcp;
        let mac = self.mac_config();
        // What a hop takes at least: RTS and CTS if there are any, and the headers of TCP with timestamps and of IP.
        let headers = Bytes(52);
        let rates = mac.rates_around(mac.data_rate);
        let reserved = match Bytes(self.tcp.mss.get() + headers.get()) + mac.data_overhead > mac.rts_threshold {
            true => mac.rts_airtime(rates.rts) + mac.answer_airtime(rates.cts) + mac.sifs * 2,
            false => Dur::ZERO,
        };
        ReceiverOptions {
            delimiter: options.delimiter,
            freezer: options.freezer,
            beta: options.beta,
            fresh_for: options.fresh_for,
            gate: Gate { low: options.occupancy_low.per_mille(), high: options.occupancy_high.per_mille() },
            link_rate: mac.data_rate,
            overhead: reserved + mac.data_airtime(headers, mac.data_rate),
            skew: Skew {
                offset_ns: options.clock_offset.0,
                drift_ppb: (options.clock_drift.0 * 1_000.0).round() as i64,
            },
        }
    }

    /// What happens to packets that cross a gateway, if anything.
    pub fn crossing_config(&self) -> Option<CrossingConfig> {
        let keys = self.gateway.as_ref()?;
        let per_mille = |number: f64| (number * 1e3).round() as u32;
        match keys.kind {
            GatewayKind::Plain => None,
            GatewayKind::Gap => Some(CrossingConfig::Gap(gateway::Config {
                pacing: keys.pacing,
                option: keys.option,
                goodput_control: keys.goodput_control.then_some(gateway::GoodputControl {
                    threshold: per_mille(keys.threshold.0),
                    interval: keys.interval,
                    gain: keys.gain.per_mille(),
                    ageing: keys.ageing.per_mille(),
                    rest: keys.rest,
                }),
                pace: self.tcp_ap_params(),
                flows: keys.flows,
                nodes: self.topology.nodes(),
                buffer: keys.buffer.get(),
                flow_buffer: keys.flow_buffer.get() as u32,
                idle_timeout: keys.idle_timeout,
                half_open_timeout: keys.half_open_timeout,
                ..gateway::Config::paper()
            })),
            GatewayKind::FairShare => Some(CrossingConfig::FairShare(gateway::FairShareConfig {
                capacity: keys.capacity?,
                queue: keys.queue.unwrap_or(50),
                flows: keys.flows,
                idle_timeout: keys.idle_timeout,
            })),
            GatewayKind::FqCodel => Some(CrossingConfig::FqCodel(gateway::FqCodelConfig {
                capacity: keys.capacity,
                backlog: keys.backlog,
                limit: keys.queue.unwrap_or(10_240),
                codel: gateway::CodelConfig { target: keys.target, interval: keys.codel_interval },
                ..gateway::FqCodelConfig::rfc8290()
            })),
        }
    }

    fn tcp_ap_params(&self) -> tcp_ap::Params {
        let options = &self.tcp_ap;
        let some = |time: Dur| Some(time).filter(|time| !time.is_zero());
        tcp_ap::Params {
            alpha: options.alpha.per_mille(),
            history: options.history,
            factor: options.factor,
            spread: match options.spread {
                ApSpread::DeviationOfRoundTrips => Spread::DeviationOfRoundTrips,
                ApSpread::AbsoluteDeviationOfDelays => Spread::AbsoluteDeviationOfDelays,
            },
            short_path: match options.short_path {
                ApShortPath::AllHops => tcp_ap::ShortPath::AllHops,
                ApShortPath::OneHop => tcp_ap::ShortPath::OneHop,
            },
            data_overhead: options.data_overhead.get() as u32,
            ack_bytes: options.ack_size.get() as u32,
            link_rate: options.link_rate,
            queue_limit: some(options.queue_limit),
            queue_alpha: options.queue_alpha.per_mille(),
            delay_limit: some(options.delay_limit),
            first_interval: some(options.first_interval),
            samples: match options.samples {
                ApSamples::EveryAck | ApSamples::EveryAckLatest => tcp_ap::Samples::EveryAck,
                ApSamples::Unambiguous => tcp_ap::Samples::Unambiguous,
            },
            delay_source: match options.delay {
                ApDelay::RoundTrip => tcp_ap::DelaySource::RoundTrip,
                ApDelay::OneWay | ApDelay::Stamped => tcp_ap::DelaySource::Clocks,
            },
        }
    }

    fn path_hints(&self) -> tcp::PathHints {
        tcp::PathHints {
            hops: match self.tcp_ap.hops {
                ApHops::Routing => tcp::HopSource::Routing,
                ApHops::Ttl => tcp::HopSource::Ttl,
                ApHops::Travelled => tcp::HopSource::Travelled,
            },
            round_trips: match self.tcp_ap.samples {
                ApSamples::EveryAck => tcp::RoundTrips::Echoed,
                ApSamples::EveryAckLatest => tcp::RoundTrips::Latest,
                ApSamples::Unambiguous => tcp::RoundTrips::Unknown,
            },
            forward_delay_over: match self.tcp_ap.delay {
                ApDelay::RoundTrip => None,
                ApDelay::OneWay => Some(u8::MAX),
                ApDelay::Stamped => Some(self.tcp_ap.factor as u8),
            },
        }
    }
}
