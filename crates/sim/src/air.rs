//! The air as the world sees it: the neighbours of a frame, whether nodes stand still or move.
//!
//! Where nodes stand still, they are those of the transmitter, computed once. Where they move, each transmission has a
//! list of its own: who senses it, how strongly and how late, at the instant at which it begins. (ns-2.35 takes the
//! receivers and delays then too, the power at each arrival, some microseconds later.) At 20 m/s a node moves some
//! centimetres while a frame is on the air, and neither gains nor loses the frame for it.

use crate::channel::{Channel, Neighbour};
use crate::grid::Grid;
use crate::mobility::Mobility;
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_units::{NodeId, Time, Watt};

/// Who hears a frame.
#[derive(Clone, Debug)]
pub enum Air {
    /// Nodes stand still.
    Still(Channel),
    /// Nodes move.
    Moving(Box<Moving>),
}

/// Moving nodes and the frames among them.
#[derive(Clone, Debug)]
pub struct Moving {
    mobility: Mobility,
    grid: Grid,
    radio: TwoRay,
    cs_threshold: Watt,
    /// Those who sense the frame that begins.
    found: Vec<Neighbour>,
    /// Those who sense each transmission on the air, by its index. Lists are used again: none is allocated once as many
    /// frames have been on the air together as ever will.
    kept: Vec<Vec<Neighbour>>,
}

impl Air {
    /// Moving nodes whose signals matter at `cs_threshold` or more.
    pub fn moving(mut mobility: Mobility, radio: TwoRay, cs_threshold: Watt) -> Air {
        let grid = Grid::new(&mut mobility, radio.range_m(cs_threshold));
        Air::Moving(Box::new(Moving { mobility, grid, radio, cs_threshold, found: Vec::new(), kept: Vec::new() }))
    }

    /// Those who sense a frame that `src` begins to radiate at `now`, in the order in which it reaches them.
    pub fn begin(&mut self, src: NodeId, now: Time) -> &[Neighbour] {
        match self {
            Air::Still(channel) => channel.neighbours(src),
            Air::Moving(moving) => moving.find(src, now),
        }
    }

    /// The frame that just began is transmission `index` from now on.
    pub fn keep(&mut self, index: u32) {
        if let Air::Moving(moving) = self {
            let index = index as usize;
            if moving.kept.len() <= index {
                moving.kept.resize_with(index + 1, Vec::new);
            }
            std::mem::swap(&mut moving.kept[index], &mut moving.found);
        }
    }

    /// Those who sense transmission `index` of `src`.
    pub fn neighbours(&self, index: usize, src: NodeId) -> &[Neighbour] {
        match self {
            Air::Still(channel) => channel.neighbours(src),
            Air::Moving(moving) => &moving.kept[index],
        }
    }
}

impl Moving {
    fn find(&mut self, src: NodeId, now: Time) -> &[Neighbour] {
        let Moving { mobility, grid, radio, cs_threshold, found, .. } = self;
        found.clear();
        grid.near(src, now, mobility, |node, metres| {
            let power = radio.received(metres);
            if power >= *cs_threshold {
                found.push(Neighbour::new(node, power, metres));
            }
        });
        found.sort_unstable_by_key(Neighbour::order);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Movement, Waypoint};
    use fourhop_units::Dur;
    use std::sync::Arc;

    const CS: Watt = Watt(1.559e-11);

    #[test]
    fn nodes_that_have_not_moved_yet_are_heard_as_if_they_never_did() {
        let places: Vec<_> = (0..300u32).map(|n| (f64::from(n * 7919 % 2500), f64::from(n * 104_729 % 1000))).collect();
        let still = Channel::new(&places, &TwoRay::WAVELAN, CS);
        let standing = Movement::Waypoints(Arc::new(vec![Vec::new(); places.len()]));
        let mut moving = Air::moving(Mobility::new(&standing, &places, 1), TwoRay::WAVELAN, CS);
        for node in (0..300).map(NodeId) {
            assert_eq!(moving.begin(node, Time::from_secs(u64::from(node.0))), still.neighbours(node));
        }
    }

    #[test]
    fn a_transmission_keeps_the_neighbours_of_its_beginning() {
        let away = vec![Vec::new(), vec![Waypoint { at: Time::from_secs(10), place: (1200.0, 0.0) }]];
        let mobility = Mobility::new(&Movement::Waypoints(Arc::new(away)), &[(0.0, 0.0), (200.0, 0.0)], 1);
        let mut air = Air::moving(mobility, TwoRay::WAVELAN, CS);
        let heard = air.begin(NodeId(0), Time::from_secs(2)).to_vec();
        air.keep(4);
        assert_eq!(heard.len(), 1);
        // 200 m + 2 s at 100 m/s.
        assert_eq!(heard[0].delay(), Dur::from_secs_f64(400.0 / 3e8));
        assert!(air.begin(NodeId(0), Time::from_secs(4)).is_empty(), "600 m away");
        air.keep(0);
        assert_eq!(air.neighbours(4, NodeId(0)), heard);
    }
}
