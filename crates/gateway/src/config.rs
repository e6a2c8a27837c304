//! The configuration file, in TOML. docs/gateway.md has the reference.

use fourhop_cc::tcp_ap;
use fourhop_proto::gateway::{Config as Gap, Mode};
use fourhop_settings::error::{Invalid, Problem};
use fourhop_settings::file::{self, Reader, Shared};
use fourhop_settings::form::{Form, Network};
use fourhop_settings::key::{Choice, Fallback::*, Kind, Section, rate, size, time};
use fourhop_settings::sections::{GatewayKeys, Profile, TcpAp, complete_tcp_ap};
use fourhop_settings::value::Field;
use fourhop_settings::{choice, section};
use fourhop_units::{Dur, Rate};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The contents of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Interfaces that lead into the mesh.
    pub devices: Vec<String>,
    /// Rate of links with no rate of their own.
    pub rate: Rate,
    /// Source of hop counts in addition to the table.
    pub source: Source,
    /// The table: networks with hops and, optionally, a rate.
    pub table: Vec<Entry>,
    /// Options of the state machine.
    pub gap: Gap,
    /// The rules that queue packets for the gateway.
    pub rules: Rules,
    /// Most packets that the kernel keeps in a queue; further packets pass.
    pub packets: u32,
    /// The service itself.
    pub service: Service,
}

/// Sources of hop counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Only the table.
    Table,
    /// The time to live of a node's packets.
    Ttl,
    /// The output of a program.
    Command(Vec<String>, Dur),
    /// The routes of fourhop-aodvd, through its socket.
    Aodv(PathBuf, Dur),
}

impl Source {
    /// Time between two queries, if it has to be queried.
    pub fn every(&self) -> Option<Dur> {
        match self {
            Source::Table | Source::Ttl => None,
            Source::Command(_, every) | Source::Aodv(_, every) => Some(*every),
        }
    }
}

section! {
    /// The mesh. Every file needs the first two keys.
    Mesh = "mesh" {
        /// Interfaces that lead into the mesh.
        devices: Vec<String>, Kind::List(&Kind::Form(Form::Device), 1), Required;
        /// Rate of links for which `[[node]]` gives none.
        rate: Rate, rate("1bps", "10Gbps"), Required;
        /// Source of hop counts; see above.
        hops: Hops, Kind::Choice(Hops::CHOICES), Both("ttl");
        /// Program to run for `hops = "command"`, and its arguments.
        command: Vec<String>, Kind::List(&Kind::Text, 0), Both("[]");
        /// Socket of fourhop-aodvd, for `hops = "aodv"`.
        socket: Option<PathBuf>, Kind::Text, Computed("`/run/fourhop-aodvd/control`");
        /// Time between two queries of the program or socket.
        every: Dur, time("1s", "1000s"), Both("10s");
    }
}

choice! {
    /// Sources of hop counts.
    Hops {
        Ttl = "ttl", "the time to live of the node's packets";
        Table = "table", "only `[[node]]`";
        Command = "command", "the output of a program";
        Aodv = "aodv", "the routes of fourhop-aodvd";
    }
}

section! {
    /// Nodes of the mesh and their distance.
    Entry = "node" {
        /// A node or network.
        to: Network, Kind::Form(Form::Network), Required;
        /// Number of links on the path.
        hops: u8, Kind::Int(1, 255), Required;
        /// Rate of these links; none: that of `[mesh]`.
        rate: Option<Rate>, rate("1bps", "10Gbps"), Both("none");
    }
}

section! {
    /// Pacing. All keys but the first three are those of `[gateway]` and `[tcp_ap]` in a [scenario](scenario.md).
    Pace = "pace" {
        /// How flows into the mesh are paced. With `gap`, the default of `sojourn` is 50 ms.
        mode: Mode, Kind::Choice(Mode::CHOICES), Both("ap2");
        /// Division of airtime among flows into the mesh.
        share: Share, Kind::Choice(Share::CHOICES), Both("even");
        /// Maximum size of an acknowledgement with the option, in bytes.
        mtu: u32, Kind::Int(576, 9_000), Layer(|_| Gap::paper().mtu.to_value());
    }
}

