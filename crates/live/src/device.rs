//! TUN and TAP devices: network interfaces whose other end is a file descriptor.

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{read, write};
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The kind of packets on a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// IP packets.
    Tun,
    /// Ethernet frames.
    Tap,
}

impl Kind {
    const fn flag(self) -> libc::c_int {
        match self {
            Kind::Tun => libc::IFF_TUN,
            Kind::Tap => libc::IFF_TAP,
        }
    }
}

/// This process's end of a device. Dropping it removes the device.
#[derive(Debug)]
pub struct Device {
    fd: OwnedFd,
}

mod ioctl {
    nix::ioctl_write_ptr_bad!(set_interface, libc::TUNSETIFF, libc::ifreq);
    nix::ioctl_write_int_bad!(set_offload, libc::TUNSETOFFLOAD);
}

impl Device {
    /// Creates a device in the network namespace of the current thread, down and without addresses.
    ///
    /// # Errors
    /// If the system has no TUN devices, or this process may not create them.
    pub fn create(name: &str, kind: Kind) -> Result<Device, Error> {
        Ok(Device { fd: made(name, kind.flag())? })
    }

    /// The next packet or frame that the kernel sends, if any.
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

    /// Passes a packet or frame to the kernel as received.
    ///
    /// # Errors
    /// If the kernel refuses it, because the device is down or it is no packet.
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

fn made(name: &str, flags: libc::c_int) -> Result<OwnedFd, Error> {
    let how = OFlag::O_RDWR | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let fd = open("/dev/net/tun", how, Mode::empty()).tried(|| "/dev/net/tun".to_owned())?;
    // SAFETY: all bytes zero is a value of this structure of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (flags | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is that of the TUN driver, and the call reads and writes an `ifreq`; `request` is one,
    // and outlives the call.
    let made = unsafe { ioctl::set_interface(fd.as_raw_fd(), &raw mut request) };
    made.tried(|| format!("cannot create the device {name}"))?;
    Ok(fd)
}

/// How the bytes at a [`SegmentDevice`] represent packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One packet with its checksums.
    Whole,
    /// One packet whose last checksum is missing: it covers everything from `start`, is located at `start + offset`,
    /// and contains the sum of the pseudo header instead.
    NoChecksum {
        /// The first byte covered.
        start: u16,
        /// Offset of the checksum from there.
        offset: u16,
    },
    /// Consecutive TCP segments as one packet with one header. Its checksum is that of `NoChecksum`.
    Segments {
        /// Whether it is IPv6.
        ipv6: bool,
        /// The first byte of the TCP header.
        start: u16,
        /// Length of all headers.
        headers: u16,
        /// Payload of each segment; the last has the remainder.
        size: u16,
    },
}

impl Form {
    /// `struct virtio_net_hdr` of linux/virtio_net.h.
    const BYTES: usize = 10;
    const NEEDS_CSUM: u8 = 1;
    const GSO_TCPV4: u8 = 1;
    const GSO_TCPV6: u8 = 4;
    /// Offset of the checksum in a TCP header.
    const TCP_CHECKSUM: u16 = 16;

    fn to_bytes(self) -> [u8; Form::BYTES] {
        let (flags, gso, words) = match self {
            Form::Whole => (0, 0, [0; 4]),
            Form::NoChecksum { start, offset } => (Form::NEEDS_CSUM, 0, [0, 0, start, offset]),
            Form::Segments { ipv6, start, headers, size } => {
                let gso = if ipv6 { Form::GSO_TCPV6 } else { Form::GSO_TCPV4 };
                (Form::NEEDS_CSUM, gso, [headers, size, start, Form::TCP_CHECKSUM])
            }
        };
        let mut bytes = [0; Form::BYTES];
        bytes[..2].copy_from_slice(&[flags, gso]);
        bytes[2..].chunks_mut(2).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
        bytes
    }

    /// The kernel sends only the forms that were requested.
    fn from_bytes(bytes: [u8; Form::BYTES]) -> Form {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let (headers, size, start, offset) = (word(2), word(4), word(6), word(8));
        match (bytes[0] & Form::NEEDS_CSUM, bytes[1]) {
            (0, _) => Form::Whole,
            (_, Form::GSO_TCPV4) => Form::Segments { ipv6: false, start, headers, size },
            (_, Form::GSO_TCPV6) => Form::Segments { ipv6: true, start, headers, size },
            _ => Form::NoChecksum { start, offset },
        }
    }
}

/// A device whose packets may be several TCP segments, and without checksums, in both directions: what network cards
/// offer as TSO and GRO (IFF_VNET_HDR, TUNSETOFFLOAD of linux/if_tun.h).
#[derive(Debug)]
pub struct SegmentDevice {
    file: File,
}

