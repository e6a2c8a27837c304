//! Outputs of a run besides its numbers: captures, time series, and traces of everything.

mod background;
mod capture_files;
mod pcap;
mod radiotap;
mod recorder;
mod request;
mod series;
mod tables;

pub use background::{Background, Interest};
pub use pcap::{CaptureForm, PcapFolder};
pub use recorder::{Filter, FlowAbout, Kind, Recorder};
pub use request::Request;
pub use series::{Column, FLOW_COLUMNS, FlowSample, SeriesFiles, SeriesPaths, SeriesSink};
pub use tables::{ColumnAbout, Folder, Form, Rows, Sink, TableAbout, Tables, unit};

use core::net::Ipv4Addr;
use fourhop_proto::drop::DropReason;
use fourhop_proto::node::{Ear, Host, Node, Note};
use fourhop_proto::route::PortId;
use fourhop_proto::wire::{Frame, Ipv4Packet};
use fourhop_units::{NodeId, Time, Watt};

/// The end of a wired link at a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WireEnd {
    /// The node.
    pub node: NodeId,
    /// Number of the port.
    pub port: PortId,
}

/// Several taps as one.
#[derive(Default)]
pub struct Taps(Vec<Box<dyn Tap>>);

impl Taps {
    /// One more.
    pub fn add(&mut self, tap: impl Tap + 'static) {
        self.0.push(Box::new(tap));
    }

    /// All of them as one, if there is one.
    pub fn into_tap(mut self) -> Option<Box<dyn Tap>> {
        match self.0.len() {
            0 | 1 => self.0.pop(),
            _ => Some(Box::new(self)),
        }
    }

    fn each(&mut self, mut call: impl FnMut(&mut dyn Tap)) {
        self.0.iter_mut().for_each(|tap| call(&mut **tap));
    }
}

impl Tap for Taps {
    fn looks_closely(&self) -> bool {
        self.0.iter().any(|tap| tap.looks_closely())
    }

    fn begun(&mut self, nodes: &[Node]) {
        self.each(|tap| tap.begun(nodes));
    }

    fn sent(&mut self, now: Time, node: NodeId, tx: TxId, frame: &Frame) {
        self.each(|tap| tap.sent(now, node, tx, frame));
    }

    fn received(&mut self, now: Time, copy: Copy, frame: &Frame) {
        self.each(|tap| tap.received(now, copy, frame));
    }

    fn lost(&mut self, now: Time, copy: Copy, frame: &Frame, reason: DropReason) {
        self.each(|tap| tap.lost(now, copy, frame, reason));
    }

    fn ear(&mut self, now: Time, node: NodeId, ear: &Ear, receiving: bool) {
        self.each(|tap| tap.ear(now, node, ear, receiving));
    }

    fn node(&mut self, now: Time, id: NodeId, node: &Node, ear: &Ear, receiving: bool) {
        self.each(|tap| tap.node(now, id, node, ear, receiving));
    }

    fn host(&mut self, now: Time, id: NodeId, host: &Host) {
        self.each(|tap| tap.host(now, id, host));
    }

    fn noted(&mut self, now: Time, node: NodeId, note: &Note) {
        self.each(|tap| tap.noted(now, node, note));
    }

    fn route(&mut self, now: Time, node: NodeId, destination: Ipv4Addr, way: Option<(Ipv4Addr, u8)>) {
        self.each(|tap| tap.route(now, node, destination, way));
    }

    fn wire_queue(&mut self, now: Time, node: NodeId, to: NodeId, packets: usize) {
        self.each(|tap| tap.wire_queue(now, node, to, packets));
    }

    fn wired(&mut self, now: Time, end: WireEnd, packet: &Ipv4Packet) {
        self.each(|tap| tap.wired(now, end, packet));
    }

    fn passed(&mut self, now: Time) {
        self.each(|tap| tap.passed(now));
    }

    fn finish(&mut self, now: Time) -> Result<(), std::io::Error> {
        // The others are finished where one fails, too.
        self.0.iter_mut().map(|tap| tap.finish(now)).fold(Ok(()), Result::and)
    }
}

/// Names a transmission while any copy of it is on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxId(pub u32);

/// A copy of a frame at a station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Copy {
    /// The station.
    pub node: NodeId,
    /// The transmission; another one has its number once all copies have ended.
    pub tx: TxId,
    /// The power it has there, or would have.
    pub power: Watt,
    /// Of an aggregate that is received: bit n says whether MPDU n is right.
    pub arrived: u64,
}

/// Observes a run: frames as nodes send and receive them, packets on wires. A tap that [looks
/// closely](Tap::looks_closely) also sees what nodes report about their packets, and the nodes themselves after each
/// event. Events of a radio name its [station](crate::stations), which is the node if that has one radio.
pub trait Tap: Send {
    /// Do nodes tell of their packets and routes?
    fn looks_closely(&self) -> bool {
        false
    }

    /// The station `node` begins to radiate `frame`.
    fn sent(&mut self, now: Time, node: NodeId, tx: TxId, frame: &Frame);

    /// A station has received `frame` without error.
    fn received(&mut self, now: Time, copy: Copy, frame: &Frame);

    /// A copy of `frame` is lost, for this reason.
    fn lost(&mut self, _now: Time, _copy: Copy, _frame: &Frame, _reason: DropReason) {}

    /// Something has happened at the ear of a station, unnoticed by the rest of it; `receiving`: its receiver is on a
    /// frame that it can decode so far.
    fn ear(&mut self, _now: Time, _node: NodeId, _ear: &Ear, _receiving: bool) {}

    /// Something has happened at a node with radios; `id` is the station whose ear this is.
    fn node(&mut self, _now: Time, _id: NodeId, _node: &Node, _ear: &Ear, _receiving: bool) {}

    /// Something has happened at a node without one.
    fn host(&mut self, _now: Time, _id: NodeId, _host: &Host) {}

    /// A packet has taken a step at `node`.
    fn noted(&mut self, _now: Time, _node: NodeId, _note: &Note) {}

    /// A route of `node` leads to `destination` over this neighbour in so many hops from now on, or there is none any
    /// more.
    fn route(&mut self, _now: Time, _node: NodeId, _destination: Ipv4Addr, _way: Option<(Ipv4Addr, u8)>) {}

    /// How many packets wait at the beginning of a wire from `node` to another.
    fn wire_queue(&mut self, _now: Time, _node: NodeId, _to: NodeId, _packets: usize) {}

    /// `packet` passes the end of a wired link: it has arrived there, or has been taken to be sent.
    fn wired(&mut self, _now: Time, _end: WireEnd, _packet: &Ipv4Packet) {}

    /// These are the nodes with radios, before anything happens.
    fn begun(&mut self, _nodes: &[Node]) {}

    /// It is `now`, whether or not something has happened.
    fn passed(&mut self, _now: Time) {}

    /// The run is over.
    ///
    /// # Errors
    /// The first error met while writing.
    fn finish(&mut self, now: Time) -> Result<(), std::io::Error>;
}
