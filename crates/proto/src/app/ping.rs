//! ICMP echo requests at fixed intervals (RFC 792) and the round trips of their replies.

use fourhop_units::{Bytes, Dur, Time};
use std::collections::VecDeque;

/// When and how large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// First request.
    pub start: Time,
    /// No request at or after this.
    pub stop: Option<Time>,
    /// Between requests.
    pub interval: Dur,
    /// Payload of a request.
    pub payload: Bytes,
}

/// Requests whose replies are still waited for; older ones count as lost.
const OUTSTANDING: usize = 1024;

/// The asking side of one flow.
#[derive(Clone, Debug)]
pub struct Pinger {
    config: Config,
    next: Time,
    sent: u64,
    received: u64,
    outstanding: VecDeque<(u16, Time)>,
    rtt_sum: Dur,
    last_rtt: Option<Dur>,
}

impl Pinger {
    /// A source that has sent nothing yet.
    pub fn new(config: Config) -> Pinger {
        Pinger {
            config,
            next: config.start,
            sent: 0,
            received: 0,
            outstanding: VecDeque::new(),
            rtt_sum: Dur::ZERO,
            last_rtt: None,
        }
    }

    /// When the next request is due.
    pub fn next_timeout(&self) -> Option<Time> {
        Some(self.next).filter(|&at| self.config.stop.is_none_or(|stop| at < stop))
    }

    /// The number and payload of the request due at `now`, if any.
    pub fn handle_timeout(&mut self, now: Time) -> Option<(u16, Bytes)> {
        let at = self.next_timeout().filter(|&at| at <= now)?;
        let number = self.sent as u16;
        if self.outstanding.len() == OUTSTANDING {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back((number, now));
        self.sent += 1;
        self.next = at + self.config.interval.max(Dur::from_nanos(1));
        Some((number, self.config.payload))
    }

    /// A reply has come back.
    pub fn handle_reply(&mut self, now: Time, number: u16) {
        if let Some(index) = self.outstanding.iter().position(|&(n, _)| n == number)
            && let Some((_, sent)) = self.outstanding.remove(index)
        {
            let rtt = now.saturating_since(sent);
            self.received += 1;
            self.rtt_sum += rtt;
            self.last_rtt = Some(rtt);
        }
    }

    /// Requests sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Replies received, duplicates not counted.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Payload of a request in bytes.
    pub fn payload(&self) -> Bytes {
        self.config.payload
    }

    /// Sum of all round trips.
    pub fn rtt_sum(&self) -> Dur {
        self.rtt_sum
    }

    /// The newest round trip.
    pub fn last_rtt(&self) -> Option<Dur> {
        self.last_rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_matched_by_number() {
        let config = Config { start: Time::ZERO, stop: None, interval: Dur::from_millis(100), payload: Bytes(56) };
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
}
