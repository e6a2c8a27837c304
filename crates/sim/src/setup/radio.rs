//! Propagation and reception of a run, and the resulting links.

use crate::propagation::site::Site;
use crate::propagation::{PathLoss, Propagation};
use crate::stations::Stations;
use crate::topology::{Graph, Position};
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::phy::{self, TxRate, sinr};
use fourhop_units::{Bytes, NodeId, Watt};
use std::sync::Arc;

/// Model of propagation and reception.
#[derive(Clone, Debug)]
pub enum Radio {
    /// Two-ray ground and fixed thresholds, which are part of the options of the nodes.
    Threshold(TwoRay),
    /// Noise, interference and chance.
    Sinr(Box<SinrRadio>),
}

/// The `sinr` radio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SinrRadio {
    /// Propagation of signals.
    pub propagation: Propagation,
    /// The receiver of every node.
    pub receiver: sinr::Config,
    /// Least power before fading of the links that static routes use.
    pub link: Watt,
    /// Whether link metrics count frames over all fades, rather than at the mean power.
    pub metric_over_fades: bool,
}

impl SinrRadio {
    /// Returns the share of frames of `len` bytes at `rate` that arrive over noise at a mean power, averaged over
    /// fading.
    pub fn arriving(&self, power: Watt, len: Bytes, rate: impl Into<TxRate>) -> f64 {
        let rate = rate.into();
        let success = |factor: f64| self.receiver.success(Watt(power.0 * factor), len, rate);
        self.propagation.fading.map_or_else(|| success(1.0), |fading| fading.mean_over(success))
    }

    /// Returns the mean power at which a share of `share` arrives.
    pub fn power_for(&self, share: f64, len: Bytes, rate: impl Into<TxRate>) -> Watt {
        let rate = rate.into();
        if self.propagation.fading.is_none() {
            return self.receiver.power_for(share, len, rate);
        }
        let noise = self.receiver.noise.0;
        // From -30 to 60 dB, to within a thousandth of a dB.
        let (mut below, mut above) = (1e-3, 1e6);
        for _ in 0..17 {
            let middle = f64::sqrt(below * above);
            let enough = self.arriving(Watt(noise * middle), len, rate) >= share;
            (below, above) = if enough { (below, middle) } else { (middle, above) };
        }
        Watt(noise * above)
    }
}

impl From<TwoRay> for Radio {
    fn from(propagation: TwoRay) -> Radio {
        Radio::Threshold(propagation)
    }
}

impl Radio {
    /// Returns the least power of a link between nodes with these thresholds.
    pub(super) fn link(&self, thresholds: &phy::Config) -> Watt {
        match self {
            Radio::Threshold(_) => thresholds.rx_threshold,
            Radio::Sinr(radio) => radio.link,
        }
    }

    /// Returns the propagation of signals; with the `threshold` radio it depends on the distance alone.
    pub(super) fn propagation(&self, thresholds: &phy::Config) -> Propagation {
        match self {
            Radio::Threshold(law) => Propagation {
                tx_power: law.tx_power,
                path_loss: PathLoss::TwoRay(*law),
                shadowing: None,
                fading: None,
                cutoff: thresholds.cs_threshold,
            },
            Radio::Sinr(radio) => radio.propagation,
        }
    }

    /// Returns the links between nodes at `places` before shadowing and fading: those where both ends receive enough
    /// power from each other on a common channel.
    pub fn graph(
        &self,
        thresholds: &phy::Config,
        site: Option<&Arc<Site>>,
        stations: &Stations,
        places: &[Position],
    ) -> Graph {
        let link = self.link(thresholds);
        let open = Propagation { shadowing: None, fading: None, cutoff: link, ..self.propagation(thresholds) };
        let one_channel = stations.share_one_channel();
        let meet = |[a, b]: [(NodeId, Position); 2]| one_channel || stations.shared([a.0, b.0]).next().is_some();
        let Some(site) = site else { return Graph::among(places, open.range_m(link), meet) };
        let field = open.field(0).with_site(Some(site.clone()));
        Graph::among(places, field.reach_among(places), |[a, b]| {
            meet([a, b])
                && site.may_link(a.0, b.0)
                && site.may_link(b.0, a.0)
                && field.mean([a, b]) >= link
                && field.mean([b, a]) >= link
        })
    }
}
