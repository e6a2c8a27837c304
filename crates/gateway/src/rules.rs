//! The rules that bring packets here: our own nft table or iptables chains, which are removed when the program ends. If
//! nobody listens to a queue, packets bypass it. Rules after the queue count what has passed it, with or without a
//! verdict.

use crate::Error;
use crate::config::{Backend, Config};
use fourhop_live::priority;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Name of the nft table.
const TABLE: &str = "fourhop_gateway";
/// Name of the iptables chains.
const CHAIN: &str = "FOURHOP-GATEWAY";
/// The tables with such a chain: that of the queue, and the next one at the same hook, for counting.
const QUEUES: &str = "mangle";
const COUNTS: &str = "filter";

/// Queues of a worker: into the mesh and out of it. All queues into the mesh come first, one for each worker.
pub fn queues(first: u16, workers: u16, worker: u16) -> [u16; 2] {
    [first + worker, first + workers + worker]
}

/// The rules as an nft table. It sees packets accepted by other rules, since filters come before. Packets that the
/// queue lets pass skip the rest of its chain, so the counters have a separate chain.
fn nft(config: &Config) -> String {
    let devices: Vec<String> = config.devices.iter().map(|device| format!("\"{device}\"")).collect();
    let mesh = format!("{{ {} }}", devices.join(", "));
    let [down, up] = ranges(config, "-");
    let chain = |name: &str, priority: u8, [down, up]: [String; 2]| {
        format!(
            "  chain {name} {{\n    type filter hook forward priority {priority}; policy accept;\n\
             \x20   iifname != {mesh} oifname {mesh} meta l4proto tcp counter{down}\n\
             \x20   iifname {mesh} oifname != {mesh} meta l4proto tcp counter{up}\n  }}\n"
        )
    };
    let queue = chain("forward", 10, [down, up].map(|range| format!(" queue num {range} bypass")));
    let count = chain("passed", 11, Default::default());
    format!("table inet {TABLE} {{\n{queue}{count}}}\n")
}

/// Queues into the mesh and out of it, as ranges if there are several: the kernel maps both directions between two
/// hosts to the same position in each.
fn ranges(config: &Config, to: &str) -> [String; 2] {
    let workers = config.rules.workers;
    let [down, up] = queues(config.rules.queue, workers, 0);
    [down, up].map(|first| if workers == 1 { first.to_string() } else { format!("{first}{to}{}", first + workers - 1) })
}

/// Commands for iptables and ip6tables, with their table. The queue comes last in its table: packets that it lets pass
/// skip the rules after it.
fn iptables(config: &Config) -> Vec<(&'static str, String)> {
    let workers = config.rules.workers;
    let to = |range: &str| {
        let option = if workers == 1 { "--queue-num" } else { "--queue-balance" };
        format!(" -j NFQUEUE {option} {range} --queue-bypass")
    };
    let queue = ranges(config, ":").map(|range| to(&range));
    let devices = &config.devices;
    let mut lines = Vec::new();
    for (table, [down, up], hook) in [(QUEUES, queue, "-A"), (COUNTS, Default::default(), "-I")] {
        let mut add = |line: String| lines.push((table, line));
        add(format!("-N {CHAIN}"));
        for (from, into) in devices.iter().flat_map(|from| devices.iter().map(move |into| (from, into))) {
            add(format!("-A {CHAIN} -i {from} -o {into} -j RETURN"));
        }
        devices.iter().for_each(|device| add(format!("-A {CHAIN} -o {device} -p tcp{down}")));
        devices.iter().for_each(|device| add(format!("-A {CHAIN} -i {device} -p tcp{up}")));
        add(format!("{hook} FORWARD -j {CHAIN}"));
    }
    lines
}

const TABLES: [&str; 2] = ["iptables", "ip6tables"];

/// The rules in a form for users who install them.
pub fn text(config: &Config, backend: Backend) -> String {
    match backend {
        Backend::Nft => nft(config),
        Backend::Iptables => {
            let lines = |tables: &str| {
                let line = |(table, line)| format!("{tables} -w -t {table} {line}\n");
                iptables(config).into_iter().map(line).collect::<String>()
            };
            TABLES.map(lines).concat()
        }
    }
}

/// Runs a program of the system with this input, and returns its output; errors contain its messages.
fn run(words: &[&str], input: &str) -> Result<String, String> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Where a user other than root can create it: the legacy iptables locks a file.
    command.env("XTABLES_LOCKFILE", "/run/fourhop-gateway/xtables.lock");
    let failed = |error: std::io::Error| format!("{}: {error}", words[0]);
    let mut child = priority::with_signals(&mut command).spawn().map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        // If it does not read, its exit status says why.
        let _ = pipe.write_all(input.as_bytes());
    }
    let done = child.wait_with_output().map_err(failed)?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("{}: {}", words.join(" "), said.lines().next().unwrap_or("it fails")))
}

