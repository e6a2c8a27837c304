//! The delimiter: how many segments fit on the path (section III-C).
//!
//! W_max = ceil(n / 4): of four consecutive hops one can send. Equation 4 subtracts the excess of the present delay
//! over the smallest one: W_practical = S_average / P x FLD_min x W_max / n, which with equation 2 is W_max x FLD_min /
//! FLD. It is at least W_LOWER, even on paths so short that W_max is less.
//!
//! For a sender behind a wire, whose queues do no harm, it acts only while the buffers are full: it starts when the
//! buffer occupancy W_max (1 - FLD_min / SFLD) rises above a high mark and stops below a low one. The marks are between
//! the smallest and the largest occupancy seen over this number of hops; the paper does not say where.

use fourhop_units::Dur;

/// W_LOWER of section III-C: the least slow-start threshold.
pub const W_LOWER: u32 = 2;

/// Positions of the two marks between the smallest and the largest buffer occupancy, in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// Below this the window is no longer limited.
    pub low: u32,
    /// Above this it is limited.
    pub high: u32,
}

impl Gate {
    /// A quarter and three quarters.
    pub const QUARTERS: Gate = Gate { low: 250, high: 750 };
}

/// Rounding of equation 4's window to whole segments; the paper leaves it open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Rounds down: where W_max is 3, a packet slower than the fastest leaves 2.
    Floor,
    /// Half a segment or more counts as one.
    Nearest,
    /// Rounds up: every fraction counts as a segment.
    Ceiling,
}

/// Computes the window of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delimiter {
    gate: Gate,
    fld_min: Option<Dur>,
    /// Smallest and largest occupancy over the current number of hops.
    range: Option<(u32, u32)>,
    occupancy: u32,
    crowded: bool,
}

impl Delimiter {
    /// A delimiter that has seen nothing.
    pub const fn new(gate: Gate) -> Delimiter {
        Delimiter { gate, fld_min: None, range: None, occupancy: 0, crowded: false }
    }

    /// Starts anew: the route has changed.
    pub fn reset(&mut self) {
        *self = Delimiter::new(self.gate);
    }

    /// Takes the delay `fld` of a packet over `hops`, and the smoothed delay `sfld`.
    pub fn sample(&mut self, hops: u8, fld: Dur, sfld: Dur) {
        let least = self.fld_min.map_or(fld, |least| least.min(fld));
        self.fld_min = Some(least);
        self.occupancy = Delimiter::occupancy_of(hops, least, sfld);
        let (low, high) = self.range.unwrap_or((self.occupancy, self.occupancy));
        let (low, high) = (low.min(self.occupancy), high.max(self.occupancy));
        self.range = Some((low, high));
        let mark = |share: u32| low + (u64::from(high - low) * u64::from(share.min(1_000)) / 1_000) as u32;
        if self.occupancy > mark(self.gate.high) {
            self.crowded = true;
        } else if self.occupancy < mark(self.gate.low) || low == high {
            self.crowded = false;
        }
    }

    /// Whether the buffers of the path are full, by the two marks.
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Buffer occupancy in thousandths of a segment.
    pub fn occupancy(&self) -> u32 {
        self.occupancy
    }

    /// The smallest delay over the current number of hops.
    pub fn fld_min(&self) -> Option<Dur> {
        self.fld_min
    }

    /// W_max: the number of segments that fit on a path of this many hops.
    pub fn w_max(hops: u8) -> u32 {
        u32::from(hops).div_ceil(4)
    }

    /// W_UPPER: the same, but never below W_LOWER.
    pub fn w_upper(hops: u8) -> u32 {
        Delimiter::w_max(hops).max(W_LOWER)
    }

    /// W_practical after a packet that took `fld` (equation 4), in whole segments.
    pub fn practical(&self, hops: u8, fld: Dur, rounding: Rounding) -> u32 {
        let least = self.fld_min.unwrap_or(fld).min(fld);
        let whole = u128::from(fld.as_nanos().max(1));
        let window = u128::from(Delimiter::w_max(hops)) * u128::from(least.as_nanos());
        let window = match rounding {
            Rounding::Floor => window / whole,
            Rounding::Nearest => (2 * window + whole) / (2 * whole),
            Rounding::Ceiling => window.div_ceil(whole),
        };
        (window as u32).clamp(W_LOWER, Delimiter::w_upper(hops))
    }

    /// (n / FLD_min - n / SFLD) FLD_min W_max / n, in thousandths; zero while packets are faster than ever before.
    fn occupancy_of(hops: u8, least: Dur, sfld: Dur) -> u32 {
        let (least, sfld) = (u128::from(least.as_nanos()), u128::from(sfld.as_nanos().max(1)));
        let share = 1_000u128.saturating_sub(1_000 * least / sfld) as u32;
        Delimiter::w_max(hops) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Dur = Dur::from_millis;

    #[test]
    fn a_path_holds_a_segment_for_four_hops() {
        let expected = [(1, 1), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3), (10, 3), (12, 3), (13, 4), (255, 64)];
        for (hops, window) in expected {
            assert_eq!((Delimiter::w_max(hops), Delimiter::w_upper(hops)), (window, window.max(2)), "{hops} hops");
        }
    }

