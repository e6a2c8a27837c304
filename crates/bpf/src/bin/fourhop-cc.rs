//! Loads adaptive pacing into the kernel, shows its state, and unloads it.
#![cfg_attr(target_os = "linux", deny(clippy::print_stderr, clippy::print_stdout))]

#[cfg(target_os = "linux")]
mod program {
    use clap::{Args, CommandFactory, Parser, Subcommand};
    use fourhop_bpf::config::Config;
    use fourhop_bpf::connections::{Connection, Reader};
    use fourhop_bpf::kernel::Kernel;
    use fourhop_bpf::loaded::{Loaded, PINS, pinnable};
    use fourhop_bpf::route::{self, Change};
    use fourhop_bpf::state::{self, State};
    use fourhop_bpf::{Error, inventory, prometheus, settings};
    use fourhop_live::clock::Clock;
    use fourhop_live::manual;
    use fourhop_live::metrics::Server;
    use fourhop_live::poll::{Poller, Ready};
    use fourhop_live::screen::{self, note};
    use fourhop_settings::quantity::time;
    use fourhop_units::Dur;
    use nix::sys::signal::Signal;
    use serde::Serialize;
    use std::net::{IpAddr, SocketAddr};
    use std::path::PathBuf;
    use std::process::ExitCode;

    /// Adaptive pacing for the kernel's TCP: AP2, TCP-AP and RBP as BPF congestion controls.
    #[derive(Parser)]
    #[command(name = "fourhop-cc", version)]
    struct Line {
        #[command(subcommand)]
        action: Action,
    }

    #[derive(Subcommand)]
    enum Action {
        /// Load fh_ap2, fh_tcp_ap, fh_rbp and fh_ap_cubic until a signal, or with --pin until `unload`.
        Load(LoadLine),
        /// Unload the programs and restore the settings. Running connections continue.
        Unload,
        /// Show paced connections.
        Status(StatusLine),
        /// Show or change the route to an address: congestion control, initial window, quick acknowledgements.
        Route(RouteLine),
        /// Write the manual page.
        #[command(hide = true)]
        Manual,
    }

    #[derive(Args)]
    struct LoadLine {
        /// Parameters by destination, in TOML. Default: links of 2 Mbit/s for TCP-AP and RBP, of unknown rate for AP2.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Pin the programs in this folder of a BPF file system, and return.
        #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = PINS)]
        pin: Option<PathBuf>,
        /// Do not change variables or devices, whatever the file says.
        #[arg(long)]
        leave_system: bool,
        /// Serve metrics for Prometheus on this address, such as 127.0.0.1:9465.
        #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "pin")]
        metrics: Option<SocketAddr>,
    }

    #[derive(Args)]
    struct StatusLine {
        /// Print JSON, one line per update.
        #[arg(long)]
        json: bool,
        /// Update until a signal.
        #[arg(long)]
        watch: bool,
        /// Time between updates.
        #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s")]
        every: Dur,
        /// Show fourhop's programs and tables in the kernel instead.
        #[arg(long, conflicts_with = "watch")]
        objects: bool,
    }

    #[derive(Args)]
    struct RouteLine {
        /// An address; shows or changes the whole route that leads there.
        to: IpAddr,
        /// Name of the network namespace.
        #[arg(long, value_name = "NAME")]
        netns: Option<String>,
        /// Use this congestion control on the route.
        #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "fh_ap2")]
        set: Option<String>,
        /// Initial window of its connections, in segments; 0: that of the kernel. Default: 0 with fh_ap2, 2 with
        /// others.
        #[arg(long, value_name = "SEGMENTS", requires = "set")]
        initial_window: Option<u32>,
        /// Acknowledge its segments at once. For receivers: delayed acknowledgements look like long round trips.
        #[arg(long, requires = "set")]
        quick_ack: bool,
        /// Remove all three settings.
        #[arg(long, conflicts_with = "set")]
        reset: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    }

    /// Interval between two pages of metrics.
    const TICK: Dur = Dur::from_secs(1);

    fn load(line: &LoadLine) -> Result<(), Error> {
        let config = line.config.as_deref().map_or_else(|| Ok(Config::default()), Config::read)?;
        if line.config.is_none() {
            note("warning: no --config: fh_tcp_ap and fh_ap_cubic assume 2 Mbit/s for every link; fh_ap2 does not");
        }
        if let Some(rate) = config.too_fast() {
            note(format_args!(
                "warning: rate: found links of {} Mbit/s: use fh_ap2 there; fh_tcp_ap and fh_ap_cubic are for 802.11b, \
                    up to 11 Mbit/s",
                rate.bps() / 1_000_000
            ));
        }
        let kernel = Kernel::look()?;
        if let Some(warning) = kernel.warning() {
            note(format_args!("warning: {warning}"));
        }
        if let Some(left) = state::make_room()? {
            note(format_args!("restored the settings of process {}, which was killed", left.pid));
        }
        line.pin.as_deref().map_or(Ok(()), pinnable)?;
        // From here on signals do not interrupt the process in the middle of an operation, nor a thread started later.
        let mut poller = Poller::new()?;
        let server = line.metrics.map(Server::start).transpose().map_err(|error| {
            Error::Refused(format!("--metrics: found {:?}, which cannot be listened on: {error}", line.metrics))
        })?;
        let changes = if line.leave_system { vec![] } else { settings::plan(&config.systems)? };
        let loaded = Loaded::load(&kernel, &config)?;
        let state = State::new(line.pin.clone(), changes);
        state.write()?;
        let done = hold(line, &state, loaded, server.as_ref(), &mut poller);
        if done.is_err() || line.pin.is_none() { done.and(state.remove()) } else { done }
    }

