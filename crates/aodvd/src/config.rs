//! The configuration file, in TOML. docs/aodvd.md has the reference.

use crate::Error;
use fourhop_proto::route::aodv::{Limits, RepairRule};
use fourhop_proto::route::{self, AddressPlan, Prefix};
use fourhop_settings::error::{Invalid, Problem};
use fourhop_settings::file::{self, Reader, Shared};
use fourhop_settings::form::Form;
use fourhop_settings::key::{Choice, Fallback::*, Kind, Section, time};
use fourhop_settings::sections::{Profile, Routing, RoutingProtocol};
use fourhop_settings::value::Value;
use fourhop_settings::{choice, section};
use fourhop_units::Dur;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The contents of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Address of this node, the same on all its interfaces.
    pub address: Ipv4Addr,
    /// The devices over which it speaks AODV; no other is affected.
    pub interfaces: Vec<String>,
    /// Networks of the mesh: routes are searched for addresses in them.
    pub mesh: Vec<Prefix>,
    /// Outside networks, for which gateways are asked.
    pub outside: Vec<Prefix>,
    /// Networks for which this node is the gateway.
    pub announce: Vec<Prefix>,
    /// Parameters of AODV.
    aodv: route::Config,
    /// The daemon's own options.
    pub routing: Own,
    /// Signal strength of neighbours.
    pub signal: Signal,
    /// Signs of a broken link, in addition to missing HELLOs.
    pub failures: Failures,
    /// Maximum number of entries of each kind.
    pub limits: Bounds,
    /// Authentication of messages.
    pub authentication: Option<Authenticated>,
    /// Use of the system.
    pub system: System,
}

const NETWORK: Kind = Kind::Form(Form::Ipv4Network);

section! {
    /// The node and its networks. Every file needs the first three keys.
    Top = "" {
        /// Address of this node, the same on all interfaces.
        address: Ipv4Addr, Kind::Form(Form::Ipv4), Required;
        /// Network devices that use AODV.
        interfaces: Vec<String>, Kind::List(&Kind::Form(Form::Device), 1), Required;
        /// Networks of the mesh: routes are searched for these; other messages are refused.
        mesh: Vec<Prefix>, Kind::List(&NETWORK, 1), Required;
        /// Networks for which gateways are searched.
        outside: Vec<Prefix>, Kind::List(&NETWORK, 0), Both("[]");
        /// Networks behind this node: it answers for them and searches for nodes on their behalf.
        announce: Vec<Prefix>, Kind::List(&NETWORK, 0), Both("[]");
        /// Behaviour of AODV.
        profile: Profile, Kind::Choice(Profile::CHOICES), Both("standard");
    }
}

section! {
    /// AODV. All keys but the first three are those of `[routing]` in a [scenario](scenario.md).
    Own = "routing" {
        /// Relays repair routes in use (RFC 3561 section 6.12).
        local_repair: bool, Kind::Bool, Both("false");
        /// Replies ask for RREP-ACK; neighbours that send none are blacklisted (section 6.8).
        reply_acks: bool, Kind::Bool, Both("false");
        /// Stay silent for DELETE_PERIOD after a start without saved sequence numbers (section 6.13).
        reboot_wait: bool, Kind::Bool, Both("true");
    }
}

/// Options of `[routing]` from the section of the same name in a scenario.
fn routing() -> Vec<Shared> {
    const KEYS: [&str; 12] = [
        "active_route_timeout",
        "my_route_timeout",
        "node_traversal_time",
        "net_diameter",
        "ttl_increment",
        "ttl_threshold",
        "rreq_retries",
        "rreq_rate_limit",
        "rerr_rate_limit",
        "request_wait",
        "destination_only",
        "gratuitous",
    ];
    let of = Shared::of::<Routing>;
    let others = [
        of("ttl_start").or_else("that of the profile; with HELLO messages, at least 2"),
        of("buffer_capacity").named("buffer").within(Kind::Int(1, 10_000)),
        of("buffer_timeout"),
    ];
    Shared::all::<Routing>(&KEYS).into_iter().chain(others).collect()
}

/// `[hello]`: HELLO messages.
fn hello() -> Vec<Shared> {
    let of = Shared::of::<Routing>;
    vec![
        of("hello").named("enabled").or("true"),
        of("hello_interval").named("interval").within(time("10ms", "1000s")),
        of("allowed_hello_loss").named("allowed_loss"),
        of("hello_jitter").named("jitter").or("100ms"),
        of("hello_always").named("always").or("true"),
    ]
}

