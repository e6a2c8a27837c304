//! The plain scenario files that accompany results of ns-2.35: one statement per line.
//!
//! | line | meaning |
//! |---|---|
//! | `rate R` | data rate in Mbit/s |
//! | `window W` | limit of the TCP window in segments |
//! | `node X Y` | a node in metres, numbered from 0 in their order |
//! | `movement FILE` | in place of `node` lines: a movement file next to this one, as written by ns-2's `setdest` |
//! | `flow S D H` | an endless TCP transfer; the n-th, from 0, starts at 1 s + 0.1 s x n (H, the hops, is unused) |
//! | `udp S D K B T0 T1` | UDP at K kbit/s in payloads of B bytes from T0 to T1, in seconds |
//!
//! Everything else is as in profile `ns2`. The lines are converted to the same tree as TOML, each value with its line,
//! and checked in the same way.

use super::ScenarioError;
use super::error::{Problem, did_you_mean};
use super::tree::{self, Data, Entry, Node, Origin};

/// Default simulated time.
const DURATION: &str = "1000s";
/// Default TCP window, for files without a `window` line.
const WINDOW: i64 = 64;
/// The statements and their forms.
const STATEMENTS: [(&str, &str); 6] = [
    ("rate", "rate R (Mbit/s)"),
    ("window", "window W (segments)"),
    ("node", "node X Y (metres)"),
    ("movement", "movement FILE (as setdest writes it)"),
    ("flow", "flow S D H (nodes, hops)"),
    ("udp", "udp S D K B T0 T1 (nodes, kbit/s, bytes, seconds)"),
];

/// Returns the tree of such a file. `transport` is that of the `flow` lines (default `newreno`), `duration` the
/// simulated time (default `1000s`), both as in TOML; problems with them name `--transport` and `--duration`. TCP is
/// measured from 10 % of the duration on; a file with UDP alone, from the start of its first flow.
///
/// # Errors
/// All problems of the file.
pub fn from_ns2(
    text: &str,
    file: &str,
    transport: Option<&str>,
    duration: Option<&str>,
) -> Result<Node, ScenarioError> {
    tree::check_size(text, file)?;
    let mut reader = Reader { file, problems: Vec::new(), ..Reader::default() };
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        if !line.trim().is_empty() {
            reader.line(i + 1, line, transport.unwrap_or("newreno"));
        }
    }
    let Reader { mut problems, rate, window, nodes, movement, flows, udp_starts, .. } = reader;
    let whole = origin(file, None);
    let rate = rate.unwrap_or_else(|| {
        problems.push(whole.problem("rate", Problem::MISSING, STATEMENTS[0].1));
        text_at("2Mbps", &whole)
    });
    if let Some(movement) = movement.as_ref().filter(|_| !nodes.is_empty()) {
        problems.push(movement.at.problem("movement", "a file and `node` lines", "one of the two"));
    } else if nodes.len() < 2 && movement.is_none() {
        problems.push(whole.problem("node", format!("{} of them", nodes.len()), "at least two `node` lines"));
    }
    if flows.is_empty() {
        problems.push(whole.problem("flow", Problem::MISSING, "at least one `flow` or `udp` line"));
    }
    if !problems.is_empty() {
        return Err(ScenarioError { problems });
    }
    let option = |name: &str| origin(name, None);
    let only_udp = udp_starts.len() == flows.len();
    let mut top = vec![
        entry("profile", text_at("ns2", &whole)),
        entry("duration", text_at(&seconds(duration.unwrap_or(DURATION)), &option("--duration"))),
        match movement {
            None => entry(
                "topology",
                table(vec![
                    entry("kind", text_at("positions", &whole)),
                    entry("positions", Node { at: whole.clone(), data: Data::List(nodes) }),
                ]),
            ),
            Some(movement) => {
                entry("mobility", table(vec![entry("model", text_at("ns2", &whole)), entry("file", movement)]))
            }
        },
        entry("radio", table(vec![entry("rate", rate)])),
        entry("tcp", table(tcp(window, &whole))),
        entry("flows", Node { at: whole.clone(), data: Data::List(flows) }),
    ];
    if only_udp {
        let first = udp_starts.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, start)| start);
        top.extend(first.map(|start| entry("warmup", start)));
    }
    Ok(table(top))
}

/// Files of this format state times in bare seconds, so the option may too.
fn seconds(duration: &str) -> String {
    if duration.parse::<f64>().is_ok() { format!("{duration}s") } else { duration.to_owned() }
}

