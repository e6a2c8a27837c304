//! The flows that pass the devices: pairs of addresses and ports, packets sent and arrived, and TCP round trips.

use fourhop_proto::wire::bytes::{self, IpHead};
use fourhop_units::{Dur, Time};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// Most flows listed separately; further ones are counted together.
const MOST: usize = 4096;

/// Key of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// Sender and its port; 0 if there are no ports.
    pub src: (IpAddr, u16),
    /// Receiver and its port.
    pub dst: (IpAddr, u16),
    /// Protocol above IP.
    pub protocol: u8,
}

impl Key {
    const REST: Key = {
        let nobody = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Key { src: nobody, dst: nobody, protocol: 0 }
    };

    fn reversed(self) -> Key {
        Key { src: self.dst, dst: self.src, ..self }
    }

    /// Name of the protocol.
    pub fn protocol_name(&self) -> String {
        match self.protocol {
            1 => "icmp".to_owned(),
            6 => "tcp".to_owned(),
            58 => "icmp6".to_owned(),
            17 => "udp".to_owned(),
            other => other.to_string(),
        }
    }
}

/// State of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flow {
    /// Packets and bytes, headers included, that its sender put into the network.
    pub sent: (u64, u64),
    /// Packets and bytes that reached its receiver.
    pub arrived: (u64, u64),
    /// When the first packet was sent.
    pub first: Time,
    /// When the last packet was sent or arrived.
    pub last: Time,
    /// Sum and number of the TCP round trips, and the newest.
    rtt: (Dur, u32, Option<Dur>),
    /// The segment whose acknowledgement is awaited: the sequence number following it, and when it was sent.
    timed: Option<(u32, Time)>,
    /// The highest sequence number sent.
    newest: Option<u32>,
}

impl Flow {
    /// Mean of the round trips.
    pub fn rtt_mean(&self) -> Option<Dur> {
        (self.rtt.1 > 0).then(|| self.rtt.0 / u64::from(self.rtt.1))
    }

    /// The newest round trip.
    pub fn rtt_newest(&self) -> Option<Dur> {
        self.rtt.2
    }

    /// Arrivals over time, in bits per second.
    pub fn rate_bps(&self) -> f64 {
        let over = self.last.saturating_since(self.first).as_secs_f64();
        if over > 0.0 { self.arrived.1 as f64 * 8.0 / over } else { 0.0 }
    }

    /// A segment of `len` bytes was sent. Only one is timed at a time, and never one that may be a retransmission
    /// (Karn's rule, RFC 6298 section 3).
    fn time(&mut self, seq: u32, len: u32, now: Time) {
        let end = seq.wrapping_add(len);
        let is_new = self.newest.is_none_or(|newest| after(end, newest) && !after(newest, seq));
        if !is_new {
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        if self.newest.is_none_or(|newest| after(end, newest)) {
            self.newest = Some(end);
        }
    }

    fn acknowledged(&mut self, ack: u32, now: Time) {
        if let Some((end, sent)) = self.timed
            && !after(end, ack)
        {
            let rtt = now.saturating_since(sent);
            self.rtt = (self.rtt.0 + rtt, self.rtt.1 + 1, Some(rtt));
            self.timed = None;
        }
    }
}

/// Whether sequence number `a` is after `b` (RFC 9293 section 3.4).
fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// All flows observed.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    by_key: BTreeMap<Key, Flow>,
}

impl Flows {
    /// The packet's own sender has put it into the network.
    pub fn sent(&mut self, now: Time, packet: &[u8], head: &IpHead) {
        let key = self.key(packet, head);
        let segment = bytes::segment(packet);
        let flow = self.by_key.entry(key).or_insert_with(|| Flow { first: now, ..Flow::default() });
        flow.sent = (flow.sent.0 + 1, flow.sent.1 + head.total_len as u64);
        flow.last = now;
        if let Some(segment) = segment.filter(|segment| segment.payload > 0) {
            flow.time(segment.seq.to_wire(), segment.payload, now);
        }
    }

    /// The packet has reached its receiver.
    pub fn arrived(&mut self, now: Time, packet: &[u8], head: &IpHead) {
        let key = self.key(packet, head);
        if let Some(flow) = self.by_key.get_mut(&key) {
            flow.arrived = (flow.arrived.0 + 1, flow.arrived.1 + head.total_len as u64);
            flow.last = now;
        }
        if let Some(segment) = bytes::segment(packet)
            && let Some(data) = self.by_key.get_mut(&key.reversed())
        {
            data.acknowledged(segment.ack.to_wire(), now);
        }
    }

