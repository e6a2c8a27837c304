//! Modulation and coding schemes of 802.11n, ac and ax, and the durations of their frames.
//!
//! ```text
//! HT mixed  | L-STF 8 | L-LTF 8 | L-SIG 4 | HT-SIG 8    | STF 4 | LTF 4 each |           data            |
//! VHT       | L-STF 8 | L-LTF 8 | L-SIG 4 | VHT-SIG-A 8 | STF 4 | LTF 4 each | VHT-SIG-B 4 |    data     |
//! HE SU     | L-STF 8 | L-LTF 8 | L-SIG 4 | RL-SIG 4 | HE-SIG-A 8 | STF 4 | LTF each |       data       |
//! ```
//!
//! Sources: IEEE Std 802.11-2020 clauses 19 (HT: 19.3.9, 19.3.11, 19.4.3, tables 19-27 to 19-40) and 21 (VHT: 21.3.8,
//! 21.3.10, 21.4.3, tables 21-29 to 21-52), IEEE Std 802.11ax-2021 clause 27 (HE: 27.3.11, 27.4.3, 27.5). MCS are
//! numbered per stream, as in VHT: MCS 15 of 802.11n is index 7 with two streams.
//!
//! Not modelled: greenfield preambles, STBC, LDPC in HT and VHT, unequal modulation, 160 MHz, beamforming. For HE there
//! are only rates and durations: no OFDMA, no 1x LTF, no packet extension.

use super::error_rate::ofdm::{Code, Coded};
use super::kind::PhyKind;
pub use crate::wire::{Format, Guard, Mcs, STREAMS_MAX, Width};
use fourhop_units::{Bytes, Dur, Rate};

/// How a frame is sent: at a rate of 802.11a, b or g, or with an MCS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TxRate {
    /// A rate without MCS.
    Legacy(Rate),
    /// An MCS of 802.11n or later.
    Mcs(Mcs),
}

/// Maximum duration of a PPDU of these formats: the most that the length in L-SIG can announce (aPPDUMaxTime, tables
/// 19-25 and 21-28).
pub const PPDU_MAX: Dur = Dur::from_nanos(5_484_000);
/// L-STF, L-LTF and L-SIG.
const LEGACY_PREAMBLE_NS: u64 = 20_000;
/// HT-SIG, VHT-SIG-A or HE-SIG-A: two symbols.
const SIG_NS: u64 = 8_000;
const STF_NS: u64 = 4_000;
/// Duration of a long training field of HT or VHT, of VHT-SIG-B, and of RL-SIG.
const SYMBOL_NS: u64 = 4_000;
/// SERVICE bits before the MAC frame, and tail bits after it per convolutional encoder.
const SERVICE_BITS: u64 = 16;
const TAIL_BITS: u64 = 6;

impl Format {
    /// Returns the longest A-MPDU that a station can be asked to receive (clauses 10.12.2, 9.4.2.55.3 and 9.4.2.157.2):
    /// 2^16 - 1 octets with HT, 2^20 - 1 with VHT; HE allows longer ones than a window of 64 fills.
    pub const fn longest_aggregate(self) -> Bytes {
        match self {
            Format::Ht => Bytes(65_535),
            Format::Vht | Format::He => Bytes(1_048_575),
        }
    }

    /// Returns the longest MPDU within an A-MPDU: 4,095 octets with HT (clause 10.12.4), 11,454 with VHT and HE (table
    /// 9-25).
    pub const fn longest_mpdu(self) -> Bytes {
        match self {
            Format::Ht => Bytes(4_095),
            Format::Vht | Format::He => Bytes(11_454),
        }
    }
}

