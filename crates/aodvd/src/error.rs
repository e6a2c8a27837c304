//! Errors of the daemon.

use fourhop_settings::Invalid;
use thiserror::Error as Explained;

/// Why the daemon cannot run.
#[derive(Explained, Debug)]
pub enum Error {
    /// The configuration file cannot be read, or is invalid.
    #[error(transparent)]
    Config(#[from] Invalid),
    /// This machine lacks something, or something is not as required.
    #[error("{0}")]
    Refused(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] fourhop_live::Error),
}
