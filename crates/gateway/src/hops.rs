//! Hop counts of mesh nodes: from the file's table, a program or the AODV daemon, and the time to live.

use crate::config::{Entry, Source};
use fourhop_live::{Tried, control, priority};
use fourhop_proto::wire::bytes::{IpHead, hops_by_ttl};
use fourhop_settings::Network;
use fourhop_settings::quantity::Unit;
use fourhop_units::Rate;
use std::io::{self, Read};
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Hop counts from other sources than the time to live.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Routes {
    /// The longest prefix first; among equal ones the table's.
    entries: Vec<Entry>,
    rate: Option<Rate>,
    /// Whether the time to live counts for nodes without an entry.
    ttl: bool,
}

impl Routes {
    /// Combines the entries of the file's table with those in `found`.
    pub fn new(table: &[Entry], found: &[Entry], rate: Rate, ttl: bool) -> Routes {
        let mut entries = [table, found].concat();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.to.1));
        Routes { entries, rate: Some(rate), ttl }
    }

    /// Hops to a node and the rate of its links; without an entry, the hops are `seen` from the time to live.
    pub fn path(&self, node: IpAddr, seen: Option<u8>) -> Option<(u8, Rate)> {
        let entry = self.entries.iter().find(|entry| entry.to.contains(node));
        let hops = entry.map(|entry| entry.hops).or(seen.filter(|_| self.ttl))?;
        Some((hops, entry.and_then(|entry| entry.rate).or(self.rate)?))
    }
}

/// Consecutive packets with another hop count before it counts: single ones take other paths, or start with another
/// time to live.
const IN_A_ROW: u8 = 4;

/// Hops of one node by the time to live of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ByTtl {
    hops: Option<u8>,
    other: (u8, u8),
}

impl ByTtl {
    /// Evaluates a packet. The kernel has decremented its time to live before the filter sees it. Returns whether the
    /// hop count has changed.
    pub fn note(&mut self, head: &IpHead) -> bool {
        let hops = hops_by_ttl(head.ttl.saturating_add(1));
        if self.hops == Some(hops) {
            self.other.1 = 0;
            return false;
        }
        self.other = (hops, if self.other.0 == hops { self.other.1 + 1 } else { 1 });
        let changes = self.hops.is_none() || self.other.1 >= IN_A_ROW;
        if changes {
            (self.hops, self.other.1) = (Some(hops), 0);
        }
        changes
    }

    /// The hop count, once known.
    pub fn hops(&self) -> Option<u8> {
        self.hops
    }
}

/// Queries a source; `None` if it has nothing beyond the table.
///
/// # Errors
/// If the program fails, takes too long or prints something unexpected, or nobody listens at the socket.
pub fn ask(source: &Source) -> Option<Result<Vec<Entry>, String>> {
    match source {
        Source::Table | Source::Ttl => None,
        Source::Command(words, _) => Some(run(words).and_then(|text| lines(&text))),
        Source::Aodv(socket, _) => {
            Some(control::ask(socket).map_err(|error| error.to_string()).and_then(|text| routes(&text)))
        }
    }
}

/// Time limit of a program, and maximum output in bytes.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST: u64 = 1 << 20;

fn run(words: &[String]) -> Result<String, String> {
    let failed = || format!("mesh.command {:?}", words.join(" "));
    let Some((program, arguments)) = words.split_first() else { return Ok(String::new()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let done = (|| {
        let mut child = priority::with_signals(&mut command).spawn()?;
        let out = child.stdout.take();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            out.map_or(Ok(0), |out| out.take(MOST).read_to_string(&mut text)).map(|_| text)
        });
        let end = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() > end => {
                    child.kill()?;
                    child.wait()?;
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "it takes longer than 10 s"));
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        if !status.success() {
            return Err(io::Error::other(format!("it ended with {status}")));
        }
        reader.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })();
    done.tried(failed).map_err(|error| error.to_string())
}

/// Parses a rate, as in the file.
fn rate(word: &str) -> Option<Rate> {
    let bps = Unit::Rate.parse(word).ok().filter(|bps| (1.0..=1e10).contains(bps))?;
    Rate::from_bps(bps as u64)
}

