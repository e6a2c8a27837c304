//! Radiotap headers (radiotap.org): capture data in front of a frame.

use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
use fourhop_units::{Rate, Watt};

// Fields present. The byte for the rate aligns the channel.
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
const MCS: u32 = 1 << 19;
const AMPDU: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
/// Flag for a bad frame check sequence; the sequence itself is not included.
const BAD_FCS: u8 = 0x40;
// Channel flags: complementary code keying, OFDM.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
// A-MPDU status: the last subframe is known; this is the last one.
const LAST_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// Received power of a copy if it was received, and whether it is damaged.
pub(super) type Received = (Option<Watt>, bool);

/// Appends the header of a frame at a rate of 802.11a, b or g: flags, rate, channel and, for received frames, the
/// signal.
pub(super) fn by_rate(rate: Rate, frequency_mhz: u16, received: Received, out: &mut Vec<u8>) {
    // Rates are in steps of 500 kbit/s.
    let rate_code = (rate.bps() / 500_000).clamp(1, 255) as u8;
    let modulation = if rate.bps() > 11_000_000 { OFDM } else { CCK };
    let begins = begin(RATE, rate_code, (frequency_mhz, modulation), received, out);
    end(begins, out);
}

/// Appends the header of an MPDU sent with an MCS: the MCS field for HT, the VHT field for later formats (HE has a
/// separate field, which is left out). `aggregate` is the number of its A-MPDU, and whether it is the last MPDU.
pub(super) fn by_mcs(
    mcs: Mcs,
    aggregate: Option<(u32, bool)>,
    frequency_mhz: u16,
    received: Received,
    out: &mut Vec<u8>,
) {
    let by_format = match mcs.format() {
        Format::Ht => MCS,
        Format::Vht => VHT,
        Format::He => 0,
    };
    let present = by_format | if aggregate.is_some() { AMPDU } else { 0 };
    let begins = begin(present, 0, (frequency_mhz, OFDM), received, out);
    let short = mcs.guard() == Guard::Ns400;
    if mcs.format() == Format::Ht {
        // Known: bandwidth, index, guard interval.
        let flags = u8::from(mcs.width() == Width::Mhz40) | u8::from(short) << 2;
        out.extend([0x07, flags, mcs.index() + 8 * (mcs.streams() - 1)]);
    }
    if let Some((number, last)) = aggregate {
        align(begins, 4, out);
        out.extend(number.to_le_bytes());
        out.extend((LAST_KNOWN | if last { IS_LAST } else { 0 }).to_le_bytes());
        out.extend([0, 0]);
    }
    if mcs.format() == Format::Vht {
        align(begins, 2, out);
        // Known: guard interval and bandwidth.
        out.extend(0x0044u16.to_le_bytes());
        let width = match mcs.width() {
            Width::Mhz20 => 0,
            Width::Mhz40 => 1,
            Width::Mhz80 => 4,
        };
        out.extend([u8::from(short) << 2, width, mcs.index() << 4 | mcs.streams(), 0, 0, 0, 0, 0]);
        out.extend([0, 0]);
    }
    end(begins, out);
}

/// Appends the common fields; `present` announces the others. Returns where the header begins.
fn begin(present: u32, rate: u8, channel: (u16, u16), received: Received, out: &mut Vec<u8>) -> usize {
    let (begins, (power, bad_fcs)) = (out.len(), received);
    // Version, padding, and the length, which is filled in at the end.
    out.extend([0, 0, 0, 0]);
    out.extend((present | FLAGS | CHANNEL | if power.is_some() { SIGNAL } else { 0 }).to_le_bytes());
    out.extend([if bad_fcs { BAD_FCS } else { 0 }, rate]);
    out.extend(channel.0.to_le_bytes());
    out.extend(channel.1.to_le_bytes());
    out.extend(power.map(|power| power.to_dbm().0.round().clamp(-128.0, 127.0) as i8 as u8));
    begins
}

/// Pads to a multiple of the size of the next field.
fn align(begins: usize, size: usize, out: &mut Vec<u8>) {
    out.resize(begins + (out.len() - begins).next_multiple_of(size), 0);
}

fn end(begins: usize, out: &mut [u8]) {
    let len = (out.len() - begins) as u16;
    out[begins + 2..begins + 4].copy_from_slice(&len.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_the_header_and_not_of_what_precedes_it() {
        let mut bytes = vec![0xAA; 5];
        by_rate(Rate::kbps(2_000), 2412, (None, false), &mut bytes);
        // Version, padding, length, fields present; then flags, rate, frequency and modulation.
        assert_eq!((bytes.len() - 5, &bytes[5..9]), (14, &[0, 0, 14, 0][..]));
        assert_eq!(&bytes[13..], [0, 4, 0x6C, 0x09, 0x20, 0]);
    }

    /// The MCS field of radiotap.org: known, flags (bit 0: 40 MHz, bit 2: short guard interval), index. Eight indices
    /// belong to each number of streams.
    #[test]
    fn an_ht_header_has_the_index_of_its_streams_and_the_number_of_its_aggregate() {
        let header = |streams, width, guard, aggregate, power| {
            let mut bytes = Vec::new();
            let mcs = Mcs::new(Format::Ht, 7, streams, width, guard).unwrap();
            by_mcs(mcs, aggregate, 5180, (power, false), &mut bytes);
            assert_eq!(usize::from(bytes[2]), bytes.len());
            bytes[14..].to_vec()
        };
        assert_eq!(header(1, Width::Mhz20, Guard::Ns800, None, None), [7, 0, 7]);
        assert_eq!(header(2, Width::Mhz40, Guard::Ns400, None, None), [7, 0b101, 15]);
        // The signal in dBm comes first, and the number is aligned to four bytes.
        let expected = [0xC4, 7, 0b100, 23, 0, 0, 0x02, 0x01, 0, 0, 0x0C, 0, 0, 0];
        let number = Some((0x0102, true));
        assert_eq!(header(3, Width::Mhz20, Guard::Ns400, number, Some(Watt(1e-9)))[..], expected);
    }
}
