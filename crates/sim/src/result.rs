//! The result of a run, written to JSON as numbers whose names end in their units.

use crate::columns::result;
use fourhop_units::{Dur, Time};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Counts by layer and name.
pub type Named = BTreeMap<Cow<'static, str>, BTreeMap<&'static str, u64>>;

result! {
    /// The results of one run.
    RunResult {
        /// Seed of the run.
        seed: u64;
        /// Simulated time.
        simulated_s: f64;
        /// Cause of the run's end: `duration`, or `packets` once that many were delivered.
        ended_by: &'static str;
        /// Wall-clock time of the run; the only column that differs between runs with the same seed.
        wall_s: f64;
        /// Number of events handled: timers of nodes, starts and ends of copies of frames, arrivals of packets over
        /// wires.
        events: u64;
        /// Number of frames transmitted.
        frames: u64;
        /// Number of copies of frames that ended at a receiver.
        receptions: u64;
        /// The flows, in the order of the scenario.
        flows: Vec<FlowResult>;
        /// Sum of the goodputs.
        aggregate_goodput_bps: f64;
        /// Jain's index of the goodputs: 1 if all are equal, 1/n if one flow has everything. None if there are fewer
        /// than two flows, or if nothing arrived.
        jain: Option<f64>;
        /// Losses over the whole run, by layer and reason; reasons that did not occur are left out.
        drops: Named;
        /// Counters of the layers over the whole run. With a channel plan, also each radio (`radio 3@44`:
        /// that of node 3 on channel 44), and where queues count it, the air time of each radio link (`airtime 3-4`,
        /// `airtime 3-all`).
        counters: Named;
        /// Balance of each layer at the end.
        conservation: BTreeMap<&'static str, Balance>;
        /// Packets that the MAC gave up, by the radio link they were for, `from-to`, and by kind; links that lost none
        /// are left out.
        link_drops: ByLink;
        /// Counters of each direction of a wired link, named `from-to`; nodes without radios by their names.
        wires: ByLink;
    }
}

/// Counts by link and name.
pub type ByLink = BTreeMap<String, BTreeMap<&'static str, u64>>;

/// `in` = `out` + `dropped` + `held`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct Balance {
    /// Packets that the layer received from other layers or produced itself.
    #[serde(rename = "in")]
    pub taken: u64,
    /// Forwarded packets.
    #[serde(rename = "out")]
    pub passed: u64,
    /// Lost packets.
    pub dropped: u64,
    /// Packets still queued.
    pub held: u64,
}

