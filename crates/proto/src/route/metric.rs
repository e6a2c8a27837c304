//! What a link costs, and by that which of several paths is taken.
//!
//! - ETX: De Couto, Aguayo, Bicket, Morris, "A High-Throughput Path Metric for Multi-Hop Wireless Routing", MobiCom 2003.
//!   The transmissions that a packet is expected to need over a link are 1 / (d_f d_r): d_f is the share of data frames that
//!   arrive, d_r that of acknowledgements on the way back.
//! - ETT: Draves, Padhye, Zill, "Routing in Multi-Radio, Multi-Hop Wireless Mesh Networks", MobiCom 2004. The time these
//!   transmissions take: ETX x S / B with the size S of a packet and the rate B of the link. Left out: WCETT, which concerns
//!   several radios at a node, and the packet pairs by which the paper measures B.
//!
//! The cost of a path is the sum over its links. Costs are integers, so that they are the same on every machine and on the
//! wire.

use fourhop_units::{Bytes, Rate};

/// What is summed up along a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Expected number of transmissions, in thousandths.
    Etx,
    /// Expected transmission time, in microseconds.
    Ett,
}

impl Metric {
    /// Size of the packet of which ETT is the time: the example of the paper.
    pub const PACKET: Bytes = Bytes(1024);

    /// Number of the metric on the wire.
    pub const fn code(self) -> u8 {
        match self {
            Metric::Etx => 1,
            Metric::Ett => 2,
        }
    }

    /// Cost of a link over which a packet needs `transmissions`, in thousandths, at `rate`. At least 1: a path costs more
    /// with every link, which keeps distance vectors free of loops.
    pub fn cost(self, transmissions: u32, rate: Rate) -> u32 {
        let cost = match self {
            Metric::Etx => u64::from(transmissions),
            // Thousandths of 1 s / (1 bit/s), in microseconds.
            Metric::Ett => u64::from(transmissions) * Self::PACKET.bits() * 1_000 / rate.bps().max(1),
        };
        u32::try_from(cost).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_costs_its_transmissions_or_the_time_they_take() {
        assert_eq!(Metric::Etx.cost(1_250, Rate::kbps(1_000)), 1_250);
        // 8,192 bits at 2 Mbit/s last 4,096 us; twice that often, twice that long.
        assert_eq!([1_000, 2_000].map(|etx| Metric::Ett.cost(etx, Rate::kbps(2_000))), [4_096, 8_192]);
        assert_eq!(Metric::Ett.cost(1_000, Rate::kbps(11_000)), 744);
    }

    #[test]
    fn no_link_is_free_and_none_overflows() {
        assert_eq!((Metric::Etx.cost(0, Rate::kbps(1)), Metric::Ett.cost(0, Rate::kbps(1))), (1, 1));
        assert_eq!(Metric::Ett.cost(u32::MAX, Rate::kbps(1)), u32::MAX);
    }
}
