//! Constant bit rate: a datagram of fixed size at fixed intervals, the first at the start (ns-2.35
//! `Application/Traffic/CBR` without randomisation).

use fourhop_units::{Bytes, Dur, Rate, Time};

/// When to send, and how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// First datagram.
    pub start: Time,
    /// No datagram at or after this.
    pub stop: Option<Time>,
    /// Payload per second.
    pub rate: Rate,
    /// Payload of a datagram.
    pub payload: Bytes,
}

/// The source of one flow.
#[derive(Clone, Debug)]
pub struct Cbr {
    config: Config,
    interval: Dur,
    next: Option<Time>,
    sent: u32,
}

impl Cbr {
    /// A source that has sent nothing yet.
    pub fn new(config: Config) -> Cbr {
        let interval = config.rate.time_for(config.payload).max(Dur::from_nanos(1));
        Cbr { config, interval, next: Some(config.start), sent: 0 }
    }

    /// When the next datagram is due.
    pub fn next_timeout(&self) -> Option<Time> {
        self.next.filter(|&at| self.config.stop.is_none_or(|stop| at < stop))
    }

    /// The number and payload of the datagram due at `now`, if any.
    pub fn handle_timeout(&mut self, now: Time) -> Option<(u32, Bytes)> {
        let at = self.next_timeout().filter(|&at| at <= now)?;
        let number = self.sent;
        self.sent += 1;
        self.next = Some(at + self.interval);
        Some((number, self.config.payload))
    }

    /// Datagrams generated.
    pub fn sent(&self) -> u64 {
        u64::from(self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_come_at_the_rate_and_end_at_the_stop() {
        let mut cbr = Cbr::new(Config {
            start: Time::from_secs(1),
            stop: Some(Time::from_secs(2)),
            rate: Rate::kbps(100),
            payload: Bytes(1250),
        });
        assert_eq!(cbr.handle_timeout(Time::from_millis(999)), None);
        let mut times = Vec::new();
        while let Some(at) = cbr.next_timeout() {
            times.push(at);
            assert_eq!(cbr.handle_timeout(at), Some((times.len() as u32 - 1, Bytes(1250))));
        }
        assert_eq!(times.len(), 10);
        assert_eq!(times[9], Time::from_millis(1900));
    }
}
