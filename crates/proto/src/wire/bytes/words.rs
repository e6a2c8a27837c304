//! Numbers in packets.

/// Protocol number (IANA): TCP.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;

/// A number of the network's order, which begins at `at`.
pub fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A number of the network's order, which begins at `at`.
pub fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
