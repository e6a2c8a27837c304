//! TCP with Adaptive Pacing: within TCP's window, segments leave one n-hop delay apart, stretched by the variation of
//! recent round trips.
//!
//! Source: ElRakabawy, Klemm, Lindemann, "TCP with Adaptive Pacing for Multihop Wireless Networks", MobiHoc 2005,
//! sections 4.2 to 4.4 and Figure 8; rates that differ from link to link: the same authors' gateway paper (Computer
//! Networks 52, 2008, section 4.2). Window and recovery are those of NewReno, or of SACK where the registry says so;
//! this file only sets [`Window::pacing`]. The stack decides when a segment leaves (`fourhop_proto::tcp::Release`).
//!
//! Two sets of parameters: [`Params::paper`] follows the text, [`Params::authors_code`] the ns-2 agent that the authors
//! published; each difference is a field. [`delay`] and [`variation`] hold the two halves of the arithmetic, and
//! [`Pace`] combines them: for a sender here, for a gateway in `fourhop_proto::gateway`.
//!
//! Behind a gateway that reports the wired part of the round trip ([`Hint::WiredRtt`]; the gateway paper, section 4.2),
//! that part is first subtracted from each round trip, and hops are those to the gateway.
//!
//! Arithmetic is in whole nanoseconds. The interval differs from the exact real-valued result by at most 10 ppm plus
//! (10 ns / (1 - alpha)), as long as mean round trips are at least 100 us; `tests` compares with `f64`.
//!
//! Deviations: samples above [`MAX_SAMPLE`] count as [`MAX_SAMPLE`]. The first sample is the first average. With fewer
//! than N samples the variation is computed from the samples there are; with one it is zero.

pub mod delay;
mod pace;
pub mod variation;

pub use pace::Pace;

#[cfg(test)]
mod tests;

use crate::reno::Reno;
use crate::{Ack, CongestionControl, Hint, MAX_SAMPLE, Measurements, View, Window};
use fourhop_units::{Dur, Rate};
use variation::Spread;

/// Distance on paths shorter than the hop factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShortPath {
    /// The delay over all their hops (the paper, section 4.3).
    AllHops,
    /// The delay over one hop (the authors' code).
    OneHop,
}

/// Acknowledgements that give a round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// Each, duplicate ones too: the sender is told when what it echoes had left ([`Hint::RoundTrip`]). ns-2's TCP carries
    /// timestamps in every packet without counting their bytes.
    EveryAck,
    /// Those that acknowledge something new and nothing sent twice ([`Ack::rtt`], Karn).
    Unambiguous,
}

/// Where the n-hop delay comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelaySource {
    /// Estimated from the round trip.
    RoundTrip,
    /// Measured by clocks that agree ([`Hint::ForwardDelay`]), the paper's section 5.1.1.
    Clocks,
}

/// Parameters, with the names of the paper where it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Params {
    /// Weight of the old average of the n-hop delay, in thousandths. Both: 700.
    pub alpha: u32,
    /// N: how many samples the variation is taken over, 1 to [`variation::MAX_HISTORY`]. Both: 50.
    pub history: u32,
    /// n: hops that must lie between two senders, at least 1. Both: 4.
    pub factor: u32,
    /// Measure of variation.
    pub spread: Spread,
    /// What paths shorter than `factor` wait for.
    pub short_path: ShortPath,
    /// Bytes of headers that count on top of the payload of a segment. Paper: those of TCP and IP, 40. Code: 112.
    pub data_overhead: u32,
    /// Bytes that count for an acknowledgement. Paper: 40. Code: 112.
    pub ack_bytes: u32,
    /// Rate of every link, regardless of the interface and the path. Code: 2 Mbit/s.
    pub link_rate: Option<Rate>,
    /// A queueing delay per hop above this is replaced by its average. Code: 0.5 s.
    pub queue_limit: Option<Dur>,
    /// Weight of the old average of the queueing delay, in thousandths. Code: 500.
    pub queue_alpha: u32,
    /// An n-hop delay of this and more is no sample. Code: 0.5 s.
    pub delay_limit: Option<Dur>,
    /// Between segments before the first sample; `None`: not paced. Code: 50 ms.
    pub first_interval: Option<Dur>,
    /// Acknowledgements that give a round trip.
    pub samples: Samples,
    /// Where the n-hop delay comes from.
    pub delay_source: DelaySource,
}

impl Params {
    /// What the paper says; before the first sample, where it says nothing, segments are not paced.
    pub const fn paper() -> Params {
        Params {
            alpha: 700,
            history: 50,
            factor: 4,
            spread: Spread::DeviationOfRoundTrips,
            short_path: ShortPath::AllHops,
            data_overhead: 40,
            ack_bytes: 40,
            link_rate: None,
            queue_limit: None,
            queue_alpha: 500,
            delay_limit: None,
            first_interval: None,
            samples: Samples::Unambiguous,
            delay_source: DelaySource::RoundTrip,
        }
    }

    /// What the authors' ns-2 agent of September 2005 does.
    pub const fn authors_code() -> Params {
        Params {
            spread: Spread::AbsoluteDeviationOfDelays,
            short_path: ShortPath::OneHop,
            data_overhead: 112,
            ack_bytes: 112,
            link_rate: Rate::from_bps(2_000_000),
            queue_limit: Some(Dur::from_millis(500)),
            delay_limit: Some(Dur::from_millis(500)),
            first_interval: Some(Dur::from_millis(50)),
            ..Params::paper()
        }
    }
}

/// TCP-AP's state. The ring of samples is the only part that grows, with N; in a kernel it is a map next to the socket.
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

    /// A round trip makes another interval. One that the wired part alone would fill says nothing.
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