/// Options of `[signal]` from `[routing]` in a scenario.
fn signal() -> Vec<Shared> {
    let of = Shared::of::<Routing>;
    vec![
        of("signal_threshold").named("threshold").or_else("none: signals are shown, but have no effect"),
        of("signal_weight").named("weight"),
        of("signal_hysteresis").named("hysteresis"),
        of("keep_stable"),
    ]
}

choice! {
    /// Where signal strength comes from.
    Source {
        Nl80211 = "nl80211", "the driver's statistics of its stations";
        Monitor = "monitor", "each frame, as received by a device in monitor mode";
        Emulator = "emulator", "the emulator";
    }
}

section! {
    /// Signal strength of neighbours; see [aodv.md](aodv.md).
    Signal = "signal" {
        /// Source of signal strength; none: HELLO only.
        source: Option<Source>, Kind::Choice(Source::CHOICES), Both("none");
        /// Time between two queries of nl80211.
        interval: Dur, time("10ms", "1000s"), Both("250ms");
        /// A device in monitor mode on the same channel, for `source = "monitor"`.
        monitor: Option<String>, Kind::Form(Form::Device), Both("none");
        /// Path given to `fourhop-emulate run --tap --radio`, for `source = "emulator"`.
        emulator: Option<PathBuf>, Kind::Text, Both("none");
    }
}

section! {
    /// Signs of a broken link besides missing HELLOs.
    Failures = "failures" {
        /// An unanswered ARP request breaks a link.
        arp: bool, Kind::Bool, Both("true");
        /// Number of frames given up since the previous query that breaks a link; none: no number does.
        frames: Option<u32>, Kind::Int(1, 1_000), Both("none");
    }
}

section! {
    /// Limits on memory and processor time that other nodes can use.
    Bounds = "limits" {
        /// Maximum number of routes.
        routes: u32, Kind::Int(4, 100_000), Both("1000");
        /// Maximum number of remembered requests.
        requests: u32, Kind::Int(4, 1_000_000), Both("4000");
        /// Maximum number of neighbours.
        neighbours: u32, Kind::Int(1, 10_000), Both("128");
        /// Maximum number of messages that wait to be sent.
        messages: u32, Kind::Int(1, 10_000), Both("256");
        /// Maximum number of messages per second that are read from one neighbour, after a burst of twice as many.
        rate: u32, Kind::Int(1, 100_000), Both("100");
        /// Maximum number of requests per second from one originator, after a burst of twice as many. RREQ_RATELIMIT is
        /// 10 at the originator; repeated requests of a search also count.
        originator_rate: u32, Kind::Int(1, 100_000), Both("20");
        /// Maximum step of a sequence number.
        seqno_step: u32, Kind::Int(1, 2_147_483_647), Both("100000");
    }
}

impl Bounds {
    /// AODV's limits.
    pub fn limits(&self) -> Limits {
        let [routes, requests, neighbours, messages] =
            [self.routes, self.requests, self.neighbours, self.messages].map(|most| most as usize);
        Limits { routes, requests, neighbours, messages }
    }
}

section! {
    /// Authentication of messages. Without this table, messages are not authenticated. See below.
    Authentication = "authentication" {
        /// Number of the key with which messages are signed; every listed key is accepted.
        sign_with: u8, Kind::Int(0, 255), Required;
        /// Refuse messages without a valid block.
        require: bool, Kind::Bool, Both("true");
        /// Maximum difference between the clocks of two nodes; none: clocks need not agree.
        clocks_within: Option<Dur>, time("0s", "1000s"), Both("none");
    }
}

section! {
    /// A key.
    KeyFile = "authentication.keys" {
        /// Number of the key.
        id: u8, Kind::Int(0, 255), Required;
        /// File that contains the key: at least 32 arbitrary bytes.
        file: PathBuf, Kind::Text, Required;
    }
}

/// Signing and checking of messages.
#[derive(Clone, PartialEq, Debug)]
pub struct Authenticated {
    /// Id of the key for signing messages.
    pub sign_with: u8,
    /// The keys.
    pub keys: Vec<KeyFile>,
    /// Whether messages without a valid block are refused.
    pub require: bool,
    /// Maximum difference between the clocks of two nodes.
    pub clocks_within: Option<Dur>,
}

