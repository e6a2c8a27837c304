//! Helpers shared by the tests of the simulator.

pub mod accounts;

use fourhop_cc::Transport;
use fourhop_proto::app::{cbr, transfer};
use fourhop_proto::node;
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::tcp;
use fourhop_proto::wire::{Frame, FrameKind, Payload};
use fourhop_sim::setup::{Flow, FlowEnds, Routing, Setup, Source, Traffic};
use fourhop_sim::trace::{Copy, Tap, TxId};
use fourhop_sim::world::World;
use fourhop_units::{Bytes, Dur, NodeId, Rate, Time};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A frame as seen by the tap: sent at its beginning, received at its end.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: Time,
    pub node: u32,
    pub sent: bool,
    pub frame: Frame,
}

impl Seen {
    pub fn is_rts(&self) -> bool {
        self.frame.kind == FrameKind::Rts
    }

    /// Returns the name of the kind of frame.
    pub fn kind(&self) -> &'static str {
        match self.frame.kind {
            FrameKind::Rts => "RTS",
            FrameKind::Cts => "CTS",
            FrameKind::Ack => "ACK",
            FrameKind::Data { .. } | FrameKind::Aggregate(_) => "DATA",
            FrameKind::BlockAck { .. } => "BA",
            FrameKind::BlockAckRequest { .. } => "BAR",
        }
    }

    /// Whether it carries an AODV packet.
    pub fn is_routing(&self) -> bool {
        match &self.frame.kind {
            FrameKind::Data { msdu, .. } => matches!(&msdu.payload, Payload::Ipv4(packet) if packet.is_routing()),
            _ => false,
        }
    }

    pub fn is_broadcast(&self) -> bool {
        self.frame.dst.is_broadcast()
    }
}

/// Records every frame; clones share the record.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Vec<Seen>>>);

impl Recorder {
    pub fn seen(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }
}

impl Tap for Recorder {
    fn sent(&mut self, now: Time, node: NodeId, _: TxId, frame: &Frame) {
        self.0.lock().unwrap().push(Seen { at: now, node: node.0, sent: true, frame: frame.clone() });
    }

    fn received(&mut self, now: Time, copy: Copy, frame: &Frame) {
        self.0.lock().unwrap().push(Seen { at: now, node: copy.node.0, sent: false, frame: frame.clone() });
    }

    fn finish(&mut self, _: Time) -> Result<(), std::io::Error> {
        Ok(())
    }
}

/// Nodes at these positions on a line, in metres; static routes, no ARP, no flows.
pub fn line(node: node::Config, places: &[f64]) -> Setup {
    let mut setup = Setup {
        positions: places.iter().map(|&x| (x, 0.0)).collect(),
        radios: None,
        movement: None,
        radio: TwoRay::WAVELAN.into(),
        site: None,
        node,
        routing: Routing::Static,
        wired: None,
        discipline: None,
        flows: Vec::new(),
        c3tcp: None,
        without_mcs: Vec::new(),
        particular: Default::default(),
    };
    setup.node.link.arp = false;
    setup
}

/// A flow of 1,460 byte datagrams, one every `interval` from `start` on.
pub fn udp(src: u32, dst: u32, start: Time, interval: Dur) -> Flow {
    let payload = Bytes(1460);
    let rate = Rate::from_bps(payload.bits() * 1_000_000_000 / interval.as_nanos()).unwrap();
    let traffic = Traffic::Udp(cbr::Config { start, stop: None, rate, payload });
    Flow { src: NodeId(src), dst: NodeId(dst), traffic, dscp: 0 }
}

/// An endless NewReno transfer with this window, from 1 s on.
pub fn newreno(src: u32, dst: u32, window: u32) -> Flow {
    let config = tcp::Config { window_limit: Some(window), ..tcp::Config::ns2() };
    let transfer = transfer::Config { start: Time::from_secs(1), stop: None, size: None, rate: None };
    let transport = Transport::find("newreno").unwrap();
    let traffic = Traffic::Tcp { transport, config: Box::new(config), source: Source::Transfer(transfer) };
    Flow { src: NodeId(src), dst: NodeId(dst), traffic, dscp: 0 }
}

/// Builds a world with a recorder of all frames.
pub fn build(setup: &Setup, seed: u64) -> (World, Vec<FlowEnds>, Recorder) {
    let recorder = Recorder::default();
    let (world, ends) = setup.build(seed, Some(Box::new(recorder.clone()))).unwrap();
    (world, ends, recorder)
}

/// Returns a duration in microseconds, with their fraction.
pub fn micros(d: Dur) -> f64 {
    d.as_nanos() as f64 / 1e3
}

/// Runs tshark on a capture with checksum validation, and returns its output.
pub fn tshark(file: &Path, arguments: &[&str]) -> String {
    let checked = ["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-n", "-r"];
    let output = Command::new("tshark").args(checked).arg(file).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
