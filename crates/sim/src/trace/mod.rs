//! Outputs of a run besides its results: captures, time series, and traces of everything.

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
    /// Adds a tap.
    pub fn add(&mut self, tap: impl Tap + 'static) {
        self.0.push(Box::new(tap));
    }

    /// Returns all of them as one, if there are any.
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
        // Finish the others even if one fails.
        self.0.iter_mut().map(|tap| tap.finish(now)).fold(Ok(()), Result::and)
    }
}

/// Identifies a transmission while any copy of it is on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxId(pub u32);

/// A copy of a frame at a station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Copy {
    /// The station.
    pub node: NodeId,
    /// The transmission. Its number is reused once all copies have ended.
    pub tx: TxId,
    /// Power at the station, also of a copy that was not received.
    pub power: Watt,
    /// For a received aggregate, bit n is set if MPDU n is intact.
    pub arrived: u64,
}

/// Observes a run: frames sent and received by nodes, packets on wires. A tap that [looks closely](Tap::looks_closely)
/// also sees what nodes report about their packets, and the nodes themselves after each event. Events of a radio name
/// its [station](crate::stations), which is the node if that has one radio.
pub trait Tap: Send {
    /// Whether nodes report on their packets and routes.
    fn looks_closely(&self) -> bool {
        false
    }

    /// The station `node` starts to radiate `frame`.
    fn sent(&mut self, now: Time, node: NodeId, tx: TxId, frame: &Frame);

    /// A station has received `frame` without error.
    fn received(&mut self, now: Time, copy: Copy, frame: &Frame);

    /// A copy of `frame` has been lost for this reason.
    fn lost(&mut self, _now: Time, _copy: Copy, _frame: &Frame, _reason: DropReason) {}

    /// An event has occurred at the ear of a station, unnoticed by the rest of the node. `receiving`: whether its
    /// receiver is on a frame that it can decode so far.
    fn ear(&mut self, _now: Time, _node: NodeId, _ear: &Ear, _receiving: bool) {}

    /// An event has occurred at a node with radios; `id` is the station of the ear.
    fn node(&mut self, _now: Time, _id: NodeId, _node: &Node, _ear: &Ear, _receiving: bool) {}

    /// An event has occurred at a node without radios.
    fn host(&mut self, _now: Time, _id: NodeId, _host: &Host) {}

    /// A packet has taken a step at `node`.
    fn noted(&mut self, _now: Time, _node: NodeId, _note: &Note) {}

    /// A route of `node` to `destination` has changed to this neighbour and number of hops, or has been removed.
    fn route(&mut self, _now: Time, _node: NodeId, _destination: Ipv4Addr, _way: Option<(Ipv4Addr, u8)>) {}

    /// Packets queued at a wire from `node` to another node.
    fn wire_queue(&mut self, _now: Time, _node: NodeId, _to: NodeId, _packets: usize) {}

    /// `packet` passes the end of a wired link: it has arrived there, or has been accepted for sending.
    fn wired(&mut self, _now: Time, _end: WireEnd, _packet: &Ipv4Packet) {}

    /// The nodes with radios, before the first event.
    fn begun(&mut self, _nodes: &[Node]) {}

    /// The time is `now`, whether or not there was an event.
    fn passed(&mut self, _now: Time) {}

    /// The run is over.
    ///
    /// # Errors
    /// The first error met while writing.
    fn finish(&mut self, now: Time) -> Result<(), std::io::Error>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::node::{PacketKind, Step};
    use fourhop_proto::wire::FrameKind;
    use fourhop_units::{Dur, Rate};
    use std::io;
    use std::sync::{Arc, Mutex};

    /// Logs the name of each call, with its own; fails at the end if it is the first.
    struct Named(&'static str, Arc<Mutex<Vec<String>>>);

    impl Named {
        fn log(&self, call: &str) {
            self.1.lock().unwrap().push(format!("{} {call}", self.0));
        }
    }

    impl Tap for Named {
        fn looks_closely(&self) -> bool {
            self.0 == "second"
        }
        fn sent(&mut self, _: Time, _: NodeId, _: TxId, _: &Frame) {
            self.log("sent");
        }
        fn received(&mut self, _: Time, _: Copy, _: &Frame) {
            self.log("received");
        }
        fn lost(&mut self, _: Time, _: Copy, _: &Frame, _: DropReason) {
            self.log("lost");
        }
        fn ear(&mut self, _: Time, _: NodeId, _: &Ear, _: bool) {
            self.log("ear");
        }
        fn noted(&mut self, _: Time, _: NodeId, _: &Note) {
            self.log("noted");
        }
        fn route(&mut self, _: Time, _: NodeId, _: Ipv4Addr, _: Option<(Ipv4Addr, u8)>) {
            self.log("route");
        }
        fn wire_queue(&mut self, _: Time, _: NodeId, _: NodeId, _: usize) {
            self.log("wire queue");
        }
        fn wired(&mut self, _: Time, _: WireEnd, _: &Ipv4Packet) {
            self.log("wired");
        }
        fn begun(&mut self, _: &[Node]) {
            self.log("begun");
        }
        fn passed(&mut self, _: Time) {
            self.log("passed");
        }
        fn finish(&mut self, _: Time) -> io::Result<()> {
            self.log("finish");
            if self.0 == "first" { Err(io::Error::other("the disk is full")) } else { Ok(()) }
        }
    }

    #[test]
    fn each_of_several_taps_sees_every_call_even_if_another_fails() {
        let log = Arc::<Mutex<Vec<String>>>::default();
        let mut taps = Taps::default();
        taps.add(Named("first", log.clone()));
        taps.add(Named("second", log.clone()));
        let mut tap = taps.into_tap().unwrap();
        assert!(tap.looks_closely(), "one of them does");
        let (now, node, address) = (Time::ZERO, NodeId(0), NodeId(0).ipv4());
        let airtime = Dur::from_micros(304);
        let kind = FrameKind::Cts;
        let frame =
            Frame { dst: node.mac(), src: node.mac(), duration: airtime, rate: Rate::kbps(1_000), airtime, kind };
        let copy = Copy { node, tx: TxId(0), power: Watt(1.0), arrived: u64::MAX };
        let ends = (address, 1);
        let note = Note {
            number: 1,
            step: Step::Head,
            kind: PacketKind::Udp,
            protocol: 17,
            src: ends,
            dst: ends,
            seq: 0,
            ack: None,
            window: 0,
            window_scale: None,
            payload: 0,
            len: 20,
        };
        let mut header = [0; 20];
        (header[0], header[3]) = (0x45, 20);
        let packet = Ipv4Packet::from_bytes(&header).unwrap();
        tap.begun(&[]);
        tap.sent(now, node, TxId(0), &frame);
        tap.received(now, copy, &frame);
        tap.lost(now, copy, &frame, DropReason::Collision);
        tap.ear(now, node, &Ear::new(), false);
        tap.noted(now, node, &note);
        tap.route(now, node, address, None);
        tap.wire_queue(now, node, node, 1);
        tap.wired(now, WireEnd { node, port: PortId(0) }, &packet);
        tap.passed(now);
        assert_eq!(tap.finish(now).unwrap_err().to_string(), "the disk is full");
        let calls =
            ["begun", "sent", "received", "lost", "ear", "noted", "route", "wire queue", "wired", "passed", "finish"];
        let expected: Vec<_> =
            calls.iter().flat_map(|call| ["first", "second"].map(|name| format!("{name} {call}"))).collect();
        assert_eq!(*log.lock().unwrap(), expected);
    }
}