section! {
    /// Numbers and names used in the kernel.
    System = "system" {
        /// Protocol number of the routes. The default is the UDP port of AODV in eight bits, which nobody else uses.
        protocol: u8, Kind::Int(5, 255), Both("142");
        /// Routing table for the routes.
        table: u32, Kind::Int(1, 4_000_000), Both("142");
        /// Priority of the rule that selects this table.
        rule: u32, Kind::Int(1, 32_765), Both("1000");
        /// Name of the device that catches packets without a route.
        device: String, Kind::Form(Form::Device), Both("aodv0");
        /// Socket that `routes`, `neighbours` and `top` query.
        control: PathBuf, Kind::Text, Both("/run/fourhop-aodvd/control");
        /// File for state that survives a restart.
        state: PathBuf, Kind::Text, Both("/var/lib/fourhop-aodvd/state.json");
        /// User to switch to after a start by root.
        user: String, Kind::Text, Both("nobody");
        /// Set the kernel variables that forwarding needs, and restore them at the end.
        variables: bool, Kind::Bool, Both("true");
        /// Address and port at which metrics for Prometheus are served: `http://ADDRESS:PORT/metrics`.
        metrics: Option<SocketAddr>, Kind::Form(Form::Socket), Both("none");
    }
}

/// Folder of the control socket.
pub const RUN: &str = "/run/fourhop-aodvd";

impl Default for System {
    fn default() -> System {
        file::defaults()
    }
}

impl System {
    /// The owner of the routes.
    pub fn owner(&self) -> fourhop_live::netlink::Owner {
        fourhop_live::netlink::Owner { protocol: self.protocol, table: self.table }
    }
}

/// NEXT_HOP_WAIT beyond NODE_TRAVERSAL_TIME (RFC 3561 section 10).
const NEXT_HOP_WAIT: Dur = Dur::from_millis(10);
/// The tables of a file.
const TABLES: [&str; 8] =
    ["routing", "hello", "signal", "failures", "limits", "authentication", "authentication.keys", "system"];

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is invalid: with file, line, key, what was found and what is allowed.
    pub fn read(file: &Path) -> Result<Config, Error> {
        Ok(file::read(file, &TABLES, Config::build)?)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All its problems.
    pub fn parse(text: &str) -> Result<Config, Invalid> {
        file::parse(text, "text", &TABLES, Config::build)
    }

    fn build(reader: &mut Reader) -> Option<Config> {
        let shared = [routing(), hello(), signal()];
        let top = reader.table::<Top>(&[]);
        // Without a profile the rest is still checked; the file is refused anyway.
        let profile = top.as_ref().map_or(Profile::Standard, |(_, top)| top.profile);
        reader.set_profile(profile);
        let routing = reader.table::<Own>(&shared[0]);
        let hello = reader.shared("hello", &shared[1]);
        let signal = reader.table::<Signal>(&shared[2]);
        let failures = reader.table::<Failures>(&[]);
        let limits = reader.table::<Bounds>(&[]);
        let authentication = reader.has(Authentication::NAME).then(|| reader.table::<Authentication>(&[]));
        let keys = reader.tables::<KeyFile>(&[]);
        let system = reader.table::<System>(&[]);
        let ((given, top), (routed, routing), hello, (heard, signal)) = (top?, routing?, hello?, signal?);
        if !top.mesh.iter().any(|prefix| prefix.contains(top.address)) {
            let found = format!("networks without {}", top.address);
            reader.refuse(given.problem("mesh", found, "at least one network that contains the address"));
        }
        let tables = [(&routed, &*shared[0]), (&hello, &*shared[1]), (&heard, &*shared[2])];
        let sections = file::section::<Routing>(profile, &tables, |values, given| {
            values.insert("protocol", Value::Text(RoutingProtocol::SsaAodv.name().to_owned()));
            // RFC 3561 section 10: with HELLO messages TTL_START is at least 2.
            if let Some(Value::Int(ttl)) = values.get("ttl_start").cloned()
                && values.get("hello") == Some(&Value::Bool(true))
                && !given("ttl_start")
            {
                values.insert("ttl_start", Value::Int(ttl.max(2)));
            }
        });
        let mut refuse = |key, found: &str, allowed: &str| reader.refuse(heard.problem(key, found, allowed));
        match signal.source {
            Some(Source::Monitor) if signal.monitor.is_none() => {
                refuse("monitor", Problem::MISSING, "the name of a device in monitor mode");
            }
            Some(Source::Emulator) if signal.emulator.is_none() => {
                refuse("emulator", Problem::MISSING, "the path of the emulator's socket");
            }
            None if sections.signal_threshold.is_some() => {
                refuse("threshold", "a threshold with source = \"none\"", "a threshold only with a source");
            }
            _ => {}
        }
        if sections.signal_threshold.is_some() && !sections.hello {
            let allowed = "true, since HELLOs are measured";
            reader.refuse(hello.problem("enabled", "false with signal.threshold", allowed));
        }
        let keys: Vec<KeyFile> = keys?.into_iter().map(|(_, key)| key).collect();
        let authentication = match authentication {
            None => None,
            Some(table) => {
                let (given, Authentication { sign_with, require, clocks_within }) = table?;
                if !keys.iter().any(|key| key.id == sign_with) {
                    reader.refuse(given.problem("sign_with", sign_with.to_string(), "the id of one of the keys"));
                }
                Some(Authenticated { sign_with, keys, require, clocks_within })
            }
        };
        let aodv = parameters(&routing, &sections, profile);
        let Top { address, interfaces, mesh, outside, announce, .. } = top;
        let (failures, limits, system) = (failures?.1, limits?.1, system?.1);
        Some(Config {
            address,
            interfaces,
            mesh,
            outside,
            announce,
            aodv,
            routing,
            signal,
            failures,
            limits,
            authentication,
            system,
        })
    }

    /// The address plan of the configured networks.
    pub fn plan(&self) -> AddressPlan {
        let outside = self.outside.iter().chain(&self.announce).copied();
        AddressPlan::default().with_outside(outside).with_mesh(self.mesh.iter().copied())
    }

    /// Whether routes are searched for this address.
    pub fn is_routed(&self, address: Ipv4Addr) -> bool {
        let mut all = self.mesh.iter().chain(&self.outside).chain(&self.announce);
        all.any(|prefix| prefix.contains(address))
    }

    /// Whether this address is in a network of the mesh.
    pub fn is_mesh(&self, address: Ipv4Addr) -> bool {
        self.mesh.iter().any(|prefix| prefix.contains(address))
    }

    /// Parameters of AODV.
    pub fn aodv(&self) -> route::Config {
        self.aodv
    }
}