impl Mcs {
    /// Returns the modulation and code of each stream (tables 19-27, 21-29 and 27-54).
    pub const fn coded(self) -> Coded {
        use Code::{FiveSixths, Half, ThreeQuarters, TwoThirds};
        let (points, code) = match self.index() {
            0 => (2, Half),
            1 => (4, Half),
            2 => (4, ThreeQuarters),
            3 => (16, Half),
            4 => (16, ThreeQuarters),
            5 => (64, TwoThirds),
            6 => (64, ThreeQuarters),
            7 => (64, FiveSixths),
            8 => (256, ThreeQuarters),
            9 => (256, FiveSixths),
            10 => (1024, ThreeQuarters),
            _ => (1024, FiveSixths),
        };
        Coded { points, code }
    }

    /// Returns the number of data subcarriers, of data and pilot subcarriers, and of all in the channel.
    const fn subcarriers(self) -> (u64, u64, u64) {
        match (self.format(), self.width()) {
            (Format::He, Width::Mhz20) => (234, 242, 256),
            (Format::He, Width::Mhz40) => (468, 484, 512),
            (Format::He, Width::Mhz80) => (980, 996, 1024),
            (_, Width::Mhz20) => (52, 56, 64),
            (_, Width::Mhz40) => (108, 114, 128),
            (_, Width::Mhz80) => (234, 242, 256),
        }
    }

    /// Returns the factor from the power ratio of signal to noise in 20 MHz to the ratio at which a stream of 802.11a
    /// has as much signal per subcarrier. Power is spread over all subcarriers and all streams: each stream has the
    /// same ratio, 10 log10(streams) below that of a single one. This model is ours; real antenna arrays do better or
    /// worse, depending on their channel.
    pub fn ratio_to_ofdm(self) -> f64 {
        let (_, used, all) = self.subcarriers();
        (all as f64 / used as f64) * (52.0 / 64.0) / f64::from(self.streams())
    }

    /// Returns the data bits per symbol, N_DBPS.
    pub const fn bits_per_symbol(self) -> u64 {
        let Coded { points, code } = self.coded();
        let (data, ..) = self.subcarriers();
        let (numerator, denominator) = code.fraction();
        data * points.ilog2() as u64 * self.streams() as u64 * numerator / denominator
    }

    /// Returns the duration of a data symbol with its guard interval.
    pub const fn symbol(self) -> Dur {
        let without = match self.format() {
            Format::Ht | Format::Vht => 3_200,
            Format::He => 12_800,
        };
        Dur::from_nanos(without + self.guard().duration().as_nanos())
    }

    /// Returns its bit rate, to the nearest bit per second.
    pub const fn rate(self) -> Rate {
        let symbol = self.symbol().as_nanos();
        match Rate::from_bps((self.bits_per_symbol() * 1_000_000_000 + symbol / 2) / symbol) {
            Some(rate) => rate,
            // INVARIANT: every symbol has bits.
            None => Rate::kbps(6_500),
        }
    }

    /// Returns the number of convolutional encoders, N_ES: with HT a second one above 300 Mbit/s (tables 19-27 to
    /// 19-40); with VHT one per 2,160 bits of a symbol, or 600 Mbit/s with a short guard interval (tables 21-29 to
    /// 21-52). HE has LDPC, without tail bits.
    pub const fn encoders(self) -> u64 {
        match self.format() {
            Format::Ht if self.bits_per_symbol() > 1_200 => 2,
            Format::Ht => 1,
            Format::Vht => self.bits_per_symbol().div_ceil(2_160),
            Format::He => 0,
        }
    }

    /// Returns the duration of everything before the data symbols (clauses 19.4.3, 21.4.3 and 27.4.3).
    pub const fn preamble(self) -> Dur {
        // One per stream, but four for three streams (tables 19-13 and 21-13).
        let trainings = if self.streams() == 3 { 4 } else { self.streams() as u64 };
        let before = LEGACY_PREAMBLE_NS + SIG_NS + STF_NS;
        Dur::from_nanos(match self.format() {
            Format::Ht => before + trainings * SYMBOL_NS,
            Format::Vht => before + trainings * SYMBOL_NS + SYMBOL_NS,
            Format::He => {
                // 2x LTF with the two shorter guard intervals, 4x with the longest.
                let training = if matches!(self.guard(), Guard::Ns3200) { 12_800 } else { 6_400 };
                before + SYMBOL_NS + trainings * (training + self.guard().duration().as_nanos())
            }
        })
    }

