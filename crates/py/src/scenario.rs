//! Reads, checks and writes scenarios.

use crate::error::raise;
use crate::interrupt::interruptible;
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::{self, Form, Overrides, QUANTITIES, Scenario, ScenarioError};
use fourhop_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// Reads a scenario and returns it as JSON with all keys explicit. Problems with `overrides` name `given_by` as their
/// source.
#[pyfunction]
#[pyo3(signature = (text, file="<text>", overrides=Vec::new(), format="toml", given_by="--set"))]
pub fn check(
    py: Python<'_>,
    text: &str,
    file: &str,
    overrides: Vec<String>,
    format: &str,
    given_by: &str,
) -> PyResult<String> {
    let form = match format {
        "toml" => Form::Toml,
        "json" => Form::Json,
        other => return Err(PyValueError::new_err(format!("format: found {other:?}, allowed: \"toml\", \"json\""))),
    };
    let (text, file, given_by) = (text.to_owned(), file.to_owned(), given_by.to_owned());
    with(py, move |control| {
        let overrides = Overrides { file: &given_by, texts: &overrides };
        Ok(scenario::load(form, &text, &file, overrides, control)?.to_json())
    })
}

/// Reads a node-and-flow list of the comparisons with ns-2 and returns it as JSON with all keys explicit.
#[pyfunction]
#[pyo3(signature = (text, file="<text>", transport=None, duration=None, overrides=Vec::new()))]
pub fn ns2(
    py: Python<'_>,
    text: &str,
    file: &str,
    transport: Option<&str>,
    duration: Option<&str>,
    overrides: Vec<String>,
) -> PyResult<String> {
    let (text, file) = (text.to_owned(), file.to_owned());
    let (transport, duration) = (transport.map(str::to_owned), duration.map(str::to_owned));
    with(py, move |control| {
        let form = Form::Ns2 { transport: transport.as_deref(), duration: duration.as_deref() };
        Ok(scenario::load(form, &text, &file, Overrides::set(&overrides), control)?.to_json())
    })
}

/// Runs `work` on a scenario; problems become an exception, and Ctrl-C interrupts it.
fn with<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Control) -> Result<T, ScenarioError> + Send + 'static,
) -> PyResult<T> {
    interruptible(py, work)?.map_err(|error| raise(py, &error))
}

/// Runs `work` on a scenario in JSON.
fn with_json<T: Send + 'static>(
    py: Python<'_>,
    json: &str,
    work: impl FnOnce(Scenario, &Control) -> Result<T, ScenarioError> + Send + 'static,
) -> PyResult<T> {
    let json = json.to_owned();
    with(py, move |control| work(scenario::load(Form::Json, &json, "<scenario>", Overrides::NONE, control)?, control))
}

/// Converts a scenario in JSON to TOML with all keys explicit.
#[pyfunction]
pub fn to_toml(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    with_json(py, scenario_json, |scenario, _| Ok(scenario.to_toml()))
}

/// Returns the positions of a scenario's (JSON) nodes in metres at each of `times_s`, in ascending order, in the run
/// with `seed`.
#[pyfunction]
pub fn places(py: Python<'_>, scenario_json: &str, seed: u64, times_s: Vec<f64>) -> PyResult<Vec<Vec<(f64, f64)>>> {
    let instants = times_s
        .iter()
        .map(|&s| Duration::try_from_secs_f64(s).map(|since| Time::from_nanos(since.as_nanos() as u64)))
        .collect::<Result<Vec<_>, _>>()
        .ok()
        .filter(|instants| instants.is_sorted())
        .ok_or_else(|| {
            PyValueError::new_err("times_s: found times below 0 or out of order, allowed: ascending times from 0 on")
        })?;
    with_json(py, scenario_json, move |scenario, control| scenario.places(seed, &instants, control))
}

/// Returns the keys of a scenario (JSON) that `key` stands for: itself, several, or none.
#[pyfunction]
pub fn keys_meant(py: Python<'_>, scenario_json: &str, key: &str) -> PyResult<Vec<String>> {
    scenario::keys_meant(scenario_json, key).map_err(|error| raise(py, &error))
}

/// Refuses a scenario (JSON) if the run with `seed` would refuse it before its first event.
#[pyfunction]
pub fn can_run(py: Python<'_>, scenario_json: &str, seed: u64) -> PyResult<()> {
    with_json(py, scenario_json, move |scenario, control| fourhop_sim::can_run(&scenario, seed, control))
}

/// Returns one line for each flow without a path of links in the run with `seed`.
#[pyfunction]
pub fn flows_without_path(py: Python<'_>, scenario_json: &str, seed: u64) -> PyResult<Vec<String>> {
    with_json(py, scenario_json, move |scenario, control| {
        Ok(scenario.flows_without_path(seed, control)?.iter().map(ToString::to_string).collect())
    })
}

/// Returns the network of a scenario (JSON) at the start of the run with `seed`, as JSON: positions, gateways, links
/// with their margins, flows.
#[pyfunction]
pub fn survey(py: Python<'_>, scenario_json: &str, seed: u64) -> PyResult<String> {
    let network = with_json(py, scenario_json, move |scenario, control| fourhop_sim::survey(&scenario, seed, control))?;
    Ok(serde_json::to_string(&network).expect("INVARIANT: a survey is JSON"))
}

/// Parses a quantity. Returns its kind ("a time"), number and unit as written, and its value in the base unit of its
/// kind (ns, bit/s, m, B, W, dB, Hz, m/s, per cent, or none).
#[pyfunction]
pub fn quantity(text: &str) -> PyResult<(&'static str, &str, &'static str, f64)> {
    let found = QUANTITIES.into_iter().find_map(|kind| Some((kind, kind.parse(text).ok()?)));
    let (kind, value) = found.ok_or_else(|| PyValueError::new_err(format!("{text:?} is not a number with a unit")))?;
    let text = text.trim();
    // Of "ms" and "s", the longer one: no number ends in a letter.
    let units = kind.units().iter().filter_map(|&(unit, _)| Some((unit, text.strip_suffix(unit)?.trim_end())));
    let (unit, number) = units.max_by_key(|(unit, _)| unit.len()).expect("INVARIANT: it ends in a unit of its kind");
    Ok((kind.noun(), number, unit, value))
}

/// Returns the JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> String {
    scenario::schema()
}

/// Returns the page that documents every key of a scenario, in Markdown.
#[pyfunction]
pub fn reference() -> String {
    scenario::reference_markdown()
}

/// Returns the names that a scenario can use, as JSON: a list of `[kind, [[name, a line about it], ...]]` in the order
/// of display.
#[pyfunction]
pub fn catalog() -> String {
    let catalog = scenario::catalog();
    let kinds = catalog.kinds().map(|(kind, entries)| {
        let names: Vec<_> = entries.iter().map(|entry| [entry.name, entry.summary]).collect();
        serde_json::json!([kind, names])
    });
    serde_json::Value::from(kinds.to_vec()).to_string()
}
