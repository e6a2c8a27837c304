//! TUN and TAP devices: network interfaces whose other end is a file descriptor.

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{read, write};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Packets on a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// IP packets.
    Tun,
    /// Ethernet frames.
    Tap,
}

/// The end of a device at this process. The device goes with it.
#[derive(Debug)]
pub struct Device {
    fd: OwnedFd,
}

mod ioctl {
    nix::ioctl_write_ptr_bad!(set_interface, libc::TUNSETIFF, libc::ifreq);
}

impl Device {
    /// A new device in the network namespace of the present thread, down and without addresses.
    ///
    /// # Errors
    /// If the system has no TUN devices, or this process may not make them.
    pub fn create(name: &str, kind: Kind) -> Result<Device, Error> {
        let flags = OFlag::O_RDWR | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        let fd = open("/dev/net/tun", flags, Mode::empty()).tried(|| "/dev/net/tun".to_owned())?;
        // SAFETY: all bytes zero is a value of this structure of integers.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The last byte stays zero.
        for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        let what = if kind == Kind::Tun { libc::IFF_TUN } else { libc::IFF_TAP };
        request.ifr_ifru.ifru_flags = (what | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the descriptor is that of the TUN driver, and the call reads and writes an `ifreq`; `request` is one,
        // and outlives the call.
        let made = unsafe { ioctl::set_interface(fd.as_raw_fd(), &raw mut request) };
        made.tried(|| format!("cannot create the device {name}"))?;
        Ok(Device { fd })
    }

    /// The next packet or frame that the kernel sends; `None`: there is none now.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, io::Error> {
        match read(&self.fd, buffer) {
            Ok(len) => Ok(Some(len)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(gone) => Err(gone.into()),
        }
    }

    /// Hands the kernel a packet or frame as received.
    ///
    /// # Errors
    /// If the kernel does not take it: the device is down, or it is no packet.
    pub fn deliver(&self, bytes: &[u8]) -> Result<(), io::Error> {
        write(&self.fd, bytes)?;
        Ok(())
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
