//! What a file in TOML says; docs/gateway.md has the reference.

use fourhop_cc::tcp_ap;
use fourhop_live::config::{self, Length, Network, Size, Speed, Whole, Wrong};
use fourhop_proto::gateway::{Among, Config as Gap, GoodputControl};
use fourhop_units::{Dur, Rate};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Everything that a file says.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Interfaces that lead into the mesh.
    pub devices: Vec<String>,
    /// Rate of links whose rate nothing else says.
    pub rate: Rate,
    /// Where hops are known from, besides the table.
    pub source: Source,
    /// The table: networks with hops and, perhaps, a rate of their own.
    pub table: Vec<Entry>,
    /// What the state machine does.
    pub gap: Gap,
    /// How packets come here.
    pub rules: Rules,
    /// What runs beside.
    pub service: Service,
}

/// Where hops are known from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The table alone.
    Table,
    /// The time to live of what comes from a node.
    Ttl,
    /// What a program prints.
    Command(Vec<String>, Dur),
    /// The routes of fourhop-aodvd, by its socket.
    Aodv(PathBuf, Dur),
}

/// Nodes of the mesh and their distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Which.
    pub to: Network,
    /// Links on the way.
    pub hops: u8,
    /// Their rate, if it is not that of all.
    pub rate: Option<Rate>,
}

/// How packets come here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    /// What makes the rules; `None`: nft where it can, iptables otherwise.
    pub backend: Option<Backend>,
    /// Does this program make them?
    pub manage: bool,
    /// Number of the first queue.
    pub queue: u16,
    /// Threads, each with a queue in either direction.
    pub workers: u16,
    /// Packets that the kernel keeps in a queue; what comes beyond that passes.
    pub packets: u32,
}

/// Programs that make rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// nft, a table of its own.
    Nft,
    /// iptables and ip6tables, a chain of its own.
    Iptables,
}

/// What runs beside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Service {
    /// Goes on as this user.
    pub user: String,
    /// Says its state here.
    pub socket: PathBuf,
    /// Serves figures here.
    pub metrics: Option<SocketAddr>,
}

