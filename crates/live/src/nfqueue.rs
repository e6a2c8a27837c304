//! Packets that the kernel's packet filter hands to a program, which later decides on each (NFQUEUE,
//! linux/netfilter/nfnetlink_queue.h).
//!
//! The program sees the beginning of a packet; the rest stays in the kernel until the verdict. One system call returns
//! many packets, and another takes many verdicts. The queue fails open: if the program is slow or its queue is full,
//! packets pass. When the program ends, the kernel drops the waiting packets, unless a [`guard`] lets them pass.

pub mod guard;

use crate::netlink::answer::asking;
use crate::netlink::{attribute, attributes, length_at};
use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockProtocol, recv, recvmmsg, send, setsockopt};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Message types: subsystem 3 in the upper byte.
const PACKET: u16 = 3 << 8;
const VERDICT: u16 = 3 << 8 | 1;
const CONFIG: u16 = 3 << 8 | 2;
/// Attributes of packets and verdicts.
const PACKET_HEAD: u16 = 1;
const VERDICT_HEAD: u16 = 2;
const PAYLOAD: u16 = 10;
const WHOLE_LENGTH: u16 = 13;
/// Attributes of the configuration.
const COMMAND: u16 = 1;
const COPY: u16 = 2;
const MOST: u16 = 3;
const MASK: u16 = 4;
const FLAGS: u16 = 5;
const BIND: u8 = 1;
/// Copies the beginning of a packet.
const COPY_PACKET: u8 = 2;
/// Lets packets pass if the queue is full.
const FAIL_OPEN: u32 = 1;
/// NF_ACCEPT of linux/netfilter.h.
const ACCEPT: u32 = 1;
/// Lengths of the common beginning of all messages here: `struct nlmsghdr`, and that with `struct nfgenmsg`.
const HEADER: usize = 16;
const PREFIX: usize = 20;
/// Position of a message's sequence number, and the first request's number: refused verdicts have zero.
const SEQUENCE: std::ops::Range<usize> = 8..12;
const ASKED: u32 = 1;
/// How often requests are sent, if answers were lost in a full socket.
const TRIES: u32 = 3;
/// Most messages searched for the answers to one `send`.
const MOST_LOOKS: u32 = 1 << 16;
/// Packets returned by one system call.
const TOGETHER: usize = 64;
/// Bytes of a message apart from the packet: its prefix and attributes; the longest attribute is a security context.
const AROUND: usize = 512;
/// Verdicts are sent once they exceed this many bytes.
const FULL: usize = 16 * 1024;

/// A packet queued in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedPacket<'a> {
    /// Its queue, needed for the verdict.
    pub queue: u16,
    /// Its number in the queue.
    pub id: u32,
    /// Its beginning, from the IP header on.
    pub bytes: &'a [u8],
    /// Total length of the packet.
    pub len: u32,
}

/// Queues of one socket.
#[derive(Debug)]
pub struct Queues {
    socket: OwnedFd,
    numbers: Vec<u16>,
    keep: Keep,
    verdicts: Vec<u8>,
}

/// Receive buffers, which belong to the thread that reads.
#[derive(Debug)]
pub struct Room {
    headers: MultiHeaders<()>,
    buffer: Vec<u8>,
    each: usize,
}

impl Room {
    /// Buffers for packets with `copied` bytes copied from each.
    pub fn new(copied: u32) -> Room {
        let each = copied as usize + AROUND;
        Room { headers: MultiHeaders::preallocate(TOGETHER, None), buffer: vec![0; each * TOGETHER], each }
    }
}

/// How the kernel queues packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keep {
    /// Bytes of a packet passed to the program.
    pub copied: u32,
    /// Most packets in a queue; any beyond that pass.
    pub packets: u32,
    /// Bytes of memory for packets that the program has not yet read.
    pub unseen: usize,
}

