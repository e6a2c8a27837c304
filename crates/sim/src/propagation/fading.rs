//! Fading: variation of the power within half a wavelength or within milliseconds, caused by many paths of different
//! length.
//!
//! Sources: Clarke 1968 and Jakes, Microwave Mobile Communications, 1974 (waves from all sides, Rayleigh); Rice 1948
//! and Rappaport, section 5.6 (with one that dominates); Zheng and Xiao, Improved models for the generation of multiple
//! uncorrelated Rayleigh fading waveforms, 2002 (random phases and angles in a sum of sinusoids); Akki and Haber, A
//! statistical model of mobile-to-mobile land communication channel, 1986 (both ends move).
//!
//! The model is a sum of plane waves between a pair of nodes: each leaves one end in one direction and arrives at the
//! other end from another direction. It is a pure function of (seed, pair, positions, time). Movement of an end changes
//! the phases and thus causes a Doppler spread of speed over wavelength; `doppler` adds the spread caused by people and
//! doors moving between fixed nodes. Leaves out: intersymbol interference (the channel is flat), and correlation
//! between the fading of neighbouring pairs.

use super::turns;
use crate::topology::{Position, distance};
use fourhop_units::{NodeId, Purpose, Stream, Time};
use std::cell::RefCell;
use std::sync::Arc;

/// Number of waves: a prime, so that no two of them are exactly opposite; the beat of those would never end.
const WAVES: usize = 19;
/// Bits of the phase that index the table. The phase of a wave is off by at most half a step, 3 mrad: the errors of all
/// waves together are 55 dB below the signal, a level to which one signal in 300,000 fades.
const DIGITS: u32 = 10;

/// Parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Power of the dominant wave over that of all others (Rice's K); 0: Rayleigh.
    pub k: f64,
    /// Largest Doppler shift in Hz caused by movement around the nodes.
    pub doppler_hz: f64,
    /// Wavelength in metres.
    pub wavelength_m: f64,
}

/// Number of fades in a mean: all are equally probable, so shares of frames come in steps of 0.4 %.
const FADES: u32 = 256;
/// By how much the angle advances to the next stronger fade: the golden ratio, whose multiples leave no gaps.
const ADVANCE: f64 = 0.618_033_988_749_894_9;

impl Config {
    /// Returns the mean over all fades of `of`, a function of the factor on the power.
    pub fn mean_over(&self, of: impl Fn(f64) -> f64) -> f64 {
        thread_local! {
            /// Factors of the most recent K: a network asks for the same one thousands of times.
            static FACTORS: RefCell<(f64, Vec<f64>)> = const { RefCell::new((0.0, Vec::new())) };
        }
        FACTORS.with_borrow_mut(|(k, factors)| {
            if factors.is_empty() || *k != self.k {
                (*k, *factors) = (self.k, self.factors().collect());
            }
            factors.iter().map(|&factor| of(factor)).sum::<f64>() / f64::from(FADES)
        })
    }

    /// Returns factors of equal probability. The dominant wave is constant and the sum of the others a complex Gaussian
    /// (Rice 1948), whose magnitude and angle are taken from a lattice.
    fn factors(self) -> impl Iterator<Item = f64> {
        let (steady, scattered) = ((self.k / (1.0 + self.k)).sqrt(), (1.0 / (1.0 + self.k)).sqrt());
        (0..FADES).map(move |i| {
            let strength = scattered * (-libm::log((f64::from(i) + 0.5) / f64::from(FADES))).sqrt();
            // Half a turn suffices: the other half is its mirror image.
            let (cos, sin) = direction(0.5 * (f64::from(i) * ADVANCE).fract());
            let (x, y) = (steady + strength * cos, strength * sin);
            x * x + y * y
        })
    }
}

/// The fading of one run.
#[derive(Clone, Debug)]
pub struct Fading {
    config: Config,
    seed: u64,
    /// Directions of the waves, evenly spaced.
    directions: [Position; WAVES],
    /// Cosine and sine at the middle of each phase step.
    circle: Arc<[[f32; 2]]>,
    /// Phase advance per nanosecond by the largest Doppler shift, in units of 2^-65 turns.
    turning: u64,
    /// Amplitudes of an ordinary and of the dominant wave, for a signal of mean power 1.
    amplitudes: (f64, f64),
}

