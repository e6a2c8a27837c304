//! Costs of links for static routes: ETX, ETT and airtime by their definitions, from the share of frames that a radio
//! receives when nobody else sends.
//!
//! Source: see [`Metric`]. ETX is defined by the share of data frames that arrive and of acknowledgements that return;
//! probes only estimate that. Here both are computed with the error rates of the radio at the mean received power,
//! before fading, for a data frame with [`Metric::PACKET`] bytes and an ACK, each at its rate. With the `threshold`
//! radio every frame within range arrives: ETX is the number of hops. With `routing.metric_over_fades` the share is the
//! mean over all fades at this mean power: the value that probes find in changing fading.
//!
//! If rate control chooses the data rate, each link has the rate with the shortest transmission time. That is our
//! choice: a converged rate control is close to it, and its trials are left out.

use crate::setup::Radio;
use fourhop_proto::phy::TxRate;
use fourhop_proto::route::Metric;
use fourhop_proto::{mac, mac::CTS_OR_ACK, phy};
use fourhop_units::{Bytes, Watt};

/// Least share of frames that must arrive in each direction of a link: one of ten probes, the window of ETX.
pub(crate) const LEAST: f64 = 0.1;

/// The radio and the MAC that determine the costs.
#[derive(Clone, Debug)]
pub(crate) struct LinkCost<'a> {
    metric: Metric,
    radio: &'a Radio,
    thresholds: &'a phy::Config,
    mac: &'a mac::Config,
    /// Possible rates of data.
    txs: Vec<TxRate>,
}

impl<'a> LinkCost<'a> {
    pub fn new(metric: Metric, radio: &'a Radio, thresholds: &'a phy::Config, mac: &'a mac::Config) -> LinkCost<'a> {
        LinkCost { metric, radio, thresholds, mac, txs: mac.data_txs().collect() }
    }

    fn frame(&self) -> Bytes {
        self.mac.data_len(Metric::PACKET)
    }

    /// Returns the power below which no link has a cost.
    pub fn least(&self) -> Watt {
        match self.radio {
            Radio::Threshold(_) => self.thresholds.rx_threshold,
            Radio::Sinr(radio) if radio.metric_over_fades => {
                radio.power_for(LEAST, self.frame(), self.mac.lowest_data_tx())
            }
            Radio::Sinr(radio) => {
                let needed = radio.receiver.power_for(LEAST, self.frame(), self.mac.lowest_data_tx());
                Watt(needed.0.max(radio.receiver.sensitivity.0))
            }
        }
    }

    fn arrives(&self, power: Watt, len: Bytes, rate: TxRate) -> f64 {
        match self.radio {
            Radio::Threshold(_) if power >= self.thresholds.rx_threshold => 1.0,
            Radio::Threshold(_) => 0.0,
            Radio::Sinr(radio) if radio.metric_over_fades => radio.arriving(power, len, rate),
            Radio::Sinr(radio) => radio.receiver.success(power, len, rate),
        }
    }

    /// Returns the cost of a link on which data is received with the power `there` and the answers with `back`; `None`
    /// if too few of either arrive.
    pub fn of(&self, there: Watt, back: Watt) -> Option<u32> {
        // Many data rates have the same answer rate.
        let mut answered: Option<(TxRate, f64)> = None;
        let mut at = |sent: TxRate| {
            let forward = self.arrives(there, self.frame(), sent);
            let answer = TxRate::from(self.mac.answer_to(sent.reference_rate()));
            let reverse = answered
                .filter(|&(rate, _)| rate == answer)
                .map_or_else(|| self.arrives(back, CTS_OR_ACK, answer), |(_, reverse)| reverse);
            answered = Some((answer, reverse));
            // For airtime the standard counts only the loss of the test frame.
            let both = if matches!(self.metric, Metric::Airtime(_)) { forward } else { forward * reverse };
            // Transmissions, at most a hundred, in thousandths.
            (forward >= LEAST && reverse >= LEAST).then_some((1e3 / both).round() as u32)
        };
        let by_time = if self.metric == Metric::Etx { Metric::Ett } else { self.metric };
        let mut best: Option<(u32, u32)> = None;
        // The highest rate usually wins; a rate that costs more even without losses is skipped. Of equal costs the
        // first in `txs` is taken.
        for &sent in self.txs.iter().rev() {
            let rate = sent.rate();
            if best.is_some_and(|(least, _)| by_time.cost(1_000, rate) > least) {
                continue;
            }
            let Some(transmissions) = at(sent) else { continue };
            let cost = by_time.cost(transmissions, rate);
            if best.is_none_or(|(least, _)| cost <= least) {
                best = Some((cost, self.metric.cost(transmissions, rate)));
            }
        }
        best.map(|(_, cost)| cost)
    }
}
