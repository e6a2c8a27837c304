//! How a program ends.

use std::fmt::Display;
use std::process::ExitCode;

/// Ends a program: with its own code, or with 2 after each line of the error on standard error.
pub fn code(done: Result<ExitCode, impl Display>) -> ExitCode {
    done.unwrap_or_else(|error| {
        error.to_string().lines().for_each(|line| eprintln!("error: {line}"));
        ExitCode::from(2)
    })
}
