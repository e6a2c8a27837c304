//! Conversion of a scenario's sections to the configurations of the protocol crates. Covers the values that the tables
//! do not define: those that depend on several keys, on the profile or on the transport.

use super::key::Section;
use super::sections::{AckPolicy, ApDelay, ApSamples, GatewayKind, ProbeBound, RouteMetric, RoutingProtocol, Tcp};
use super::{FlowTransport, Scenario, Traffic};
use crate::setup;
use fourhop_cc::{rbp, tcp_ap};
use fourhop_proto::gateway::{self, DisciplineConfig};
use fourhop_proto::node::{OwnOptions, OwnTransport};
use fourhop_proto::route::{Metric, babel};
use fourhop_proto::tcp::adhoc::{Clock, Gate, ReceiverOptions, SenderOptions, Skew};
use fourhop_proto::{atp, ccm, mac, net, route, tcp};
use fourhop_units::{Bytes, Dur};

impl Scenario {
    /// Returns the configuration of a section's layer: that of the profile, with the values of the section's keys.
    pub(super) fn configured<S: Section>(&self, section: &S) -> S::Config {
        section.configured(self.profile)
    }

    /// Returns the MAC configuration of every node.
    pub fn mac_config(&self) -> mac::Config {
        let radio = &self.radio;
        mac::Config {
            phy: radio.phy.kind(),
            data_rate: radio.rate,
            mcs: radio.mcs(),
            basic_rate: radio.basic_rate,
            plcp: radio.plcp,
            rate_control: self.rate_control(),
            edca: self.mac.edca.then(|| self.configured(&self.edca)),
            ..self.configured(&self.mac)
        }
    }

    /// Returns the link layer configuration of every node.
    pub fn link_config(&self) -> net::Config {
        net::Config { categories: self.mac.edca.then_some(self.edca.dscp_map), ..self.configured(&self.link) }
    }

    /// Returns the link metric to sum up, unless it is the hop count.
    pub fn link_metric(&self) -> Option<Metric> {
        self.routing.metric.of_links(self.mac_config().access_overhead(Metric::PACKET))
    }

    /// Returns the routing protocol with its options.
    pub fn routing_setup(&self) -> setup::Routing {
        match self.routing.protocol {
            RoutingProtocol::Static => self.link_metric().map_or(setup::Routing::Static, setup::Routing::Cheapest),
            RoutingProtocol::Aodv | RoutingProtocol::SsaAodv => setup::Routing::finding(self.aodv_config()),
            RoutingProtocol::Babel => setup::Routing::finding(self.babel_config()),
        }
    }

    /// Returns the AODV configuration of every node, used if AODV is the routing protocol.
    pub fn aodv_config(&self) -> route::Config {
        self.routing.aodv(self.profile, self.link_metric())
    }

    /// Returns the Babel configuration of every node, used if Babel is the routing protocol.
    pub fn babel_config(&self) -> babel::Config {
        let quality = match self.routing.metric {
            RouteMetric::Hops => babel::LinkQuality::TwoOutOfThree,
            _ => babel::LinkQuality::Etx,
        };
        babel::Config { quality, ..self.configured(&self.own.babel) }
    }

    /// Returns the options of C3TCP's modules.
    pub fn c3tcp_options(&self) -> ccm::Options {
        self.configured(&self.c3tcp)
    }

    /// Returns the options of a transport other than TCP and UDP, for both ends and the nodes on the path.
    pub fn own_options(&self, transport: OwnTransport) -> OwnOptions {
        match transport {
            OwnTransport::Atp => self.atp_config().into(),
        }
    }

