//! Records a run as tables (`docs/trace.md`): frames with the fate of their copies, the medium and the backoff at every
//! node, packets from hop to hop, queues, the ends of flows, routes, positions.
//!
//! A table keeps up to [`ROWS`] rows in memory before they are written, so memory does not depend on the length of the
//! run. A [`Filter`] selects what to record; it does not affect the numbering of frames and packets.

mod filter;
mod flows;
mod meta;
mod tap;
mod tcp;
mod timeline;

pub use filter::Filter;
pub use flows::FlowAbout;

use super::Request;
use super::tables::{self, Sink, Tables};
use crate::mobility::Mobility;
use crate::scenario::{NetworkFlow, Scenario, ScenarioError};
use crate::setup::Setup;
use crate::stations::Stations;
use flows::Flows;
use fourhop_proto::drop::DropReason;
use fourhop_proto::node::{Ear, Endpoint, Node, Note, PacketKind};
use fourhop_proto::route::Protocol;
use fourhop_proto::wire::{Msdu, Payload};
use fourhop_units::{Bytes, Dur, NodeId, Time};
use meta::Meta;
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use timeline::{Clock, Interval, Known, Timeline};

/// Number of rows of a table that are written together.
const ROWS: usize = 1 << 16;
/// Interval at which the positions of moving nodes are recorded.
const PLACES: Dur = Dur::from_millis(100);

/// Source of a trace's events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A simulation.
    Simulated,
    /// An emulation, in which programs create flows.
    Emulated,
}

/// Length of a part, if the trace keeps only the end of the run.
pub const PART: Dur = Dur::from_secs(1);

/// Subject of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct About {
    packet: Option<u32>,
    flow: Option<u32>,
    content: Option<&'static str>,
}

/// A frame on the air.
#[derive(Clone, Copy, Default, Debug)]
struct OnAir {
    frame: u32,
    about: About,
}

/// The recorder's state of a node, or of one of its radios after the first.
#[derive(Debug, Default)]
struct Seen {
    timeline: Timeline,
    /// The packets at the MAC, as noted.
    in_hand: Vec<Note>,
    /// Packets just taken by one of the node's several MACs.
    heads: Vec<Note>,
    /// Subject of the frame that it answers next.
    answers: About,
    /// Lengths of its queues.
    waiting: [u32; 3],
    /// The ends of flows at the node: the flow, whether it is the sender, and its last known state.
    ends: Vec<(u32, bool, tcp::Known)>,
    /// Segments created or read at the node in the current event.
    segments: Vec<(u32, bool, Note)>,
}

const QUEUES: [&str; 3] = ["interface", "routing", "gateway"];

/// Records a run.
pub struct Recorder {
    tables: Tables,
    sink: Box<dyn Sink>,
    filter: Filter,
    meta: Meta,
    flows: Flows,
    numbers: tcp::Segments,
    clock: Clock,
    data_overhead: u64,
    /// Whether MACs can have several packets at once.
    several: bool,
    radios: u32,
    stations: Stations,
    /// Nodes with radios, then nodes without, then stations that are not the first radio of their node.
    nodes: Vec<Seen>,
    wires: BTreeMap<(u32, u32), u32>,
    on_air: Vec<OnAir>,
    frames: u32,
    mobility: Option<Mobility>,
    next_places: Time,
    /// Start of the next part, if there are parts.
    next_part: Time,
    error: Option<io::Error>,
}

