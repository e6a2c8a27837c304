//! Why something cannot be done.

use thiserror::Error as Explained;

/// Why something cannot be done.
#[derive(Explained, Debug)]
pub enum Error {
    /// A file of parameters cannot be read, or says what is not allowed.
    #[error(transparent)]
    Config(#[from] fourhop_settings::Invalid),
    /// This kernel, or this user, cannot do it.
    #[error("{0}")]
    Refused(String),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] fourhop_live::Error),
    /// The kernel refuses a program or a table.
    #[error("{what}: {source}")]
    Bpf {
        /// The attempt.
        what: String,
        /// The kernel's message.
        source: libbpf_rs::Error,
    },
}

/// Says what was tried where the kernel refused it.
pub trait Tried<T> {
    /// `what` is put before what the kernel says.
    ///
    /// # Errors
    /// As before.
    fn tried(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T> Tried<T> for Result<T, libbpf_rs::Error> {
    fn tried(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|source| Error::Bpf { what: what.into(), source })
    }
}
