//! Refusals of the system, and the attempted operation.

use std::io;
use thiserror::Error;

/// The system refused something.
#[derive(Error, Debug)]
#[error("{what}: {source}")]
pub struct Error {
    /// The failed action, with the name of its object.
    pub what: String,
    /// The system's message.
    pub source: io::Error,
}

/// Says what was tried where the system refused it.
pub trait Tried<T> {
    /// `what` is put before what the system says.
    ///
    /// # Errors
    /// As before.
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error { what: what(), source: source.into() })
    }
}
