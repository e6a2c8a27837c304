//! Recorded parts of a run.

use fourhop_units::Time;

/// Recorded parts of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    /// From when on.
    pub from: Time,
    /// Until when.
    pub to: Time,
    /// At which nodes, by their numbers in the scenario; `None`: all.
    pub nodes: Option<Vec<u32>>,
    /// Of which flows, by their places; `None`: all, and what belongs to none.
    pub flows: Option<Vec<u32>>,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { from: Time::ZERO, to: Time::NEVER, nodes: None, flows: None }
    }
}

impl Filter {
    pub(super) fn takes_time(&self, start: Time, end: Time) -> bool {
        start < self.to && end >= self.from
    }

    pub(super) fn takes_node(&self, node: u32) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }

    pub(super) fn takes_flow(&self, flow: Option<u32>) -> bool {
        self.flows.as_ref().is_none_or(|flows| flow.is_some_and(|flow| flows.contains(&flow)))
    }
}
