//! Identifiers of modulation and coding schemes of 802.11n, ac and ax. Their PHY properties are in `phy::mcs`.
//!
//! Sources: IEEE Std 802.11-2020 clauses 19 (HT) and 21 (VHT), IEEE Std 802.11ax-2021 clause 27 (HE). Indices count
//! within one stream, as in VHT: MCS 15 of 802.11n is index 7 with two streams.

use fourhop_units::Dur;

/// Generation of the frame format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    /// 802.11n, mixed format.
    Ht,
    /// 802.11ac.
    Vht,
    /// 802.11ax, single user.
    He,
}

/// Channel width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
}

/// Guard interval of the data symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Guard {
    /// 0.4 us: short guard interval of HT and VHT.
    Ns400,
    /// 0.8 us: long in HT and VHT, short in HE.
    Ns800,
    /// 1.6 us.
    Ns1600,
    /// 3.2 us.
    Ns3200,
}

/// A modulation and coding scheme with everything that determines the duration of a frame. Only combinations defined by
/// the standard can exist.
///
/// Ordered by generation, then streams, width, index and guard interval, not by rate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mcs {
    format: Format,
    streams: u8,
    width: Width,
    index: u8,
    guard: Guard,
}

/// Maximum number of streams.
pub const STREAMS_MAX: u8 = 4;
impl Format {
    /// Returns the highest MCS index.
    pub const fn highest_index(self) -> u8 {
        match self {
            Format::Ht => 7,
            Format::Vht => 9,
            Format::He => 11,
        }
    }

    /// Returns the available guard intervals, shortest first.
    pub const fn guards(self) -> &'static [Guard] {
        match self {
            Format::Ht | Format::Vht => &[Guard::Ns400, Guard::Ns800],
            Format::He => &[Guard::Ns800, Guard::Ns1600, Guard::Ns3200],
        }
    }

    /// Returns the available widths, narrowest first.
    pub const fn widths(self) -> &'static [Width] {
        match self {
            Format::Ht => &[Width::Mhz20, Width::Mhz40],
            Format::Vht | Format::He => &[Width::Mhz20, Width::Mhz40, Width::Mhz80],
        }
    }
}

impl Width {
    /// Returns the width in MHz.
    pub const fn mhz(self) -> u64 {
        match self {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
            Width::Mhz80 => 80,
        }
    }
}

impl Guard {
    /// Returns its duration.
    pub const fn duration(self) -> Dur {
        Dur::from_nanos(match self {
            Guard::Ns400 => 400,
            Guard::Ns800 => 800,
            Guard::Ns1600 => 1_600,
            Guard::Ns3200 => 3_200,
        })
    }
}

impl Mcs {
    /// Creates the MCS of `index` within each of `streams` streams. `None` if the standard has none: outside these
    /// ranges, and where the bits of a symbol do not divide among subcarriers and encoders (VHT: 9 in 20 MHz except
    /// with three streams, 6 in 80 MHz with three).
    pub fn new(format: Format, index: u8, streams: u8, width: Width, guard: Guard) -> Option<Mcs> {
        let in_range = index <= format.highest_index()
            && (1..=STREAMS_MAX).contains(&streams)
            && format.widths().contains(&width)
            && format.guards().contains(&guard);
        let divides = match (format, width, index) {
            (Format::Vht, Width::Mhz20, 9) => streams == 3,
            (Format::Vht, Width::Mhz80, 6) => streams != 3,
            _ => true,
        };
        (in_range && divides).then_some(Mcs { format, streams, width, index, guard })
    }

    /// Iterates over all MCSs of a generation with at most `streams` streams in one width with one guard interval, by
    /// streams and then by index.
    pub fn all(format: Format, streams: u8, width: Width, guard: Guard) -> impl Iterator<Item = Mcs> {
        let one = move |streams| {
            (0..=format.highest_index()).filter_map(move |index| Mcs::new(format, index, streams, width, guard))
        };
        (1..=streams).flat_map(one)
    }

    /// Returns its generation.
    pub const fn format(self) -> Format {
        self.format
    }

    /// Returns its index within a stream.
    pub const fn index(self) -> u8 {
        self.index
    }

    /// Returns its number of streams.
    pub const fn streams(self) -> u8 {
        self.streams
    }

    /// Returns its channel width.
    pub const fn width(self) -> Width {
        self.width
    }

    /// Returns its guard interval.
    pub const fn guard(self) -> Guard {
        self.guard
    }
}
