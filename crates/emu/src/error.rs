//! Why there is no emulation.

use fourhop_live::Error;
use fourhop_sim::scenario::ScenarioError;
use thiserror::Error as Explained;

/// Why an emulation cannot begin or go on.
#[derive(Explained, Debug)]
pub enum EmulationError {
    /// The scenario is not sound, or has no network for this seed.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario is sound, but not for this.
    #[error("{0}")]
    Unsuited(String),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] Error),
    /// The system refuses what only the administrator may do.
    #[error(
        "{0}\nAn emulation makes network namespaces and devices: it needs root, or a system that gives users \
            namespaces of \
         their own (kernel.unprivileged_userns_clone, user.max_user_namespaces) and a readable /dev/net/tun. Try: \
         sudo {1}"
    )]
    Forbidden(Error, String),
}