    /// Returns the transport of a flow, if any, that asks nodes to report their delays.
    pub fn metered(&self) -> Option<&'static str> {
        let pairs = self.traffic.iter().map(|pairs| &pairs.traffic);
        let all = pairs.chain(self.flows.iter().map(|flow| &flow.traffic));
        all.filter_map(|traffic| match traffic.transport {
            FlowTransport::Own(own) => self.own_options(own).meter().map(|_| own.name()),
            _ => None,
        })
        .next()
    }

    /// Returns the ATP configuration of endpoints and of nodes on their paths.
    pub fn atp_config(&self) -> atp::Config {
        let Tcp { mss, delivery_ages, .. } = self.tcp;
        atp::Config { mss: mss.get() as u32, delivery_ages, ..self.configured(&self.own.atp) }
    }

    /// Returns the configuration of both ends of a TCP connection with `traffic`. A transport with SACK recovery
    /// enables SACK, ad hoc TCP enables timestamps.
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
        let recovers_by_sack = matches!(traffic.transport, FlowTransport::Tcp(t) if t.uses_sack());
        let config = self.configured(options);
        let is_rbp = matches!(traffic.transport, FlowTransport::Tcp(t) if t.is_rbp());
        // Besides TCP-AP, only rate-based pacing uses them.
        let echoes = is_rbp && options.pacing_samples == rbp::Samples::EveryAck;
        let round_trips = if echoes { tcp::RoundTrips::Echoed } else { tcp::RoundTrips::Unknown };
        tcp::Config {
            window_limit: traffic.window,
            stack_pacing: options.stack_pacing && !paces && !is_rbp,
            release: if paces { self.tcp_ap.release } else { config.release },
            rto_backoff: !paces || self.tcp_ap.rto_backoff,
            path_hints: if paces { self.path_hints() } else { tcp::PathHints { round_trips, ..config.path_hints } },
            timestamps: options.timestamps || is_adhoc,
            clock: if is_adhoc { self.adhoc_clock() } else { config.clock },
            adhoc_sender: adhoc.0.then(|| self.adhoc_sender()),
            sack: options.sack || recovers_by_sack,
            // A window of two segments needs a finer scale than one of a gigabyte.
            receive_buffer: config.receive_buffer.min(if is_adhoc { 1 << 20 } else { u32::MAX }),
            cc: fourhop_cc::Params { tcp_ap: self.tcp_ap_params(), ..config.cc },
            receiver: if adhoc.1 { timing.with_adhoc(self.adhoc_receiver()) } else { timing },
            ..config
        }
    }

    /// Returns the timestamp clock of ad hoc TCP.
    pub fn adhoc_clock(&self) -> Clock {
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

    /// Returns the options of an ad hoc TCP receiver.
    pub fn adhoc_receiver(&self) -> ReceiverOptions {
        let options = &self.adhoc_tcp;
        let mac = self.mac_config();
        // Shortest time of a hop: RTS and CTS if used, and headers of IP and of TCP with timestamps.
        let headers = Bytes(52);
        let rates = mac.rates_around(mac.reference_rate());
        let reserved = match Bytes(self.tcp.mss.get() + headers.get()) + mac.data_overhead > mac.rts_threshold {
            true => mac.rts_airtime(rates.rts) + mac.answer_airtime(rates.cts) + mac.sifs * 2,
            false => Dur::ZERO,
        };
        ReceiverOptions {
            delimiter: options.delimiter,
            rater: options.rater,
            rounding: options.rounding,
            freezer: options.freezer,
            beta: options.beta,
            fresh_for: options.fresh_for,
            gate: Gate { low: options.occupancy_low.per_mille(), high: options.occupancy_high.per_mille() },
            link_rate: mac.data_rate,
            overhead: reserved + mac.alone_airtime(headers),
            skew: Skew {
                offset_ns: options.clock_offset.0,
                drift_ppb: (options.clock_drift.0 * 1_000.0).round() as i64,
            },
        }
    }

    /// Returns the queueing discipline for packets that cross a gateway, if any.
    pub fn discipline_config(&self) -> Option<DisciplineConfig> {
        let keys = self.gateway.as_ref()?;
        let rfc = gateway::FqCodelConfig::rfc8290();
        match keys.kind {
            GatewayKind::Plain => None,
            GatewayKind::Gap => {
                Some(DisciplineConfig::Gap(keys.gap(self.profile, self.tcp_ap_params(), self.topology.nodes())))
            }
            GatewayKind::Ap2 => {
                Some(DisciplineConfig::Gap(keys.ap2(self.profile, self.tcp_ap_params(), self.topology.nodes())))
            }
            GatewayKind::FairShare => Some(DisciplineConfig::FairShare(gateway::FairShareConfig {
                capacity: keys.capacity?,
                queue: keys.queue.unwrap_or(50),
                flows: keys.flows,
                idle_timeout: keys.idle_timeout,
            })),
            GatewayKind::FqCodel => Some(DisciplineConfig::FqCodel(gateway::FqCodelConfig {
                capacity: keys.capacity,
                backlog: keys.backlog,
                limit: keys.queue.unwrap_or(rfc.limit),
                codel: gateway::CodelConfig { target: keys.target, interval: keys.codel_interval },
                ecn: keys.ecn,
                ..rfc
            })),
        }
    }

    fn tcp_ap_params(&self) -> tcp_ap::Params {
        self.tcp_ap.params(self.profile)
    }

    fn path_hints(&self) -> tcp::PathHints {
        tcp::PathHints {
            hops: self.tcp_ap.hops,
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
