//! `fourhop-emulate`: the emulator as a program. `fourhop emulate`, `fourhop exec` and `fourhop shell` call it.
#![cfg_attr(target_os = "linux", deny(clippy::print_stderr, clippy::print_stdout))]

#[cfg(target_os = "linux")]
mod program {
    use clap::{Args, CommandFactory, Parser, Subcommand};
    use fourhop_emu::carry::Mode;
    use fourhop_emu::change::{self, Request};
    use fourhop_emu::state::{self, State};
    use fourhop_emu::{Emulation, EmulationError, Options, Report, Running, Stop, line, program};
    use fourhop_live::{manual, screen, user};
    use fourhop_sim::scenario::{Scenario, Unit};
    use fourhop_sim::trace;
    use fourhop_units::{Dur, Time};
    use std::fs::File;
    use std::io::{IsTerminal, Write};
    use std::net::SocketAddr;
    use std::os::unix::fs::FileTypeExt;
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;

    /// Run real programs over a simulated mesh of 802.11 radios. Every node is a network namespace.
    #[derive(Parser)]
    #[command(name = "fourhop-emulate", version)]
    struct Line {
        #[command(subcommand)]
        command: Action,
    }

    #[derive(Subcommand)]
    enum Action {
        /// Emulate a scenario until its time is over, its command ends, or Ctrl-C.
        Run(Box<RunLine>),
        /// Run a command or a shell in a node of a running emulation.
        Exec {
            /// The emulation, if several are running.
            #[arg(long, env = program::MEANT)]
            emulation: Option<String>,
            /// The node.
            node: String,
            /// Command with its arguments; default: a shell.
            #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
            words: Vec<String>,
        },
        /// Change a node of a running emulation or medium: position, transmit power, antenna gain, path losses.
        Change(ChangeLine),
        /// List running emulations and media.
        List {
            /// Print JSON, one line per emulation.
            #[arg(long)]
            json: bool,
        },
        /// Remove what killed emulations left behind.
        Clean,
        /// Write the manual page.
        #[command(hide = true)]
        Manual,
    }

    #[derive(Args)]
    struct ChangeLine {
        /// The emulation or medium, if several are running.
        #[arg(long, env = program::MEANT)]
        emulation: Option<String>,
        /// The node.
        node: String,
        /// Move the node to this position, such as 100m,20m.
        #[arg(long, value_name = "X,Y", value_parser = position, allow_hyphen_values = true)]
        position: Option<(f64, f64)>,
        /// Set its transmit power, such as 10dBm.
        #[arg(long, value_name = "POWER", value_parser = power, allow_hyphen_values = true)]
        power: Option<f64>,
        /// Set its antenna gain, such as 3dB.
        #[arg(long, value_name = "GAIN", value_parser = gain, allow_hyphen_values = true)]
        gain: Option<f64>,
        /// Set the path loss to another node in both directions, such as n4=95dB, whatever the distance; may be
        /// repeated.
        #[arg(long, value_name = "NODE=LOSS", value_parser = loss)]
        link: Vec<(String, f64)>,
    }

    fn quantity(text: &str, unit: Unit, range: (f64, f64), allowed: &str) -> Result<f64, String> {
        let found = unit.parse(text).ok().filter(|value| (range.0..=range.1).contains(value));
        found.ok_or_else(|| format!("found {text:?}, allowed: {allowed}"))
    }

    fn position(text: &str) -> Result<(f64, f64), String> {
        let allowed = "two lengths such as \"100m,20m\"";
        let (x, y) = text.split_once(',').ok_or_else(|| format!("found {text:?}, allowed: {allowed}"))?;
        let of = |text: &str| quantity(text.trim(), Unit::Length, (-1e7, 1e7), allowed);
        Ok((of(x)?, of(y)?))
    }

    fn power(text: &str) -> Result<f64, String> {
        quantity(text, Unit::Power, (1e-8, 1e3), "a power from \"-50dBm\" to \"60dBm\"")
    }

    fn gain(text: &str) -> Result<f64, String> {
        quantity(text, Unit::Ratio, (-50.0, 50.0), "a gain from \"-50dB\" to \"50dB\"")
    }

    fn loss(text: &str) -> Result<(String, f64), String> {
        let allowed = "a node and a loss from 0dB to 300dB, such as \"n4=95dB\"";
        let (node, loss) = text.split_once('=').ok_or_else(|| format!("found {text:?}, allowed: {allowed}"))?;
        Ok((node.to_owned(), quantity(loss, Unit::Ratio, (0.0, 300.0), allowed)?))
    }

    fn change(line: ChangeLine) -> Result<ExitCode, EmulationError> {
        let ChangeLine { emulation, node, position, power, gain, link } = line;
        let state = program::choose(emulation.as_deref())?;
        screen::line(change::ask(&state.id, &Request { node, position, power, gain, losses: link })?)?;
        Ok(ExitCode::SUCCESS)
    }