impl Queues {
    /// Receives the packets of these queues in the current network namespace.
    ///
    /// # Errors
    /// If this process lacks CAP_NET_ADMIN, another one has one of the queues, or the kernel has no such queues.
    pub fn open(numbers: &[u16], keep: Keep) -> Result<Queues, Error> {
        let failed = || "cannot open a packet queue".to_owned();
        let socket = asking(SockProtocol::NetlinkNetFilter).tried(failed)?;
        // Without the right to that much, the system's limit applies.
        let _ = setsockopt(&socket, RcvBufForce, &keep.unseen).or_else(|_| setsockopt(&socket, RcvBuf, &keep.unseen));
        let on: libc::c_int = 1;
        // SAFETY: the option is an int; `on` is one and lives until the call returns, which only reads it. Without the
        // option, the next read would fail after an overload.
        let set = unsafe {
            let size = size_of::<libc::c_int>() as libc::socklen_t;
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_NETLINK,
                libc::NETLINK_NO_ENOBUFS,
                (&raw const on).cast(),
                size,
            )
        };
        Errno::result(set).tried(failed)?;
        let queues = Queues { socket, numbers: numbers.to_vec(), keep, verdicts: Vec::new() };
        queues.bind()?;
        Ok(queues)
    }

    /// Binds the queues again after a [`guard`] gave them up. Earlier packets have left, and their numbers are no
    /// longer valid.
    ///
    /// # Errors
    /// If another program has bound one of them in the meantime.
    pub fn take_again(&mut self, room: &mut Room) -> Result<(), Error> {
        self.verdicts.clear();
        // Discard messages about packets that have left: their numbers would match new ones.
        while self.receive(room, |_| ()).tried(|| "the packet queue has failed".to_owned())? > 0 {}
        self.bind()
    }

    /// One system call carries all requests, so packets of the first queue cannot fill the socket before the last
    /// answer.
    fn bind(&self) -> Result<(), Error> {
        let keep = self.keep;
        let copy = [&keep.copied.to_be_bytes()[..], &[COPY_PACKET]].concat();
        let flags = FAIL_OPEN.to_be_bytes();
        let attributes: [&[(u16, &[u8])]; 2] = [
            &[(COMMAND, &[BIND, 0, 0, 0])],
            &[(COPY, &copy), (MOST, &keep.packets.to_be_bytes()), (MASK, &flags), (FLAGS, &flags)],
        ];
        let mut requests = Vec::new();
        let mut queues = Vec::new();
        for (&number, content) in self.numbers.iter().flat_map(|number| attributes.map(|content| (number, content))) {
            let start = requests.len();
            begin(&mut requests, CONFIG, (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16, number);
            content.iter().for_each(|(kind, content)| attribute(&mut requests, *kind, content));
            end(&mut requests, start);
            requests[start..][SEQUENCE].copy_from_slice(&(ASKED + queues.len() as u32).to_ne_bytes());
            queues.push(number);
        }
        let failed = |number: u16| format!("packet queue {number} (NFQUEUE)");
        let mut answers = vec![None; queues.len()];
        for _ in 0..TRIES {
            send(self.socket.as_raw_fd(), &requests, MsgFlags::empty()).tried(|| failed(queues[0]))?;
            self.acknowledge(&mut answers).tried(|| failed(queues[0]))?;
            // A busy queue already belongs to this socket; one of another program is not permitted.
            let refused = |code: &Option<i32>| code.is_some_and(|code| code != 0 && -code != libc::EBUSY);
            if let Some(place) = answers.iter().position(refused) {
                let code = answers[place].unwrap_or_default();
                return Err(io::Error::from(Errno::from_raw(-code))).tried(|| failed(queues[place]));
            }
            if answers.iter().all(Option::is_some) {
                return Ok(());
            }
        }
        let silence = "this kernel has not answered";
        Err(io::Error::new(io::ErrorKind::TimedOut, silence)).tried(|| failed(queues[0]))
    }

    /// Reads the answers to requests. The kernel has given them before `send` returned, unless the socket was full.
    /// Packets before and between them get no verdict here: they leave when the queue does.
    fn acknowledge(&self, answers: &mut [Option<i32>]) -> Result<(), io::Error> {
        let mut answer = vec![0; 64 * 1024];
        for _ in 0..MOST_LOOKS {
            if answers.iter().all(Option::is_some) {
                break;
            }
            let got = match recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT) {
                Ok(got) => got,
                Err(Errno::EAGAIN) => break,
                Err(Errno::EINTR | Errno::ENOBUFS) => continue,
                Err(error) => return Err(error.into()),
            };
            note(&answer[..got], answers);
        }
        Ok(())
    }

    /// Passes received packets to `each`, at most 64, without waiting. Returns the number of messages.
    ///
    /// # Errors
    /// If the socket has failed.
    pub fn receive(&self, room: &mut Room, mut each: impl FnMut(QueuedPacket<'_>)) -> Result<usize, io::Error> {
        let mut rooms = room.buffer.chunks_exact_mut(room.each);
        let mut slices: [[IoSliceMut<'_>; 1]; TOGETHER] =
            std::array::from_fn(|_| [IoSliceMut::new(rooms.next().unwrap_or_default())]);
        let flags = MsgFlags::MSG_DONTWAIT;
        let mut lengths = [0; TOGETHER];
        let mut count = 0;
        match recvmmsg(self.socket.as_raw_fd(), &mut room.headers, slices.iter_mut(), flags, None) {
            Ok(messages) => {
                for (length, message) in lengths.iter_mut().zip(messages) {
                    *length = message.bytes;
                    count += 1;
                }
            }
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => {}
            Err(error) => return Err(error.into()),
        }
        for (bytes, &length) in room.buffer.chunks_exact(room.each).zip(&lengths[..count]) {
            if let Some(queued) = packet(&bytes[..length.min(room.each)]) {
                each(queued);
            }
        }
        Ok(count)
    }

    /// Accepts a packet, with its bytes replaced by `instead` if given. It leaves with the next
    /// [`flush`](Queues::flush), in the order of these calls.
    pub fn accept(&mut self, queue: u16, id: u32, instead: Option<&[u8]>) {
        let start = self.verdicts.len();
        begin(&mut self.verdicts, VERDICT, libc::NLM_F_REQUEST as u16, queue);
        let mut head = [0; 8];
        head[..4].copy_from_slice(&ACCEPT.to_be_bytes());
        head[4..].copy_from_slice(&id.to_be_bytes());
        attribute(&mut self.verdicts, VERDICT_HEAD, &head);
        if let Some(bytes) = instead {
            attribute(&mut self.verdicts, PAYLOAD, bytes);
        }
        end(&mut self.verdicts, start);
        if self.verdicts.len() > FULL {
            // The next flush will report an error.
            let _ = self.flush();
        }
    }

    /// Sends the verdicts.
    ///
    /// # Errors
    /// If the socket has failed.
    pub fn flush(&mut self) -> Result<(), io::Error> {
        if self.verdicts.is_empty() {
            return Ok(());
        }
        let sent = send(self.socket.as_raw_fd(), &self.verdicts, MsgFlags::empty());
        self.verdicts.clear();
        Ok(sent.map(drop)?)
    }
}

impl AsFd for Queues {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Begins a message: `struct nlmsghdr`, with its length to be filled in, and `struct nfgenmsg`.
fn begin(message: &mut Vec<u8>, kind: u16, flags: u16, queue: u16) {
    message.extend([0; 4]);
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // Sequence and port numbers: answers arrive in order, from the kernel.
    message.extend([0; 8]);
    message.extend([libc::AF_UNSPEC as u8, 0]);
    message.extend(queue.to_be_bytes());
}

fn end(message: &mut [u8], start: usize) {
    let length = (message.len() - start) as u32;
    message[start..start + 4].copy_from_slice(&length.to_ne_bytes());
}

/// The type and content of a kernel message.
fn content(message: &[u8]) -> Option<(u16, &[u8])> {
    let length = length_at(message, 0).filter(|&length| length >= HEADER)?;
    let message = message.get(..length)?;
    Some((u16::from_ne_bytes([message[4], message[5]]), &message[HEADER..]))
}

/// The code of an answer; `None` if this is no answer.
fn refusal(message: &[u8]) -> Option<i32> {
    let (kind, content) = content(message)?;
    let code = content.first_chunk::<4>().filter(|_| i32::from(kind) == libc::NLMSG_ERROR)?;
    Some(i32::from_ne_bytes(*code))
}

/// Stores the code of an answer at the position of its request.
fn note(message: &[u8], answers: &mut [Option<i32>]) {
    let Some(code) = refusal(message) else { return };
    let sequence = u32::from_ne_bytes(message[SEQUENCE].try_into().expect("four bytes"));
    if let Some(answer) = sequence.checked_sub(ASKED).and_then(|place| answers.get_mut(place as usize)) {
        *answer = Some(code);
    }
}

/// The packet in a message; `None` if it is another message.
fn packet(message: &[u8]) -> Option<QueuedPacket<'_>> {
    let (kind, content) = content(message)?;
    let (prefix, rest) = content.split_at_checked(PREFIX - HEADER).filter(|_| kind == PACKET)?;
    let queue = u16::from_be_bytes([prefix[2], prefix[3]]);
    let (mut id, mut bytes, mut len) = (None, &[][..], None);
    let word = |content: &[u8]| content.first_chunk::<4>().map(|&word| u32::from_be_bytes(word));
    for (kind, content) in attributes(rest) {
        match kind {
            PACKET_HEAD => id = word(content),
            PAYLOAD => bytes = content,
            WHOLE_LENGTH => len = word(content),
            _ => {}
        }
    }
    Some(QueuedPacket { queue, id: id?, bytes, len: len.unwrap_or(bytes.len() as u32) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, content: &[(u16, &[u8])]) -> Vec<u8> {
        let mut message = Vec::new();
        begin(&mut message, kind, 0, 7);
        content.iter().for_each(|(kind, content)| attribute(&mut message, *kind, content));
        end(&mut message, 0);
        message
    }

    #[test]
    fn a_packet_is_read_whole_or_cut_off() {
        let head = [0, 0, 1, 2, 8, 0, 2];
        let whole = message(PACKET, &[(PACKET_HEAD, &head), (PAYLOAD, b"abcde")]);
        assert_eq!(packet(&whole), Some(QueuedPacket { queue: 7, id: 258, bytes: b"abcde", len: 5 }));
        let cut = message(PACKET, &[(PACKET_HEAD, &head), (WHOLE_LENGTH, &[0, 0, 5, 220]), (PAYLOAD, b"abcde")]);
        assert_eq!(packet(&cut).map(|queued| (queued.bytes.len(), queued.len)), Some((5, 1_500)));
        assert_eq!(packet(&message(PACKET, &[(PAYLOAD, b"abcde")])), None, "without a number");
        assert_eq!(packet(&message(VERDICT, &[(PACKET_HEAD, &head)])), None);
        for end in 0..whole.len() {
            assert!(packet(&whole[..end]).is_none(), "cut off after {end}");
        }
        assert_eq!(refusal(&whole), None);
    }

    #[test]
    fn answers_are_noted_by_request_and_nothing_else_is() {
        let answer = |sequence: u32, code: i32| {
            let mut message = vec![0; HEADER];
            message.extend(code.to_ne_bytes());
            message[4..6].copy_from_slice(&(libc::NLMSG_ERROR as u16).to_ne_bytes());
            message[SEQUENCE].copy_from_slice(&sequence.to_ne_bytes());
            end(&mut message, 0);
            message
        };
        let mut answers = [None; 2];
        // A refused verdict, a packet, and an answer to a request never made.
        for message in [answer(0, -2), message(PACKET, &[]), answer(ASKED + 2, -1)] {
            note(&message, &mut answers);
        }
        assert_eq!(answers, [None; 2]);
        note(&answer(ASKED + 1, -1), &mut answers);
        note(&answer(ASKED, 0), &mut answers);
        assert_eq!(answers, [Some(0), Some(-1)]);
    }

    #[test]
    fn verdicts_are_messages_one_behind_another() {
        let socket = io::pipe().unwrap().0.into();
        let keep = Keep { copied: 0, packets: 0, unseen: 0 };
        let mut queues = Queues { socket, numbers: vec![], keep, verdicts: vec![] };
        queues.accept(7, 0x0102_0304, None);
        queues.accept(8, 5, Some(b"abc"));
        let first = length_at(&queues.verdicts, 0).unwrap();
        let (kind, content) = content(&queues.verdicts[first..]).unwrap();
        let found: Vec<_> = attributes(&content[4..]).collect();
        assert_eq!((first, kind), (32, VERDICT));
        assert_eq!(found, [(VERDICT_HEAD, &[0, 0, 0, 1, 0, 0, 0, 5][..]), (PAYLOAD, &b"abc"[..])]);
        assert_eq!(queues.verdicts.len(), first + 40);
    }

    #[test]
    fn many_verdicts_do_not_wait_for_the_end_of_a_turn() {
        // A pipe accepts no messages: whatever is sent is lost, with an error.
        let socket = io::pipe().unwrap().0.into();
        let keep = Keep { copied: 0, packets: 0, unseen: 0 };
        let mut queues = Queues { socket, numbers: vec![], keep, verdicts: vec![] };
        queues.flush().unwrap();
        let each = 32;
        for id in 1..=FULL / each {
            queues.accept(7, id as u32, None);
            assert_eq!(queues.verdicts.len(), id * each);
        }
        queues.accept(7, 0, None);
        assert!(queues.verdicts.is_empty());
        queues.accept(7, 1, None);
        assert!(queues.flush().is_err() && queues.verdicts.is_empty());
    }

    #[test]
    fn a_message_has_a_head_and_the_length_that_it_says() {
        let whole = message(PACKET, &[]);
        assert_eq!(content(&whole), Some((PACKET, &whole[HEADER..])));
        assert_eq!(
            content(&[&whole[..], &[9; 8]].concat()),
            Some((PACKET, &whole[HEADER..])),
            "and what follows it not"
        );
        let mut bare = whole[..HEADER].to_vec();
        end(&mut bare, 0);
        assert_eq!(content(&bare), Some((PACKET, &[][..])));
        bare[..4].copy_from_slice(&(HEADER as u32 - 1).to_ne_bytes());
        assert_eq!(content(&bare), None);
        assert_eq!(packet(&whole[..]), None);
    }

    #[test]
    fn there_is_room_for_many_packets_with_what_is_around_them() {
        let room = Room::new(100);
        assert_eq!((room.each, room.buffer.len()), (100 + AROUND, TOGETHER * (100 + AROUND)));
    }
}
