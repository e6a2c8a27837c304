//! Protocol numbers, and integers in network byte order.

/// Protocol number (IANA): TCP.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;

/// Reads a big-endian integer at offset `at`.
pub fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a big-endian integer at offset `at`.
pub fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
