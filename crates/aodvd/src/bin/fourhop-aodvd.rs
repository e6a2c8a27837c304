//! `fourhop-aodvd`: the routing daemon, and the commands that show its state.
#![cfg_attr(target_os = "linux", deny(clippy::print_stderr, clippy::print_stdout))]

#[cfg(target_os = "linux")]
mod program {
    use clap::{Args, CommandFactory, Parser, Subcommand};
    use fourhop_aodvd::authentication::Keys;
    use fourhop_aodvd::config::{Config, System};
    use fourhop_aodvd::report::Report;
    use fourhop_aodvd::signal::Signals;
    use fourhop_aodvd::{Error, daemon, kernel};
    use fourhop_live::clock::Clock;
    use fourhop_live::poll::{Poller, Ready};
    use fourhop_live::{control, manual, privileges, screen};
    use fourhop_units::Dur;
    use nix::net::if_::if_nametoindex;
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;

    /// Route a wireless ad hoc network with AODV (RFC 3561), optionally by signal strength.
    #[derive(Parser)]
    #[command(name = "fourhop-aodvd", version)]
    struct Line {
        #[command(subcommand)]
        action: Action,
    }

    #[derive(Subcommand)]
    enum Action {
        /// Route until SIGTERM or SIGINT stops the daemon, which then restores the system.
        Run(FileLine),
        /// Check the configuration and this machine, and list the settings that `run` would change.
        Check(FileLine),
        /// Show the valid routes of the running daemon.
        Routes(ShowLine),
        /// Show the nodes that the running daemon has heard.
        Neighbours(ShowLine),
        /// Show routes and neighbours, and update them.
        Top(ShowLine),
        /// Remove the routes and rules that a killed daemon left behind, and restore variables; refused while a daemon
        /// is running.
        Clean(FileLine),
        /// Write the manual page.
        #[command(hide = true)]
        Manual,
    }

    #[derive(Args)]
    struct FileLine {
        /// Configuration in TOML.
        #[arg(long, value_name = "FILE", default_value = "/etc/fourhop/aodvd.toml")]
        config: PathBuf,
    }

    #[derive(Args)]
    struct ShowLine {
        /// Socket of the daemon.
        #[arg(long, value_name = "PATH")]
        control: Option<PathBuf>,
        /// Print the whole state as JSON.
        #[arg(long)]
        json: bool,
    }

    /// Interval between two updates.
    const TICK: Dur = Dur::from_secs(1);

    const FILES: &str = "\
/etc/fourhop/aodvd.toml: the configuration. The minimum is

  address = \"10.0.0.1\"
  interfaces = [\"wlan0\"]
  mesh = [\"10.0.0.0/9\"]

docs/aodvd.md in the source tree lists all keys.

/var/lib/fourhop-aodvd/state.json: numbers that must continue after a restart (RFC 3561 section 6.13), and \
system settings that the next start restores if the daemon was killed.

/run/fourhop-aodvd/control: socket of the running daemon, which sends its state as JSON to each client.";

    fn ask(line: &ShowLine) -> Result<(String, Report), Error> {
        let path = line.control.clone().unwrap_or_else(|| System::default().control);
        Ok(control::read(&path)?)
    }

    fn show(line: &ShowLine, table: impl Fn(&Report) -> String) -> Result<(), Error> {
        let (text, report) = ask(line)?;
        report.problems.iter().for_each(|words| screen::note(format_args!("warning: {words}")));
        Ok(screen::print(&if line.json { text + "\n" } else { table(&report) })?)
    }

    fn top(line: &ShowLine) -> Result<(), Error> {
        let (mut poller, clock, mut ready) = (Poller::new()?, Clock::start(), Vec::new());
        loop {
            let (text, report) = ask(line)?;
            let text = if line.json { text + "\n" } else { report.overview() };
            screen::show(&text)?;
            poller.wait(&clock, clock.now() + TICK, &mut ready)?;
            if ready.drain(..).any(|event| matches!(event, Ready::Signal(_))) {
                return Ok(());
            }
        }
    }

    fn check(file: &Path) -> Result<ExitCode, Error> {
        let config = Config::read(file)?;
        let mut problems = Vec::new();
        for name in &config.interfaces {
            if !kernel::has_device(name) {
                problems.push(format!("interfaces: found {name:?}, allowed: a device of this machine"));
            }
        }
        if !kernel::is_local(config.address) {
            problems.push(kernel::absent(&config));
        }
        if !Path::new("/dev/net/tun").exists() {
            problems.push("there is no /dev/net/tun: load the kernel's module tun".to_owned());
        }
        let needed = || {
            let devices = config.interfaces.iter().filter_map(|name| if_nametoindex(name.as_str()).ok());
            let signals = Signals::start(&config, &devices.collect::<Vec<_>>()).map(drop);
            let keys = config.authentication.as_ref().map_or(Ok(()), |keys| Keys::read(keys).map(drop));
            let keys = keys.map_err(|what| Error::Refused(format!("authentication.keys: {what}")));
            [signals, keys, privileges::known(&config.system.user).map_err(Error::from)]
        };
        problems.extend(needed().into_iter().filter_map(Result::err).map(|error| error.to_string()));
        let changes = if config.system.variables { kernel::changes(&config) } else { Vec::new() };
        for (variable, value) in &changes {
            screen::line(format_args!("would set {} from {} to {value}", variable.name, variable.before))?;
        }
        problems.iter().for_each(|line| screen::note(format_args!("error: {}: {line}", file.display())));
        if !problems.is_empty() {
            return Ok(ExitCode::from(2));
        }
        let (file, interfaces) = (file.display(), config.interfaces.join(" "));
        screen::line(format_args!("{file}: {} over {interfaces}", config.address))?;
        Ok(ExitCode::SUCCESS)
    }

    fn clean(file: &Path) -> Result<(), Error> {
        let (left, variables) = daemon::clean(&Config::read(file)?)?;
        Ok(screen::line(format_args!("removed {left} routes and rules, restored {variables} variables"))?)
    }

    /// The program.
    pub fn main() -> ExitCode {
        let action = Line::parse().action;
        if !matches!(action, Action::Run(_)) {
            fourhop_live::exit::with_its_reader();
        }
        let done = match action {
            Action::Run(line) => Config::read(&line.config).and_then(daemon::run).map(|()| ExitCode::SUCCESS),
            Action::Check(line) => check(&line.config),
            Action::Routes(line) => show(&line, Report::routes_table).map(|()| ExitCode::SUCCESS),
            Action::Neighbours(line) => show(&line, Report::neighbours_table).map(|()| ExitCode::SUCCESS),
            Action::Top(line) => top(&line).map(|()| ExitCode::SUCCESS),
            Action::Clean(line) => clean(&line.config).map(|()| ExitCode::SUCCESS),
            Action::Manual => {
                manual::write(Line::command(), &[("FILES", FILES)]).map(|()| ExitCode::SUCCESS).map_err(Error::from)
            }
        };
        fourhop_live::exit::code(done)
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: the routing daemon needs Linux");
    std::process::exit(2);
}
