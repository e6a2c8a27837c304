//! A second process that lets packets pass when the first one does not work: stopped, hung or killed.
//!
//! It shares the sockets of the queues. As long as the first process sends heartbeats, the guard does nothing. If they
//! stop, the guard accepts the waiting packets and unbinds the queues, so that packets pass by the rule's bypass. It
//! reports this to the first process, which binds its queues again when it resumes. If the first process has ended, the
//! guard accepts the waiting packets and ends: packets of a killed process are late, not lost.

use super::{Queues, begin, end};
use crate::netlink::attribute;
use crate::{Error, Tried};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The argument that makes a program a guard.
pub const WORD: &str = "guard";
/// Milliseconds without a heartbeat after which packets pass. Heartbeats are five times as frequent.
const SILENCE: u16 = 1_000;
/// The time between two heartbeats.
pub const BEAT: Duration = Duration::from_millis(200);
/// Length of a queue number, in bytes.
const NUMBER: usize = 2;
/// `NFQNL_MSG_VERDICT_BATCH`: a verdict for all packets up to a number; `NFQNL_CFG_CMD_UNBIND`.
const VERDICTS: u16 = 3 << 8 | 3;
const UNBIND: u8 = 2;

/// The guard, as seen by the first process. Dropping it ends the guard.
#[derive(Debug)]
pub struct Guard {
    line: Option<UnixStream>,
    child: Child,
}

impl Guard {
    /// Starts another instance of this program as the guard of these queues. It has the rights of this process, no open
    /// files except the sockets, and a separate process group, so that Ctrl-Z in a terminal does not stop both.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn start(queues: &[Guarded]) -> Result<Guard, Error> {
        let failed = || "cannot start the guard process, which lets packets pass if this one hangs".to_owned();
        let (line, other) = UnixStream::pair().tried(failed)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORD).stdin(OwnedFd::from(other)).stdout(Stdio::null()).process_group(0);
        let child = crate::priority::with_signals(&mut command).spawn().tried(failed)?;
        let guard = Guard { line: Some(line), child };
        let line = guard.line()?;
        for queues in queues {
            // Each has one queue per direction.
            let bytes: Vec<u8> = queues.numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            let sockets = [queues.socket.as_raw_fd()];
            let rights = [ControlMessage::ScmRights(&sockets)];
            let mut message = vec![bytes.len() as u8];
            message.extend(bytes);
            sendmsg::<()>(line.as_raw_fd(), &[IoSlice::new(&message)], &rights, MsgFlags::MSG_NOSIGNAL, None)
                .tried(failed)?;
            // Each is answered by one byte, so that no two messages run together.
            (&mut &*line).read_exact(&mut [0]).tried(failed)?;
        }
        (&mut &*line).write_all(&[0]).tried(failed)?;
        line.set_nonblocking(true).tried(failed)?;
        Ok(guard)
    }

    fn line(&self) -> Result<&UnixStream, Error> {
        self.line.as_ref().ok_or_else(|| io::Error::from(Errno::EPIPE)).tried(|| "the guard".to_owned())
    }

    /// Sends a heartbeat.
    ///
    /// # Errors
    /// If the guard has ended.
    pub fn beat(&self) -> Result<(), Error> {
        let failed = || "the guard process, which lets packets pass if this one hangs, has ended".to_owned();
        match (&mut self.line()?).write(b".") {
            // It has not read for a while: it is stopped, and will see the heartbeats that wait.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            done => done.map(drop).tried(failed),
        }
    }

    /// Whether it has given the queues up since the last call.
    ///
    /// # Errors
    /// If the guard has ended.
    pub fn gave_up(&self) -> Result<bool, Error> {
        let failed = || "the guard process, which lets packets pass if this one hangs, has ended".to_owned();
        let mut said = [0; 16];
        match (&mut self.line()?).read(&mut said) {
            Ok(0) => Err(io::Error::from(Errno::EPIPE)).tried(failed),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error).tried(failed),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Closing the line ends the guard, too; nobody else can have the queues before that.
        self.line = None;
        for _ in 0..20 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(BEAT / 4);
        }
        // A stopped guard does not notice.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The queues of a socket, for a guard.
#[derive(Debug)]
pub struct Guarded {
    socket: OwnedFd,
    numbers: Vec<u16>,
}

