//! The receivers of a frame, for fixed and for moving nodes.
//!
//! The neighbours of a fixed transmitter are computed once. If nodes move or signals fade, each transmission has its
//! own list, computed when it begins: the nodes that sense it, with power and delay. (ns-2.35 also determines receivers
//! and delays at that instant, but the power at each arrival, some microseconds later.) At 20 m/s a node moves some
//! centimetres while a frame is on the air: too little to change its reception.

use crate::channel::{Channel, Neighbour};
use crate::grid::{Grid, insertion_sort};
use crate::mobility::Mobility;
use crate::propagation::fading::{Fading, Waves};
use crate::propagation::{Field, Law};
use crate::spread::Spread;
use crate::stations::Stations;
use crate::topology::Position;
use fourhop_proto::phy::two_ray::LIGHT_SPEED;
use fourhop_units::{Dur, NodeId, Time, Watt};

/// The receivers of a frame.
#[derive(Clone, Debug)]
pub enum Air {
    /// Nodes are fixed, and signals do not change.
    Still(Channel),
    /// Nodes are fixed, signals fade.
    Fading(Box<Faded>),
    /// Nodes move.
    Moving(Box<Moving>),
    /// Nodes are fixed but were elsewhere before: frames sent then may still be on the air.
    Changed(Box<Changed>),
}

/// The nodes that sense each transmission on the air, by its index. Lists are reused: once the largest number of
/// simultaneous frames has been reached, nothing is allocated.
#[derive(Clone, Debug, Default)]
struct Lists(Vec<Vec<Neighbour>>);

impl Lists {
    /// Returns the empty list of a transmission that begins.
    fn begin(&mut self, index: usize) -> &mut Vec<Neighbour> {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Vec::new);
        }
        self.0[index].clear();
        &mut self.0[index]
    }
}

/// Fixed nodes whose signals fade.
#[derive(Clone, Debug)]
pub struct Faded {
    /// Neighbours with their powers before fading.
    means: Channel,
    /// The waves from each node to its neighbours, in the same order.
    waves: Vec<Vec<Waves>>,
    fading: Fading,
    cutoff: Watt,
    lists: Lists,
}

/// Fixed nodes after a change.
#[derive(Clone, Debug)]
pub struct Changed {
    channel: Channel,
    lists: Lists,
}

/// Moving nodes and the frames between them.
#[derive(Clone, Debug)]
pub struct Moving {
    mobility: Mobility,
    grid: Grid,
    law: Law,
    least: Watt,
    /// Largest distance in metres that a frame reaches.
    farthest: f64,
    /// Radios of the nodes, unless each has just one and all are on one channel.
    stations: Option<Box<Stations>>,
    lists: Lists,
}

impl Air {
    /// Moving nodes; signals below `least` are ignored.
    pub fn moving(mut mobility: Mobility, law: impl Into<Law>, least: Watt, stations: &Stations) -> Air {
        let law = law.into();
        let grid = Grid::new(&mut mobility, law.reach_m(least));
        let farthest = grid.reach().min(mobility.span());
        let stations = (!stations.share_one_channel()).then(|| Box::new(stations.clone()));
        Air::Moving(Box::new(Moving { mobility, grid, law, least, farthest, stations, lists: Lists::default() }))
    }

    /// Fixed nodes at `positions` in a field of shadowing and fading. Shadowing depends on the positions alone,
    /// whatever the channel; each channel fades independently.
    pub fn fixed(positions: &[Position], field: Field, stations: &Stations) -> Air {
        let (reach, cutoff) = (field.reach_among(positions), field.propagation().cutoff);
        let Some(fading) = field.fading().filter(|fading| fading.changes()) else {
            let law = Law::from(field);
            let always = |ends, metres| law.received(ends, metres, Time::ZERO);
            return Air::Still(Channel::among(positions, reach, cutoff, always).of_stations(stations));
        };
        let means =
            Channel::among(positions, reach, field.least_mean(), |ends, _| field.mean(ends)).of_stations(stations);
        let place = |station: NodeId| (station, positions[stations.node(station).index()]);
        let waves = (0..stations.count() as u32).map(NodeId).map(|node| {
            means.neighbours(node).iter().map(|neighbour| fading.waves([place(node), place(neighbour.node)])).collect()
        });
        let waves = waves.collect();
        Air::Fading(Box::new(Faded { means, waves, fading: fading.clone(), cutoff, lists: Lists::default() }))
    }

