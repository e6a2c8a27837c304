//! Fading: the effect of many paths of different length on the power, within half a wavelength or within milliseconds.
//!
//! Sources: Clarke 1968 and Jakes, Microwave Mobile Communications, 1974 (waves from all sides, Rayleigh); Rice 1948 and
//! Rappaport, section 5.6 (with one that dominates); Zheng and Xiao, Improved models for the generation of multiple
//! uncorrelated Rayleigh fading waveforms, 2002 (random phases and angles in a sum of sinusoids); Akki and Haber, A
//! statistical model of mobile-to-mobile land communication channel, 1986 (both ends move).
//!
//! The model is a sum of plane waves between a pair of nodes: each leaves one end in one direction and arrives at the
//! other from another. It is a pure function of (seed, pair, positions, time). Movement of an end changes the phases
//! and thus causes a Doppler spread of speed over wavelength; `doppler` adds that of people and doors between nodes
//! that stand still. Leaves out: intersymbol interference (the channel is flat), and correlation between the fading of
//! neighbouring pairs.

use super::turns;
use crate::topology::{Position, distance};
use fourhop_units::{NodeId, Purpose, Stream, Time};

/// Waves. A prime, so that no two of them are exact opposites, whose beat would never end.
const WAVES: usize = 19;

/// Parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Power of the dominant wave over that of all others (Rice's K); 0: Rayleigh.
    pub k: f64,
    /// Greatest Doppler shift by what moves around the nodes, in Hz.
    pub doppler_hz: f64,
    /// Wavelength in metres.
    pub wavelength_m: f64,
}

/// The fading of one run.
#[derive(Clone, Debug)]
pub struct Fading {
    config: Config,
    seed: u64,
    /// Directions, spread evenly.
    directions: [Position; WAVES],
}

impl Fading {
    /// That of the run with `seed`.
    pub fn new(config: Config, seed: u64) -> Fading {
        let directions = core::array::from_fn(|n| direction(n as f64 / WAVES as f64));
        Fading { config, seed, directions }
    }

    /// By which factor the power of a signal between two nodes at their places is changed at `now`; its mean is 1. The same
    /// both ways.
    pub fn gain(&self, ends: [(NodeId, Position); 2], now: Time) -> f64 {
        let [(first, a), (second, b)] = if ends[0].0 <= ends[1].0 { ends } else { [ends[1], ends[0]] };
        let Config { k, doppler_hz, wavelength_m } = self.config;
        let mut stream = Stream::of_pair(self.seed, (first, second), Purpose::Channel);
        let per_metre = 1.0 / wavelength_m;
        let mut turned = || {
            let (cos, sin) = direction(stream.unit() / WAVES as f64);
            move |(x, y): Position| (x * cos - y * sin, x * sin + y * cos)
        };
        let (at_a, at_b, around) = (turned(), turned(), turned());
        let shift = doppler_hz * now.as_nanos() as f64 * 1e-9;
        let (mut re, mut im) = (0.0, 0.0);
        for n in 0..WAVES {
            // 7 and 12 are no divisors of 19: each direction at one end meets another at the other.
            let (from, to) = (at_a(self.directions[n]), at_b(self.directions[7 * n % WAVES]));
            let along = from.0 * a.0 + from.1 * a.1 + to.0 * b.0 + to.1 * b.1;
            let moving = around(self.directions[12 * n % WAVES]).0;
            let phase = stream.unit() + along * per_metre + shift * moving;
            re += turns::cos(phase);
            im += turns::sin(phase);
        }
        let scattered = (1.0 / (WAVES as f64 * (k + 1.0))).sqrt();
        (re, im) = (re * scattered, im * scattered);
        if k > 0.0 {
            let metres = distance(a, b);
            let (dominant, phase) = ((k / (k + 1.0)).sqrt(), stream.unit() + metres * per_metre);
            re += dominant * turns::cos(phase);
            im += dominant * turns::sin(phase);
        }
        re * re + im * im
    }
}