impl Recorder {
    /// Creates a recorder of the run with `seed`, which writes rows to `sink`.
    ///
    /// # Errors
    /// If something requested does not exist.
    pub fn new(
        scenario: &Scenario,
        (setup, flows): (&Setup, &[NetworkFlow]),
        seed: u64,
        kind: Kind,
        request: &Request,
        sink: Box<dyn Sink>,
    ) -> Result<Recorder, ScenarioError> {
        let filter = request.filter(scenario, setup, flows)?;
        let hosts = setup.wired.as_ref().map_or(0, |plan| plan.hosts);
        let radios = setup.positions.len() as u32;
        let mac = &setup.node.mac;
        let mut recorder = Recorder {
            tables: Tables::default(),
            sink,
            meta: Meta::new(scenario, setup, seed, kind, &filter),
            filter,
            flows: Flows::new(setup, meta::flows(scenario, flows), kind == Kind::Emulated),
            numbers: tcp::Segments::default(),
            clock: Clock { difs: mac.difs(), slot: mac.slot },
            data_overhead: mac.data_len(Bytes(0)).get(),
            several: mac.mcs.is_some() || mac.edca.is_some(),
            radios,
            nodes: (0..setup.stations().count() + hosts as usize).map(|_| Seen::default()).collect(),
            stations: setup.stations(),
            wires: BTreeMap::new(),
            on_air: Vec::new(),
            frames: 0,
            mobility: setup.movement.as_ref().map(|movement| Mobility::new(movement, &setup.positions, seed)),
            next_places: Time::ZERO + PLACES,
            next_part: if request.last.is_some() { Time::ZERO + PART } else { Time::NEVER },
            error: None,
        };
        for (node, &place) in setup.positions.iter().enumerate() {
            recorder.place(node as u32, Time::ZERO, place);
        }
        Ok(recorder)
    }

    /// Records the routes to the ends of flows that nodes have from the start.
    pub fn note_static_routes(&mut self, nodes: &[Node]) {
        let ends = self.flows.about.iter().flat_map(|flow| [flow.src, flow.dst]).flatten();
        let ends: std::collections::BTreeSet<u32> = ends.collect();
        for (number, node) in (0..).zip(nodes).filter(|&(number, _)| self.filter.takes_node(number)) {
            for &end in ends.iter().filter(|&&end| end != number) {
                let address = self.node_id(end).ipv4();
                let router = node.router();
                if let Some(next_hop) = router.next_hop(address) {
                    self.tables.routes.push(tables::Route {
                        node: number,
                        time_ns: 0,
                        destination: end,
                        next_hop: self.number_of(next_hop),
                        hops: router.hops(address).map(u32::from),
                        up: true,
                    });
                }
            }
        }
    }

    fn node_id(&self, number: u32) -> NodeId {
        number.checked_sub(self.radios).map_or(NodeId(number), NodeId::wired)
    }

    fn number(&self, node: NodeId) -> u32 {
        node.wired_number().map_or_else(|| self.stations.node(node).0, |host| self.radios + host as u32)
    }

    fn number_of(&self, address: Ipv4Addr) -> Option<u32> {
        number_of(address, &self.stations, self.radios, self.nodes.len())
    }

    /// Returns the index of a station's state.
    fn seen_at(&self, station: NodeId) -> usize {
        let further = self.stations.count() - self.radios as usize;
        match station.index().checked_sub(self.radios as usize) {
            None => station.index(),
            Some(place) => self.nodes.len() - further + place,
        }
    }

    fn place(&mut self, node: u32, now: Time, (x_m, y_m): (f64, f64)) {
        // Fixed nodes have one row, whenever the trace begins.
        let kept = now == Time::ZERO || self.filter.takes_time(now, now);
        if kept && self.filter.takes_node(node) {
            self.tables.positions.push(tables::Position { node, time_ns: nanos(now), x_m, y_m });
        }
    }

    fn note_places(&mut self, now: Time) {
        let Some(mut mobility) = self.mobility.take() else { return };
        while self.next_places <= now {
            let at = self.next_places;
            for node in 0..self.radios {
                let place = mobility.place(NodeId(node), at);
                self.place(node, at, place);
            }
            self.next_places = at + PLACES;
        }
        self.mobility = Some(mobility);
    }

    /// Writes full tables, and everything at the end of a part.
    fn write_due(&mut self, now: Time) {
        self.note_places(now);
        let Recorder { tables, sink, error, .. } = self;
        for rows in tables.each().filter(|rows| rows.len() >= ROWS) {
            write(&mut **sink, rows, error);
        }
        while now >= self.next_part {
            let at = self.next_part;
            self.end_part(at);
            self.next_part = at + PART;
        }
    }

    fn end_part(&mut self, now: Time) {
        self.flush();
        let meta = self.meta.by_now(now, false, &self.flows.about, &self.tables.counts());
        let done = self.sink.next_part(&meta);
        keep_first(&mut self.error, done);
    }