impl Guarded {
    /// Shares the queues. They stay with this process as long as this value exists.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn of(queues: &Queues) -> Result<Guarded, Error> {
        let socket = queues.socket.try_clone().tried(|| "cannot share the packet queue".to_owned())?;
        Ok(Guarded { socket, numbers: queues.numbers.clone() })
    }

    /// Accepts all waiting packets, and unbinds the queues.
    fn release(&self) {
        let flags = libc::NLM_F_REQUEST as u16;
        let mut messages = Vec::new();
        let mut say = |kind, number, attributed, content: &[u8]| {
            let start = messages.len();
            begin(&mut messages, kind, flags, number);
            attribute(&mut messages, attributed, content);
            end(&mut messages, start);
        };
        for &number in &self.numbers {
            // The limit is now zero: new packets pass, so the queue is empty when it is removed.
            say(super::CONFIG, number, super::MOST, &0_u32.to_be_bytes());
            // Packet numbers wrap around: each is less than half a cycle before one of these.
            for up_to in [0x3fff_ffff_u32, 0x7fff_ffff, 0xbfff_ffff, 0xffff_ffff] {
                say(
                    VERDICTS,
                    number,
                    super::VERDICT_HEAD,
                    &[super::ACCEPT.to_be_bytes(), up_to.to_be_bytes()].concat(),
                );
            }
            say(super::CONFIG, number, super::COMMAND, &[UNBIND, 0, 0, 0]);
        }
        // A failure cannot be reported to anybody.
        let _ = nix::sys::socket::send(self.socket.as_raw_fd(), &messages, MsgFlags::empty());
    }
}

/// Runs the guard; its standard input is the line to the first process.
///
/// # Errors
/// If it is not started by [`Guard::start`].
pub fn run() -> Result<(), Error> {
    let failed = || "the guard is started by the gateway".to_owned();
    // It ends with the process that it guards, whatever signals are sent to both.
    let ignore = nix::sys::signal::SigHandler::SigIgn;
    for signal in [nix::sys::signal::SIGINT, nix::sys::signal::SIGTERM, nix::sys::signal::SIGHUP] {
        // SAFETY: the signal is ignored; no handler runs.
        unsafe { nix::sys::signal::signal(signal, ignore) }.tried(failed)?;
    }
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().tried(failed)?);
    let guarded = take(&line).tried(failed)?;
    watch(&line, &guarded).tried(failed)
}

/// Receives the sockets with their queue numbers.
fn take(line: &UnixStream) -> Result<Vec<Guarded>, io::Error> {
    let mut all = Vec::new();
    loop {
        let mut head = [0; 1 + 8 * NUMBER];
        let mut space = nix::cmsg_space!(RawFd);
        let mut pieces = [IoSliceMut::new(&mut head)];
        let got = recvmsg::<()>(line.as_raw_fd(), &mut pieces, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
        let (bytes, sockets) = (got.bytes, got.cmsgs()?.collect::<Vec<_>>());
        let length = usize::from(head[0]);
        if bytes <= 1 || length + 1 != bytes {
            // A message without queues ends the list; no message at all means the other process has ended.
            return if bytes == 1 { Ok(all) } else { Err(Errno::EPROTO.into()) };
        }
        let Some(ControlMessageOwned::ScmRights(sockets)) = sockets.first() else { return Err(Errno::EPROTO.into()) };
        let Some(&socket) = sockets.first() else { return Err(Errno::EPROTO.into()) };
        // SAFETY: the kernel has just created this descriptor for this process, and nobody else knows it.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let numbers = head[1..bytes].chunks_exact(NUMBER).map(|two| u16::from_ne_bytes([two[0], two[1]])).collect();
        all.push(Guarded { socket, numbers });
        (&mut &*line).write_all(&[0])?;
    }
}

fn watch(line: &UnixStream, guarded: &[Guarded]) -> Result<(), io::Error> {
    let mut released = false;
    loop {
        let timeout = if released { PollTimeout::NONE } else { PollTimeout::from(SILENCE) };
        match poll(&mut [PollFd::new(line.as_fd(), PollFlags::POLLIN)], timeout) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
            Ok(0) => {
                guarded.iter().for_each(Guarded::release);
                released = true;
                // If the other process has ended, the next poll finds that.
                let _ = (&mut &*line).write_all(b"r");
            }
            Ok(_) => {
                if matches!((&mut &*line).read(&mut [0; 64]), Ok(0) | Err(_)) {
                    guarded.iter().for_each(Guarded::release);
                    return Ok(());
                }
                released = false;
            }
        }
    }
}
