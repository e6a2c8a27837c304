//! Paced connections in the kernel.

use crate::loaded::{CONNECTIONS, open};
use crate::{Error, Tried};
use fourhop_cc::tcp_ap::variation::ONE;
use fourhop_live::namespace::{self, on_a_thread};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{Iter, Link, MapHandle, Object};
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// One connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Connection {
    /// When this was read, in seconds since 1970.
    pub time_s: f64,
    /// Inode number of its network namespace.
    pub netns: u32,
    /// Name of that namespace, if it has one.
    pub namespace: Option<String>,
    /// Its congestion control.
    pub algorithm: &'static str,
    /// Its state, with the names of ss(8).
    pub state: &'static str,
    /// Local address and port.
    pub local: SocketAddr,
    /// Remote address and port.
    pub remote: SocketAddr,
    /// The newest round trip over the radio, in s; for RBP the smoothed one.
    pub rtt_s: Option<f64>,
    /// Wired part of round trips, as reported by a gateway.
    pub wired_rtt_s: f64,
    /// Wireless hops; `None` before the first packet.
    pub hops: Option<u32>,
    /// Variation of the recent round trips, as a share of their mean.
    pub variation: f64,
    /// Smoothed delay over n hops.
    pub delay_s: Option<f64>,
    /// Time between two segments, on average if they leave in bursts.
    pub interval_s: Option<f64>,
    /// Segments sent back to back.
    pub burst: u32,
    /// Payload that may be sent, in bit/s: the rate implied by the interval, or less if the application asks for less.
    pub rate_bps: Option<u64>,
    /// The application's rate limit.
    pub application_rate_bps: Option<u64>,
    /// Number of round trips counted.
    pub samples: u64,
    /// Payload of a full segment, in bytes.
    pub mss: u32,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// The kernel's smoothed round trip.
    pub srtt_s: f64,
    /// Number of retransmitted segments.
    pub retransmissions: u32,
    /// Bytes acknowledged.
    pub acked_bytes: u64,
}

/// TCP states (include/net/tcp_states.h), from 1 on.
const STATES: [&str; 12] = [
    "established",
    "syn-sent",
    "syn-recv",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listening",
    "closing",
    "new-syn-recv",
];
const FAILED: &str = "the connections cannot be read";
const ALGORITHMS: [&str; 4] = ["fh_tcp_ap", "fh_rbp", "fh_ap_cubic", "fh_ap2"];

/// Reads connections from the kernel, repeatedly.
#[derive(Debug, Default)]
pub struct Reader {
    /// The reader of each table of connections, by the table's id.
    readers: BTreeMap<u32, (Object, Link)>,
}

impl Reader {
    /// All paced connections of the host, including those whose programs have since been unloaded.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn read(&mut self) -> Result<Vec<Connection>, Error> {
        let ids: BTreeSet<u32> =
            MapInfoIter::default().filter(|map| map.name == CONNECTIONS).map(|map| map.id).collect();
        self.readers.retain(|id, _| ids.contains(id));
        let names = names();
        let mut found = Vec::new();
        for id in ids {
            let (_, link) = match self.readers.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    // It may have disappeared with its last connection.
                    let Ok(map) = MapHandle::from_map_id(id) else { continue };
                    new.insert(reader(&map)?)
                }
            };
            let text = on_a_thread(|| lines(link))?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
            found.extend(text.lines().filter_map(|line| parse(line, now, &names)));
        }
        found.sort_by_key(|found| (found.netns, found.local, found.remote));
        Ok(found)
    }
}

/// Output of the program in each network namespace; moves the current thread into them.
fn lines(link: &Link) -> Result<String, Error> {
    let mut text = String::new();
    for namespace in namespace::all() {
        namespace::enter_file(&namespace)?;
        let read = Iter::new(link).tried(FAILED)?.read_to_string(&mut text);
        read.map_err(|error| Error::Refused(format!("{FAILED}: {error}")))?;
    }
    Ok(text)
}

/// Creates the reader of a table.
fn reader(map: &MapHandle) -> Result<(Object, Link), Error> {
    let object = open(include_bytes!(concat!(env!("OUT_DIR"), "/status.bpf.o")), |open| {
        open.maps_mut().filter(|own| own.name() == CONNECTIONS).for_each(|mut own| {
            // If this failed, the table would be a different one, and attaching would be refused.
            let _ = own.reuse_fd(map.as_fd());
        });
    })?;
    // INVARIANT: c/status.bpf.c has exactly one program.
    let program = object.progs_mut().next().expect("the object has it");
    let link = program.attach().tried(FAILED)?;
    Ok((object, link))
}

