//! Families of generic netlink: a socket for one of them.

use super::ask::attributes;
use super::own::all_answers;
use super::{Batch, HEADER, length_at};
use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket, sockopt,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// linux/genetlink.h: the id of the controller, and the query for a family by name.
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// The multicast groups, each with name and id.
const GROUPS: u16 = 7;
const GROUP_NAME: u16 = 1;
const GROUP_NUMBER: u16 = 2;
/// Length of `struct genlmsghdr`.
pub(super) const HEAD: usize = 4;
/// Receive buffer of the socket, in bytes.
const WAITING: usize = 4 << 20;

/// The id of a family, if the kernel has it; `what` describes its purpose in errors.
pub(super) fn family(name: &str, what: &str) -> Result<Option<u16>, Error> {
    Ok(number(&about(name, what)?))
}

fn number(about: &[u8]) -> Option<u16> {
    let (_, id) = attributes(about).find(|(kind, _)| *kind == FAMILY_ID)?;
    Some(u16::from_ne_bytes(id.try_into().ok()?))
}

/// The attributes of a family; empty if the kernel does not have it.
fn about(name: &str, what: &str) -> Result<Vec<u8>, Error> {
    let mut batch = Batch::default();
    batch.begin(CONTROLLER, (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16, || what.to_owned());
    batch.bytes.extend([GET_FAMILY, 1, 0, 0]);
    batch.attribute(FAMILY_NAME, &[name.as_bytes(), b"\0"].concat());
    batch.end();
    let answers = all_answers(SockProtocol::NetlinkGeneric, &batch.bytes, what)?;
    Ok(answers.iter().find_map(|answer| answer.get(HEAD..)).unwrap_or_default().to_vec())
}

/// The id of a multicast group, from the attributes of a family.
fn group(about: &[u8], name: &str) -> Option<u32> {
    let (_, groups) = attributes(about).find(|(kind, _)| *kind == GROUPS)?;
    attributes(groups).find_map(|(_, group)| {
        let find = |wanted| attributes(group).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
        find(GROUP_NAME).filter(|found| found.strip_suffix(b"\0") == Some(name.as_bytes()))?;
        find(GROUP_NUMBER)?.try_into().ok().map(u32::from_ne_bytes)
    })
}

/// Something received from the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received<'a> {
    /// A message of the family: its command and its attributes.
    Message(u8, &'a [u8]),
    /// The kernel's answer to one of our messages: an error, or 0 for success.
    Answer(i32),
    /// The socket's buffer was too small: some messages are lost.
    Missed,
    /// Bytes that are not a message of the family.
    Garbage,
}

/// A socket for one family.
#[derive(Debug)]
pub struct Family {
    socket: OwnedFd,
    number: u16,
    about: Vec<u8>,
    buffer: Vec<u8>,
}

impl Family {
    /// Opens the family of this name, in the namespace of this thread.
    ///
    /// # Errors
    /// If the kernel has no family of this name.
    pub fn open(name: &str, what: &str) -> Result<Family, Error> {
        let missing = || Error { what: what.to_owned(), source: io::ErrorKind::NotFound.into() };
        let about = about(name, what)?;
        let number = number(&about).ok_or_else(missing)?;
        let failed = || what.to_owned();
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket =
            socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkGeneric).tried(failed)?;
        // Only the machine's administrator may exceed the limit.
        let large = setsockopt(&socket, sockopt::RcvBufForce, &WAITING);
        large.or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &WAITING)).tried(failed)?;
        Ok(Family { socket, number, about, buffer: vec![0; 64 * 1024] })
    }

    /// Joins a multicast group of the family.
    ///
    /// # Errors
    /// If the family has no such group.
    pub fn join(&self, name: &str) -> Result<(), Error> {
        let failed = || format!("cannot listen to the group {name:?} of the kernel's messages");
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let group = group(&self.about, name).ok_or_else(missing).tried(failed)?;
        // SAFETY: the option is a number of 32 bits; `group` is one and lives until the call returns, which reads it.
        let joined = unsafe {
            let size = size_of::<u32>() as libc::socklen_t;
            let option = libc::NETLINK_ADD_MEMBERSHIP;
            libc::setsockopt(self.socket.as_raw_fd(), libc::SOL_NETLINK, option, (&raw const group).cast(), size)
        };
        Errno::result(joined).map(drop).tried(failed)
    }

    /// Appends a message to others that [`Family::send`] sends together.
    pub fn message(&self, command: u8, acknowledged: bool, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        let flags = libc::NLM_F_REQUEST | if acknowledged { libc::NLM_F_ACK } else { 0 };
        out.extend([0; 4]);
        out.extend(self.number.to_ne_bytes());
        out.extend((flags as u16).to_ne_bytes());
        out.extend([0; 8]);
        out.extend([command, 1, 0, 0]);
        write(out);
        let length = (out.len() - start) as u32;
        out[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    }

    /// Sends messages.
    ///
    /// # Errors
    /// If the system has no memory for them.
    pub fn send(&self, messages: &[u8]) -> Result<(), Error> {
        let sent = send(self.socket.as_raw_fd(), messages, MsgFlags::empty());
        sent.map(drop).tried(|| "cannot send to the kernel".to_owned())
    }

    /// Receives one datagram from the kernel, if there is one, and passes its messages to `show`. Returns whether there
    /// was one.
    pub fn receive(&mut self, mut show: impl FnMut(Received)) -> bool {
        match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::empty()) {
            Ok(length) => {
                received(&self.buffer[..length], self.number, show);
                true
            }
            Err(Errno::ENOBUFS) => {
                show(Received::Missed);
                true
            }
            Err(_) => false,
        }
    }
}