choice! {
    /// Division of airtime among flows.
    Share {
        Even = "even", "the same interval for all flows with `gap`, a limit of airtime with `ap2`";
        Own = "own", "each flow separately";
    }
}

section! {
    /// Memory limits.
    Limits = "limits" {
        /// Maximum number of nodes known at the same time.
        nodes: u32, Kind::Int(1, 65_536), Both("1024");
        /// Maximum number of packets that wait per flow.
        flow_packets: u32, Kind::Int(1, 65_536), Layer(|_| Gap::paper().flow_packets.to_value());
        /// Maximum number of packets that the kernel queues per worker and direction. Further packets pass.
        packets: u32, Kind::Int(64, 1_000_000), Both("16384");
    }
}

section! {
    /// The rules that queue packets for the gateway.
    Rules = "rules" {
        /// Backend of the rules.
        backend: Option<Backend>, Kind::Choice(Backend::CHOICES), Computed("nft if it works, else iptables");
        /// The gateway installs and removes the rules itself.
        manage: bool, Kind::Bool, Both("true");
        /// Number of the first queue; there are two for each worker.
        queue: u16, Kind::Int(0, 65_000), Both("7100");
        /// Number of threads, each with one queue per direction. The kernel distributes pairs of hosts over them; each
        /// thread has its own limits and compares the goodput of its own flows.
        workers: u16, Kind::Int(1, 64), Both("1");
    }
}

/// Programs that install rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Backend {
    /// nft, with a separate table.
    Nft,
    /// iptables and ip6tables, with a separate chain.
    Iptables,
}

choice! {
    for Backend {
        Nft = "nft", "a separate table";
        Iptables = "iptables", "iptables and ip6tables, with a separate chain";
    }
}

section! {
    /// The service.
    Service = "service" {
        /// User to switch to after the start.
        user: String, Kind::Text, Both("nobody");
        /// Socket on which the gateway reports its state.
        socket: PathBuf, Kind::Text, Both("/run/fourhop-gateway/control");
        /// Address and port at which the gateway serves metrics for Prometheus.
        metrics: Option<SocketAddr>, Kind::Form(Form::Socket), Both("none");
    }
}

/// Options of `[pace]` from `[gateway]`.
fn pacing() -> Vec<Shared> {
    Shared::all::<GatewayKeys>(&["pacing", "option", "goodput_control", "among", "sojourn"])
}

/// Options of `[pace]` from `[tcp_ap]`.
fn arithmetic() -> Vec<Shared> {
    Shared::all::<TcpAp>(&["profile"])
}

/// Options of `[limits]` from `[gateway]`.
fn limits() -> Vec<Shared> {
    let of = Shared::of::<GatewayKeys>;
    vec![
        of("flows").within(Kind::Int(1, 1_000_000)),
        of("buffer").within(size("1kB", "4GB")).or("16MB"),
        of("flow_buffer").within(size("1kB", "4GB")),
        of("idle_timeout"),
        of("half_open_timeout"),
    ]
}