    /// Returns how far apart the receivers of a frame may be at any time: exactly for fixed nodes, otherwise from the
    /// area they move in.
    pub fn spread(&self) -> Spread {
        match self {
            Air::Still(channel) => channel.spread(),
            Air::Changed(changed) => changed.channel.spread(),
            Air::Fading(faded) => faded.means.spread(),
            // The only receiver of a frame is both its first and its last.
            Air::Moving(moving) if moving.mobility.count() < 3 => Spread::default(),
            Air::Moving(moving) => {
                Spread { farthest: Dur::from_secs_f64(moving.farthest / LIGHT_SPEED), ..Spread::default() }
            }
        }
    }

    /// Begins transmission `index`, a frame that `src` starts to radiate at `now`.
    #[inline]
    pub fn begin(&mut self, index: usize, src: NodeId, now: Time) {
        match self {
            Air::Still(_) => {}
            Air::Moving(moving) => moving.begin(index, src, now),
            Air::Changed(changed) => changed.lists.begin(index).extend(changed.channel.neighbours(src)),
            Air::Fading(faded) => faded.begin(index, src, now),
        }
    }

    /// Returns the nodes that sense transmission `index` of `src`, in the order in which it reaches them.
    #[inline(always)]
    pub fn neighbours(&self, index: usize, src: NodeId) -> &[Neighbour] {
        match self {
            Air::Still(channel) => channel.neighbours(src),
            Air::Moving(moving) => &moving.lists.0[index],
            Air::Fading(faded) => &faded.lists.0[index],
            Air::Changed(changed) => &changed.lists.0[index],
        }
    }

    /// Changes the positions of fixed nodes to those of `air`. Frames on the air, whose transmitters by index are
    /// given, are not affected. If nodes move, changes nothing and returns false.
    pub fn change(&mut self, air: Air, transmitters: impl Iterator<Item = NodeId>) -> bool {
        let lists = match self {
            Air::Still(channel) => Lists(transmitters.map(|src| channel.neighbours(src).to_vec()).collect()),
            Air::Fading(faded) => std::mem::take(&mut faded.lists),
            Air::Changed(changed) => std::mem::take(&mut changed.lists),
            Air::Moving(_) => return false,
        };
        *self = match air {
            Air::Still(channel) => Air::Changed(Box::new(Changed { channel, lists })),
            Air::Fading(faded) => Air::Fading(Box::new(Faded { lists, ..*faded })),
            other => other,
        };
        true
    }
}

impl Moving {
    fn begin(&mut self, index: usize, src: NodeId, now: Time) {
        let Moving { mobility, grid, law, least, lists, stations, .. } = self;
        let found = lists.begin(index);
        let station = src;
        let src = stations.as_ref().map_or(src, |stations| stations.node(src));
        let here = (src, mobility.place(src, now));
        grid.near(src, now, mobility, |node, place, metres| {
            let power = law.received([here, (node, place)], metres, now);
            if power >= *least {
                found.push(Neighbour::new(node, power, metres));
            }
        });
        match stations {
            Some(stations) => stations.hear(station, found),
            // The grid returns the nearest first: only nodes with equal delays may be out of order.
            None => insertion_sort(found, Neighbour::order),
        }
    }
}

