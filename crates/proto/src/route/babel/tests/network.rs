//! Nodes that hear each other over links that a test connects and cuts.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// Delay of a link.
const FLIGHT: Dur = Dur::from_millis(2);

/// A network; time passes by `pass`.
pub(super) struct Network {
    pub nodes: Vec<Babel>,
    pub now: Time,
    links: BTreeSet<(u32, u32)>,
    /// Packets in flight, by arrival and in the order of sending: from, to.
    flying: BTreeMap<(Time, u64), (u32, u32, Ipv4Packet)>,
    sent: u64,
    /// Loss rates of links in per cent: of broadcasts, and of unicasts after all attempts.
    pub loss: (u32, u32),
    draw: Stream,
}

impl Network {
    pub fn new(nodes: u32, config: Config) -> Network {
        Network {
            nodes: (0..nodes).map(|n| babel(n, config)).collect(),
            now: Time::ZERO,
            links: BTreeSet::new(),
            flying: BTreeMap::new(),
            sent: 0,
            loss: (0, 0),
            draw: Stream::new(3, NodeId(0), Purpose::Impairment),
        }
    }

    pub fn connect(&mut self, a: u32, b: u32) {
        self.links.insert((a.min(b), a.max(b)));
    }

    pub fn cut(&mut self, a: u32, b: u32) {
        self.links.remove(&(a.min(b), a.max(b)));
    }

    /// Returns the hops to each node over the current links.
    pub fn hops(&self, from: u32) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.nodes.len()];
        let mut next = std::collections::VecDeque::from([(from, 0)]);
        while let Some((at, distance)) = next.pop_front() {
            if hops[at as usize].is_none() {
                hops[at as usize] = Some(distance);
                let beside = self.links.iter().filter(|(a, b)| *a == at || *b == at);
                next.extend(beside.map(|&(a, b)| (a + b - at, distance + 1)));
            }
        }
        hops
    }

    /// Lets time pass; `look` is called after every event.
    pub fn pass(&mut self, dur: Dur, mut look: impl FnMut(&Network)) {
        let until = self.now + dur;
        loop {
            let timer = (0..self.nodes.len()).map(|n| (self.nodes[n].wake, n)).min().expect("a node");
            let arrival = self.flying.keys().next().map_or(Time::NEVER, |&(at, _)| at);
            if timer.0.min(arrival) > until {
                self.now = until;
                return;
            }
            let mut out = Vec::new();
            let at = if arrival <= timer.0 {
                let ((now, _), (from, to, packet)) = self.flying.pop_first().expect("one flies");
                self.now = now;
                self.nodes[to as usize].handle_message(now, packet, ip(from), &mut out);
                to
            } else {
                self.now = self.now.max(timer.0);
                self.nodes[timer.1].handle_timeout(self.now, &mut out);
                timer.1 as u32
            };
            self.send(at, out);
            look(self);
        }
    }

    fn send(&mut self, from: u32, out: Vec<Action>) {
        for action in out {
            let Action::Send { packet, next_hop } = action else { panic!("{action:?}") };
            for to in 0..self.nodes.len() as u32 {
                let loss = match next_hop {
                    NextHop::Broadcast => self.loss.0,
                    NextHop::Unicast(neighbour) if neighbour == ip(to) => self.loss.1,
                    NextHop::Unicast(_) => continue,
                };
                let linked = from != to && self.links.contains(&(from.min(to), from.max(to)));
                if linked && self.draw.below(100) >= loss {
                    self.sent += 1;
                    self.flying.insert((self.now + FLIGHT, self.sent), (from, to, packet.clone()));
                }
            }
        }
    }

    /// Finds a loop: a path of next hops towards `dst` that returns to one of its nodes.
    pub fn circle(&self, dst: u32) -> Option<Vec<u32>> {
        let next = |n: u32| self.nodes[n as usize].next_hop(ip(dst)).map(|via| via.to_bits() - ip(0).to_bits());
        (0..self.nodes.len() as u32).find_map(|start| {
            let mut path = vec![start];
            while let Some(via) = next(path[path.len() - 1]).filter(|&via| via != dst) {
                if path.contains(&via) {
                    path.push(via);
                    return Some(path);
                }
                path.push(via);
            }
            None
        })
    }

    #[track_caller]
    pub fn assert_no_circle(&self) {
        for dst in 0..self.nodes.len() as u32 {
            assert_eq!(self.circle(dst), None, "towards {dst} at {}", self.now);
        }
    }
}

/// Counting to infinity: a destination is cut off, and its neighbours offer each other longer and longer routes to it
/// through each other. Here no metric ever grows, and the routes disappear as soon as the link does.
#[test]
fn nobody_counts_to_infinity() {
    for quality in [LinkQuality::TwoOutOfThree, LinkQuality::Etx] {
        // Node 0 is attached to 1; nodes 1, 2 and 3 form a triangle.
        let mut network = Network::new(4, Config { quality, ..Config::standard() });
        for (a, b) in [(0, 1), (1, 2), (2, 3), (1, 3)] {
            network.connect(a, b);
        }
        network.pass(secs(120), Network::assert_no_circle);
        let way =
            |network: &Network, n: usize| network.nodes[n].route(ip(0)).map(|route| (route.next_hop, route.metric));
        assert_eq!([1, 2, 3].map(|n| way(&network, n)), [(0, 256), (1, 512), (1, 512)].map(|(n, m)| Some((ip(n), m))));
        network.cut(0, 1);
        let mut worst = 0;
        network.pass(secs(600), |network| {
            network.assert_no_circle();
            for node in &network.nodes[1..] {
                // A lossy link may cost more before it disappears; routes through each other would cost ever more.
                let metric = node.route(ip(0)).map_or(0, |route| route.metric);
                worst = worst.max(metric);
            }
        });
        assert_eq!([1, 2, 3].map(|n| way(&network, n)), [None; 3]);
        if quality == LinkQuality::TwoOutOfThree {
            assert_eq!(worst, 512, "none has grown");
            let lost: u64 = network.nodes[1..].iter().map(|node| node.counters().routes_lost).sum();
            assert_eq!(lost, 3, "each node has lost the one route once");
        }
        network.connect(0, 1);
        network.pass(secs(60), Network::assert_no_circle);
        assert!([1, 2, 3].iter().all(|&n| way(&network, n).is_some()), "and it comes back");
    }
}

/// Section 3.8.2.1: the last feasible route fails, and the remaining one is found with a new sequence number.
#[test]
fn a_detour_that_was_not_feasible_is_found_by_a_request() {
    // 0 - 1 - 2, and 0 - 3 - 4 - 5 - 2: the detour from 1 leads through 2.
    let mut network = Network::new(6, HOPS);
    for (a, b) in [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 2)] {
        network.connect(a, b);
    }
    network.pass(secs(120), Network::assert_no_circle);
    assert_eq!(network.nodes[1].next_hop(ip(0)), Some(ip(0)));
    network.cut(0, 1);
    network.pass(secs(60), Network::assert_no_circle);
    assert_eq!(network.nodes[1].route(ip(0)).map(|route| (route.next_hop, route.metric)), Some((ip(2), 5 * 256)));
    assert!(network.nodes[0].counters().seqnos_made > 0, "the destination was asked");
}
