//! Sequence numbers (RFC 8966 section 3.2.1).

/// Returns whether `a` is newer than `b`, modulo 2^16.
pub(super) const fn is_newer(a: u16, b: u16) -> bool {
    let ahead = a.wrapping_sub(b);
    0 < ahead && ahead < 0x8000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_on_a_circle() {
        assert!(is_newer(1, 0) && is_newer(0, 0xffff) && is_newer(0x7fff, 0));
        assert!(!is_newer(0, 0) && !is_newer(0, 1));
        assert!(!is_newer(0x8000, 0) && !is_newer(0, 0x8000), "neither, half-way round");
    }
}
