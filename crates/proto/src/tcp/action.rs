//! Requests of a connection to its driver.

use crate::wire::TcpSegment;

/// Requests of a socket to its driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send a segment. Its payload is the `segment.payload` bytes of the outgoing stream from `stream_offset` on.
    Send {
        /// The segment.
        segment: TcpSegment,
        /// Where in the stream its payload begins.
        stream_offset: u64,
    },
    /// Of the segment just handled, `bytes` of payload after the first `skip` belong at `stream_offset` of the arriving
    /// stream. Drivers without real bytes ignore it.
    Stored {
        /// Bytes of payload to skip.
        skip: u32,
        /// Where in the stream the rest begins.
        stream_offset: u64,
        /// How many bytes were taken.
        bytes: u32,
    },
    /// So many more bytes are readable in order.
    Delivered {
        /// How many.
        bytes: u64,
    },
    /// The connection is established.
    Connected,
    /// The peer will send no more; all it sent has been delivered.
    PeerClosed,
    /// The connection has ended in order; the socket may be dropped.
    Closed,
    /// The connection was reset by the peer, refused, or given up after too many time-outs; the socket may be dropped.
    Reset,
}
