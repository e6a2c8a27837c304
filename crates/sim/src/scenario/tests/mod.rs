//! Tests of scenarios: refusals and their messages, defaults, and the round trip of writing and reading.

mod bad_input;
mod c3tcp;
mod documents;
mod files;
mod limits;
mod mobility;
mod paths;
mod radios;
mod resolved;
mod site;
mod tables;
mod wired;

use super::*;

/// A valid scenario; tests change one line of it.
pub const CHAIN: &str = r#"profile = "ns2"
duration = "100s"

[topology]
kind = "chain"
hops = 4

[[flows]]
from = "first"
to = "last"
transport = "newreno"
"#;

pub fn load(text: &str) -> Result<Scenario, ScenarioError> {
    load_toml(text, "chain.toml", &[])
}

pub fn with(overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    load_toml(CHAIN, "chain.toml", &overrides.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
}
