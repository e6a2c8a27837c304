//! `fourhop-gateway`: the pacing gateway as a service, and the commands that show its state.
#![cfg_attr(target_os = "linux", deny(clippy::print_stderr, clippy::print_stdout))]

#[cfg(target_os = "linux")]
mod program {
    use clap::{Args, CommandFactory, Parser, Subcommand};
    use fourhop_gateway::check;
    use fourhop_gateway::config::{Backend, Config, FILE, SOCKET, Service};
    use fourhop_gateway::daemon::{self, Start};
    use fourhop_gateway::setup::{self, Wanted};
    use fourhop_gateway::status::{State, Status};
    use fourhop_gateway::{Error, rules, top};
    use fourhop_live::nfqueue::guard;
    use fourhop_live::{control, manual, screen};
    use fourhop_settings::file::defaults;
    use fourhop_settings::quantity::{Unit, time};
    use fourhop_units::{Dur, Rate};
    use std::path::PathBuf;
    use std::process::ExitCode;

    /// Paces TCP into a multihop wireless network. Run it on the router between mesh and Internet.
    #[derive(Parser)]
    #[command(name = "fourhop-gateway", version)]
    struct Line {
        #[command(subcommand)]
        action: Action,
    }

    #[derive(Subcommand)]
    enum Action {
        /// Pace flows until a signal stops the service; SIGHUP reloads the file.
        Run(RunLine),
        /// Find the mesh, its routing and the rate of its links, and write the configuration.
        Setup(SetupLine),
        /// Check the file and this system, and test the kernel's packet queue.
        Check(FileLine),
        /// Show nodes and flows, and update them.
        Top(TopLine),
        /// Show the state once; exit with 1 if the gateway is not working.
        Status(StatusLine),
        /// Remove rules that a killed gateway left behind; refused while a gateway is running.
        Clean,
        /// Let packets pass when the process that started this one stands still.
        #[command(hide = true)]
        Guard,
        /// Write the manual page.
        #[command(hide = true)]
        Manual,
    }

    #[derive(Args)]
    struct FileLine {
        /// Configuration in TOML.
        #[arg(long, value_name = "FILE", default_value = FILE)]
        config: PathBuf,
    }

    #[derive(Args)]
    struct SetupLine {
        #[command(flatten)]
        file: FileLine,
        /// Interface into the mesh, if `setup` cannot find it; may be repeated.
        #[arg(long, value_name = "NAME")]
        device: Vec<String>,
        /// Rate of the links, if `setup` cannot measure it because no node is up.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        rate: Option<Rate>,
        /// Keep the file's existing keys of the mesh.
        #[arg(long)]
        fill: bool,
        /// Print the file and write nothing.
        #[arg(long)]
        print: bool,
    }

    fn rate(text: &str) -> Result<Rate, String> {
        let bps = Unit::Rate.parse(text).ok().filter(|bps| (1.0..=1e10).contains(bps));
        bps.and_then(|bps| Rate::from_bps(bps as u64))
            .ok_or_else(|| format!("found {text:?}, allowed: a rate from \"1bps\" to \"10Gbps\""))
    }

    #[derive(Args)]
    struct RunLine {
        #[command(flatten)]
        file: FileLine,
        /// Measure everything, but do not delay or change packets.
        #[arg(long)]
        dry_run: bool,
        /// Print the rules and exit. If you write your own rules, set `manage = false` in [rules].
        #[arg(long, value_name = "BACKEND", num_args = 0..=1)]
        #[allow(clippy::option_option)]
        print_rules: Option<Option<Backend>>,
    }

    #[derive(Args)]
    struct TopLine {
        /// Socket of the service.
        #[arg(long, value_name = "PATH", default_value = SOCKET)]
        socket: PathBuf,
        /// Time between updates.
        #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s")]
        every: Dur,
    }

    #[derive(Args)]
    struct StatusLine {
        /// Socket of the service.
        #[arg(long, value_name = "PATH", default_value = SOCKET)]
        socket: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    }

    fn run(line: RunLine) -> Result<ExitCode, Error> {
        if let Some(backend) = line.print_rules {
            let config = Config::read(&line.file.config)?;
            let backend = backend.map_or_else(|| rules::probe(&config), Ok)?;
            screen::print(&rules::text(&config, backend))?;
            return Ok(ExitCode::SUCCESS);
        }
        daemon::run(Start { file: line.file.config, dry_run: line.dry_run })?;
        Ok(ExitCode::SUCCESS)
    }

