//! Propagation of a signal: path loss, shadowing, fading.
//!
//! | file | content |
//! |---|---|
//! | [`shadowing`] | unmodelled walls and furniture, correlated in space |
//! | [`site`] | individual walls, measured losses, transmitters and antennas of single nodes |
//! | [`fading`] | many paths: Rayleigh and Rician, with Doppler |
//! | [`turns`] | cosines that are the same on every machine |
//!
//! The path loss laws are in `fourhop_proto::phy`. Everything is a pure function of the seed, the positions, the pair
//! of nodes and the instant at which a frame begins, so results do not depend on the order of queries; a frame keeps
//! the power it began with.

pub mod fading;
pub mod shadowing;
pub mod site;
pub mod turns;

use crate::topology::{Position, distance};
use fading::Fading;
use fourhop_proto::phy::log_distance::LogDistance;
use fourhop_proto::phy::sinr::config::ratio;
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_units::{Db, NodeId, Time, Watt};
use shadowing::Shadowing;
use site::{Site, Station};
use std::sync::Arc;

/// A law of path loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PathLoss {
    /// Logarithm of distance: free space, indoors, anything with an exponent.
    LogDistance(LogDistance),
    /// Two-ray ground; the transmitted power is that of the [`Propagation`].
    TwoRay(TwoRay),
}

/// Everything that affects a signal on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Propagation {
    /// Transmitted power.
    pub tx_power: Watt,
    /// Mean over all positions at a distance.
    pub path_loss: PathLoss,
    /// Shadowing, if any.
    pub shadowing: Option<shadowing::Config>,
    /// Fading, if any.
    pub fading: Option<fading::Config>,
    /// Weaker copies are ignored.
    pub cutoff: Watt,
}

/// By how many standard deviations shadowing may help a signal from farther away: it exceeds this for one pair in 740.
const SHADOW_MARGIN: f64 = 3.0;
/// By which factor fading may help a signal: Rayleigh fading exceeds 7 for one frame in 1,100.
const FADING_MARGIN: f64 = 7.0;

impl Propagation {
    /// Returns the mean power at `metres`.
    pub fn mean(&self, metres: f64) -> Watt {
        match &self.path_loss {
            PathLoss::LogDistance(law) => law.received(self.tx_power, metres),
            PathLoss::TwoRay(law) => law.received(metres),
        }
    }

    /// Returns the distance in metres within which the mean power is at least `threshold`.
    pub fn range_m(&self, threshold: Watt) -> f64 {
        match &self.path_loss {
            PathLoss::LogDistance(law) => law.range_m(self.tx_power, threshold),
            PathLoss::TwoRay(law) => law.range_m(threshold),
        }
    }

    /// Returns the largest assumed ratio of a signal to its mean over all positions.
    fn margin(&self) -> f64 {
        let shadow = self.shadowing.map_or(0.0, |shadowing| SHADOW_MARGIN * shadowing.deviation.0);
        libm::pow(10.0, shadow / 10.0) * self.fading_margin()
    }

    fn fading_margin(&self) -> f64 {
        if self.fading.is_some() { FADING_MARGIN } else { 1.0 }
    }

    /// Returns the distance in metres beyond which copies are ignored: even with the margins of shadowing and fading a
    /// signal is below the cut-off there.
    pub fn reach_m(&self) -> f64 {
        self.range_m(Watt(self.cutoff.0 / self.margin()))
    }

    /// Returns shadowing and fading of the run with `seed`.
    pub fn field(&self, seed: u64) -> Field {
        Field {
            shadowing: self.shadowing.map(|config| Shadowing::new(config, seed)),
            fading: self.fading.map(|config| Fading::new(config, seed)),
            propagation: *self,
            site: None,
        }
    }

    /// Returns the propagation from one node to another: the power is that of the sender times the gains of both
    /// antennas; two-ray ground depends on the heights only by their geometric mean.
    fn between(&self, sender: Station, receiver: Station) -> Propagation {
        let tx_power = Watt(sender.tx_power.0 * ratio(Db(sender.gain.0 + receiver.gain.0)));
        let path_loss = match self.path_loss {
            PathLoss::TwoRay(law) => {
                let antenna_height_m = (sender.height_m * receiver.height_m).sqrt();
                PathLoss::TwoRay(TwoRay { tx_power, antenna_height_m, ..law })
            }
            law @ PathLoss::LogDistance(_) => law,
        };
        Propagation { tx_power, path_loss, ..*self }
    }
}

/// The propagation of one run.
#[derive(Clone, Debug)]
pub struct Field {
    propagation: Propagation,
    shadowing: Option<Shadowing>,
    fading: Option<Fading>,
    site: Option<Arc<Site>>,
}

impl Field {
    /// Applies the particulars of a place.
    #[must_use]
    pub fn with_site(self, site: Option<Arc<Site>>) -> Field {
        Field { site, ..self }
    }