    /// Applies the settings, then either pins the programs or keeps them loaded until a signal.
    fn hold(
        line: &LoadLine,
        state: &State,
        loaded: Loaded,
        server: Option<&Server>,
        poller: &mut Poller,
    ) -> Result<(), Error> {
        settings::apply(&state.changes)?;
        for change in &state.changes {
            note(format_args!("set {change}"));
        }
        let names = loaded.names().join(", ");
        if let Some(folder) = &line.pin {
            loaded.pin(folder)?;
            return Ok(screen::line(format_args!("loaded {names}, pinned in {}", folder.display()))?);
        }
        let mut reader = Reader::default();
        let mut publish = || {
            if let Some(server) = server {
                server.publish(prometheus::page(&reader.read()?));
            }
            Ok(())
        };
        // If connections cannot be read, fail before reporting that everything is loaded.
        publish()?;
        let _ = screen::line(format_args!("loaded {names}; a signal unloads them"));
        wait(poller, TICK, publish)
    }

    /// Repeats `work` until a terminating signal.
    fn wait(poller: &mut Poller, tick: Dur, mut work: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let clock = Clock::start();
        let mut ready = Vec::new();
        loop {
            work()?;
            poller.wait(&clock, clock.now() + tick, &mut ready)?;
            let ends = |event: &Ready| matches!(event, Ready::Signal(signal) if *signal != Signal::SIGCHLD);
            if ready.drain(..).any(|event| ends(&event)) {
                return Ok(());
            }
        }
    }

    fn unload() -> Result<(), Error> {
        match State::read() {
            Some(state) => {
                state.remove()?;
                for change in &state.changes {
                    note(format_args!("restored: {change} undone"));
                }
                Ok(screen::line(format_args!("unloaded the programs {}", state.place()))?)
            }
            None => Err(Error::Refused("nothing is loaded by fourhop-cc".to_owned())),
        }
    }

    fn status(line: &StatusLine) -> Result<(), Error> {
        if line.objects {
            let all = inventory::all();
            let text = || all.iter().map(|object| format!("{} {} {}\n", object.kind, object.id, object.name)).collect();
            return Ok(screen::print(&if line.json { json(&all) + "\n" } else { text() })?);
        }
        let overridden = || State::read().filter(State::holds).map(|state| settings::overridden(&state.changes));
        overridden().iter().flatten().for_each(|words| note(format_args!("warning: {words}")));
        let mut reader = Reader::default();
        let mut show = || {
            let all = reader.read()?;
            let text = if line.json { json(&all) + "\n" } else { table(&all) };
            let written = if line.watch && !line.json { screen::show(&text) } else { screen::print(&text) };
            written.map_err(Error::from)
        };
        if line.watch { wait(&mut Poller::new()?, line.every, show) } else { show() }
    }

    fn json<T: Serialize + ?Sized>(what: &T) -> String {
        // INVARIANT: it contains only numbers and text, and no map with keys that are not text.
        serde_json::to_string(what).expect("it has a form in JSON")
    }

    fn table(all: &[Connection]) -> String {
        let loaded = State::read().filter(State::holds);
        let text =
            loaded.map_or("not loaded by fourhop-cc\n".to_owned(), |state| format!("programs {}\n", state.place()));
        if all.is_empty() {
            return text + "no paced connections\n";
        }
        let head = [
            "netns",
            "local",
            "remote",
            "algorithm",
            "rtt ms",
            "hops",
            "var %",
            "interval ms",
            "burst",
            "kbit/s",
            "cwnd",
            "resent",
        ];
        let millis = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |seconds| format!("{:.2}", seconds * 1e3));
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let rows = all.iter().map(|c| {
            [
                c.namespace.clone().unwrap_or_else(|| c.netns.to_string()),
                c.local.to_string(),
                c.remote.to_string(),
                c.algorithm.to_owned(),
                millis(c.rtt_s),
                or_dash(c.hops.map(|hops| hops.to_string())),
                format!("{:.1}", c.variation * 100.0),
                millis(c.interval_s),
                c.burst.to_string(),
                or_dash(c.rate_bps.map(|bps| format!("{:.1}", bps as f64 / 1e3))),
                c.cwnd.to_string(),
                c.retransmissions.to_string(),
            ]
        });
        let rows: Vec<_> = rows.map(Vec::from).collect();
        text + &screen::table(&head, &[], &rows)
    }

    fn route(line: &RouteLine) -> Result<(), Error> {
        let set = line.set.clone().map(|congestion_control| Change::Set {
            initial_window: line.initial_window.unwrap_or(if congestion_control == "fh_ap2" { 0 } else { 2 }),
            congestion_control,
            quick_ack: line.quick_ack,
        });
        let change = if line.reset { Some(Change::Reset) } else { set };
        let route = route::route(line.netns.as_deref(), line.to, change.as_ref())?;
        Ok(if line.json { screen::line(json(&route)) } else { screen::line(route) }?)
    }

    const FILES: &str = "
/etc/fourhop/cc.toml: the configuration that the service loads. The minimum:

  [[destination]]
  to = \"10.0.0.0/9\"
  rate = \"11Mbps\"

/run/fourhop-cc.json: the previous settings, for `unload` and for the next start after a kill.
";

    /// The program.
    pub fn main() -> ExitCode {
        let action = Line::parse().action;
        if !matches!(action, Action::Load(_)) {
            fourhop_live::exit::with_its_reader();
        }
        let done = match action {
            Action::Load(line) => load(&line),
            Action::Unload => unload(),
            Action::Status(line) => status(&line),
            Action::Route(line) => route(&line),
            Action::Manual => manual::write(Line::command(), &[("FILES", FILES)]).map_err(Error::from),
        };
        fourhop_live::exit::code(done.map(|()| ExitCode::SUCCESS))
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: BPF congestion controls need Linux");
    std::process::exit(2);
}
