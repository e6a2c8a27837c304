//! Nodes of the mesh that one worker has seen, and their counters.

use crate::hops::{ByTtl, Routes};
use crate::status::{Class, Node, Waits};
use fourhop_live::lateness::Lateness;
use fourhop_units::{Dur, Rate, Time};
use std::collections::HashMap;
use std::net::IpAddr;

/// A node that is silent for this long is forgotten.
const SILENT: Dur = Dur::from_secs(600);

/// Facts and counters of a node.
#[derive(Debug)]
pub struct Known {
    address: IpAddr,
    /// Hop count derived from the time to live.
    pub by_ttl: ByTtl,
    /// Whether its path was resolved since the routes changed.
    pub resolved: bool,
    /// Its path in the state machine.
    pub path: Option<(u8, Rate)>,
    seen: Time,
    /// Payload bytes and packets into the mesh.
    pub into: (u64, u64),
    /// The same out of it.
    pub out: (u64, u64),
    /// Data packets that passed because the hop count is unknown.
    pub unknown: u64,
    /// Waiting times of its packets in the current ten seconds, and in the previous ones; allocated once a packet has
    /// waited.
    waits: Option<Box<Lateness>>,
    last: Waits,
}

/// All nodes, by address and by an index that packets carry.
#[derive(Debug)]
pub struct Nodes {
    places: HashMap<IpAddr, u32>,
    known: Vec<Option<Known>>,
    free: Vec<u32>,
    most: usize,
}

impl Nodes {
    /// Without nodes; the maximum is `most`.
    pub fn new(most: u32) -> Nodes {
        Nodes { places: HashMap::new(), known: Vec::new(), free: Vec::new(), most: most as usize }
    }

    /// The index of a node just seen, which may be new; `None` if there is no room for it.
    pub fn see(&mut self, now: Time, address: IpAddr) -> Option<u32> {
        if let Some(&place) = self.places.get(&address) {
            self.known[place as usize].as_mut()?.seen = now;
            return Some(place);
        }
        if self.places.len() >= self.most {
            return None;
        }
        let (by_ttl, last) = (ByTtl::default(), Waits::default());
        let new = Known {
            address,
            by_ttl,
            resolved: false,
            path: None,
            seen: now,
            into: (0, 0),
            out: (0, 0),
            unknown: 0,
            waits: None,
            last,
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.known.push(None);
            (self.known.len() - 1) as u32
        });
        self.known[place as usize] = Some(new);
        self.places.insert(address, place);
        Some(place)
    }

    /// A node by its index.
    pub fn get(&mut self, place: u32) -> Option<&mut Known> {
        self.known.get_mut(place as usize)?.as_mut()
    }

    /// Nodes whose path changes with these routes, and the new path; `None` if there no longer is one.
    pub fn resolve(&mut self, routes: &Routes) -> Vec<(IpAddr, Option<(u8, Rate)>)> {
        let all = self.known.iter_mut().flatten();
        all.filter_map(|known| known.resolve(routes).map(|path| (known.address, path))).collect()
    }

    /// Forgets nodes that were silent for long; returns them.
    pub fn forget(&mut self, now: Time) -> Vec<IpAddr> {
        let silent = |known: &Known| now.saturating_since(known.seen) > SILENT;
        let gone: Vec<(IpAddr, u32)> = self
            .places
            .iter()
            .filter(|&(_, &place)| self.known[place as usize].as_ref().is_some_and(silent))
            .map(|(&address, &place)| (address, place))
            .collect();
        for &(address, place) in &gone {
            self.places.remove(&address);
            self.known[place as usize] = None;
            self.free.push(place);
        }
        gone.into_iter().map(|(address, _)| address).collect()
    }

    /// Begins another ten seconds.
    pub fn turn(&mut self) {
        for known in self.known.iter_mut().flatten() {
            known.last = known.waits.take().map_or(Waits::default(), |waits| Waits::from(&*waits));
        }
    }

    /// The report of each node.
    pub fn report(&self) -> Vec<Node> {
        let report = |known: &Known| Node {
            address: known.address,
            hops: known.path.map(|(hops, _)| hops),
            rate_bps: known.path.map(|(_, rate)| rate.bps()),
            into_bytes: known.into.0,
            into_packets: known.into.1,
            out_bytes: known.out.0,
            out_packets: known.out.1,
            unknown: known.unknown,
            sojourn: known.last,
            into: Class::default(),
            out: Class::default(),
        };
        self.known.iter().flatten().map(report).collect()
    }

    /// Memory in bytes.
    pub fn memory(&self) -> usize {
        let waits = self.known.iter().flatten().filter(|known| known.waits.is_some()).count();
        self.known.capacity() * size_of::<Option<Known>>()
            + self.places.capacity() * size_of::<(IpAddr, u32)>()
            + waits * Lateness::BYTES
    }
}

impl Known {
    /// Its path by these routes, if it has changed.
    pub fn resolve(&mut self, routes: &Routes) -> Option<Option<(u8, Rate)>> {
        let path = routes.path(self.address, self.by_ttl.hops());
        self.resolved = true;
        (path != self.path).then(|| {
            self.path = path;
            path
        })
    }

