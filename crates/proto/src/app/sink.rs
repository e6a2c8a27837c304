//! The receiving side of UDP: which datagrams arrive for the first time.
//!
//! A datagram can arrive twice although its source sent it once. If a neighbour receives a frame but none of its ACKs
//! gets back, the MAC gives up the frame, and routing sends the packet again over another path (RFC 3561 section 6.12).
//! Goodput counts a datagram once, so the receiver remembers the sequence numbers of the newest datagrams in a sliding
//! window, as ESP receivers do (RFC 4303 section 3.4.3); the window moves by words rather than bits (RFC 6479).
//! Sequence numbers wrap (RFC 1982).
//!
//! A datagram older than the window cannot be distinguished from a repeated one and counts as late: it has arrived but
//! is not delivered, as in RFC 4303. The window is a million numbers wide because each node on the path may keep a
//! packet in its send buffer for 30 s at a time while later ones overtake it: of 195 datagrams per second in a network
//! of 50 moving nodes, some arrived 24,096 numbers, two minutes, behind others.

use crate::counters::counters;
use std::collections::VecDeque;

/// Numbers per word of the window.
const BITS: u32 = u64::BITS;

/// Most words of the window: 2^20 numbers in 128 KiB, which only a flow of that many datagrams uses.
const WORDS: usize = 1 << 14;

counters! {
    /// Datagrams that arrived and were not delivered.
    pub struct Counters {
        /// Seen before.
        pub repeated: u64,
        /// Older than the window.
        pub late: u64,
    }
}

/// The receiver of one flow.
#[derive(Clone, Default, Debug)]
pub struct Sink {
    /// The lowest number in the window's first word, a multiple of [`BITS`].
    first: Option<u32>,
    /// One bit per number, up to the word of the newest.
    seen: VecDeque<u64>,
    counters: Counters,
}

impl Sink {
    /// Takes a datagram with this number; returns whether to deliver it. The first number may be any.
    pub fn handle_datagram(&mut self, number: u32) -> bool {
        let first = self.first.get_or_insert(number / BITS * BITS);
        let ahead = number.wrapping_sub(*first) as i32;
        if ahead < 0 {
            let before = ahead.unsigned_abs().div_ceil(BITS);
            if before as usize > WORDS - self.seen.len() {
                self.counters.late += 1;
                return false;
            }
            (0..before).for_each(|_| self.seen.push_front(0));
            *first = first.wrapping_sub(before * BITS);
        } else {
            let words = ahead as usize / BITS as usize + 1;
            for _ in 0..words.saturating_sub(self.seen.len()).min(WORDS) {
                if self.seen.len() == WORDS {
                    self.seen.pop_front();
                }
                self.seen.push_back(0);
            }
            *first = first.wrapping_add(words.saturating_sub(WORDS) as u32 * BITS);
        }
        let word = &mut self.seen[(number.wrapping_sub(*first) / BITS) as usize];
        let bit = 1 << (number % BITS);
        if *word & bit != 0 {
            self.counters.repeated += 1;
            return false;
        }
        *word |= bit;
        true
    }

    /// Returns its counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Numbers in a full window.
    const FULL: u32 = WORDS as u32 * BITS;
    /// Of these, the newest, which are never late: all but the oldest word.
    const KEPT: i64 = (FULL - BITS) as i64;

    #[test]
    fn each_number_is_delivered_once() {
        let mut sink = Sink::default();
        let found = [200, 130, 200, 0, 131, 131, 205, 0, 63, 64].map(|number| sink.handle_datagram(number));
        assert_eq!(found, [true, true, false, true, true, false, true, false, true, true]);
        assert_eq!(*sink.counters(), Counters { repeated: 3, late: 0 });
    }

    #[test]
    fn what_is_older_than_the_window_is_late() {
        let mut sink = Sink::default();
        assert!(sink.handle_datagram(0) && sink.handle_datagram(FULL - 1));
        assert!(sink.handle_datagram(1), "in the oldest word");
        assert!(sink.handle_datagram(FULL));
        assert!(!sink.handle_datagram(2) && !sink.handle_datagram(1), "that word is gone");
        assert!(sink.handle_datagram(BITS));
        assert_eq!(*sink.counters(), Counters { repeated: 0, late: 2 });
    }

    #[test]
    fn a_step_as_long_as_the_window_forgets_all() {
        for step in [FULL, FULL + 1, 1 << 30, i32::MAX as u32 - FULL] {
            let mut sink = Sink::default();
            (0..FULL).step_by(61).for_each(|number| assert!(sink.handle_datagram(number)));
            let newest = FULL - 1 + step;
            assert!((0..KEPT as u32).step_by(61).all(|behind| sink.handle_datagram(newest - behind)), "{step}");
            assert!(!sink.handle_datagram(newest - FULL), "{step}");
        }
    }

    /// Steps from one arrival to the next: mostly short, both ways; some as long as the window.
    fn step() -> impl Strategy<Value = i64> {
        prop_oneof![
            6 => -70i64..=80,
            2 => -2000i64..=2000,
            1 => -KEPT - 200..=KEPT + 200,
        ]
    }

    proptest! {
        /// None is delivered twice, whatever comes; what is within the window is delivered once; every other is
        /// counted.
        #[test]
        fn as_if_every_number_were_remembered(first in any::<u32>(), steps in prop::collection::vec(step(), 0..60)) {
            let (mut sink, mut seen) = (Sink::default(), BTreeSet::new());
            let (mut at, mut newest) = (i64::from(first), i64::from(first));
            let (mut delivered, mut arrived) = (0, 0);
            for step in steps {
                at = (at + step).max(newest - 2 * KEPT);
                newest = if arrived == 0 { at } else { newest.max(at) };
                let before = *sink.counters();
                let taken = sink.handle_datagram(at as u32);
                let (repeated, late) = (sink.counters().repeated > before.repeated, sink.counters().late > before.late);
                prop_assert_eq!(u8::from(taken) + u8::from(repeated) + u8::from(late), 1);
                prop_assert!(!late || newest - at > KEPT, "{} is not late, {} is the newest", at, newest);
                prop_assert!(late || newest - at < i64::from(FULL));
                if !late {
                    prop_assert_eq!(taken, seen.insert(at), "{}", at);
                }
                delivered += u64::from(taken);
                arrived += 1;
            }
            prop_assert_eq!(delivered, seen.len() as u64);
            prop_assert_eq!(arrived, delivered + sink.counters().repeated + sink.counters().late);
        }
    }
}
