//! Address prefixes (RFC 4632).

use core::net::Ipv4Addr;

/// The addresses that begin with the same bits (RFC 4632).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Prefix {
    /// Bits beyond `len` are zero.
    addr: Ipv4Addr,
    len: u8,
}

impl Prefix {
    /// Creates the prefix of the first `len` bits of `addr`, whose other bits are ignored; `None` if `len` exceeds 32.
    pub const fn new(addr: Ipv4Addr, len: u8) -> Option<Prefix> {
        if len > 32 {
            return None;
        }
        Some(Prefix { addr: Ipv4Addr::from_bits(addr.to_bits() & Self::mask(len)), len })
    }

    /// Creates the prefix of this address alone.
    pub const fn host(addr: Ipv4Addr) -> Prefix {
        Prefix { addr, len: 32 }
    }

    /// Returns its first address.
    pub const fn addr(self) -> Ipv4Addr {
        self.addr
    }

    /// Returns the number of leading bits that all its addresses share.
    pub const fn bits(self) -> u8 {
        self.len
    }

    /// Returns whether it contains this address.
    pub const fn contains(self, addr: Ipv4Addr) -> bool {
        addr.to_bits() & Self::mask(self.len) == self.addr.to_bits()
    }

    const fn mask(len: u8) -> u32 {
        // Shifting a u32 by all 32 bits would overflow.
        match u32::MAX.checked_shl(32 - len as u32) {
            Some(mask) => mask,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn prefix(a: u8, b: u8, len: u8) -> Prefix {
        Prefix::new(Ipv4Addr::new(a, b, 77, 1), len).expect("at most 32 bits")
    }

    #[test]
    fn a_prefix_contains_what_shares_its_bits() {
        let lan = prefix(192, 168, 16);
        assert_eq!((lan.addr(), lan.bits()), (Ipv4Addr::new(192, 168, 0, 0), 16));
        assert!(lan.contains(Ipv4Addr::new(192, 168, 255, 255)) && !lan.contains(Ipv4Addr::new(192, 169, 0, 0)));
        let host = Prefix::host(Ipv4Addr::new(192, 0, 2, 1));
        assert!(host.contains(Ipv4Addr::new(192, 0, 2, 1)) && !host.contains(Ipv4Addr::new(192, 0, 2, 0)));
        assert!(prefix(1, 2, 0).contains(Ipv4Addr::new(203, 0, 113, 9)));
        assert_eq!(Prefix::new(Ipv4Addr::LOCALHOST, 33), None);
    }
}
