//! The best rate of paced UDP on a path: the upper bound that the papers compare TCP with.
//!
//! Goodput over the offered rate rises along the diagonal up to what the path carries and falls beyond, where frames
//! collide. A golden-section search (Kiefer 1953) finds the top of such a curve; a rate that loses more than the bound
//! counts as worse than any that does not, and the worse the more it loses, which keeps the curve single-peaked. Every
//! rate is measured with the same seeds, so that the search is a function of the scenario and its own options.
//!
//! Left out: noise. Two rates that differ by less than the spread over seeds may come out in either order; more seeds
//! or longer runs narrow that.

use crate::batch::Control;
use crate::scenario::{Scenario, ScenarioError};
use crate::setup::Traffic;
use crate::translate;
use fourhop_proto::app::cbr;
use fourhop_units::{Bytes, Dur, Rate, Time};
use thiserror::Error;

/// What is searched for, and how carefully.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    /// Number of the flow, in the order of the scenario, that becomes paced UDP. The others stay what they are.
    pub flow: usize,
    /// Payload of a datagram.
    pub payload: Bytes,
    /// Least rate of payload.
    pub from: Rate,
    /// Largest rate of payload.
    pub to: Rate,
    /// Largest share of the offered bytes that may be lost, 0 to 1; 1 searches for the largest goodput whatever is lost.
    pub loss_bound: f64,
    /// Rates to try, at least 2. Each narrows the interval to 0.618 of what it was; 12 end at 1 % of the first.
    pub trials: u32,
    /// Seeds that each rate is measured with.
    pub seeds: Vec<u64>,
}

/// A rate and what came of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// Offered rate of payload.
    pub offered: Rate,
    /// Payload that arrived per second of the measured interval, mean over the seeds, in bit/s.
    pub goodput_bps: f64,
    /// Share of the offered bytes that did not arrive in the measured interval.
    pub loss: f64,
}

/// Why a search has no result.
#[derive(Error, Debug)]
pub enum SearchError {
    /// The scenario has no network for one of the seeds.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario has fewer flows.
    #[error("there is no flow {flow}: the scenario has {flows}")]
    NoSuchFlow {
        /// The flow asked for.
        flow: usize,
        /// Flows there are.
        flows: usize,
    },
    /// It was asked to end early.
    #[error("stopped before its end")]
    Stopped,
}

/// The best rate on the path of a flow, and every trial in the order made. `None` if each lost more than the bound.
///
/// # Errors
/// If the scenario has no network for one of the seeds or no such flow, or `control` stops the search.
pub fn best_rate(
    scenario: &Scenario,
    search: &Search,
    control: &Control,
) -> Result<(Option<Trial>, Vec<Trial>), SearchError> {
    let mut trials = Vec::new();
    let measure = |offered| -> Result<Trial, SearchError> {
        let trial = measure(scenario, search, offered, control)?;
        trials.push(trial);
        Ok(trial)
    };
    let best = maximise(search.from, search.to, search.loss_bound, search.trials, measure)?;
    Ok((best, trials))
}

/// One rate with all seeds.
fn measure(scenario: &Scenario, search: &Search, offered: Rate, control: &Control) -> Result<Trial, SearchError> {
    let (mut bits, mut seconds) = (0.0, 0.0);
    let end = Time::ZERO + scenario.duration;
    for &seed in &search.seeds {
        let (mut setup, flows) = translate::setup(scenario, seed)?;
        let (Some(flow), Some(network_flow)) = (setup.flows.get_mut(search.flow), flows.get(search.flow)) else {
            return Err(SearchError::NoSuchFlow { flow: search.flow, flows: flows.len() });
        };
        let (start, stop) = (network_flow.traffic.start, network_flow.traffic.stop);
        flow.traffic = Traffic::Udp(cbr::Config { start, stop, rate: offered, payload: search.payload });
        let from = (Time::ZERO + scenario.warmup).max(start).min(end);
        let to = stop.unwrap_or(end).clamp(from, end);
        let (mut world, ends) = setup.build(seed, None);
        let (node, endpoint) = ends[search.flow].receiver;
        let mut received = [0; 2];
        for (at, bytes) in [from, to].into_iter().zip(&mut received) {
            if !world.run_until(at, control) {
                return Err(SearchError::Stopped);
            }
            *bytes = world.nodes()[node.index()].endpoints()[endpoint].received.get();
        }
        bits += 8.0 * (received[1] - received[0]) as f64;
        seconds += to.saturating_since(from).max(Dur::from_nanos(1)).as_secs_f64();
    }
    let goodput_bps = bits / seconds.max(f64::MIN_POSITIVE);
    Ok(Trial { offered, goodput_bps, loss: (1.0 - goodput_bps / offered.bps() as f64).max(0.0) })
}

