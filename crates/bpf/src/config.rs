//! Parameters by destination, and system settings: a file in TOML.
//!
//! Keys of TCP-AP are those of a scenario's `[tcp_ap]`. docs/kernel.md has the reference.

use crate::Error;
use crate::layout::{Destination, MAX_HISTORY, Path as Way};
use fourhop_cc::tcp_ap;
use fourhop_settings::error::{Invalid, Problem};
use fourhop_settings::file::{self, Reader, Shared, defaults};
use fourhop_settings::form::{Form, Network};
use fourhop_settings::key::{Fallback::*, Kind, Section, rate};
use fourhop_settings::resolve::Resolved;
use fourhop_settings::section;
use fourhop_settings::sections::{Profile, TcpAp, complete_tcp_ap};
use fourhop_settings::value::{Field, Value};
use fourhop_units::{Dur, Rate};
use std::path::{Path, PathBuf};

/// The contents of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Folder of the control group whose sockets are covered; `None`: the root, and with it the whole host.
    pub cgroup: Option<PathBuf>,
    /// Variables and devices to set, by namespace.
    pub systems: Vec<System>,
    /// Networks to which connections are paced.
    pub destinations: Vec<(Network, Destination)>,
}

impl Config {
    /// The fastest rate of a link, if it exceeds those for which adaptive pacing was made.
    pub fn too_fast(&self) -> Option<Rate> {
        let rates = self.destinations.iter().flat_map(|(_, to)| to.path.rate.iter().chain(&to.path.links));
        rates.copied().max_by_key(|rate| rate.bps()).filter(|rate| *rate > Rate::kbps(11_000))
    }
}

section! {
    /// The whole file.
    Top = "" {
        /// Folder of the control group whose sockets are covered; none: the root, and with it the whole host.
        cgroup: Option<PathBuf>, Kind::Text, Both("none");
    }
}

section! {
    /// Variables and devices to set in one namespace; `unload` restores them. Without this table, the caller's
    /// namespace gets these defaults.
    System = "system" {
        /// Name of the namespace; none: that of the caller.
        namespace: Option<String>, Kind::Text, Both("none");
        /// Devices that take one segment at a time: GSO of one segment, no TSO. Not for `fh_ap2`: this would split its
        /// bursts.
        devices: Vec<String>, Kind::List(&Kind::Form(Form::Device), 0), Both("[]");
        /// `net.ipv4.tcp_tso_rtt_log`.
        tso_rtt_log: Setting, VARIABLE, Both("0");
        /// `net.ipv4.tcp_pacing_ca_ratio`.
        pacing_ca_ratio: Setting, VARIABLE, Both("200");
    }
}

const VARIABLE: Kind = Kind::IntOr(0, 1_000, &[("leave", "the variable is not changed")]);

section! {
    /// A network, and how connections to it are paced; the longest prefix applies. `rate` or `links` is required,
    /// unless `profile` implies the rate.
    DestinationKeys = "destination" {
        /// The network.
        to: Network, Kind::Form(Form::Network), Required;
        /// Number of wireless hops; "ttl": from the time to live of its packets, whose initial value is the smallest of
        /// 30, 32, 64, 128 and 255 that is possible.
        hops: Hops, Kind::IntOr(1, 255, &[("ttl", "from the time to live of received packets; the initial value is the \
            smallest of 30, 32, 64, 128 and 255 that is possible")]), Both("ttl");
        /// Rate of the links. `fh_ap2` assumes one packet per frame on links below 6.5 Mbit/s, and on those of 9 or 11
        /// Mbit/s.
        rate: Option<Rate>, rate("1bps", "10Gbps"), Both("none");
        /// Rate of each link, nearest first, if they differ; instead of `hops` and `rate`.
        links: Vec<Rate>, Kind::List(&rate("1bps", "10Gbps"), 0), Both("[]");
        /// Subtract the wired part of round trips that a gateway reports ([tcp-gap.md](tcp-gap.md)).
        gateway: bool, Kind::Bool, Both("true");
        /// Number of hops behind the gateway, among the hops that the time to live gives.
        wired_hops: u32, Kind::Int(0, 255), Both("0");
        /// Initial window of a connection in segments; 0: that of the kernel. `fh_ap2` has its own.
        initial_window: u32, Kind::Int(0, 1_000), Both("2");
        /// RBP: V in RTT / (cwnd + V).
        pacing_v: u32, Kind::Int(0, 1_000), Both("1");
    }
}

