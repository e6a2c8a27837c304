//! Paced UDP in place of one flow's own traffic: finds out what the path of the flow carries at a given rate, whatever
//! its traffic in the scenario. The papers determine the upper bound for TCP in this way.

use crate::scenario::{App, FlowTransport, NetworkFlow, Problem, ScenarioError};
use crate::setup::{Setup, Traffic};
use fourhop_proto::app::cbr;
use fourhop_units::{Bytes, Rate};

/// Makes one flow send datagrams at a constant rate; the others do not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacedUdp {
    /// Number of the flow, in the order of the scenario. Its ends, start and stop do not change.
    pub flow: usize,
    /// Rate of payload.
    pub rate: Rate,
    /// Payload of a datagram.
    pub payload: Bytes,
}

impl PacedUdp {
    /// Replaces the flow in a network that has not been built yet.
    ///
    /// # Errors
    /// If the network has no such flow.
    pub(crate) fn replace(&self, setup: &mut Setup, flows: &mut [NetworkFlow]) -> Result<(), ScenarioError> {
        let count = flows.len();
        let (Some(flow), Some(named)) = (setup.flows.get_mut(self.flow), flows.get_mut(self.flow)) else {
            let problem = Problem {
                file: "<scenario>".into(),
                line: None,
                column: None,
                key: "flows".into(),
                found: format!("no flow {}", self.flow),
                allowed: format!("a number below {count}, the number of flows"),
                hint: None,
            };
            return Err(ScenarioError { problems: vec![problem] });
        };
        let (start, stop) = (named.traffic.start, named.traffic.stop);
        flow.traffic = Traffic::Udp(cbr::Config { start, stop, rate: self.rate, payload: self.payload });
        named.traffic.transport = FlowTransport::Udp;
        named.traffic.app = App::Cbr { rate: self.rate, payload: self.payload };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Control;
    use crate::scenario::load_toml;
    use crate::{RunError, RunOptions, run};

    /// Returns the goodput of flow 0 with paced UDP in its place, and its transport and application in results.
    fn measured(topology: &str, paced: PacedUdp) -> Result<(f64, String, String), RunError> {
        let text = format!("profile = \"ns2\"\nduration = \"40s\"\nwarmup = \"5s\"\n{topology}");
        let scenario = load_toml(&text, "x.toml", &[])?;
        let options = RunOptions { paced_udp: Some(paced), ..RunOptions::default() };
        let result = run(&scenario, 1, &options, &Control::new())?;
        let flow = &result.flows[0];
        Ok((flow.goodput_bps, flow.transport.to_string(), flow.app.to_string()))
    }

    const HOP: &str =
        "[topology]\nkind = \"chain\"\nhops = 1\nspacing = \"200m\"\n[traffic]\ntransport = \"newreno\"\n";

    /// A saturated exchange of 1460 B over UDP takes 7.59 ms on average (DCF at 2 Mbit/s with RTS): 1539 kbit/s.
    #[test]
    fn one_hop_carries_what_dcf_allows() {
        let paced = |rate| PacedUdp { flow: 0, rate, payload: Bytes(1_460) };
        let (goodput, transport, app) = measured(HOP, paced(Rate::kbps(4_000))).expect("a network");
        assert!((goodput / 1.539e6 - 1.0).abs() < 0.01, "{goodput}");
        assert_eq!((transport.as_str(), app.as_str()), ("udp", "cbr"));
        let (goodput, ..) = measured(HOP, paced(Rate::kbps(400))).expect("a network");
        assert!((goodput / 4e5 - 1.0).abs() < 0.01, "{goodput}");
    }

    #[test]
    fn either_end_may_be_a_wired_host() {
        for (from, to) in [("0", "\"B\""), ("\"B\"", "0")] {
            let network = format!(
                "[topology]\nkind = \"chain\"\nhops = 2\nspacing = \"200m\"\n[wired]\ngateways = [\"last\"]\n\
                 nodes = [\"B\"]\n[[flows]]\nfrom = {from}\nto = {to}\ntransport = \"newreno\"\n"
            );
            let paced = PacedUdp { flow: 0, rate: Rate::kbps(200), payload: Bytes(1_000) };
            let (goodput, ..) = measured(&network, paced).expect("a network");
            assert!((goodput / 2e5 - 1.0).abs() < 0.01, "{from} to {to}: {goodput}");
        }
    }

    #[test]
    fn a_flow_that_is_not_there_is_named() {
        let paced = PacedUdp { flow: 1, rate: Rate::kbps(200), payload: Bytes(1_000) };
        let error = measured(HOP, paced).expect_err("one flow only").to_string();
        assert!(error.contains("found no flow 1, allowed: a number below 1"), "{error}");
    }
}
