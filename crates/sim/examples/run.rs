//! One run from the command line with its result as one line of JSON, for benches and profilers.
//!
//! ```text
//! run SCENARIO(.toml|.txt) [--seed N] [--duration 100s] [--transport newreno] [--set key=value]... [--trace DIR]
//! ```
//!
//! `--transport` is that of the `flow` lines of a `.txt` file; in TOML every flow names its own.

use fourhop_sim::batch::Control;
use fourhop_sim::scenario::{Scenario, load_ns2, load_toml};
use fourhop_sim::trace::Request;
use fourhop_sim::{RunOptions, run};
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

#[derive(Default)]
struct Arguments {
    file: Option<String>,
    seed: Option<u64>,
    duration: Option<String>,
    transport: Option<String>,
    overrides: Vec<String>,
    trace: Option<String>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, Box<dyn Error>> {
        let mut arguments = Arguments::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--seed" => arguments.seed = Some(value()?.parse().map_err(|e| format!("--seed: {e}"))?),
                "--duration" => arguments.duration = Some(value()?),
                "--transport" => arguments.transport = Some(value()?),
                "--trace" => arguments.trace = Some(value()?),
                "--set" => arguments.overrides.push(value()?),
                _ if word.starts_with('-') => return Err(format!("unknown option {word}").into()),
                _ => arguments.file = Some(word),
            }
        }
        Ok(arguments)
    }

    fn load(mut self) -> Result<Scenario, Box<dyn Error>> {
        let file = self.file.ok_or("which scenario?")?;
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
        if file.ends_with(".toml") {
            if self.transport.is_some() {
                return Err("--transport is for .txt scenarios".into());
            }
            self.overrides.extend(self.duration.map(|duration| format!("duration={duration}")));
            return Ok(load_toml(&text, &file, &self.overrides)?);
        }
        Ok(load_ns2(&text, &file, self.transport.as_deref(), self.duration.as_deref(), &self.overrides)?)
    }
}

fn execute(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let seed = arguments.seed;
    let trace = arguments.trace.clone().map(|folder| Request::all(folder.into()));
    let scenario = arguments.load()?;
    let result =
        run(&scenario, seed.unwrap_or(scenario.seed), &RunOptions { trace, ..RunOptions::default() }, &Control::new())?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&result)?)?;
    Ok(())
}

fn main() -> ExitCode {
    let done = Arguments::parse(std::env::args().skip(1)).and_then(execute);
    if let Err(error) = done {
        error.to_string().lines().for_each(|line| eprintln!("error: {line}"));
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}
