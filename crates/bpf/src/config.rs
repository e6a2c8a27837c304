//! Parameters by destination, and what of the system is set: a file in TOML.
//!
//! Keys of TCP-AP have the names and values that they have in `[tcp_ap]` of a scenario. docs/kernel.md has the reference.

use crate::Error;
use crate::layout::{Destination, MAX_HISTORY, Path as Way};
use fourhop_cc::tcp_ap::variation::Spread;
use fourhop_cc::tcp_ap::{self, ShortPath};
use fourhop_live::config::{self, Length, Network, Share, Speed, Whole, Wrong};
use fourhop_units::{Dur, Rate};
use serde::{Deserialize, Deserializer};
use std::path::{Path, PathBuf};

/// Everything that a file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Folder of the control group whose sockets are looked at; `None`: the root, and with it the whole host.
    pub cgroup: Option<PathBuf>,
    /// What is set, by namespace.
    pub systems: Vec<System>,
    /// Where paced connections lead to.
    pub destinations: Vec<(Network, Destination)>,
}

/// What is set in one namespace.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Its name; that of the caller if there is none.
    pub namespace: Option<String>,
    /// Devices that take one segment at a time.
    #[serde(default)]
    pub devices: Vec<String>,
    /// `net.ipv4.tcp_tso_rtt_log`.
    #[serde(default = "zero")]
    pub tso_rtt_log: Setting,
    /// `net.ipv4.tcp_pacing_ca_ratio`.
    #[serde(default = "two_hundred")]
    pub pacing_ca_ratio: Setting,
}

impl Default for System {
    fn default() -> System {
        System { namespace: None, devices: vec![], tso_rtt_log: zero(), pacing_ca_ratio: two_hundred() }
    }
}

fn zero() -> Setting {
    Setting(Some(0))
}

fn two_hundred() -> Setting {
    Setting(Some(200))
}

/// A variable of the kernel: what it is set to, or "leave".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting(pub Option<u32>);