    /// A packet has waited this long.
    pub fn waited(&mut self, wait: Dur) {
        self.waits.get_or_insert_default().record(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_bounded_and_forgotten_when_they_are_silent() {
        let mut nodes = Nodes::new(2);
        let address = |n: u8| IpAddr::from([10, 0, 0, n]);
        assert_eq!([1, 2, 3, 1].map(|n| nodes.see(Time::ZERO, address(n))), [Some(0), Some(1), None, Some(0)]);
        nodes.see(Time::from_secs(400), address(2));
        assert_eq!(nodes.forget(Time::from_secs(700)), [address(1)]);
        assert!(nodes.get(0).is_none());
        assert_eq!(nodes.see(Time::from_secs(700), address(3)), Some(0), "its place is taken again");
    }

    #[test]
    fn waiting_is_that_of_the_seconds_before() {
        let mut nodes = Nodes::new(2);
        nodes.see(Time::ZERO, [10, 0, 0, 1].into());
        (1..=100).for_each(|ms| nodes.get(0).unwrap().waited(Dur::from_millis(ms)));
        assert_eq!(nodes.report()[0].sojourn, Waits::default(), "not over yet");
        nodes.turn();
        let waits = nodes.report()[0].sojourn;
        assert!((waits.p50 - 50.0).abs() < 2.0 && waits.count == 100 && waits.max == 100.0, "{waits:?}");
        nodes.turn();
        assert_eq!(nodes.report()[0].sojourn, Waits::default());
    }

    #[test]
    fn a_path_that_is_another_is_said_once() {
        let mut nodes = Nodes::new(2);
        let address = IpAddr::from([10, 0, 0, 1]);
        nodes.see(Time::ZERO, address);
        let entry = |hops| crate::config::Entry { to: fourhop_settings::Network(address, 32), hops, rate: None };
        let routes = |hops| Routes::new(&[entry(hops)], &[], Rate::kbps(2_000), true);
        assert_eq!(nodes.resolve(&routes(3)), [(address, Some((3, Rate::kbps(2_000))))]);
        assert_eq!(nodes.resolve(&routes(3)), []);
        assert_eq!(nodes.resolve(&Routes::default()), [(address, None)]);
    }

    #[test]
    fn a_node_is_kept_for_ten_minutes_of_silence() {
        let mut nodes = Nodes::new(2);
        let address = IpAddr::from([10, 0, 0, 1]);
        nodes.see(Time::ZERO, address);
        assert!(nodes.forget(Time::ZERO + SILENT).is_empty());
        assert_eq!(nodes.forget(Time::ZERO + SILENT + Dur::from_nanos(1)), [address]);
        assert!(nodes.forget(Time::from_secs(9_000)).is_empty(), "it is gone");
        assert!(nodes.report().is_empty() && nodes.get(0).is_none() && nodes.get(7).is_none());
    }

    #[test]
    fn a_report_has_what_was_counted_of_each_node() {
        let mut nodes = Nodes::new(2);
        let place = nodes.see(Time::ZERO, [10, 0, 0, 1].into()).unwrap();
        let known = nodes.get(place).unwrap();
        (known.into, known.out, known.unknown) = ((1, 2), (3, 4), 5);
        let expected = Node {
            address: [10, 0, 0, 1].into(),
            hops: None,
            rate_bps: None,
            into_bytes: 1,
            into_packets: 2,
            out_bytes: 3,
            out_packets: 4,
            unknown: 5,
            sojourn: Waits::default(),
            into: Class::default(),
            out: Class::default(),
        };
        assert_eq!(nodes.report(), std::slice::from_ref(&expected));
        nodes.get(place).unwrap().path = Some((3, Rate::kbps(2_000)));
        assert_eq!(nodes.report(), [Node { hops: Some(3), rate_bps: Some(2_000_000), ..expected }]);
    }

    #[test]
    fn a_node_whose_packets_have_waited_takes_the_memory_of_a_histogram_more() {
        let mut nodes = Nodes::new(8);
        assert_eq!(nodes.memory(), 0);
        for last in 1..=2 {
            nodes.see(Time::ZERO, [10, 0, 0, last].into());
        }
        let before = nodes.memory();
        assert!(before >= 2 * (size_of::<Option<Known>>() + size_of::<(IpAddr, u32)>()), "{before}");
        // Memory for nodes is allocated in large steps, but not that large.
        assert!(before < 64 * (size_of::<Option<Known>>() + size_of::<(IpAddr, u32)>()), "{before}");
        nodes.get(1).unwrap().waited(Dur::from_millis(1));
        assert_eq!(nodes.memory(), before + Lateness::BYTES);
        nodes.turn();
        assert_eq!(nodes.memory(), before);
    }

    #[test]
    fn routes_are_asked_once_until_they_are_others() {
        let mut nodes = Nodes::new(1);
        let place = nodes.see(Time::ZERO, [10, 0, 0, 1].into()).unwrap();
        let known = nodes.get(place).unwrap();
        assert!(!known.resolved);
        assert_eq!(known.resolve(&Routes::default()), None, "there was no path before");
        assert!(known.resolved);
    }
}
