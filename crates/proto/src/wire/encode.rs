//! Frames and packets as bytes, for capture files and devices.
//!
//! 802.11 with LLC/SNAP (IEEE 802.11-2020 clause 9.3, IEEE 802.2, RFC 1042), ARP (RFC 826), IPv4, TCP, UDP, ICMP
//! (headers and checksums by `etherparse`), other transports, AODV (RFC 3561 section 5). Payloads are zeros, except for
//! a datagram's sequence number. Frame check sequences are left out, as most drivers do. Packets of outside hosts are
//! unchanged. C3TCP's options are between LLC/SNAP and the packet ([`options`](super::options)).

use super::options::ETHERTYPE;
use super::{
    AodvMessage, ArpMessage, ArpOperation, Body, Category, Ecn, Frame, FrameKind, Ipv4Packet, Message, Mpdu, Msdu,
    Payload, TcpOptions, TcpSegment,
};
use arrayvec::ArrayVec;
use etherparse::{
    IcmpEchoHeader, Icmpv4Header, Icmpv4Type, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement,
    UdpHeader,
};
use fourhop_units::{Dur, MacAddr};

/// BSSID of the single ad hoc cell.
const BSSID: MacAddr = MacAddr([0x02, 0xff, 0x34, 0x68, 0x6f, 0x70]);
/// LLC/SNAP header before the EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00];

/// Appends the 802.11 frame, from frame control to the end of its body; for an aggregate, its MPDUs one after another.
pub fn frame(frame: &Frame, out: &mut Vec<u8>) {
    // Frame control (clause 9.2.4.1): version 0, type and subtype in the first byte, flags in the second.
    match &frame.kind {
        FrameKind::Rts => {
            header(0xb4, false, frame.duration, frame.dst, out);
            out.extend(frame.src.0);
        }
        FrameKind::Cts => header(0xc4, false, frame.duration, frame.dst, out),
        FrameKind::Ack => header(0xd4, false, frame.duration, frame.dst, out),
        FrameKind::Data { retry, msdu: Msdu { payload: Payload::Foreign(foreign), .. }, .. } => {
            let begins = out.len();
            out.extend(foreign.bytes());
            if let Some(flags) = out.get_mut(begins + 1).filter(|_| *retry) {
                *flags |= RETRY;
            }
        }
        FrameKind::Data { seq, retry, qos, msdu } => {
            header(if qos.is_some() { QOS_DATA } else { 0x08 }, *retry, frame.duration, frame.dst, out);
            out.extend(frame.src.0);
            out.extend(BSSID.0);
            out.extend((seq << 4).to_le_bytes());
            // Broadcasts are not acknowledged: ack policy 1 (clause 9.2.4.5.4).
            let policy = if frame.dst.is_broadcast() { NO_ACK } else { 0 };
            out.extend(qos.iter().flat_map(|category| (u16::from(category.tid()) | policy).to_le_bytes()));
            body(msdu, out);
        }
        FrameKind::Aggregate(aggregate) => aggregate.mpdus.iter().for_each(|each| mpdu(frame, each, out)),
        FrameKind::BlockAck { start, bitmap, category } => {
            header(0x94, false, frame.duration, frame.dst, out);
            out.extend(frame.src.0);
            out.extend(compressed(*category).to_le_bytes());
            out.extend((start << 4).to_le_bytes());
            out.extend(bitmap.to_le_bytes());
        }
        FrameKind::BlockAckRequest { start, category } => {
            header(0x84, false, frame.duration, frame.dst, out);
            out.extend(frame.src.0);
            out.extend(compressed(*category).to_le_bytes());
            out.extend((start << 4).to_le_bytes());
        }
    }
}

/// Retry flag of retransmitted frames.
const RETRY: u8 = 0x08;
/// Type and subtype of QoS data.
const QOS_DATA: u8 = 0x88;
/// The compressed variant in the control field of BlockAck and BlockAckReq (tables 9-28 and 9-30).
const COMPRESSED: u16 = 0x0004;
/// In QoS Control: the frame is an A-MSDU (clause 9.2.4.5.9).
const AMSDU: u16 = 0x0080;
/// In QoS Control: ack policy "no ack" (table 9-9).
const NO_ACK: u16 = 0x0020;

/// Returns the control field of BlockAck and BlockAckReq, with the TID in its upper four bits.
fn compressed(category: Category) -> u16 {
    COMPRESSED | u16::from(category.tid()) << 12
}

