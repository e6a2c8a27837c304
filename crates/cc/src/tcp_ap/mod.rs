//! TCP with Adaptive Pacing: within TCP's window, segments leave one n-hop delay apart, stretched by the variation of
//! recent round trips.
//!
//! Source: ElRakabawy, Klemm, Lindemann, "TCP with Adaptive Pacing for Multihop Wireless Networks", MobiHoc 2005,
//! sections 4.2 to 4.4 and Figure 8; rates that differ from link to link: the same authors' gateway paper (Computer
//! Networks 52, 2008, section 4.2). Window and recovery are those of NewReno, or of SACK where the registry says so;
//! this file only sets [`Window::pacing`]. The stack decides when a segment leaves (`fourhop_proto::tcp::Release`).
//!
//! Two sets of parameters: [`Params::paper`] follows the text, [`Params::authors_code`] the ns-2 agent that the authors
//! published; each difference is a field. [`delay`] and [`variation`] contain the two halves of the arithmetic, and
//! [`Pace`] combines them: for a sender here, for a gateway in `fourhop_proto::gateway`.
//!
//! Behind a gateway that reports the wired part of the round trip ([`Hint::WiredRtt`]; the gateway paper, section 4.2),
//! that part is first subtracted from each round trip, and only the hops to the gateway count.
//!
//! Arithmetic is in whole nanoseconds. The interval differs from the exact real-valued result by at most 10 ppm plus
//! (10 ns / (1 - alpha)), as long as mean round trips are at least 100 us; `tests` compares with `f64`.
//!
//! Deviations: samples above [`MAX_SAMPLE`] count as [`MAX_SAMPLE`]. The first sample is the first average. With fewer
//! than N samples the variation is computed from those available; with one it is zero.

pub mod delay;
mod pace;
pub(crate) mod params;
pub mod variation;

pub use pace::Pace;
pub use params::{DelaySource, Params, Samples, ShortPath};

#[cfg(test)]
mod tests;

use crate::reno::Reno;
use crate::{Ack, CongestionControl, Hint, MAX_SAMPLE, Measurements, View, Window};
use fourhop_units::Dur;

/// TCP-AP's state. Only the ring of samples grows, with N; in a kernel it is a map next to the socket.
#[derive(Clone, Debug)]
pub struct TcpAp {
    params: Params,
    name: &'static str,
    pace: Pace,
    /// The wired part of a round trip, as last reported by a gateway.
    wired: Dur,
}

impl TcpAp {
    /// On NewReno recovery.
    pub fn new(params: &crate::Params) -> TcpAp {
        TcpAp::named("tcp-ap", params.tcp_ap)
    }

    /// On SACK recovery.
    pub fn on_sack(params: &crate::Params) -> TcpAp {
        TcpAp::named("tcp-ap-sack", params.tcp_ap)
    }

    fn named(name: &'static str, params: Params) -> TcpAp {
        TcpAp { params, name, pace: Pace::new(&params), wired: Dur::ZERO }
    }

    /// Updates the interval from a round trip. One no longer than the wired part alone says nothing.
    fn sample(&mut self, win: &mut Window, view: &View, rtt: Dur) {
        if rtt > self.wired {
            win.pacing = self.pace.sample(&self.params, view.mss, rtt - self.wired).or(win.pacing);
        }
    }
}

impl CongestionControl for TcpAp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn init(&mut self, win: &mut Window, _view: &View) {
        win.pacing = win.pacing.or(self.params.first_interval);
    }

    fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
        if let (Samples::Unambiguous, Some(rtt)) = (self.params.samples, ack.rtt) {
            self.sample(win, view, rtt);
        }
        Reno.on_ack(win, view, ack);
    }

    fn on_hint(&mut self, win: &mut Window, view: &View, hint: Hint) {
        match hint {
            Hint::RoundTrip(rtt) if self.params.samples == Samples::EveryAck => self.sample(win, view, rtt),
            Hint::WiredRtt(wired) => self.wired = wired,
            hint => self.pace.take_hint(hint),
        }
    }

    fn measurements(&self) -> Measurements {
        self.pace.measurements()
    }
}
