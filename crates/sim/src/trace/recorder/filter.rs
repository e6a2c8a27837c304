//! The parts of a run to record.

use fourhop_units::Time;

/// The parts of a run to record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    /// Start of the recording.
    pub from: Time,
    /// End of the recording.
    pub to: Time,
    /// Nodes, by their numbers in the scenario; `None`: all.
    pub nodes: Option<Vec<u32>>,
    /// Flows, by index; `None`: all, and packets that belong to none.
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