/// The waves between two nodes at their positions. Phases are integers in units of 2^-32 turns, and wrap as turns do:
/// adding a wave to a signal takes a multiplication, an addition and a table look-up.
#[derive(Clone, Debug)]
pub struct Waves {
    /// Phases at time zero.
    phases: [u32; WAVES],
    /// Doppler shift of each wave caused by the surroundings, in units of 2^-31 of the largest.
    shifts: [i32; WAVES],
    /// Phase of the dominant wave, which the surroundings do not change.
    dominant: u32,
}

impl Fading {
    /// The fading of the run with `seed`.
    pub fn new(config: Config, seed: u64) -> Fading {
        let directions = core::array::from_fn(|n| direction(n as f64 / WAVES as f64));
        let steps = f64::from(1 << DIGITS);
        let circle = (0..1 << DIGITS).map(|step| {
            let (cos, sin) = direction((f64::from(step) + 0.5) / steps);
            [cos as f32, sin as f32]
        });
        let turning = (config.doppler_hz * 1e-9 * (1_u128 << 65) as f64) as u64;
        let k = config.k;
        let amplitudes = ((1.0 / (WAVES as f64 * (k + 1.0))).sqrt(), (k / (k + 1.0)).sqrt());
        Fading { config, seed, directions, circle: circle.collect(), turning, amplitudes }
    }

    /// Whether the fading changes while nodes are fixed.
    pub fn changes(&self) -> bool {
        self.config.doppler_hz > 0.0
    }

    /// Returns the waves between two nodes at their positions, the same in both directions.
    pub fn waves(&self, ends: [(NodeId, Position); 2]) -> Waves {
        let [(first, a), (second, b)] = if ends[0].0 <= ends[1].0 { ends } else { [ends[1], ends[0]] };
        let mut stream = Stream::of_pair(self.seed, (first, second), Purpose::Channel);
        let per_metre = 1.0 / self.config.wavelength_m;
        // Turning the position the other way has the effect of turning all directions.
        let mut turned = |(x, y): Position| {
            let (cos, sin) = direction(stream.unit() / WAVES as f64);
            (x * cos + y * sin, y * cos - x * sin)
        };
        let (at_a, at_b) = (turned((a.0 * per_metre, a.1 * per_metre)), turned((b.0 * per_metre, b.1 * per_metre)));
        let around = turned((1.0, 0.0));
        let along = |n: usize, (x, y): Position| self.directions[n % WAVES].0 * x + self.directions[n % WAVES].1 * y;
        let (mut phases, mut shifts) = ([0; WAVES], [0; WAVES]);
        for (n, (phase, shift)) in phases.iter_mut().zip(&mut shifts).enumerate() {
            // 7 and 12 do not divide 19: each direction at one end is combined with another at the other end.
            *phase = fraction(stream.unit() + along(n, at_a) + along(7 * n, at_b));
            *shift = (along(12 * n, around) * (1_u64 << 31) as f64) as i32;
        }
        Waves { phases, shifts, dominant: fraction(stream.unit() + distance(a, b) * per_metre) }
    }

    /// Returns how far the largest Doppler shift has turned phases by `now`, in units of 2^-33 turns. After 2^31 turns,
    /// each of the smaller shifts has made whole turns, and the count begins again.
    pub fn turned(&self, now: Time) -> u64 {
        ((u128::from(now.as_nanos()) * u128::from(self.turning)) >> 32) as u64
    }

