//! Errors of the system, with the attempted operation.

use std::io;
use thiserror::Error;

/// The system refused something.
#[derive(Error, Debug)]
#[error("{what}: {source}")]
pub struct Error {
    /// The operation that failed, with the name of its object.
    pub what: String,
    /// The system's message.
    pub source: io::Error,
}

/// Adds the attempted operation to an error of the system.
pub trait Tried<T> {
    /// `what` precedes the system's message.
    ///
    /// # Errors
    /// The original one.
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error { what: what(), source: source.into() })
    }
}
