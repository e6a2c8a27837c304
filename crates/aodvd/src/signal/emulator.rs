//! The emulator as a source: a Unix socket that preserves message boundaries. It reports the strength of each frame
//! before the node receives it, and the destination of each frame that the node has given up.

use crate::Error;
use crate::traffic::Mac;
use fourhop_live::{Error as Failure, Tried, netlink};
use fourhop_units::Dbm;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, send, socket};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The emulator's reports, as text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum News {
    /// `signal MAC DBM`: a frame of this station is received next.
    Signal(Mac, Dbm),
    /// `failed MAC`: a frame to this station was given up.
    Failed(Mac),
}

/// Messages read at a time; any that wait longer are older than their frames.
const TURN: usize = 4_096;

/// The connection to the emulator.
#[derive(Debug)]
pub struct Emulator {
    socket: OwnedFd,
}

impl Emulator {
    /// Connects as the node with this device, which the emulator identifies by its MAC address.
    ///
    /// # Errors
    /// If no emulator listens there.
    pub fn connect(path: &Path, first: u32) -> Result<Emulator, Error> {
        let failed =
            || format!("signal.emulator: {}: no emulator listens on this socket; start it first", path.display());
        let mac = written(netlink::mac(first)?);
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).tried(failed)?;
        UnixAddr::new(path).and_then(|address| connect(socket.as_raw_fd(), &address)).tried(failed)?;
        send(socket.as_raw_fd(), mac.as_bytes(), MsgFlags::MSG_NOSIGNAL).tried(failed)?;
        Ok(Emulator { socket })
    }

    /// Reads the reports since the last call, except unknown ones.
    ///
    /// # Errors
    /// If the emulator has ended.
    pub fn read(&self) -> Result<Vec<News>, Failure> {
        let mut buffer = [0; 64];
        let mut all = Vec::new();
        while all.len() < TURN {
            match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(0) => {
                    let ended = io::Error::from(io::ErrorKind::UnexpectedEof);
                    return Err(ended).tried(|| "the emulator has ended".to_owned());
                }
                Ok(len) => all.extend(std::str::from_utf8(&buffer[..len]).ok().and_then(news)),
                Err(Errno::EAGAIN) => break,
                Err(error) => return Err(error).tried(|| "the emulator".to_owned()),
            }
        }
        Ok(all)
    }
}

impl AsFd for Emulator {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn news(text: &str) -> Option<News> {
    let mut words = text.split_ascii_whitespace();
    match (words.next()?, mac(words.next()?)?, words.next()) {
        ("signal", mac, Some(dbm)) => {
            Some(News::Signal(mac, Dbm(dbm.parse().ok().filter(|dbm: &f64| dbm.is_finite())?)))
        }
        ("failed", mac, None) => Some(News::Failed(mac)),
        _ => None,
    }
}

/// Parses a MAC address, such as "02:00:00:00:00:01".
pub fn mac(text: &str) -> Option<Mac> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        *byte = u8::from_str_radix(parts.next()?, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

/// The inverse of [`mac`].
pub fn written(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_lines_of_text() {
        let station = [2, 0, 0, 0, 0, 0x1f];
        assert_eq!(written(station), "02:00:00:00:00:1f");
        assert_eq!(news("signal 02:00:00:00:00:1f -71.25"), Some(News::Signal(station, Dbm(-71.25))));
        assert_eq!(news("failed 02:00:00:00:00:1f"), Some(News::Failed(station)));
        for other in ["", "signal", "signal 02:00:00:00:00 -1", "signal 02:00:00:00:00:1f nan", "failed x", "else 1 2"]
        {
            assert_eq!(news(other), None, "{other}");
        }
    }

    #[test]
    fn a_mac_address_has_six_bytes() {
        assert_eq!(mac("02:00:00:00:00:fF"), Some([2, 0, 0, 0, 0, 0xff]));
        for other in ["", "02:00:00:00:00", "02:00:00:00:00:01:02", "02:00:00:00:00:100", "02:00:00:00:00:g1"] {
            assert_eq!(mac(other), None, "{other}");
        }
        for other in ["failed 02:00:00:00:00:1f now", "signal 02:00:00:00:00:1f", "signal 02:00:00:00:00:1f inf"] {
            assert_eq!(news(other), None, "{other}");
        }
    }
}