    #[derive(Args)]
    struct RunLine {
        /// Scenario in TOML, or in JSON as fourhop writes it; `-` reads TOML from standard input.
        file: String,
        /// Change a key of the scenario.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// End after this time, such as 60s.
        #[arg(long = "for", value_name = "TIME", value_parser = line::duration)]
        after: Option<Dur>,
        /// Give nodes Ethernet devices: their kernels route, with ARP, IPv6 and routing daemons.
        #[arg(long)]
        tap: bool,
        /// Name of the emulation, and prefix of its namespaces.
        #[arg(long)]
        name: Option<String>,
        /// Seed of the simulated network.
        #[arg(long)]
        seed: Option<u64>,
        /// Leave out the scenario's flows.
        #[arg(long)]
        without_flows: bool,
        /// Run the receiver of ad hoc TCP at every node, with the keys of section `adhoc_tcp`.
        #[arg(long)]
        adhoc_receivers: bool,
        /// MTU of the devices.
        #[arg(long, default_value_t = 1500)]
        mtu: u32,
        /// Sleep at least this long, such as 50us. Longer sleeps take less processor time, but delay packets more.
        /// Default: a thirtieth of a full packet's air time, at most 100us.
        #[arg(long, value_name = "TIME", value_parser = line::duration)]
        tick: Option<Dur>,
        /// Simulate this far ahead of the clock, such as 100us: packets leave the network on time, however long they
        /// take to compute, but those of programs enter it up to this much later. Default: a third of a full packet's
        /// air time, at most 100us.
        #[arg(long, value_name = "TIME", value_parser = line::duration_or_none)]
        ahead: Option<Dur>,
        /// Busy-wait this long before packets leave the network, such as 50us: packets are less late, at the cost of
        /// processor time. Default: half of --ahead.
        #[arg(long, value_name = "TIME", value_parser = line::duration_or_none)]
        spin: Option<Dur>,
        /// Hand the TCP segments of an aggregate to the kernel one by one, without joining them (GRO).
        #[arg(long)]
        no_gro: bool,
        /// Write packet captures into this folder.
        #[arg(long, value_name = "DIR")]
        pcap: Option<PathBuf>,
        /// Write all events of the network as tables into this folder.
        #[arg(long, value_name = "DIR")]
        trace: Option<PathBuf>,
        /// Start the trace at this time.
        #[arg(long, value_name = "TIME", value_parser = line::duration, requires = "trace")]
        trace_from: Option<Dur>,
        /// End the trace at this time.
        #[arg(long, value_name = "TIME", value_parser = line::duration, requires = "trace")]
        trace_to: Option<Dur>,
        /// Trace only these nodes, by number or name.
        #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "trace")]
        trace_nodes: Option<Vec<String>>,
        /// Trace only these flows of the scenario, by number or name.
        #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "trace")]
        trace_flows: Option<Vec<String>>,
        /// Keep only this much of the trace's end, in one folder per second.
        #[arg(long, value_name = "TIME", value_parser = line::duration, requires = "trace")]
        trace_last: Option<Dur>,
        /// Write report.json and the scenario into this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Serve metrics for Prometheus on this address, such as 127.0.0.1:9464.
        #[arg(long, value_name = "ADDRESS:PORT")]
        metrics: Option<SocketAddr>,
        /// With --tap: report the strength of each received frame, and frames given up, to routing daemons on this
        /// socket.
        #[arg(long, value_name = "PATH", requires = "tap")]
        radio: Option<PathBuf>,
        /// With --tap: route these nodes with the simulator's AODV or Babel, as configured in the scenario. The other
        /// nodes run routing daemons.
        #[arg(long, value_name = "NODE", value_delimiter = ',', requires = "tap")]
        hosted: Vec<String>,
        /// Print the report as JSON at the end.
        #[arg(long)]
        json: bool,
        /// When the nodes are ready, write what `list` shows of them to this descriptor as a line of JSON. If it is a
        /// pipe, end when nobody has its other end open any more.
        #[arg(long, value_name = "FD", hide = true)]
        ready: Option<i32>,
        /// Show no table during the run.
        #[arg(long)]
        quiet: bool,
        /// Run this command when the nodes are ready, and end with it.
        #[arg(last = true)]
        command: Vec<String>,
    }