    /// Returns the parameters.
    pub fn propagation(&self) -> &Propagation {
        &self.propagation
    }

    /// Returns the power at the second of two nodes when the first transmits, without fading.
    pub fn mean(&self, ends: [(NodeId, Position); 2]) -> Watt {
        let (a, b) = (ends[0].1, ends[1].1);
        let (mean, measured) = match &self.site {
            None => (self.propagation.mean(distance(a, b)), false),
            Some(site) => site.received(&self.propagation, ends),
        };
        if measured {
            return mean;
        }
        let shadowed = match &self.shadowing {
            Some(shadowing) => Watt(mean.0 * libm::pow(10.0, shadowing.gain(a, b).0 / 10.0)),
            None => mean,
        };
        self.site.as_ref().map_or(shadowed, |site| site.capped(shadowed))
    }

    /// Returns the distance in metres beyond which copies are ignored, like [`Propagation::reach_m`], without regard to
    /// measured losses.
    pub fn reach_m(&self) -> f64 {
        self.site.as_ref().map_or(self.propagation, |site| site.strongest(&self.propagation)).reach_m()
    }

    /// The same for nodes at `places`, including measured losses.
    pub fn reach_among(&self, places: &[Position]) -> f64 {
        let measured = self.site.as_ref().map_or(0.0, |site| site.longest_measured(places));
        self.reach_m().max(measured)
    }

    /// Returns the fading factor between two nodes at `now`.
    pub fn fade(&self, ends: [(NodeId, Position); 2], now: Time) -> f64 {
        self.fading.as_ref().map_or(1.0, |fading| fading.gain(&fading.waves(ends), fading.turned(now)))
    }

    /// Returns the fading, if any.
    pub fn fading(&self) -> Option<&Fading> {
        self.fading.as_ref()
    }

    /// Returns the least mean power for which fading may lift a copy above the cut-off.
    pub fn least_mean(&self) -> Watt {
        Watt(self.propagation.cutoff.0 / self.propagation.fading_margin())
    }
}

/// The model of received powers: two-ray ground alone for `threshold`, or everything.
#[derive(Clone, Debug)]
pub enum Law {
    /// Two-ray ground.
    TwoRay(TwoRay),
    /// A field of shadowing and fading on top of a path loss.
    Field(Box<Field>),
}

impl From<TwoRay> for Law {
    fn from(law: TwoRay) -> Law {
        Law::TwoRay(law)
    }
}

impl From<Field> for Law {
    fn from(field: Field) -> Law {
        Law::Field(Box::new(field))
    }
}

impl Law {
    /// Returns the distance in metres within which to search for nodes that may receive `least`.
    pub fn reach_m(&self, least: Watt) -> f64 {
        match self {
            Law::TwoRay(law) => law.range_m(least),
            Law::Field(field) => field.reach_m(),
        }
    }

    /// Returns the power of a frame that the first of two nodes begins at `now`, at the second, `metres` away.
    #[inline]
    pub fn received(&self, ends: [(NodeId, Position); 2], metres: f64, now: Time) -> Watt {
        match self {
            Law::TwoRay(law) => law.received(metres),
            Law::Field(field) => {
                let mean = field.mean(ends);
                // Within the margin, no fading lifts it above the cut-off.
                if mean < field.least_mean() { mean } else { Watt(mean.0 * field.fade(ends, now)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hallway() -> Propagation {
        Propagation {
            tx_power: Watt(1e-3),
            path_loss: PathLoss::LogDistance(LogDistance { exponent: 3.0, ..LogDistance::free_space(2.4e9) }),
            shadowing: Some(shadowing::Config { deviation: Db(4.0), distance_m: 5.0, seed: None }),
            fading: Some(fading::Config { k: 0.0, doppler_hz: 1.0, wavelength_m: 0.125 }),
            cutoff: Watt(1e-13),
        }
    }

    #[test]
    fn the_reach_allows_for_shadows_and_fading() {
        let honest = hallway();
        let plain = Propagation { shadowing: None, fading: None, ..honest };
        assert!((plain.mean(plain.reach_m()).over(plain.cutoff) - 1.0).abs() < 1e-9);
        // 12 dB and a factor of 7 with an exponent of 3: 10^((12 + 8.45) / 30) times as far.
        assert!((honest.reach_m() / plain.reach_m() - 4.806).abs() < 0.01);
    }

    #[test]
    fn powers_are_the_product_of_all_three() {
        let field = hallway().field(4);
        let (a, b) = ((NodeId(0), (0.0, 0.0)), (NodeId(1), (12.0, 1.0)));
        let now = Time::from_secs(3);
        let (mean, fade) = (field.mean([a, b]), field.fade([a, b], now));
        let law = Law::from(field);
        assert_eq!(law.received([a, b], 12.04, now), Watt(mean.0 * fade));
        assert_eq!(law.received([b, a], 12.04, now), law.received([a, b], 12.04, now));
    }
}