/// The program that installs rules here: the one named in the file, otherwise nft if the kernel accepts its rules,
/// otherwise iptables.
///
/// # Errors
/// The error of each.
pub fn probe(config: &Config) -> Result<Backend, Error> {
    let nft = || run(&["nft", "-c", "-f", "-"], &nft(config)).map(|_| Backend::Nft);
    let iptables = || {
        // A chain without effect and with the same rule, because iptables has no check-only mode.
        let scratch = format!("{CHAIN}-TRY");
        let tables = |words: &str| {
            run(&[&["iptables", "-w", "-t", "mangle"][..], &words.split(' ').collect::<Vec<_>>()].concat(), "")
        };
        let _ = tables(&format!("-N {scratch}"));
        let added =
            tables(&format!("-A {scratch} -p tcp -j NFQUEUE --queue-num {} --queue-bypass", config.rules.queue));
        let _ = tables(&format!("-F {scratch}")).and_then(|_| tables(&format!("-X {scratch}")));
        added.map(|_| Backend::Iptables)
    };
    let found = match config.rules.backend {
        Some(Backend::Nft) => nft(),
        Some(Backend::Iptables) => iptables(),
        None => nft().or_else(|nft| iptables().map_err(|iptables| format!("{nft}\n{iptables}"))),
    };
    found.map_err(Error::Refused)
}

/// Installs the rules, and removes existing ones of ours.
///
/// # Errors
/// The message of the program that installs them.
pub fn set(config: &Config, backend: Backend) -> Result<(), Error> {
    if backend == Backend::Nft {
        // One transaction: the table is never missing.
        let input = format!("table inet {TABLE} {{}}\ndelete table inet {TABLE}\n{}", nft(config));
        return run(&["nft", "-f", "-"], &input).map(drop).map_err(Error::Refused);
    }
    clear(backend);
    for tables in TABLES {
        for (table, line) in iptables(config) {
            let words: Vec<&str> = [tables, "-w", "-t", table].into_iter().chain(line.split(' ')).collect();
            let done = run(&words, "");
            // A kernel without IPv6 has nothing to pace there.
            if tables == "ip6tables" && !Path::new("/proc/sys/net/ipv6").exists() {
                break;
            }
            done.map_err(|error| {
                clear(backend);
                Error::Refused(error)
            })?;
        }
    }
    Ok(())
}

/// Removes the rules that a killed process has left, whichever program installed them.
///
/// # Errors
/// If no program can even list rules: any that are left would go unnoticed.
pub fn clean() -> Result<(), Error> {
    let nft = run(&["nft", "list", "tables"], "");
    let iptables = run(&["iptables", "-w", "-t", QUEUES, "-S"], "");
    if let (Err(nft), Err(iptables)) = (nft, iptables) {
        return Err(Error::Refused(format!("{nft}\n{iptables}\nrun this as root, or with CAP_NET_ADMIN")));
    }
    [Backend::Nft, Backend::Iptables].into_iter().for_each(clear);
    Ok(())
}

/// Removes our rules. It is fine if there are none.
pub fn clear(backend: Backend) {
    match backend {
        Backend::Nft => {
            let _ = run(&["nft", "-f", "-"], &format!("table inet {TABLE} {{}}\ndelete table inet {TABLE}\n"));
        }
        Backend::Iptables => {
            for (tables, table) in TABLES.into_iter().flat_map(|tables| [(tables, QUEUES), (tables, COUNTS)]) {
                let rule = |line: &str| {
                    let words: Vec<&str> = [tables, "-w", "-t", table].into_iter().chain(line.split(' ')).collect();
                    run(&words, "")
                };
                while rule(&format!("-D FORWARD -j {CHAIN}")).is_ok() {}
                let _ = rule(&format!("-F {CHAIN}")).and_then(|_| rule(&format!("-X {CHAIN}")));
            }
        }
    }
}

/// Our rules in the kernel, without counters; empty if there are none. If the text is the same as after [`set`], the
/// rules are still in place.
pub fn written(backend: Backend) -> String {
    written_and_counted(backend).0
}

/// The same, and how many packets have passed the queues, as counted by the rules after them: several segments that the
/// kernel forwards as one count as one.
pub fn written_and_counted(backend: Backend) -> (String, u64) {
    let text = match backend {
        Backend::Nft => run(&["nft", "list", "table", "inet", TABLE], "").unwrap_or_default(),
        Backend::Iptables => {
            let ours = |tables: &str, table: &str| {
                let all = run(&[tables, "-w", "-t", table, "-v", "-S"], "").unwrap_or_default();
                let own = all.lines().filter(|line| line.contains(CHAIN));
                own.map(|line| format!("{tables} {table} {line}\n")).collect::<String>()
            };
            TABLES.map(|tables| [QUEUES, COUNTS].map(|table| ours(tables, table)).concat()).concat()
        }
    };
    without_counters(&text)
}

