//! Outputs of a run besides its numbers: captures and time series.

mod aside;
mod capture_files;
mod pcap;
mod series;

pub use aside::{Aside, Interest};
pub use pcap::{CaptureForm, PcapFolder};
pub use series::{Column, FLOW_COLUMNS, FlowSample, SeriesFiles, SeriesPaths, SeriesSink};

use fourhop_proto::drop::DropReason;
use fourhop_proto::route::PortId;
use fourhop_proto::wire::{Frame, Ipv4Packet};
use fourhop_units::{NodeId, Time, Watt};

/// The end of a wired link at a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WireEnd {
    /// The node.
    pub node: NodeId,
    /// Which of its ports.
    pub port: PortId,
}

/// Sees the frames of a run as its nodes send and receive them.
pub trait Tap: Send {
    /// `node` begins to radiate `frame`.
    fn sent(&mut self, now: Time, node: NodeId, frame: &Frame);

    /// `node` has received `frame` without error, with this power.
    fn received(&mut self, now: Time, node: NodeId, power: Watt, frame: &Frame);

    /// A copy of `frame` that would have had this power at `node` is lost there, for this reason.
    fn lost(&mut self, _now: Time, _node: NodeId, _power: Watt, _frame: &Frame, _reason: DropReason) {}

    /// `packet` passes the end of a wired link: it has arrived there, or has been taken to be sent.
    fn wired(&mut self, _now: Time, _end: WireEnd, _packet: &Ipv4Packet) {}

    /// The run is over.
    ///
    /// # Errors
    /// The first error met while writing.
    fn finish(&mut self) -> Result<(), std::io::Error>;
}
