//! Incremental update of the Internet checksum, which needs only the bytes that change (RFC 1624).

use super::words::be16;

/// Returns the sum of 16-bit words, not yet folded. `bytes` must begin at an even offset of the checksummed data.
pub fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum()
}

/// RFC 1624 equation 3: HC' = ~(~HC + ~m + m'), where m and m' are sums of the old and the new bytes.
pub fn updated(checksum: u16, was: u64, is: u64) -> u16 {
    let fold = |mut sum: u64| {
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    };
    !fold(u64::from(!checksum) + u64::from(!fold(was)) + u64::from(fold(is)))
}

/// Updates the checksum at offset `checksum` after a change of the data it covers.
pub fn update(bytes: &mut [u8], checksum: usize, was: u64, is: u64) {
    let updated = updated(be16(bytes, checksum), was, is);
    bytes[checksum..][..2].copy_from_slice(&updated.to_be_bytes());
}

/// Writes `content` at `at` and updates the checksum at offset `checksum` that covers it. The checksummed data must
/// begin at an even offset.
pub fn write(bytes: &mut [u8], checksum: usize, at: usize, content: &[u8]) {
    let end = at + content.len();
    let words = at & !1..end.next_multiple_of(2).min(bytes.len());
    let was = sum(&bytes[words.clone()]);
    bytes[at..end].copy_from_slice(content);
    let is = sum(&bytes[words]);
    update(bytes, checksum, was, is);
}
