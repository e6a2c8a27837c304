//! Joins segments of a flow that reach a node at the same instant, like those of an aggregate, into one packet for its
//! kernel, as drivers of 802.11n do (generic receive offload, GRO).
//!
//! They are consecutive in sequence number and in identification, and their headers are otherwise equal; only the last
//! may be shorter, or have PSH or FIN set. Other packets keep their place in their flow.

use super::headers::{self, FIN, FLAGS, Headers, IDENT, IP_CHECKSUM, PSH, SEQ, TCP_CHECKSUM, be16, be32, put};
use fourhop_live::device::Form;
use fourhop_proto::wire::bytes::IpHead;
use std::net::IpAddr;

/// Longest IP packet.
const LONGEST: usize = u16::MAX as usize;

/// Addresses and ports: packets that share them stay in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flow {
    ends: (IpAddr, IpAddr),
    ports: (u16, u16),
    protocol: u8,
}

/// Packets for a device, in the form in which they are written to it.
#[derive(Debug)]
pub struct Joined {
    /// The device.
    pub device: usize,
    /// Number of packets.
    pub packets: u64,
    /// How many of them are the first of their copies.
    pub firsts: u64,
    bytes: Vec<u8>,
    flow: Option<Flow>,
    /// The segment that may join next.
    next: Option<Next>,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    headers: Headers,
    size: usize,
    seq: u32,
    ident: u16,
}

impl Joined {
    /// The bytes for the device, with their form.
    pub fn finish(&mut self) -> (Form, &[u8]) {
        let Some(Next { headers, size, .. }) = self.next.filter(|_| self.packets > 1) else {
            return (Form::Whole, &self.bytes);
        };
        headers.set_length(&mut self.bytes);
        let sum = headers.pseudo_sum(&self.bytes);
        put(&mut self.bytes, headers.tcp + TCP_CHECKSUM, sum);
        let Headers { ipv6, tcp, end, .. } = headers;
        (Form::Segments { ipv6, start: tcp as u16, headers: end as u16, size: size as u16 }, &self.bytes)
    }

    /// Its buffer, for [`Join::keep`].
    pub fn into_memory(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends a segment of the same flow, if it fits.
    fn take(&mut self, bytes: &[u8], own: &Headers) -> bool {
        let Some(next) = &mut self.next else { return false };
        let Headers { ip, tcp, end, ipv6 } = next.headers;
        let payload = bytes.len() - own.end;
        let closed = self.bytes[tcp + FLAGS] & (PSH | FIN) != 0 || !(self.bytes.len() - end).is_multiple_of(next.size);
        let fits = *own == next.headers
            && !closed
            && payload <= next.size
            && self.bytes.len() - ip + payload <= LONGEST
            && be32(bytes, tcp + SEQ) == next.seq
            && (ipv6 || be16(bytes, ip + IDENT) == next.ident)
            && is_same(&self.bytes, bytes, own);
        if fits {
            self.bytes.extend_from_slice(&bytes[end..]);
            self.bytes[tcp + FLAGS] |= bytes[tcp + FLAGS];
            next.seq = next.seq.wrapping_add(payload as u32);
            next.ident = next.ident.wrapping_add(1);
        }
        fits
    }
}

/// Whether all fields are equal except those that vary between the segments of a packet.
fn is_same(one: &[u8], other: &[u8], headers: &Headers) -> bool {
    let Headers { ipv6, ip, tcp, end } = *headers;
    let same = |from: usize, to: usize| one[from..to] == other[from..to];
    let network = match ipv6 {
        true => same(0, ip + headers::PAYLOAD_LEN) && same(ip + 6, tcp),
        false => same(0, ip + headers::TOTAL_LEN) && same(ip + 6, ip + IP_CHECKSUM) && same(ip + 12, tcp),
    };
    network
        && same(tcp, tcp + SEQ)
        && same(tcp + 8, tcp + FLAGS)
        && same(tcp + 14, tcp + TCP_CHECKSUM)
        && same(tcp + 18, end)
}

/// Packets that arrive at the same instant, in order.
#[derive(Debug, Default)]
pub struct Join {
    waiting: Vec<Joined>,
    /// Buffers of earlier packets.
    spare: Vec<Vec<u8>>,
}

impl Join {
    /// Returns an empty buffer for a packet.
    pub fn memory(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub fn keep(&mut self, mut memory: Vec<u8>) {
        memory.clear();
        self.spare.push(memory);
    }

    /// Adds a packet for a device; its link header is `link` bytes long, and `head` is its IP header, if it is an IP
    /// packet. It joins others if it may (`may`), and is the first of its copies or not.
    pub fn push(&mut self, device: usize, bytes: Vec<u8>, link: usize, head: Option<&IpHead>, may: bool, first: bool) {
        let ports = |head: &IpHead| head.ports(bytes.get(link..)?);
        let flow = head
            .and_then(|head| Some(Flow { ends: (head.src, head.dst), ports: ports(head)?, protocol: head.protocol }));
        let headers = if may && flow.is_some() { Headers::joinable(&bytes, link) } else { None };
        // A packet without ports may belong to any flow.
        let same = |joined: &&mut Joined| {
            joined.device == device && (joined.flow == flow || joined.flow.is_none() || flow.is_none())
        };
        if let Some(own) = &headers
            && let Some(joined) = self.waiting.iter_mut().rev().find(same)
            && joined.take(&bytes, own)
        {
            (joined.packets, joined.firsts) = (joined.packets + 1, joined.firsts + u64::from(first));
            return self.keep(bytes);
        }
        let next = headers.map(|headers| {
            let size = bytes.len() - headers.end;
            let seq = be32(&bytes, headers.tcp + SEQ).wrapping_add(size as u32);
            Next { headers, size, seq, ident: be16(&bytes, headers.ip + IDENT).wrapping_add(1) }
        });
        self.waiting.push(Joined { device, packets: 1, firsts: first.into(), bytes, flow, next });
    }

    /// The packets that have arrived, joined.
    pub fn drain(&mut self) -> impl Iterator<Item = Joined> {
        self.waiting.drain(..)
    }
}
