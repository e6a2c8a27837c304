//! A TCP transfer: opens at its start, writes its bytes, closes when they are written or at its stop.
//!
//! An endless transfer writes more than any run can carry. As with ns-2's FTP, a stop ends the supply; outstanding data
//! is still retransmitted.
//!
//! A transfer with a rate writes what its application has by then, ten milliseconds at a time, as a program that makes
//! data at a constant rate does (`iperf -b`).

use fourhop_units::{Bytes, Dur, Rate, Time};

/// When and how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// When the connection is opened.
    pub start: Time,
    /// When the supply of an endless transfer ends; none begins from then on.
    pub stop: Option<Time>,
    /// Bytes to carry; `None`: endless.
    pub size: Option<Bytes>,
    /// Rate at which an endless transfer writes; `None`: as much as can be sent.
    pub rate: Option<Rate>,
}

/// Time between two writes of a transfer with a rate.
const WRITES: Dur = Dur::from_millis(10);

/// Bytes of an endless transfer: 2^50 last a year at 260 Mbit/s.
const ENDLESS: u64 = 1 << 50;

/// Actions for the driver on the socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Open the connection and write this many bytes.
    Begin {
        /// Bytes to write.
        bytes: u64,
    },
    /// Write this many more bytes.
    Go {
        /// Bytes to write.
        bytes: u64,
    },
    /// Take back what was not sent.
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Waiting,
    Running,
    Ended,
}

/// The application of one flow's sender.
#[derive(Clone, Debug)]
pub struct Transfer {
    config: Config,
    stage: Stage,
    /// When a transfer with a rate writes next.
    next: Time,
}

impl Transfer {
    /// A transfer that has not begun.
    pub fn new(config: Config) -> Transfer {
        Transfer { config, stage: Stage::Waiting, next: config.start + WRITES }
    }

    /// When [`Transfer::handle_timeout`] has a step to take.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.stage {
            Stage::Waiting => Some(self.config.start).filter(|&at| self.config.stop.is_none_or(|stop| at < stop)),
            Stage::Running => Time::earlier_of(self.config.stop, self.config.rate.map(|_| self.next)),
            Stage::Ended => None,
        }
    }

    /// Has everything been written, so that the connection is to be closed once it is established?
    pub fn is_supplied(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// The step due at `now`, if any.
    pub fn handle_timeout(&mut self, now: Time) -> Option<Step> {
        self.next_timeout().filter(|&at| at <= now)?;
        match self.stage {
            Stage::Waiting => {
                self.stage = if self.config.size.is_some() { Stage::Ended } else { Stage::Running };
                let bytes = self.config.size.map_or(ENDLESS, Bytes::get);
                Some(Step::Begin { bytes: self.config.rate.map_or(bytes, |rate| written(rate, WRITES)) })
            }
            Stage::Running if self.config.stop.is_none_or(|stop| now < stop) => {
                let rate = self.config.rate?;
                let before = written(rate, self.next - self.config.start);
                self.next += WRITES;
                Some(Step::Go { bytes: written(rate, self.next - self.config.start) - before })
            }
            Stage::Running => {
                self.stage = Stage::Ended;
                Some(Step::End)
            }
            Stage::Ended => None,
        }
    }
}

/// Bytes that an application with this rate generates in a time.
fn written(rate: Rate, time: Dur) -> u64 {
    (u128::from(rate.bps()) * u128::from(time.as_nanos()) / 8_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_transfer_begins_and_ends() {
        let (start, stop) = (Time::from_secs(1), Time::from_secs(5));
        let mut transfer = Transfer::new(Config { start, stop: Some(stop), size: None, rate: None });
        assert_eq!(transfer.handle_timeout(Time::ZERO), None);
        assert_eq!(transfer.handle_timeout(start), Some(Step::Begin { bytes: ENDLESS }));
        assert_eq!(transfer.next_timeout(), Some(stop));
        assert_eq!(transfer.handle_timeout(stop), Some(Step::End));
        assert_eq!(transfer.next_timeout(), None);
    }

    #[test]
    fn a_transfer_with_a_rate_writes_what_its_application_has_made() {
        let (start, stop) = (Time::from_secs(1), Time::from_secs(2));
        let mut transfer = Transfer::new(Config { start, stop: Some(stop), size: None, rate: Some(Rate::kbps(1_000)) });
        let mut sum = 0;
        while let Some(at) = transfer.next_timeout() {
            match transfer.handle_timeout(at) {
                Some(Step::Begin { bytes } | Step::Go { bytes }) => sum += bytes,
                Some(Step::End) => assert_eq!(at, stop),
                None => unreachable!("something was due"),
            }
        }
        assert_eq!(sum, 125_000, "a second of 1 Mbit/s");
    }

    #[test]
    fn nothing_begins_at_or_after_the_stop() {
        for (size, start) in [(None, 5), (None, 6), (Some(Bytes(30_000)), 6)] {
            let (start, stop) = (Time::from_secs(start), Some(Time::from_secs(5)));
            let mut transfer = Transfer::new(Config { start, stop, size, rate: None });
            assert_eq!(transfer.next_timeout(), None);
            assert_eq!(transfer.handle_timeout(start), None);
        }
    }

    #[test]
    fn a_file_is_written_at_once_and_closed() {
        let mut transfer =
            Transfer::new(Config { start: Time::ZERO, stop: None, size: Some(Bytes(30_000)), rate: None });
        assert_eq!(transfer.handle_timeout(Time::ZERO), Some(Step::Begin { bytes: 30_000 }));
        assert!(transfer.is_supplied());
        assert_eq!(transfer.next_timeout(), None);
    }
}
