//! Requests from a connection to its driver.

use crate::wire::TcpSegment;

/// Requests from a socket to its driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send a segment. Its payload is `segment.payload` bytes of the outgoing stream, starting at `stream_offset`.
    Send {
        /// The segment.
        segment: TcpSegment,
        /// Position of its payload in the stream.
        stream_offset: u64,
    },
    /// Of the segment just handled, the `bytes` of payload after the first `skip` belong at `stream_offset` of the
    /// incoming stream. Drivers without real bytes ignore it.
    Stored {
        /// Bytes of payload to skip.
        skip: u32,
        /// Position of the rest in the stream.
        stream_offset: u64,
        /// Bytes accepted.
        bytes: u32,
    },
    /// This many more bytes can be read in order.
    Delivered {
        /// Number of bytes.
        bytes: u64,
    },
    /// The connection is established.
    Connected,
    /// The peer will send no more; everything it sent has been delivered.
    PeerClosed,
    /// The connection has closed in an orderly way; the socket may be dropped.
    Closed,
    /// The connection was reset by the peer, refused, or abandoned after too many timeouts; the socket may be dropped.
    Reset,
}