impl AsFd for Family {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Parses a datagram.
fn received(mut bytes: &[u8], family: u16, mut show: impl FnMut(Received)) {
    while !bytes.is_empty() {
        let Some(length) = length_at(bytes, 0).filter(|&length| length >= HEADER && length <= bytes.len()) else {
            return show(Received::Garbage);
        };
        let (kind, content) = (u16::from_ne_bytes([bytes[4], bytes[5]]), &bytes[HEADER..length]);
        show(match content.first_chunk::<HEAD>() {
            Some(code) if i32::from(kind) == libc::NLMSG_ERROR => Received::Answer(i32::from_ne_bytes(*code)),
            Some(&[command, ..]) if kind == family => Received::Message(command, &content[HEAD..]),
            _ => Received::Garbage,
        });
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_the_controller_and_none_has_what_nobody_wrote() {
        assert_eq!(family("nlctrl", "the controller").unwrap(), Some(CONTROLLER));
        assert!(Family::open("fourhop no family", "a family").is_err());
        let mut control = Family::open("nlctrl", "the controller").unwrap();
        assert!(!control.receive(|_| ()), "it says nothing by itself");
        assert!(control.join("notify").is_ok() && control.join("nobody").is_err());
        let mut messages = Vec::new();
        control.message(250, false, &mut messages, |_| ());
        control.send(&messages).unwrap();
        let mut answers = Vec::new();
        control.receive(|received| answers.push(matches!(received, Received::Answer(code) if code < 0)));
        assert_eq!(answers, [true], "it has no such command");
    }

    #[test]
    fn what_is_no_message_is_garbage() {
        let mut bytes = Vec::new();
        bytes.extend(24_u32.to_ne_bytes());
        bytes.extend(30_u16.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend([2, 1, 0, 0, 9, 9, 9, 9]);
        let read = |bytes: &[u8]| {
            let mut seen = Vec::new();
            received(bytes, 30, |one| {
                seen.push(match one {
                    Received::Message(command, attributes) => (command, attributes.to_vec()),
                    _ => (0, Vec::new()),
                });
            });
            seen
        };
        assert_eq!(read(&bytes), [(2, vec![9; 4])]);
        assert_eq!(read(&[&bytes[..], &bytes[..]].concat()).len(), 2);
        for end in 1..bytes.len() {
            assert_eq!(read(&bytes[..end]), [(0, Vec::new())], "{end}: it is cut off");
        }
        bytes[4] = 31;
        assert_eq!(read(&bytes), [(0, Vec::new())], "of another family");
        bytes[..4].copy_from_slice(&16_u32.to_ne_bytes());
        assert_eq!(read(&bytes[..16]), [(0, Vec::new())], "a head alone");
    }

    #[test]
    fn a_group_of_listeners_is_found_by_its_whole_name() {
        let nested = |attributes: &[(u16, &[u8])]| {
            let mut batch = Batch::default();
            attributes.iter().for_each(|(kind, content)| batch.attribute(*kind, content));
            batch.bytes
        };
        let one = nested(&[(GROUP_NUMBER, &5_u32.to_ne_bytes()), (GROUP_NAME, b"scan\0")]);
        let two = nested(&[(GROUP_NUMBER, &6_u32.to_ne_bytes()), (GROUP_NAME, b"mlme\0")]);
        let groups = nested(&[(1, &one), (2, &two)]);
        let about = nested(&[(FAMILY_ID, &30_u16.to_ne_bytes()), (GROUPS, &groups)]);
        assert_eq!(number(&about), Some(30));
        assert_eq!(["scan", "mlme", "ml", ""].map(|name| group(&about, name)), [Some(5), Some(6), None, None]);
        assert_eq!((number(&groups), group(&groups, "scan")), (None, None));
    }
}
