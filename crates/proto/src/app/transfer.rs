//! A TCP transfer: opens at its start, writes its bytes, closes when they are written or at its stop.
//!
//! An endless transfer writes more than any run can carry. As with ns-2's FTP, a stop ends the supply; outstanding data
//! is still retransmitted.

use fourhop_units::{Bytes, Time};

/// When and how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// When the connection is opened.
    pub start: Time,
    /// When the supply of an endless transfer ends; none begins from then on.
    pub stop: Option<Time>,
    /// Bytes to carry; `None`: endless.
    pub size: Option<Bytes>,
}

/// What an endless transfer writes: 2^50 bytes last a year at 260 Mbit/s.
const ENDLESS: u64 = 1 << 50;

/// What the driver has to do with the socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Open the connection and write this many bytes.
    Begin {
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
}

impl Transfer {
    /// A transfer that has not begun.
    pub fn new(config: Config) -> Transfer {
        Transfer { config, stage: Stage::Waiting }
    }

    /// When [`Transfer::handle_timeout`] has a step to take.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.stage {
            Stage::Waiting => Some(self.config.start).filter(|&at| self.config.stop.is_none_or(|stop| at < stop)),
            Stage::Running => self.config.stop,
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
                Some(Step::Begin { bytes })
            }
            Stage::Running => {
                self.stage = Stage::Ended;
                Some(Step::End)
            }
            Stage::Ended => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_transfer_begins_and_ends() {
        let (start, stop) = (Time::from_secs(1), Time::from_secs(5));
        let mut transfer = Transfer::new(Config { start, stop: Some(stop), size: None });
        assert_eq!(transfer.handle_timeout(Time::ZERO), None);
        assert_eq!(transfer.handle_timeout(start), Some(Step::Begin { bytes: ENDLESS }));
        assert_eq!(transfer.next_timeout(), Some(stop));
        assert_eq!(transfer.handle_timeout(stop), Some(Step::End));
        assert_eq!(transfer.next_timeout(), None);
    }

    #[test]
    fn nothing_begins_at_or_after_the_stop() {
        for (size, start) in [(None, 5), (None, 6), (Some(Bytes(30_000)), 6)] {
            let (start, stop) = (Time::from_secs(start), Some(Time::from_secs(5)));
            let mut transfer = Transfer::new(Config { start, stop, size });
            assert_eq!(transfer.next_timeout(), None);
            assert_eq!(transfer.handle_timeout(start), None);
        }
    }

    #[test]
    fn a_file_is_written_at_once_and_closed() {
        let mut transfer = Transfer::new(Config { start: Time::ZERO, stop: None, size: Some(Bytes(30_000)) });
        assert_eq!(transfer.handle_timeout(Time::ZERO), Some(Step::Begin { bytes: 30_000 }));
        assert!(transfer.is_supplied());
        assert_eq!(transfer.next_timeout(), None);
    }
}
