//! Changes to a network that runs on a real clock: where a node stands, what it transmits with, what is lost between
//! two.

use super::{Radio, Setup};
use crate::air::Air;
use crate::propagation::PathLoss;
use crate::propagation::site::{Site, Station};
use crate::spread::TooWide;
use crate::topology::Position;
use fourhop_units::{Db, NodeId, Watt};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fate of one node.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Change {
    /// It stands here.
    pub place: Option<Position>,
    /// It transmits with this.
    pub tx_power: Option<Watt>,
    /// Its antenna has this gain.
    pub gain: Option<Db>,
    /// Losses to other nodes, in both directions, whatever the distance.
    pub losses: Vec<(NodeId, Db)>,
}

impl Setup {
    /// Changes a node; the air among all of them from then on.
    ///
    /// # Errors
    /// If receivers of a frame would be too far apart for the shortest of its frames.
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

    /// Transmitter and antenna of a node that nothing is said of.
    fn usual(&self) -> Station {
        let propagation = self.radio.propagation(&self.node.phy);
        let height_m = match (&self.radio, &propagation.path_loss) {
            (Radio::Threshold(law), _) | (_, PathLoss::TwoRay(law)) => law.antenna_height_m,
            // Distance alone counts.
            _ => 1.5,
        };
        Station { tx_power: propagation.tx_power, gain: Db(0.0), height_m }
    }
}