    /// Returns the factor, with mean 1, by which `waves` change the power of a signal once the largest shift has
    /// [turned](Fading::turned) that far.
    #[inline]
    pub fn gain(&self, waves: &Waves, turned: u64) -> f64 {
        let Ok(circle): Result<&[[f32; 2]; 1 << DIGITS], _> = (&*self.circle).try_into() else {
            unreachable!("INVARIANT: it was made with so many steps")
        };
        let (mut re, mut im) = (0.0, 0.0);
        for (&phase, &shift) in waves.phases.iter().zip(&waves.shifts) {
            // 2^-31 of 2^-33 turns is 2^-64; whole turns fall off at the top.
            let phase = (u64::from(phase) << 32).wrapping_add((i64::from(shift) as u64).wrapping_mul(turned));
            let [cos, sin] = circle[(phase >> (64 - DIGITS)) as usize];
            re += cos;
            im += sin;
        }
        let (scattered, dominant) = self.amplitudes;
        let (mut re, mut im) = (f64::from(re) * scattered, f64::from(im) * scattered);
        if dominant > 0.0 {
            let (cos, sin) = direction(f64::from(waves.dominant) / (1_u64 << 32) as f64);
            re += dominant * cos;
            im += dominant * sin;
        }
        re * re + im * im
    }
}

/// The fractional part of a phase in turns, in units of 2^-32 turns.
fn fraction(turns: f64) -> u32 {
    (turns * (1_u64 << 32) as f64) as i64 as u32
}