result! {
    /// The results of one flow. Rates are means over the measured part of the run: from the end of the warm-up, or the
    /// start of the flow if that is later, to the end of the run, or the stop of the flow if that is earlier. A run
    /// that is cut by packets is measured, for all flows alike, from the end of its first part to its end.
    FlowResult {
        /// Name of the flow.
        name: String as "flow";
        /// Sending node. Nodes without radios are numbered after those of the topology.
        src: u32;
        /// Receiving node.
        dst: u32;
        /// Radio hops of a shortest path, to the nearest gateway if one end has no radio.
        hops: Option<u32>;
        /// Transport protocol, by its name in scenarios.
        transport: &'static str;
        /// Application.
        app: &'static str;
        /// Payload delivered to the receiving application, each byte once; for ping, payload of answered requests.
        goodput_bps: f64;
        /// Payload that arrived at the receiving transport, including repeated bytes.
        throughput_bps: f64;
        /// Payload bytes behind `goodput_bps`.
        delivered_bytes: u64;
        /// Time of the measured part during which data was in transit: for files, without the pauses; otherwise, all of
        /// it.
        active_s: f64;
        /// Payload delivered over `active_s`.
        averaged_goodput_bps: f64;
        /// Mean of size over time for all files completed during the whole run: the papers' averaged goodput.
        file_goodput_bps: Option<f64>;
        /// Number of files completed during the whole run; none for other applications.
        files: Option<u64>;
        /// Goodput in each of the equal parts of the measured interval: its bytes over its time. If a run was to end by
        /// packets but ended by `duration`, only the complete parts are included; there may be none.
        batch_goodput_bps: Vec<f64>;
        /// Number of segments, datagrams or requests sent during the whole run, including repeated ones.
        sent: u64 as "sent_packets";
        /// Number of retransmitted segments among them.
        retransmitted: u64 as "retransmitted_packets";
        /// Number of retransmission timeouts.
        timeouts: u64;
        /// Number of losses detected by duplicate acknowledgements.
        fast_retransmits: u64;
        /// Mean of the round-trip samples, if any.
        rtt_mean_s: Option<f64>;
        /// Minimum round trip of ping, if there was a reply.
        rtt_min_s: Option<f64>;
        /// Median round trip of ping; for an even number of replies, the mean of the middle two.
        rtt_median_s: Option<f64>;
        /// Maximum round trip of ping.
        rtt_max_s: Option<f64>;
        /// Standard deviation of ping's round trips (over n - 1), if there were at least two replies.
        rtt_std_s: Option<f64>;
        /// Mean age of the bytes delivered in the measured part, if `tcp.delivery_ages` is true: the time since each
        /// byte became the next to be sent.
        age_mean_s: Option<f64>;
        /// Age at delivery that half of those bytes did not exceed.
        age_median_s: Option<f64>;
        /// Age at delivery that 95 % of those bytes did not exceed.
        age_p95_s: Option<f64>;
        /// Age at delivery that 99 % of those bytes did not exceed.
        age_p99_s: Option<f64>;
        /// Number of changes of the neighbour through which packets of the flow left its source.
        route_changes: u64;
        /// Number of the source's searches for the receiver that a route reply ended (AODV).
        route_discoveries: u64;
        /// Duration of the first of these searches, from the first request to the reply.
        discovery_first_s: Option<f64>;
        /// Mean duration of these searches.
        discovery_mean_s: Option<f64>;
        /// Maximum duration of these searches.
        discovery_max_s: Option<f64>;
    }
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984): (sum x)^2 / (n sum x^2).
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Spread of a ping's round trips.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct RoundTrips {
    pub min: Option<f64>,
    pub median: Option<f64>,
    pub max: Option<f64>,
    pub std: Option<f64>,
}

impl RoundTrips {
    pub fn new(samples: &[Dur]) -> RoundTrips {
        let mut sorted: Vec<f64> = samples.iter().map(|dur| dur.as_secs_f64()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len();
        let mean = sorted.iter().sum::<f64>() / n as f64;
        let squares: f64 = sorted.iter().map(|rtt| (rtt - mean) * (rtt - mean)).sum();
        RoundTrips {
            min: sorted.first().copied(),
            median: (n > 0).then(|| (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0),
            max: sorted.last().copied(),
            std: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
        }
    }
}

/// Bits per second; 0 if the interval is empty.
pub(crate) fn rate_bps(bytes: u64, from: Time, to: Time) -> f64 {
    let seconds = to.saturating_since(from).as_secs_f64();
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_lies_between_one_over_n_and_one() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[5.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn round_trips_have_a_middle() {
        let of = |millis: &[u64]| RoundTrips::new(&millis.iter().map(|&ms| Dur::from_millis(ms)).collect::<Vec<_>>());
        assert_eq!(of(&[]), RoundTrips::default());
        assert_eq!((of(&[7]).median, of(&[7]).std), (Some(0.007), None));
        let spread = of(&[4, 1, 3, 2]);
        assert_eq!((spread.min, spread.median, spread.max), (Some(0.001), Some(0.0025), Some(0.004)));
        assert!((spread.std.expect("four replies") - 0.001_290_994).abs() < 1e-9);
    }

    #[test]
    fn rates_need_time() {
        assert_eq!(rate_bps(1000, Time::from_secs(1), Time::from_secs(3)), 4000.0);
        assert_eq!(rate_bps(1000, Time::from_secs(3), Time::from_secs(3)), 0.0);
    }
}