impl Faded {
    fn begin(&mut self, index: usize, src: NodeId, now: Time) {
        let Faded { means, waves, fading, cutoff, lists } = self;
        let turned = fading.turned(now);
        lists.begin(index).extend(means.neighbours(src).iter().zip(&waves[src.index()]).filter_map(
            |(neighbour, waves)| {
                let power = Watt(neighbour.power.0 * fading.gain(waves, turned));
                (power >= *cutoff).then(|| neighbour.with_power(power))
            },
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Movement, Waypoint};
    use crate::propagation::{PathLoss, Propagation, fading, shadowing};
    use fourhop_proto::phy::log_distance::LogDistance;
    use fourhop_proto::phy::two_ray::TwoRay;
    use fourhop_units::Db;
    use std::sync::Arc;

    const CS: Watt = Watt(1.559e-11);

    #[test]
    fn nodes_that_have_not_moved_yet_are_heard_as_if_they_never_did() {
        let places: Vec<_> = (0..300u32).map(|n| (f64::from(n * 7919 % 2500), f64::from(n * 104_729 % 1000))).collect();
        let still = Channel::new(&places, &TwoRay::WAVELAN, CS);
        let fixed = Movement::Waypoints(Arc::new(vec![Vec::new(); places.len()]));
        let stations = Stations::single(places.len());
        let mut moving = Air::moving(Mobility::new(&fixed, &places, 1), TwoRay::WAVELAN, CS, &stations);
        for node in (0..300).map(NodeId) {
            moving.begin(0, node, Time::from_secs(u64::from(node.0)));
            assert_eq!(moving.neighbours(0, node), still.neighbours(node));
        }
    }

    #[test]
    fn a_transmission_keeps_the_neighbours_of_its_beginning() {
        let away = vec![Vec::new(), vec![Waypoint { at: Time::from_secs(10), place: (1200.0, 0.0) }]];
        let mobility = Mobility::new(&Movement::Waypoints(Arc::new(away)), &[(0.0, 0.0), (200.0, 0.0)], 1);
        let mut air = Air::moving(mobility, TwoRay::WAVELAN, CS, &Stations::single(2));
        air.begin(4, NodeId(0), Time::from_secs(2));
        let heard = air.neighbours(4, NodeId(0)).to_vec();
        assert_eq!(heard.len(), 1);
        // 200 m + 2 s at 100 m/s.
        assert_eq!(heard[0].delay(), Dur::from_secs_f64(400.0 / 3e8));
        air.begin(0, NodeId(0), Time::from_secs(4));
        assert!(air.neighbours(0, NodeId(0)).is_empty(), "600 m away");
        assert_eq!(air.neighbours(4, NodeId(0)), heard);
    }

    #[test]
    fn after_a_change_frames_on_the_air_go_on_and_new_ones_meet_it() {
        let at = |metres| Air::Still(Channel::new(&[(0.0, 0.0), (metres, 0.0)], &TwoRay::WAVELAN, CS));
        let mut air = at(200.0);
        air.begin(0, NodeId(0), Time::ZERO);
        let before = air.neighbours(0, NodeId(0)).to_vec();
        assert!(air.change(at(300.0), [NodeId(0), NodeId(1)].into_iter()));
        assert_eq!(air.neighbours(0, NodeId(0)), before, "it began at 200 m");
        air.begin(2, NodeId(0), Time::from_secs(1));
        let near = air.neighbours(2, NodeId(0)).to_vec();
        assert_eq!(near[0].delay(), Dur::from_secs_f64(300.0 / 3e8));
        assert!(air.change(at(9_000.0), [NodeId(0); 3].into_iter()));
        air.begin(1, NodeId(0), Time::from_secs(2));
        assert!(air.neighbours(1, NodeId(0)).is_empty());
        assert_eq!((air.neighbours(0, NodeId(0)), air.neighbours(2, NodeId(0))), (&before[..], &near[..]));
    }

    /// With shadowing and fading, too, fixed nodes are heard like moving nodes that do not move, whether or not
    /// anything changes around them.
    #[test]
    fn a_field_is_the_same_for_nodes_that_stand_and_that_move() {
        for doppler_hz in [3.0, 0.0] {
            fixed_and_moving_nodes_are_heard_alike(fading::Config { k: 1.0, doppler_hz, wavelength_m: 0.125 });
        }
    }

    fn fixed_and_moving_nodes_are_heard_alike(fading: fading::Config) {
        let places: Vec<_> = (0..40u32).map(|n| (f64::from(n * 79 % 251), f64::from(n * 107 % 100))).collect();
        let propagation = Propagation {
            tx_power: Watt(1e-3),
            path_loss: PathLoss::LogDistance(LogDistance { exponent: 3.0, ..LogDistance::free_space(2.4e9) }),
            shadowing: Some(shadowing::Config { deviation: Db(4.0), distance_m: 10.0, seed: None }),
            fading: Some(fading),
            cutoff: Watt(1e-13),
        };
        let stations = Stations::single(places.len());
        let mut still = Air::fixed(&places, propagation.field(7), &stations);
        assert_eq!(matches!(still, Air::Still(_)), fading.doppler_hz == 0.0);
        let fixed = Movement::Waypoints(Arc::new(vec![Vec::new(); places.len()]));
        let mobility = Mobility::new(&fixed, &places, 1);
        let mut moving = Air::moving(mobility, propagation.field(7), propagation.cutoff, &stations);
        let mut heard = 0;
        for node in (0..40).map(NodeId) {
            let now = Time::from_millis(100 * u64::from(node.0));
            still.begin(0, node, now);
            moving.begin(0, node, now);
            let neighbours = still.neighbours(0, node).to_vec();
            assert_eq!(neighbours, moving.neighbours(0, node));
            assert!(neighbours.iter().all(|neighbour| neighbour.power >= propagation.cutoff));
            heard += neighbours.len();
        }
        assert!(heard > 500, "{heard}");
    }
}
