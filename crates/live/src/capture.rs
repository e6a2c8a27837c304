//! Capturing packets that pass a device, without delaying them (packet(7)).

use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg, setsockopt, socket, sockopt,
};
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Packets to capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The beginnings of IPv4 packets, sent and received, from their IP headers on.
    Ipv4,
    /// The beginnings of all frames, from the link header on: for a Wi-Fi monitor, from radiotap on.
    Frames,
}

/// Bytes captured of each packet: IP with all options, and ports; radiotap and three addresses.
pub const KEPT: usize = 128;

/// A captured packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// Number of captured bytes.
    pub len: usize,
    /// Whether it was sent by this machine rather than received.
    pub outgoing: bool,
    /// MAC address of its sender.
    pub from: [u8; 6],
}

/// A capture on a device.
#[derive(Debug)]
pub struct Capture {
    socket: OwnedFd,
}

impl Capture {
    /// Starts capturing; unread packets wait in a buffer of about this size, and are lost if it is full.
    ///
    /// # Errors
    /// If there is no such device, or this process lacks CAP_NET_RAW.
    pub fn open(device: u32, what: What, buffer: usize) -> Result<Capture, Error> {
        let failed = || format!("cannot capture on device {device}");
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let kind = if what == What::Ipv4 { SockType::Datagram } else { SockType::Raw };
        // Without a protocol, so that nothing arrives before it is bound.
        let socket = socket(AddressFamily::Packet, kind, flags, None::<SockProtocol>).tried(failed)?;
        filter(&socket, what).tried(failed)?;
        // Without the right to exceed the system's limit, the limit applies.
        let _ = setsockopt(&socket, sockopt::RcvBufForce, &buffer)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &buffer));
        attach(&socket, device).tried(failed)?;
        Ok(Capture { socket })
    }

    /// The next captured packet, if any.
    pub fn next(&self, buffer: &mut [u8; KEPT]) -> Option<Passed> {
        let mut parts = [IoSliceMut::new(buffer)];
        let got = recvmsg::<LinkAddr>(self.socket.as_raw_fd(), &mut parts, None, MsgFlags::empty()).ok()?;
        let link = got.address?;
        let outgoing = link.pkttype() == libc::PACKET_OUTGOING;
        Some(Passed { len: got.bytes, outgoing, from: link.addr().unwrap_or_default() })
    }
}

impl AsFd for Capture {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Classic BPF that returns the beginning of the packets wanted (linux/filter.h).
fn filter(socket: &OwnedFd, what: What) -> Result<(), Errno> {
    let code = |code: u32, jt, jf, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    // The protocol of the packet, which the kernel provides at this offset outside the packet.
    let protocol = (libc::SKF_AD_OFF + libc::SKF_AD_PROTOCOL) as u32;
    let give = libc::BPF_RET | libc::BPF_K;
    let ipv4 = [
        code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, protocol),
        code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::ETH_P_IP as u32),
        code(give, 0, 0, KEPT as u32),
        code(give, 0, 0, 0),
    ];
    let all = [code(give, 0, 0, KEPT as u32)];
    let chosen = if what == What::Ipv4 { &ipv4[..] } else { &all };
    let program = libc::sock_fprog { len: chosen.len() as u16, filter: chosen.as_ptr().cast_mut() };
    let size = size_of::<libc::sock_fprog>() as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER);
    // SAFETY: the kernel copies `program` and the instructions it points to, which live until the call returns.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const program).cast(), size) };
    Errno::result(done).map(drop)
}

/// Binds to one device; from now on packets arrive.
fn attach(socket: &OwnedFd, device: u32) -> Result<(), Errno> {
    // SAFETY: all bytes zero is a value of this structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = device as i32;
    let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` has the socket's family and the given length, and lives until the call returns.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) };
    Errno::result(done).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, UdpSocket};

    /// The loopback device of a namespace: each packet passes it twice.
    #[test]
    fn the_beginnings_of_packets_are_seen_as_they_are_sent_and_received() {
        crate::test_network::in_namespace(|| {
            let open = |what| Capture::open(crate::netlink::LOOPBACK, what, 1 << 16).unwrap();
            let (packets, frames) = (open(What::Ipv4), open(What::Frames));
            let [from, to] = [1, 2].map(|n| UdpSocket::bind((Ipv4Addr::new(127, 0, 0, n), 0)).unwrap());
            let mut buffer = [0; KEPT];
            assert_eq!(packets.next(&mut buffer), None, "nothing has passed");
            from.send_to(&[7; 200], to.local_addr().unwrap()).unwrap();
            // The packet has passed once it has arrived.
            to.recv(&mut [0; 200]).unwrap();
            for outgoing in [true, false] {
                assert_eq!(packets.next(&mut buffer), Some(Passed { len: KEPT, outgoing, from: [0; 6] }));
                assert_eq!((buffer[0], &buffer[12..20]), (0x45, &[127, 0, 0, 1, 127, 0, 0, 2][..]), "a header of IP");
                assert_eq!(frames.next(&mut buffer), Some(Passed { len: KEPT, outgoing, from: [0; 6] }));
                assert_eq!(buffer[12..15], [8, 0, 0x45], "a header of Ethernet");
            }
            assert_eq!((packets.next(&mut buffer), frames.next(&mut buffer)), (None, None));
            let error = Capture::open(0x7fff_ffff, What::Ipv4, 1 << 16).unwrap_err().to_string();
            assert!(error.starts_with("cannot capture on device 2147483647: "), "{error}");
        });
    }
}
