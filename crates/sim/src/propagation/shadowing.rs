//! Shadowing: what walls and furniture add to the path loss between two places, normal in decibels and alike in places
//! that are near each other.
//!
//! Sources: Gudmundson, Correlation model for shadow fading in mobile radio systems, Electronics Letters 27 (23), 1991:
//! the correlation falls with exp(-distance / shadowing distance). Wang, Tameh and Nix, Joint shadowing process in urban
//! peer-to-peer radio channels, IEEE Trans. Veh. Technol. 57 (1), 2008: where both ends may move it is the product over
//! the two ends, and a sum of sinusoids makes it. Cai and Giannakis, A two-dimensional channel simulation model for
//! shadowing processes, 2003: their frequencies are drawn from the spectrum of the correlation.
//!
//! A pure function of the seed and the two places: nothing is stored for pairs, nodes may move as they like and meet the
//! same shadow where they have been before, and both directions are alike. Leaves out: walls one by one ([`super::site`]), and that shadows
//! are smaller where the ends are nearer to each other than the shadowing distance.

use super::turns;
use crate::topology::{Position, distance};
use fourhop_units::{Db, Purpose, Stream};

/// Sinusoids in the sum. By the central limit theorem it is normal up to about three standard deviations.
const SINUSOIDS: usize = 100;

/// Parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Standard deviation.
    pub deviation: Db,
    /// Displacement of one end in metres after which the correlation has fallen to 1/e.
    pub distance_m: f64,
    /// Seed of the shadows alone; without it they follow the seed of the run.
    pub seed: Option<u64>,
}

/// One sinusoid: spatial frequencies at the two ends in turns per metre, and its phase in turns.
#[derive(Clone, Copy, Debug)]
struct Sinusoid {
    near: Position,
    far: Position,
    phase: f64,
}

/// The shadows of one run.
#[derive(Clone, Debug)]
pub struct Shadowing {
    config: Config,
    sinusoids: Vec<Sinusoid>,
}

impl Shadowing {
    /// Those of the run with `seed`.
    pub fn new(config: Config, seed: u64) -> Shadowing {
        let mut stream = Stream::global(config.seed.unwrap_or(seed), Purpose::Channel);
        let mut frequency = || {
            // In the plane the spectrum of exp(-r / d) has the distribution 1 - 1 / sqrt(1 + (2 pi d f)^2).
            let rest = 1.0 - stream.unit();
            let length = (1.0 / (rest * rest) - 1.0).sqrt() / (core::f64::consts::TAU * config.distance_m);
            let direction = stream.unit();
            ((length * turns::cos(direction), length * turns::sin(direction)), stream.unit())
        };
        let sinusoids = (0..SINUSOIDS).map(|_| {
            let (near, phase) = frequency();
            Sinusoid { near, far: frequency().0, phase }
        });
        Shadowing { sinusoids: sinusoids.collect(), config }
    }

    /// What is added to the power in decibels between `a` and `b`; the same from `b` to `a`.
    pub fn gain(&self, a: Position, b: Position) -> Db {
        let dot = |f: Position, place: Position| f.0 * place.0 + f.1 * place.1;
        let sum: f64 = self
            .sinusoids
            .iter()
            .map(|s| {
                turns::cos(dot(s.near, a) + dot(s.far, b) + s.phase)
                    + turns::cos(dot(s.near, b) + dot(s.far, a) + s.phase)
            })
            .sum();
        // Both directions are the same field read twice; near each other the two readings are alike.
        let between = distance(a, b);
        let alike = libm::exp(-2.0 * between / self.config.distance_m);
        Db(self.config.deviation.0 * sum / (SINUSOIDS as f64 * (1.0 + alike)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config { deviation: Db(6.0), distance_m: 10.0, seed: None };

    /// Covariance over many seeds of the shadows on two pairs of places, in units of the variance.
    fn correlation(first: (Position, Position), second: (Position, Position)) -> f64 {
        let runs = 4_000;
        let sum: f64 = (0..runs)
            .map(|seed| {
                let field = Shadowing::new(CONFIG, seed);
                field.gain(first.0, first.1).0 * field.gain(second.0, second.1).0
            })
            .sum();
        sum / runs as f64 / 36.0
    }

    // Gudmundson's model at the seven displacements, 3.5 standard errors (1 / sqrt(4000)) allowed; products for both ends.
    #[test]
    fn the_correlation_is_gudmundsons() {
        let (a, b) = ((0.0, 0.0), (120.0, 40.0));
        for metres in [0.0, 2.0, 5.0, 10.0, 20.0, 40.0] {
            let moved = (b.0 + metres * 0.6, b.1 + metres * 0.8);
            let found = correlation((a, b), (a, moved));
            assert!((found - f64::exp(-metres / 10.0)).abs() < 0.08, "{metres} m: {found}");
        }
        let both = correlation((a, b), ((5.0, 0.0), (b.0, b.1 + 5.0)));
        assert!((both - f64::exp(-1.0)).abs() < 0.06, "{both}");
    }

    #[test]
    fn shadows_are_normal_and_the_same_both_ways() {
        let values: Vec<f64> = (0..4_000)
            .map(|seed| {
                let field = Shadowing::new(CONFIG, seed);
                let (a, b) = ((3.0, 7.0), (90.0, 20.0));
                assert_eq!(field.gain(a, b), field.gain(b, a));
                field.gain(a, b).0 / 6.0
            })
            .collect();
        let mean = values.iter().sum::<f64>() / 4_000.0;
        assert!(mean.abs() < 0.06, "{mean}");
        // Shares of a normal distribution beyond 1, 2 and 3 standard deviations.
        for (bound, share) in [(1.0, 0.3173), (2.0, 0.0455), (3.0, 0.0027)] {
            let found = values.iter().filter(|x| x.abs() > bound).count() as f64 / 4_000.0;
            assert!((found - share).abs() < 4.0 * (share / 4_000.0f64).sqrt(), "beyond {bound}: {found}");
        }
    }

    #[test]
    fn with_a_seed_of_their_own_all_runs_have_the_same_shadows() {
        let shadow = |config: Config, run: u64| Shadowing::new(config, run).gain((0.0, 0.0), (30.0, 5.0));
        let own = Config { seed: Some(7), ..CONFIG };
        assert_eq!(shadow(own, 1), shadow(own, 2));
        assert_eq!(shadow(own, 1), shadow(CONFIG, 7));
        assert_ne!(shadow(CONFIG, 1), shadow(CONFIG, 2));
    }

    #[test]
    fn a_place_keeps_its_shadow() {
        let field = Shadowing::new(CONFIG, 3);
        let here = field.gain((0.0, 0.0), (30.0, 0.0));
        assert_eq!(here, Shadowing::new(CONFIG, 3).gain((0.0, 0.0), (30.0, 0.0)));
        // Within 5 cm of 10 m: a root mean square of 6 dB * sqrt(2 (1 - exp(-0.005))) = 0.6 dB.
        let steps = (0..500).map(|seed| {
            let field = Shadowing::new(CONFIG, seed);
            (field.gain((0.0, 0.0), (30.05, 0.0)).0 - field.gain((0.0, 0.0), (30.0, 0.0)).0).powi(2)
        });
        let step = (steps.sum::<f64>() / 500.0).sqrt();
        assert!((step / 0.6 - 1.0).abs() < 0.2, "no jumps: {step} dB within 5 cm");
    }
}
