//! Signal strength of stations, and frames to them that were given up: by MAC address, from one of several sources.
//!
//! | file | source |
//! |---|---|
//! | [`monitor`] | frames on a device in monitor mode, each with its strength |
//! | [`emulator`] | the emulator, each frame with its strength |
//! | this | nl80211: polls the driver's data on its stations |

pub mod emulator;
pub mod monitor;

use crate::Error;
use crate::config::{Config, Source};
use crate::traffic::Mac;
use emulator::{Emulator, News};
use fourhop_live::capture::{Capture, KEPT, What};
use fourhop_live::netlink::stations::Nl80211;
use fourhop_units::{Dbm, Dur, Time};
use nix::net::if_::if_nametoindex;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};

/// Frames of one look at most.
const TURN: usize = 2_000;

enum From {
    Nobody,
    Driver { wifi: Nl80211, devices: Vec<u32>, every: Dur, due: Time },
    Monitor(Capture),
    Emulator(Box<Emulator>),
}

/// A source of signals.
pub struct Signals {
    from: From,
    /// The newest strength of each station.
    strengths: BTreeMap<Mac, Dbm>,
    /// Frames to a station that were given up, ever, as a driver counts them.
    given_up: BTreeMap<Mac, u32>,
    /// Most stations.
    most: usize,
    /// Frames given up at once that break a link.
    breaks: Option<u32>,
}

impl Signals {
    /// The source that the configuration names. `devices` are the interfaces.
    ///
    /// # Errors
    /// If it is not there: the error says what is missing.
    pub fn start(config: &Config, devices: &[u32]) -> Result<Signals, Error> {
        let refused = |what: String| Error::Refused(format!("signal.source: {what}"));
        let from = match config.signal.source {
            None => From::Nobody,
            Some(Source::Nl80211) => {
                let wifi = Nl80211::find().map_err(|error| {
                    refused(format!(
                        "found \"nl80211\", which this kernel lacks ({error}), allowed: \"monitor\", or no source"
                    ))
                })?;
                for (&device, name) in devices.iter().zip(&config.interfaces) {
                    wifi.stations(device).map_err(|error| {
                        refused(format!(
                            "found \"nl80211\", but {name} is not a Wi-Fi device ({error}); leave out `source`"
                        ))
                    })?;
                }
                let every = config.signal.interval;
                From::Driver { wifi, devices: devices.to_vec(), every, due: Time::ZERO }
            }
            Some(Source::Monitor) => {
                let name = config.signal.monitor.as_deref().unwrap_or_default();
                let device = if_nametoindex(name).map_err(|error| {
                    Error::Refused(format!(
                        "signal.monitor: found {name:?}, allowed: a device of this machine: {error}"
                    ))
                })?;
                From::Monitor(Capture::open(device, What::Frames, 1 << 20)?)
            }
            Some(Source::Emulator) => {
                let path = config.signal.emulator.as_deref().unwrap_or_else(|| "".as_ref());
                From::Emulator(Box::new(Emulator::connect(path, devices[0])?))
            }
        };
        let (strengths, given_up) = (BTreeMap::new(), BTreeMap::new());
        let most = 4 * config.limits.limits().neighbours;
        Ok(Signals { from, strengths, given_up, most, breaks: config.failures.frames })
    }

    /// Sources of events.
    pub fn source(&self) -> Option<BorrowedFd<'_>> {
        match &self.from {
            From::Nobody | From::Driver { .. } => None,
            From::Monitor(capture) => Some(capture.as_fd()),
            From::Emulator(emulator) => Some(emulator.as_fd()),
        }
    }

    /// When it has to be asked.
    pub fn next_timeout(&self) -> Option<Time> {
        match &self.from {
            From::Driver { due, .. } => Some(*due),
            _ => None,
        }
    }

    /// Takes the news; appends stations to which frames were given up.
    ///
    /// # Errors
    /// If the source is no more.
    pub fn read(&mut self, now: Time, failed: &mut Vec<Mac>) -> Result<(), Error> {
        let mut strengths = Vec::new();
        let mut lost = Vec::new();
        match &mut self.from {
            From::Nobody => {}
            From::Driver { due, .. } if *due > now => {}
            From::Driver { wifi, devices, every, due } => {
                *due = now + *every;
                for device in devices {
                    // A device that is down has no stations.
                    for station in wifi.stations(*device).unwrap_or_default() {
                        strengths.extend(station.signal.map(|dbm| (station.mac, Dbm(f64::from(dbm)))));
                        let before = self.given_up.insert(station.mac, station.failed);
                        lost.push((station.mac, before.map_or(0, |before| station.failed.saturating_sub(before))));
                    }
                }
            }
            From::Monitor(capture) => {
                let mut buffer = [0; KEPT];
                for _ in 0..TURN {
                    let Some(passed) = capture.next(&mut buffer) else { break };
                    strengths.extend(monitor::strength(&buffer[..passed.len.min(KEPT)]));
                }
            }
            From::Emulator(emulator) => {
                for news in emulator.read()? {
                    match news {
                        News::Signal(mac, strength) => strengths.push((mac, strength)),
                        // Each is a frame that was given up.
                        News::Failed(mac) => lost.push((mac, 1)),
                    }
                }
            }
        }
        for (mac, strength) in strengths {
            if self.strengths.len() >= self.most && !self.strengths.contains_key(&mac) {
                self.strengths.pop_first();
            }
            self.strengths.insert(mac, strength);
        }
        if self.given_up.len() > self.most {
            self.given_up.clear();
        }
        if let Some(breaks) = self.breaks {
            let mut counts: BTreeMap<Mac, u32> = BTreeMap::new();
            lost.into_iter().for_each(|(mac, count)| *counts.entry(mac).or_default() += count);
            failed.extend(counts.into_iter().filter(|&(_, count)| count >= breaks).map(|(mac, _)| mac));
        }
        Ok(())
    }

    /// The newest strength of a station.
    pub fn strength(&self, mac: Mac) -> Option<Dbm> {
        self.strengths.get(&mac).copied()
    }
}
