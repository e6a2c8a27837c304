//! The status of a running service: its newest state as a text, for everybody on this machine who may open a socket.

use crate::clients::Clients;
use crate::{Error, Tried};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use serde::de::DeserializeOwned;
use std::fs;
use std::io::ErrorKind::{ConnectionRefused, NotFound, WouldBlock};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Clients that do not read for this long are dropped.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves the newest text to everybody who connects, on separate threads. Dropping it removes the socket.
#[derive(Debug)]
pub struct Server {
    text: Arc<Mutex<Arc<str>>>,
    path: PathBuf,
}

impl Server {
    /// Listens at this path. The socket of a killed process is replaced; one in use is not.
    ///
    /// # Errors
    /// If another process listens there already, or the socket cannot be created.
    pub fn start(path: &Path) -> Result<Server, Error> {
        let failed = || format!("cannot listen at {}", path.display());
        match called(path) {
            Err(error) if error.kind() != WouldBlock => {}
            _ => {
                let advice = || failed() + ": another service listens there, stop it or choose another socket";
                return Err(io::Error::from(io::ErrorKind::AddrInUse)).tried(advice);
            }
        }
        let _ = fs::remove_file(path);
        let listener = UnixListener::bind(path).tried(failed)?;
        // The socket is only read, but connecting needs write permission (unix(7)).
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).tried(failed)?;
        let server = Server { text: Arc::new(Mutex::new("".into())), path: path.to_owned() };
        let text = server.text.clone();
        let serve = move || {
            let clients = Clients::default();
            for stream in listener.incoming().flatten() {
                let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // A client that has disconnected, or does not read, needs no answer.
                let answer = move |mut stream: &UnixStream| {
                    drop(stream.set_write_timeout(Some(PATIENCE)).and_then(|()| stream.write_all(text.as_bytes())));
                };
                clients.serve(stream, answer);
            }
        };
        std::thread::Builder::new().name("control".to_owned()).spawn(serve).tried(failed)?;
        Ok(server)
    }

    /// Replaces the state.
    pub fn publish(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If this fails, the next instance replaces the socket.
        let _ = fs::remove_file(&self.path);
    }
}

/// The state of the service that listens there, both as text and parsed.
///
/// # Errors
/// If nobody listens, or the text has another format.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<(String, T), Error> {
    let text = ask(path)?;
    let state = serde_json::from_str(&text).map_err(io::Error::from);
    let state = state.tried(|| format!("{}: found a service of another version; restart it", path.display()))?;
    Ok((text, state))
}

/// The text of the service that listens there.
///
/// # Errors
/// If nobody listens.
pub fn ask(path: &Path) -> Result<String, Error> {
    let failed = || format!("cannot ask {}", path.display());
    exchange(path, "").tried(failed).map_err(explained)
}

/// Adds advice to an error of [`exchange`].
pub fn explained(error: Error) -> Error {
    let advice = match error.source.kind() {
        NotFound | ConnectionRefused => ": no service listens there, start it",
        WouldBlock => ": the service there does not answer, it is stopped or hangs",
        _ => "",
    };
    Error { what: error.what + advice, ..error }
}

/// Sends a message to the service that listens there; returns its answer, if it arrives within two seconds.
///
/// # Errors
/// If nobody listens or answers.
pub fn exchange(path: &Path, question: &str) -> io::Result<String> {
    let mut stream = called(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(question.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// Connects, without waiting for a service that does not accept: clients that have given up stay in its queue until it
/// accepts them, and the queue can be full.
fn called(path: &Path) -> io::Result<UnixStream> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn clients_that_do_not_read_do_not_hold_up_the_others() {
        let path = std::env::temp_dir().join(format!("fourhop-control-slow-{}", std::process::id()));
        let server = Server::start(&path).unwrap();
        let long = "x".repeat(4 << 20);
        server.publish(long.clone());
        let silent: Vec<_> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
        assert_eq!(ask(&path).unwrap().len(), long.len());
        drop(silent);
    }

    #[test]
    fn a_client_of_no_service_hears_what_to_do() {
        let path = std::env::temp_dir().join(format!("fourhop-control-nobody-{}", std::process::id()));
        let advice = "no service listens there, start it";
        assert!(ask(&path).unwrap_err().to_string().contains(advice));
        // A killed process leaves its socket. A child that another test is starting also has it, until it executes
        // another program.
        drop(UnixListener::bind(&path).unwrap());
        let begun = Instant::now();
        loop {
            let error = ask(&path).unwrap_err().to_string();
            if error.contains(advice) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(5), "{error}");
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_service_that_hangs_keeps_nobody_waiting() {
        let path = std::env::temp_dir().join(format!("fourhop-control-hangs-{}", std::process::id()));
        let hangs = UnixListener::bind(&path).unwrap();
        // Clients that nobody accepts, until the queue is full.
        let waiting: Vec<_> = std::iter::from_fn(|| called(&path).ok()).collect();
        assert!(waiting.len() > 1);
        let error = ask(&path).unwrap_err().to_string();
        assert!(error.contains("does not answer, it is stopped or hangs"), "{error}");
        let error = Server::start(&path).unwrap_err().to_string();
        assert!(error.contains("another service listens there"), "{error}");
        drop(hangs);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_newest_state_is_handed_out_and_the_socket_goes() {
        let path = std::env::temp_dir().join(format!("fourhop-control-{}", std::process::id()));
        {
            let server = Server::start(&path).unwrap();
            server.publish("one".to_owned());
            assert_eq!(ask(&path).unwrap(), "one");
            server.publish("two".to_owned());
            assert_eq!(ask(&path).unwrap(), "two");
            let second = Server::start(&path).unwrap_err().to_string();
            assert!(second.contains("cannot listen at"), "{second}");
        }
        assert!(ask(&path).is_err());
        fs::write(&path, "left by a process that was killed").unwrap();
        drop(Server::start(&path).unwrap());
        assert!(!path.exists());
    }
}
