//! Assignment of packets to flows: those of the scenario, and those of programs as they appear.

use crate::setup::{Setup, Traffic};
use fourhop_proto::node::{Note, PacketKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Largest number of programs' flows that are listed separately.
const MOST: usize = 4096;

type End = (Ipv4Addr, u16);

/// A flow in `meta.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct FlowAbout {
    /// Index of the flow.
    pub flow: u32,
    /// Name in results, or a description of the ends.
    pub name: String,
    /// Number of the sending node, if the sender is a node.
    pub src: Option<u32>,
    /// Number of the receiving node, if the receiver is a node.
    pub dst: Option<u32>,
    /// Name of the transport or protocol.
    pub transport: String,
    /// Application; `program` for a real one.
    pub app: &'static str,
    /// Port of the sender, or the identifier of its echo requests; `None` if each connection has another.
    pub src_port: Option<u16>,
    /// Port of the receiver.
    pub dst_port: u16,
}

/// The flows, by their ends.
#[derive(Debug, Default)]
pub struct Flows {
    by_ends: BTreeMap<(u8, End, End), u32>,
    pub about: Vec<FlowAbout>,
    /// Whether programs create flows that are not declared.
    learns: bool,
}

impl Flows {
    /// Creates the flows of `setup`, described by `about`.
    pub fn new(setup: &Setup, mut about: Vec<FlowAbout>, learns: bool) -> Flows {
        let mut by_ends = BTreeMap::new();
        for (index, (flow, about)) in setup.flows.iter().zip(&mut about).enumerate() {
            let (local, remote, fresh) = Setup::ports(index, flow);
            let protocol = match &flow.traffic {
                Traffic::Tcp { .. } => 6,
                Traffic::Own(options, _) => options.protocol(),
                Traffic::Udp(_) => 17,
                Traffic::Ping(_) => 1,
            };
            about.dst_port = if protocol == 1 { 0 } else { remote };
            about.src_port = (!fresh).then_some(local);
            let ends = ((flow.src.ipv4(), about.src_port.unwrap_or(0)), (flow.dst.ipv4(), about.dst_port));
            by_ends.insert((protocol, ends.0, ends.1), index as u32);
        }
        Flows { by_ends, about, learns }
    }

    /// Returns the flow of a packet, and whether the packet travels in the reverse direction.
    pub fn of(&self, note: &Note) -> Option<(u32, bool)> {
        let any = |(address, _): End| (address, 0);
        let of = |src: End, dst: End| {
            // A sender with one connection per file has one port per file.
            let found = self.by_ends.get(&(note.protocol, src, dst));
            found.or_else(|| self.by_ends.get(&(note.protocol, any(src), dst))).copied()
        };
        let forth = of(note.src, note.dst).map(|flow| (flow, false));
        forth.or_else(|| of(note.dst, note.src).map(|flow| (flow, true)))
    }

    /// Returns the simulated flow with these ends, and whether the first is that of its receiver.
    pub fn by_address(&self, here: End, there: End) -> Option<(u32, bool)> {
        let of = |(&(_, src, dst), &flow): (&(u8, End, End), &u32)| {
            let same = |end: End, of: End| end == of || (end.0, 0) == of;
            let forth = (same(here, src) && same(there, dst)).then_some((flow, false));
            forth.or_else(|| (same(here, dst) && same(there, src)).then_some((flow, true)))
        };
        self.by_ends.iter().find_map(of)
    }

