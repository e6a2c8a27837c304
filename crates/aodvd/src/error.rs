//! Why the daemon cannot run.

use fourhop_settings::Invalid;
use thiserror::Error as Explained;

/// Why the daemon cannot run.
#[derive(Explained, Debug)]
pub enum Error {
    /// The file of its configuration cannot be read, or says what is not allowed.
    #[error(transparent)]
    Config(#[from] Invalid),
    /// This machine lacks something, or something is not as it has to be.
    #[error("{0}")]
    Refused(String),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] fourhop_live::Error),
}
