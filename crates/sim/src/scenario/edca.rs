//! Checks of `[edca]`, and of features that are incompatible with access categories. Part of the scenario builder.

use super::Scenario;
use super::build::Builder;
use super::resolve::Resolved;
use super::sections::{C3tcp, Edca, Link, Phy, complete_edca};

impl Builder {
    /// Resolves `[edca]`, whose defaults depend on the physical layer.
    pub(super) fn edca(&mut self, phy: Phy) -> Option<Edca> {
        let (resolved, edca) = self.completed::<Edca>(None, |values, _| complete_edca(values, phy))?;
        for (key, least, largest) in edca.contradictions() {
            let allowed = format!("at most `{}`, {largest}", key.replace("min", "max"));
            self.problems.push(resolved.problem(key, least.to_string(), allowed));
        }
        Some(edca)
    }

    /// Refuses features that need a single queue or single packets.
    pub(super) fn check_edca(
        &mut self,
        scenario: &Scenario,
        (given, link): &(Resolved, Link),
        (c3tcp_given, c3tcp): (&Resolved, &C3tcp),
    ) {
        if !scenario.mac.edca {
            return;
        }
        for (key, on) in [("red", link.red), ("nred", link.nred)] {
            if on {
                let allowed = "false with `mac.edca`: it works on one queue, but there are four";
                self.problems.push(given.problem(key, "true", allowed));
            }
        }
        if let Some(name) = scenario.metered() {
            let allowed =
                "another transport with `mac.edca`: this one measures the time in one queue, but there are four";
            self.problems.push(self.root.at.problem("transport", format!("{name:?}"), allowed));
        }
        if !scenario.without_mcs().is_empty() {
            let allowed = "no such station with `mac.edca`: stations of 802.11a and g have no access categories";
            self.problems.push(self.root.at.problem("nodes.phy", "an older `phy`", allowed));
        }
        if c3tcp.enabled {
            let allowed = "false with `mac.edca`: its options follow a MAC header without QoS Control";
            self.problems.push(c3tcp_given.problem("enabled", "true", allowed));
        }
    }
}
