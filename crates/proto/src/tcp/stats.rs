//! What a connection counts.

/// Counters of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
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
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun by duplicate ACKs or SACK evidence.
    pub fast_retransmits: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
}

impl Stats {
    /// Adds those of another connection.
    pub fn add(&mut self, other: &Stats) {
        self.segments_sent += other.segments_sent;
        self.segments_retransmitted += other.segments_retransmitted;
        self.acks_sent += other.acks_sent;
        self.segments_acked += other.segments_acked;
        self.bytes_acked += other.bytes_acked;
        self.bytes_delivered += other.bytes_delivered;
        self.duplicate_acks += other.duplicate_acks;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
        self.window_probes += other.window_probes;
    }
}
