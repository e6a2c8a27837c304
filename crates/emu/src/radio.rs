//! Receptions of the radios, for programs interested in them: in mode `link` a routing daemon learns here how strongly
//! its node received each frame, before the frame itself, and which frames were given up.
//!
//! A Unix socket that preserves message boundaries (`SOCK_SEQPACKET`). A client identifies its node by MAC address;
//! from then on it gets `signal MAC DBM` for each frame handed to the node and `failed MAC` for each that the node has
//! given up. A client that does not read loses messages once its buffer is full.

use fourhop_live::{Error, Tried};
use fourhop_units::{Dbm, MacAddr, NodeId};
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Maximum number of clients: more nodes than a machine emulates.
const MOST: usize = 1_024;

/// The socket. Dropping it removes its file.
#[derive(Debug)]
pub struct Radio {
    listener: UnixListener,
    path: PathBuf,
    clients: Vec<Client>,
}

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    /// Its node, once identified.
    node: Option<NodeId>,
}

impl Radio {
    /// Listens there, replacing the socket of a killed emulator.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn start(path: &Path) -> Result<Radio, Error> {
        let failed = || format!("cannot listen at {}", path.display());
        let _ = fs::remove_file(path);
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let listener = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).tried(failed)?;
        let address = UnixAddr::new(path).tried(failed)?;
        bind(listener.as_raw_fd(), &address).tried(failed)?;
        listen(&listener, Backlog::MAXCONN).tried(failed)?;
        Ok(Radio { listener: listener.into(), path: path.to_owned(), clients: Vec::new() })
    }

    /// Accepts new clients.
    pub fn welcome(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.clients.len() < MOST && stream.set_nonblocking(true).is_ok() {
                self.clients.push(Client { stream, node: None });
            }
        }
    }

    /// A frame of `from` with this strength is about to be handed to `node`.
    pub fn heard(&mut self, node: NodeId, from: NodeId, strength: Dbm) {
        if !self.clients.is_empty() {
            self.tell(node, &format!("signal {} {:.2}", text(from.mac()), strength.0));
        }
    }

    /// `node` has given up a frame to `to`.
    pub fn failed(&mut self, node: NodeId, to: NodeId) {
        if !self.clients.is_empty() {
            self.tell(node, &format!("failed {}", text(to.mac())));
        }
    }

    fn tell(&mut self, node: NodeId, news: &str) {
        let full = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        self.clients.retain_mut(|client| {
            client.introduce();
            client.node != Some(node)
                || client.stream.write(news.as_bytes()).map_or_else(|error| full(&error), |_| true)
        });
    }
}

impl Client {
    /// Reads the client's node, if it has sent it by now.
    fn introduce(&mut self) {
        let mut name = [0; 17];
        if self.node.is_none() && self.stream.read(&mut name).is_ok() {
            let parts =
                std::str::from_utf8(&name).ok().map(|name| name.split(':').map(|byte| u8::from_str_radix(byte, 16)));
            let bytes = parts.and_then(|parts| parts.collect::<Result<Vec<_>, _>>().ok());
            self.node = bytes.and_then(|bytes| MacAddr(bytes.try_into().ok()?).node());
        }
    }
}

impl AsFd for Radio {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Radio {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn text(mac: MacAddr) -> String {
    mac.0.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::connect;

    #[test]
    fn each_client_hears_of_its_node_and_one_that_has_gone_is_forgotten() {
        let path = std::env::temp_dir().join(format!("fourhop-radio-{}", std::process::id()));
        let mut radio = Radio::start(&path).unwrap();
        let [one, two] = [1, 31].map(|node| {
            let client = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::empty(), None).unwrap();
            connect(client.as_raw_fd(), &UnixAddr::new(&path).unwrap()).unwrap();
            let mut stream = UnixStream::from(client);
            stream.write_all(text(NodeId(node).mac()).as_bytes()).unwrap();
            stream
        });
        radio.welcome();
        radio.heard(NodeId(31), NodeId(1), Dbm(-71.254));
        radio.failed(NodeId(1), NodeId(2));
        for (mut client, said) in [(two, "signal 02:00:00:00:00:01 -71.25"), (one, "failed 02:00:00:00:00:02")] {
            let mut news = [0; 64];
            let len = client.read(&mut news).unwrap();
            assert_eq!(std::str::from_utf8(&news[..len]).unwrap(), said);
            client.set_nonblocking(true).unwrap();
            assert!(client.read(&mut news).is_err(), "that is all");
        }
        radio.failed(NodeId(1), NodeId(2));
        radio.failed(NodeId(31), NodeId(2));
        assert!(radio.clients.is_empty());
        drop(radio);
        assert!(!path.exists());
    }
}
