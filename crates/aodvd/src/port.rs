//! An interface over which AODV is spoken: its datagrams on port 654, and packets of programs that continue over it.

use crate::Error;
use fourhop_live::{Error as Failure, Tried};
use fourhop_proto::wire::AodvMessage;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc::{in_addr, in_pktinfo};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind,
    recvmsg, sendmsg, sendto, setsockopt, socket, sockopt,
};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher};
use std::io::{IoSlice, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Class selector 6 (RFC 2474 section 4.2.2.2): network control, before the data of programs.
const NETWORK_CONTROL: u8 = 0xc0;

/// A received datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Got {
    /// Its length.
    pub len: usize,
    /// Source address.
    pub from: Ipv4Addr,
    /// Destination address.
    pub to: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
}

/// An interface.
#[derive(Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its index.
    pub device: u32,
    /// For datagrams.
    socket: OwnedFd,
    /// For whole packets.
    raw: OwnedFd,
    /// Own broadcasts that the kernel has not yet looped back: source and a hash of the content. It loops back every
    /// one (ip(7)).
    echoes: VecDeque<(Ipv4Addr, u64)>,
}

/// Own broadcasts remembered; more than are in transit at the same time.
const ECHOES: usize = 64;

fn hash(payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(payload);
    hasher.finish()
}

