//! The gaps between acknowledgements, which show how much time passes between the frames that carry a flow.
//!
//! On radios that aggregate, segments arrive together, frame by frame. The mean weights each gap by its length, so the
//! short gaps within a frame hardly count.

use super::path::micros;
use fourhop_units::Time;

/// Longer gaps count as this many microseconds: we think that they are due to fades and time-outs.
pub(super) const MOST: u64 = 50_000;
/// The mean covers about this many microseconds.
const OVER: u64 = 1_000_000;

/// Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// When the last acknowledgement arrived.
    last: Option<Time>,
    /// Sums over the round's gaps and over their squares.
    sum: u64,
    squares: u64,
    mean: Option<u64>,
}

impl Gaps {
    pub(super) fn new() -> Gaps {
        Gaps { last: None, sum: 0, squares: 0, mean: None }
    }

    #[cfg(test)]
    pub(super) fn known(mean: u64) -> Gaps {
        Gaps { mean: Some(mean), ..Gaps::new() }
    }

    /// The mean; none if no round had two acknowledgements yet.
    pub(super) fn mean(&self) -> Option<u64> {
        self.mean
    }

    /// Notes an acknowledgement of new segments.
    pub(super) fn note(&mut self, now: Time) {
        if let Some(last) = self.last.replace(now) {
            let gap = micros(now.saturating_since(last)).min(MOST);
            self.sum += gap;
            // Below 2^32 each, in a round of less than 2^28 acknowledgements.
            self.squares += gap * gap;
        }
    }

    /// Ends a round.
    pub(super) fn end_round(&mut self) {
        let (sum, squares) = (self.sum, self.squares);
        (self.sum, self.squares) = (0, 0);
        if sum == 0 {
            return;
        }
        let (newest, weight) = (squares / sum, sum.min(OVER));
        self.mean = Some(self.mean.map_or(newest, |mean| (mean * (OVER - weight) + newest * weight) / OVER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean after a round of acknowledgements these microseconds apart, and after further rounds.
    fn mean(rounds: &[&[u64]]) -> Option<u64> {
        let (mut gaps, mut now) = (Gaps::new(), 1);
        gaps.note(Time::from_micros(now));
        for round in rounds {
            for gap in *round {
                now += gap;
                gaps.note(Time::from_micros(now));
            }
            gaps.end_round();
        }
        gaps.mean()
    }

    #[test]
    fn a_gap_counts_by_its_length() {
        assert_eq!(mean(&[&[100, 100, 100]]), Some(100));
        assert_eq!(mean(&[&[0, 0, 0, 9_000]]), Some(8_997), "acknowledgements at the same time are 1 us apart");
        assert_eq!(mean(&[&[1_000, 3_000]]), Some(2_500));
        assert_eq!((mean(&[]), mean(&[&[]])), (None, None), "one acknowledgement has no gap");
    }

    #[test]
    fn a_silence_counts_as_fifty_milliseconds() {
        let gaps = [49_999, 50_000, 50_001, 9_000_000].map(|gap| mean(&[&[gap]]));
        assert_eq!(gaps, [49_999, 50_000, 50_000, 50_000].map(Some));
    }

    /// A round of a tenth of a second moves the mean by a tenth, one of a second or more replaces it, and one without
    /// acknowledgements leaves it as it is.
    #[test]
    fn the_mean_covers_a_second() {
        assert_eq!(mean(&[&[10_000; 10], &[20_000; 5]]), Some(11_000));
        assert_eq!(mean(&[&[10_000; 10], &[]]), Some(10_000));
        assert_eq!(
            (mean(&[&[10_000], &[20_000; 50]]), mean(&[&[10_000], &[20_000; 99]])),
            (Some(20_000), Some(20_000))
        );
    }
}
