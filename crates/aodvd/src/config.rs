//! What the file of the configuration says, in TOML. docs/aodvd.md has the reference.

use crate::Error;
use fourhop_live::config::{Length, Network, Whole, Wrong};
use fourhop_proto::route::aodv::{HelloConfig, Limits, RepairRule, SearchTimeout, SignalConfig};
use fourhop_proto::route::{self, AddressPlan, Prefix};
use fourhop_units::{Db, Dbm, Dur};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Everything that the file says.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address of this node, the same on all its interfaces.
    pub address: Ipv4Addr,
    /// The devices over which it speaks AODV; no other is touched.
    pub interfaces: Vec<String>,
    /// Networks of the mesh: for addresses in them routes are searched for.
    pub mesh: Vec<Mesh>,
    /// Networks outside that gateways are asked for.
    #[serde(default)]
    pub outside: Vec<Mesh>,
    /// Networks that this node is the gateway to.
    #[serde(default)]
    pub announce: Vec<Mesh>,
    /// RFC 3561, or the AODV of ns-2.
    #[serde(default)]
    pub profile: Profile,
    /// Parameters of AODV.
    #[serde(default)]
    pub routing: Routing,
    /// HELLO messages.
    #[serde(default)]
    pub hello: Hello,
    /// Signal strength of neighbours.
    #[serde(default)]
    pub signal: Signal,
    /// What shows that a link is broken, besides missing HELLOs.
    #[serde(default)]
    pub failures: Failures,
    /// What is kept at most.
    #[serde(default)]
    pub limits: Bounds,
    /// Authentication of messages.
    pub authentication: Option<Authentication>,
    /// What of the system is used.
    #[serde(default)]
    pub system: System,
}

/// A network of IPv4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mesh(pub Prefix);

impl<'de> Deserialize<'de> for Mesh {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Network::deserialize(from)? {
            // INVARIANT: of an IPv4 network at most 32 bits are read.
            Network(IpAddr::V4(address), bits) => Prefix::new(address, bits).map(Mesh),
            Network(IpAddr::V6(_), _) => None,
        }
        .ok_or_else(|| D::Error::custom("found a network of IPv6, allowed: IPv4, which AODV routes"))
    }
}

/// Whose behaviour AODV has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// RFC 3561.
    #[default]
    Standard,
    /// ns-2.35, for networks of its implementations.
    Ns2,
}

/// Parameters of AODV; what is not said is the profile's. Names are those of RFC 3561 section 10.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Routing {
    active_route_timeout: Option<Length>,
    my_route_timeout: Option<Length>,
    node_traversal_time: Option<Length>,
    net_diameter: Option<Whole<1, 255>>,
    ttl_start: Option<Whole<1, 255>>,
    ttl_increment: Option<Whole<1, 255>>,
    ttl_threshold: Option<Whole<1, 255>>,
    rreq_retries: Option<Whole<0, 255>>,
    rreq_rate_limit: Option<Whole<1, 255>>,
    rerr_rate_limit: Option<Whole<1, 255>>,
    /// A fixed wait for each request.
    request_wait: Option<Length>,
    destination_only: Option<bool>,
    gratuitous: Option<bool>,
    local_repair: Option<bool>,
    /// Replies ask for RREP-ACK, and one-way links are avoided.
    reply_acks: Option<bool>,
    /// Packets that wait for a route.
    buffer: Option<Whole<1, 10_000>>,
    /// Longest wait for a route.
    buffer_timeout: Option<Length>,
    /// Wait for DELETE_PERIOD after a start without a number (section 6.13).
    pub reboot_wait: Option<bool>,
}

/// `[hello]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hello {
    enabled: bool,
    interval: Length,
    allowed_loss: Whole<1, 100>,
    jitter: Length,
    always: bool,
}

impl Default for Hello {
    fn default() -> Hello {
        let (interval, jitter) = (Length(Dur::from_secs(1)), Length(Dur::from_millis(100)));
        Hello { enabled: true, interval, allowed_loss: Whole(2), jitter, always: true }
    }
}