/// Names of network namespaces by inode number.
fn names() -> HashMap<u32, String> {
    let entries = std::fs::read_dir(namespace::FOLDER).into_iter().flatten().flatten();
    let named = |entry: std::fs::DirEntry| {
        Some((u32::try_from(entry.metadata().ok()?.ino()).ok()?, entry.file_name().into_string().ok()?))
    };
    entries.filter_map(named).collect()
}

/// Parses a line of c/status.bpf.c.
fn parse(line: &str, time_s: f64, names: &HashMap<u32, String>) -> Option<Connection> {
    let mut words = line.split_ascii_whitespace();
    let mut number = || words.next()?.parse::<u64>().ok();
    let (netns, algorithm, state) = (number()? as u32, number()? as usize, number()? as usize);
    let (local_port, remote_port) = (number()? as u16, number()? as u16);
    let mut address = || words.next()?.parse::<IpAddr>().ok();
    let (local, remote) = (address()?, address()?);
    let rest: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (tcp, ours) = rest.split_at_checked(14)?;
    let [rtt, wired, hops, variation, delay, interval, rate, wanted, samples, mss, cwnd, srtt, again, acked] = *tcp
    else {
        return None;
    };
    let [burst, own_cwnd] = *ours else { return None };
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let known = |value: u64| (value > 0).then_some(value);
    // The kernel's "no limit" of either width.
    let limit = |bytes: u64| (bytes < u64::from(u32::MAX)).then(|| 8 * bytes);
    Some(Connection {
        time_s,
        netns,
        namespace: names.get(&netns).cloned(),
        algorithm: ALGORITHMS.get(algorithm.checked_sub(1)?)?,
        state: STATES.get(state.checked_sub(1)?)?,
        local: SocketAddr::new(local, local_port),
        remote: SocketAddr::new(remote, remote_port),
        rtt_s: known(rtt).map(seconds),
        wired_rtt_s: seconds(wired),
        hops: known(hops).map(|hops| hops as u32),
        variation: variation as f64 / f64::from(ONE),
        delay_s: known(delay).map(seconds),
        interval_s: known(interval).map(seconds),
        burst: burst as u32,
        rate_bps: known(interval).and(limit(rate)),
        application_rate_bps: limit(wanted),
        samples,
        mss: mss as u32,
        // The kernel's window may be waiting for room for AP2's burst.
        cwnd: if own_cwnd > 0 { own_cwnd } else { cwnd } as u32,
        // Eight times the round trip, in us.
        srtt_s: srtt as f64 / 8e6,
        retransmissions: again as u32,
        acked_bytes: acked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read() {
        let line = "4026531840 1 1 40000 5201 10.0.0.1 10.0.0.5 24500000 0 4 10486 20250000 20655000 70103 \
                    18446744073709551615 99 1448 4 196000 2 123456 1 0";
        let names = HashMap::from([(4_026_531_840, "n0".to_owned())]);
        let found = parse(line, 1.0, &names).unwrap();
        assert_eq!(
            (found.namespace.as_deref(), found.algorithm, found.state),
            (Some("n0"), "fh_tcp_ap", "established")
        );
        assert_eq!(
            (found.local.to_string(), found.remote.to_string()),
            ("10.0.0.1:40000".into(), "10.0.0.5:5201".into())
        );
        assert_eq!((found.hops, found.rate_bps, found.application_rate_bps), (Some(4), Some(560_824), None));
        assert_eq!((found.rtt_s, found.srtt_s, found.interval_s), (Some(0.0245), 0.0245, Some(0.020655)));
        assert!((found.variation - 0.01).abs() < 1e-4 && found.burst == 1);
        assert_eq!(
            parse(&line.replace("10.0.0.5", "fd00::5"), 1.0, &names).unwrap().remote.to_string(),
            "[fd00::5]:5201"
        );
        assert_eq!(parse("1 2 3", 1.0, &names), None);
        assert_eq!(parse(&format!("{line} 1"), 1.0, &names), None);
    }
}
