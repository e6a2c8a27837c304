//! `fourhop-medium`: the air for the kernel's own Wi-Fi, as a program. `fourhop medium` calls it.
#![cfg_attr(target_os = "linux", deny(clippy::print_stderr, clippy::print_stdout))]

#[cfg(target_os = "linux")]
mod program {
    use clap::{CommandFactory, Parser, Subcommand};
    use fourhop_emu::medium::{Medium, Options, hwsim, radios};
    use fourhop_emu::{EmulationError, line};
    use fourhop_live::{manual, screen};
    use fourhop_units::Dur;
    use std::net::SocketAddr;
    use std::path::PathBuf;
    use std::process::ExitCode;

    /// The air for the kernel's own Wi-Fi: radios of mac80211_hwsim share channels like the nodes of a scenario.
    #[derive(Parser)]
    #[command(name = "fourhop-medium", version)]
    struct Line {
        #[command(subcommand)]
        command: Action,
    }

    #[derive(Subcommand)]
    enum Action {
        /// Carry the radios' frames until the time is over, or Ctrl-C.
        Run(RunLine),
        /// Write the manual page.
        #[command(hide = true)]
        Manual,
    }

    #[derive(clap::Args)]
    struct RunLine {
        /// Scenario in TOML, or in JSON as fourhop writes it; `-` reads TOML from standard input.
        file: String,
        /// Change a key of the scenario.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Assign a radio of the kernel to a node, such as 02:00:00:00:03:00=n1; may be repeated. By default, the first
        /// radio of hwsim is the first node, and so on.
        #[arg(long = "map", value_name = "ADDRESS=NODE", value_parser = radio)]
        radios: Vec<(hwsim::Address, String)>,
        /// End after this time, such as 60s.
        #[arg(long = "for", value_name = "TIME", value_parser = line::duration)]
        after: Option<Dur>,
        /// Seed of the simulated network.
        #[arg(long)]
        seed: Option<u64>,
        /// Sleep at least this long, such as 50us. Longer sleeps take less processor time, but delay frames more.
        #[arg(long, value_name = "TIME", value_parser = line::duration, default_value = "100us")]
        tick: Dur,
        /// Name of the medium, for `fourhop change --emulation` if there are several.
        #[arg(long)]
        name: Option<String>,
        /// Write packet captures into this folder, with a subfolder per channel.
        #[arg(long, value_name = "DIR")]
        pcap: Option<PathBuf>,
        /// Serve metrics for Prometheus on this address, such as 127.0.0.1:9464.
        #[arg(long, value_name = "ADDRESS:PORT")]
        metrics: Option<SocketAddr>,
        /// Print the report as JSON at the end.
        #[arg(long)]
        json: bool,
    }

    fn radio(text: &str) -> Result<(hwsim::Address, String), String> {
        let refused = || format!("found {text:?}, allowed: a radio and a node, such as \"02:00:00:00:03:00=n1\"");
        let (address, node) = text.split_once('=').ok_or_else(refused)?;
        Ok((radios::parse(address)?, node.to_owned()))
    }

    fn run(line: RunLine) -> Result<ExitCode, EmulationError> {
        let scenario = line::read(&line.file, &line.set)?;
        let RunLine { seed, radios, tick, name: id, metrics, pcap, .. } = line;
        let medium = Medium::new(&scenario, Options { seed, radios, tick, id, metrics, pcap })?;
        screen::note(format_args!("medium {} is ready: {}, {} nodes", medium.id(), line.file, medium.members().len()));
        let report = medium.run(line.after)?;
        screen::report(&report, line.json)?;
        Ok(ExitCode::SUCCESS)
    }

    const EXAMPLE: &str = "
Three radios in a chain:

  modprobe mac80211_hwsim radios=3
  fourhop-medium run chain.toml
";

    /// The program.
    pub fn main() -> ExitCode {
        let action = Line::parse().command;
        if !matches!(action, Action::Run(_)) {
            fourhop_live::exit::with_its_reader();
        }
        fourhop_live::exit::code(match action {
            Action::Run(line) => run(line),
            Action::Manual => manual::write(Line::command(), &[("EXAMPLE", EXAMPLE)])
                .map(|()| ExitCode::SUCCESS)
                .map_err(EmulationError::from),
        })
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: a medium needs Linux: its radios are those of the kernel's module mac80211_hwsim");
    std::process::exit(2);
}