/// Where signal strength comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It is not known: HELLO messages alone.
    #[default]
    None,
    /// What the driver says of its stations.
    Nl80211,
    /// Each frame, by a device in monitor mode.
    Monitor,
    /// The emulator.
    Emulator,
}

impl Source {
    /// Its name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Source::None => "none",
            Source::Nl80211 => "nl80211",
            Source::Monitor => "monitor",
            Source::Emulator => "emulator",
        }
    }
}

/// `[signal]`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Signal {
    /// Where it comes from.
    pub source: Source,
    /// HELLO_STRENGTH_THRESHOLD; without it signals are shown, and change nothing.
    threshold: Option<Decibel>,
    weight: Option<Weight>,
    hysteresis: Option<Decibel>,
    keep_stable: Option<bool>,
    /// Time between two questions to nl80211.
    interval: Option<Length>,
    /// The device in monitor mode.
    pub monitor: Option<String>,
    /// The socket of the emulator.
    pub emulator: Option<PathBuf>,
}

impl Signal {
    /// Time between two questions to nl80211.
    pub fn interval(&self) -> Dur {
        self.interval.map_or(Dur::from_millis(250), |Length(time)| time.max(Dur::from_millis(10)))
    }
}

/// dB, or dBm.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Decibel(f64);

impl<'de> Deserialize<'de> for Decibel {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = f64::deserialize(from)?;
        let sound = (-200.0..=200.0).contains(&found);
        sound.then_some(Decibel(found)).ok_or_else(|| D::Error::custom(format!("found {found}, allowed: -200 to 200")))
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Weight(f64);

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = f64::deserialize(from)?;
        let sound = found > 0.0 && found <= 1.0;
        sound.then_some(Weight(found)).ok_or_else(|| D::Error::custom(format!("found {found}, allowed: above 0, to 1")))
    }
}

/// `[failures]`: what shows, besides missing HELLOs, that a link is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Failures {
    /// The kernel's ARP has no answer.
    pub arp: bool,
    /// The driver, or the emulator, has given up so many frames since it was last asked; 0: never.
    frames: Whole<0, 1000>,
}

impl Default for Failures {
    fn default() -> Failures {
        Failures { arp: true, frames: Whole(0) }
    }
}

impl Failures {
    /// Frames given up between two questions that break a link; `None`: however many.
    pub fn frames(&self) -> Option<u32> {
        Some(self.frames.0).filter(|&frames| frames > 0)
    }
}

/// `[limits]`: so that messages of others fill no memory and take no processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bounds {
    routes: Whole<4, 100_000>,
    requests: Whole<4, 1_000_000>,
    neighbours: Whole<1, 10_000>,
    messages: Whole<1, 10_000>,
    /// Messages a second that are read of one neighbour.
    rate: Whole<1, 100_000>,
    /// Requests a second of one originator that are passed on or answered.
    originator_rate: Whole<1, 100_000>,
    /// Largest step of a sequence number.
    seqno_step: Whole<1, 2_147_483_647>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            routes: Whole(1_000),
            requests: Whole(4_000),
            neighbours: Whole(128),
            messages: Whole(256),
            rate: Whole(100),
            // RREQ_RATELIMIT is 10 at the originator; what a search sends anew counts, too.
            originator_rate: Whole(20),
            seqno_step: Whole(100_000),
        }
    }
}

impl Bounds {
    /// What AODV keeps.
    pub fn limits(&self) -> Limits {
        let count = |n: u32| n as usize;
        Limits {
            routes: count(self.routes.0),
            requests: count(self.requests.0),
            neighbours: count(self.neighbours.0),
            messages: count(self.messages.0),
        }
    }

    /// Messages a second of a neighbour.
    pub fn rate(&self) -> u32 {
        self.rate.0
    }

    /// Requests a second of an originator.
    pub fn originator_rate(&self) -> u32 {
        self.originator_rate.0
    }

    /// Largest step of a sequence number.
    pub fn seqno_step(&self) -> u32 {
        self.seqno_step.0
    }
}

/// `[authentication]`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authentication {
    /// Number of the key that messages are signed with; all that are listed are accepted.
    pub sign_with: u8,
    /// The keys.
    pub keys: Vec<KeyFile>,
    /// Are messages without a valid block refused?
    #[serde(default = "yes")]
    pub require: bool,
    /// Most that the clocks of two nodes differ; without it clocks need not agree.
    pub clocks_within: Option<Length>,
}

