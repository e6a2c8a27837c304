//! The receiver side: which measurement belongs to which acknowledgement.
//!
//! An acknowledgement carries the measurement of the last packet that it acknowledges, cumulatively or by SACK, and
//! each measurement is returned once: a duplicate acknowledgement that covers nothing new carries none.

use crate::wire::TcpSegment;
use crate::wire::options::{Echo, Path};
use fourhop_units::{Dur, Seq};
use std::collections::VecDeque;

/// Most measurements that await acknowledgement: more than the segments in a window of 64 kB. The oldest is dropped.
const WAITING_MAX: usize = 128;

/// Measurement of a data segment.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    start: Seq,
    end: Seq,
    covered: Covered,
}

/// Measurement returned with an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// Bandwidth and delay of the path.
    pub echo: Echo,
    /// Time the packet was in transit, without waits in queues, if the simulator reports it.
    pub forward: Option<Dur>,
}

/// Measurements in the order of their arrival.
#[derive(Clone, Default, Debug)]
pub struct Coverage {
    waiting: VecDeque<Arrived>,
}

impl Coverage {
    /// Notes an arriving segment that was measured on its way.
    pub fn note(&mut self, segment: &TcpSegment, path: Path, forward: Option<Dur>) {
        if segment.payload == 0 {
            return;
        }
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
        }
        let echo = Echo { bandwidth: path.bandwidth, delay: path.delay };
        let (start, end) = (segment.seq, segment.seq + segment.payload);
        self.waiting.push_back(Arrived { start, end, covered: Covered { echo, forward } });
    }

    /// Takes the measurement of the last packet to arrive among those that `ack` acknowledges, and removes them all.
    pub fn take(&mut self, ack: &TcpSegment) -> Option<Covered> {
        let covers = |arrived: &Arrived| {
            let by_sack = |&(left, right): &(Seq, Seq)| !arrived.start.before(left) && !arrived.end.after(right);
            !arrived.end.after(ack.ack) || ack.options.sack.iter().any(by_sack)
        };
        let mut last = None;
        self.waiting.retain(|arrived| {
            let covered = covers(arrived);
            if covered {
                last = Some(arrived.covered);
            }
            !covered
        });
        last
    }
}
