//! The MPDUs of an aggregate at a receiver: each has its own bits, and survives or not independently.

use super::config::bits_in;
use crate::wire::{Aggregate, with_one_more};
use fourhop_units::{Bytes, Rate, Stream, Time};

/// SERVICE bits before the PSDU.
const SERVICE: u64 = 16;

#[derive(Clone, Copy, Debug)]
struct Part {
    begins: Time,
    ends: Time,
    hazard: f64,
    /// It survives if its survival probability exceeds this.
    chance: f64,
}

/// The MPDUs of the frame being received; empty if it is not an aggregate. The list keeps its memory.
#[derive(Clone, Default, Debug)]
pub(super) struct Parts {
    list: Vec<Part>,
    arrived: u64,
}

impl Parts {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
    }

    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Starts the reception of `aggregate`, whose first symbol is at `begins`.
    pub fn begin(&mut self, aggregate: &Aggregate, begins: Time, random: &mut Stream) {
        self.list.clear();
        let rate = aggregate.mcs.rate();
        let at = |bits: u64| begins + rate.time_for(Bytes(bits / 8));
        let mut len = Bytes(0);
        for mpdu in &aggregate.mpdus {
            len = with_one_more(len, mpdu.len);
            let (from, to) = (SERVICE + (len - mpdu.len).bits(), SERVICE + len.bits());
            self.list.push(Part { begins: at(from), ends: at(to), hazard: 0.0, chance: random.unit() });
        }
    }

    /// Adds `hazard` for each bit sent from `from` to `to` at `rate`.
    pub fn count(&mut self, from: Time, to: Time, rate: Rate, hazard: f64) {
        for part in &mut self.list {
            let (from, to) = (from.max(part.begins), to.min(part.ends));
            if from < to {
                part.hazard += bits_in(to - from, rate) * hazard;
            }
        }
    }

    /// The frame has ended: returns which MPDUs have survived.
    pub fn judge(&mut self) -> u64 {
        let survives = |part: &Part| part.chance < libm::exp(-part.hazard);
        self.arrived = bits(self.list.iter().map(survives));
        self.arrived
    }

    /// Whether any MPDU would have survived with `hazard` per bit.
    pub fn any_survives(&self, rate: Rate, hazard: f64) -> bool {
        self.list.iter().any(|part| part.chance < libm::exp(-bits_in(part.ends - part.begins, rate) * hazard))
    }
}

fn bits(survive: impl Iterator<Item = bool>) -> u64 {
    survive.enumerate().fold(0, |bits, (place, good)| bits | u64::from(good) << place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Category, Foreign, Format, Guard, Mcs, Mpdu, Msdu, Payload, Width};
    use fourhop_units::{Dur, NodeId, Purpose};

    const BEGINS: Time = Time::from_micros(100);

    /// Three MPDUs of 650 bytes at 65 Mbit/s. Each has a delimiter of four bytes, SERVICE precedes the first, and the
    /// second begins at the next multiple of four.
    fn begun() -> Parts {
        let mpdu = |seq| {
            let attempt = crate::wire::Attempt { rate: Rate::kbps(1_000), rts: false };
            let payload = Payload::Foreign(Foreign::new(1, &[0], &[attempt]).unwrap());
            let first = Msdu { dst: NodeId(1).mac(), len: Bytes(620), payload };
            Mpdu { seq, retry: false, len: Bytes(650), first, more: Vec::new() }
        };
        let mcs = Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap();
        let aggregate = Aggregate { mcs, category: Category::Be, mpdus: (0..3).map(mpdu).collect() };
        let mut parts = Parts::default();
        parts.begin(&aggregate, BEGINS, &mut Stream::new(1, NodeId(0), Purpose::Channel));
        parts
    }

    #[test]
    fn each_has_its_own_time_on_the_air() {
        // The 8 bits of a byte at 65 Mbit/s.
        let at = |bytes: u64| BEGINS + Dur::from_nanos(bytes * 8_000 / 65);
        for (place, first) in [(0, 2 + 4), (1, 2 + 656 + 4), (2, 2 + 2 * 656 + 4)] {
            let part = begun().list[place];
            let near = |found: Time, expected: Time| {
                assert!(found.max(expected) - found.min(expected) <= Dur::from_nanos(1), "{found:?}, {expected:?}");
            };
            near(part.begins, at(first));
            near(part.ends, at(first + 650));
        }
    }

    #[test]
    fn what_happens_while_one_is_sent_is_lost_with_it_alone() {
        let mut parts = begun();
        assert!(!parts.is_empty());
        assert_eq!((parts.judge(), parts.arrived()), (0b111, 0b111));
        let [_, second, _] = parts.list[..] else { panic!("three") };
        let rate = Rate::kbps(65_000);
        parts.count(second.begins, second.begins + Dur::from_micros(10), rate, 1.0);
        assert_eq!((parts.judge(), parts.arrived()), (0b101, 0b101));
        // Between two of them there is nothing to lose.
        let mut parts = begun();
        let [first, second, _] = parts.list[..] else { panic!("three") };
        parts.count(first.ends, second.begins, rate, 1e9);
        assert_eq!(parts.judge(), 0b111);
        parts.count(BEGINS, BEGINS + Dur::from_secs(1), rate, 1e9);
        assert_eq!((parts.judge(), parts.arrived()), (0, 0));
        assert!(parts.any_survives(rate, 0.0) && !parts.any_survives(rate, 1e9));
        parts.clear();
        assert!(parts.is_empty());
    }
}
