//! Counters of a connection.

use crate::counters::counters;

counters! {
    /// Counters of a connection.
    pub struct Stats {
        /// Segments with data or FIN, retransmissions included.
        pub segments_sent: u64,
        /// Of those, retransmissions.
        pub segments_retransmitted: u64,
        /// Segments without data or FIN.
        pub acks_sent: u64,
        /// Data segments known to have arrived.
        pub segments_acked: u64,
        /// Bytes of the outgoing stream acknowledged.
        pub bytes_acked: u64,
        /// Bytes of the arriving stream delivered in order.
        pub bytes_delivered: u64,
        /// Duplicate ACKs received.
        pub duplicate_acks: u64,
        /// Expirations of the retransmission timer.
        pub timeouts: u64,
        /// Recoveries begun by duplicate ACKs or SACK evidence.
        pub fast_retransmits: u64,
        /// Zero-window probes sent.
        pub window_probes: u64,
        /// Tail loss probes (RFC 8985 section 7).
        pub tail_probes: u64,
        /// Expirations that were found spurious and undone (RFC 3522).
        pub timeouts_undone: u64,
        /// Segments that arrived with a CE mark (RFC 3168).
        pub marks_received: u64,
        /// Reductions of the window because of CE marks.
        pub marks_answered: u64,
    }
}
