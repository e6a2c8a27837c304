//! The request for a trace: its folder, and the part of a run to record.

use super::recorder::{Filter, PART};
use super::tables::Form;
use crate::scenario::{NetworkFlow, Problem, Scenario, ScenarioError, did_you_mean};
use crate::setup::Setup;
use fourhop_units::{Dur, NodeId, Time};
use std::path::PathBuf;

/// A requested trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Folder of the trace.
    pub folder: PathBuf,
    /// Start of the recording.
    pub from: Time,
    /// End of the recording.
    pub to: Time,
    /// Nodes to record, by number or name; `None`: all.
    pub nodes: Option<Vec<String>>,
    /// Flows to record, by number or name; `None`: all, and packets that belong to none.
    pub flows: Option<Vec<String>>,
    /// How much of the end to keep; `None`: everything.
    pub last: Option<Dur>,
}

impl Request {
    /// Requests everything, in this folder.
    pub fn all(folder: PathBuf) -> Request {
        Request { folder, from: Time::ZERO, to: Time::NEVER, nodes: None, flows: None, last: None }
    }

    /// Returns the layout of the folder.
    pub fn form(&self) -> Form {
        self.last.map_or(Form::Whole, |last| Form::Parts((last.as_nanos().div_ceil(PART.as_nanos()) as usize).max(1)))
    }

    /// Resolves names to numbers.
    ///
    /// # Errors
    /// If there is no node or flow with that name or number, or the end is not after the start.
    pub fn filter(&self, scenario: &Scenario, setup: &Setup, flows: &[NetworkFlow]) -> Result<Filter, ScenarioError> {
        let radios = (0..setup.positions.len() as u32).map(NodeId);
        let hosts = setup.wired.iter().flat_map(|plan| (0..plan.hosts).map(NodeId::wired));
        let name = |node: NodeId| match node.wired_number() {
            None => scenario.station_name(node),
            Some(_) => scenario.node_name(node),
        };
        if self.to <= self.from {
            let found = format!("an end at {} s", self.to.as_secs_f64());
            return Err(problem("to", found, format!("an end after the start at {} s", self.from.as_secs_f64()), None));
        }
        Ok(Filter {
            from: self.from,
            to: self.to,
            nodes: chosen("nodes", self.nodes.as_deref(), &radios.chain(hosts).map(name).collect::<Vec<_>>())?,
            flows: chosen(
                "flows",
                self.flows.as_deref(),
                &flows.iter().map(|flow| flow.name.clone()).collect::<Vec<_>>(),
            )?,
        })
    }
}

fn chosen(what: &str, words: Option<&[String]>, names: &[String]) -> Result<Option<Vec<u32>>, ScenarioError> {
    let number = |word: &String| {
        let named = names.iter().position(|name| name == word);
        let number = word.parse().ok().filter(|&number: &usize| number < names.len());
        named.or(number).map(|place| place as u32).ok_or_else(|| {
            let allowed = match names.len() {
                0 => format!("nothing: there are no {what}"),
                count => format!("a name or a number from 0 to {}", count - 1),
            };
            problem(what, format!("{word:?}"), allowed, did_you_mean(word, names.iter().map(String::as_str)))
        })
    };
    words.map(|words| words.iter().map(number).collect()).transpose()
}

fn problem(what: &str, found: String, allowed: String, hint: Option<String>) -> ScenarioError {
    let key = String::new();
    let file = format!("--trace-{what}");
    ScenarioError { problems: vec![Problem { file, line: None, column: None, key, found, allowed, hint }] }
}
