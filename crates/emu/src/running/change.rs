//! Changes that others ask for while it runs.

use super::Running;
use crate::change::Request;
use fourhop_units::NodeId;
use std::io::Write;

impl Running {
    /// Does what clients ask for, and answers.
    pub(super) fn change(&mut self) {
        while let Some((mut stream, request)) = self.emulation.changes.next() {
            let answer = match request.and_then(|request| self.changed(&request)) {
                Ok(done) => done,
                Err(why) => format!("refused: {why}"),
            };
            // A client that has gone does not want to know.
            let _ = writeln!(stream, "{answer}");
        }
    }

    fn changed(&mut self, request: &Request) -> Result<String, String> {
        let (node, change) = request.resolve(|name| self.with_radio(name))?;
        let emulation = &mut self.emulation;
        if emulation.setup.movement.is_some() {
            return Err("found nodes that move, allowed: a scenario without [mobility]".to_owned());
        }
        let air = emulation.setup.change(node, &change, emulation.seed).map_err(|too_wide| too_wide.found())?;
        emulation.world.change_air(air);
        let done = format!("{} was changed at {:.3} s", request.node, self.now().as_nanos() as f64 / 1e9);
        // Readers of the report must know that the scenario is not complete.
        self.warnings.push(done.clone());
        Ok(done)
    }

    fn with_radio(&self, name: &str) -> Result<NodeId, String> {
        let found = self.emulation.state().find(name).map(|member| member.node);
        found
            .filter(|node| node.wired_number().is_none())
            .ok_or_else(|| format!("found {name:?}, allowed: nodes with radios"))
    }
}