/// A destination's part of `[tcp_ap]`: everything that a kernel supports.
fn pacing() -> Vec<Shared> {
    const KEYS: [&str; 11] = [
        "profile",
        "alpha",
        "factor",
        "spread",
        "short_path",
        "data_overhead",
        "ack_size",
        "queue_limit",
        "queue_alpha",
        "delay_limit",
        "first_interval",
    ];
    let history = Shared::of::<TcpAp>("history").within(Kind::Int(1, MAX_HISTORY as u64));
    Shared::all::<TcpAp>(&KEYS).into_iter().chain([history]).collect()
}

/// The tables of a file.
const TABLES: [&str; 2] = ["system", "destination"];

impl Default for System {
    fn default() -> System {
        defaults()
    }
}

impl Default for Config {
    /// Without a file: TCP-AP is paced as in the paper, over links of 2 Mbit/s, and AP2 knows no rate.
    fn default() -> Config {
        let everywhere = |zero: [u8; 16], v4| Network(if v4 { [0; 4].into() } else { zero.into() }, 0);
        let paced = Destination {
            params: tcp_ap::Params::paper(),
            pacing_v: 1,
            path: Way { rate: Some(Rate::kbps(2_000)), ..Way::default() },
            link: None,
            gateway: true,
            initial_window: 2,
            wired_hops: 0,
        };
        let destinations = [true, false].map(|v4| (everywhere([0; 16], v4), paced.clone())).into();
        Config { cgroup: None, systems: vec![System::default()], destinations }
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is invalid: the error names file, line, key, what was found and what is allowed.
    pub fn read(file: &Path) -> Result<Config, Error> {
        Ok(file::read(file, &TABLES, Config::build)?)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// The same as for [`Config::read`].
    pub fn parse(text: &str) -> Result<Config, Invalid> {
        file::parse(text, "text", &TABLES, Config::build)
    }

    fn build(reader: &mut Reader) -> Option<Config> {
        let pacing = pacing();
        let top = reader.table::<Top>(&[]);
        let systems = reader.tables::<System>(&[]);
        let tables = reader.tables::<DestinationKeys>(&pacing);
        let ((whole, top), systems, tables) = (top?, systems?, tables?);
        if tables.is_empty() {
            reader.refuse(whole.problem("destination", Problem::MISSING, "at least one, such as to = \"0.0.0.0/0\""));
        }
        let mut destinations = Vec::new();
        for (resolved, keys) in tables {
            match destination(&resolved, keys, &pacing) {
                Ok(destination) => destinations.push(destination),
                Err(problem) => reader.refuse(*problem),
            }
        }
        let systems: Vec<_> = systems.into_iter().map(|(_, system)| system).collect();
        let systems = if systems.is_empty() { vec![System::default()] } else { systems };
        Some(Config { cgroup: top.cgroup, systems, destinations })
    }
}

/// The tables of keys in docs/kernel.md.
pub fn reference() -> String {
    let pacing = pacing();
    file::reference(&[
        ("Top level", Top::ABOUT, Top::KEYS, &[]),
        ("`[[system]]`", System::ABOUT, System::KEYS, &[]),
        ("`[[destination]]`", DestinationKeys::ABOUT, DestinationKeys::KEYS, &pacing),
    ])
}

fn destination(
    resolved: &Resolved,
    keys: DestinationKeys,
    pacing: &[Shared],
) -> Result<(Network, Destination), Box<Problem>> {
    if !keys.links.is_empty() && (resolved.is_given("hops") || keys.rate.is_some()) {
        let problem = resolved.problem("links", "links together with hops or rate", "links alone, which include both");
        return Err(Box::new(problem));
    }
    let rated = keys.rate.is_some() || !keys.links.is_empty();
    let pace = file::section::<TcpAp>(Profile::Standard, &[(resolved, pacing)], |values, given| {
        complete_tcp_ap(values, given);
    });
    let mut params = pace.params(Profile::Standard);
    // The rate given by the user replaces the authors'.
    params.link_rate = params.link_rate.filter(|_| !rated);
    if !rated && params.link_rate.is_none() {
        let allowed = "the rate of the links, such as \"2Mbps\", or `links`, a list of rates";
        return Err(Box::new(resolved.problem("rate", Problem::MISSING, allowed)));
    }
    let link = keys.links.first().copied().or(keys.rate).or(params.link_rate);
    let path = Way { hops: keys.hops.0, rate: keys.rate, links: keys.links, wired: Dur::ZERO };
    let DestinationKeys { to, gateway, wired_hops, initial_window, pacing_v, .. } = keys;
    Ok((to, Destination { params, pacing_v, path, link, gateway, initial_window, wired_hops }))
}

/// A whole number, or the one name allowed instead.
macro_rules! number_or_name {
    ($(#[doc = $about:literal] $type:ident = $name:literal;)+) => { $(
        #[doc = $about]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $type(pub Option<u32>);

        impl Field for $type {
            fn from_value(value: Option<&Value>) -> Self {
                match value {
                    Some(Value::Int(number)) => $type(Some(*number as u32)),
                    _ => $type(None),
                }
            }
            fn to_value(&self) -> Option<Value> {
                self.0.map_or(Some(Value::Text($name.to_owned())), |number| Some(Value::Int(u64::from(number))))
            }
        }
    )+ };
}

number_or_name! {
    /// A variable of the kernel: what it is set to, or "leave".
    Setting = "leave";
    /// A number of hops, or "ttl".
    Hops = "ttl";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_says_what_the_scenario_of_the_same_keys_says() {
        let text = r#"
            cgroup = "/sys/fs/cgroup/x"
            [[system]]
            namespace = "n0"
            devices = ["mesh0"]
            tso_rtt_log = "leave"
            [[destination]]
            to = "10.0.0.0/8"
            hops = 4
            rate = "5.5Mbps"
            alpha = "60.5%"
            history = 10
            factor = 5
            delay_limit = "500ms"
            gateway = false
            wired_hops = 3
            initial_window = 0
            pacing_v = 2
            [[destination]]
            to = "fd00::1"
            links = ["2Mbps", "11Mbps"]
            profile = "authors-code"
            queue_limit = "0s"
        "#;
        let config = parse(text).unwrap();
        assert_eq!(config.cgroup.as_deref(), Some(Path::new("/sys/fs/cgroup/x")));
        let system = System {
            namespace: Some("n0".to_owned()),
            devices: vec!["mesh0".to_owned()],
            tso_rtt_log: Setting(None),
            pacing_ca_ratio: Setting(Some(200)),
        };
        assert_eq!(config.systems, [system]);
        let (first, second) = (&config.destinations[0], &config.destinations[1]);
        let params = tcp_ap::Params {
            alpha: 605,
            history: 10,
            factor: 5,
            delay_limit: Some(Dur::from_millis(500)),
            ..tcp_ap::Params::paper()
        };
        let path = Way { hops: Some(4), rate: Some(Rate::kbps(5_500)), ..Way::default() };
        let link = Some(Rate::kbps(5_500));
        let expected =
            Destination { params, pacing_v: 2, path, link, gateway: false, initial_window: 0, wired_hops: 3 };
        assert_eq!(first, &(Network([10, 0, 0, 0].into(), 8), expected));
        let params = tcp_ap::Params { link_rate: None, queue_limit: None, ..tcp_ap::Params::authors_code() };
        let path = Way { links: [2_000, 11_000].map(Rate::kbps).into(), ..Way::default() };
        let link = Some(Rate::kbps(2_000));
        let expected = Destination { params, pacing_v: 1, path, link, gateway: true, initial_window: 2, wired_hops: 0 };
        assert_eq!(second, &(Network("fd00::1".parse().unwrap(), 128), expected));
    }

    #[test]
    fn errors_say_what_is_allowed() {
        for (line, said) in [
            ("rate = \"2\"", "text:3:8: destination[0].rate: found \"2\", allowed: a rate from \"1bps\" to \"10Gbps\""),
            ("rate = \"0bps\"", "allowed: a rate"),
            ("rate = \"2Mbps\"\nhops = 0", "allowed: a whole number from 1 to 255 or \"ttl\""),
            ("rate = \"2Mbps\"\nhops = \"tll\"", "allowed: a whole number from 1 to 255 or \"ttl\""),
            ("rate = \"2Mbps\"\nhistory = 201", "found 201, allowed: a whole number from 1 to 200"),
            ("rate = \"2Mbps\"\nalpha = \"100%\"", "found \"100%\", allowed: a share from \"0%\" to \"99.9%\""),
            ("rate = \"2Mbps\"\nfirst_interval = \"1h\"", "allowed: a time from"),
            ("rate = \"2Mbps\"\nspread = \"x\"", "deviation-of-round-trips"),
            ("rate = \"2Mbps\"\nhop = 4", "found an unknown key, allowed: to, hops|did you mean \"hops\"?"),
            ("rate = \"2Mbps\"\nlinks = [\"2Mbps\"]", "allowed: links alone"),
            ("hops = 3", "text:1:1: destination[0].rate: missing, allowed: the rate of the links"),
        ] {
            let text = format!("[[destination]]\nto = \"10.0.0.0/8\"\n{line}\n");
            let error = parse(&text).unwrap_err();
            said.split('|').for_each(|said| assert!(error.contains(said), "{line}: {error}"));
        }
        for to in ["10.0.0.0/33", "10.0.0", "mesh", "10.0.0.0/-1"] {
            let error = parse(&format!("[[destination]]\nto = {to:?}\nrate = \"2Mbps\"\n")).unwrap_err();
            assert!(error.contains("allowed: a network such as \"10.0.0.0/8\""), "{error}");
        }
        assert!(parse("").unwrap_err().contains("destination: missing, allowed: at least one"));
        let error = Config::read(Path::new("/nonexistent.toml")).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent.toml: found a file that cannot be read: No such file"), "{error}");
    }

    #[test]
    fn the_file_in_the_documents_is_sound() {
        let text = include_str!("../../../docs/kernel.md");
        let (_, rest) = text.split_once("```toml\n").unwrap();
        let config = parse(rest.split_once("```").unwrap().0).unwrap();
        let (set, devices) = (System::default(), vec!["mesh0".to_owned()]);
        assert_eq!(config.systems, [System { namespace: Some("mesh".to_owned()), devices, ..set }], "as without them");
    }

    #[test]
    fn without_a_file_everything_is_paced_as_the_paper_says() {
        let mut config = Config::default();
        for (_, destination) in &mut config.destinations {
            // A file gives AP2 the rate too.
            assert_eq!(destination.link.take(), None);
            destination.link = destination.path.rate;
        }
        let parsed = ["0.0.0.0/0", "::/0"].map(|to| format!("[[destination]]\nto = {to:?}\nrate = \"2Mbps\"\n"));
        assert_eq!(config, parse(&parsed.concat()).unwrap());
    }

    #[test]
    fn links_faster_than_802_11b_are_noticed() {
        let of = |keys: &str| parse(&format!("[[destination]]\nto = \"::/0\"\n{keys}\n")).unwrap().too_fast();
        assert_eq!(of("rate = \"11Mbps\""), None);
        assert_eq!(of("rate = \"12Mbps\""), Some(Rate::kbps(12_000)));
        assert_eq!(of("links = [\"2Mbps\", \"65Mbps\", \"54Mbps\"]"), Some(Rate::kbps(65_000)));
    }

    #[test]
    fn the_document_has_every_key() {
        file::assert_documented("kernel.md", &reference());
    }
}