fn direction(turn: f64) -> Position {
    (turns::cos(turn), turns::sin(turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAYLEIGH: Config = Config { k: 0.0, doppler_hz: 0.0, wavelength_m: 0.125 };

    fn gain(fading: &Fading, pair: u32, metres: f64, now: Time) -> f64 {
        let waves = fading.waves([(NodeId(2 * pair), (0.0, 0.0)), (NodeId(2 * pair + 1), (50.0 + metres, 3.0))]);
        fading.gain(&waves, fading.turned(now))
    }

    // For Rice fading the mean of the power is 1, that of its square 1 + (1 + 2 K) / (1 + K)^2; for Rayleigh fading, a
    // share of 1 - exp(-0.1) is below a tenth.
    #[test]
    fn averages_over_fades_are_those_of_the_distribution() {
        for k in [0.0, 0.5, 4.0, 100.0] {
            let config = Config { k, ..RAYLEIGH };
            let square = 1.0 + (1.0 + 2.0 * k) / (1.0 + k).powi(2);
            assert!((config.mean_over(|gain| gain) - 1.0).abs() < 0.01, "{k}");
            assert!((config.mean_over(|gain| gain * gain) / square - 1.0).abs() < 0.05, "{k}");
        }
        let deep = RAYLEIGH.mean_over(|gain| f64::from(u8::from(gain < 0.1)));
        assert!((deep - 0.0952).abs() < 0.004, "{deep}");
    }

    /// Share of pairs whose gain is below each bound.
    fn distribution(config: Config, bounds: [f64; 6]) -> [f64; 6] {
        let fading = Fading::new(config, 5);
        let gains: Vec<f64> = (0..40_000).map(|pair| gain(&fading, pair, 0.0, Time::ZERO)).collect();
        bounds.map(|bound| gains.iter().filter(|&&g| g < bound).count() as f64 / 40_000.0)
    }

    // P(gain < x) = 1 - exp(-x). A sum of 19 waves comes within 0.01 of it.
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
    fn level_crossings(config: Config, rho: f64, at: impl Fn(f64) -> (f64, Time)) -> f64 {
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

    // Jakes: sqrt(2 pi) f rho exp(-rho^2), f = speed / wavelength = 8 Hz at 1 m/s; and the same by the surroundings
    // alone.
    #[test]
    fn the_level_crossing_rate_is_that_of_jakes() {
        for rho in [0.3, 0.5, 1.0] {
            let expected = core::f64::consts::TAU.sqrt() * 8.0 * rho * f64::exp(-rho * rho);
            let walking = level_crossings(RAYLEIGH, rho, |t| (t, Time::ZERO));
            assert!((walking / expected - 1.0).abs() < 0.06, "{rho} walking: {walking}, {expected}");
            let around = Config { doppler_hz: 8.0, ..RAYLEIGH };
            let fixed = level_crossings(around, rho, |t| (0.0, Time::from_nanos((t * 1e9) as u64)));
            assert!((fixed / expected - 1.0).abs() < 0.06, "{rho} fixed: {fixed}, {expected}");
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

    // The same over a delay t, caused by the surroundings alone: J0(2 pi f t)^2, less 1 / 19 because there are only 19
    // waves, whose beats with themselves do not count; zero after many periods. 0.035 is 3.5 standard errors for
    // similar gains.
    #[test]
    fn the_correlation_over_time_is_clarkes() {
        let fading = Fading::new(Config { doppler_hz: 5.0, ..RAYLEIGH }, 6);
        for start_s in [0.0, 50_000.0] {
            let clarkes = |periods: f64| libm::j0(core::f64::consts::TAU * periods).powi(2) - 1.0 / WAVES as f64;
            let near = [0.1, 0.2, 0.4, 0.6].map(|periods| (periods, clarkes(periods)));
            for (periods, expected) in near.into_iter().chain([(200.3, 0.0)]) {
                let at = |pair, periods: f64| {
                    let now = Time::from_nanos(((start_s + periods / 5.0) * 1e9) as u64);
                    gain(&fading, pair, 0.0, now) - 1.0
                };
                let sum: f64 = (0..20_000).map(|pair| at(pair, 0.0) * at(pair, periods)).sum();
                let found = sum / 20_000.0;
                assert!((found - expected).abs() < 0.035, "{periods} after {start_s} s: {found}, {expected}");
            }
        }
    }

    // One pair over half an hour, in steps of a fifth of the duration of a 20 dB fade: each pair shows over time what
    // all pairs show at one instant.
    #[test]
    fn gains_over_time_are_those_over_pairs() {
        let fading = Fading::new(Config { doppler_hz: 5.0, ..RAYLEIGH }, 8);
        let (pairs, steps) = (20, 20_000);
        let mut below = [0; 4];
        let bounds = [0.01, 0.1, 1.0, 3.0];
        for pair in 0..pairs {
            for step in 0..steps {
                let gain = gain(&fading, pair, 0.0, Time::from_millis(91 * step));
                bounds.iter().zip(&mut below).for_each(|(&bound, below)| *below += u32::from(gain < bound));
            }
        }
        for (bound, below) in bounds.into_iter().zip(below) {
            let (found, expected) = (f64::from(below) / f64::from(pairs) / steps as f64, 1.0 - f64::exp(-bound));
            assert!((found - expected).abs() < 0.005 + 0.01 * expected, "below {bound}: {found}, {expected}");
        }
    }

    // A table step is 2 pi / 1024; half of it, evenly distributed, is a root mean square of 1.8 mrad for each wave.
    #[test]
    fn signals_from_the_table_are_those_of_cosines() {
        let fading = Fading::new(Config { doppler_hz: 5.0, ..RAYLEIGH }, 3);
        let mut squares = 0.0;
        for pair in 0..1_000 {
            let waves = fading.waves([(NodeId(pair), (0.0, 0.0)), (NodeId(pair + 1), (40.0, 30.0))]);
            let seconds = f64::from(pair) * 7.3;
            let (mut re, mut im) = (0.0, 0.0);
            for (&phase, &shift) in waves.phases.iter().zip(&waves.shifts) {
                let turns =
                    f64::from(phase) / (1_u64 << 32) as f64 + f64::from(shift) / (1_u64 << 31) as f64 * 5.0 * seconds;
                re += turns::cos(turns);
                im += turns::sin(turns);
            }
            let exact = ((re * re + im * im) / WAVES as f64).sqrt();
            let error = fading.gain(&waves, fading.turned(Time::from_nanos((seconds * 1e9) as u64))).sqrt() - exact;
            assert!(error.abs() < 0.0031 * (WAVES as f64).sqrt(), "{pair}: {error}");
            squares += error * error;
        }
        assert!((squares / 1_000.0).sqrt() < 0.0018, "55 dB below the signal: {}", (squares / 1_000.0).sqrt());
    }

    #[test]
    fn it_is_the_same_both_ways_and_every_time() {
        let fading = Fading::new(Config { k: 2.0, doppler_hz: 4.0, ..RAYLEIGH }, 1);
        let (a, b) = ((NodeId(3), (1.0, 2.0)), (NodeId(8), (20.0, -4.0)));
        let now = Time::from_millis(12_345);
        let gain = |ends, now| fading.gain(&fading.waves(ends), fading.turned(now));
        assert_eq!(gain([a, b], now), gain([b, a], now));
        assert_ne!(gain([a, b], now), gain([a, b], Time::from_millis(12_445)));
    }
}
