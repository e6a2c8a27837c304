//! The retransmission timer of a module that keeps segments (RFC 6298 with a clock of 1 ns, one segment timed at a
//! time).

use fourhop_units::{Dur, Seq, Time};

/// RFC 6298 sections 2.1, 2.4 and 2.5.
const INITIAL: Dur = Dur::from_secs(1);
const LEAST: Dur = Dur::from_secs(1);
const MOST: Dur = Dur::from_secs(60);
/// 1 s doubled as often is beyond the most.
const BACKOFF_MAX: u32 = 6;

/// Retransmission time-out of one direction of a connection.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Rto {
    /// SRTT and RTTVAR.
    smoothed: Option<(Dur, Dur)>,
    backoff: u32,
    /// Where the segment that is being timed ends, and when it left.
    timed: Option<(Seq, Time)>,
}

impl Rto {
    /// A segment that ends at `end` leaves for the first time.
    pub(super) fn sent(&mut self, now: Time, end: Seq) {
        self.timed.get_or_insert((end, now));
    }

    /// Something is sent again: an acknowledgement could not tell its copies apart (Karn, section 3).
    pub(super) fn forget(&mut self) {
        self.timed = None;
    }

    /// Something new is acknowledged, which ends the back-off.
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

    pub(super) fn reset_back_off(&mut self) {
        self.backoff = 0;
    }

    pub(super) fn get(&self) -> Dur {
        let rto = self.smoothed.map_or(INITIAL, |(srtt, var)| srtt + var * 4);
        rto.max(LEAST).saturating_mul(1 << self.backoff).min(MOST)
    }
}
