//! Finds the moving nodes near a position without examining all of them.
//!
//! Nodes are registered at their position, and are registered again before they can have moved by more than some slack;
//! the leg of each node gives the next such instant. Each node keeps a list of the nodes registered within the reach
//! plus the slack of both (Verlet, Physical Review 159, 1967). A query examines these alone and computes exact
//! positions, so it finds exactly the nodes in range, at a cost that depends on the density of nodes and not on their
//! number. The list stays sorted by the distances at the last query, an order that hardly differs from that of the
//! next.
//!
//! A registration finds the nodes around it in 9 square cells. Cells are found by a hash of their coordinates, and each
//! is a linked list through the nodes themselves: the area need not be known.

use crate::mobility::{Leg, Mobility, NEVER};
use crate::topology::{Position, distance};
use fourhop_units::{Dur, NodeId, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Slack as a share of the reach. With more, each query examines more nodes; with less, nodes are registered more
/// often.
const SLACK: f64 = 0.05;
/// Margin for rounding errors, in metres.
const MARGIN: f64 = 1e-3;

/// No node.
const NONE: u32 = u32::MAX;

type Cell = (i64, i64);

/// A node's registration.
#[derive(Clone, Copy, Debug)]
struct Entry {
    place: Position,
    cell: Cell,
    next: u32,
    previous: u32,
}

/// A node that may be in range, and its distance in metres when it was last computed.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    metres: f64,
    node: NodeId,
}

