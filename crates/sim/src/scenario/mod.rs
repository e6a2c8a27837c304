//! Scenarios: the description of a simulation.
//!
//! `fourhop-settings` declares keys and values, and turns a text into checked sections. This module builds a
//! [`Scenario`] from the sections, checks conditions that involve several keys, and converts a scenario to
//! configurations of the layers.
//!
//! ```text
//! TOML, JSON, --set  --tree-->  tables with places  --resolve-->  checked values with defaults  --build-->  Scenario
//! ns-2 style .txt    --ns2------------^
//! ```
//!
//! Leaves out: the meaning of a scenario, which the protocol crates and the runner define; and reading files, which is
//! up to the caller except for the movement file that `[mobility]` may name.

mod build;
mod build_flows;
mod build_radio;
mod catalog;
mod convert;
mod edca;
mod movement;
mod network;
mod ns2;
mod overrides;
mod own;
mod paths;
mod radio;
mod radios;
mod site;
mod wired;
mod write;

#[cfg(test)]
use fourhop_settings::layer;
pub use fourhop_settings::sections;
use fourhop_settings::{error, key, quantity, resolve, schema, tree, value};

pub use catalog::{Catalog, CatalogEntry, catalog};
pub use error::{Invalid as ScenarioError, Problem, did_you_mean, nearest};
pub use key::{Key, Kind};
pub use network::{Network, NetworkFlow};
pub use overrides::{Overrides, keys_meant};
pub use own::OwnSections;
pub use paths::NoPath;
pub use quantity::{ALL as QUANTITIES, Unit};
pub use schema::{Table, reference_markdown, schema, tables};
pub use sections::{AdhocTcp, C3tcp, Edca, Link, Mac, Profile, Radio, Routing, Tcp, TcpAp};
pub use site::SiteKeys;
pub use tree::LARGEST;
pub use value::{Hertz, Metres};
pub use wired::{Endpoint, WiredSide, gateway_name};

use crate::batch::Control;
use crate::mobility::Movement;
use crate::topology::Topology;
use fourhop_cc::Transport;
use fourhop_proto::node::OwnTransport;
use fourhop_units::{Bytes, Dur, Rate, Time};

/// A scenario with all defaults filled in.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// File it was read from, for messages.
    pub file: String,
    /// Name of the scenario in tables and file names.
    pub name: String,
    /// Profile that the defaults came from.
    pub profile: Profile,
    /// Simulated time.
    pub duration: Dur,
    /// Initial time that is not measured.
    pub warmup: Dur,
    /// Seed of the first run.
    pub seed: u64,
    /// Number of parts of the measured interval, for batch means.
    pub batches: u32,
    /// Number of delivered packets that ends the run, if it is cut by packets.
    pub packets: Option<u64>,
    /// Interval of the time series, if they are recorded.
    pub sample_every: Option<Dur>,
    /// Positions of the nodes.
    pub topology: Topology,
    /// Movement of the nodes; `None`: they are fixed.
    pub movement: Option<Movement>,
    /// Propagation and reception.
    pub radio: Radio,
    /// The channel plan; if empty, each node has one radio, and all are on one channel.
    pub radios: Vec<sections::RadioKeys>,
    /// Single transmitters and antennas, measured losses, walls.
    pub site: SiteKeys,
    /// IEEE 802.11 DCF.
    pub mac: Mac,
    /// Interface queue and ARP.
    pub link: Link,
    /// Routing.
    pub routing: Routing,
    /// Options of all TCP connections.
    pub tcp: Tcp,
    /// Access categories, if `mac.edca` asks for them.
    pub edca: Edca,
    /// Adaptive pacing.
    pub tcp_ap: TcpAp,
    /// Ad hoc TCP.
    pub adhoc_tcp: AdhocTcp,
    /// Options of individual protocols.
    pub own: OwnSections,
    /// C3TCP: capacity measured by the link layers.
    pub c3tcp: C3tcp,
    /// Gateways and the wired network behind them; `None`: all nodes have radios.
    pub wired: Option<WiredSide>,
    /// Options of gateways, if there is a wired side.
    pub gateway: Option<sections::GatewayKeys>,
    /// Traffic between pairs of nodes that the topology determines.
    pub traffic: Option<PairTraffic>,
    /// Flows with given ends; they follow those of `traffic`.
    pub flows: Vec<Flow>,
}

/// Traffic between pairs of nodes that the topology determines.
#[derive(Clone, PartialEq, Debug)]
pub struct PairTraffic {
    /// Number of pairs.
    pub pairs: u32,
    /// Delay between the starts of successive flows.
    pub stagger: Dur,
    /// The traffic of the first flow.
    pub traffic: Traffic,
}

/// A flow with given ends.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// Name in results.
    pub name: String,
    /// Sending node.
    pub from: Endpoint,
    /// Receiving node.
    pub to: Endpoint,
    /// Data to send.
    pub traffic: Traffic,
}

