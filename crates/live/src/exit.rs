//! The end of a program.

use crate::screen;
use std::fmt::Display;
use std::process::ExitCode;

/// Ends this program when its reader stops reading (`| head -1`), as other programs do; Rust's runtime would turn this
/// into an error. Not for services: a client that disconnects must not end anything.
#[cfg(target_os = "linux")]
pub fn with_its_reader() {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: the signal gets its default action; no handler runs.
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) };
}

/// Exits with the program's own code, or with 2 after writing each line of the error to standard error.
pub fn code(done: Result<ExitCode, impl Display>) -> ExitCode {
    done.unwrap_or_else(|error| {
        error.to_string().lines().for_each(|line| screen::note(format_args!("error: {line}")));
        ExitCode::from(2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_ends_a_program_with_two_and_anything_else_with_its_own_code() {
        let shown = |code: ExitCode| format!("{code:?}");
        assert_eq!(shown(code(Ok::<_, &str>(ExitCode::from(7)))), shown(ExitCode::from(7)));
        assert_eq!(shown(code(Err("one\ntwo"))), shown(ExitCode::from(2)));
    }
}