/// Moving nodes, and which of them are near each other.
#[derive(Clone, Debug)]
pub struct Grid {
    reach: f64,
    slack: f64,
    entries: Vec<Entry>,
    /// For each node, the nodes within reach of it, or nearly so. The relation is symmetric: each of these has the node
    /// in its list.
    candidates: Vec<Vec<Candidate>>,
    /// Positions of the candidates of the current query.
    places: Vec<Position>,
    /// First node of each list; cells that share a hash share a list.
    heads: Vec<u32>,
    /// Times at which nodes must be registered again.
    due: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Grid {
    /// Registers all nodes of `mobility` at time zero; queries find those within `reach` metres.
    pub fn new(mobility: &mut Mobility, reach: f64) -> Grid {
        let count = mobility.count();
        let nowhere = Entry { place: (0.0, 0.0), cell: (0, 0), next: NONE, previous: NONE };
        let mut grid = Grid {
            reach,
            slack: reach * SLACK,
            entries: vec![nowhere; count],
            candidates: vec![Vec::new(); count],
            places: vec![(0.0, 0.0); count],
            heads: vec![NONE; (2 * count).next_power_of_two()],
            due: BinaryHeap::with_capacity(count),
        };
        for node in 0..count as u32 {
            grid.register(node, None, mobility.leg(NodeId(node), Time::ZERO), Time::ZERO);
        }
        grid
    }

    /// Calls `found` with every node but `node` that is within reach of it at `now`, with its position and distance,
    /// nearest first. `now` must not decrease between calls.
    pub fn near(
        &mut self,
        node: NodeId,
        now: Time,
        mobility: &mut Mobility,
        mut found: impl FnMut(NodeId, Position, f64),
    ) {
        while let Some(&Reverse((at, moved))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            let before = self.entries[moved as usize].place;
            self.unlink(moved);
            self.register(moved, Some(before), mobility.leg(NodeId(moved), now), now);
        }
        let centre = mobility.place(node, now);
        let reach = self.reach();
        let candidates = &mut self.candidates[node.index()];
        for candidate in candidates.iter_mut() {
            let place = mobility.place(candidate.node, now);
            self.places[candidate.node.index()] = place;
            candidate.metres = distance(centre, place);
        }
        insertion_sort(candidates, |candidate| candidate.metres);
        for &Candidate { metres, node } in candidates.iter().take_while(|candidate| candidate.metres <= reach) {
            found(node, self.places[node.index()], metres);
        }
    }

    /// Returns the largest distance in metres of a node that a query finds.
    pub fn reach(&self) -> f64 {
        self.reach + MARGIN
    }

    /// Returns the largest distance between the registrations of candidates of each other: each is off by the slack at
    /// most.
    fn suspect(&self) -> f64 {
        self.reach + 2.0 * self.slack + MARGIN
    }

    fn cell(&self, place: Position) -> Cell {
        let side = self.suspect();
        ((place.0 / side).floor() as i64, (place.1 / side).floor() as i64)
    }

    fn bucket(&self, (column, row): Cell) -> usize {
        // Multiplicative hashing (Knuth, volume 3, section 6.4) of both coordinates; the upper bits are well mixed.
        let mixed = (column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (row as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31);
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.heads.len() - 1)
    }

    /// Registers a node, which may have been registered at `before`.
    fn register(&mut self, node: u32, before: Option<Position>, leg: Leg, now: Time) {
        let place = leg.place(now);
        let cell = self.cell(place);
        let bucket = self.bucket(cell);
        let head = self.heads[bucket];
        self.entries[node as usize] = Entry { place, cell, next: head, previous: NONE };
        if head != NONE {
            self.entries[head as usize].previous = node;
        }
        self.heads[bucket] = node;
        self.meet(node, before);
        let drifted = match leg.speed() {
            speed if speed > 0.0 => now + Dur::from_secs_f64((self.slack / speed).min(1e9)).max(Dur::from_nanos(1)),
            _ => NEVER,
        };
        let at = leg.end.min(drifted);
        if at < NEVER {
            self.due.push(Reverse((at, node)));
        }
    }

    /// Updates the lists of candidates after the registration of `node`.
    fn meet(&mut self, node: u32, before: Option<Position>) {
        let suspect = self.suspect();
        let close = |a: Position, b: Position| {
            let (dx, dy) = (a.0 - b.0, a.1 - b.1);
            dx * dx + dy * dy <= suspect * suspect
        };
        let Grid { entries, candidates, .. } = self;
        let Entry { place: here, cell: (column, row), .. } = entries[node as usize];
        let mut own = std::mem::take(&mut candidates[node as usize]);
        own.retain(|candidate| {
            let stays = close(here, entries[candidate.node.index()].place);
            if !stays {
                candidates[candidate.node.index()].retain(|other| other.node.0 != node);
            }
            stays
        });
        for cell in (column - 1..=column + 1).flat_map(|column| (row - 1..=row + 1).map(move |row| (column, row))) {
            let mut next = self.heads[self.bucket(cell)];
            while next != NONE {
                let (other, entry) = (next, self.entries[next as usize]);
                next = entry.next;
                let is_new = || before.is_none_or(|before| !close(before, entry.place));
                if entry.cell == cell && other != node && close(here, entry.place) && is_new() {
                    own.push(Candidate { metres: 0.0, node: NodeId(other) });
                    self.candidates[other as usize].push(Candidate { metres: 0.0, node: NodeId(node) });
                }
            }
        }
        self.candidates[node as usize] = own;
    }

    fn unlink(&mut self, node: u32) {
        let Entry { cell, next, previous, .. } = self.entries[node as usize];
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        match previous {
            NONE => {
                let bucket = self.bucket(cell);
                self.heads[bucket] = next;
            }
            previous => self.entries[previous as usize].next = next,
        }
    }
}

/// Sorts items that are almost sorted already; equal items keep their order.
pub fn insertion_sort<T: Copy, K: PartialOrd>(items: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..items.len() {
        let item = items[end];
        let mut place = end;
        while place > 0 && key(&items[place - 1]) > key(&item) {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Movement, Waypoint, random_waypoint};
    use proptest::prelude::*;
    use std::sync::Arc;

    const REACH: f64 = 550.0;

    /// Checks against all nodes that every query at every instant finds exactly those in range.
    fn check(movement: &Movement, places: &[Position], instants: &[Time]) {
        let mut mobility = Mobility::new(movement, places, 5);
        let mut truth = mobility.clone();
        let mut grid = Grid::new(&mut mobility, REACH);
        for (turn, &now) in instants.iter().enumerate() {
            let node = NodeId((turn * 7 % places.len()) as u32);
            let centre = truth.place(node, now);
            let mut expected: Vec<_> = (0..places.len() as u32)
                .map(|other| (NodeId(other), distance(centre, truth.place(NodeId(other), now))))
                .filter(|&(other, metres)| other != node && metres <= REACH + MARGIN)
                .collect();
            expected.sort_by_key(|&(other, _)| other);
            let mut found = Vec::new();
            grid.near(node, now, &mut mobility, |other, place, metres| {
                assert_eq!(place, truth.place(other, now));
                found.push((other, metres));
            });
            assert!(found.is_sorted_by_key(|&(_, metres)| metres), "nearest first");
            found.sort_by_key(|&(other, _)| other);
            assert_eq!(found, expected, "around {node} at {now}");
        }
    }

    proptest! {
        #[test]
        fn it_finds_exactly_the_nodes_in_range(
            steps in prop::collection::vec(0u64..3_000_000_000, 1..200),
            speed in prop_oneof![0.1f64..2.0, 5.0f64..40.0, 500.0f64..3000.0],
            pause_s in 0u64..30,
            nodes in 2usize..80,
            size in 300.0f64..6000.0,
        ) {
            let config = random_waypoint::Config {
                speed_min: speed * 0.2,
                speed_max: speed,
                pause: Dur::from_secs(pause_s),
                width: size,
                height: size * 0.7,
                steady: false,
                still: 0,
                seed: None,
            };
            let place = |n: usize| ((n * 7919 % 1009) as f64 / 1009.0 * size, (n * 31 % 97) as f64);
            let places: Vec<_> = (0..nodes).map(place).collect();
            let mut now = Time::ZERO;
            let instants: Vec<_> = steps.iter().map(|&step| { now += Dur::from_nanos(step); now }).collect();
            check(&Movement::RandomWaypoint(config), &places, &instants);
        }

        #[test]
        fn an_insertion_sort_sorts_and_keeps_what_is_equal_in_order(keys in prop::collection::vec(0u32..20, 0..60)) {
            let mut items: Vec<_> = keys.into_iter().zip(0..).collect();
            let mut expected: Vec<(u32, i32)> = items.clone();
            expected.sort_by_key(|&(key, _)| key);
            insertion_sort(&mut items, |&(key, _)| key);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn jumps_and_far_places_are_no_exception(
            moves in prop::collection::vec((0usize..6, 0u64..20, -900_000.0f64..900_000.0, -900.0f64..900.0), 0..40),
        ) {
            let mut ways = vec![Vec::new(); 6];
            for (node, at, x, y) in moves {
                ways[node].push(Waypoint { at: Time::from_secs(at), place: (x, y) });
            }
            ways.iter_mut().for_each(|way| way.sort_by_key(|waypoint| waypoint.at));
            let places: Vec<_> = (0..6).map(|n| (f64::from(n) * 400.0, 0.0)).collect();
            let instants: Vec<_> = (0..60).map(|n| Time::from_millis(n * 400)).collect();
            check(&Movement::Waypoints(Arc::new(ways)), &places, &instants);
        }
    }
}
