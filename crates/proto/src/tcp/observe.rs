//! What a driver may query of a connection without changing it.

use super::adhoc::{Freeze, Receiver as AdhocReceiver};
use super::config::PathHints;
use super::position::Pos;
use super::recovery::Strategy;
use super::socket::Socket;
use super::state::State;
use super::stats::Stats;
use crate::wire::TcpSegment;
use fourhop_cc::{CaState, CongestionControl, Measurements, Window};
use fourhop_units::Dur;

impl Socket {
    /// The state of the connection.
    pub fn state(&self) -> State {
        self.state
    }

    /// Is its driver to record the ages of bytes?
    pub fn records_ages(&self) -> bool {
        self.config.delivery_ages
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The window variables.
    pub fn window(&self) -> &Window {
        &self.win
    }

    /// Congestion window in segments.
    pub fn cwnd(&self) -> u32 {
        self.win.cwnd
    }

    /// Slow-start threshold in segments.
    pub fn ssthresh(&self) -> u32 {
        self.win.ssthresh
    }

    /// Window the peer last advertised, in bytes.
    pub fn peer_window(&self) -> u64 {
        self.snd.wnd
    }

    /// Largest payload of a segment.
    pub fn mss(&self) -> u32 {
        self.snd.mss
    }

    /// The sender's side of ad hoc TCP.
    pub fn freeze(&self) -> &Freeze {
        &self.freeze
    }

    /// The receiver's side of ad hoc TCP, if it is one.
    pub fn adhoc_receiver(&self) -> Option<&AdhocReceiver> {
        self.policy.adhoc.as_ref()
    }

    /// Least time between two segments, if the algorithm paces.
    pub fn pacing_interval(&self) -> Option<Dur> {
        self.win.pacing
    }

    /// What congestion control has measured.
    pub fn measurements(&self) -> Measurements {
        self.cc.measurements()
    }

    /// What its driver is to tell it about the path.
    pub fn path_hints(&self) -> PathHints {
        self.config.path_hints
    }

    /// Would the timestamp of `segment` be the next to be echoed (RFC 7323 section 4.3)?
    pub fn would_echo(&self, segment: &TcpSegment) -> bool {
        self.rcv.locate(segment.seq) <= self.last_ack_sent && !segment.flags.rst
    }

    /// Smoothed round trip; `None` before the first sample.
    pub fn srtt(&self) -> Option<Dur> {
        self.rtt.srtt()
    }

    /// How many round trips were sampled since the connection began, and their sum.
    pub fn rtt_samples(&self) -> (u64, Dur) {
        self.rtt.samples()
    }

    /// Retransmission time-out with back-off.
    pub fn rto(&self) -> Dur {
        self.rtt.rto()
    }

    /// Bytes sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.snd.in_flight()
    }

    /// Bytes written and not sent, or sent and not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.snd.end.beyond(self.snd.una.max(Pos::FIRST))
    }

    /// Bytes that wait for [`read`](Socket::read).
    pub fn readable(&self) -> u64 {
        self.rcv.unread()
    }

    /// Do its segments with data count without their headers on the air ([`Config::vegas_without_header`](super::Config::vegas_without_header))?
    pub fn hides_headers(&self) -> bool {
        self.config.vegas_without_header && matches!(self.strategy, Strategy::FineClock(_))
    }

    /// Phase of loss recovery.
    pub fn recovery_state(&self) -> CaState {
        self.recovery.state
    }

    /// Ports of this end and of the peer; the peer's is 0 while listening.
    pub fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }
}
