//! Changes to a network that runs on a real clock: the position and transmitter of a node, and losses between two
//! nodes.

use super::{Radio, Setup};
use crate::air::Air;
use crate::propagation::PathLoss;
use crate::propagation::site::{Site, Station};
use crate::spread::TooWide;
use crate::topology::Position;
use fourhop_units::{Db, NodeId, Watt};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Change of one node.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Change {
    /// New position.
    pub place: Option<Position>,
    /// New transmitted power.
    pub tx_power: Option<Watt>,
    /// New gain of the antenna.
    pub gain: Option<Db>,
    /// Losses to other nodes, in both directions, whatever the distance.
    pub losses: Vec<(NodeId, Db)>,
}

impl Setup {
    /// Changes a node; returns the air between all nodes after the change.
    ///
    /// # Errors
    /// If receivers of a frame would be too far apart for the shortest frame.
    pub fn change(&mut self, node: NodeId, change: &Change, seed: u64) -> Result<Air, TooWide> {
        let before = (self.positions.clone(), self.site.clone());
        if let Some(place) = change.place {
            self.positions[node.index()] = place;
        }
        if change.tx_power.is_some() || change.gain.is_some() || !change.losses.is_empty() {
            let usual = self.usual();
            let open = Site {
                usual,
                stations: BTreeMap::new(),
                losses: BTreeMap::new(),
                walls: Vec::new(),
                unmeasured: None,
                measured_alone: false,
            };
            let site = Arc::make_mut(self.site.get_or_insert_with(|| Arc::new(open)));
            let station = site.stations.entry(node).or_insert(site.usual);
            station.tx_power = change.tx_power.unwrap_or(station.tx_power);
            station.gain = change.gain.unwrap_or(station.gain);
            for &(other, loss) in &change.losses {
                site.losses.extend([((node, other), loss), ((other, node), loss)]);
            }
        }
        let stations = self.stations();
        let air = Air::fixed(&self.positions, self.field(seed), &stations);
        let checked = self.check_spread(&air, &stations);
        if checked.is_err() {
            (self.positions, self.site) = before;
        }
        checked.map(|()| air)
    }

    /// Returns transmitter and antenna of a node without own settings.
    fn usual(&self) -> Station {
        let propagation = self.radio.propagation(&self.node.phy);
        let height_m = match (&self.radio, &propagation.path_loss) {
            (Radio::Threshold(law), _) | (_, PathLoss::TwoRay(law)) => law.antenna_height_m,
            // Only the distance matters.
            _ => 1.5,
        };
        Station { tx_power: propagation.tx_power, gain: Db(0.0), height_m }
    }
}
