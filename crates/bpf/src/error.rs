//! Errors of loading and reading.

use thiserror::Error as Explained;

/// Why something cannot be done.
#[derive(Explained, Debug)]
pub enum Error {
    /// A parameter file cannot be read, or is invalid.
    #[error(transparent)]
    Config(#[from] fourhop_settings::Invalid),
    /// This kernel, or this user, cannot do it.
    #[error("{0}")]
    Refused(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] fourhop_live::Error),
    /// The kernel refused a program or a table.
    #[error("{what}: {source}")]
    Bpf {
        /// The attempted operation.
        what: String,
        /// The kernel's message.
        source: libbpf_rs::Error,
    },
}

/// Adds the attempted operation to an error of the kernel.
pub trait Tried<T> {
    /// `what` precedes the kernel's message.
    ///
    /// # Errors
    /// The original one.
    fn tried(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T> Tried<T> for Result<T, libbpf_rs::Error> {
    fn tried(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|source| Error::Bpf { what: what.into(), source })
    }
}