/// A key.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Its number.
    pub id: u8,
    /// The file with it: 32 bytes at least, any.
    pub file: PathBuf,
}

fn yes() -> bool {
    true
}

/// `[system]`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct System {
    /// Number of the protocol under which routes are written: that of the UDP port in eight bits, which nobody else has.
    protocol: Whole<5, 255>,
    /// The table for routes.
    table: Whole<1, 4_000_000>,
    /// Priority of the rule that leads there.
    rule: Whole<1, 32_765>,
    /// Name of the device that catches packets without a route.
    pub device: String,
    /// The socket where `routes`, `neighbours` and `top` ask.
    pub control: PathBuf,
    /// What is kept over restarts.
    pub state: PathBuf,
    /// The user it goes on as.
    pub user: String,
    /// Set what the kernel needs for forwarding, and restore it.
    pub variables: bool,
    /// Where figures are served for Prometheus.
    pub metrics: Option<SocketAddr>,
}

/// Folder of the control socket.
pub const RUN: &str = "/run/fourhop-aodvd";

impl Default for System {
    fn default() -> System {
        System {
            protocol: Whole(142),
            table: Whole(142),
            rule: Whole(1_000),
            device: "aodv0".to_owned(),
            control: Path::new(RUN).join("control"),
            state: PathBuf::from("/var/lib/fourhop-aodvd/state.json"),
            user: "nobody".to_owned(),
            variables: true,
            metrics: None,
        }
    }
}

impl System {
    /// Whose the routes are.
    pub fn owner(&self) -> fourhop_live::netlink::Owner {
        fourhop_live::netlink::Owner { protocol: self.protocol.0 as u8, table: self.table.0 }
    }

    /// Priority of the rule.
    pub fn rule(&self) -> u32 {
        self.rule.0
    }
}