    /// Equation 4 over 16 hops: W_max is 4; twice the smallest delay leaves half of it, and never less than two.
    #[test]
    fn the_window_falls_with_the_delay() {
        let mut delimiter = Delimiter::new(Gate::QUARTERS);
        let mut window = |ms| {
            delimiter.sample(16, MS(ms), MS(ms));
            delimiter.practical(16, MS(ms), Rounding::Floor)
        };
        assert_eq!(
            [window(100), window(133), window(134), window(200), window(1_000), window(100)],
            [4, 3, 2, 2, 2, 4]
        );
        // A new smallest delay counts at once; a delay that was fast before is slow now.
        assert_eq!([window(50), window(100)], [4, 2]);
    }

    /// Over 12 hops W_max is 3. Rounded down, only the fastest packet keeps it; rounded to nearest, packets of up to
    /// 6/5 of the smallest delay; rounded up, those below 3/2.
    #[test]
    fn fractions_are_cut_off_or_rounded() {
        let mut delimiter = Delimiter::new(Gate::QUARTERS);
        delimiter.sample(12, MS(100), MS(100));
        let windows =
            |rounding| [100, 101, 120, 121, 149, 150, 400].map(|ms| delimiter.practical(12, MS(ms), rounding));
        assert_eq!(windows(Rounding::Floor), [3, 2, 2, 2, 2, 2, 2]);
        assert_eq!(windows(Rounding::Nearest), [3, 3, 3, 2, 2, 2, 2]);
        assert_eq!(windows(Rounding::Ceiling), [3, 3, 3, 3, 3, 2, 2]);
    }

    /// The two marks over 16 hops: occupancies from 0 to 2 segments, marks at 0.5 and 1.5.
    #[test]
    fn the_gate_has_two_marks() {
        let mut delimiter = Delimiter::new(Gate::QUARTERS);
        let mut smoothed = |sfld| {
            delimiter.sample(16, MS(100), sfld);
            (delimiter.occupancy(), delimiter.is_crowded())
        };
        // Exactly at a mark nothing changes: 4 (1 - 100 / 160) is the high one, 4 (1 - 100 / 114.28) the low one.
        let (high, low) = (MS(160), Dur::from_micros(114_280));
        assert_eq!(smoothed(MS(100)), (0, false));
        assert_eq!(smoothed(MS(200)), (2_000, true));
        assert_eq!(smoothed(low), (500, true));
        assert_eq!(smoothed(MS(110)), (364, false));
        assert_eq!(smoothed(high), (1_500, false));
        let mut crowded = |sfld| smoothed(MS(sfld));
        assert_eq!(crowded(200), (2_000, true));
        // 4 (1 - 100 / 133): between the marks nothing changes.
        assert_eq!(crowded(133), (996, true));
        assert_eq!(crowded(110), (364, false));
        assert_eq!(crowded(133), (996, false));
    }

    #[test]
    fn a_new_route_forgets() {
        let mut delimiter = Delimiter::new(Gate::QUARTERS);
        delimiter.sample(16, MS(10), MS(10));
        delimiter.reset();
        delimiter.sample(16, MS(100), MS(100));
        assert_eq!((delimiter.fld_min(), delimiter.practical(16, MS(100), Rounding::Floor)), (Some(MS(100)), 4));
    }

    proptest! {
        /// Whatever is measured, the window lies between its bounds and the occupancy below W_max.
        #[test]
        fn windows_stay_within_their_bounds(
            samples in prop::collection::vec((any::<u8>(), any::<u64>(), any::<u64>()), 1..20),
            low in any::<u32>(), high in any::<u32>(),
        ) {
            let mut delimiter = Delimiter::new(Gate { low, high });
            for (hops, fld, sfld) in samples {
                let (fld, sfld) = (Dur::from_nanos(fld), Dur::from_nanos(sfld));
                delimiter.sample(hops, fld, sfld);
                let windows =
                    [Rounding::Floor, Rounding::Nearest, Rounding::Ceiling]
                        .map(|each| delimiter.practical(hops, fld, each));
                prop_assert!(windows.is_sorted() && windows[2] - windows[0] <= 1);
                prop_assert!(windows.iter().all(|window| (W_LOWER..=Delimiter::w_upper(hops)).contains(window)));
                prop_assert!(delimiter.occupancy() <= 1_000 * Delimiter::w_max(hops));
            }
        }
    }
}
