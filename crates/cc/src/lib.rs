//! Congestion control and pacing.
//!
//! The division of labour is that of Linux, because the same algorithms become BPF struct_ops later: the TCP stack owns
//! loss recovery and the window variables; an algorithm returns the slow-start threshold, grows the window in whole
//! segments with an integer remainder, sees one round-trip sample per ACK, takes hints from other layers and may ask
//! for a pacing interval. A new algorithm is one file here and one line in [`registry`].
//!
//! # In the kernel
//!
//! Linux has two forms of `tcp_congestion_ops` (6.18, `net/ipv4/tcp_cong.c`, `tcp_input.c`, `bpf_tcp_ca.c`). One with
//! `cong_control` owns window and rate, even in recovery; one with `cong_avoid` leaves recovery to the kernel, which
//! also recomputes `sk_pacing_rate` at each ACK, up to a maximum. The split here is that of the second form:
//!
//! | hook here | callback there | may write | differences there |
//! |---|---|---|---|
//! | [`init`](CongestionControl::init) | `init` | all of [`Window`] | |
//! | [`on_ack`](CongestionControl::on_ack) | `pkts_acked`, then `cong_avoid` | first the interval, then the window | `cong_avoid` is not called in recovery; samples are whole microseconds; `acked` is not capped |
//! | [`ssthresh`](CongestionControl::ssthresh) | `ssthresh` | nothing | called before `set_state`, and without the [`Cause`]: a time-out shows only in the `set_state(TCP_CA_Loss)` that follows; nothing is ever [`Cause::Overdue`] |
//! | [`loss_window`](CongestionControl::loss_window) | none | | the data in flight plus 1; a later `set_state(TCP_CA_Loss)` may set another |
//! | [`on_state`](CongestionControl::on_state) | `set_state` | all of [`Window`] | called after `ssthresh`; also has `TCP_CA_CWR` |
//! | [`undo`](CongestionControl::undo) | `undo_cwnd` | nothing | `fourhop_proto::tcp` finds no reduction spurious and never calls it |
//! | [`on_hint`](CongestionControl::on_hint) | none | | `pkts_acked` finds it in the socket's storage |
//! | [`on_rate`](CongestionControl::on_rate) | `cong_control`, of the first form | all of [`Window`] | the rate is given in packets and microseconds, and the algorithm divides |
//! | [`on_lost`](CongestionControl::on_lost), [`on_mark`](CongestionControl::on_mark) | none in Linux 6.18; `skb_marked_lost` of BBR's own tree | | |
//! | [`on_restart`](CongestionControl::on_restart) | `cwnd_event(CA_EVENT_TX_START)` | | |
//! | [`measurements`](CongestionControl::measurements) | none | | user space reads the socket's storage |
//!
//! | field of [`Window`] | carrier there |
//! |---|---|
//! | `cwnd`, `cwnd_cnt`, `ssthresh` | `snd_cwnd`, `snd_cwnd_cnt`, `snd_ssthresh`, written as they are; the kernel clears the remainder at a loss, as the stack here does, and reads it only in `tcp_cong_avoid_ai` |
//! | `cwnd_clamp` | read-only: `bpf_setsockopt(TCP_BPF_SNDCWND_CLAMP)` |
//! | `pacing` | [`Window::max_pacing_rate`], `bpf_setsockopt(SO_MAX_PACING_RATE)`; retransmissions are also paced, the first ten segments of a connection are not |
//!
//! | [`Hint`] | writer into the socket's storage |
//! |---|---|
//! | `HopCount` | a `cgroup_skb/ingress` program, from the time to live of each packet, before TCP sees it |
//! | `WiredRtt` | a `sockops` program that reads the gateway's TCP option |
//! | `LinkRate`, `WireRate`, `PathTime`, `ForwardDelay`, `PathCapacity` | user space, as far as it knows them |
//! | `RoundTrip` | nobody: duplicate ACKs give no sample there, so TCP-AP uses `Samples::Unambiguous` |
//!
//! State of up to 104 bytes is kept in `icsk_ca_priv`, larger state in `BPF_MAP_TYPE_SK_STORAGE`; the tests of
//! [`registry`] list which is which. BPF, as compiled by clang 14, has no floating point, no signed division and no
//! 128-bit products, which overflow-checked 64-bit products need; `scripts/kernel_arithmetic.py` finds them here.
//! `u64::isqrt` rounds down and has to be implemented there.
#![forbid(unsafe_code)]

