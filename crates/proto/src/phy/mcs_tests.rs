//! Rates and durations from tables of the standard.

use super::*;
use proptest::prelude::*;

const LONG: Guard = Guard::Ns800;
const SHORT: Guard = Guard::Ns400;

/// Returns rates in Mbit/s rounded to a tenth, as in the tables of the standard.
fn mbps(format: Format, streams: u8, width: Width, guard: Guard) -> Vec<f64> {
    let of = |mcs: Mcs| (mcs.rate().bps() as f64 / 1e5).round() / 10.0;
    let all = Mcs::all(format, streams, width, guard);
    all.filter(|mcs| mcs.streams() == streams).map(of).collect()
}

// Tables 19-27 to 19-40.
#[test]
fn rates_of_802_11n() {
    use Width::{Mhz20, Mhz40};
    assert_eq!(mbps(Format::Ht, 1, Mhz20, LONG), [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
    assert_eq!(mbps(Format::Ht, 1, Mhz20, SHORT), [7.2, 14.4, 21.7, 28.9, 43.3, 57.8, 65.0, 72.2]);
    assert_eq!(mbps(Format::Ht, 2, Mhz40, LONG), [27.0, 54.0, 81.0, 108.0, 162.0, 216.0, 243.0, 270.0]);
    assert_eq!(mbps(Format::Ht, 4, Mhz40, SHORT), [60.0, 120.0, 180.0, 240.0, 360.0, 480.0, 540.0, 600.0]);
    assert_eq!(Mcs::new(Format::Ht, 8, 1, Mhz20, LONG), None);
    assert_eq!(Mcs::new(Format::Ht, 0, 1, Width::Mhz80, LONG), None);
}

// Tables 21-29 to 21-52; MCS 9 in 20 MHz and MCS 6 in 80 MHz exist with some numbers of streams only.
#[test]
fn rates_of_802_11ac() {
    use Width::{Mhz20, Mhz40, Mhz80};
    assert_eq!(mbps(Format::Vht, 1, Mhz20, LONG).last(), Some(&78.0));
    assert_eq!(mbps(Format::Vht, 3, Mhz20, SHORT).last(), Some(&288.9));
    assert_eq!(mbps(Format::Vht, 1, Mhz40, SHORT).last(), Some(&200.0));
    let narrow = [29.3, 58.5, 87.8, 117.0, 175.5, 234.0, 263.3, 292.5, 351.0, 390.0];
    assert_eq!(mbps(Format::Vht, 1, Mhz80, LONG), narrow);
    assert_eq!(mbps(Format::Vht, 4, Mhz80, SHORT).last(), Some(&1733.3));
    let count = |streams, width| mbps(Format::Vht, streams, width, LONG).len();
    assert_eq!([1, 2, 3, 4].map(|streams| count(streams, Mhz20)), [9, 9, 10, 9]);
    assert_eq!([1, 2, 3, 4].map(|streams| count(streams, Mhz80)), [10, 10, 9, 10]);
}

// Clause 27.5: 143.4 Mbit/s in 20 MHz, 480.4 to 600.5 in 80, the latter without rounding down the bits of a symbol.
#[test]
fn rates_of_802_11ax() {
    assert_eq!(mbps(Format::He, 1, Width::Mhz20, LONG).last(), Some(&143.4));
    assert_eq!(mbps(Format::He, 1, Width::Mhz80, LONG)[9..], [480.4, 540.4, 600.4]);
    assert_eq!(mbps(Format::He, 2, Width::Mhz40, Guard::Ns3200)[0], 29.3);
}

// Every symbol has a whole number of bits: tables 19-27 to 19-40 and 21-29 to 21-52 contain no other.
#[test]
fn every_symbol_of_ht_and_vht_has_whole_bits() {
    for format in [Format::Ht, Format::Vht] {
        for mcs in format.widths().iter().flat_map(|&width| Mcs::all(format, STREAMS_MAX, width, LONG)) {
            let Coded { points, code } = mcs.coded();
            let (numerator, denominator) = code.fraction();
            let coded = mcs.subcarriers().0 * u64::from(points.ilog2() * u32::from(mcs.streams()));
            assert_eq!(coded * numerator % denominator, 0, "{mcs:?}");
            assert_eq!(coded % mcs.encoders(), 0, "{mcs:?}");
        }
    }
}

// N_ES: tables 19-35 (40 MHz, two streams: 1), 19-36 (three: 2 from MCS 21 on), 21-40 and 21-41 (80 MHz).
#[test]
fn encoders_are_those_of_the_tables() {
    let encoders = |format, index, streams, width| Mcs::new(format, index, streams, width, LONG).unwrap().encoders();
    assert_eq!(encoders(Format::Ht, 7, 2, Width::Mhz40), 1);
    assert_eq!([4, 5, 6, 7].map(|index| encoders(Format::Ht, index, 3, Width::Mhz40)), [1, 2, 2, 2]);
    assert_eq!([3, 4].map(|index| encoders(Format::Ht, index, 4, Width::Mhz40)), [1, 2]);
    assert_eq!([7, 8, 9].map(|index| encoders(Format::Vht, index, 3, Width::Mhz80)), [2, 2, 3]);
    assert_eq!([9, 9].map(|index| encoders(Format::Vht, index, 1, Width::Mhz80)), [1, 1]);
}

fn us(mcs: Option<Mcs>, kind: PhyKind, len: u64) -> f64 {
    mcs.unwrap().airtime(kind, Bytes(len)).as_nanos() as f64 / 1e3
}

// Clause 19.4.3, computed by hand. 1,538 bytes: 16 + 12,304 + 6 bits. MCS 7, 260 bits per symbol: 48 symbols of 4 us
// after 36 us. Two streams, 520 bits: 24 symbols after 40 us. Short guard interval: 48 * 3.6 = 172.8, rounded up to
// 176. At 2.4 GHz 6 us more.
#[test]
fn durations_of_802_11n() {
    let mcs = |index, streams, width, guard| Mcs::new(Format::Ht, index, streams, width, guard);
    let of = |index, streams, guard| us(mcs(index, streams, Width::Mhz20, guard), PhyKind::Ofdm, 1538);
    assert_eq!(of(7, 1, LONG), 36.0 + 48.0 * 4.0);
    assert_eq!(of(7, 2, LONG), 40.0 + 24.0 * 4.0);
    assert_eq!(of(7, 1, SHORT), 36.0 + 176.0);
    // Three streams have four training fields: 780 bits.
    assert_eq!(of(7, 3, LONG), 48.0 + 16.0 * 4.0);
    assert_eq!(us(mcs(7, 1, Width::Mhz20, LONG), PhyKind::ErpOfdm, 1538), 36.0 + 48.0 * 4.0 + 6.0);
    // 65,535 bytes with two encoders, 2,160 bits: 16 + 524,280 + 12 in 243 symbols.
    assert_eq!(us(mcs(7, 4, Width::Mhz40, LONG), PhyKind::Ofdm, 65_535), 48.0 + 243.0 * 4.0);
}

// Clause 21.4.3: VHT-SIG-B is one symbol more than in HT. 1,542 bytes, MCS 9 in 80 MHz: 1,560 bits, 8 symbols.
#[test]
fn durations_of_802_11ac_and_ax() {
    let vht = Mcs::new(Format::Vht, 9, 1, Width::Mhz80, LONG);
    assert_eq!(us(vht, PhyKind::Ofdm, 1542), 40.0 + 8.0 * 4.0);
    // HE, MCS 11 in 20 MHz: 234 * 10 * 5 / 6 = 1,950 bits of 13.6 us; 36 us and one LTF of 7.2 us before them.
    let he = Mcs::new(Format::He, 11, 1, Width::Mhz20, LONG);
    assert_eq!(us(he, PhyKind::Ofdm, 1542), 36.0 + 7.2 + 7.0 * 13.6);
}

fn any_mcs() -> impl Strategy<Value = Mcs> {
    let all: Vec<Mcs> = [Format::Ht, Format::Vht, Format::He]
        .into_iter()
        .flat_map(|format| {
            let widths =
                format.widths().iter().flat_map(move |&width| format.guards().iter().map(move |&g| (width, g)));
            widths.flat_map(move |(width, guard)| Mcs::all(format, STREAMS_MAX, width, guard))
        })
        .collect();
    proptest::sample::select(all)
}

proptest! {
    // The longest PSDU that fits does, and one byte more does not.
    #[test]
    fn the_longest_that_fits_fits(mcs in any_mcs(), most in 60_000u64..6_000_000) {
        for kind in [PhyKind::Ofdm, PhyKind::ErpOfdm] {
            let most = Dur::from_nanos(most);
            let longest = mcs.longest_within(kind, most);
            if longest > Bytes(0) {
                prop_assert!(mcs.airtime(kind, longest) <= most);
            }
            prop_assert!(mcs.airtime(kind, longest + Bytes(1)) > most);
        }
    }

    // A long frame has the nominal rate, except for its preamble and its last symbol.
    #[test]
    fn a_long_frame_has_the_rate(mcs in any_mcs(), len in 20_000u64..60_000) {
        let data = mcs.airtime(PhyKind::Ofdm, Bytes(len)) - mcs.preamble();
        let least = mcs.rate().time_for(Bytes(len));
        prop_assert!(data >= least && data < least + mcs.symbol() * 2 + Dur::from_micros(4));
    }
}

#[test]
fn what_is_sent_by_an_mcs_or_without() {
    let mcs = Mcs::new(Format::Ht, 0, 1, Width::Mhz20, LONG).unwrap();
    let rate = Rate::kbps(6_000);
    assert_eq!((TxRate::from(mcs).rate(), TxRate::from(rate).rate()), (Rate::kbps(6_500), rate));
    let time = |rate: TxRate| rate.airtime(PhyKind::Ofdm, PhyKind::Ofdm.plcp(), Bytes(14));
    assert_eq!((time(rate.into()), time(mcs.into())), (Dur::from_micros(44), Dur::from_micros(36 + 6 * 4)));
    assert_eq!((mcs.reference_rate(), mcs.format().longest_aggregate()), (rate, Bytes(65_535)));
}

/// A stream of 802.11n in 56 of 64 subcarriers has the same power as one of 802.11a in 52.
#[test]
fn power_is_spread_over_subcarriers_and_streams() {
    let ratio = |format, streams, width| Mcs::new(format, 0, streams, width, LONG).unwrap().ratio_to_ofdm();
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
    near(ratio(Format::Ht, 1, Width::Mhz20), 52.0 / 56.0);
    near(ratio(Format::Ht, 2, Width::Mhz20), 26.0 / 56.0);
    near(ratio(Format::Ht, 1, Width::Mhz40), 104.0 / 114.0);
    near(ratio(Format::Vht, 1, Width::Mhz80), 208.0 / 242.0);
}
