//! The record of a running medium: its name, its nodes, and the socket that accepts changes.

use crate::EmulationError;
use crate::change::Changes;
use crate::emulation::check_id;
use crate::members::Member;
use crate::state::State;
use fourhop_live::screen::note;

/// The record of a medium; dropping it removes the record.
#[derive(Debug)]
pub struct Control {
    state: State,
    /// The socket for changes.
    pub changes: Changes,
}

impl Control {
    /// Writes the record. A name is generated if none is given.
    ///
    /// # Errors
    /// If the name is taken, or the record cannot be written.
    pub fn start(id: Option<&str>, scenario: &str, members: &[Member]) -> Result<Control, EmulationError> {
        let id = id.map_or_else(|| format!("medium{}", std::process::id()), str::to_owned);
        check_id(&id, members)?;
        let state = State { medium: true, ..State::new(&id, scenario, members) };
        state.write()?;
        match Changes::start(&id) {
            Ok(changes) => Ok(Control { state, changes }),
            Err(error) => {
                state.remove()?;
                Err(error.into())
            }
        }
    }

    /// The nodes of the scenario.
    pub fn members(&self) -> &[Member] {
        &self.state.members
    }

    /// The name.
    pub fn id(&self) -> &str {
        &self.state.id
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Err(error) = self.state.remove() {
            note(format_args!("warning: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Request, ask};
    use crate::state;
    use fourhop_units::NodeId;

    #[test]
    fn a_medium_is_found_by_its_name_and_changed_until_it_ends() {
        let node = NodeId(0);
        let (name, label) = ("n0".to_owned(), "n0".to_owned());
        let members = [Member { name, label, also: Vec::new(), address: node.ipv4(), node }];
        let id = format!("test{}", std::process::id());
        let control = Control::start(Some(&id), "x.toml", &members).unwrap();
        assert!(Control::start(Some(&id), "x.toml", &members).is_err(), "the name is taken");
        let find = || state::all().into_iter().find(|state| state.id == id);
        assert!(find().is_some_and(|state| state.medium && state.is_alive() && state.members.len() == 1));
        let asked = std::thread::spawn({
            let id = id.clone();
            move || ["n0", "n1"].map(|node| ask(&id, &Request { node: node.to_owned(), ..Request::default() }))
        });
        let mut answered = 0;
        while answered < 2 {
            control.changes.serve(|request| {
                answered += 1;
                if request.node == "n0" { Ok("done".to_owned()) } else { Err("found \"n1\"".to_owned()) }
            });
        }
        let [first, second] = asked.join().unwrap().map(|answer| answer.map_err(|error| error.to_string()));
        assert_eq!((first, second), (Ok("done".to_owned()), Err("change: found \"n1\"".to_owned())));
        drop(control);
        assert!(find().is_none() && !state::changes(&id).exists());
    }
}
