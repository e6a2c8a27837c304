//! The processor of a router: it takes time for each packet that the node sends or forwards, one after the other,
//! whichever radio they leave by.
//!
//! Waiting packets are in a ring of fixed size, as in a network driver; packets that find it full are lost. Not
//! modelled: interrupts, reception (a packet that ends here costs as much as its answer), and all other work of a
//! router.

use fourhop_units::{Dur, Time};

/// Maximum number of waiting packets, in both directions together: the receive buffers of Linux's ath9k.
const RING: u64 = 512;

/// The processor of one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor {
    cost: Dur,
    free: Time,
}

impl Processor {
    /// Creates a processor that takes `cost` per packet.
    pub fn new(cost: Dur) -> Processor {
        Processor { cost, free: Time::ZERO }
    }

    /// Returns how long a packet that arrives at `now` waits and is processed; `None` if too many already wait.
    pub fn take(&mut self, now: Time) -> Option<Dur> {
        let begin = self.free.max(now);
        if begin - now >= self.cost * RING {
            return None;
        }
        self.free = begin + self.cost;
        Some(self.free - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_done_one_after_the_other_and_too_many_are_lost() {
        let us = Dur::from_micros;
        let mut processor = Processor::new(us(100));
        let at = |us: u64| Time::ZERO + Dur::from_micros(us);
        assert_eq!(processor.take(at(50)), Some(us(100)));
        assert_eq!(processor.take(at(50)), Some(us(200)), "the second waits for the first");
        assert_eq!(processor.take(at(300)), Some(us(100)), "idle again");
        let taken = (0..1_000).filter_map(|_| processor.take(at(300))).count();
        assert_eq!(taken, 511, "with the one at work 512");
        assert_eq!(processor.take(at(400)), Some(us(51_200)), "one is done");
    }
}