/// The parameters of AODV with a kernel that forwards.
fn parameters(own: &Own, routing: &Routing, profile: Profile) -> route::Config {
    route::Config {
        // ns-2's rule looks at the packet, which is not available here.
        repair: if own.local_repair { RepairRule::WithinMaxRepairTtl } else { RepairRule::Off },
        repair_without_packet: own.local_repair,
        repair_seqno_incremented: true,
        repair_deadline: route::Config::standard().repair_deadline,
        repair_failure_reported: true,
        control_breaks_links: true,
        // The kernel's queues are not ours to purge.
        purge_queue: false,
        reply_ack_wait: own.reply_acks.then_some(routing.node_traversal_time + NEXT_HOP_WAIT),
        // Programs choose the time to live of their packets.
        data_ttl: None,
        // The kernel reports what failed, but not the packet: no failure can be attributed to one.
        link_layer_detection: true,
        ..routing.aodv(profile, None)
    }
}

/// The tables of keys in docs/aodvd.md.
pub fn reference() -> String {
    file::reference(&[
        ("Top level", Top::ABOUT, Top::KEYS, &[]),
        ("`[routing]`", Own::ABOUT, Own::KEYS, &routing()),
        ("`[hello]`", "HELLO messages (RFC 3561 section 6.9).", &[], &hello()),
        ("`[signal]`", Signal::ABOUT, Signal::KEYS, &signal()),
        ("`[failures]`", Failures::ABOUT, Failures::KEYS, &[]),
        ("`[limits]`", Bounds::ABOUT, Bounds::KEYS, &[]),
        ("`[authentication]`", Authentication::ABOUT, Authentication::KEYS, &[]),
        ("`[[authentication.keys]]`", KeyFile::ABOUT, KeyFile::KEYS, &[]),
        ("`[system]`", System::ABOUT, System::KEYS, &[]),
    ])
}

#[cfg(test)]
mod tests;