impl SegmentDevice {
    /// Like [`Device::create`].
    ///
    /// # Errors
    /// If the system has no TUN devices, or this process may not create them.
    pub fn create(name: &str, kind: Kind) -> Result<SegmentDevice, Error> {
        let fd = made(name, kind.flag() | libc::IFF_VNET_HDR)?;
        let offered = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
        // SAFETY: the descriptor is that of the TUN driver, and the call takes an integer.
        let set = unsafe { ioctl::set_offload(fd.as_raw_fd(), offered as libc::c_int) };
        set.tried(|| format!("cannot set the offloads of {name}"))?;
        Ok(SegmentDevice { file: fd.into() })
    }

    /// The next packet or segments that the kernel sends, if any.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<(Form, usize)>, io::Error> {
        let mut form = [0; Form::BYTES];
        match (&self.file).read_vectored(&mut [IoSliceMut::new(&mut form), IoSliceMut::new(buffer)]) {
            Ok(len) => Ok(Some((Form::from_bytes(form), len.saturating_sub(Form::BYTES)))),
            Err(none) if matches!(none.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(gone) => Err(gone),
        }
    }

    /// Passes bytes to the kernel as received.
    ///
    /// # Errors
    /// If the kernel refuses them, because the device is down or they do not have that form.
    pub fn deliver(&self, form: Form, bytes: &[u8]) -> Result<(), io::Error> {
        let taken = (&self.file).write_vectored(&[IoSlice::new(&form.to_bytes()), IoSlice::new(bytes)])?;
        if taken == Form::BYTES + bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
    }
}

impl AsFd for SegmentDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_they_are_written() {
        let forms = [
            Form::Whole,
            Form::NoChecksum { start: 34, offset: 6 },
            Form::Segments { ipv6: false, start: 20, headers: 52, size: 1448 },
            Form::Segments { ipv6: true, start: 54, headers: 86, size: 1428 },
        ];
        for form in forms {
            assert_eq!(Form::from_bytes(form.to_bytes()), form);
        }
        let [flags, gso, rest @ ..] = forms[2].to_bytes();
        let words: Vec<u16> = rest.chunks(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect();
        assert_eq!((flags, gso, words), (1, 1, vec![52, 1448, 20, 16]), "as linux/virtio_net.h has them");
    }

    #[test]
    fn every_form_of_the_kernel_is_understood() {
        let form = |flags, gso| {
            let mut bytes = [flags, gso, 0, 0, 0, 0, 0, 0, 0, 0];
            for (n, word) in [52_u16, 1_448, 20, 16].into_iter().enumerate() {
                bytes[2 + 2 * n..][..2].copy_from_slice(&word.to_ne_bytes());
            }
            Form::from_bytes(bytes)
        };
        let segments = |ipv6| Form::Segments { ipv6, start: 20, headers: 52, size: 1_448 };
        assert_eq!((form(1, 1), form(1, 4)), (segments(false), segments(true)));
        assert_eq!(form(1, 0), Form::NoChecksum { start: 20, offset: 16 });
        // Other flags mean that checksums were verified (VIRTIO_NET_HDR_F_DATA_VALID).
        assert_eq!((form(2, 0), form(3, 1)), (Form::Whole, segments(false)));
    }

    #[test]
    fn a_device_takes_what_is_sent_to_it() {
        use crate::netlink::{Batch, Owner, Route};
        use std::net::{Ipv4Addr, UdpSocket};
        crate::test_network::with_tun(|| {
            let device = Device::create("fourhop0", Kind::Tun).unwrap();
            crate::namespace::set_variable("net/ipv6/conf/fourhop0/disable_ipv6", "1").ok();
            let mut buffer = [0; 100];
            let number = nix::net::if_::if_nametoindex("fourhop0").unwrap();
            let [own, to] = [1, 2].map(|n| Ipv4Addr::new(10, 0, 0, n));
            assert!(device.deliver(&[0x45; 20]).is_err(), "it is down");
            let mut batch = Batch::default();
            batch.up(number, Some(1_400));
            batch.address(number, own, 32);
            batch.route(Owner::STATIC, Route { to: (to, 32), device: number, via: None, from: own, priority: 0 });
            batch.send().unwrap();
            assert_eq!(crate::netlink::mtu(number).unwrap(), 1_400);
            assert_eq!(device.receive(&mut buffer).unwrap(), None, "nothing is sent");
            let program = UdpSocket::bind((own, 5_000)).unwrap();
            program.send_to(b"hello", (to, 5_000)).unwrap();
            assert_eq!(device.receive(&mut buffer).unwrap(), Some(33));
            assert_eq!((&buffer[12..20], &buffer[28..33]), (&[10, 0, 0, 1, 10, 0, 0, 2][..], &b"hello"[..]));
            // Sent back with the addresses swapped, which changes no checksum.
            let packet = [&buffer[..12], &buffer[16..20], &buffer[12..16], &buffer[20..33]].concat();
            program.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
            device.deliver(&packet).unwrap();
            let (len, from) = program.recv_from(&mut buffer).unwrap();
            assert_eq!((&buffer[..len], from), (&b"hello"[..], (to, 5_000).into()));
            assert!(Device::create("fourhop0", Kind::Tun).is_err(), "there is one of that name");
        });
    }
}
