//! Congestion control and the window it governs: every write to the window goes through here.

use crate::tcp::config::WindowCut;
use fourhop_cc::rate::{Lost, RateSample};
use fourhop_cc::{
    Ack, CaState, Cause, CongestionControl, Controller, Hint, Measurements, Params, Transport, View, Window,
};
use fourhop_units::Dur;

/// The algorithm of a transport and its window.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Control {
    transport: &'static Transport,
    cc: Controller,
    win: Window,
}

impl Control {
    pub(super) fn new(transport: &'static Transport, params: &Params, win: Window) -> Control {
        Control { transport, cc: transport.controller(params), win }
    }

    pub(in crate::tcp) fn window(&self) -> &Window {
        &self.win
    }

    /// For recovery, which takes back the inflation by duplicate ACKs.
    pub(in crate::tcp) fn window_mut(&mut self) -> &mut Window {
        &mut self.win
    }

    pub(super) fn transport(&self) -> &'static Transport {
        self.transport
    }

    /// See [`Transport::owns_window`].
    pub(super) fn owns_window(&self) -> bool {
        self.transport.owns_window()
    }

    pub(in crate::tcp) fn measurements(&self) -> Measurements {
        self.cc.measurements()
    }

    pub(super) fn marks_app_limited(&self) -> bool {
        self.cc.marks_app_limited()
    }

    /// RFC 5681 section 3.1: a lost SYN means an initial window of one segment.
    pub(super) fn begin_with_one(&mut self) {
        self.win.set_cwnd(1);
    }

    /// Starts the algorithm on an established connection.
    pub(super) fn begin(&mut self, view: &View) {
        self.cc.init(&mut self.win, view);
    }

    pub(super) fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.cc.on_ack(&mut self.win, view, ack);
    }

    pub(super) fn on_state(&mut self, view: &View, state: CaState) {
        self.cc.on_state(&mut self.win, view, state);
    }

    pub(super) fn on_hint(&mut self, view: &View, hint: Hint) {
        self.cc.on_hint(&mut self.win, view, hint);
    }

    pub(super) fn on_rate(&mut self, view: &View, sample: &RateSample) {
        self.cc.on_rate(&mut self.win, view, sample);
    }

    pub(super) fn on_lost(&mut self, view: &View, lost: &Lost) {
        self.cc.on_lost(&mut self.win, view, lost);
    }

    pub(super) fn on_mark(&mut self, view: &View, mark: &Lost) {
        self.cc.on_mark(&mut self.win, view, mark);
    }

    pub(super) fn on_restart(&mut self, view: &View) {
        self.cc.on_restart(&mut self.win, view);
    }

    /// Sets the interval of the stack's own pacing, where the algorithm does not pace.
    pub(super) fn pace(&mut self, interval: Dur) {
        self.win.pacing = Some(interval);
    }

    /// Inflates the window by a segment that has left the network, in Vegas's recovery.
    pub(super) fn widen(&mut self) {
        self.win.cwnd = self.win.cwnd.saturating_add(1).min(self.win.cwnd_clamp);
    }

    /// Restarts slow start from the loss window; the threshold stays.
    pub(super) fn restart(&mut self) {
        self.win.set_cwnd(self.cc.loss_window());
    }

    /// Sets the threshold to the limit of an ad hoc receiver, in segments.
    pub(super) fn set_threshold(&mut self, segments: u32) {
        self.win.ssthresh = segments;
    }

    /// First step of a reduction: limits the window to the part in use, in units of 1/[`Window::ONE`] segment.
    pub(super) fn limit_to(&mut self, used: u64) {
        self.win.set_fixed(used);
    }

    /// Second step of a reduction: from the window `used` to the threshold that the algorithm returns, or that a
    /// receiver has `announced`. Under [`WindowCut::WindowInUse`] halving keeps half segments.
    pub(super) fn reduce(&mut self, view: &View, cause: Cause, announced: Option<u32>, (cut, used): (WindowCut, u64)) {
        let ssthresh = announced.unwrap_or_else(|| self.cc.ssthresh(&self.win, view, cause)).max(2);
        let halved = announced.is_none() && ssthresh == (self.win.cwnd / 2).max(2);
        self.win.ssthresh = ssthresh;
        match cause {
            Cause::Timeout => self.restart(),
            Cause::FastRetransmit if halved && cut == WindowCut::WindowInUse => self.win.set_fixed(used / 2),
            // A loss never widens the window, whatever a receiver would accept.
            _ if announced.is_some() => self.win.set_cwnd(ssthresh.min(self.win.cwnd)),
            Cause::FastRetransmit | Cause::Overdue { .. } | Cause::Mark => self.win.set_cwnd(ssthresh),
        }
    }

    /// The same for a segment that the fine clock found overdue: `inflation` segments have left the network, and the
    /// threshold stays. Returns the window without them.
    pub(super) fn reduce_for_overdue(&mut self, view: &View, again: bool, inflation: u32) -> u32 {
        let deflated = self.cc.ssthresh(&self.win, view, Cause::Overdue { again });
        self.win.set_fixed(u64::from(deflated + inflation) * u64::from(Window::ONE));
        deflated
    }

    /// Undoes a needless reduction: restores the previous window and threshold.
    pub(super) fn undo(&mut self, cwnd: u32, ssthresh: u32) {
        self.win.ssthresh = ssthresh;
        let cwnd = self.cc.undo(&self.win, cwnd);
        self.win.set_cwnd(cwnd);
    }
}
