//! Ages of bytes at delivery, from the logs of both ends of a TCP flow.
//!
//! A byte is born when it becomes the next to be sent: when the byte before it was first sent, or when the application
//! writes it to a sender that has nothing else. From then on everything counts that keeps it from the receiving
//! application: a full window, pacing, a frozen sender, the network, retransmissions, and the wait for missing data
//! before it. If the application always has more to send, this is the delay of data generated as late as possible.

use fourhop_units::{Dur, Time};

/// Records of one end: at the sender, when the bytes of each segment were born; at the receiver, when bytes were
/// delivered.
#[derive(Clone, Default, Debug)]
pub struct AgeLog {
    /// Bytes of the flow up to an end, and the instant; both increase.
    entries: Vec<(u64, Time)>,
    /// Sender: bytes of earlier connections.
    base: u64,
    /// Sender: when the next byte was born.
    born: Time,
}

impl AgeLog {
    /// Sender: notes that the application has written to a connection with nothing to send.
    pub(crate) fn note_written(&mut self, now: Time) {
        self.born = now;
    }

    /// Sender: notes a segment whose bytes end at `end` of its connection's stream; retransmissions do not count.
    pub(crate) fn note_sent(&mut self, end: u64, now: Time) {
        let end = self.base + end;
        if end > self.bytes() {
            self.entries.push((end, self.born));
            self.born = now;
        }
    }

    /// Sender: starts a new connection, which counts from 0 again.
    pub(crate) fn note_renewed(&mut self) {
        self.base = self.bytes();
    }

    /// Receiver: notes that `total` bytes of the flow have been delivered.
    pub(crate) fn note_delivered(&mut self, total: u64, now: Time) {
        self.entries.push((total, now));
    }

    fn bytes(&self) -> u64 {
        self.entries.last().map_or(0, |(bytes, _)| *bytes)
    }

    /// Ages of the bytes that the other end `received` after `from` and up to `to`, each with its number of bytes.
    fn of_delivered(&self, received: &AgeLog, from: Time, to: Time) -> Vec<(Dur, u64)> {
        let (mut ages, mut segments, mut start) = (Vec::new(), self.entries.iter().peekable(), 0);
        for &(total, at) in &received.entries {
            while start < total
                && let Some(&&(end, born)) = segments.peek()
            {
                let stop = end.min(total);
                if from < at && at <= to {
                    ages.push((at.saturating_since(born), stop - start));
                }
                start = stop;
                if start == end {
                    segments.next();
                }
            }
        }
        ages
    }
}

/// Distribution of the ages of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ages {
    /// Mean over the bytes.
    pub mean: Dur,
    /// Half of the bytes are no older.
    pub median: Dur,
    /// 95 % are no older.
    pub p95: Dur,
    /// 99 % are no older.
    pub p99: Dur,
}

impl Ages {
    /// Ages of data delivered after `from` and up to `to`, by the logs of sender and receiver; `None` if there is none.
    pub fn of(sent: &AgeLog, received: &AgeLog, from: Time, to: Time) -> Option<Ages> {
        let mut ages = sent.of_delivered(received, from, to);
        ages.sort_unstable();
        let bytes: u64 = ages.iter().map(|(_, bytes)| bytes).sum();
        let sum: u128 = ages.iter().map(|(age, bytes)| u128::from(age.as_nanos()) * u128::from(*bytes)).sum();
        let share = |per_cent: u64| {
            let mut left = (bytes * per_cent).div_ceil(100);
            let reaches = ages.iter().find(|(_, bytes)| {
                left = left.saturating_sub(*bytes);
                left == 0
            });
            reaches.map_or(Dur::ZERO, |(age, _)| *age)
        };
        (bytes > 0).then(|| Ages {
            mean: Dur::from_nanos((sum / u128::from(bytes)) as u64),
            median: share(50),
            p95: share(95),
            p99: share(99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    const MS: fn(u64) -> Dur = Dur::from_millis;

    /// Four segments of 100 bytes. The second waits until 30 ms, but dates from the start of the first; the third is
    /// lost, sent again, and delays the fourth.
    ///
    /// ```text
    /// ms         0    10         30   40   50     70       90
    /// sent       w    a          b    c*   d      c
    /// delivered                  a         b               c d
    /// born       a    b          c    d
    /// ```
    #[test]
    fn whatever_keeps_a_byte_counts() {
        let (mut sender, mut receiver) = (AgeLog::default(), AgeLog::default());
        sender.note_written(at(0));
        for (end, ms) in [(100, 10), (200, 30), (300, 40), (400, 50), (300, 70)] {
            sender.note_sent(end, at(ms));
        }
        for (total, ms) in [(100, 30), (200, 50), (400, 90)] {
            receiver.note_delivered(total, at(ms));
        }
        let all = sender.of_delivered(&receiver, at(0), at(90));
        assert_eq!(all, [(MS(30), 100), (MS(40), 100), (MS(60), 100), (MS(50), 100)]);
        let ages = Ages::of(&sender, &receiver, at(0), at(90)).expect("bytes were delivered");
        assert_eq!(ages, Ages { mean: MS(45), median: MS(40), p95: MS(60), p99: MS(60) });
        let later = Ages::of(&sender, &receiver, at(30), at(50)).expect("one segment");
        assert_eq!((later.mean, later.p99), (MS(40), MS(40)), "what came at 30 ms was before");
        assert_eq!(Ages::of(&sender, &receiver, at(90), at(99)), None);
    }

    /// A delivery may end within a segment. Bytes of the next connection follow those of the one before, and are born
    /// when they are written.
    #[test]
    fn connections_follow_each_other() {
        let (mut sender, mut receiver) = (AgeLog::default(), AgeLog::default());
        sender.note_sent(100, at(1));
        sender.note_renewed();
        sender.note_written(at(50));
        sender.note_sent(100, at(55));
        for (total, ms) in [(60, 3), (100, 4), (200, 70)] {
            receiver.note_delivered(total, at(ms));
        }
        let all = sender.of_delivered(&receiver, at(0), at(90));
        assert_eq!(all, [(MS(3), 60), (MS(4), 40), (MS(20), 100)]);
    }
}
