//! Questions to the kernel that do not block a program forever: an emulated system may have no answers.

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, setsockopt, socket, sockopt::ReceiveTimeout,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Seconds to wait for an answer. The kernel gives it before the question's system call returns.
const PATIENCE: i64 = 5;

/// A socket for questions, on which [`answered`] waits only this long.
pub(crate) fn asking(protocol: SockProtocol) -> Result<OwnedFd, io::Error> {
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    setsockopt(&socket, ReceiveTimeout, &TimeVal::seconds(PATIENCE))?;
    Ok(socket)
}

/// Waits for a datagram; returns its length.
pub(crate) fn answered(socket: &impl AsFd, buffer: &mut [u8]) -> Result<usize, io::Error> {
    loop {
        match recv(socket.as_fd().as_raw_fd(), buffer, MsgFlags::empty()) {
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => {
                let silence = format!("this kernel has not answered for {PATIENCE} seconds");
                return Err(io::Error::new(ErrorKind::TimedOut, silence));
            }
            done => return Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::getsockopt;

    #[test]
    fn a_kernel_that_does_not_answer_keeps_nobody_waiting() {
        let socket = asking(SockProtocol::NetlinkRoute).unwrap();
        assert_eq!(getsockopt(&socket, ReceiveTimeout).unwrap(), TimeVal::seconds(PATIENCE));
        setsockopt(&socket, ReceiveTimeout, &TimeVal::milliseconds(20)).unwrap();
        let error = answered(&socket, &mut [0; 64]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(error.to_string(), format!("this kernel has not answered for {PATIENCE} seconds"));
    }
}