impl Port {
    /// Opens the interface of this name in the network namespace of the current thread.
    ///
    /// # Errors
    /// If it does not exist, another program speaks AODV there, or this process has no permission.
    pub fn open(name: &str) -> Result<Port, Error> {
        let device = if_nametoindex(name).map_err(|error| {
            Error::Refused(format!("interfaces: found {name:?}, allowed: a device of this machine: {error}"))
        })?;
        let failed = || format!("cannot speak AODV over {name}: UDP port {}", AodvMessage::PORT);
        let bound = OsString::from(name);
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let datagrams = (|| {
            let socket = socket(AddressFamily::Inet, SockType::Datagram, flags, None)?;
            setsockopt(&socket, sockopt::BindToDevice, &bound)?;
            setsockopt(&socket, sockopt::Broadcast, &true)?;
            setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
            setsockopt(&socket, sockopt::Ipv4RecvTtl, &true)?;
            setsockopt(&socket, sockopt::Ipv4Tos, &i32::from(NETWORK_CONTROL))?;
            bind(socket.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, AodvMessage::PORT))?;
            Ok::<_, Errno>(socket)
        })()
        .tried(failed)?;
        let packets = (|| {
            let socket = socket(AddressFamily::Inet, SockType::Raw, flags, SockProtocol::Raw)?;
            setsockopt(&socket, sockopt::BindToDevice, &bound)?;
            Ok::<_, Errno>(socket)
        })()
        .tried(|| format!("cannot send packets over {name}"))?;
        Ok(Port { name: name.to_owned(), device, socket: datagrams, raw: packets, echoes: VecDeque::new() })
    }

    /// The next datagram of another node, if there is one.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Option<Got> {
        loop {
            let mut parts = [IoSliceMut::new(buffer)];
            let mut space = cmsg_space!(in_pktinfo, i32);
            let got = recvmsg::<SockaddrIn>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty());
            let got = match got {
                Ok(got) => got,
                // A neighbour has replied that it does not listen: continue with the next datagram.
                Err(Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EINTR) => continue,
                Err(_) => return None,
            };
            let from = got.address.map(|address| address.ip());
            let (mut to, mut ttl) = (None, None);
            for control in got.cmsgs().into_iter().flatten() {
                match control {
                    ControlMessageOwned::Ipv4PacketInfo(info) => {
                        to = Some(Ipv4Addr::from_bits(u32::from_be(info.ipi_addr.s_addr)));
                    }
                    ControlMessageOwned::Ipv4Ttl(found) => ttl = u8::try_from(found).ok(),
                    _ => {}
                }
            }
            let len = got.bytes;
            if let (Some(from), Some(to), Some(ttl)) = (from, to, ttl)
                && !self.is_echo(from, &buffer[..len])
            {
                return Some(Got { len, from, to, ttl });
            }
        }
    }

    /// Whether this is an own broadcast, as opposed to somebody else's from the same address.
    fn is_echo(&mut self, from: Ipv4Addr, payload: &[u8]) -> bool {
        if !self.echoes.iter().any(|(own, _)| *own == from) {
            return false;
        }
        let wanted = (from, hash(payload));
        let found = self.echoes.iter().position(|sent| *sent == wanted);
        found.is_some_and(|place| self.echoes.remove(place).is_some())
    }

    /// Sends a datagram from this address.
    ///
    /// # Errors
    /// If the system refuses it, for example because the device is down.
    pub fn send(&mut self, from: Ipv4Addr, to: Ipv4Addr, ttl: u8, payload: &[u8]) -> Result<(), Failure> {
        let info = in_pktinfo {
            ipi_ifindex: self.device as i32,
            ipi_spec_dst: in_addr { s_addr: from.to_bits().to_be() },
            ipi_addr: in_addr { s_addr: 0 },
        };
        let ttl = i32::from(ttl);
        let control = [ControlMessage::Ipv4PacketInfo(&info), ControlMessage::Ipv4Ttl(&ttl)];
        if to.is_broadcast() {
            self.echoes.truncate(ECHOES - 1);
            self.echoes.push_front((from, hash(payload)));
        }
        let [a, b, c, d] = to.octets();
        let to = SockaddrIn::new(a, b, c, d, AodvMessage::PORT);
        let parts = [IoSlice::new(payload)];
        let sent = sendmsg(self.socket.as_raw_fd(), &parts, &control, MsgFlags::empty(), Some(&to));
        sent.map(drop).tried(|| format!("cannot send over {}", self.name))
    }

    /// Hands the kernel a complete packet to send on this interface, along the route to its destination.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn release(&self, to: Ipv4Addr, packet: &[u8]) -> Result<(), Failure> {
        let [a, b, c, d] = to.octets();
        let sent = sendto(self.raw.as_raw_fd(), packet, &SockaddrIn::new(a, b, c, d, 0), MsgFlags::empty());
        sent.map(drop).tried(|| format!("cannot send over {}", self.name))
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_live::clock::Clock;
    use fourhop_live::poll::Poller;
    use fourhop_units::Dur;
    use std::net::UdpSocket;
    use std::time::Duration;

    /// Longer than any datagram takes over the loopback device.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// Half an interface: sockets on arbitrary ports, which need no rights.
    fn port(socket: UdpSocket) -> Port {
        setsockopt(&socket, sockopt::Ipv4PacketInfo, &true).unwrap();
        setsockopt(&socket, sockopt::Ipv4RecvTtl, &true).unwrap();
        let raw = OwnedFd::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let (name, device) = ("lo".to_owned(), fourhop_live::netlink::LOOPBACK);
        Port { name, device, socket: socket.into(), raw, echoes: VecDeque::new() }
    }

    #[test]
    fn a_datagram_comes_with_its_addresses_and_its_time_to_live() {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let number = socket.local_addr().unwrap().port();
        let same = socket.try_clone().unwrap();
        same.set_nonblocking(true).unwrap();
        same.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut port = port(socket);
        let [from, to] = [1, 2].map(|n| Ipv4Addr::new(127, 77, 1, n));
        let mut buffer = [0; 16];
        assert_eq!(port.receive(&mut buffer), None, "nothing has come");
        let sender = UdpSocket::bind((from, 0)).unwrap();
        sender.set_ttl(17).unwrap();
        sender.send_to(b"echo", (to, number)).unwrap();
        sender.send_to(b"other", (to, number)).unwrap();
        // The first is an own one that the kernel loops back.
        port.echoes.push_front((from, hash(b"echo")));
        same.set_nonblocking(false).unwrap();
        assert_eq!(port.receive(&mut buffer), Some(Got { len: 5, from, to, ttl: 17 }));
        assert_eq!((&buffer[..5], port.echoes.len()), (&b"other"[..], 0));
    }

    #[test]
    fn an_own_broadcast_that_comes_back_is_an_echo_once_and_that_of_another_none() {
        let mut port = port(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let [own, other] = [1, 2].map(|n| Ipv4Addr::new(10, 0, 0, n));
        assert!(!port.is_echo(own, b"one"), "nothing was sent");
        port.echoes.extend([(own, hash(b"one")), (own, hash(b"two"))]);
        assert!(!port.is_echo(other, b"one") && !port.is_echo(own, b"three"), "somebody else's");
        assert!(port.is_echo(own, b"two") && !port.is_echo(own, b"two"));
        assert!(port.is_echo(own, b"one") && port.echoes.is_empty());
    }

    #[test]
    fn broadcasts_are_remembered_until_there_are_too_many() {
        // Without permission to broadcast the system refuses all of them.
        let mut port = port(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let own = Ipv4Addr::LOCALHOST;
        for n in 0..=ECHOES as u8 {
            let error = port.send(own, Ipv4Addr::BROADCAST, 1, &[n]).unwrap_err().to_string();
            assert!(error.starts_with("cannot send over lo: "), "{error}");
        }
        assert_eq!(port.echoes.len(), ECHOES);
        assert!(!port.is_echo(own, &[0]) && port.is_echo(own, &[1]) && port.is_echo(own, &[ECHOES as u8]));
        port.device = u32::MAX;
        assert!(port.send(own, Ipv4Addr::LOCALHOST, 1, &[1]).is_err(), "there is no such device");
        assert_eq!(port.echoes.len(), ECHOES - 2, "what goes to one node does not come back");
    }

    #[test]
    fn a_device_that_is_not_there_is_named() {
        let error = Port::open("mesh-none").unwrap_err().to_string();
        assert!(error.starts_with("interfaces: found \"mesh-none\", allowed: a device of this machine: "), "{error}");
    }

    /// Over the loopback device of a namespace the node hears its own broadcasts, and so does another node.
    #[test]
    fn a_message_goes_to_port_654_with_its_time_to_live() {
        crate::test_network::in_namespace(|| {
            let mut port = Port::open("lo").unwrap();
            assert_eq!((&*port.name, port.device), ("lo", fourhop_live::netlink::LOOPBACK));
            let (mut poller, clock, mut ready) = (Poller::without_signals().unwrap(), Clock::start(), Vec::new());
            poller.add(&port, 0).unwrap();
            let mut arrived = || {
                let end = clock.now() + Dur::from_secs(PATIENCE.as_secs());
                poller.wait(&clock, end, &mut ready).unwrap();
                ready.drain(..).count() > 0
            };
            let [from, to] = [1, 2].map(|n| Ipv4Addr::new(127, 0, 0, n));
            port.send(from, to, 9, b"message").unwrap();
            let mut buffer = [0; 16];
            assert!(arrived());
            assert_eq!(port.receive(&mut buffer), Some(Got { len: 7, from, to, ttl: 9 }));
            assert_eq!(&buffer[..7], b"message");
            port.send(from, Ipv4Addr::BROADCAST, 1, b"all").unwrap();
            assert!(arrived());
            assert_eq!((port.receive(&mut buffer), port.echoes.len()), (None, 0), "an own one");
            let Err(error) = Port::open("lo") else { panic!("two speak AODV over a device") };
            assert!(error.to_string().starts_with("cannot speak AODV over lo: UDP port 654: "), "{error}");
        });
    }

    /// A complete UDP packet, which the kernel delivers to its program.
    #[test]
    fn a_packet_that_is_released_arrives_as_it_is() {
        crate::test_network::in_namespace(|| {
            let port = Port::open("lo").unwrap();
            let program = UdpSocket::bind((Ipv4Addr::LOCALHOST, 5_000)).unwrap();
            program.set_read_timeout(Some(PATIENCE)).unwrap();
            let packet = [
                &[0x45, 0, 0, 30, 0, 1, 0, 0, 7, 17, 0, 0, 127, 0, 0, 3, 127, 0, 0, 1][..],
                &[0x0f, 0xa0, 0x13, 0x88, 0, 10, 0, 0],
                b"hi",
            ]
            .concat();
            port.release(Ipv4Addr::LOCALHOST, &packet).unwrap();
            let mut buffer = [0; 16];
            let (len, from) = program.recv_from(&mut buffer).unwrap();
            assert_eq!((&buffer[..len], from), (&b"hi"[..], ([127, 0, 0, 3], 4_000).into()));
            let error = port.release(Ipv4Addr::BROADCAST, &packet).unwrap_err().to_string();
            assert!(error.starts_with("cannot send over lo: "), "{error}");
        });
    }
}
