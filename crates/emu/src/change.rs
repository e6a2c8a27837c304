//! Changes to a running emulation or medium: position and transmitter of a node, losses between two nodes.
//!
//! A client connects to a Unix socket next to the emulation's state file, writes a line of JSON and reads one line in
//! reply. The emulation's loop changes the air between two events: frames on the air continue as they began.

use crate::members::{Member, find};
use crate::{EmulationError, state};
use fourhop_live::{Error, Tried, control};
use fourhop_sim::air::Air;
use fourhop_sim::setup::{Change, Setup};
use fourhop_units::{Db, NodeId, Time, Watt};
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the emulation waits for a client's request, which should come at once.
const PATIENCE: Duration = Duration::from_millis(50);
/// Largest request, in bytes.
const LONGEST: usize = 1 << 16;

/// A change to one node.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Its name.
    pub node: String,
    /// Its new position, in metres.
    pub position: Option<(f64, f64)>,
    /// Its new transmit power, in watts.
    pub power: Option<f64>,
    /// The new gain of its antenna, in dB.
    pub gain: Option<f64>,
    /// New losses between it and others, in dB.
    pub losses: Vec<(String, f64)>,
}

impl Request {
    /// Resolves names; `find` looks up nodes with radios by name.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn resolve(&self, find: impl Fn(&str) -> Result<NodeId, String>) -> Result<(NodeId, Change), String> {
        let losses = self.losses.iter().map(|(other, loss)| Ok((find(other)?, Db(*loss))));
        let change = Change {
            place: self.position,
            tx_power: self.power.map(Watt),
            gain: self.gain.map(Db),
            losses: losses.collect::<Result<_, String>>()?,
        };
        match change == Change::default() {
            true => Err("found no change, allowed: one or more of --position, --power, --gain, --link".to_owned()),
            false => Ok((find(&self.node)?, change)),
        }
    }

    /// Applies the change to the network of these nodes; returns the air from then on.
    ///
    /// # Errors
    /// If there is no such node, nodes move, or the receivers of a frame would be too far apart.
    pub(crate) fn apply(&self, members: &[Member], setup: &mut Setup, seed: u64) -> Result<Air, String> {
        let radio = |name: &str| {
            let found = find(members, name).map(|member| member.node).filter(|node| node.wired_number().is_none());
            found.ok_or_else(|| format!("found {name:?}, allowed: nodes with radios"))
        };
        let (node, change) = self.resolve(radio)?;
        if setup.movement.is_some() {
            return Err("[mobility] moves the nodes: use a scenario without it to change them".to_owned());
        }
        setup.change(node, &change, seed).map_err(|too_wide| too_wide.found())
    }

    /// The answer to the client, also used as a line of the report.
    pub(crate) fn done(&self, now: Time) -> String {
        format!("{} was changed at {:.3} s", self.node, now.as_secs_f64())
    }
}

/// The socket at which an emulation accepts changes. Dropping it removes its file.
#[derive(Debug)]
pub struct Changes {
    listener: UnixListener,
    path: PathBuf,
}

impl Changes {
    /// Listens for the emulation of this name, whose state file exists.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn start(id: &str) -> Result<Changes, Error> {
        let path = state::changes(id);
        let failed = || format!("cannot listen at {}", path.display());
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).tried(failed)?;
        listener.set_nonblocking(true).tried(failed)?;
        Ok(Changes { listener, path })
    }

    /// Lets `change` handle requests from clients, and sends them its answers.
    pub fn serve(&self, mut change: impl FnMut(&Request) -> Result<String, String>) {
        while let Some((mut stream, request)) = self.next() {
            let answer = request.and_then(|request| change(&request)).unwrap_or_else(|why| format!("refused: {why}"));
            // A client that has disconnected does not want the answer.
            let _ = writeln!(stream, "{answer}");
        }
    }

    /// The next client and its request, if there is one.
    fn next(&self) -> Option<(UnixStream, Result<Request, String>)> {
        let (stream, _) = self.listener.accept().ok()?;
        let request = request(&stream).and_then(|line| Ok(serde_json::from_slice(&line)?));
        Some((stream, request.map_err(|error| error.to_string())))
    }
}

/// Reads a client's line. One that sends it in pieces cannot delay the emulation longer than one that is silent.
fn request(mut stream: &UnixStream) -> std::io::Result<Vec<u8>> {
    stream.set_nonblocking(false)?;
    let (end, mut line, mut part) = (Instant::now() + PATIENCE, Vec::new(), [0; 4096]);
    while line.last() != Some(&b'\n') && line.len() < LONGEST {
        // A timeout of zero would mean no timeout.
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            _ if Instant::now() > end => return Err(ErrorKind::TimedOut.into()),
            0 => break,
            length => line.extend_from_slice(&part[..length]),
        }
    }
    Ok(line)
}

impl AsFd for Changes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Requests a change from the emulation of this name; returns what was done.
///
/// # Errors
/// If the request cannot be delivered or is refused, with the reason.
pub fn ask(id: &str, request: &Request) -> Result<String, EmulationError> {
    let path = state::changes(id);
    let failed = || format!("cannot ask {}", path.display());
    let line = serde_json::to_string(request).map_err(std::io::Error::from).tried(failed)? + "\n";
    let answer = control::exchange(&path, &line).tried(failed).map_err(control::explained)?;
    match answer.strip_prefix("refused: ") {
        Some(why) => Err(EmulationError::Unsuited(format!("change: {}", why.trim_end()))),
        None => Ok(answer.trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_dribbles_is_given_up() {
        let (client, server) = UnixStream::pair().unwrap();
        let dribbles = std::thread::spawn(move || {
            while (&client).write_all(b" ").is_ok() {
                std::thread::sleep(PATIENCE / 20);
            }
        });
        assert!(request(&server).is_err());
        drop(server);
        dribbles.join().unwrap();
        let (mut client, server) = UnixStream::pair().unwrap();
        client.write_all(b"{\"a\": 1}\n").unwrap();
        assert_eq!(request(&server).unwrap(), b"{\"a\": 1}\n");
    }

    #[test]
    fn names_become_nodes_and_a_request_without_a_change_is_refused() {
        let find = |name: &str| match name {
            "n0" => Ok(NodeId(0)),
            "n2" => Ok(NodeId(2)),
            _ => Err(format!("found {name:?}")),
        };
        let request = Request { node: "n0".to_owned(), power: Some(0.01), ..Request::default() };
        let losses = vec![("n2".to_owned(), 80.0)];
        let (node, change) = Request { losses: losses.clone(), ..request.clone() }.resolve(find).unwrap();
        let expected = Change { tx_power: Some(Watt(0.01)), losses: vec![(NodeId(2), Db(80.0))], ..Change::default() };
        assert_eq!((node, change), (NodeId(0), expected));
        assert_eq!(
            Request { node: "n7".to_owned(), losses, ..request.clone() }.resolve(find).unwrap_err(),
            "found \"n7\""
        );
        assert!(Request { power: None, ..request }.resolve(find).unwrap_err().starts_with("found no change"));
    }
}