    /// The same; if programs run, a packet that belongs to no flow begins one.
    pub fn of_new(&mut self, note: &Note, number: impl Fn(Ipv4Addr) -> Option<u32>) -> Option<(u32, bool)> {
        let known = self.of(note);
        let is_theirs =
            matches!(note.protocol, 1 | 6 | 17) && note.kind != PacketKind::Rreq && !note.dst.0.is_multicast();
        if known.is_some() || !self.learns || !is_theirs || self.about.len() >= MOST || note.dst.0.is_broadcast() {
            return known;
        }
        let flow = self.about.len() as u32;
        let transport = match note.protocol {
            1 => "icmp",
            6 => "tcp",
            _ => "udp",
        };
        self.by_ends.insert((note.protocol, note.src, note.dst), flow);
        self.about.push(FlowAbout {
            flow,
            name: format!("{transport} {}:{} to {}:{}", note.src.0, note.src.1, note.dst.0, note.dst.1),
            src: number(note.src.0),
            dst: number(note.dst.0),
            transport: transport.to_owned(),
            app: "program",
            src_port: Some(note.src.1),
            dst_port: note.dst.1,
        });
        Some((flow, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::node::Step;

    const HERE: End = (Ipv4Addr::new(10, 0, 0, 1), 5000);
    const THERE: End = (Ipv4Addr::new(10, 0, 0, 2), 80);

    fn note(protocol: u8, kind: PacketKind, src: End, dst: End) -> Note {
        Note {
            number: 1,
            step: Step::Created,
            kind,
            protocol,
            src,
            dst,
            seq: 0,
            ack: None,
            window: 0,
            window_scale: None,
            payload: 0,
            len: 40,
        }
    }

    fn learned(flows: &mut Flows, note: &Note) -> Option<(u32, bool)> {
        flows.of_new(note, |address| (address == HERE.0).then_some(7))
    }

    #[test]
    fn packets_of_programs_begin_flows_and_answers_belong_to_them() {
        let mut flows = Flows { learns: true, ..Flows::default() };
        for (index, (protocol, kind, transport)) in
            [(6, PacketKind::TcpSyn, "tcp"), (17, PacketKind::Udp, "udp"), (1, PacketKind::EchoRequest, "icmp")]
                .into_iter()
                .enumerate()
        {
            let flow = index as u32;
            assert_eq!(learned(&mut flows, &note(protocol, kind, HERE, THERE)), Some((flow, false)));
            assert_eq!(learned(&mut flows, &note(protocol, kind, THERE, HERE)), Some((flow, true)));
            let FlowAbout { src, dst, src_port, dst_port, transport: named, .. } = &flows.about[index];
            assert_eq!((&**named, *src, *dst, *src_port, *dst_port), (transport, Some(7), None, Some(5000), 80));
        }
        assert_eq!(flows.about.len(), 3);
    }

    #[test]
    fn routing_groups_and_other_protocols_begin_none() {
        let group = (Ipv4Addr::new(224, 0, 0, 111), 6696);
        let all = (Ipv4Addr::BROADCAST, 654);
        let none = [
            note(17, PacketKind::Rreq, HERE, THERE),
            note(17, PacketKind::Babel, HERE, group),
            note(17, PacketKind::Udp, HERE, all),
            note(89, PacketKind::Other, HERE, THERE),
        ];
        let mut flows = Flows { learns: true, ..Flows::default() };
        assert!(none.iter().all(|note| learned(&mut flows, note).is_none()));
        // Neither does any packet where all flows are known from the start.
        let tcp = note(6, PacketKind::TcpSyn, HERE, THERE);
        assert_eq!(learned(&mut Flows::default(), &tcp), None);
        assert!(flows.about.is_empty());
    }

    #[test]
    fn no_more_flows_are_listed_than_a_reader_can_use() {
        let mut flows = Flows { learns: true, ..Flows::default() };
        let of = |port: usize| note(6, PacketKind::TcpSyn, (HERE.0, port as u16), THERE);
        let found = (1..=MOST + 1).filter(|&port| learned(&mut flows, &of(port)).is_some()).count();
        assert_eq!((found, flows.about.len()), (MOST, MOST));
    }

    #[test]
    fn an_end_is_found_by_both_addresses_and_ports() {
        let mut flows = Flows { learns: true, ..Flows::default() };
        learned(&mut flows, &note(6, PacketKind::TcpSyn, HERE, THERE));
        let other = |end: End| (end.0, end.1 + 1);
        assert_eq!(flows.by_address(HERE, THERE), Some((0, false)));
        assert_eq!(flows.by_address(THERE, HERE), Some((0, true)));
        let strangers = [(other(HERE), THERE), (HERE, other(THERE)), (other(THERE), HERE), (THERE, other(HERE))];
        assert!(strangers.into_iter().all(|(here, there)| flows.by_address(here, there).is_none()));
    }
}
