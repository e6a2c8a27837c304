//! Positions of the headers of a TCP segment, and its checksums.

use etherparse::checksum::Sum16BitWords;

/// Offsets of fields in the IPv4, IPv6, and TCP headers.
pub(super) const TOTAL_LEN: usize = 2;
pub(super) const IDENT: usize = 4;
pub(super) const IP_CHECKSUM: usize = 10;
pub(super) const PAYLOAD_LEN: usize = 4;
pub(super) const SEQ: usize = 4;
pub(super) const FLAGS: usize = 13;
pub(super) const TCP_CHECKSUM: usize = 16;

pub(super) const FIN: u8 = 0x01;
pub(super) const PSH: u8 = 0x08;
pub(super) const ACK: u8 = 0x10;
pub(super) const CWR: u8 = 0x80;

const TCP: u8 = 6;
/// First byte of an IPv4 header without options.
const IPV4: u8 = 0x45;
const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
/// "Do not fragment", and all other bits of the flags and offset word zero.
const DONT_FRAGMENT: u16 = 0x4000;

pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(super) fn put(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

/// Offsets of the headers of a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Headers {
    pub(super) ipv6: bool,
    /// Of the IP header.
    pub(super) ip: usize,
    /// Of the TCP header.
    pub(super) tcp: usize,
    /// The first byte of payload.
    pub(super) end: usize,
}

impl Headers {
    /// The headers of an IP packet at `ip` in `bytes`, whose TCP header is at `tcp`. `None` if they are incomplete.
    pub(super) fn at(bytes: &[u8], ip: usize, tcp: usize) -> Option<Headers> {
        let ipv6 = bytes.get(ip)? >> 4 == 6;
        let fixed = if ipv6 { IPV6_BYTES } else { IPV4_BYTES };
        let end = tcp + usize::from(bytes.get(tcp + 12)? >> 4) * 4;
        (tcp >= ip + fixed && end >= tcp + 20 && end <= bytes.len()).then_some(Headers { ipv6, ip, tcp, end })
    }

    /// The headers of a segment that may be joined with others: complete, with payload, without IP options, and with
    /// correct checksums, because those of joined segments are not checked again.
    pub(super) fn joinable(bytes: &[u8], ip: usize) -> Option<Headers> {
        let packet = bytes.get(ip..)?;
        let (length, tcp) = match *packet.first_chunk::<IPV6_BYTES>()? {
            [IPV4, _, a, b, _, _, c, d, _, TCP, ..] => {
                let whole = u16::from_be_bytes([c, d]) == DONT_FRAGMENT && sum(&packet[..IPV4_BYTES]) == 0;
                (usize::from(u16::from_be_bytes([a, b])), whole.then_some(IPV4_BYTES)?)
            }
            [first, _, _, _, a, b, TCP, ..] if first >> 4 == 6 => {
                (IPV6_BYTES + usize::from(u16::from_be_bytes([a, b])), IPV6_BYTES)
            }
            _ => return None,
        };
        let headers = Headers::at(bytes, ip, ip + tcp)?;
        // Other flags are meaningful only for a single segment.
        let plain = bytes[headers.tcp + 12] & 0x0f == 0 && bytes[headers.tcp + FLAGS] & !(PSH | FIN) == ACK;
        let content = plain && length == packet.len() && bytes.len() > headers.end;
        (content && headers.checksum(bytes) == 0).then_some(headers)
    }

    /// The sum of the pseudo header (RFC 9293 section 3.1, RFC 8200 section 8.1) of a segment of this length.
    fn pseudo(&self, bytes: &[u8], length: usize) -> Sum16BitWords {
        let addresses = if self.ipv6 { self.ip + 8..self.ip + 40 } else { self.ip + 12..self.ip + 20 };
        let mut sum = Sum16BitWords::new().add_slice(&bytes[addresses]).add_2bytes([0, TCP]);
        sum.add_4bytes((length as u32).to_be_bytes())
    }

    /// The checksum of the segment, which extends to the end of `bytes`, if the field in its header is zero. Zero if
    /// the field is correct.
    pub(super) fn checksum(&self, bytes: &[u8]) -> u16 {
        let segment = &bytes[self.tcp..];
        u16::from_be(self.pseudo(bytes, segment.len()).add_slice(segment).ones_complement())
    }

    /// The sum of the pseudo header alone, if the kernel completes the checksum.
    pub(super) fn pseudo_sum(&self, bytes: &[u8]) -> u16 {
        !u16::from_be(self.pseudo(bytes, bytes.len() - self.tcp).ones_complement())
    }

    /// Writes the current length into the IP header.
    pub(super) fn set_length(&self, bytes: &mut [u8]) {
        let ip = self.ip;
        let length = bytes.len() - ip;
        if self.ipv6 {
            return put(bytes, ip + PAYLOAD_LEN, (length - IPV6_BYTES) as u16);
        }
        put(bytes, ip + TOTAL_LEN, length as u16);
        put(bytes, ip + IP_CHECKSUM, 0);
        let checksum = sum(&bytes[ip..self.tcp]);
        put(bytes, ip + IP_CHECKSUM, checksum);
    }
}

/// The checksum of bytes in which the field is zero; zero if the field is correct.
pub(super) fn sum(bytes: &[u8]) -> u16 {
    u16::from_be(Sum16BitWords::new().add_slice(bytes).ones_complement())
}
