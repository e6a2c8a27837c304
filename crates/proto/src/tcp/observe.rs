//! Read-only queries of a connection.

use super::adhoc::{Freeze, Receiver as AdhocReceiver};
use super::config::PathHints;
use super::position::Pos;
use super::socket::Socket;
use super::state::State;
use super::stats::Stats;
use crate::wire::TcpSegment;
use fourhop_cc::{CaState, Measurements, Window};
use fourhop_units::Dur;

impl Socket {
    /// The state of the connection.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the driver records the ages of bytes.
    pub fn records_ages(&self) -> bool {
        self.tx.config.delivery_ages
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        let (bytes_delivered, marks_received) = (self.rx.bytes_delivered(), self.rx.ecn.marks());
        Stats { bytes_delivered, marks_received, ..self.tx.stats }
    }

    /// The window variables.
    pub fn window(&self) -> &Window {
        self.tx.control.window()
    }

    /// Congestion window in segments.
    pub fn cwnd(&self) -> u32 {
        self.window().cwnd
    }

    /// Slow-start threshold in segments.
    pub fn ssthresh(&self) -> u32 {
        self.window().ssthresh
    }

    /// Window last advertised by the peer, in bytes.
    pub fn peer_window(&self) -> u64 {
        self.tx.space.wnd
    }

    /// Largest payload of a segment.
    pub fn mss(&self) -> u32 {
        self.tx.space.mss
    }

    /// The sender side of ad hoc TCP.
    pub fn freeze(&self) -> &Freeze {
        &self.tx.freeze
    }

    /// The ad hoc TCP receiver, if this is one.
    pub fn adhoc_receiver(&self) -> Option<&AdhocReceiver> {
        self.rx.policy.adhoc.as_ref()
    }

    /// Minimum time between two segments, if the algorithm paces.
    pub fn pacing_interval(&self) -> Option<Dur> {
        self.window().pacing
    }

    /// Measurements of congestion control.
    pub fn measurements(&self) -> Measurements {
        self.tx.control.measurements()
    }

    /// Path hints that the sender needs.
    pub fn path_hints(&self) -> PathHints {
        self.tx.config.path_hints
    }

    /// Whether the timestamp of `segment` would be the next to be echoed (RFC 7323 section 4.3).
    pub fn would_echo(&self, segment: &TcpSegment) -> bool {
        self.rx.stamps.would_echo(self.rx.space.locate(segment.seq), segment)
    }

    /// Smoothed round trip; `None` before the first sample.
    pub fn srtt(&self) -> Option<Dur> {
        self.tx.rtt.srtt()
    }

    /// Number of round trips sampled since the connection began, and their sum.
    pub fn rtt_samples(&self) -> (u64, Dur) {
        self.tx.rtt.samples()
    }

    /// Retransmission timeout, back-off included.
    pub fn rto(&self) -> Dur {
        self.tx.rtt.rto()
    }

    /// Bytes sent but not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.tx.space.in_flight()
    }

    /// Bytes written but not acknowledged, sent or not.
    pub fn unacknowledged(&self) -> u64 {
        self.tx.space.end.beyond(self.tx.space.una.max(Pos::FIRST))
    }

    /// Bytes waiting for [`read`](Socket::read).
    pub fn readable(&self) -> u64 {
        self.rx.space.unread()
    }

    /// Whether its data segments take air time without their headers
    /// ([`Config::vegas_without_header`](super::Config::vegas_without_header)).
    pub fn hides_headers(&self) -> bool {
        self.tx.hides_headers()
    }

    /// Phase of loss recovery.
    pub fn recovery_state(&self) -> CaState {
        self.tx.recovery.state
    }

    /// Ports of this end and of the peer; the peer's is 0 while listening.
    pub fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }
}
