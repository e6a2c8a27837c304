//! Changes requested by clients during the run.

use super::Running;
use crate::emulation::Emulation;

impl Running {
    /// Handles and answers requests from clients.
    pub(super) fn change(&mut self) {
        let Emulation { changes, nodes, setup, world, seed, .. } = &mut self.emulation;
        let now = world.now();
        changes.serve(|request| {
            world.change_air(request.apply(&nodes.state().members, setup, *seed)?);
            let done = request.done(now);
            // Readers of the report must know that the scenario does not describe the whole run.
            self.warnings.push(done.clone());
            Ok(done)
        });
    }
}