    fn watch(line: &TopLine) -> Result<ExitCode, Error> {
        let mut before: Option<Status> = None;
        loop {
            let (_, status): (_, Status) = control::read(&line.socket)?;
            screen::show(&top::text(&status, before.as_ref()))?;
            before = Some(status);
            std::thread::sleep(std::time::Duration::from_nanos(line.every.as_nanos()));
        }
    }

    fn status(line: &StatusLine) -> Result<ExitCode, Error> {
        let (text, status): (_, Status) = control::read(&line.socket)?;
        screen::print(&if line.json { text + "\n" } else { top::text(&status, None) })?;
        Ok(if status.state == State::Impaired { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    const FILES: &str = "
/etc/fourhop/gateway.toml: the configuration. The minimum:

  [mesh]
  devices = [\"mesh0\"]
  rate = \"6Mbps\"

/run/fourhop-gateway/control: socket of the service, which sends its state as JSON to each client.
";

    const SIGNALS: &str = "
SIGHUP reloads the file; if it is invalid, the old configuration stays in effect. SIGTERM and SIGINT remove the rules, \
release waiting packets, and end the service.
";

    fn clean() -> Result<ExitCode, Error> {
        // A running process needs its rules.
        let _only = daemon::only(&defaults::<Service>())?;
        rules::clean()?;
        Ok(ExitCode::SUCCESS)
    }

    /// The program.
    pub fn main() -> ExitCode {
        let action = Line::parse().action;
        if !matches!(&action, Action::Run(RunLine { print_rules: None, .. }) | Action::Guard) {
            fourhop_live::exit::with_its_reader();
        }
        let done = match action {
            Action::Run(line) => run(line),
            Action::Setup(SetupLine { file, device, rate, fill, print }) => {
                setup::run(&Wanted { file: file.config, devices: device, rate, fill, print })
                    .map(|()| ExitCode::SUCCESS)
            }
            Action::Check(line) => check::check(&line.config)
                .map(|problems| if problems == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }),
            Action::Top(line) => watch(&line),
            Action::Status(line) => status(&line),
            Action::Clean => clean(),
            Action::Guard => guard::run().map(|()| ExitCode::SUCCESS).map_err(Error::from),
            Action::Manual => manual::write(Line::command(), &[("FILES", FILES), ("SIGNALS", SIGNALS)])
                .map(|()| ExitCode::SUCCESS)
                .map_err(Error::from),
        };
        fourhop_live::exit::code(done)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::path::Path;

        fn action(words: &[&str]) -> Action {
            Line::try_parse_from([&["fourhop-gateway"][..], words].concat()).unwrap().action
        }

        #[test]
        fn commands_and_options_do_not_contradict_each_other() {
            Line::command().debug_assert();
        }

        #[test]
        fn a_rate_is_one_that_the_file_may_have() {
            assert_eq!([rate("1bps"), rate("10Gbps")], [1, 10_000_000_000].map(|bps| Ok(Rate::from_bps(bps).unwrap())));
            for word in ["0bps", "11Gbps", "6", "fast"] {
                let said = format!("found {word:?}, allowed: a rate from \"1bps\" to \"10Gbps\"");
                assert_eq!(rate(word), Err(said));
            }
        }

        #[test]
        fn rules_are_printed_only_when_that_is_asked_for() {
            let printed = |words: &[&str]| match action(words) {
                Action::Run(line) => line.print_rules,
                _ => panic!("{words:?}"),
            };
            assert_eq!(printed(&["run"]), None);
            assert_eq!(printed(&["run", "--print-rules"]), Some(None), "by what works here");
            assert_eq!(printed(&["run", "--print-rules", "iptables"]), Some(Some(Backend::Iptables)));
        }

        #[test]
        fn without_a_file_or_a_service_commands_fail() {
            let nowhere = Path::new("/no/such/file");
            for print_rules in [None, Some(Some(Backend::Nft))] {
                let file = FileLine { config: nowhere.to_owned() };
                let said = run(RunLine { file, dry_run: false, print_rules }).unwrap_err().to_string();
                assert!(said.contains("/no/such/file"), "{said}");
            }
            let shown = watch(&TopLine { socket: nowhere.to_owned(), every: Dur::from_secs(1) });
            let said = status(&StatusLine { socket: nowhere.to_owned(), json: false });
            for done in [shown, said] {
                let said = done.unwrap_err().to_string();
                assert!(said.contains("/no/such/file: no service listens there, start it"), "{said}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: queues of packets need Linux");
    std::process::exit(2);
}