/// Where the configuration is unless a command says otherwise.
pub const FILE: &str = "/etc/fourhop/gateway.toml";
/// Where the state is said.
pub const SOCKET: &str = "/run/fourhop-gateway/control";
/// Where fourhop-aodvd says its state.
const AODV: &str = "/run/fourhop-aodvd/control";

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or says what is not allowed.
    pub fn read(file: &Path) -> Result<Config, Wrong> {
        config::read::<File>(file)?.check().map_err(|what| Wrong { file: file.to_owned(), what })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mesh: Mesh,
    #[serde(default)]
    node: Vec<Node>,
    #[serde(default)]
    pace: Pace,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    rules: RuleKeys,
    #[serde(default)]
    service: ServiceKeys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mesh {
    devices: Vec<String>,
    rate: Speed,
    #[serde(default)]
    hops: Hops,
    command: Option<Vec<String>>,
    socket: Option<PathBuf>,
    every: Option<Length>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
enum Hops {
    Table,
    #[default]
    Ttl,
    Command,
    Aodv,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    to: Network,
    hops: Whole<1, 255>,
    rate: Option<Speed>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Pace {
    pacing: Option<bool>,
    option: Option<bool>,
    sojourn: Option<Length>,
    share: Option<Share>,
    goodput_control: Option<Control>,
    profile: Option<Profile>,
    mtu: Option<Whole<576, 9000>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Control {
    Off,
    Oncoming,
    All,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Share {
    Even,
    Own,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    Paper,
    AuthorsCode,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Limits {
    flows: Option<Whole<1, 1_000_000>>,
    nodes: Option<Whole<1, 65_536>>,
    buffer: Option<Size>,
    flow_buffer: Option<Size>,
    flow_packets: Option<Whole<1, 65_536>>,
    packets: Option<Whole<64, 1_000_000>>,
    idle_timeout: Option<Length>,
    half_open_timeout: Option<Length>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RuleKeys {
    backend: Option<Backend>,
    manage: Option<bool>,
    queue: Option<Whole<0, 65_000>>,
    workers: Option<Whole<1, 64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ServiceKeys {
    user: Option<String>,
    socket: Option<PathBuf>,
    metrics: Option<SocketAddr>,
}

impl File {
    fn check(self) -> Result<Config, String> {
        let Mesh { devices, rate: Speed(rate), hops, command, socket, every } = self.mesh;
        if devices.is_empty() {
            return Err("mesh.devices: found none, allowed: at least one interface, as [\"mesh0\"]".to_owned());
        }
        // IFNAMSIZ with its zero; what is quoted in rules must be no rule.
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_@".contains(&byte);
        if let Some(name) = devices.iter().find(|name| name.is_empty() || name.len() > 15 || !name.bytes().all(allowed))
        {
            return Err(format!(
                "mesh.devices: found {name:?}, allowed: an interface's name of at most 15 letters, digits, '.', '-', '_', '@'"
            ));
        }
        let every = every.map_or(Dur::from_secs(10), |Length(every)| every).max(Dur::from_secs(1));
        let source = match (hops, command, socket) {
            (Hops::Command, Some(words), None) if !words.is_empty() => Source::Command(words, every),
            (Hops::Command, ..) => {
                return Err(
                    "mesh.command: found none, allowed with hops = \"command\": a program and its arguments".to_owned()
                );
            }
            (Hops::Aodv, None, socket) => Source::Aodv(socket.unwrap_or_else(|| AODV.into()), every),
            (_, Some(_), _) => {
                return Err("mesh.command: found one, allowed: with hops = \"command\" alone".to_owned());
            }
            (_, _, Some(_)) => return Err("mesh.socket: found one, allowed: with hops = \"aodv\" alone".to_owned()),
            (Hops::Ttl, ..) => Source::Ttl,
            (Hops::Table, ..) => Source::Table,
        };
        let table = self.node.into_iter().map(|Node { to, hops: Whole(hops), rate }| Entry {
            to,
            hops: hops as u8,
            rate: rate.map(|Speed(rate)| rate),
        });
        let table: Vec<_> = table.collect();
        if source == Source::Table && table.is_empty() {
            return Err("[[node]]: found none, allowed with hops = \"table\": at least one".to_owned());
        }
        let RuleKeys { backend, manage, queue, workers } = self.rules;
        let whole = |value: u32| value as u16;
        let rules = Rules {
            backend,
            manage: manage.unwrap_or(true),
            queue: queue.map_or(7100, |Whole(number)| whole(number)),
            workers: workers.map_or(1, |Whole(number)| whole(number)),
            packets: self.limits.packets.map_or(16_384, |Whole(packets)| packets),
        };
        let ServiceKeys { user, socket, metrics } = self.service;
        let service = Service {
            user: user.unwrap_or_else(|| "nobody".to_owned()),
            socket: socket.unwrap_or_else(|| SOCKET.into()),
            metrics,
        };
        Ok(Config { devices, rate, source, table, gap: gap(&self.pace, &self.limits), rules, service })
    }
}

/// How often intervals are made the same: several round trips of a mesh.
const EVENING: Dur = Dur::from_millis(500);

fn gap(pace: &Pace, limits: &Limits) -> Gap {
    let paper = Gap::paper();
    let control = |among| Some(GoodputControl { among, ..GoodputControl::paper() });
    let time = |value: &Option<Length>, default| value.map_or(default, |Length(time)| time);
    Gap {
        pacing: pace.pacing.unwrap_or(paper.pacing),
        option: pace.option.unwrap_or(paper.option),
        goodput_control: match pace.goodput_control {
            None | Some(Control::Oncoming) => control(Among::Oncoming),
            Some(Control::All) => control(Among::All),
            Some(Control::Off) => None,
        },
        even: if matches!(pace.share, Some(Share::Own)) { None } else { Some(EVENING) },
        whole_segments: true,
        // The paper's queue takes what the receiver's window allows, which with windows of today is seconds: zero asks for it.
        sojourn: Some(time(&pace.sojourn, Dur::from_millis(50))).filter(|sojourn| !sojourn.is_zero()),
        pace: match pace.profile {
            Some(Profile::AuthorsCode) => tcp_ap::Params { link_rate: None, ..tcp_ap::Params::authors_code() },
            _ => tcp_ap::Params::paper(),
        },
        mtu: pace.mtu.map_or(paper.mtu, |Whole(mtu)| mtu),
        flows: limits.flows.map_or(paper.flows, |Whole(flows)| flows),
        nodes: limits.nodes.map_or(1_024, |Whole(nodes)| nodes),
        buffer: limits.buffer.map_or(16_000_000, |Size(bytes)| bytes),
        flow_buffer: limits.flow_buffer.map_or(1_000_000, |Size(bytes)| bytes as u32),
        flow_packets: limits.flow_packets.map_or(paper.flow_packets, |Whole(packets)| packets),
        idle_timeout: time(&limits.idle_timeout, paper.idle_timeout),
        half_open_timeout: time(&limits.half_open_timeout, paper.half_open_timeout),
        ..paper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        config::parse::<File>(text).and_then(File::check)
    }

    const LEAST: &str = "[mesh]\ndevices = ['mesh0']\nrate = '2Mbps'\n";

    #[test]
    fn the_least_file_paces_by_time_to_live_with_a_short_queue() {
        let config = parse(LEAST).unwrap();
        assert_eq!((config.source, config.rate), (Source::Ttl, Rate::kbps(2_000)));
        assert_eq!(config.gap.sojourn, Some(Dur::from_millis(50)));
        assert!(config.gap.pacing && config.gap.option && !config.gap.observe && config.rules.manage);
        assert_eq!((config.rules.queue, config.rules.workers), (7100, 1));
    }

    #[test]
    fn the_files_in_the_documents_are_sound() {
        let text = include_str!("../../../docs/gateway.md");
        let files: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(files.len() >= 2);
        for file in files {
            parse(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        }
        Config::read(Path::new("../../packaging/gateway.toml")).unwrap();
    }

    #[test]
    fn every_key_is_taken() {
        let text = "[mesh]\ndevices = ['a', 'b.1']\nrate = '6Mbps'\nhops = 'command'\ncommand = ['x', 'y']\nevery = '5s'\n\
                    [[node]]\nto = '10.0.0.0/24'\nhops = 3\nrate = '1Mbps'\n\
                    [pace]\npacing = false\noption = false\nsojourn = '0s'\ngoodput_control = 'all'\nshare = 'own'\nprofile = 'authors-code'\n\
                    mtu = 1400\n[limits]\nflows = 5\nnodes = 6\nbuffer = '1MB'\nflow_buffer = '10kB'\nflow_packets = 7\n\
                    packets = 64\nidle_timeout = '1s'\nhalf_open_timeout = '2s'\n\
                    [rules]\nbackend = 'iptables'\nmanage = false\nqueue = 9\nworkers = 2\n\
                    [service]\nuser = 'u'\nsocket = '/s'\nmetrics = '127.0.0.1:1'\n";
        let config = parse(text).unwrap();
        assert_eq!(config.source, Source::Command(vec!["x".to_owned(), "y".to_owned()], Dur::from_secs(5)));
        let to = Network([10, 0, 0, 0].into(), 24);
        assert_eq!(config.table, [Entry { to, hops: 3, rate: Some(Rate::kbps(1_000)) }]);
        let expected = Gap {
            pacing: false,
            option: false,
            sojourn: None,
            whole_segments: true,
            goodput_control: Some(GoodputControl { among: Among::All, ..GoodputControl::paper() }),
            pace: tcp_ap::Params { link_rate: None, ..tcp_ap::Params::authors_code() },
            mtu: 1_400,
            flows: 5,
            nodes: 6,
            buffer: 1_000_000,
            flow_buffer: 10_000,
            flow_packets: 7,
            idle_timeout: Dur::from_secs(1),
            half_open_timeout: Dur::from_secs(2),
            ..Gap::paper()
        };
        assert_eq!(config.gap, expected);
        let rules = Rules { backend: Some(Backend::Iptables), manage: false, queue: 9, workers: 2, packets: 64 };
        assert_eq!(config.rules, rules);
        let metrics = Some(([127, 0, 0, 1], 1).into());
        assert_eq!(config.service, Service { user: "u".to_owned(), socket: "/s".into(), metrics });
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_allowed() {
        for (text, said) in [
            ("", "missing field `mesh`"),
            ("[mesh]\ndevices = []\nrate = '2Mbps'", "mesh.devices: found none, allowed: at least one"),
            ("[mesh]\ndevices = ['a b']\nrate = '2Mbps'", "found \"a b\", allowed: an interface's name"),
            ("[mesh]\ndevices = ['a']\nrate = '2'", "line 3, column 8|allowed: a rate"),
            ("[mesh]\ndevices = ['a']", "missing field `rate`"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nhops = 'guess'", "unknown variant `guess`, expected one of"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nhops = 'command'", "mesh.command: found none"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\ncommand = ['a']", "mesh.command: found one"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nsocket = 'a'", "mesh.socket: found one"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nhops = 'table'", "[[node]]: found none"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\n[[node]]\nto = '10.0.0.1'\nhops = 0", "from 1 to 255"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\n[pace]\nsojurn = '1s'", "unknown field `sojurn`"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\n[limits]\nflows = 2000000", "from 1 to 1000000"),
        ] {
            let error = parse(text).unwrap_err();
            said.split('|').for_each(|said| assert!(error.contains(said), "{text}: {error}"));
        }
    }
}
