//! Overrides: `key=value` on top of a scenario as written.
//!
//! Two forms name several keys at once: `transport` is the transport of every TCP flow in `[traffic]` and `[[flows]]`,
//! and `flows[*].KEY` is `KEY` of every entry of `[[flows]]`.

use super::ScenarioError;
use super::error::Problem;
use super::tree::{self, Data, Entry, Node, Origin, literal, quoted};

/// Key for the transport of every TCP flow.
const TRANSPORT: &str = "transport";
/// Prefix of a key for every entry of `[[flows]]`.
const EVERY_FLOW: &str = "flows[*].";
/// Transports that do not run over TCP: their applications fit no other transport.
const NO_TCP: [&str; 2] = ["udp", "ping"];

/// Texts `key=value`, applied in order, and their source.
#[derive(Clone, Copy, Debug)]
pub struct Overrides<'a> {
    /// Name of the source for messages, such as `--set`.
    pub file: &'a str,
    /// The texts. A value is read as TOML, or as a bare text if it is not TOML.
    pub texts: &'a [String],
}

impl<'a> Overrides<'a> {
    /// No overrides.
    pub const NONE: Overrides<'static> = Overrides { file: "--set", texts: &[] };

    /// The overrides of a command line.
    pub fn set(texts: &'a [String]) -> Overrides<'a> {
        Overrides { texts, ..Overrides::NONE }
    }
}

/// Returns the keys that `key` stands for in a scenario in JSON: itself, or for a form that names several keys all
/// matches, if any.
///
/// # Errors
/// If the text is not JSON.
pub fn keys_meant(json: &str, key: &str) -> Result<Vec<String>, ScenarioError> {
    Ok(meant(&tree::from_json(json, "<scenario>")?, key))
}

fn meant(root: &Node, key: &str) -> Vec<String> {
    let flows = match root.entry("flows").map(|entry| &entry.value.data) {
        Some(Data::List(flows)) => &flows[..],
        _ => &[],
    };
    if let Some(rest) = key.strip_prefix(EVERY_FLOW) {
        return (0..flows.len()).map(|i| format!("flows[{i}].{rest}")).collect();
    }
    if key != TRANSPORT {
        return vec![key.to_owned()];
    }
    let traffic = root.entry("traffic").map(|entry| ("traffic".to_owned(), &entry.value));
    let named = traffic.into_iter().chain(flows.iter().enumerate().map(|(i, flow)| (format!("flows[{i}]"), flow)));
    let over_tcp = named.filter(|(_, flow)| flow.text(TRANSPORT).is_none_or(|name| !NO_TCP.contains(&name)));
    over_tcp.map(|(place, _)| format!("{place}.{TRANSPORT}")).collect()
}

/// Largest number of steps of a path: no key is half as deep, and each step costs the readers of the tree a call.
const DEEPEST: usize = 16;

/// Example of an override, for messages.
const EXAMPLE: &str = "key=value, such as tcp.window=8";

/// One step of a dotted path.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Splits `flows[2].to` into steps; `None` if the path is malformed.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if key.is_empty() || key.contains(|c: char| c.is_whitespace()) {
            return None;
        }
        steps.push(Step::Key(key));
        while !rest.is_empty() {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            rest = after;
        }
    }
    Some(steps)
}

/// Applies overrides.
pub fn apply(root: &mut Node, overrides: Overrides<'_>, problems: &mut Vec<Problem>) {
    let at = Origin { file: overrides.file.into(), line_column: None };
    for text in overrides.texts {
        let Some((key, value)) = text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            problems.push(at.problem("", quoted(text), EXAMPLE));
            continue;
        };
        let paths = meant(root, key);
        if paths.is_empty() {
            let what = if key == TRANSPORT { "TCP flow" } else { "[[flows]]" };
            problems.push(at.problem(key, format!("a scenario without a {what}"), format!("one with a {what}")));
        }
        for path in paths {
            if let Err(problem) = set(root, &path, value, text, &at) {
                problems.push(*problem);
            }
        }
    }
}

/// Sets the value at a path.
fn set(root: &mut Node, path: &str, value: &str, text: &str, at: &Origin) -> Result<(), Box<Problem>> {
    let Some(steps) = steps(path) else { return Err(Box::new(at.problem("", quoted(text), EXAMPLE))) };
    if steps.len() > DEEPEST {
        let found = format!("a path of {} steps, {}", steps.len(), quoted(path));
        return Err(Box::new(at.problem("", found, format!("a path of at most {DEEPEST} steps, such as flows[2].to"))));
    }
    // With [[flows]], [traffic] would add traffic, which is hardly what an override of one of its keys is meant to do.
    let of_traffic = matches!(steps[0], Step::Key("traffic"));
    if of_traffic && root.entry("traffic").is_none() && root.entry("flows").is_some() {
        let mut problem =
            at.problem(path, "a key of [traffic] in a scenario that has [[flows]] instead", "flows[N].KEY");
        problem.hint =
            Some("transport=NAME is the transport of every TCP flow, flows[*].KEY a key of every flow".into());
        return Err(Box::new(problem));
    }
    place(root, path, &steps, Node { at: at.clone(), data: literal(value, at) })
}

fn place(node: &mut Node, path: &str, steps: &[Step<'_>], value: Node) -> Result<(), Box<Problem>> {
    let Some((step, rest)) = steps.split_first() else {
        *node = value;
        return Ok(());
    };
    let at = value.at.clone();
    let found = node.describe();
    match (step, &mut node.data) {
        (Step::Key(key), Data::Table(entries)) => {
            let i = entries.iter().position(|e| e.key == *key).unwrap_or_else(|| {
                let empty = Node { at: at.clone(), data: Data::Table(Vec::new()) };
                entries.push(Entry { key: (*key).to_owned(), at: at.clone(), value: empty });
                entries.len() - 1
            });
            entries[i].at = at;
            place(&mut entries[i].value, path, rest, value)
        }
        (Step::Index(i), Data::List(items)) if *i < items.len() => place(&mut items[*i], path, rest, value),
        (Step::Index(i), Data::List(items)) => {
            let allowed = match items.len() {
                0 => "nothing: the list is empty".to_owned(),
                n => format!("a number from 0 to {}", n - 1),
            };
            Err(Box::new(at.problem(path, format!("[{i}]"), allowed)))
        }
        (Step::Key(key), _) => Err(Box::new(at.problem(path, format!("{key:?} inside {found}"), "a key of a table"))),
        (Step::Index(i), _) => Err(Box::new(at.problem(path, format!("[{i}] of {found}"), "a number in a list"))),
    }
}