pub mod ap2;
pub mod bbr;
pub mod cubic;
pub mod cwl;
pub mod hystart;
mod params;
mod path;
pub mod rate;
pub mod rbp;
pub mod registry;
pub mod reno;
pub mod tcp_ap;
pub mod vegas;
pub mod westwood;

pub use params::Params;
pub use path::PathTime;
pub use registry::{Controller, Recovery, Transport};

use fourhop_units::{Dur, Rate, Time};

/// The longest round trip that counts: 64 s, more than the largest retransmission time-out (RFC 6298 section 2.5: 60
/// s). It takes 36 bits in ns, so products fit in 64.
pub const MAX_SAMPLE: Dur = Dur::from_secs(64);

/// The window variables of a connection: everything an algorithm may write. Segments are of the sender's maximum size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Congestion window in segments, at least 1.
    pub cwnd: u32,
    /// The fraction of `cwnd` beyond whole segments, in units of 1/[`Window::ONE`] segment; below `ONE` between calls.
    pub cwnd_cnt: u32,
    /// Slow-start threshold in segments, at least 2; `u32::MAX` before the first loss unless configured.
    pub ssthresh: u32,
    /// Upper limit of `cwnd` in segments, set by the user or by an algorithm.
    pub cwnd_clamp: u32,
    /// Minimum time between the starts of two segments, above zero; `None` sends as soon as the window allows.
    pub pacing: Option<Dur>,
    /// Segments sent back to back per that many intervals, at least 1; only the sender with time-based recovery does
    /// this.
    pub burst: u32,
}

impl Window {
    /// One segment in units of `cwnd_cnt`: 2^16, so that `cwnd` and `cwnd_cnt` together are a fixed-point number.
    pub const ONE: u32 = 1 << 16;

    /// The window with its fraction, in units of 1/[`Window::ONE`] segment.
    pub const fn fixed(&self) -> u64 {
        ((self.cwnd as u64) << 16) | self.cwnd_cnt as u64
    }

    /// Sets the window with its fraction; at least one segment, at most the clamp.
    pub fn set_fixed(&mut self, window: u64) {
        let window = window.max(u64::from(Window::ONE));
        let cwnd = u32::try_from(window >> 16).unwrap_or(u32::MAX);
        self.cwnd_cnt = if cwnd < self.cwnd_clamp { (window & 0xffff) as u32 } else { 0 };
        self.cwnd = cwnd.min(self.cwnd_clamp).max(1);
    }

    /// Sets the window to whole segments; at least one, at most the clamp.
    pub fn set_cwnd(&mut self, cwnd: u32) {
        self.cwnd = cwnd.min(self.cwnd_clamp).max(1);
        self.cwnd_cnt = 0;
    }

    /// Whether a burst may begin with `under_way` segments in flight and `waiting` to be sent: if nothing is in flight
    /// or the window has room for all of it. If half of a pair is alone in flight, it gets a companion, because a
    /// receiver that delays acknowledgements waits for one (RFC 5681 section 4.2).
    pub fn has_room_for_burst(&self, under_way: u32, waiting: u32) -> bool {
        let whole = if self.burst == 2 && under_way % 2 == 1 { 1 } else { self.burst };
        under_way == 0 || self.cwnd.saturating_sub(under_way) >= whole.min(self.cwnd).min(waiting).max(1)
    }

    /// Whether the window is below the threshold, so that it grows by a segment per segment acknowledged.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 5681 section 3.1, slow start: one segment per segment acknowledged, up to the threshold. Returns how many of
    /// `acked` were left over when the threshold was reached.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh.max(self.cwnd));
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.cwnd_clamp);
        left
    }

    /// RFC 5681 equation 3, `acked` times: the window grows by the reciprocal of itself, fraction included.
    pub fn reciprocal_increase(&mut self, acked: u32) {
        for _ in 0..acked {
            let window = self.fixed();
            self.set_fixed(window + (1 << 32) / window);
        }
    }

    /// `pacing` in the units of Linux, for segments with `mss` bytes of payload: bytes of payload per second, the value
    /// of `SO_MAX_PACING_RATE` or of `sk_pacing_rate`; `u32::MAX`, Linux's "no limit", if nothing is paced.
    ///
    /// Linux turns it back into a gap as `payload * 10^9 / rate`, rounded down (`tcp_update_skb_after_send`). Rounding
    /// the rate down keeps that gap from being shorter than the interval. Zero would switch pacing off, so the minimum
    /// is 1: an interval above `mss` seconds is cut to that.
    pub fn max_pacing_rate(&self, mss: u32) -> u32 {
        let Some(interval) = self.pacing else { return u32::MAX };
        let rate = u64::from(mss) * 1_000_000_000 / interval.as_nanos().max(1);
        rate.clamp(1, u64::from(u32::MAX) - 1) as u32
    }
}

