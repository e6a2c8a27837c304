//! Errors of the gateway.

use thiserror::Error as Explained;

/// Why something cannot be done.
#[derive(Explained, Debug)]
pub enum Error {
    /// A file cannot be read, or is invalid.
    #[error(transparent)]
    Config(#[from] fourhop_settings::Invalid),
    /// This system, or this user, cannot do it.
    #[error("{0}")]
    Refused(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] fourhop_live::Error),
}
