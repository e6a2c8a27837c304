//! Timing of the 802.11 physical layers: slots, interframe spaces, rates, and frame durations.
//!
//! Sources: IEEE Std 802.11-2020 clauses 15 and 16 (DSSS, CCK), 17 (OFDM at 5 GHz, 802.11a), 18 (the same at 2.4 GHz,
//! ERP-OFDM of 802.11g). Frames of 802.11n and later are in [`mcs`](super::mcs); their slots, spaces and answers are
//! those of their band here. Not modelled: mixed networks of 802.11b and g stations, channels of 5 and 10 MHz.

use fourhop_units::{Bytes, Dur, Rate};

/// A kind of physical layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhyKind {
    /// DSSS and CCK: preamble and header of fixed length, then a continuous stream of bits, at any rate.
    Dsss,
    /// OFDM in 20 MHz at 5 GHz: symbols of 4 us.
    Ofdm,
    /// OFDM at 2.4 GHz. Each frame is followed by 6 us without signal (signal extension, clause 18.3.2.4), to give the
    /// decoder the time for the last symbol that the shorter SIFS of that band does not.
    ErpOfdm,
}

/// Duration of an OFDM symbol with its guard interval (clause 17.3.2.4).
pub const SYMBOL: Dur = Dur::from_micros(4);
/// Short and long training symbols and SIGNAL before the data of an OFDM frame (clause 17.3.2.4): 16 + 4 us.
pub const OFDM_PLCP: Dur = Dur::from_micros(20);
/// Long preamble and header of DSSS (clause 15.2.2): 144 + 48 us.
pub const LONG_PLCP: Dur = Dur::from_micros(192);
/// Short preamble and header of HR/DSSS (clause 16.2.2.3): 72 + 24 us.
pub const SHORT_PLCP: Dur = Dur::from_micros(96);
/// Signal extension of ERP-OFDM (clause 18.3.2.4).
const SIGNAL_EXTENSION: Dur = Dur::from_micros(6);
/// SERVICE and tail bits around the MAC frame (clauses 17.3.5.2 and 17.3.5.3).
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;

const DSSS_RATES: &[Rate] = &[Rate::kbps(1_000), Rate::kbps(2_000), Rate::kbps(5_500), Rate::kbps(11_000)];
const OFDM_RATES: &[Rate] = &[
    Rate::kbps(6_000),
    Rate::kbps(9_000),
    Rate::kbps(12_000),
    Rate::kbps(18_000),
    Rate::kbps(24_000),
    Rate::kbps(36_000),
    Rate::kbps(48_000),
    Rate::kbps(54_000),
];
/// Rates that every station supports (clauses 15.4.4.2 and 17.1.1).
const DSSS_MANDATORY: &[Rate] = &[Rate::kbps(1_000), Rate::kbps(2_000)];
const OFDM_MANDATORY: &[Rate] = &[Rate::kbps(6_000), Rate::kbps(12_000), Rate::kbps(24_000)];

impl PhyKind {
    /// Whether it sends OFDM symbols.
    pub const fn is_ofdm(self) -> bool {
        matches!(self, PhyKind::Ofdm | PhyKind::ErpOfdm)
    }