/// Default path of the configuration.
pub const FILE: &str = "/etc/fourhop/gateway.toml";
/// Default path of the socket with the state.
pub const SOCKET: &str = "/run/fourhop-gateway/control";
/// Default path of fourhop-aodvd's socket.
const AODV: &str = "/run/fourhop-aodvd/control";
/// `sojourn` with `gap`. The paper's queue is as large as the receiver's window, which means seconds with today's
/// windows; `sojourn = "none"` selects it.
const GAP_SOJOURN: Dur = Dur::from_millis(50);
/// How often intervals are equalized: several round trips of a mesh.
const EVENING: Dur = Dur::from_millis(500);
/// The tables of a file.
const TABLES: [&str; 6] = ["mesh", "node", "pace", "limits", "rules", "service"];

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read; or all its problems.
    pub fn read(file: &Path) -> Result<Config, Invalid> {
        file::read(file, &TABLES, Config::build)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// All its problems.
    pub fn parse(text: &str) -> Result<Config, Invalid> {
        Config::parse_as(text, "text")
    }

    /// Reads the text of a file of this name.
    ///
    /// # Errors
    /// All its problems.
    pub fn parse_as(text: &str, name: &str) -> Result<Config, Invalid> {
        file::parse(text, name, &TABLES, Config::build)
    }

    fn build(reader: &mut Reader) -> Option<Config> {
        let (of_gateway, of_pacing, of_limits) = (pacing(), arithmetic(), limits());
        let top = reader.table::<()>(&[]);
        let mesh = reader.table::<Mesh>(&[]);
        let nodes = reader.tables::<Entry>(&[]);
        let both: Vec<_> = of_gateway.iter().chain(&of_pacing).copied().collect();
        let pace = reader.table::<Pace>(&both);
        let limits = reader.table::<Limits>(&of_limits);
        let rules = reader.table::<Rules>(&[]);
        let service = reader.table::<Service>(&[]);
        top?;
        let ((given, mesh), (paced, pace), (limited, limits)) = (mesh?, pace?, limits?);
        let table: Vec<Entry> = nodes?.into_iter().map(|(_, entry)| entry).collect();
        let mut refuse = |key, found: &str, allowed: &str| reader.refuse(given.problem(key, found, allowed));
        let source = match mesh.hops {
            Hops::Ttl => Source::Ttl,
            Hops::Table => Source::Table,
            Hops::Command => Source::Command(mesh.command.clone(), mesh.every),
            Hops::Aodv => Source::Aodv(mesh.socket.clone().unwrap_or_else(|| AODV.into()), mesh.every),
        };
        match (mesh.hops == Hops::Command, mesh.command.is_empty()) {
            (true, true) => refuse("command", Problem::MISSING, "with hops = \"command\": a program and its arguments"),
            (false, false) => refuse("command", "a program", "only with hops = \"command\""),
            _ => {}
        }
        if mesh.hops != Hops::Aodv && mesh.socket.is_some() {
            refuse("socket", "a socket", "only with hops = \"aodv\"");
        }
        if source == Source::Table && table.is_empty() {
            refuse("hops", "\"table\" without [[node]]", "\"table\" with at least one [[node]]");
        }
        let profile = Profile::Standard;
        let mut keys: GatewayKeys = file::section(profile, &[(&paced, &of_gateway), (&limited, &of_limits)], |_, _| {});
        let adaptive: TcpAp =
            file::section(profile, &[(&paced, &of_pacing)], |values, given| complete_tcp_ap(values, given));
        if pace.mode == Mode::Gap && !paced.is_given("sojourn") {
            keys.sojourn = Some(GAP_SOJOURN);
        }
        // The rate of the mesh replaces that of the authors.
        let adaptive = tcp_ap::Params { link_rate: None, ..adaptive.params(profile) };
        let paced = match pace.mode {
            Mode::Gap => keys.gap(profile, adaptive, limits.nodes),
            Mode::Ap2 => keys.ap2(profile, adaptive, limits.nodes),
        };
        let gap = Gap {
            even: match pace.share {
                Share::Even => paced.even.or(Some(EVENING)),
                Share::Own => None,
            },
            whole_segments: true,
            delayed_acks: true,
            least_round_trip: true,
            mtu: pace.mtu,
            flow_packets: limits.flow_packets,
            ..paced
        };
        let Mesh { devices, rate, .. } = mesh;
        Some(Config {
            devices,
            rate,
            source,
            table,
            gap,
            rules: rules?.1,
            packets: limits.packets,
            service: service?.1,
        })
    }
}