/// NEXT_HOP_WAIT beyond NODE_TRAVERSAL_TIME (RFC 3561 section 10).
const NEXT_HOP_WAIT: Dur = Dur::from_millis(10);

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or says what is not allowed: with file, line, key, what was found and what is allowed.
    pub fn read(file: &Path) -> Result<Config, Error> {
        let config: Config = fourhop_live::config::read(file)?;
        let wrong = |what: String| Wrong { file: file.to_owned(), what };
        Ok(config.check().map_err(wrong)?)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`Config::read`], without the file.
    pub fn parse(text: &str) -> Result<Config, String> {
        fourhop_live::config::parse::<Config>(text)?.check()
    }

    fn check(self) -> Result<Config, String> {
        let within = |networks: &[Mesh]| networks.iter().any(|Mesh(prefix)| prefix.contains(self.address));
        if self.interfaces.is_empty() {
            return Err("interfaces: found none, allowed: at least one device, as [\"wlan0\"]".to_owned());
        }
        // Zero at the end of a name is part of it (linux/if.h, IFNAMSIZ).
        let named = self.interfaces.iter().chain([&self.system.device]).chain(&self.signal.monitor);
        if let Some(name) = named.into_iter().find(|name| name.is_empty() || name.len() > 15) {
            return Err(format!("interfaces: found {name:?}, allowed: names of devices, of 1 to 15 bytes"));
        }
        if !within(&self.mesh) {
            return Err(format!(
                "mesh: found networks without {}, allowed: some that contain the address",
                self.address
            ));
        }
        match self.signal.source {
            Source::Monitor if self.signal.monitor.is_none() => {
                return Err("signal.monitor: found nothing, allowed: the name of a device in monitor mode".to_owned());
            }
            Source::Emulator if self.signal.emulator.is_none() => {
                return Err("signal.emulator: found nothing, allowed: the path of the emulator's socket".to_owned());
            }
            Source::None if self.signal.threshold.is_some() => {
                return Err("signal.threshold: found one with source = \"none\", allowed: with a source".to_owned());
            }
            _ => {}
        }
        if self.signal.threshold.is_some() && !self.hello.enabled {
            return Err(
                "hello.enabled: found false with signal.threshold, allowed: true, since HELLOs are measured".to_owned()
            );
        }
        if let Some(authentication) = &self.authentication
            && !authentication.keys.iter().any(|key| key.id == authentication.sign_with)
        {
            return Err(format!(
                "authentication.sign_with: found {}, allowed: the id of one of the keys",
                authentication.sign_with
            ));
        }
        Ok(self)
    }

    /// Where addresses are.
    pub fn plan(&self) -> AddressPlan {
        let prefixes = |networks: &[Mesh]| networks.iter().map(|&Mesh(prefix)| prefix).collect::<Vec<_>>();
        let outside = AddressPlan::default().with_outside(prefixes(&self.outside));
        outside.with_outside(prefixes(&self.announce)).with_mesh(prefixes(&self.mesh))
    }

    /// Is this an address that routes are searched for?
    pub fn is_routed(&self, address: Ipv4Addr) -> bool {
        let mut all = self.mesh.iter().chain(&self.outside).chain(&self.announce);
        all.any(|Mesh(prefix)| prefix.contains(address))
    }

    /// Is this an address in a network of the mesh?
    pub fn is_mesh(&self, address: Ipv4Addr) -> bool {
        self.mesh.iter().any(|Mesh(prefix)| prefix.contains(address))
    }

    /// Parameters of AODV.
    pub fn aodv(&self) -> route::Config {
        let base = match self.profile {
            Profile::Standard => route::Config::standard(),
            Profile::Ns2 => route::Config::ns2(),
        };
        let r = &self.routing;
        let time = |value: Option<Length>, default| value.map_or(default, |Length(time)| time);
        let byte = |value: Option<u32>, default| value.map_or(default, |n| n as u8);
        let least = |value: Option<Whole<1, 255>>| value.map(|Whole(n)| n);
        // RFC 3561 section 10: with HELLO messages TTL_START is at least 2.
        let ttl_start = if self.hello.enabled { base.ttl_start.max(2) } else { base.ttl_start };
        let node_traversal_time = time(r.node_traversal_time, base.node_traversal_time);
        let limit = |value: Option<Whole<1, 255>>, default| value.map_or(default, |Whole(n)| Some(n as u8));
        let repair = r.local_repair.unwrap_or(false);
        let threshold = self.signal.threshold.map(|Decibel(dbm)| Dbm(dbm));
        route::Config {
            active_route_timeout: time(r.active_route_timeout, base.active_route_timeout),
            my_route_timeout: r.my_route_timeout.map_or(base.my_route_timeout, |Length(time)| Some(time)),
            node_traversal_time,
            net_diameter: byte(least(r.net_diameter), base.net_diameter),
            ttl_start: byte(least(r.ttl_start), ttl_start),
            ttl_increment: byte(least(r.ttl_increment), base.ttl_increment),
            ttl_threshold: byte(least(r.ttl_threshold), base.ttl_threshold),
            rreq_retries: byte(r.rreq_retries.map(|Whole(n)| n), base.rreq_retries),
            rreq_rate_limit: limit(r.rreq_rate_limit, base.rreq_rate_limit),
            rerr_rate_limit: limit(r.rerr_rate_limit, base.rerr_rate_limit),
            search_timeout: r.request_wait.map_or(base.search_timeout, |Length(wait)| SearchTimeout::Fixed(wait)),
            destination_only: r.destination_only.unwrap_or(base.destination_only),
            gratuitous: r.gratuitous.unwrap_or(base.gratuitous),
            // Without a packet in hand ns-2's rule, which looks at the packet, has nothing to go by.
            repair: if repair { RepairRule::WithinMaxRepairTtl } else { RepairRule::Off },
            repair_without_packet: repair,
            repair_seqno_incremented: true,
            repair_deadline: route::Config::standard().repair_deadline,
            repair_failure_reported: true,
            control_breaks_links: true,
            // The kernel's queues are not ours to purge.
            purge_queue: false,
            reply_ack_wait: r.reply_acks.unwrap_or(false).then_some(node_traversal_time + NEXT_HOP_WAIT),
            buffer_capacity: r.buffer.map_or(base.buffer_capacity, |Whole(n)| n as usize),
            buffer_timeout: time(r.buffer_timeout, base.buffer_timeout),
            // Programs choose the time to live of their packets.
            data_ttl: None,
            // The kernel reports what failed, not the packet: no failure is a packet's.
            link_layer_detection: true,
            hello: self.hello.enabled.then_some(HelloConfig {
                interval: self.hello.interval.0.max(Dur::from_millis(10)),
                allowed_loss: self.hello.allowed_loss.0,
                always: self.hello.always,
                jitter: self.hello.jitter.0,
            }),
            signal: threshold.map(|threshold| SignalConfig {
                threshold,
                weight: self.signal.weight.map_or(0.25, |Weight(weight)| weight),
                hysteresis: Db(self.signal.hysteresis.map_or(0.0, |Decibel(db)| db)),
                keep_stable: self.signal.keep_stable.unwrap_or(true),
            }),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "address = '10.0.0.1'\ninterfaces = ['mesh0']\nmesh = ['10.0.0.0/9']\n";

    #[test]
    fn the_least_file_is_rfc_3561_with_hello() {
        let config = Config::parse(LEAST).unwrap();
        let aodv = config.aodv();
        assert_eq!(aodv.hello.map(|hello| (hello.interval, hello.allowed_loss)), Some((Dur::from_secs(1), 2)));
        assert_eq!((aodv.ttl_start, aodv.net_diameter, aodv.signal), (2, 35, None));
        assert_eq!((aodv.repair, aodv.reply_ack_wait), (RepairRule::Off, None));
        assert_eq!(aodv.active_route_timeout, Dur::from_secs(3));
        assert_eq!(config.system.owner().protocol, (654 % 256) as u8);
        assert!(config.is_routed([10, 127, 0, 1].into()) && !config.is_routed([10, 128, 0, 1].into()));
    }

    #[test]
    fn the_papers_routing_is_a_threshold_and_a_source() {
        let text = format!("{LEAST}[signal]\nsource = 'nl80211'\nthreshold = -80.5\n[routing]\nrequest_wait = '320ms'");
        let aodv = Config::parse(&text).unwrap().aodv();
        assert_eq!(aodv.signal, Some(SignalConfig::paper(Dbm(-80.5))));
        assert_eq!(aodv.search_timeout, SearchTimeout::Fixed(Dur::from_millis(320)));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_allowed() {
        for (text, said) in [
            (
                "address = '10.0.0.1'\ninterfaces = []\nmesh = ['10.0.0.0/9']",
                "interfaces: found none, allowed: at least",
            ),
            ("address = '10.0.0.1'\ninterfaces = ['x']\nmesh = ['10.1.0.0/16']", "without 10.0.0.1, allowed:"),
            ("address = '10.0.0.1'\ninterfaces = ['x']\nmesh = ['fd00::/8']", "found a network of IPv6, allowed: IPv4"),
            (&format!("{LEAST}[signal]\nthreshold = -70.0"), "allowed: with a source"),
            (&format!("{LEAST}[signal]\nsource = 'monitor'"), "signal.monitor: found nothing"),
            (&format!("{LEAST}[signal]\nsource = 'magic'"), "unknown variant `magic`, expected one of"),
            (&format!("{LEAST}[limits]\nroutes = 0"), "expected a whole number from 4 to 100000"),
            (&format!("{LEAST}[routing]\nttl = 3"), "unknown field `ttl`"),
            (&format!("{LEAST}[signal]\nsource = 'nl80211'\nweight = 1.5"), "found 1.5, allowed: above 0, to 1"),
            (&format!("{LEAST}[authentication]\nsign_with = 1\nkeys = []"), "sign_with: found 1, allowed: the id"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn of_the_plan_the_longer_network_decides() {
        let config = Config::parse(&format!("outside = ['0.0.0.0/0']\n{LEAST}")).unwrap();
        assert!(config.plan().is_outside([192, 0, 2, 1].into()) && !config.plan().is_outside([10, 1, 0, 1].into()));
        assert!(config.is_mesh([10, 1, 0, 1].into()) && !config.is_mesh([192, 0, 2, 1].into()));
    }
}