    /// Returns the rates of the standard, lowest first.
    pub const fn rates(self) -> &'static [Rate] {
        if self.is_ofdm() { OFDM_RATES } else { DSSS_RATES }
    }

    /// Returns the rates that every station supports, lowest first.
    pub const fn mandatory_rates(self) -> &'static [Rate] {
        if self.is_ofdm() { OFDM_MANDATORY } else { DSSS_MANDATORY }
    }

    /// Slot time. ERP-OFDM has 20 us in ad hoc networks (an IBSS never sets short slots, clause 9.4.1.4), but 9 us in
    /// infrastructure networks.
    pub const fn slot(self) -> Dur {
        match self {
            PhyKind::Dsss | PhyKind::ErpOfdm => Dur::from_micros(20),
            PhyKind::Ofdm => Dur::from_micros(9),
        }
    }

    /// Short interframe space.
    pub const fn sifs(self) -> Dur {
        match self {
            PhyKind::Dsss | PhyKind::ErpOfdm => Dur::from_micros(10),
            PhyKind::Ofdm => Dur::from_micros(16),
        }
    }

    /// Minimum contention window (clauses 15.3.3, 17.4.4 and 18.5.4).
    pub const fn cw_min(self) -> u32 {
        if self.is_ofdm() { 15 } else { 31 }
    }

    /// Default preamble and header.
    pub const fn plcp(self) -> Dur {
        if self.is_ofdm() { OFDM_PLCP } else { LONG_PLCP }
    }

    /// Returns the time after the last symbol that counts as part of the frame.
    pub const fn signal_extension(self) -> Dur {
        match self {
            PhyKind::ErpOfdm => SIGNAL_EXTENSION,
            PhyKind::Dsss | PhyKind::Ofdm => Dur::ZERO,
        }
    }

    /// Returns the air time of a MAC frame of `len` bytes, FCS included, at `rate` after `plcp`. For OFDM: clause
    /// 17.4.3, whole symbols.
    #[inline]
    pub const fn airtime(self, plcp: Dur, len: Bytes, rate: Rate) -> Dur {
        let nanos = match self {
            PhyKind::Dsss => rate.time_for(len).as_nanos(),
            PhyKind::Ofdm | PhyKind::ErpOfdm => {
                // Bits of a symbol: 24 at 6 Mbit/s, 216 at 54.
                let per_symbol = (rate.bps() * SYMBOL.as_nanos()).div_ceil(1_000_000_000);
                let symbols = (SERVICE_AND_TAIL_BITS + len.bits()).div_ceil(per_symbol);
                symbols * SYMBOL.as_nanos() + self.signal_extension().as_nanos()
            }
        };
        Dur::from_nanos(plcp.as_nanos() + nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn airtime(kind: PhyKind, len: u64, mbps: u64) -> u64 {
        kind.airtime(kind.plcp(), Bytes(len), Rate::kbps(mbps * 1_000)).as_nanos() / 1_000
    }

    // Clause 17.4.3: 20 us + 4 us * ceil((16 + 8 * length + 6) / N_DBPS). An ACK (14 bytes) takes 44 us at 6, 32 at 12
    // and 28 us at 24 Mbit/s, as in every study of 802.11a; 1,536 bytes at 54 Mbit/s take 57 symbols.
    #[test]
    fn ofdm_frames_last_whole_symbols() {
        assert_eq!([6, 12, 24].map(|mbps| airtime(PhyKind::Ofdm, 14, mbps)), [44, 32, 28]);
        assert_eq!(airtime(PhyKind::Ofdm, 1536, 54), 20 + 4 * 57);
        assert_eq!(airtime(PhyKind::ErpOfdm, 1536, 54), 20 + 4 * 57 + 6);
        // At 6 Mbit/s one symbol has 24 - 22 bits to spare: a byte needs a second.
        assert_eq!((airtime(PhyKind::Ofdm, 0, 6), airtime(PhyKind::Ofdm, 1, 6)), (24, 28));
    }

    // Table 17-4: data bits per symbol.
    #[test]
    fn every_ofdm_rate_fills_whole_bits() {
        let bits = OFDM_RATES.iter().map(|rate| rate.bps() * 4 / 1_000_000).collect::<Vec<_>>();
        assert_eq!(bits, [24, 36, 48, 72, 96, 144, 192, 216]);
    }

    #[test]
    fn dsss_frames_last_as_long_as_their_bits() {
        let kind = PhyKind::Dsss;
        assert_eq!(kind.airtime(LONG_PLCP, Bytes(14), Rate::kbps(1_000)), Dur::from_micros(304));
        assert_eq!(kind.airtime(SHORT_PLCP, Bytes(1536), Rate::kbps(11_000)), Dur::from_nanos(96_000 + 1_117_091));
    }

    // SIFS + 2 slots (clause 10.3.7): 34 us at 5 GHz, 50 us in ad hoc networks at 2.4 GHz.
    #[test]
    fn slots_and_spaces_are_those_of_the_standard() {
        let difs = |kind: PhyKind| (kind.sifs() + kind.slot() * 2).as_nanos() / 1_000;
        assert_eq!([PhyKind::Dsss, PhyKind::Ofdm, PhyKind::ErpOfdm].map(difs), [50, 34, 50]);
        for kind in [PhyKind::Dsss, PhyKind::Ofdm, PhyKind::ErpOfdm] {
            assert!(kind.rates().is_sorted() && kind.mandatory_rates().iter().all(|rate| kind.rates().contains(rate)));
        }
    }
}