/// Returns the TID of the MPDUs of a frame.
fn tid(frame: &Frame) -> u16 {
    match &frame.kind {
        FrameKind::Aggregate(aggregate) => aggregate.category.tid().into(),
        _ => 0,
    }
}

/// Appends one MPDU of an aggregate: QoS data (clause 9.3.2.1), whose content may be an A-MSDU (clause 9.3.2.2).
pub fn mpdu(frame: &Frame, mpdu: &Mpdu, out: &mut Vec<u8>) {
    header(QOS_DATA, mpdu.retry, frame.duration, frame.dst, out);
    out.extend(frame.src.0);
    out.extend(BSSID.0);
    out.extend((mpdu.seq << 4).to_le_bytes());
    if mpdu.more.is_empty() {
        out.extend(tid(frame).to_le_bytes());
        return body(&mpdu.first, out);
    }
    out.extend((AMSDU | tid(frame)).to_le_bytes());
    let begins = out.len();
    for msdu in mpdu.msdus() {
        // Subframes other than the last are padded to 4 octets.
        let padding = (out.len() - begins).next_multiple_of(4) - (out.len() - begins);
        out.extend(core::iter::repeat_n(0, padding));
        out.extend(frame.dst.0);
        out.extend(frame.src.0);
        let len = out.len();
        out.extend([0, 0]);
        body(msdu, out);
        let octets = (out.len() - len - 2) as u16;
        out[len..len + 2].copy_from_slice(&octets.to_be_bytes());
    }
}

fn header(kind: u8, retry: bool, duration: Dur, dst: MacAddr, out: &mut Vec<u8>) {
    // The field has 15 bits of microseconds (clause 9.2.4.2).
    let duration = duration.as_micros_rounded().min(32_767) as u16;
    out.extend([kind, if retry { RETRY } else { 0x00 }]);
    out.extend(duration.to_le_bytes());
    out.extend(dst.0);
}

fn body(msdu: &Msdu, out: &mut Vec<u8>) {
    out.extend(SNAP);
    match &msdu.payload {
        Payload::Ipv4(content) => {
            if let Some(carried) = content.carried() {
                out.extend(ETHERTYPE.to_be_bytes());
                carried.options.encode(out);
            }
            out.extend(0x0800u16.to_be_bytes());
            packet(content, out);
        }
        Payload::Arp(content) => {
            out.extend(0x0806u16.to_be_bytes());
            arp(content, out);
        }
        // INVARIANT: aggregates contain none, and a single one is a frame with its own header.
        Payload::Foreign(_) => {}
    }
}

fn arp(message: &ArpMessage, out: &mut Vec<u8>) {
    let operation: u16 = match message.operation {
        ArpOperation::Request => 1,
        ArpOperation::Reply => 2,
    };
    out.extend([0, 1, 0x08, 0x00, 6, 4]);
    out.extend(operation.to_be_bytes());
    out.extend(message.sender_mac.0);
    out.extend(message.sender_ip.octets());
    out.extend(message.target_mac.map_or([0; 6], |mac| mac.0));
    out.extend(message.target_ip.octets());
}

/// Appends the IPv4 packet.
pub fn packet(packet: &Ipv4Packet, out: &mut Vec<u8>) {
    let mut content = Vec::new();
    let (src, dst) = (packet.src.octets(), packet.dst.octets());
    let protocol = match &packet.body {
        Body::Tcp(segment) => {
            tcp(segment, src, dst, &mut content);
            IpNumber::TCP
        }
        Body::Measured(measured) => {
            tcp(&measured.segment, src, dst, &mut content);
            IpNumber::TCP
        }
        Body::Transport(segment) => {
            segment.encode(src, dst, &mut content);
            IpNumber(segment.protocol())
        }
        Body::Udp(datagram) => {
            let number = datagram.number.to_be_bytes();
            let mut payload = vec![0; datagram.payload as usize];
            payload.iter_mut().zip(number).for_each(|(byte, digit)| *byte = digit);
            udp(datagram.src_port, datagram.dst_port, &payload, src, dst, &mut content);
            IpNumber::UDP
        }
        Body::Routing(message) => {
            let mut payload = Vec::new();
            message.encode(&mut payload);
            udp(message.port(), message.port(), &payload, src, dst, &mut content);
            IpNumber::UDP
        }
        Body::Echo(echo) => {
            let id = IcmpEchoHeader { id: echo.ident, seq: echo.number };
            let kind = if echo.reply { Icmpv4Type::EchoReply(id) } else { Icmpv4Type::EchoRequest(id) };
            let payload = vec![0; echo.payload as usize];
            content.extend(Icmpv4Header::with_checksum(kind, &payload).to_bytes());
            content.extend(payload);
            IpNumber::ICMP
        }
        Body::Opaque(whole) => return whole.encode(packet.ttl, out),
    };
    // INVARIANT: packets are at most an MTU long and carry no options; nothing else can be refused here.
    let mut ip = Ipv4Header::new(content.len() as u16, packet.ttl, protocol, src, dst).expect("a packet fits IPv4");
    ip.identification = packet.ident;
    ip.dont_fragment = true;
    // INVARIANT: masked to six bits.
    ip.dscp = IpDscp::try_new(packet.dscp & 0x3f).expect("six bits");
    ip.ecn = match packet.ecn() {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    };
    ip.header_checksum = ip.calc_header_checksum();
    out.extend(ip.to_bytes());
    out.extend(content);
}

