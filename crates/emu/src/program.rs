//! Programs inside a node, and selection among several emulations.

use crate::EmulationError;
use crate::state::{self, State};
use fourhop_live::{namespace, user};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Environment variable with the name of the selected emulation.
pub const MEANT: &str = "FOURHOP_EMULATION";
/// Environment variable that names the node, for programs in it.
pub const NODE: &str = "FOURHOP_NODE";

/// Finds the selected emulation: the one of that name, or the only one running.
///
/// # Errors
/// If there is none, or several.
pub fn choose(name: Option<&str>) -> Result<State, EmulationError> {
    let running: Vec<State> = state::all().into_iter().filter(State::is_alive).collect();
    let known = || running.iter().map(|state| state.id.as_str()).collect::<Vec<_>>().join(", ");
    let unsuited = |text: String| Err(EmulationError::Unsuited(text));
    match name {
        Some(name) => match running.iter().find(|state| state.id == name) {
            Some(state) => Ok(state.clone()),
            None if running.is_empty() => unsuited(format!("no emulation is called {name:?}: none is running")),
            None => unsuited(format!("no running emulation is called {name:?}; running: {}", known())),
        },
        None => match &running[..] {
            [] => unsuited("no emulation is running: start one with `fourhop emulate FILE`".to_owned()),
            [state] => Ok(state.clone()),
            _ => unsuited(format!("several emulations are running; choose one with --emulation: {}", known())),
        },
    }
}

/// Replaces this process by a program inside a node. Returns only if that fails.
///
/// # Errors
/// If there is no such node, or the program cannot be started.
pub fn become_program(state: &State, node: &str, words: &[String]) -> Result<(), EmulationError> {
    let Some(member) = state.find(node) else {
        let names: Vec<_> = state.members.iter().map(|member| member.name.as_str()).collect();
        let text = format!("{}: no node is called {node:?}; nodes: {}", state.scenario, shortened(&names));
        return Err(EmulationError::Unsuited(text));
    };
    if state.medium {
        let text = format!("{}: is a medium; its radios are in namespaces of yours. Try: ip netns exec", state.id);
        return Err(EmulationError::Unsuited(text));
    }
    let name = state.namespace(member);
    if !user::is_root() {
        user::enter(state.pid)?;
    }
    namespace::enter_with_files(&name).map_err(|error| forbidden(error, "fourhop exec"))?;
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let words = if words.is_empty() { std::slice::from_ref(&shell) } else { words };
    let error = Command::new(&words[0]).args(&words[1..]).env(MEANT, &state.id).env(NODE, &member.name).exec();
    Err(EmulationError::Unsuited(format!("{}: {error}", words[0])))
}

/// As many names as fit on a line.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    match names.split_at_checked(SHOWN) {
        Some((first, rest)) if !rest.is_empty() => format!("{}, ... {}", first.join(", "), rest[rest.len() - 1]),
        _ => names.join(", "),
    }
}

/// Turns an error into one with a hint if only the administrator may do something.
pub fn forbidden(error: fourhop_live::Error, command: &str) -> EmulationError {
    match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => EmulationError::Forbidden(error, command.to_owned()),
        _ => EmulationError::System(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_shortened() {
        let names: Vec<String> = (0..40).map(|n| format!("n{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(shortened(&names[..2]), "n0, n1");
        assert!(shortened(&names).ends_with("n11, ... n39"));
    }
}