/// The stack's state of the connection, read-only to an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The current time.
    pub now: Time,
    /// Segments sent and not yet acknowledged or known to have left the network (RFC 6675 `pipe` with SACK, FlightSize
    /// otherwise), before the current event.
    pub in_flight: u32,
    /// The congestion window including its inflation by duplicate acknowledgements, at most the user's limit, before
    /// the current event.
    pub window: u32,
    /// The peer's advertised window in segments, rounded down.
    pub snd_wnd: u32,
    /// Largest segment payload in bytes.
    pub mss: u32,
    /// Smoothed round trip (RFC 6298); `None` before the first sample.
    pub srtt: Option<Dur>,
    /// Smallest round trip seen on this connection.
    pub min_rtt: Option<Dur>,
    /// The retransmission time-out without back-off.
    pub rto: Dur,
    /// The state of loss recovery.
    pub state: CaState,
}

/// One acknowledgement that moved `snd_una` or carried new SACK blocks.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Segments newly acknowledged, partial ones counted once complete.
    pub acked: u32,
    /// How many of them may count towards growth: the stack caps what one ACK may add (RFC 5681 section 3.1: one
    /// segment; RFC 3465 section 2.3: two), never above [`Ack::MAX_CREDIT`].
    pub credit: u32,
    /// Round trip of the newest segment acknowledged; `None` if any of those acknowledged was retransmitted (Karn: the
    /// newest then waited at the receiver for the hole to close) or nothing is new.
    pub rtt: Option<Dur>,
    /// Whether the window, rather than the application or the peer, limited the data in flight.
    pub cwnd_limited: bool,
    /// Segments acknowledged since the connection began, this ACK included.
    pub total_acked: u64,
    /// Segments sent since the connection began, retransmissions not counted.
    pub total_sent: u64,
}

impl Ack {
    /// Most segments that one acknowledgement may add.
    pub const MAX_CREDIT: u32 = 65_535;
}

/// Phase of loss recovery, with Linux's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaState {
    /// Nothing suspicious.
    Open,
    /// Duplicate ACKs arrive, fewer than the threshold.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// After a retransmission time-out.
    Loss,
}

/// Why the slow-start threshold is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Fast retransmit: enough duplicate ACKs or SACK evidence.
    FastRetransmit,
    /// The retransmission timer ran out.
    Timeout,
    /// A queue on the path has marked a segment instead of dropping it (RFC 3168 section 6.1.2). Nothing needs repair,
    /// so the stack's state does not change.
    Mark,
    /// A duplicate ACK found the oldest segment overdue by a fine-grained clock (Vegas).
    Overdue {
        /// Whether it had been retransmitted before.
        again: bool,
    },
}

/// Hints from other layers to a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// Wireless hops to the peer.
    HopCount(u32),
    /// Bit rate of the wireless interface.
    LinkRate(Rate),
    /// Bit rate of a wired interface, which says nothing about the radios behind it.
    WireRate(Rate),
    /// Round trip of the wired part of the path, measured by a gateway.
    WiredRtt(Dur),
    /// Capacity of the path as measured by the link layer.
    PathCapacity(Rate),
    /// Transmission time over the links of the path, whose rates may differ.
    PathTime(PathTime),
    /// Round trip echoed by the current acknowledgement; delivered before that acknowledgement, duplicate or not.
    RoundTrip(Dur),
    /// How long a segment took over the first `hops` hops, by synchronized clocks.
    ForwardDelay {
        /// The time.
        delay: Dur,
        /// Over how many hops.
        hops: u32,
    },
}

/// Measurements that an algorithm exposes; `None` if unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Measurements {
    /// The newest round trip used.
    pub rtt: Option<Dur>,
    /// The smoothed delay over n hops.
    pub delay: Option<Dur>,
    /// Variation of the samples as a share of their mean, in units of 1/[`tcp_ap::variation::ONE`].
    pub variation: Option<u32>,
}