/// Rules as listed by nft or iptables, without counters, and the total packets of the rules that only count: `counter
/// packets 7 bytes 900` or `-c 7 900`.
fn without_counters(text: &str) -> (String, u64) {
    let (mut rest, mut passed) = (String::new(), 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut kept = Vec::new();
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            let number = |place: usize| words.get(place).and_then(|word| word.parse::<u64>().ok());
            let (packets, length) = match word {
                "counter" => (number(at + 2), 5),
                "-c" => (number(at + 1), 3),
                _ => (None, 1),
            };
            match packets {
                Some(packets) => {
                    let only_counts = !words.iter().any(|&word| word == "queue" || word == "-j");
                    passed += if only_counts { packets } else { 0 };
                }
                None => kept.push(word),
            }
            at += if packets.is_some() { length } else { 1 };
        }
        rest += &kept.join(" ");
        rest.push('\n');
    }
    (rest.trim().to_owned(), passed)
}

/// Sends all TCP of a network namespace without other traffic to this queue.
///
/// # Errors
/// The program's message.
pub fn queue_all(backend: Backend, queue: u16) -> Result<(), String> {
    match backend {
        Backend::Nft => {
            let hook = "type filter hook output priority 0";
            let rules =
                format!("table inet {TABLE} {{ chain output {{ {hook}; meta l4proto tcp queue num {queue}; }} }}");
            run(&["nft", "-f", "-"], &rules)
        }
        Backend::Iptables => {
            let words = format!("iptables -w -t mangle -A OUTPUT -p tcp -j NFQUEUE --queue-num {queue}");
            run(&words.split(' ').collect::<Vec<_>>(), "")
        }
    }
    .map(|_| ())
}