    /// Returns the number of data symbols of a PSDU of `len` bytes.
    const fn symbols(self, len: Bytes) -> u64 {
        (SERVICE_BITS + len.bits() + TAIL_BITS * self.encoders()).div_ceil(self.bits_per_symbol())
    }

    /// Returns the air time of a PPDU with a PSDU of `len` bytes in the band of `kind`, which decides whether a signal
    /// extension follows (clauses 19.4.3, 21.4.3 and 27.4.3). With the short guard interval of HT and VHT its duration
    /// is rounded up to a multiple of 4 us.
    pub const fn airtime(self, kind: PhyKind, len: Bytes) -> Dur {
        let data = self.symbols(len) * self.symbol().as_nanos();
        let whole = match self.format() {
            Format::Ht | Format::Vht => data.div_ceil(SYMBOL_NS) * SYMBOL_NS,
            Format::He => data,
        };
        Dur::from_nanos(self.preamble().as_nanos() + whole + kind.signal_extension().as_nanos())
    }

    /// Returns the longest PSDU whose PPDU lasts at most `most`; zero if even an empty one takes longer.
    pub const fn longest_within(self, kind: PhyKind, most: Dur) -> Bytes {
        let around = self.preamble().as_nanos() + kind.signal_extension().as_nanos();
        let Some(data) = most.as_nanos().checked_sub(around) else { return Bytes(0) };
        let whole = match self.format() {
            Format::Ht | Format::Vht => data / SYMBOL_NS * SYMBOL_NS,
            Format::He => data,
        };
        let bits = whole / self.symbol().as_nanos() * self.bits_per_symbol();
        Bytes(bits.saturating_sub(SERVICE_BITS + TAIL_BITS * self.encoders()) / 8)
    }

    /// Returns the rate of 802.11a with the same modulation and code, which determines the rates of answers (clause
    /// 10.6.6.5.2, table 10-9); 54 Mbit/s for higher ones.
    pub const fn reference_rate(self) -> Rate {
        Rate::kbps(match self.index() {
            0 => 6_000,
            1 => 12_000,
            2 => 18_000,
            3 => 24_000,
            4 => 36_000,
            5 => 48_000,
            _ => 54_000,
        })
    }
}

impl TxRate {
    /// Returns its bit rate.
    pub const fn rate(self) -> Rate {
        match self {
            TxRate::Legacy(rate) => rate,
            TxRate::Mcs(mcs) => mcs.rate(),
        }
    }

    /// Returns the rate from which those of answers are derived.
    pub const fn reference_rate(self) -> Rate {
        match self {
            TxRate::Legacy(rate) => rate,
            TxRate::Mcs(mcs) => mcs.reference_rate(),
        }
    }

    /// Returns the air time of a PSDU of `len` bytes with a physical layer of `kind`; `plcp` precedes frames without
    /// MCS.
    pub const fn airtime(self, kind: PhyKind, plcp: Dur, len: Bytes) -> Dur {
        match self {
            TxRate::Legacy(rate) => kind.airtime(plcp, len, rate),
            TxRate::Mcs(mcs) => mcs.airtime(kind, len),
        }
    }
}

impl From<Rate> for TxRate {
    fn from(rate: Rate) -> TxRate {
        TxRate::Legacy(rate)
    }
}

impl From<Mcs> for TxRate {
    fn from(mcs: Mcs) -> TxRate {
        TxRate::Mcs(mcs)
    }
}

#[cfg(test)]
#[path = "mcs_tests.rs"]
mod tests;