    /// Every flow, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Flow)> {
        self.by_key.iter()
    }

    fn key(&self, packet: &[u8], head: &IpHead) -> Key {
        let ports = head.ports(packet).unwrap_or((0, 0));
        let key = Key { src: (head.src, ports.0), dst: (head.dst, ports.1), protocol: head.protocol };
        if self.by_key.len() < MOST || self.by_key.contains_key(&key) { key } else { Key::REST }
    }
}

/// A flow in a report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowReport {
    /// Name or address of the sender, and port.
    pub src: String,
    /// Port of the sender; 0 if there are no ports.
    pub src_port: u16,
    /// Name or address of the receiver.
    pub dst: String,
    /// Port of the receiver.
    pub dst_port: u16,
    /// `tcp`, `udp`, `icmp`, or a number.
    pub protocol: String,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Bytes that arrived, headers included.
    pub arrived_bytes: u64,
    /// From the first packet sent to the last sent or arrived.
    pub active_s: f64,
    /// Rate of arrivals in that time.
    pub rate_bps: f64,
    /// Mean round trip, of TCP data.
    pub rtt_mean_s: Option<f64>,
    /// Name of a scenario flow, which the simulator sends; `None` for a program's flow.
    pub simulated: Option<String>,
}

impl FlowReport {
    /// The report of this flow; `name` returns the name of a node.
    pub fn new(key: &Key, flow: &Flow, name: impl Fn(IpAddr) -> String) -> FlowReport {
        FlowReport {
            src: name(key.src.0),
            src_port: key.src.1,
            dst: name(key.dst.0),
            dst_port: key.dst.1,
            protocol: key.protocol_name(),
            sent: flow.sent.0,
            arrived: flow.arrived.0,
            arrived_bytes: flow.arrived.1,
            active_s: flow.last.saturating_since(flow.first).as_secs_f64(),
            rate_bps: flow.rate_bps(),
            rtt_mean_s: flow.rtt_mean().map(Dur::as_secs_f64),
            simulated: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn segment(from: u8, to: u8, seq: u32, ack: u32, payload: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let ports = if from == 1 { (40_000, 5_201) } else { (5_201, 40_000) };
        let builder =
            PacketBuilder::ipv4([10, 0, 0, from], [10, 0, 0, to], 64).tcp(ports.0, ports.1, seq, 1000).ack(ack);
        builder.write(&mut bytes, &vec![0; payload]).unwrap();
        bytes
    }

    fn both(flows: &mut Flows, at: [u64; 2], bytes: &[u8]) {
        let head = IpHead::read(bytes).unwrap();
        flows.sent(Time::from_millis(at[0]), bytes, &head);
        flows.arrived(Time::from_millis(at[1]), bytes, &head);
    }

    #[test]
    fn round_trips_are_those_of_segments_sent_once() {
        let mut flows = Flows::default();
        both(&mut flows, [0, 5], &segment(1, 2, u32::MAX - 99, 1, 100));
        both(&mut flows, [5, 30], &segment(2, 1, 1, 0, 0));
        // The next segment is sent twice: its acknowledgement may be for either.
        let again = segment(1, 2, 0, 1, 100);
        both(&mut flows, [40, 45], &again);
        both(&mut flows, [90, 95], &again);
        both(&mut flows, [95, 99], &segment(2, 1, 1, 100, 0));
        let (key, flow) = flows.iter().next().unwrap();
        assert_eq!((key.src.1, key.protocol_name().as_str()), (40_000, "tcp"));
        assert_eq!((flow.sent.0, flow.arrived, flow.rtt.1), (3, (3, 420), 1));
        assert_eq!(flow.rtt_mean(), Some(Dur::from_millis(30)));
        assert!((flow.rate_bps() - 420.0 * 8.0 / 0.095).abs() < 1.0);
        assert_eq!(flows.iter().count(), 2);
    }

    #[test]
    fn too_many_flows_are_counted_together() {
        let mut flows = Flows::default();
        for n in 0..MOST as u32 + 10 {
            let mut bytes = Vec::new();
            PacketBuilder::ipv4([10, 0, (n >> 8) as u8, n as u8], [10, 0, 0, 1], 4)
                .udp(1, 2)
                .write(&mut bytes, &[])
                .unwrap();
            let head = IpHead::read(&bytes).unwrap();
            flows.sent(Time::ZERO, &bytes, &head);
        }
        assert_eq!(flows.iter().count(), MOST + 1);
        assert_eq!(flows.by_key[&Key::REST].sent.0, 10);
    }
}
