//! Frames of a foreign 802.11 stack, whose bytes the network carries unchanged.
//!
//! That stack has chosen the rates: each attempt has one, and may begin with an RTS. Once all attempts have failed, the
//! frame is given up; the MAC's own retry limits do not apply.

use fourhop_units::Rate;
use std::sync::Arc;

/// One transmission attempt of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Bit rate.
    pub rate: Rate,
    /// Whether an RTS precedes it; never for broadcast frames.
    pub rts: bool,
}

/// Shared by all copies of a frame.
#[derive(PartialEq, Eq, Debug)]
struct Shared {
    number: u64,
    bytes: Box<[u8]>,
    attempts: Box<[Attempt]>,
}

/// A frame and its current attempt. Cloning shares the bytes: each transmission and each reception has a clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Foreign {
    shared: Arc<Shared>,
    attempt: u16,
    retry: bool,
}

impl Foreign {
    /// Creates a frame without FCS, identified to its driver by `number`; `None` if there are no attempts.
    pub fn new(number: u64, bytes: &[u8], attempts: &[Attempt]) -> Option<Foreign> {
        let shared = Shared { number, bytes: bytes.into(), attempts: attempts.into() };
        (!attempts.is_empty()).then(|| Foreign { shared: Arc::new(shared), attempt: 0, retry: false })
    }

    /// Returns the driver's number.
    pub fn number(&self) -> u64 {
        self.shared.number
    }

    /// Returns its bytes, without FCS.
    pub fn bytes(&self) -> &[u8] {
        &self.shared.bytes
    }

    /// Returns the current attempt.
    pub fn present(&self) -> Attempt {
        self.shared.attempts[usize::from(self.attempt)]
    }

    /// Returns the number of attempts begun, the current one included.
    pub fn begun(&self) -> usize {
        usize::from(self.attempt) + 1
    }

    /// Returns whether it has been on the air before. An RTS without an answer does not count.
    pub fn is_repeat(&self) -> bool {
        self.retry
    }

    /// Advances after the current attempt has failed, at its RTS or at the frame itself. Returns false if it was the
    /// last.
    pub(crate) fn try_again(&mut self, was_sent: bool) -> bool {
        self.retry |= was_sent;
        let more = self.begun() < self.shared.attempts.len();
        self.attempt += u16::from(more);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_follow_each_other_and_only_a_frame_that_was_sent_is_repeated() {
        let attempt = |kbps, rts| Attempt { rate: Rate::kbps(kbps), rts };
        let attempts = [attempt(11_000, true), attempt(11_000, true), attempt(1_000, false)];
        let mut frame = Foreign::new(7, b"bytes", &attempts).unwrap();
        assert_eq!((frame.present(), frame.begun(), frame.is_repeat()), (attempts[0], 1, false));
        assert!(frame.try_again(false) && !frame.is_repeat(), "no CTS has come");
        assert!(frame.try_again(true) && frame.is_repeat());
        assert_eq!((frame.present(), frame.begun()), (attempts[2], 3));
        assert!(!frame.try_again(true), "that was the last");
        assert_eq!((frame.begun(), frame.number(), frame.bytes()), (3, 7, &b"bytes"[..]));
        assert_eq!(Foreign::new(7, b"bytes", &[]), None);
    }
}