/// A congestion control algorithm.
///
/// Call order: [`init`](Self::init) once. Then, as they occur: `on_ack` for each acknowledgement that is not a plain
/// duplicate; `ssthresh` on entry into `Recovery` or `Loss`, after `on_state` announced the new state; `undo` when the
/// stack finds a reduction spurious. Time never runs backwards between calls.
///
/// The stack reduces `cwnd` itself around recovery: it lowers `cwnd` to the window in use, calls `ssthresh`, then sets
/// `cwnd` to the answer (or to `loss_window` after a timeout). It calls `on_ack` in `Recovery` too, where only `rtt` is
/// meant to be used.
pub trait CongestionControl {
    /// Whether the algorithm sets window and rate itself, from a model of the path. The stack then never cuts the
    /// window, paces everything, and calls [`on_rate`](Self::on_rate), [`on_lost`](Self::on_lost),
    /// [`on_mark`](Self::on_mark) and [`on_restart`](Self::on_restart). Corresponds to Linux's form with
    /// `cong_control`.
    const OWNS_WINDOW: bool = false;

    /// Name as used in scenarios: at most 15 characters, as Linux allows.
    fn name(&self) -> &'static str;

    /// Called once the connection is established; `win` contains the initial window.
    fn init(&mut self, _win: &mut Window, _view: &View) {}