    fn flush(&mut self) {
        let Recorder { tables, sink, error, .. } = self;
        for rows in tables.each().filter(|rows| !rows.is_empty()) {
            write(&mut **sink, rows, error);
        }
    }

    /// Updates a station's state of the medium.
    fn sight(&mut self, now: Time, station: NodeId, ear: &Ear, receiving: bool, sifs_ends: Option<Time>) {
        if station.0 >= self.radios {
            // The medium is shown as seen by the first radio of a node.
            return;
        }
        let node = station.0;
        let Recorder { nodes, tables, filter, clock, .. } = self;
        let known = Known { sight: ear.medium().sight(), receiving, sifs_ends };
        let takes_node = filter.takes_node(node);
        let mut out = |interval| push_interval(tables, filter, takes_node, node, interval);
        nodes[node as usize].timeline.handle(now, known, *clock, &mut out);
    }

    fn queue(&mut self, now: Time, node: u32, queue: &'static str, to: Option<u32>, packets: u32) {
        if self.filter.takes_node(node) && self.filter.takes_time(now, now) {
            self.tables.queues.push(tables::Queue { node, time_ns: nanos(now), queue, to, packets });
        }
    }

    /// Records a step of a packet; `done` contains its name.
    fn step(
        &mut self,
        now: Time,
        node: u32,
        note: &Note,
        flow: Option<u32>,
        done: (&'static str, Option<DropReason>, Option<Ipv4Addr>),
    ) {
        let filter = &self.filter;
        if !(filter.takes_time(now, now) && filter.takes_node(node) && filter.takes_flow(flow)) {
            return;
        }
        let (event, reason, peer) = done;
        let has_number =
            !matches!(note.kind, PacketKind::Other | PacketKind::Rerr | PacketKind::RrepAck | PacketKind::Probe);
        // The datagrams of programs have no numbers.
        let opaque = note.kind == PacketKind::Udp && note.seq == 0;
        self.tables.packets.push(tables::Packet {
            packet: note.number,
            time_ns: nanos(now),
            node,
            event,
            reason: reason.map(DropReason::name),
            peer: peer.and_then(|peer| self.number_of(peer)),
            flow,
            kind: note.kind.name(),
            src: self.number_of(note.src.0),
            dst: self.number_of(note.dst.0),
            seq: Some(note.seq).filter(|_| has_number && !(opaque && flow.is_none())),
            ack: note.ack,
            payload: note.payload,
            bytes: note.len,
        });
    }

    /// Handles the packets that the MAC of a station is done with: all it had but those it still `holds`.
    fn sent_from_hand(&mut self, now: Time, station: NodeId, holds: impl Fn(&Note) -> bool) {
        let (node, seen_at) = (self.number(station), self.seen_at(station));
        let in_hand = &mut self.nodes[seen_at].in_hand;
        if in_hand.iter().all(&holds) {
            return;
        }
        let sent: Vec<Note> = in_hand.extract_if(.., |note| !holds(note)).collect();
        for note in sent {
            let flow = self.flows.of(&note).map(|(flow, _)| flow);
            self.step(now, node, &note, flow, ("sent", None, None));
        }
    }

    /// Records the state of the ends of flows at a node, after an event.
    fn ends(&mut self, now: Time, node: u32, endpoints: &[Endpoint]) {
        let seen = &mut self.nodes[node as usize];
        if endpoints.is_empty() && seen.segments.is_empty() {
            return;
        }
        let mut ends = std::mem::take(&mut seen.ends);
        let mut segments = std::mem::take(&mut seen.segments);
        if ends.len() < endpoints.len() {
            ends = self.find_ends(node, endpoints);
        }
        let takes = self.filter.takes_node(node) && self.filter.takes_time(now, now);
        for ((flow, is_sender, before), end) in ends.iter_mut().zip(endpoints) {
            let known = tcp::Known::of(end);
            let quiet = !segments.iter().any(|&(of, ..)| of == *flow);
            let event = known.since(before).filter(|&event| quiet || event != "window");
            *before = known;
            if let Some(event) = event.filter(|_| takes && self.filter.takes_flow(Some(*flow))) {
                self.tables.tcp.push(known.row(*flow, node, *is_sender, now, event));
            }
        }
        for (flow, sent, note) in segments.drain(..) {
            // Only a misconfigured flow leads from a node to itself; its ends are distinguished by their index.
            let back = self.flows.of(&note).is_some_and(|(_, back)| back);
            let said = self.numbers.handle(flow, back, sent, &note);
            let is_sender = sent != back;
            let event = match (sent, said.again) {
                (true, true) => "resent",
                (true, false) => "sent",
                (false, _) => "received",
            };
            let end = ends.iter().find(|&&(of, end, _)| (of, end) == (flow, is_sender));
            let row = end.map_or_else(
                || tcp::unknown(flow, node, is_sender, now, event),
                |(_, _, known)| known.row(flow, node, is_sender, now, event),
            );
            if takes && self.filter.takes_flow(Some(flow)) {
                self.tables.tcp.push(tables::Tcp {
                    packet: Some(note.number),
                    seq: Some(said.seq),
                    ack: said.ack,
                    payload: Some(note.payload),
                    window_bytes: Some(said.window),
                    ..row
                });
            }
        }
        let seen = &mut self.nodes[node as usize];
        (seen.ends, seen.segments) = (ends, segments);
    }

    /// Returns the flow of each end at a node. All ends exist before the first event.
    fn find_ends(&self, node: u32, endpoints: &[Endpoint]) -> Vec<(u32, bool, tcp::Known)> {
        let here = self.node_id(node).ipv4();
        let of = |end: &Endpoint| {
            let address = &end.address;
            let found = self.flows.by_address((here, address.local_port), (address.peer, address.remote_port));
            let (flow, back) = found.unwrap_or((u32::MAX, false));
            (flow, !back, tcp::Known::of(end))
        };
        endpoints.iter().map(of).collect()
    }
}

fn write(sink: &mut dyn Sink, rows: &mut dyn tables::Rows, error: &mut Option<io::Error>) {
    let done = match error {
        None => sink.write(rows),
        // After an error, such as a full disk, rows are discarded.
        Some(_) => {
            rows.take();
            Ok(())
        }
    };
    keep_first(error, done);
}

fn keep_first(error: &mut Option<io::Error>, done: io::Result<()>) {
    if let Err(met) = done {
        error.get_or_insert(met);
    }
}

fn push_interval(tables: &mut Tables, filter: &Filter, takes_node: bool, node: u32, interval: Interval) {
    let Interval { start, end, state, slots } = interval;
    if takes_node && filter.takes_time(start, end) {
        tables.mac.push(tables::Mac { node, start_ns: nanos(start), end_ns: nanos(end), state, slots });
    }
}

fn number_of(address: Ipv4Addr, stations: &Stations, radios: u32, count: usize) -> Option<u32> {
    let node = NodeId::from_ipv4(address)?;
    let number = node.wired_number().map_or_else(|| stations.node(node).0, |host| radios + host as u32);
    ((number as usize) < count).then_some(number)
}

/// Returns the number of a packet in the trace; 0 for ARP.
fn number_in(msdu: &Msdu) -> u32 {
    match &msdu.payload {
        Payload::Ipv4(packet) => packet.meta.number,
        Payload::Arp(_) | Payload::Foreign(_) => 0,
    }
}

fn nanos(at: Time) -> i64 {
    i64::try_from(at.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three nodes with radios, the second with two of them, then two nodes without.
    #[test]
    fn nodes_without_radios_are_numbered_after_those_with_radios() {
        let stations = Stations::new(&[vec![1], vec![1, 6], vec![6]]);
        let number = |node: NodeId| number_of(node.ipv4(), &stations, 3, 5);
        assert_eq!([0, 1, 2].map(|node| number(NodeId(node))), [Some(0), Some(1), Some(2)]);
        assert_eq!([0, 1, 2].map(|host| number(NodeId::wired(host))), [Some(3), Some(4), None]);
        assert_eq!(number(NodeId(3)), Some(1), "the second radio of node 1");
        assert_eq!(number_of(Ipv4Addr::LOCALHOST, &stations, 3, 5), None);
    }
}