impl Default for Config {
    /// Without a file: whatever congestion controls of ours are used for is paced as the paper says, over links of 2 Mbit/s.
    fn default() -> Config {
        let everywhere = |zero: [u8; 16], v4| Network(if v4 { [0; 4].into() } else { zero.into() }, 0);
        let paced = Destination {
            params: tcp_ap::Params::paper(),
            pacing_v: 1,
            path: Way { rate: Some(Rate::kbps(2_000)), ..Way::default() },
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
    /// If it cannot be read, or says what is not allowed: the error names file, line, key, what was found and what is allowed.
    pub fn read(file: &Path) -> Result<Config, Error> {
        let said = config::read(file)?;
        Ok(Config::new(said).map_err(|what| Wrong { file: file.to_owned(), what })?)
    }

    fn new(file: File) -> Result<Config, String> {
        if file.destination.is_empty() {
            return Err("[[destination]]: found none, allowed: at least one, as to = \"0.0.0.0/0\"".to_owned());
        }
        let systems = if file.system.is_empty() { vec![System::default()] } else { file.system };
        let destinations = file.destination.into_iter().map(Table::destination).collect::<Result<_, _>>()?;
        Ok(Config { cgroup: file.cgroup, systems, destinations })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cgroup: Option<PathBuf>,
    #[serde(default)]
    system: Vec<System>,
    #[serde(default)]
    destination: Vec<Table>,
}

/// A `[[destination]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    to: Network,
    hops: Option<Hops>,
    rate: Option<Speed>,
    #[serde(default)]
    links: Vec<Speed>,
    gateway: Option<bool>,
    wired_hops: Option<Whole<0, 255>>,
    initial_window: Option<Whole<0, 1000>>,
    profile: Option<Profile>,
    alpha: Option<Share>,
    history: Option<Whole<1, MAX_HISTORY>>,
    factor: Option<Whole<1, 32>>,
    spread: Option<SpreadName>,
    short_path: Option<ShortPathName>,
    data_overhead: Option<Whole<0, 1000>>,
    ack_size: Option<Whole<0, 1000>>,
    queue_limit: Option<Length>,
    queue_alpha: Option<Share>,
    delay_limit: Option<Length>,
    first_interval: Option<Length>,
    pacing_v: Option<Whole<0, 1000>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    Paper,
    AuthorsCode,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SpreadName {
    DeviationOfRoundTrips,
    AbsoluteDeviationOfDelays,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ShortPathName {
    AllHops,
    OneHop,
}

impl Table {
    fn destination(self) -> Result<(Network, Destination), String> {
        let authors = matches!(self.profile, Some(Profile::AuthorsCode));
        let base = if authors { tcp_ap::Params::authors_code() } else { tcp_ap::Params::paper() };
        let whole = |value: Option<u32>, default| value.unwrap_or(default);
        let time = |value: Option<Length>, default| value.map_or(default, |Length(time)| Some(time));
        // As in a scenario, zero seconds are no limit, and the rate that the user gives takes the place of the authors'.
        let limit = |value, default| time(value, default).filter(|time| !time.is_zero());
        let rated = self.rate.is_some() || !self.links.is_empty();
        let params = tcp_ap::Params {
            alpha: whole(self.alpha.map(|Share(alpha)| alpha), base.alpha),
            history: whole(self.history.map(|Whole(n)| n), base.history),
            factor: whole(self.factor.map(|Whole(n)| n), base.factor),
            spread: match self.spread {
                Some(SpreadName::DeviationOfRoundTrips) => Spread::DeviationOfRoundTrips,
                Some(SpreadName::AbsoluteDeviationOfDelays) => Spread::AbsoluteDeviationOfDelays,
                None => base.spread,
            },
            short_path: match self.short_path {
                Some(ShortPathName::AllHops) => ShortPath::AllHops,
                Some(ShortPathName::OneHop) => ShortPath::OneHop,
                None => base.short_path,
            },
            data_overhead: whole(self.data_overhead.map(|Whole(n)| n), base.data_overhead),
            ack_bytes: whole(self.ack_size.map(|Whole(n)| n), base.ack_bytes),
            link_rate: base.link_rate.filter(|_| !rated),
            queue_limit: limit(self.queue_limit, base.queue_limit),
            queue_alpha: whole(self.queue_alpha.map(|Share(alpha)| alpha), base.queue_alpha),
            delay_limit: limit(self.delay_limit, base.delay_limit),
            first_interval: limit(self.first_interval, base.first_interval),
            ..base
        };
        let hops = self.hops.map_or(Hops(None), |hops| hops).0;
        if !self.links.is_empty() && (hops.is_some() || self.rate.is_some()) {
            return Err(
                "[[destination]]: found links beside hops or rate, allowed: links alone, which say both".to_owned()
            );
        }
        if !rated && params.link_rate.is_none() {
            let Network(address, bits) = self.to;
            return Err(format!(
                "[[destination]] {address}/{bits}: rate: found nothing, allowed: the rate of the links as \"2Mbps\", or links, \
                 a list of rates"
            ));
        }
        let path = Way {
            hops,
            rate: self.rate.map(|Speed(rate)| rate),
            links: self.links.into_iter().map(|Speed(rate)| rate).collect(),
            wired: Dur::ZERO,
        };
        let destination = Destination {
            params,
            pacing_v: whole(self.pacing_v.map(|Whole(n)| n), 1),
            path,
            gateway: self.gateway.unwrap_or(true),
            initial_window: whole(self.initial_window.map(|Whole(n)| n), 2),
            wired_hops: whole(self.wired_hops.map(|Whole(n)| n), 0),
        };
        Ok((self.to, destination))
    }
}

/// A number of hops, or "ttl".
struct Hops(Option<u32>);

impl<'de> Deserialize<'de> for Hops {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "allowed: a whole number from 1 to 255, or \"ttl\"")]
        enum Either {
            Number(Whole<1, 255>),
            Name(Ttl),
        }
        #[derive(Deserialize)]
        enum Ttl {
            #[serde(rename = "ttl")]
            Ttl,
        }
        Ok(match Either::deserialize(from)? {
            Either::Number(Whole(hops)) => Hops(Some(hops)),
            Either::Name(Ttl::Ttl) => Hops(None),
        })
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "allowed: a whole number from 0 to 1000, or \"leave\"")]
        enum Either {
            Number(Whole<0, 1000>),
            Name(Leave),
        }
        #[derive(Deserialize)]
        enum Leave {
            #[serde(rename = "leave")]
            Leave,
        }
        Ok(match Either::deserialize(from)? {
            Either::Number(Whole(value)) => Setting(Some(value)),
            Either::Name(Leave::Leave) => Setting(None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        config::parse(text).and_then(Config::new)
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
        let expected = Destination { params, pacing_v: 2, path, gateway: false, initial_window: 0, wired_hops: 3 };
        assert_eq!(first, &(Network([10, 0, 0, 0].into(), 8), expected));
        let params = tcp_ap::Params { link_rate: None, queue_limit: None, ..tcp_ap::Params::authors_code() };
        let path = Way { links: [2_000, 11_000].map(Rate::kbps).into(), ..Way::default() };
        let expected = Destination { params, pacing_v: 1, path, gateway: true, initial_window: 2, wired_hops: 0 };
        assert_eq!(second, &(Network("fd00::1".parse().unwrap(), 128), expected));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_allowed() {
        for (line, said) in [
            ("rate = \"2\"", "line 3, column 8|found \"2\", allowed: a rate from \"1bps\" to \"10Gbps\""),
            ("rate = \"0bps\"", "allowed: a rate"),
            ("rate = \"2Mbps\"\nhops = 0", "allowed: a whole number from 1 to 255, or \"ttl\""),
            ("rate = \"2Mbps\"\nhops = \"tll\"", "allowed: a whole number from 1 to 255, or \"ttl\""),
            ("rate = \"2Mbps\"\nhistory = 201", "integer `201`, expected a whole number from 1 to 200"),
            ("rate = \"2Mbps\"\nalpha = \"100%\"", "found \"100%\", allowed: a share from \"0%\" to \"99.9%\""),
            ("rate = \"2Mbps\"\nfirst_interval = \"1h\"", "allowed: a time"),
            ("rate = \"2Mbps\"\nspread = \"x\"", "deviation-of-round-trips"),
            ("rate = \"2Mbps\"\nhop = 4", "unknown field `hop`"),
            ("rate = \"2Mbps\"\nlinks = [\"2Mbps\"]", "allowed: links alone"),
            ("hops = 3", "10.0.0.0/8: rate: found nothing, allowed: the rate of the links"),
        ] {
            let text = format!("[[destination]]\nto = \"10.0.0.0/8\"\n{line}\n");
            let error = parse(&text).unwrap_err();
            said.split('|').for_each(|said| assert!(error.contains(said), "{line}: {error}"));
        }
        for to in ["10.0.0.0/33", "10.0.0", "mesh", "10.0.0.0/-1"] {
            let error = parse(&format!("[[destination]]\nto = {to:?}\nrate = \"2Mbps\"\n")).unwrap_err();
            assert!(error.contains("allowed: a network as \"10.0.0.0/8\""), "{error}");
        }
        assert!(parse("").unwrap_err().contains("[[destination]]: found none"));
        let error = Config::read(Path::new("/nonexistent.toml")).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent.toml: No such file"), "{error}");
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
        let config = Config::default();
        let parsed = ["0.0.0.0/0", "::/0"].map(|to| format!("[[destination]]\nto = {to:?}\nrate = \"2Mbps\"\n"));
        assert_eq!(config, parse(&parsed.concat()).unwrap());
    }
}