    /// Processes an acknowledgement: takes the sample and grows the window.
    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack);

    /// Returns the slow-start threshold after a loss: half the window (RFC 5681 equation 4), at least 2 segments.
    fn ssthresh(&mut self, win: &Window, _view: &View, _cause: Cause) -> u32 {
        (win.cwnd / 2).max(2)
    }

    /// Returns the window after a time-out, in segments (the loss window of RFC 5681 section 3.1).
    fn loss_window(&self) -> u32 {
        1
    }

    /// Called when recovery enters another phase.
    fn on_state(&mut self, _win: &mut Window, _view: &View, _state: CaState) {}

    /// Called with a hint from another layer.
    fn on_hint(&mut self, _win: &mut Window, _view: &View, _hint: Hint) {}

    /// Called with the delivery rate sample of an acknowledgement, after its losses and after `on_ack`; also in
    /// recovery. Only for algorithms with [`OWNS_WINDOW`](Self::OWNS_WINDOW).
    fn on_rate(&mut self, _win: &mut Window, _view: &View, _sample: &rate::RateSample) {}

    /// Called when a segment is marked as lost. Only for the same algorithms.
    fn on_lost(&mut self, _win: &mut Window, _view: &View, _lost: &rate::Lost) {}

    /// Called once per window if a queue has marked segments. Only for the same algorithms; others see [`Cause::Mark`].
    /// `mark` is the newest segment that had arrived.
    fn on_mark(&mut self, _win: &mut Window, _view: &View, _mark: &rate::Lost) {}

    /// Called before a transmission with nothing in flight after the application had run out of data. Only for the same
    /// algorithms.
    fn on_restart(&mut self, _win: &mut Window, _view: &View) {}

    /// Whether segments sent now count as application-limited, because the algorithm holds back on purpose.
    fn marks_app_limited(&self) -> bool {
        false
    }

    /// Returns its measurements, for time series and diagnosis.
    fn measurements(&self) -> Measurements {
        Measurements::default()
    }

    /// Returns the window to restore when a reduction proves spurious; `prior` is the window before it.
    fn undo(&mut self, win: &Window, prior: u32) -> u32 {
        win.cwnd.max(prior)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, cwnd_cnt: 0, ssthresh, cwnd_clamp: u32::MAX, pacing: None, burst: 1 }
    }

    pub(crate) fn view() -> View {
        View {
            now: Time::from_secs(1),
            in_flight: 10,
            window: 10,
            snd_wnd: 1_000,
            mss: 1_460,
            srtt: Some(Dur::from_millis(100)),
            min_rtt: Some(Dur::from_millis(100)),
            rto: Dur::from_secs(1),
            state: CaState::Open,
        }
    }

    pub(crate) fn ack(segments: u32) -> Ack {
        Ack {
            acked: segments,
            credit: segments,
            rtt: Some(Dur::from_millis(100)),
            cwnd_limited: true,
            total_acked: u64::from(segments),
            total_sent: u64::from(segments),
        }
    }

    /// With 0 to 4 segments in flight. Half a pair gets a companion; other bursts wait until all of them fits, and a
    /// short remainder needs less room.
    #[test]
    fn a_burst_waits_for_room_and_half_a_pair_does_not_stay_alone() {
        for (cwnd, burst, waiting, fits) in [
            (2, 2, u32::MAX, [true, true, false, false, false]),
            (3, 2, u32::MAX, [true, true, false, false, false]),
            (4, 2, u32::MAX, [true, true, true, true, false]),
            (4, 3, u32::MAX, [true, true, false, false, false]),
            (4, 3, 1, [true, true, true, true, false]),
            (2, 6, u32::MAX, [true, false, false, false, false]),
        ] {
            let win = Window { burst, ..window(cwnd, 2) };
            assert_eq!(
                [0, 1, 2, 3, 4].map(|out| win.has_room_for_burst(out, waiting)),
                fits,
                "{cwnd} {burst} {waiting}"
            );
        }
    }

    /// RFC 5681: the loss window is one segment; the threshold is half of the flight size, at least two segments
    /// (equation 4).
    #[test]
    fn a_loss_takes_the_window_down_as_rfc_5681_says() {
        let mut reno = reno::Reno;
        assert_eq!(reno.loss_window(), 1);
        for (cwnd, threshold) in [(10, 5), (5, 2), (3, 2), (1, 2)] {
            assert_eq!(reno.ssthresh(&window(cwnd, 64), &view(), Cause::Timeout), threshold);
        }
    }

    /// No growth in fast recovery (RFC 5681 section 3.2 leaves that to the stack), nor while something other than the
    /// window is the limit (RFC 7661 section 1).
    #[test]
    fn the_window_grows_only_where_it_limits_and_nothing_is_recovered() {
        for (state, cwnd_limited, grows) in [
            (CaState::Open, true, true),
            (CaState::Loss, true, true),
            (CaState::Open, false, false),
            (CaState::Recovery, true, false),
            (CaState::Recovery, false, false),
        ] {
            let mut win = window(4, 64);
            reno::Reno.on_ack(&mut win, &View { state, ..view() }, &Ack { cwnd_limited, ..ack(1) });
            assert_eq!(win.cwnd, if grows { 5 } else { 4 }, "{state:?} {cwnd_limited}");
        }
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_hands_back_the_rest() {
        let mut win = window(2, 4);
        assert_eq!(win.slow_start(3), 1);
        assert_eq!(win.cwnd, 4);
        assert_eq!(win.slow_start(2), 2);
        assert_eq!(win.cwnd, 4);
    }

    /// RFC 5681 equation 3 on a real-valued window: 2 -> 2.5 -> 2.9 -> 3.245, so three ACKs for the third segment.
    #[test]
    fn reciprocal_increase_follows_equation_3() {
        let mut win = window(2, 2);
        win.reciprocal_increase(2);
        assert_eq!(win.cwnd, 2);
        assert!((win.fixed() as f64 / 65536.0 - 2.9).abs() < 1e-3);
        win.reciprocal_increase(1);
        assert_eq!(win.cwnd, 3);
        assert!((win.fixed() as f64 / 65536.0 - 3.2448).abs() < 1e-3);
    }

    #[test]
    fn the_window_stays_between_one_segment_and_the_clamp() {
        let mut win = Window { cwnd_clamp: 8, ..window(8, 2) };
        win.reciprocal_increase(5);
        assert_eq!((win.cwnd, win.cwnd_cnt), (8, 0));
        win.set_fixed(0);
        assert_eq!((win.cwnd, win.cwnd_cnt), (1, 0));
        win.set_fixed(7 * u64::from(Window::ONE) / 2);
        assert_eq!((win.cwnd, win.cwnd_cnt), (3, Window::ONE / 2));
    }

    /// 988 bytes every 3.952 ms are 250,000 bytes per second, which Linux converts back to the same interval.
    #[test]
    fn an_interval_becomes_linuxs_pacing_rate() {
        let rate = |nanos, mss| Window { pacing: Some(Dur::from_nanos(nanos)), ..window(8, 8) }.max_pacing_rate(mss);
        assert_eq!(rate(3_952_000, 988), 250_000);
        assert_eq!(rate(20_250_000, 1_000), 49_382, "49,382.7 would be faster");
        assert_eq!(window(8, 8).max_pacing_rate(1_460), u32::MAX, "not paced");
        assert_eq!(rate(1, 1_460), u32::MAX - 1, "the fastest that is paced");
        assert_eq!(rate(3_000_000_000_000, 1_460), 1, "zero would not be paced");
        for nanos in (1_000..4_000_000_000).step_by(7_654_321) {
            let gap = 1_460 * 1_000_000_000 / u64::from(rate(nanos, 1_460));
            assert!(gap >= nanos && gap - nanos <= nanos / 300, "{nanos} ns come back as {gap} ns");
        }
    }
}
