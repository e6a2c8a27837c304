//! Errors of an emulation.

use fourhop_live::Error;
use fourhop_sim::scenario::ScenarioError;
use thiserror::Error as Explained;

/// Why an emulation cannot start or continue.
#[derive(Explained, Debug)]
pub enum EmulationError {
    /// The scenario is invalid, or has no network for this seed.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The scenario is valid, but unsuitable here.
    #[error("{0}")]
    Unsuited(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] Error),
    /// The system refused something reserved to the administrator.
    #[error(
        "{0}\nAn emulation creates network namespaces and devices: it needs root, or a system that lets users create \
            namespaces (kernel.unprivileged_userns_clone, user.max_user_namespaces) and a readable /dev/net/tun. Try: \
         sudo {1}"
    )]
    Forbidden(Error, String),
}
