//! ICMP echo requests (RFC 792) and the round trips of their replies: at fixed intervals, or with a limited number
//! outstanding, as in ping's adaptive mode.

use fourhop_units::{Bytes, Dur, Time};
use std::collections::VecDeque;

/// When to send, and how large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// First request.
    pub start: Time,
    /// No request at or after this.
    pub stop: Option<Time>,
    /// Time between requests.
    pub interval: Dur,
    /// Most requests outstanding; a further one waits for an answer, or until one has been outstanding for
    /// [`LOST_AFTER`].
    pub outstanding: Option<u32>,
    /// Payload of a request.
    pub payload: Bytes,
}

/// Most requests that await their replies; older ones count as lost.
const OUTSTANDING: usize = 1024;

/// When a request counts as lost if their number is limited; after the interval, if that is longer.
pub const LOST_AFTER: Dur = Dur::from_secs(1);

/// The requesting side of one flow.
#[derive(Clone, Debug)]
pub struct Pinger {
    config: Config,
    next: Time,
    sent: u64,
    outstanding: VecDeque<(u16, Time)>,
    round_trips: Vec<Dur>,
}

impl Pinger {
    /// A source that has sent nothing yet.
    pub fn new(config: Config) -> Pinger {
        Pinger { config, next: config.start, sent: 0, outstanding: VecDeque::new(), round_trips: Vec::new() }
    }

    /// When the next request is due.
    pub fn next_timeout(&self) -> Option<Time> {
        let at = self.oldest_of_too_many().map_or(self.next, |sent| self.next.max(sent + self.patience()));
        Some(at).filter(|&at| self.config.stop.is_none_or(|stop| at < stop))
    }

    /// The number and payload of the request due at `now`, if any.
    pub fn handle_timeout(&mut self, now: Time) -> Option<(u16, Bytes)> {
        let at = self.next_timeout().filter(|&at| at <= now)?;
        let number = self.sent as u16;
        if self.outstanding.len() == OUTSTANDING || self.oldest_of_too_many().is_some() {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back((number, now));
        self.sent += 1;
        self.next = at + self.config.interval.max(Dur::from_nanos(1));
        Some((number, self.config.payload))
    }

    /// Handles a reply.
    pub fn handle_reply(&mut self, now: Time, number: u16) {
        if let Some(index) = self.outstanding.iter().position(|&(n, _)| n == number)
            && let Some((_, sent)) = self.outstanding.remove(index)
        {
            let rtt = now.saturating_since(sent);
            self.round_trips.push(rtt);
            if self.config.outstanding.is_some() {
                // A request that waited for this answer is due now, not at its scheduled time.
                self.next = self.next.max(now);
            }
        }
    }

    /// When the oldest request was sent, if as many are outstanding as allowed.
    fn oldest_of_too_many(&self) -> Option<Time> {
        let limit = self.config.outstanding?;
        self.outstanding.front().filter(|_| self.outstanding.len() >= limit as usize).map(|&(_, sent)| sent)
    }

    fn patience(&self) -> Dur {
        LOST_AFTER.max(self.config.interval)
    }

    /// Requests sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Replies received, duplicates not counted.
    pub fn received(&self) -> u64 {
        self.round_trips.len() as u64
    }

    /// Payload of a request in bytes.
    pub fn payload(&self) -> Bytes {
        self.config.payload
    }

    /// Sum of all round trips.
    pub fn rtt_sum(&self) -> Dur {
        self.round_trips.iter().copied().sum()
    }

    /// The newest round trip.
    pub fn last_rtt(&self) -> Option<Dur> {
        self.round_trips.last().copied()
    }

    /// All round trips, in the order of the replies.
    pub fn round_trips(&self) -> &[Dur] {
        &self.round_trips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_matched_by_number() {
        let config = Config {
            start: Time::ZERO,
            stop: None,
            interval: Dur::from_millis(100),
            outstanding: None,
            payload: Bytes(56),
        };
        let mut ping = Pinger::new(config);
        assert_eq!(ping.handle_timeout(Time::ZERO), Some((0, Bytes(56))));
        assert_eq!(ping.handle_timeout(Time::from_millis(100)), Some((1, Bytes(56))));
        ping.handle_reply(Time::from_millis(104), 1);
        ping.handle_reply(Time::from_millis(105), 1);
        ping.handle_reply(Time::from_millis(130), 0);
        assert_eq!((ping.sent(), ping.received()), (2, 2));
        assert_eq!(ping.rtt_sum(), Dur::from_millis(134));
        assert_eq!(ping.last_rtt(), Some(Dur::from_millis(130)));
    }

    #[test]
    fn one_request_at_a_time_waits_for_its_answer_or_a_second() {
        let ms = Time::from_millis;
        let interval = Dur::from_millis(10);
        let config = Config { start: Time::ZERO, stop: None, interval, outstanding: Some(1), payload: Bytes(56) };
        let mut ping = Pinger::new(config);
        assert_eq!(ping.handle_timeout(Time::ZERO), Some((0, Bytes(56))));
        assert_eq!(ping.handle_timeout(ms(10)), None, "one is under way");
        assert_eq!(ping.next_timeout(), Some(ms(1_000)));
        // An answer before the next request is due does not change when that is.
        ping.handle_reply(ms(4), 0);
        assert_eq!((ping.next_timeout(), ping.handle_timeout(ms(10))), (Some(ms(10)), Some((1, Bytes(56)))));
        // A later answer releases the next request at once, never in the past.
        ping.handle_reply(ms(55), 1);
        assert_eq!((ping.next_timeout(), ping.handle_timeout(ms(55))), (Some(ms(55)), Some((2, Bytes(56)))));
        // No answer: the request is given up.
        assert_eq!(ping.handle_timeout(ms(1_055)), Some((3, Bytes(56))));
        ping.handle_reply(ms(1_060), 2);
        assert_eq!((ping.sent(), ping.received()), (4, 2), "too late");
        assert_eq!(ping.round_trips(), [Dur::from_millis(4), Dur::from_millis(45)]);
    }
}