/// Traffic of a flow: content, transport and times.
#[derive(Clone, PartialEq, Debug)]
pub struct Traffic {
    /// Transport protocol.
    pub transport: FlowTransport,
    /// Application.
    pub app: App,
    /// Start of the flow.
    pub start: Time,
    /// End of the flow; `None`: the end of the run.
    pub stop: Option<Time>,
    /// Limit of a TCP connection's window in segments; `None`: the peer's window alone.
    pub window: Option<u32>,
    /// DSCP of its packets, in both directions.
    pub dscp: u8,
}

/// Transport protocol of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowTransport {
    /// TCP with this congestion control.
    Tcp(&'static Transport),
    /// A transport other than TCP and UDP.
    Own(OwnTransport),
    /// UDP.
    Udp,
    /// ICMP echo.
    Ping,
}

/// Application of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum App {
    /// An endless transfer.
    Bulk,
    /// A transfer of a given size.
    Transfer {
        /// Bytes to send.
        size: Bytes,
    },
    /// Data produced at a constant rate.
    Stream {
        /// The rate.
        rate: Rate,
    },
    /// Short files with pauses between them.
    Files {
        /// Mean size.
        mean_size: Bytes,
        /// Shape of the Pareto distribution of sizes in thousandths.
        shape: u32,
        /// Mean pause.
        mean_pause: Dur,
        /// Whether each file gets a new connection.
        fresh: bool,
    },
    /// Datagrams at a constant rate.
    Cbr {
        /// Rate of payload.
        rate: Rate,
        /// Payload of a datagram.
        payload: Bytes,
    },
    /// Echo requests.
    Ping {
        /// Time between requests.
        interval: Dur,
        /// Largest number of unanswered requests, if limited.
        outstanding: Option<u32>,
        /// Payload of a request.
        payload: Bytes,
    },
}

impl App {
    /// Returns the application's name in results.
    pub const fn name(self) -> &'static str {
        match self {
            App::Bulk => "bulk",
            App::Transfer { .. } => "transfer",
            App::Stream { .. } => "stream",
            App::Files { .. } => "files",
            App::Cbr { .. } => "cbr",
            App::Ping { .. } => "ping",
        }
    }
}

impl FlowTransport {
    /// Returns the transport's name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            FlowTransport::Tcp(transport) => transport.name,
            FlowTransport::Own(transport) => transport.name(),
            FlowTransport::Udp => "udp",
            FlowTransport::Ping => "ping",
        }
    }

    /// Returns the transport with that name.
    pub fn find(name: &str) -> Option<FlowTransport> {
        match name {
            "udp" => Some(FlowTransport::Udp),
            "ping" => Some(FlowTransport::Ping),
            name => {
                let own = OwnTransport::find(name).map(FlowTransport::Own);
                own.or_else(|| Transport::find(name).map(FlowTransport::Tcp))
            }
        }
    }
}

/// Format of a scenario's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form<'a> {
    /// TOML, as written by people.
    Toml,
    /// JSON, as written by [`Scenario::to_json`] and by programs.
    Json,
    /// The node-and-flow lists published with results of ns-2.35. TCP is measured from 10 % of the duration on; a list
    /// with UDP alone, from the start of its first flow.
    Ns2 {
        /// Transport of the `flow` lines (default `newreno`); problems with it name `--transport`.
        transport: Option<&'a str>,
        /// Simulated time, as in TOML (`1000s`); problems with it name `--duration`.
        duration: Option<&'a str>,
    },
}

/// Reads a scenario. `file` is its name for messages; `overrides` are applied on top. When `control` is stopped, the
/// search for a random network ends without one.
///
/// # Errors
/// All problems of the scenario.
pub fn load(
    form: Form<'_>,
    text: &str,
    file: &str,
    overrides: Overrides<'_>,
    control: &Control,
) -> Result<Scenario, ScenarioError> {
    let root = match form {
        Form::Toml => tree::from_toml(text, file)?,
        Form::Json => tree::from_json(text, file)?,
        Form::Ns2 { transport, duration } => ns2::from_ns2(text, file, transport, duration)?,
    };
    build::build(root, file, overrides, control)
}

/// [`load`] of TOML.
///
/// # Errors
/// All problems of the scenario.
pub fn load_toml(text: &str, file: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    load(Form::Toml, text, file, Overrides::set(overrides), &Control::new())
}

/// [`load`] of JSON.
///
/// # Errors
/// All problems of the scenario.
pub fn load_json(text: &str, file: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    load(Form::Json, text, file, Overrides::set(overrides), &Control::new())
}

/// [`load`] of [`Form::Ns2`].
///
/// # Errors
/// All problems of the scenario.
pub fn load_ns2(
    text: &str,
    file: &str,
    transport: Option<&str>,
    duration: Option<&str>,
    overrides: &[String],
) -> Result<Scenario, ScenarioError> {
    load(Form::Ns2 { transport, duration }, text, file, Overrides::set(overrides), &Control::new())
}

#[cfg(test)]
mod tests;