fn tcp(segment: &TcpSegment, src: [u8; 4], dst: [u8; 4], out: &mut Vec<u8>) {
    let mut header = TcpHeader::new(segment.src_port, segment.dst_port, segment.seq.to_wire(), segment.window);
    header.acknowledgment_number = if segment.flags.ack { segment.ack.to_wire() } else { 0 };
    header.syn = segment.flags.syn;
    header.ack = segment.flags.ack;
    header.fin = segment.flags.fin;
    header.rst = segment.flags.rst;
    header.psh = segment.flags.psh;
    header.ece = segment.flags.ece;
    header.cwr = segment.flags.cwr;
    let mut options = Vec::new();
    let given = &segment.options;
    options.extend(given.mss.map(TcpOptionElement::MaximumSegmentSize));
    options.extend(given.window_scale.map(TcpOptionElement::WindowScale));
    options.extend(given.sack_permitted.then_some(TcpOptionElement::SelectiveAcknowledgementPermitted));
    options.extend(given.timestamps.map(|times| TcpOptionElement::Timestamp(times.value, times.echo)));
    let mut blocks = given.sack.iter().map(|(left, right)| (left.to_wire(), right.to_wire()));
    if let Some(first) = blocks.next() {
        let rest = [blocks.next(), blocks.next(), blocks.next()];
        options.push(TcpOptionElement::SelectiveAcknowledgement(first, rest));
    }
    // INVARIANT: `TcpOptions` holds at most what fits 40 bytes.
    header.set_options(&options).expect("options fit the header");
    if let Some(millis) = given.wired_rtt {
        let mut raw: ArrayVec<u8, 40> = header.options.as_slice()
            [..TcpOptions { wired_rtt: None, ..given.clone() }.unpadded_len() as usize]
            .iter()
            .copied()
            .collect();
        raw.extend([TcpOptions::EXPERIMENT, TcpOptions::WIRED_RTT_LEN as u8]);
        raw.extend(TcpOptions::WIRED_RTT_ID.to_be_bytes());
        raw.extend(millis.to_be_bytes());
        header.set_options_raw(&raw).expect("options fit the header");
    }
    let payload = vec![0; segment.payload as usize];
    // INVARIANT: a segment is at most an MTU long.
    header.checksum = header.calc_checksum_ipv4_raw(src, dst, &payload).expect("a segment fits IPv4");
    out.extend(header.to_bytes());
    out.extend(payload);
}

fn udp(src_port: u16, dst_port: u16, payload: &[u8], src: [u8; 4], dst: [u8; 4], out: &mut Vec<u8>) {
    let mut header =
        UdpHeader { source_port: src_port, destination_port: dst_port, length: 8 + payload.len() as u16, checksum: 0 };
    // INVARIANT: a datagram is at most an MTU long.
    header.checksum = header.calc_checksum_ipv4_raw(src, dst, payload).expect("a datagram fits IPv4");
    out.extend(header.to_bytes());
    out.extend(payload);
}

/// Appends the AODV message (RFC 3561 sections 5.1 to 5.4). A route error names at most 255 destinations, a probe 255
/// neighbours.
pub fn aodv(message: &AodvMessage, out: &mut Vec<u8>) {
    message.encode(out);
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
