//! Pacing by the stack for algorithms that ask for none, as Linux does where `fq` or the stack's own timer spaces
//! segments.
//!
//! Source: Linux 6.18, `tcp_update_pacing_rate` (net/ipv4/tcp_input.c) and `tcp_update_skb_after_send` (tcp_output.c):
//! the rate is the window, or the data in flight if that is more, per smoothed round trip, times `tcp_pacing_ss_ratio`
//! (200 %) while the window is below half the threshold and `tcp_pacing_ca_ratio` (120 %) from there on. The first ten
//! segments of a connection are not paced. Segments leave one at a time: bursts of TCP segmentation offload are left
//! out.

use super::Sender;
use fourhop_units::Dur;

/// `net.ipv4.tcp_pacing_ss_ratio`, per cent.
const SLOW_START: u64 = 200;
/// `net.ipv4.tcp_pacing_ca_ratio`, per cent.
const AVOIDANCE: u64 = 120;
/// Segments at the start of a connection that leave as the window allows.
const UNPACED: u64 = 10;

impl Sender {
    /// Sets the interval that follows from the window and the round trip, after an acknowledgement.
    pub(super) fn pace_by_window(&mut self) {
        let Some(srtt) = self.rtt.srtt().filter(|_| self.stats.segments_sent >= UNPACED) else { return };
        let win = self.control.window();
        let ratio = if win.cwnd < win.ssthresh / 2 { SLOW_START } else { AVOIDANCE };
        let window = u64::from(win.cwnd.max(self.space.in_flight_segments()));
        // A round trip of at most 64 s in nanoseconds has 36 bits.
        let interval = srtt.min(fourhop_cc::MAX_SAMPLE).as_nanos() * 100 / (ratio * window);
        self.control.pace(Dur::from_nanos(interval.max(1)));
    }
}
