//! Changes that others ask for while it runs.

use super::Running;
use crate::emulation::Emulation;

impl Running {
    /// Does what clients ask for, and answers.
    pub(super) fn change(&mut self) {
        let Emulation { changes, nodes, setup, world, seed, .. } = &mut self.emulation;
        let now = world.now();
        changes.serve(|request| {
            world.change_air(request.apply(&nodes.state().members, setup, *seed)?);
            let done = request.done(now);
            // Readers of the report must know that the scenario is not complete.
            self.warnings.push(done.clone());
            Ok(done)
        });
    }
}
