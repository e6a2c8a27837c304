//! Signal strength of stations, and frames to them that were given up, by MAC address, from one of several sources.
//!
//! | file | source |
//! |---|---|
//! | [`monitor`] | frames on a device in monitor mode, each with its strength |
//! | [`emulator`] | the emulator, each frame with its strength |
//! | this file | nl80211: polls the driver's data about its stations |

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

/// Maximum number of frames per read.
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
    /// Total frames to a station that were given up, as counted by a driver.
    given_up: BTreeMap<Mac, u32>,
    /// Maximum number of stations.
    most: usize,
    /// Number of frames given up since the last read that breaks a link.
    breaks: Option<u32>,
}

impl Signals {
    /// Opens the source named in the configuration. `devices` are the interfaces.
    ///
    /// # Errors
    /// If it is unavailable; the error says what is missing.
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

    /// The descriptor to wait for, if the source has one.
    pub fn source(&self) -> Option<BorrowedFd<'_>> {
        match &self.from {
            From::Nobody | From::Driver { .. } => None,
            From::Monitor(capture) => Some(capture.as_fd()),
            From::Emulator(emulator) => Some(emulator.as_fd()),
        }
    }

    /// When the source must be polled next, if it is.
    pub fn next_timeout(&self) -> Option<Time> {
        match &self.from {
            From::Driver { due, .. } => Some(*due),
            _ => None,
        }
    }

    /// Reads the source; appends stations with broken links to `failed`.
    ///
    /// # Errors
    /// If the source no longer exists.
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

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{
        AddressFamily, Backlog, MsgFlags, SockFlag, SockType, UnixAddr, accept, bind, listen, recv, send, socket,
    };
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::path::{Path, PathBuf};

    const LEAST: &str = "address = '10.0.0.1'\ninterfaces = ['lo']\nmesh = ['10.0.0.0/24']\n";

    fn config(more: &str) -> Config {
        Config::parse(&format!("{LEAST}{more}")).unwrap()
    }

    fn refused(more: &str) -> String {
        let Err(error) = Signals::start(&config(more), &[1]) else { panic!("{more}") };
        error.to_string()
    }

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("fourhop-aodvd-{name}-{}", std::process::id()))
    }

    /// The emulator's side of the socket.
    fn listening(path: &Path) -> OwnedFd {
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).unwrap();
        bind(socket.as_raw_fd(), &UnixAddr::new(path).unwrap()).unwrap();
        listen(&socket, Backlog::new(1).unwrap()).unwrap();
        socket
    }

    #[test]
    fn without_a_source_nothing_is_known_and_nothing_waited_for() {
        let mut signals = Signals::start(&config(""), &[1]).unwrap();
        let mut failed = Vec::new();
        signals.read(Time::from_secs(1), &mut failed).unwrap();
        assert!(failed.is_empty() && signals.source().is_none());
        assert_eq!((signals.next_timeout(), signals.strength([2; 6])), (None, None));
    }

    #[test]
    fn counts_of_more_stations_than_may_be_known_are_forgotten() {
        let mut signals = Signals::start(&config("[limits]\nneighbours = 2"), &[1]).unwrap();
        for (known, left) in [(8, 8), (9, 0)] {
            signals.given_up = (0..known).map(|n| ([2, 0, 0, 0, 0, n], 7)).collect();
            signals.read(Time::ZERO, &mut Vec::new()).unwrap();
            assert_eq!(signals.given_up.len(), left);
        }
    }

    #[test]
    fn a_source_that_is_not_there_is_named() {
        let error = refused("[signal]\nsource = 'monitor'\nmonitor = 'mon-none'");
        assert!(
            error.starts_with("signal.monitor: found \"mon-none\", allowed: a device of this machine: "),
            "{error}"
        );
        let error = refused("[signal]\nsource = 'emulator'\nemulator = '/none'");
        let said = "signal.emulator: /none: no emulator listens on this socket; start it first: ";
        assert!(error.starts_with(said), "{error}");
        // Either the kernel lacks it or the loopback device is not a radio.
        assert!(refused("[signal]\nsource = 'nl80211'").starts_with("signal.source: found \"nl80211\", "));
    }

    #[test]
    fn the_emulator_says_how_strong_frames_are_and_which_were_given_up() {
        let path = path("emulator");
        let listener = listening(&path);
        let more = format!(
            "[signal]\nsource = 'emulator'\nemulator = '{}'\n[failures]\nframes = 2\n[limits]\nneighbours = 1",
            path.display()
        );
        let mut signals = Signals::start(&config(&more), &[1]).unwrap();
        std::fs::remove_file(&path).unwrap();
        let emulator = accept(listener.as_raw_fd()).unwrap();
        let mut name = [0; 64];
        let len = recv(emulator, &mut name, MsgFlags::empty()).unwrap();
        assert_eq!(&name[..len], b"00:00:00:00:00:00", "the loopback device says who it is");
        assert!(signals.source().is_some() && signals.next_timeout().is_none());
        let mut read = |news: &[&str]| {
            for text in news {
                send(emulator, text.as_bytes(), MsgFlags::empty()).unwrap();
            }
            let mut failed = Vec::new();
            signals.read(Time::ZERO, &mut failed).unwrap();
            (failed, [1, 2, 3, 4, 5].map(|n| signals.strength([2, 0, 0, 0, 0, n]).map(|dbm| dbm.0)))
        };
        assert_eq!(read(&[]), (vec![], [None; 5]), "nothing has come");
        let (failed, strengths) = read(&[
            "signal 02:00:00:00:00:01 -71.5",
            "failed 02:00:00:00:00:01",
            "failed 02:00:00:00:00:02",
            "what nobody knows",
            "failed 02:00:00:00:00:02",
            "signal 02:00:00:00:00:01 -70.5",
        ]);
        assert_eq!(failed, [[2, 0, 0, 0, 0, 2]], "two frames break a link, one does not");
        assert_eq!(strengths, [Some(-70.5), None, None, None, None], "the newest counts");
        // Four stations are kept for each possible neighbour.
        let others = [2, 3, 4, 1].map(|n| format!("signal 02:00:00:00:00:0{n} -60"));
        let (failed, strengths) = read(&others.each_ref().map(String::as_str));
        assert_eq!((failed, strengths), (vec![], [Some(-60.0), Some(-60.0), Some(-60.0), Some(-60.0), None]));
        let (_, strengths) = read(&["signal 02:00:00:00:00:05 -65"]);
        assert_eq!(strengths, [None, Some(-60.0), Some(-60.0), Some(-60.0), Some(-65.0)]);
        nix::unistd::close(emulator).unwrap();
        let error = signals.read(Time::ZERO, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.starts_with("the emulator has ended"), "{error}");
    }

    #[test]
    fn frames_that_are_given_up_break_no_link_unless_the_file_says_so() {
        let path = path("given-up");
        let listener = listening(&path);
        let more = format!("[signal]\nsource = 'emulator'\nemulator = '{}'", path.display());
        let mut signals = Signals::start(&config(&more), &[1]).unwrap();
        std::fs::remove_file(&path).unwrap();
        let emulator = accept(listener.as_raw_fd()).unwrap();
        for _ in 0..100 {
            send(emulator, b"failed 02:00:00:00:00:01", MsgFlags::empty()).unwrap();
        }
        let mut failed = Vec::new();
        signals.read(Time::ZERO, &mut failed).unwrap();
        assert_eq!(failed, <[Mac; 0]>::default());
        nix::unistd::close(emulator).unwrap();
    }
}