    fn run(line: RunLine) -> Result<ExitCode, EmulationError> {
        let scenario = line::read(&line.file, &line.set)?;
        if !user::is_root() {
            // As long as there is only one thread.
            user::become_root().map_err(|error| program::forbidden(error, "fourhop emulate"))?;
        }
        if let Some(folder) = &line.out {
            std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        }
        let mode = if line.tap { Mode::Link } else { Mode::Routed };
        let last_only = line.trace_last.is_some();
        let trace = line.trace.map(|folder| trace::Request {
            from: line.trace_from.map_or(Time::ZERO, |from| Time::ZERO + from),
            to: line.trace_to.map_or(Time::NEVER, |to| Time::ZERO + to),
            nodes: line.trace_nodes,
            flows: line.trace_flows,
            last: line.trace_last,
            ..trace::Request::all(folder)
        });
        let options = Options {
            id: line.name,
            seed: line.seed,
            flows: !line.without_flows,
            adhoc_receivers: line.adhoc_receivers,
            mtu: line.mtu,
            tick: line.tick,
            spin: line.spin,
            ahead: line.ahead,
            gro: !line.no_gro,
            pcap: line.pcap,
            trace,
            metrics: line.metrics,
            radio: line.radio,
            hosted: line.hosted,
        };
        let emulation = Emulation::new(&scenario, mode, options)?;
        for warning in emulation.warnings() {
            screen::note(format_args!("warning: {warning}"));
        }
        let state = emulation.state();
        let names: Vec<_> = state.members.iter().map(|member| member.name.as_str()).collect();
        let (first, last) = (names[0], names[names.len() - 1]);
        screen::note(format_args!("emulation {} is ready: {} nodes, {first} to {last}", state.id, names.len()));
        if let Some(folder) = &state.trace {
            let live = if last_only { "--live " } else { "" };
            screen::note(format_args!("trace: {0}; fourhop view {live}{0}", folder.display()));
        }
        let reader = match line.ready {
            Some(descriptor) => tell(descriptor, state).map_err(|error| unwritable(Path::new("--ready"), &error))?,
            None => None,
        };
        let stop = Stop { after: line.after, command: line.command, reader };
        let report = if line.quiet || !std::io::stderr().is_terminal() {
            emulation.run(&stop, &mut |_| {})?
        } else {
            let table = super::table::Table::start();
            emulation.run(&stop, &mut |running: &Running| table.show(running))?
        };
        // First to the screen: the disk may be full.
        screen::report(&report, line.json)?;
        if let Some(folder) = &line.out {
            write(folder, &scenario, &report).map_err(|error| unwritable(folder, &error))?;
        }
        Ok(report.exit_status.map_or(ExitCode::SUCCESS, |status| ExitCode::from(status as u8)))
    }

    /// Write the state of the emulation to this descriptor. Returns it if it is a pipe.
    fn tell(descriptor: i32, state: &State) -> std::io::Result<Option<File>> {
        let mut file = File::options().write(true).open(format!("/proc/self/fd/{descriptor}"))?;
        writeln!(file, "{}", serde_json::to_string(state)?)?;
        Ok(file.metadata()?.file_type().is_fifo().then_some(file))
    }

    fn unwritable(place: &Path, error: &std::io::Error) -> EmulationError {
        EmulationError::Unsuited(format!("{}: cannot be written: {error}", place.display()))
    }

    fn write(folder: &Path, scenario: &Scenario, report: &Report) -> std::io::Result<()> {
        std::fs::write(folder.join("report.json"), serde_json::to_string_pretty(report)? + "\n")?;
        std::fs::write(folder.join("scenario.json"), scenario.to_json() + "\n")
    }

    fn list(json: bool) -> Result<(), EmulationError> {
        for state in state::all() {
            if json {
                let text = serde_json::to_string(&state).expect("INVARIANT: a state is JSON");
                screen::line(text)?;
                continue;
            }
            let alive = if state.is_alive() { "running" } else { "killed: remove it with fourhop emulate --clean" };
            screen::line(format_args!("{}  {}  {} nodes  {alive}", state.id, state.scenario, state.members.len()))?;
        }
        Ok(())
    }

    fn clean() -> Result<(), EmulationError> {
        for state in state::all().into_iter().filter(|state| !state.is_alive()) {
            state.remove().map_err(|error| program::forbidden(error, "fourhop emulate --clean"))?;
            screen::line(format_args!("removed {} ({} nodes)", state.id, state.members.len()))?;
        }
        Ok(())
    }

    const FILES: &str = "
/run/fourhop: a file for each running emulation, which `list` and `exec` read and `clean` removes.

/run/netns: the nodes, as network namespaces whose names begin with that of the emulation.
";

    const EXAMPLE: &str = "
A scenario of five hops, with a ping from one end to the other:

  fourhop-emulate run chain.toml --without-flows -- fourhop-emulate exec n0 -- ping -c 3 n5
";

    /// The program.
    pub fn main() -> ExitCode {
        let action = Line::parse().command;
        if !matches!(action, Action::Run(_) | Action::Exec { .. }) {
            fourhop_live::exit::with_its_reader();
        }
        let done = match action {
            Action::Run(line) => run(*line),
            Action::Exec { emulation, node, words } => program::choose(emulation.as_deref())
                .and_then(|state| program::become_program(&state, &node, &words))
                .map(|()| ExitCode::SUCCESS),
            Action::Change(line) => change(line),
            Action::List { json } => list(json).map(|()| ExitCode::SUCCESS),
            Action::Clean => clean().map(|()| ExitCode::SUCCESS),
            Action::Manual => manual::write(Line::command(), &[("FILES", FILES), ("EXAMPLE", EXAMPLE)])
                .map(|()| ExitCode::SUCCESS)
                .map_err(EmulationError::from),
        };
        fourhop_live::exit::code(done)
    }
}

#[cfg(target_os = "linux")]
#[path = "fourhop-emulate/table.rs"]
mod table;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: emulation needs Linux: network namespaces and TUN devices");
    std::process::exit(2);
}
