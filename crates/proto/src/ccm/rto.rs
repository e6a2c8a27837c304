//! The retransmission timer of a module that keeps segments (RFC 6298 with a clock of 1 ns, one segment timed at a
//! time).

use fourhop_units::{Dur, Seq, Time};

/// RFC 6298 sections 2.1, 2.4 and 2.5.
const INITIAL: Dur = Dur::from_secs(1);
const LEAST: Dur = Dur::from_secs(1);
const MOST: Dur = Dur::from_secs(60);
/// 1 s doubled this often exceeds the maximum.
const BACKOFF_MAX: u32 = 6;

/// Retransmission timeout of one direction of a connection.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Rto {
    /// SRTT and RTTVAR.
    smoothed: Option<(Dur, Dur)>,
    pub(super) backoff: u32,
    /// End of the segment being timed, and when it was sent.
    timed: Option<(Seq, Time)>,
}

impl Rto {
    /// Notes that a segment ending at `end` is sent for the first time.
    pub(super) fn sent(&mut self, now: Time, end: Seq) {
        self.timed.get_or_insert((end, now));
    }

    /// Stops timing on a retransmission: an acknowledgement could not be attributed to one copy (Karn, section 3).
    pub(super) fn forget(&mut self) {
        self.timed = None;
    }

    /// Ends the back-off, as something new is acknowledged.
    pub(super) fn acknowledged(&mut self, now: Time, ack: Seq) {
        self.backoff = 0;
        let Some((_, sent)) = self.timed.take_if(|(end, _)| !end.after(ack)) else { return };
        let rtt = now.saturating_since(sent).as_nanos();
        self.smoothed = Some(match self.smoothed {
            None => (Dur::from_nanos(rtt), Dur::from_nanos(rtt / 2)),
            Some((srtt, var)) => {
                let (srtt, var) = (srtt.as_nanos(), var.as_nanos());
                let var = (3 * var + srtt.abs_diff(rtt)) / 4;
                (Dur::from_nanos((7 * srtt + rtt) / 8), Dur::from_nanos(var))
            }
        });
    }

    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(BACKOFF_MAX);
    }

    pub(super) fn get(&self) -> Dur {
        let rto = self.smoothed.map_or(INITIAL, |(srtt, var)| srtt + var * 4);
        rto.max(LEAST).saturating_mul(1 << self.backoff).min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u32) -> Seq {
        Seq::from_wire(n)
    }

    /// The timeout after these round trips in milliseconds, one after another.
    fn after(round_trips: &[u64]) -> Dur {
        let mut rto = Rto::default();
        for (n, &rtt) in (1..).zip(round_trips) {
            let sent = Time::from_secs(100 * u64::from(n));
            rto.sent(sent, at(n));
            rto.acknowledged(sent + Dur::from_millis(rtt), at(n));
        }
        rto.get()
    }

    /// RFC 6298 section 2 in real numbers: alpha = 1/8, beta = 1/4, K = 4; 1 s at least, 60 s at most.
    #[test]
    fn the_time_out_is_the_standards() {
        let round_trips = [2_000, 3_000, 1_500, 8_000, 8_000, 8_000, 400, 700, 30_000, 1_000];
        let mut smoothed: Option<(f64, f64)> = None;
        for (n, &rtt) in (1..).zip(&round_trips) {
            let rtt = rtt as f64 / 1e3;
            let (srtt, var) = smoothed.map_or((rtt, rtt / 2.0), |(srtt, var)| {
                (0.875 * srtt + 0.125 * rtt, 0.75 * var + 0.25 * (srtt - rtt).abs())
            });
            smoothed = Some((srtt, var));
            let expected = (srtt + 4.0 * var).clamp(1.0, 60.0);
            let found = after(&round_trips[..n]).as_secs_f64();
            assert!((found - expected).abs() < 1e-6, "{n} round trips: {found} s for {expected} s");
        }
        assert_eq!(after(&[]), Dur::from_secs(1));
        assert_eq!(after(&[10; 5]), Dur::from_secs(1), "section 2.4");
        assert_eq!(after(&[50_000]), Dur::from_secs(60), "section 2.5");
    }

    /// RFC 6298 sections 5.5 and 5.7: doubled each time, until something new is acknowledged.
    #[test]
    fn the_time_out_doubles_until_an_acknowledgement() {
        let mut rto = Rto::default();
        rto.sent(Time::ZERO, at(1));
        rto.acknowledged(Time::from_secs(1), at(1));
        let mut doubled = Vec::new();
        for _ in 0..8 {
            doubled.push(rto.get().as_millis());
            rto.back_off();
        }
        assert_eq!(doubled, [3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000, 60_000]);
        rto.acknowledged(Time::from_secs(2), at(2));
        assert_eq!(rto.get(), Dur::from_secs(3));
    }

    /// Karn (RFC 6298 section 3): nothing sent twice gives a sample. One segment is timed at a time, up to its end.
    #[test]
    fn a_sample_is_the_round_trip_of_one_segment_sent_once() {
        let mut rto = Rto::default();
        rto.sent(Time::ZERO, at(1));
        rto.forget();
        rto.acknowledged(Time::from_secs(9), at(1));
        assert_eq!(rto.get(), Dur::from_secs(1));
        rto.sent(Time::from_secs(10), at(2));
        rto.sent(Time::from_secs(11), at(3));
        rto.acknowledged(Time::from_secs(11), at(1));
        assert_eq!(rto.get(), Dur::from_secs(1), "the segment is still under way");
        rto.acknowledged(Time::from_secs(14), at(3));
        assert_eq!(rto.get(), Dur::from_secs(12), "4 s and four times 2 s");
        rto.acknowledged(Time::from_secs(40), at(3));
        assert_eq!(rto.get(), Dur::from_secs(12), "a sample counts once");
    }
}
