//! The MPDUs of an aggregate at a receiver: the bits of each are its own, and each survives or not by its own chance.

use super::config::bits_in;
use crate::wire::{Aggregate, with_one_more};
use fourhop_units::{Bytes, Rate, Stream, Time};

/// Bits that come before the PSDU: SERVICE.
const SERVICE: u64 = 16;

#[derive(Clone, Copy, Debug)]
struct Part {
    begins: Time,
    ends: Time,
    hazard: f64,
    /// It survives what happens with a higher probability than this.
    chance: f64,
}

/// Those of the frame that is followed; none if it is no aggregate. The list keeps its memory.
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

    /// `aggregate` is followed from now on; its first symbol is at `begins`.
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

    /// Adds `hazard` for each bit that is sent from `from` to `to` at `rate`.
    pub fn count(&mut self, from: Time, to: Time, rate: Rate, hazard: f64) {
        for part in &mut self.list {
            let (from, to) = (from.max(part.begins), to.min(part.ends));
            if from < to {
                part.hazard += bits_in(to - from, rate) * hazard;
            }
        }
    }

    /// The frame has ended: which have survived.
    pub fn judge(&mut self) -> u64 {
        let survives = |part: &Part| part.chance < libm::exp(-part.hazard);
        self.arrived = bits(self.list.iter().map(survives));
        self.arrived
    }

    /// Would any have, with `hazard` for each bit?
    pub fn any_survives(&self, rate: Rate, hazard: f64) -> bool {
        self.list.iter().any(|part| part.chance < libm::exp(-bits_in(part.ends - part.begins, rate) * hazard))
    }
}

fn bits(survive: impl Iterator<Item = bool>) -> u64 {
    survive.enumerate().fold(0, |bits, (place, good)| bits | u64::from(good) << place)
}