/// The tables of keys in docs/gateway.md.
pub fn reference() -> String {
    let pacing: Vec<Shared> = pacing().into_iter().chain(arithmetic()).collect();
    file::reference(&[
        ("`[mesh]`", Mesh::ABOUT, Mesh::KEYS, &[]),
        ("`[[node]]`", Entry::ABOUT, Entry::KEYS, &[]),
        ("`[pace]`", Pace::ABOUT, Pace::KEYS, &pacing),
        ("`[limits]`", Limits::ABOUT, Limits::KEYS, &limits()),
        ("`[rules]`", Rules::ABOUT, Rules::KEYS, &[]),
        ("`[service]`", Service::ABOUT, Service::KEYS, &[]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::gateway::{Among, GoodputControl};

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text).map_err(|error| error.to_string())
    }

    const LEAST: &str = "[mesh]\ndevices = ['mesh0']\nrate = '2Mbps'\n";

    #[test]
    fn the_least_file_paces_by_ap2_and_the_time_to_live_with_a_short_queue() {
        let config = parse(LEAST).unwrap();
        assert_eq!((config.source, config.rate), (Source::Ttl, Rate::kbps(2_000)));
        assert_eq!((config.gap.mode, config.gap.sojourn), (Mode::Ap2, Some(Dur::from_millis(5))));
        assert!(config.gap.pacing && config.gap.option && !config.gap.observe && config.rules.manage);
        assert_eq!((config.rules.queue, config.rules.workers), (7100, 1));
    }

    #[test]
    fn with_ap2_packets_wait_for_less_unless_the_file_says_otherwise() {
        let gap = parse(&format!("{LEAST}[pace]\nmode = 'gap'\n")).unwrap().gap;
        assert_eq!((gap.mode, gap.sojourn), (Mode::Gap, Some(Dur::from_millis(50))));
        let ap2 = parse(&format!("{LEAST}[pace]\nmode = 'ap2'\n")).unwrap().gap;
        assert_eq!((ap2.mode, ap2.sojourn, ap2.goodput_control), (Mode::Ap2, Some(Dur::from_millis(5)), None));
        assert_eq!((ap2.even, ap2.whole_segments), (Some(Dur::from_millis(100)), true));
        let other = parse(&format!("{LEAST}[pace]\nmode = 'ap2'\nsojourn = '70ms'\nshare = 'own'\n")).unwrap().gap;
        assert_eq!((other.sojourn, other.even), (Some(Dur::from_millis(70)), None));
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
        let text = "[mesh]\ndevices = ['a', 'b.1']\nrate = '6Mbps'\nhops = 'command'\ncommand = ['x', 'y']\nevery = \
            '5s'\n\
                    [[node]]\nto = '10.0.0.0/24'\nhops = 3\nrate = '1Mbps'\n\
                    [pace]\nmode = 'gap'\npacing = false\noption = false\nsojourn = 'none'\namong = 'all'\nshare = \
                    'own'\nprofile = 'authors-code'\n\
                    mtu = 1400\n[limits]\nflows = 5\nnodes = 6\nbuffer = '1MB'\nflow_buffer = '10kB'\nflow_packets = \
                    7\n\
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
            delayed_acks: true,
            least_round_trip: true,
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
        let rules = Rules { backend: Some(Backend::Iptables), manage: false, queue: 9, workers: 2 };
        assert_eq!((config.rules, config.packets), (rules, 64));
        let metrics = Some(([127, 0, 0, 1], 1).into());
        assert_eq!(config.service, Service { user: "u".to_owned(), socket: "/s".into(), metrics });
    }

    #[test]
    fn errors_say_what_is_allowed() {
        for (text, said) in [
            ("", "mesh.devices: missing|mesh.rate: missing"),
            (
                "[mesh]\ndevices = []\nrate = '2Mbps'",
                "text:2:11: mesh.devices: found an empty list, allowed: a list of at least 1",
            ),
            ("[mesh]\ndevices = ['a b']\nrate = '2Mbps'", "the name of a network device|one item is \"a b\""),
            ("[mesh]\ndevices = ['a']\nrate = '2'", "text:3:8: mesh.rate|allowed: a rate"),
            ("[mesh]\ndevices = ['a']", "mesh.rate: missing, allowed: a rate"),
            (
                "[mesh]\ndevices = ['a']\nrate = '2Mbps'\nhops = 'guess'",
                "mesh.hops: found \"guess\", allowed: \"ttl\" or",
            ),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nhops = 'command'", "mesh.command: missing"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\ncommand = ['a']", "mesh.command: found a program"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nsocket = 'a'", "mesh.socket: found a socket"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\nhops = 'table'", "mesh.hops: found \"table\" without [[node]]"),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\n[[node]]\nto = '10.0.0.1'\nhops = 0", "from 1 to 255"),
            (
                "[mesh]\ndevices = ['a']\nrate = '2Mbps'\n[pace]\nsojurn = '1s'",
                "pace.sojurn: found an unknown key|did you mean \"sojourn\"?",
            ),
            ("[mesh]\ndevices = ['a']\nrate = '2Mbps'\n[limits]\nflows = 2000000", "from 1 to 1000000"),
        ] {
            let error = parse(text).unwrap_err();
            said.split('|').for_each(|said| assert!(error.contains(said), "{text}: {error}"));
        }
    }

    #[test]
    fn sockets_are_where_the_defaults_say() {
        assert_eq!(file::defaults::<Service>().socket, Path::new(SOCKET));
        let socket = Mesh::KEYS.iter().find(|key| key.name == "socket").unwrap();
        assert!(matches!(socket.default, Computed(words) if words.trim_matches('`') == AODV));
    }

    #[test]
    fn the_document_has_every_key() {
        file::assert_documented("gateway.md", &reference());
    }

    #[test]
    fn intervals_are_shared_unless_flows_have_their_own() {
        let even = |more: &str| parse(&format!("{LEAST}[pace]\n{more}")).unwrap().gap.even;
        assert_eq!(even("mode = 'gap'\n"), Some(Dur::from_millis(500)));
        assert_eq!(even("mode = 'gap'\nshare = 'own'\n"), None);
    }

    #[test]
    fn each_source_of_hops_has_its_keys() {
        let source = |more: &str| parse(&format!("{LEAST}{more}")).unwrap().source;
        assert_eq!(source("hops = 'ttl'\n"), Source::Ttl);
        assert_eq!(source("hops = 'table'\n[[node]]\nto = '10.0.0.1'\nhops = 2\n"), Source::Table);
        assert_eq!(source("hops = 'aodv'\n"), Source::Aodv(AODV.into(), Dur::from_secs(10)));
        let aodv = source("hops = 'aodv'\nsocket = '/s'\nevery = '3s'\n");
        assert_eq!(aodv, Source::Aodv("/s".into(), Dur::from_secs(3)));
        let refused = parse(&format!("{LEAST}hops = 'aodv'\ncommand = ['a']\n")).unwrap_err();
        let every = [Source::Ttl, Source::Table, aodv].map(|source| source.every());
        assert_eq!(every, [None, None, Some(Dur::from_secs(3))]);
        assert_eq!(source("hops = 'command'\ncommand = ['a']\n").every(), Some(Dur::from_secs(10)));
        assert!(refused.contains("mesh.command: found a program, allowed: only with hops = \"command\""), "{refused}");
    }

    #[test]
    fn errors_name_the_file_and_those_of_every_table_are_said() {
        let text = format!("{LEAST}[limits]\nnodes = 0\n[rules]\nworkers = 0\n[service]\nmetrics = 'x'\n");
        let said = Config::parse_as(&text, "g.toml").unwrap_err().to_string();
        for key in ["g.toml:5:", "limits.nodes", "g.toml:7:", "rules.workers", "g.toml:9:", "service.metrics"] {
            assert!(said.contains(key), "{key}: {said}");
        }
        let said = Config::read(Path::new("/no/such/gateway.toml")).unwrap_err().to_string();
        assert!(said.contains("/no/such/gateway.toml"), "{said}");
    }
}