/// Parses lines of an address or network, a number of hops and optionally a rate: `10.0.0.4 3` or `10.0.0.0/24 2
/// 6Mbps`.
fn lines(text: &str) -> Result<Vec<Entry>, String> {
    let read = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (to, hops) = (Network::parse(words.next()?)?, words.next()?.parse().ok().filter(|&hops: &u8| hops > 0)?);
        let rate = words.next().map(rate);
        let known = rate.is_none_or(|rate| rate.is_some()) && words.next().is_none();
        known.then_some(Entry { to, hops, rate: rate.flatten() })
    };
    let content = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    content
        .map(|line| {
            read(line).ok_or_else(|| {
                format!(
                    "mesh.command: found {line:?}, allowed: lines such as \"10.0.0.4 3\" or \"10.0.0.0/24 2 6Mbps\""
                )
            })
        })
        .collect()
}

/// Parses the routes of fourhop-aodvd: a list `routes` of objects with `destination`, `state` and, if that is "valid",
/// `hops`.
fn routes(text: &str) -> Result<Vec<Entry>, String> {
    let failed = || "mesh.socket: the answer is not a list of routes: set it to fourhop-aodvd's socket".to_owned();
    let state: serde_json::Value = serde_json::from_str(text).map_err(|_| failed())?;
    let listed = state.get("routes").and_then(|routes| routes.as_array()).ok_or_else(failed)?;
    let read = |route: &serde_json::Value| {
        let to = Network::parse(route.get("destination")?.as_str()?)?;
        let hops = u8::try_from(route.get("hops")?.as_u64()?).ok().filter(|&hops| hops > 0)?;
        let valid = route.get("state").and_then(serde_json::Value::as_str) == Some("valid");
        valid.then_some(Entry { to, hops, rate: None })
    };
    Ok(listed.iter().filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(to: &str, hops: u8, kbps: Option<u64>) -> Entry {
        Entry { to: Network::parse(to).unwrap(), hops, rate: kbps.map(Rate::kbps) }
    }

    #[test]
    fn the_longest_prefix_counts_then_the_table_then_the_time_to_live() {
        let table = [entry("10.0.0.0/24", 3, None), entry("10.0.0.7", 1, Some(6_000))];
        let found = [entry("10.0.0.7", 9, None), entry("10.0.0.8", 2, None)];
        let routes = Routes::new(&table, &found, Rate::kbps(2_000), true);
        let path = |last| routes.path([10, 0, 0, last].into(), Some(5));
        assert_eq!(path(7), Some((1, Rate::kbps(6_000))));
        assert_eq!((path(8), path(9)), (Some((2, Rate::kbps(2_000))), Some((3, Rate::kbps(2_000)))));
        let other: IpAddr = [10, 0, 1, 1].into();
        assert_eq!(routes.path(other, Some(5)), Some((5, Rate::kbps(2_000))));
        assert_eq!(routes.path(other, None), None);
        assert_eq!(Routes::new(&table, &[], Rate::kbps(2_000), false).path(other, Some(5)), None);
    }

    #[test]
    fn hops_change_after_four_packets_in_a_row() {
        let head = |ttl| {
            let mut bytes = vec![0x45, 0, 0, 20, 0, 0, 0, 0, ttl, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            bytes[8] = ttl;
            IpHead::read(&bytes).unwrap()
        };
        let mut by_ttl = ByTtl::default();
        assert!(by_ttl.note(&head(61)) && by_ttl.hops() == Some(3), "64 at the node, 62 here, 61 at the filter");
        assert!(!by_ttl.note(&head(60)) && !by_ttl.note(&head(61)));
        assert!((0..3).all(|_| !by_ttl.note(&head(60))) && by_ttl.hops() == Some(3));
        assert!(by_ttl.note(&head(60)) && by_ttl.hops() == Some(4));
        assert!(!by_ttl.note(&head(124)), "the same from 128 on");
    }

    #[test]
    fn a_program_says_hops_or_why_not() {
        let sh = |script: &str| {
            let words = ["sh", "-c", script].map(str::to_owned).to_vec();
            ask(&Source::Command(words, fourhop_units::Dur::from_secs(1))).unwrap()
        };
        let said = sh("echo '# a remark'; echo; echo 10.0.0.4 3; echo fd00::/64 2 6Mbps");
        assert_eq!(said, Ok(vec![entry("10.0.0.4", 3, None), entry("fd00::/64", 2, Some(6_000))]));
        assert!(sh("echo 10.0.0.4 0").unwrap_err().contains("found \"10.0.0.4 0\", allowed: lines such as"));
        assert!(sh("echo 10.0.0.4 1 2Mbit").is_err() && sh("echo 10.0.0.4 1 2Mbps 7").is_err());
        assert!(sh("exit 3").unwrap_err().contains("it ended with exit status: 3"));
        assert!(ask(&Source::Ttl).is_none());
    }

    #[test]
    fn the_daemons_routes_are_read() {
        let text = r#"{"routes":[{"destination":"10.0.0.4","state":"valid","hops":3},
            {"destination":"10.0.0.5","state":"invalid","hops":2},{"destination":1}]}"#;
        assert_eq!(routes(text), Ok(vec![entry("10.0.0.4", 3, None)]));
        assert!(routes("{}").unwrap_err().contains("set it to fourhop-aodvd's socket"));
    }

    #[test]
    fn rates_are_those_that_the_file_may_have() {
        assert_eq!([rate("1bps"), rate("10Gbps")], [Rate::from_bps(1), Rate::from_bps(10_000_000_000)]);
        assert_eq!([rate("0bps"), rate("11Gbps"), rate("6"), rate("fast")], [None; 4]);
    }

    #[test]
    fn a_line_has_an_address_hops_and_perhaps_a_rate() {
        let expected = vec![entry("10.0.0.4", 255, None), entry("10.0.0.0/24", 2, Some(6_000))];
        assert_eq!(lines("  10.0.0.4\t255 \n\n# all others\n10.0.0.0/24 2 6Mbps\n"), Ok(expected));
        assert_eq!(lines(""), Ok(vec![]));
        for line in ["10.0.0.4", "10.0.0.4 256", "10.0.0.4 0", "n4 3", "10.0.0.4 3 0bps", "10.0.0.4 3 6Mbps x"] {
            let said = lines(&format!("10.0.0.5 3\n{line}\n")).unwrap_err();
            assert!(said.starts_with(&format!("mesh.command: found {line:?}, allowed: lines such as")), "{said}");
        }
    }

    #[test]
    fn a_packet_of_the_known_way_begins_the_row_anew() {
        let head = |ttl| IpHead::read(&[0x45, 0, 0, 20, 0, 0, 0, 0, ttl, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]).unwrap();
        let mut by_ttl = ByTtl::default();
        assert_eq!(by_ttl.hops(), None);
        by_ttl.note(&head(61));
        for row in [[60, 60, 60, 61], [60, 60, 60, 59], [60, 59, 60, 59]] {
            assert!(row.into_iter().all(|ttl| !by_ttl.note(&head(ttl))), "{row:?}");
            by_ttl.note(&head(61));
        }
        assert_eq!(by_ttl.hops(), Some(3));
        assert!((0..3).all(|_| !by_ttl.note(&head(59))) && by_ttl.note(&head(59)));
        assert!((0..3).all(|_| !by_ttl.note(&head(61))) && by_ttl.note(&head(61)), "the same again");
        let mut near = ByTtl::default();
        assert!(near.note(&head(255)) && near.hops() == Some(1), "255 is the most that there is");
    }

    #[test]
    fn only_valid_routes_to_an_address_count() {
        let of = |route: &str| routes(&format!("{{\"routes\":[{route}]}}"));
        let route =
            |state: &str, hops: &str| format!("{{\"destination\":\"10.0.0.4\",\"state\":\"{state}\",\"hops\":{hops}}}");
        assert_eq!(of(&route("valid", "255")), Ok(vec![entry("10.0.0.4", 255, None)]));
        for (state, hops) in [("valid", "0"), ("valid", "256"), ("valid", "null"), ("invalid", "3")] {
            assert_eq!(of(&route(state, hops)), Ok(vec![]), "{state} {hops}");
        }
        assert_eq!(of("{\"destination\":\"10.0.0.4\",\"hops\":3}"), Ok(vec![]), "without a state");
        assert!(routes("nonsense").is_err() && routes("{\"routes\":3}").is_err());
    }

    #[test]
    fn the_daemon_is_asked_at_its_socket() {
        let socket = std::env::temp_dir().join(format!("fourhop-gateway-aodv-{}", std::process::id()));
        let asked = || ask(&Source::Aodv(socket.clone(), fourhop_units::Dur::from_secs(1))).unwrap();
        let said = asked().unwrap_err();
        assert!(said.contains("no service listens there, start it"), "{said}");
        let server = control::Server::start(&socket).unwrap();
        server.publish(r#"{"routes":[{"destination":"10.0.0.4","state":"valid","hops":3}]}"#.to_owned());
        assert_eq!(asked(), Ok(vec![entry("10.0.0.4", 3, None)]));
        assert!(ask(&Source::Table).is_none());
    }

    #[test]
    fn a_program_that_cannot_be_started_is_named() {
        let said = run(&["/no/such/program".to_owned(), "all".to_owned()]).unwrap_err();
        assert!(said.starts_with("mesh.command \"/no/such/program all\": "), "{said}");
        assert_eq!(run(&[]), Ok(String::new()));
    }
}