/// The window of all senders, and the initial slow-start threshold, which ns-2 derives from it (at least 2, as for any
/// threshold).
fn tcp(window: Option<Node>, whole: &Origin) -> Vec<Entry> {
    let window = window.unwrap_or_else(|| int_at(WINDOW, whole));
    let threshold = match &window.data {
        Data::Int(segments) => Node { at: window.at.clone(), data: Data::Int((*segments).max(2)) },
        _ => window.clone(),
    };
    vec![entry("window", window), entry("initial_ssthresh", threshold)]
}

#[derive(Default)]
struct Reader<'a> {
    file: &'a str,
    problems: Vec<Problem>,
    rate: Option<Node>,
    window: Option<Node>,
    nodes: Vec<Node>,
    /// Name of the movement file, if any.
    movement: Option<Node>,
    flows: Vec<Node>,
    /// Starts of the UDP flows, in seconds and as written.
    udp_starts: Vec<(f64, Node)>,
}

impl Reader<'_> {
    fn line(&mut self, number: usize, line: &str, transport: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |i: usize| origin(self.file, Some((number, column(line, words[i]))));
        let (statement, rest) = (words[0], &words[1..]);
        let Some(&(_, form)) = STATEMENTS.iter().find(|(name, _)| *name == statement) else {
            let names = STATEMENTS.map(|(name, _)| name);
            let mut problem = at(0).problem(statement, "an unknown statement", names.join(", "));
            problem.hint = did_you_mean(statement, names);
            self.problems.push(problem);
            return;
        };
        if rest.len() != form.split(" (").next().unwrap_or_default().split(' ').count() - 1 {
            let found = format!("{} values", rest.len());
            self.problems.push(at(0).problem(statement, found, form));
            return;
        }
        if statement == "movement" {
            self.movement = Some(text_at(rest[0], &at(1)));
            return;
        }
        let numbers: Vec<Option<f64>> =
            rest.iter().map(|word| word.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        if let Some(bad) = numbers.iter().position(Option::is_none) {
            self.problems.push(at(bad + 1).problem(statement, format!("{:?}", rest[bad]), format!("a number: {form}")));
            return;
        }
        let places: Vec<Origin> = (0..words.len()).map(at).collect();
        let here = &places[1..];
        let quantity = |i: usize, unit: &str| text_at(&format!("{}{unit}", rest[i]), &here[i]);
        let whole = |i: usize| match rest[i].parse() {
            Ok(n) => int_at(n, &here[i]),
            Err(_) => text_at(rest[i], &here[i]),
        };
        match statement {
            "rate" => self.rate = Some(quantity(0, "Mbps")),
            "window" => self.window = Some(whole(0)),
            "node" => {
                let coordinates = vec![quantity(0, "m"), quantity(1, "m")];
                self.nodes.push(Node { at: here[0].clone(), data: Data::List(coordinates) });
            }
            "flow" => {
                let flow = vec![
                    entry("from", whole(0)),
                    entry("to", whole(1)),
                    entry("transport", text_at(transport, &origin("--transport", None))),
                ];
                self.flows.push(Node { at: places[0].clone(), data: Data::Table(flow) });
            }
            _ => {
                let flow = vec![
                    entry("from", whole(0)),
                    entry("to", whole(1)),
                    entry("transport", text_at("udp", &places[0])),
                    entry("rate", quantity(2, "kbps")),
                    entry("payload", quantity(3, "B")),
                    entry("start", quantity(4, "s")),
                    entry("stop", quantity(5, "s")),
                ];
                self.flows.push(Node { at: places[0].clone(), data: Data::Table(flow) });
                self.udp_starts.extend(numbers[4].map(|start| (start, quantity(4, "s"))));
            }
        }
    }
}

/// Returns the column of `word`, a part of `line`, counted from 1.
fn column(line: &str, word: &str) -> usize {
    let offset = word.as_ptr() as usize - line.as_ptr() as usize;
    line[..offset].chars().count() + 1
}

fn origin(file: &str, line_column: Option<(usize, usize)>) -> Origin {
    Origin { file: file.into(), line_column }
}

fn text_at(text: &str, at: &Origin) -> Node {
    Node { at: at.clone(), data: Data::Text(text.to_owned()) }
}

fn int_at(n: i64, at: &Origin) -> Node {
    Node { at: at.clone(), data: Data::Int(n) }
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: key.to_owned(), at: value.at.clone(), value }
}

fn table(entries: Vec<Entry>) -> Node {
    let at = entries.first().map_or_else(|| origin("", None), |e| e.at.clone());
    Node { at, data: Data::Table(entries) }
}
