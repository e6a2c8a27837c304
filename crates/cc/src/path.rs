//! Transmission times of the links of a path, whose rates may differ.

use fourhop_units::Rate;

/// Prefix sums of the time that the links of a path take to send one bit, in the order in which a segment passes them.
///
/// A packet can collect it along its path: each node adds its link. The first [`PathTime::FRONT`] links are stored
/// individually, so the delay over n hops is known exactly for each n up to that; beyond, the remaining links count
/// with their mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathTime {
    /// Sum after each of the first links, in picoseconds per bit.
    front: [u64; PathTime::FRONT],
    all: u64,
    hops: u32,
}

impl PathTime {
    /// Links that are stored individually.
    pub const FRONT: usize = 8;

    /// Builds the path of these links, nearest first; at most 255 of them count. `None` without any link.
    pub fn over(rates: impl IntoIterator<Item = Rate>) -> Option<PathTime> {
        let mut path = PathTime { front: [0; PathTime::FRONT], all: 0, hops: 0 };
        for rate in rates.into_iter().take(255) {
            // Rounded to the nearest; the error is at most 0.03 % at 600 Mbit/s, and 0.0006 % below 11 Mbit/s.
            path.all += (1_000_000_000_000 + rate.bps() / 2) / rate.bps();
            path.hops += 1;
            if let Some(slot) = path.front.get_mut(path.hops as usize - 1) {
                *slot = path.all;
            }
        }
        (path.hops > 0).then_some(path)
    }

    /// Number of links.
    pub const fn hops(self) -> u32 {
        self.hops
    }

    /// Nanoseconds that the first `links` links take for `bytes`, one after the other, or all links if there are fewer.
    /// `None` if that is longer than 2^46 ns.
    pub fn time_for(self, bytes: u32, links: u32) -> Option<u64> {
        let picos = match links as usize {
            0 => 0,
            n if n >= self.hops as usize => self.all,
            n if n <= PathTime::FRONT => self.front[n - 1],
            n => {
                let front = self.front[PathTime::FRONT - 1];
                front
                    + (self.all - front) / u64::from(self.hops - PathTime::FRONT as u32) * (n - PathTime::FRONT) as u64
            }
        };
        let bits = u64::from(bytes) * 8;
        // 2^57 ps are more than 2^46 ns; the product is computed only if it fits.
        let nanos = (picos <= (1 << 57) / bits.max(1)).then(|| (picos * bits + 500) / 1_000)?;
        (nanos <= 1 << 46).then_some(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes are 8000 bits: 4 ms at 2 Mbit/s, 1.4545 ms at 5.5, 0.7273 ms at 11.
    #[test]
    fn links_add_up_in_their_order() {
        let rates = [2_000, 11_000, 5_500].map(Rate::kbps);
        let path = PathTime::over(rates).expect("three links");
        let times: Vec<_> = (0..5).map(|links| path.time_for(1_000, links).expect("short")).collect();
        assert_eq!(times, [0, 4_000_000, 4_727_272, 6_181_816, 6_181_816]);
        assert_eq!(path.hops(), 3);
        assert_eq!(PathTime::over([]), None);
    }

    /// Links beyond those stored individually count with their mean.
    #[test]
    fn long_paths_end_in_their_sum() {
        let path = PathTime::over(std::iter::repeat_n(Rate::kbps(1_000), 20)).expect("twenty links");
        for links in 1..=20 {
            assert_eq!(path.time_for(125, links), Some(u64::from(links) * 1_000_000));
        }
        assert_eq!(path.time_for(u32::MAX, 20), None, "longer than 2^46 ns");
    }
}