/// Whether rules of others would keep packets from the queues.
pub fn offload() -> bool {
    let listed = Command::new("nft").args(["list", "ruleset"]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    listed.is_ok_and(|listed| offloads(&String::from_utf8_lossy(&listed.stdout)))
}

fn offloads(rules: &str) -> bool {
    rules.lines().any(|line| line.trim().starts_with("flow add @") || line.contains(" flow add @"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(rules: &str) -> Config {
        Config::parse(&format!("[mesh]\ndevices = ['mesh0', 'mesh1']\nrate = '2Mbps'\n[rules]\n{rules}")).unwrap()
    }

    #[test]
    fn counters_are_left_out_of_what_is_compared_and_those_behind_the_queue_are_added() {
        let nft = |count| {
            format!(
                "table inet t {{\n\tchain forward {{\n\t\tmeta l4proto tcp counter packets 8 bytes 900 queue flags \
                    bypass to 7\n\t}}\n\tchain passed {{\n\t\tmeta l4proto tcp counter packets {count} bytes 900\n\
                    \t}}\n}}\n"
            )
        };
        let (rules, passed) = without_counters(&nft(12));
        assert_eq!((without_counters(&nft(99)).0 == rules, passed), (true, 12));
        let iptables = "iptables filter -N FOURHOP-GATEWAY\n\
                        iptables filter -A FORWARD -c 30 400 -j FOURHOP-GATEWAY\n\
                        iptables filter -A FOURHOP-GATEWAY -o mesh0 -p tcp -c 7 900\n\
                        iptables mangle -A FOURHOP-GATEWAY -o mesh0 -p tcp -c 9 950 -j NFQUEUE --queue-num 5\n";
        let (rules, passed) = without_counters(iptables);
        assert_eq!(passed, 7, "what comes to a chain or a queue has not passed it");
        assert!(rules.ends_with("-A FOURHOP-GATEWAY -o mesh0 -p tcp -j NFQUEUE --queue-num 5"), "{rules}");
    }

    #[test]
    fn what_crosses_the_border_goes_to_a_queue_for_its_direction() {
        let rules = text(&config("queue = 5"), Backend::Nft);
        assert!(
            rules.contains("iifname != { \"mesh0\", \"mesh1\" } oifname { \"mesh0\", \"mesh1\" } meta l4proto tcp")
        );
        assert!(rules.contains("queue num 5 bypass") && rules.contains("queue num 6 bypass"), "{rules}");
        let several = text(&config("queue = 5\nworkers = 3"), Backend::Nft);
        assert!(several.contains("queue num 5-7 bypass") && several.contains("queue num 8-10 bypass"), "{several}");
        assert_eq!([0, 1, 2].map(|worker| queues(5, 3, worker)), [[5, 8], [6, 9], [7, 10]]);
        let chains = text(&config("queue = 5\nworkers = 2"), Backend::Iptables);
        let line =
            "iptables -w -t mangle -A FOURHOP-GATEWAY -o mesh1 -p tcp -j NFQUEUE --queue-balance 5:6 --queue-bypass";
        assert!(chains.lines().any(|found| found == line), "{chains}");
        assert!(chains.contains("ip6tables -w -t mangle -A FOURHOP-GATEWAY -i mesh1 -o mesh0 -j RETURN"));
        assert!(rules.contains("meta l4proto tcp counter\n"), "one counts behind the queue: {rules}");
        assert!(chains.contains("iptables -w -t filter -A FOURHOP-GATEWAY -o mesh1 -p tcp\n"), "{chains}");
    }

    #[test]
    fn one_worker_needs_no_range_of_queues() {
        let rules = text(&config("queue = 5"), Backend::Iptables);
        let queues: Vec<_> = rules.lines().filter(|line| line.contains("NFQUEUE")).collect();
        let expected = ["iptables", "ip6tables"].map(|tables| {
            [("-o mesh0", 5), ("-o mesh1", 5), ("-i mesh0", 6), ("-i mesh1", 6)].map(|(device, queue)| {
                let to = format!("-j NFQUEUE --queue-num {queue} --queue-bypass");
                format!("{tables} -w -t mangle -A FOURHOP-GATEWAY {device} -p tcp {to}")
            })
        });
        assert_eq!(queues, expected.as_flattened());
    }

    #[test]
    fn the_queue_comes_last_in_its_table_and_the_counters_first_in_theirs() {
        let rules = text(&config("queue = 5"), Backend::Iptables);
        let hooks: Vec<_> = rules.lines().filter(|line| line.contains(" FORWARD ")).collect();
        let expected = ["iptables", "ip6tables"].map(|tables| {
            [("mangle", "-A"), ("filter", "-I")]
                .map(|(table, hook)| format!("{tables} -w -t {table} {hook} FORWARD -j FOURHOP-GATEWAY"))
        });
        assert_eq!(hooks, expected.as_flattened());
    }

    #[test]
    fn nft_counts_behind_the_queue() {
        let rules = text(&config("queue = 5"), Backend::Nft);
        let border = "{ \"mesh0\", \"mesh1\" }";
        let chain = |name, priority, down, up| {
            format!(
                "  chain {name} {{\n    type filter hook forward priority {priority}; policy accept;\n    \
                 iifname != {border} oifname {border} meta l4proto tcp counter{down}\n    \
                 iifname {border} oifname != {border} meta l4proto tcp counter{up}\n  }}\n"
            )
        };
        let queue = chain("forward", 10, " queue num 5 bypass", " queue num 6 bypass");
        let count = chain("passed", 11, "", "");
        assert_eq!(rules, format!("table inet fourhop_gateway {{\n{queue}{count}}}\n"));
    }

    #[test]
    fn a_program_gets_its_input_and_an_error_has_its_first_line() {
        assert_eq!(run(&["cat"], "rules"), Ok("rules".to_owned()));
        let said = run(&["sh", "-c", "echo no >&2; echo more >&2; exit 1"], "");
        assert_eq!(said, Err("sh -c echo no >&2; echo more >&2; exit 1: no".to_owned()));
        assert_eq!(run(&["false"], ""), Err("false: it fails".to_owned()));
        assert!(run(&["/no/such/program"], "").unwrap_err().starts_with("/no/such/program: "));
        let lock = run(&["sh", "-c", "echo $XTABLES_LOCKFILE"], "");
        assert_eq!(lock, Ok("/run/fourhop-gateway/xtables.lock\n".to_owned()));
    }

    #[test]
    fn what_is_no_counter_stays_in_what_is_compared() {
        assert_eq!(without_counters("  a  counter  b\nx -c\n"), ("a counter b\nx -c".to_owned(), 0));
        let named = "counter name \"passed\" accept";
        assert_eq!(without_counters(named), (named.to_owned(), 0));
        let several = "tcp counter packets 7 bytes 900\n\ncounter packets 5 bytes 1 accept\n-A X -c 3 4 -p tcp\n";
        assert_eq!(without_counters(several), ("tcp\n\naccept\n-A X -p tcp".to_owned(), 15));
        assert_eq!(without_counters(""), (String::new(), 0));
    }

    #[test]
    fn a_rule_that_offloads_flows_is_found_and_one_that_only_says_so_is_not() {
        let chain = |rule: &str| format!("table inet t {{\n\tchain forward {{\n\t\t{rule}\n\t}}\n}}\n");
        assert!(offloads(&chain("flow add @fast")) && offloads(&chain("ip protocol tcp flow add @fast")));
        for rule in ["", "accept", "counter comment \"overflow add @fast\"", "flow offload @fast"] {
            assert!(!offloads(&chain(rule)), "{rule}");
        }
    }
}
