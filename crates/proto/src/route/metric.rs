//! Link cost, by which routing chooses a path.
//!
//! - ETX: De Couto, Aguayo, Bicket, Morris, "A High-Throughput Path Metric for Multi-Hop Wireless Routing", MobiCom
//!   2003. The expected number of transmissions of a packet over a link is 1 / (d_f d_r): d_f is the delivery ratio of
//!   data frames, d_r that of acknowledgements on the way back.
//! - ETT: Draves, Padhye, Zill, "Routing in Multi-Radio, Multi-Hop Wireless Mesh Networks", MobiCom 2004. The time
//!   these transmissions take: ETX x S / B with the packet size S and the link rate B. Left out: WCETT, which concerns
//!   nodes with several radios, and the packet pairs by which the paper measures B.
//!
//! - Airtime: IEEE Std 802.11-2020 clause 14.9, the default of mesh stations (802.11s). The time to send a test frame
//!   of 8192 bits, overhead included: (O + B_t / r) / (1 - e_f), in hundredths of a TU, where O is the channel access
//!   overhead and e_f the frame error rate. The standard does not say how r and e_f are measured.
//!
//! The cost of a path is the sum over its links. Costs are integers, so that they are equal on every machine and on the
//! wire.

use fourhop_units::{Bytes, Dur, Rate};

/// Quantity summed along a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Expected number of transmissions, in thousandths.
    Etx,
    /// Expected transmission time, in microseconds.
    Ett,
    /// Airtime with this channel access overhead, in units of 10.24 us.
    Airtime(Dur),
}

impl Metric {
    /// Packet size of ETT (the paper's example) and of airtime's test frame.
    pub const PACKET: Bytes = Bytes(1024);

    /// Number of the metric on the wire.
    pub const fn code(self) -> u8 {
        match self {
            Metric::Etx => 1,
            Metric::Ett => 2,
            Metric::Airtime(_) => 3,
        }
    }

    /// Returns the cost of a link at `rate` over which a packet needs `transmissions`, in thousandths. At least 1, so
    /// that every link adds to the cost of a path, which keeps distance vectors loop-free.
    pub fn cost(self, transmissions: u32, rate: Rate) -> u32 {
        let cost = match self {
            Metric::Etx => u64::from(transmissions),
            // Thousandths of 1 s / (1 bit/s), in microseconds.
            Metric::Ett => u64::from(transmissions) * Self::PACKET.bits() * 1_000 / rate.bps().max(1),
            Metric::Airtime(overhead) => {
                let once = (overhead + rate.time_for(Self::PACKET)).as_nanos();
                // Thousandths of nanoseconds.
                (u128::from(transmissions) * u128::from(once) / (1_000 * 10_240)) as u64
            }
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
        // 8,192 bits at 2 Mbit/s take 4,096 us; twice the transmissions take twice as long.
        assert_eq!([1_000, 2_000].map(|etx| Metric::Ett.cost(etx, Rate::kbps(2_000))), [4_096, 8_192]);
        assert_eq!(Metric::Ett.cost(1_000, Rate::kbps(11_000)), 744);
    }

    // 8,192 bits at 54 Mbit/s take 151.7 us; with 185 us of overhead, 336.7 us, or 32.88 hundredths of a TU.
    #[test]
    fn airtime_counts_what_is_around_the_frame() {
        let airtime = Metric::Airtime(Dur::from_micros(185));
        assert_eq!([1_000, 2_000].map(|sent| airtime.cost(sent, Rate::kbps(54_000))), [32, 65]);
        // At 6 Mbit/s, ETT is nine times as high; airtime, less than five times.
        assert_eq!(Metric::Ett.cost(1_000, Rate::kbps(6_000)) / Metric::Ett.cost(1_000, Rate::kbps(54_000)), 9);
        assert_eq!(airtime.cost(1_000, Rate::kbps(6_000)), 151);
    }

    #[test]
    fn no_link_is_free_and_none_overflows() {
        assert_eq!((Metric::Etx.cost(0, Rate::kbps(1)), Metric::Ett.cost(0, Rate::kbps(1))), (1, 1));
        assert_eq!(Metric::Ett.cost(u32::MAX, Rate::kbps(1)), u32::MAX);
    }
}
