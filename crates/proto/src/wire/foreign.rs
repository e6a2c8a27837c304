//! Frames of another 802.11 stack, whose bytes the network carries as they are.
//!
//! That stack has chosen the rates: each attempt has one, and may begin with an RTS. When all have failed, the frame is
//! given up; the limits of the MAC's own options do not count.

use fourhop_units::Rate;
use std::sync::Arc;

/// How a frame is sent once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Its rate.
    pub rate: Rate,
    /// Does an RTS come before it? Frames for all have none.
    pub rts: bool,
}

/// Common to all copies of a frame.
#[derive(PartialEq, Eq, Debug)]
struct Shared {
    number: u64,
    bytes: Box<[u8]>,
    attempts: Box<[Attempt]>,
}

/// A frame with the attempt that it is at. Cloning shares the bytes: each transmission and each reception has a clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Foreign {
    shared: Arc<Shared>,
    attempt: u16,
    retry: bool,
}

impl Foreign {
    /// A frame without FCS, which its driver knows by `number`; `None` without an attempt.
    pub fn new(number: u64, bytes: &[u8], attempts: &[Attempt]) -> Option<Foreign> {
        let shared = Shared { number, bytes: bytes.into(), attempts: attempts.into() };
        (!attempts.is_empty()).then(|| Foreign { shared: Arc::new(shared), attempt: 0, retry: false })
    }

    /// The driver's number.
    pub fn number(&self) -> u64 {
        self.shared.number
    }

    /// Its bytes, without FCS.
    pub fn bytes(&self) -> &[u8] {
        &self.shared.bytes
    }

    /// The present attempt.
    pub fn present(&self) -> Attempt {
        self.shared.attempts[usize::from(self.attempt)]
    }

    /// Attempts begun, the present one included.
    pub fn begun(&self) -> usize {
        usize::from(self.attempt) + 1
    }

    /// Has it been on the air before? RTS without an answer do not count.
    pub fn is_repeat(&self) -> bool {
        self.retry
    }

    /// The present attempt has failed, after its RTS or after the frame itself. False if it was the last.
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