fn direction(turn: f64) -> Position {
    (turns::cos(turn), turns::sin(turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAYLEIGH: Config = Config { k: 0.0, doppler_hz: 0.0, wavelength_m: 0.125 };

    fn gain(fading: &Fading, pair: u32, metres: f64, now: Time) -> f64 {
        fading.gain([(NodeId(2 * pair), (0.0, 0.0)), (NodeId(2 * pair + 1), (50.0 + metres, 3.0))], now)
    }

    /// Share of pairs whose gain is below each bound.
    fn distribution(config: Config, bounds: [f64; 6]) -> [f64; 6] {
        let fading = Fading::new(config, 5);
        let gains: Vec<f64> = (0..40_000).map(|pair| gain(&fading, pair, 0.0, Time::ZERO)).collect();
        bounds.map(|bound| gains.iter().filter(|&&g| g < bound).count() as f64 / 40_000.0)
    }

    // P(gain < x) = 1 - exp(-x). A sum of 19 waves comes within a hundredth of it.
    #[test]
    fn rayleigh_gains_are_exponential() {
        let bounds = [0.01, 0.1, 0.5, 1.0, 2.0, 4.0];
        for (found, bound) in distribution(RAYLEIGH, bounds).into_iter().zip(bounds) {
            let expected = 1.0 - f64::exp(-bound);
            assert!((found - expected).abs() < 0.01, "below {bound}: {found}, {expected}");
        }
        let deep = distribution(RAYLEIGH, bounds)[0];
        assert!((deep / 0.00995 - 1.0).abs() < 0.2, "fades of 20 dB: {deep}");
    }

    // Rice: P(gain < x) = 1 - Q1(sqrt(2 K), sqrt(2 (K + 1) x)), by the series of Marcum's function; K = 4 (6 dB).
    #[test]
    fn rician_gains_are_rices() {
        let k = 4.0f64;
        let marcum = |a: f64, b: f64| {
            // 1 - Q1 as a mixture of gamma distributions with Poisson weights.
            let (mean, y) = (a * a / 2.0, b * b / 2.0);
            let (mut weight, mut below, mut term) = ((-mean).exp(), 1.0 - (-y).exp(), (-y).exp());
            let mut sum = 0.0;
            for n in 1..100 {
                sum += weight * below;
                weight *= mean / f64::from(n);
                term *= y / f64::from(n);
                below -= term;
            }
            1.0 - sum
        };
        let bounds = [0.05, 0.2, 0.5, 1.0, 1.5, 2.5];
        let config = Config { k, ..RAYLEIGH };
        for (found, bound) in distribution(config, bounds).into_iter().zip(bounds) {
            let expected = 1.0 - marcum((2.0 * k).sqrt(), (2.0 * (k + 1.0) * bound).sqrt());
            assert!((found - expected).abs() < 0.01, "below {bound}: {found}, {expected}");
        }
    }

    /// Rate at which the envelope crosses `rho` times its root mean square upwards, per second, over many pairs.
    fn crossings(config: Config, rho: f64, at: impl Fn(f64) -> (f64, Time)) -> f64 {
        let fading = Fading::new(config, 9);
        let (pairs, steps, dt) = (400, 2_000, 1e-3);
        let mut count = 0;
        for pair in 0..pairs {
            let mut below = false;
            for step in 0..steps {
                let (metres, now) = at(f64::from(step) * dt);
                let under = gain(&fading, pair, metres, now) < rho * rho;
                count += u32::from(below && !under);
                below = under;
            }
        }
        f64::from(count) / (f64::from(pairs) * f64::from(steps) * dt)
    }

    // Jakes: sqrt(2 pi) f rho exp(-rho^2), f = speed / wavelength = 8 Hz at 1 m/s; and the same by the surroundings alone.
    #[test]
    fn the_level_crossing_rate_is_that_of_jakes() {
        for rho in [0.3, 0.5, 1.0] {
            let expected = core::f64::consts::TAU.sqrt() * 8.0 * rho * f64::exp(-rho * rho);
            let walking = crossings(RAYLEIGH, rho, |t| (t, Time::ZERO));
            assert!((walking / expected - 1.0).abs() < 0.06, "{rho} walking: {walking}, {expected}");
            let around = Config { doppler_hz: 8.0, ..RAYLEIGH };
            let standing = crossings(around, rho, |t| (0.0, Time::from_nanos((t * 1e9) as u64)));
            assert!((standing / expected - 1.0).abs() < 0.06, "{rho} standing: {standing}, {expected}");
        }
    }

    // Clarke: the correlation of the gain over a displacement d of one end is J0(2 pi d / wavelength)^2.
    #[test]
    fn the_correlation_over_distance_is_clarkes() {
        let fading = Fading::new(RAYLEIGH, 2);
        for wavelengths in [0.1f64, 0.2, 0.4, 0.6] {
            let pairs = 20_000;
            let sum: f64 = (0..pairs)
                .map(|pair| {
                    let at = |metres| gain(&fading, pair, metres, Time::ZERO) - 1.0;
                    at(0.0) * at(wavelengths * 0.125)
                })
                .sum();
            let expected = libm::j0(core::f64::consts::TAU * wavelengths).powi(2);
            assert!((sum / f64::from(pairs) - expected).abs() < 0.06, "{wavelengths}: {}", sum / f64::from(pairs));
        }
    }

    #[test]
    fn it_is_the_same_both_ways_and_every_time() {
        let fading = Fading::new(Config { k: 2.0, doppler_hz: 4.0, ..RAYLEIGH }, 1);
        let (a, b) = ((NodeId(3), (1.0, 2.0)), (NodeId(8), (20.0, -4.0)));
        let now = Time::from_millis(12_345);
        assert_eq!(fading.gain([a, b], now), fading.gain([b, a], now));
        assert_ne!(fading.gain([a, b], now), fading.gain([a, b], Time::from_millis(12_445)));
    }
}
