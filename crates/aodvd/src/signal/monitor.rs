//! Frames on a device in monitor mode: each is preceded by a radiotap header (www.radiotap.org) with the strength,
//! followed by the frame's own header (IEEE 802.11-2020 clause 9.2.4) with its sender.

use crate::traffic::Mac;
use fourhop_units::Dbm;

/// The fields of a radiotap header up to the signal strength, in order: alignment and length in bytes.
const FIELDS: [(usize, usize); 6] = [
    (8, 8), // TSFT
    (1, 1), // flags
    (1, 1), // rate
    (2, 4), // channel
    (1, 2), // hop set and pattern
    (1, 1), // strength, in dBm
];
const STRENGTH: usize = 5;
/// Another presence word follows.
const MORE: u32 = 1 << 31;
/// Offset of the sender, after frame control, duration and receiver.
const SENDER: usize = 10;

/// Sender and strength of a frame, if it has both. ACKs and CTSs have no sender.
pub fn strength(bytes: &[u8]) -> Option<(Mac, Dbm)> {
    let length = usize::from(u16::from_le_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let present = word(4)?;
    if bytes[0] != 0 || present & 1 << STRENGTH == 0 {
        return None;
    }
    let mut at = 8;
    let mut last = present;
    while last & MORE != 0 {
        last = word(at)?;
        at += 4;
    }
    for (field, (align, len)) in FIELDS.into_iter().enumerate() {
        if present & 1 << field != 0 {
            at = at.next_multiple_of(align);
            if field == STRENGTH {
                break;
            }
            at += len;
        }
    }
    let dbm = *bytes.get(at).filter(|_| at < length)? as i8;
    let frame = bytes.get(length..)?;
    // Type 1 is control (clause 9.2.4.1.3), whose short frames end before a sender.
    let control = frame.first()? & 0x0c == 0x04;
    let mac = frame.get(SENDER..SENDER + 6).filter(|_| !control)?;
    Some((mac.try_into().ok()?, Dbm(f64::from(dbm))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT_BY: Mac = [2, 0, 0, 0, 1, 0];

    fn frame(kind: u8) -> Vec<u8> {
        [&[kind, 0, 0, 0][..], &[0xff; 6], &SENT_BY, &[9; 8]].concat()
    }

    fn radiotap(present: &[u32], fields: &[u8]) -> Vec<u8> {
        let words: Vec<u8> = present.iter().flat_map(|word| word.to_le_bytes()).collect();
        let length = (4 + words.len() + fields.len()) as u16;
        [&[0, 0][..], &length.to_le_bytes(), &words, fields].concat()
    }

    #[test]
    fn the_strength_is_found_behind_whatever_comes_before_it() {
        let dbm = (-71_i8) as u8;
        for header in [
            radiotap(&[1 << 5], &[dbm]),
            // Flags, rate, channel, strength: the channel is aligned to two bytes.
            radiotap(&[0b10_1110], &[0, 12, 1, 2, 3, 4, dbm]),
            // Time, flags, strength; with a second presence word, after which eight bytes are aligned.
            radiotap(&[0b10_0011 | MORE, 0], &[0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, dbm]),
        ] {
            let bytes = [header, frame(0x08)].concat();
            let at = bytes.len();
            let found = strength(&bytes);
            assert_eq!(found, Some((SENT_BY, Dbm(-71.0))), "{bytes:?}");
            for end in 0..at {
                let cut = strength(&bytes[..end]);
                assert!(cut.is_none() || cut == found);
            }
        }
    }

    #[test]
    fn frames_without_sender_or_strength_say_nothing() {
        assert_eq!(strength(&[radiotap(&[1 << 5], &[1]), frame(0xd4)].concat()), None, "an ACK");
        assert_eq!(strength(&[radiotap(&[1 << 1], &[1]), frame(0x08)].concat()), None);
        assert_eq!(strength(&[radiotap(&[1 << 1], &[1, 0xb9]), frame(0x08)].concat()), None, "nor does padding");
        assert_eq!(strength(&[1, 0, 8, 0, 0xff, 0xff, 0xff, 0xff]), None);
    }

    #[test]
    fn the_header_ends_where_it_says_and_has_version_zero() {
        let sound = [radiotap(&[1 << 5], &[0xb9]), frame(0x08)].concat();
        assert!(strength(&sound).is_some());
        let mut other = sound.clone();
        other[0] = 1;
        assert_eq!(strength(&other), None, "another version");
        // It announces a strength, but ends before it: the byte there belongs to the frame.
        assert_eq!(strength(&[radiotap(&[1 << 5], &[]), frame(0x08)].concat()), None);
        assert_eq!(
            strength(&[radiotap(&[1 << 5], &[0xb9]), frame(0x80)].concat()),
            Some((SENT_BY, Dbm(-71.0))),
            "a beacon"
        );
        let short = [radiotap(&[1 << 5], &[0xb9]), frame(0x08)[..SENDER + 6].to_vec()].concat();
        assert!(strength(&short).is_some() && strength(&short[..short.len() - 1]).is_none());
    }

    #[test]
    fn every_field_before_the_strength_has_its_length() {
        for (bit, len) in [(0, 8), (1, 1), (2, 1), (3, 4), (4, 2)] {
            let fields = [vec![0; len], vec![0xb9]].concat();
            let bytes = [radiotap(&[1 << 5 | 1 << bit], &fields), frame(0x08)].concat();
            assert_eq!(strength(&bytes), Some((SENT_BY, Dbm(-71.0))), "field {bit}");
        }
    }
}
