//! What a run leaves behind besides its numbers.

mod pcap;
mod series;

pub use pcap::PcapFolder;
pub use series::{Column, FLOW_COLUMNS, FlowSample, SeriesFiles, SeriesPaths, SeriesSink};

use fourhop_proto::wire::Frame;
use fourhop_units::{NodeId, Time, Watt};

/// Sees the frames of a run as its nodes send and receive them.
pub trait Tap: Send {
    /// `node` begins to radiate `frame`.
    fn sent(&mut self, now: Time, node: NodeId, frame: &Frame);

    /// `node` has received `frame` without error, with this power.
    fn received(&mut self, now: Time, node: NodeId, power: Watt, frame: &Frame);

    /// The run is over.
    ///
    /// # Errors
    /// The first error met while writing.
    fn finish(&mut self) -> Result<(), std::io::Error>;
}