/// Golden-section search for the largest goodput between two rates, over whole bits per second.
fn maximise<E>(
    from: Rate,
    to: Rate,
    loss_bound: f64,
    trials: u32,
    mut measure: impl FnMut(Rate) -> Result<Trial, E>,
) -> Result<Option<Trial>, E> {
    /// (sqrt 5 - 1) / 2.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let value = |trial: &Trial| if trial.loss <= loss_bound { trial.goodput_bps } else { -trial.loss };
    let rate = |bps: f64| Rate::from_bps(bps.round().max(1.0) as u64).unwrap_or(from);
    let (mut low, mut high) = (from.bps() as f64, to.bps() as f64);
    let mut left = measure(rate(high - GOLDEN * (high - low)))?;
    let mut right = measure(rate(low + GOLDEN * (high - low)))?;
    let mut best = if value(&right) > value(&left) { right } else { left };
    for _ in 2..trials {
        let fresh = if value(&left) < value(&right) {
            low = left.offered.bps() as f64;
            left = right;
            right = measure(rate(low + GOLDEN * (high - low)))?;
            right
        } else {
            high = right.offered.bps() as f64;
            right = left;
            left = measure(rate(high - GOLDEN * (high - low)))?;
            left
        };
        if value(&fresh) > value(&best) {
            best = fresh;
        }
    }
    Ok(Some(best).filter(|best| best.loss <= loss_bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load_toml;

    /// A path that carries `capacity` and loses twice the excess.
    fn path(capacity: f64) -> impl FnMut(Rate) -> Result<Trial, ()> {
        move |offered| {
            let bps = offered.bps() as f64;
            let goodput_bps = bps.min((capacity - (bps - capacity)).max(0.0));
            Ok(Trial { offered, goodput_bps, loss: 1.0 - goodput_bps / bps })
        }
    }

    #[test]
    fn the_peak_is_found_wherever_it_is() {
        let (from, to) = (Rate::kbps(10), Rate::kbps(2_000));
        for capacity in [30_000.0, 400_000.0, 1_900_000.0] {
            for bound in [0.01, 1.0] {
                let best = maximise(from, to, bound, 24, path(capacity)).expect("no error").expect("a rate");
                assert!((best.offered.bps() as f64 / capacity - 1.0).abs() < 0.01, "{capacity} {bound}: {best:?}");
                assert!(best.loss <= bound);
            }
        }
        assert_eq!(maximise(from, to, 0.1, 8, path(1_000.0)), Ok(None));
    }

    fn chain(hops: u32) -> Scenario {
        let text = format!(
            "name = \"x\"\nprofile = \"ns2\"\nduration = \"40s\"\nwarmup = \"5s\"\n[topology]\nkind = \"chain\"\nhops = {hops}\n\
             spacing = \"200m\"\n[traffic]\ntransport = \"newreno\"\n"
        );
        load_toml(&text, "x.toml", &[]).expect("a good scenario")
    }

    /// One hop: a saturated exchange of 1460 B over UDP lasts 7.59 ms on average (DCF at 2 Mbit/s with RTS), which is
    /// 1539 kbit/s; and the same search twice gives the same rate.
    #[test]
    fn one_hop_carries_what_dcf_allows() {
        let search = Search {
            flow: 0,
            payload: Bytes(1_460),
            from: Rate::kbps(200),
            to: Rate::kbps(4_000),
            loss_bound: 1.0,
            trials: 8,
            seeds: vec![1],
        };
        let (best, trials) = best_rate(&chain(1), &search, &Control::new()).expect("a network");
        let best = best.expect("any loss is allowed");
        assert!((best.goodput_bps / 1.539e6 - 1.0).abs() < 0.01, "{best:?}");
        assert_eq!(trials.len(), 8);
        assert_eq!(best_rate(&chain(1), &search, &Control::new()).expect("a network").1, trials);
        let lost = Search { loss_bound: 0.02, trials: 12, ..search };
        let careful = best_rate(&chain(4), &lost, &Control::new()).expect("a network").0.expect("a rate");
        assert!(careful.loss <= 0.02 && careful.goodput_bps < best.goodput_bps / 3.0, "{careful:?}");
        assert!(matches!(
            best_rate(&chain(1), &Search { flow: 1, ..lost }, &Control::new()),
            Err(SearchError::NoSuchFlow { flow: 1, flows: 1 })
        ));
    }
}
