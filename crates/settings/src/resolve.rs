//! Checks a table as written against the declared keys of a section, and fills in defaults.

use crate::error::{Problem, did_you_mean};
use crate::key::{Fallback, Key, Kind};
use crate::quantity::Unit;
use crate::sections::Profile;
use crate::tree::{Data, Node, Origin};
use crate::value::{Value, Values};
use fourhop_cc::Transport;
use fourhop_proto::node::OwnTransport;
use std::collections::BTreeMap;

/// A section whose keys are all as declared.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Path of the section: `mac`, `flows[2]`, or empty.
    pub path: String,
    /// Values with all defaults except computed ones.
    pub values: Values,
    /// Positions of the given keys.
    at: BTreeMap<&'static str, Origin>,
    /// Start of the section.
    whole: Origin,
}

impl Resolved {
    /// Returns a problem with the value of `key`, at its position or, for a default, at that of the section.
    pub fn problem(&self, key: &'static str, found: impl Into<String>, allowed: impl Into<String>) -> Problem {
        self.at.get(key).unwrap_or(&self.whole).problem(&join(&self.path, key), found, allowed)
    }

    /// Whether `key` was written, even if as "none".
    pub fn is_given(&self, key: &str) -> bool {
        self.at.contains_key(key)
    }

    /// Returns the value of `key` as written.
    pub fn show(&self, key: &'static str) -> String {
        self.values.get(key).map_or_else(|| Problem::MISSING.into(), show)
    }
}

/// Returns a value as messages show it.
pub fn show(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Quantity(unit, x) => format!("{:?}", unit.format(*x)),
        Value::Text(s) => format!("{s:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
    }
}

/// Returns `path.key`, or `key` at the top level.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Checks the table at `path`, which may have `keys`. `node` is `None` if the file has no such section; `whole` is the
/// position to report for missing keys. `selector` is the kind of topology or application, if known: keys of other
/// kinds are refused. `besides` are keys of the table that are separate sections. Returns `None` if there are problems.
#[expect(clippy::too_many_arguments, reason = "what is checked, and against what")]
pub fn resolve(
    keys: &[Key],
    node: Option<&Node>,
    path: &str,
    whole: &Origin,
    profile: Profile,
    selector: Option<&str>,
    besides: &[&str],
    problems: &mut Vec<Problem>,
) -> Option<Resolved> {
    let before = problems.len();
    let mut resolved = Resolved {
        path: path.to_owned(),
        values: Values::new(),
        at: BTreeMap::new(),
        whole: node.map_or(whole, |n| &n.at).clone(),
    };
    let belongs = |key: &Key| key.only_for.is_empty() || selector.is_none_or(|s| key.only_for.contains(&s));
    let entries = match node.map(|n| &n.data) {
        None => &[][..],
        Some(Data::Table(entries)) => entries,
        Some(_) => {
            let node = node.expect("INVARIANT: its data was just looked at");
            problems.push(node.at.problem(path, node.describe(), "a table of keys"));
            return None;
        }
    };
    for entry in entries.iter().filter(|e| !besides.contains(&e.key.as_str())) {
        let full = join(path, &entry.key);
        let names = keys.iter().filter(|k| belongs(k)).map(|k| k.name);
        let Some(key) = keys.iter().find(|k| k.name == entry.key) else {
            let names: Vec<_> = names.chain(besides.iter().copied()).collect();
            let mut problem = entry.at.problem(&full, "an unknown key", names.join(", "));
            problem.hint = did_you_mean(&entry.key, names);
            problems.push(problem);
            continue;
        };
        if !belongs(key) {
            let mut problem = entry.at.problem(
                &full,
                format!("a key that does not belong to {:?}", selector.unwrap_or_default()),
                names.collect::<Vec<_>>().join(", "),
            );
            problem.hint = Some(format!("it belongs to {}", key.only_for.join(", ")));
            problems.push(problem);
            continue;
        }
        resolved.at.insert(key.name, entry.value.at.clone());
        if key.is_optional() && entry.value.data == Data::Text("none".into()) {
            continue;
        }
        match read(&key.kind, selector, &entry.value) {
            Ok(value) => {
                resolved.values.insert(key.name, value);
            }
            Err(hint) => {
                let mut problem = entry.value.at.problem(&full, entry.value.describe(), key.allowed(selector));
                problem.hint = hint;
                problems.push(problem);
            }
        }
    }
    let missing = keys.iter().filter(|k| belongs(k) && !entries.iter().any(|e| e.key == k.name));
    for key in missing {
        if key.is_required() {
            // If the kind is unknown, so is whether this key is required.
            if key.only_for.is_empty() || selector.is_some() {
                problems.push(resolved.whole.problem(&join(path, key.name), Problem::MISSING, key.allowed(selector)));
            }
        } else if let Some(value) = key.default_value(profile) {
            resolved.values.insert(key.name, value);
        }
    }
    (problems.len() == before).then_some(resolved)
}

/// Returns the names that a flow's `transport` can have.
pub fn transport_names() -> Vec<&'static str> {
    let own = OwnTransport::ALL.iter().map(|t| t.name());
    Transport::ALL.iter().map(|t| t.name).chain(own).chain(["udp", "ping"]).collect()
}

impl Key {
    /// Returns the allowed values in a section of the kind `selector`, for messages and documentation.
    pub fn allowed(&self, selector: Option<&str>) -> String {
        self.kind.allowed(selector) + if self.is_optional() { ", or \"none\"" } else { "" }
    }

    /// Returns the allowed values for a table that already shows the unit.
    pub fn range(&self) -> String {
        self.kind.range() + if self.is_optional() { ", or none" } else { "" }
    }

    /// Returns the default in `profile`; `None` if there is no default or it follows from other keys.
    pub fn default_value(&self, profile: Profile) -> Option<Value> {
        let text = match self.default {
            Fallback::Both(text) => text,
            Fallback::Profile(ns2, _) if profile == Profile::Ns2 => ns2,
            Fallback::Profile(_, standard) => standard,
            Fallback::Layer(default) => return default(profile),
            Fallback::Required | Fallback::Computed(_) => return None,
        };
        if text == "none" {
            return None;
        }
        Some(match self.kind {
            Kind::Bool => Value::Bool(text == "true"),
            Kind::Int(..) | Kind::IntOrList(..) => Value::Int(text.parse().expect("INVARIANT: defaults are numbers")),
            Kind::Quantity(unit, ..) => Value::Quantity(unit, base(unit, text)),
            Kind::IntOr(..) => text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Int),
            Kind::Choice(_) | Kind::Text | Kind::Transport | Kind::Node | Kind::Form(_) => Value::Text(text.to_owned()),
            Kind::List(..) if text == "[]" => Value::List(Vec::new()),
            Kind::Positions
            | Kind::Coordinates
            | Kind::Waypoints
            | Kind::Gateways
            | Kind::Names(_)
            | Kind::List(..) => {
                unreachable!("INVARIANT: lists have no default but an empty one")
            }
        })
    }
}

impl Kind {
    /// Returns the allowed values in a section of the kind `selector`.
    fn allowed(&self, selector: Option<&str>) -> String {
        match self {
            Kind::Bool => "true or false".into(),
            Kind::Int(from, to) => format!("a whole number from {from} to {to}"),
            Kind::Quantity(unit, from, to) => format!("{} from \"{from}\" to \"{to}\"", unit.noun()),
            Kind::Choice(choices) => one_of(choices.iter().map(|&(name, _)| name)),
            Kind::Text => "text".into(),
            Kind::Transport => one_of(transport_names()),
            Kind::Node => "a node number, \"first\", \"last\", \"random\" or a name from [wired]".into(),
            Kind::Gateways => "a list of at least one node number, \"first\", \"last\" or \"random\"".into(),
            Kind::Names(1) => "a list of at least 1 name".into(),
            Kind::Names(least) => format!("a list of at least {least} names"),
            Kind::IntOrList(from, to, lists_for) => {
                let list = if takes_list(lists_for, selector) { ", or a list of such numbers" } else { "" };
                format!("a whole number from {from} to {to}{list}")
            }
            Kind::IntOr(from, to, names) => {
                format!("a whole number from {from} to {to} or {}", one_of(names.iter().map(|&(name, _)| name)))
            }
            Kind::Form(form) => form.noun().into(),
            Kind::List(kind, 0) => format!("a list, each item {}", kind.allowed(selector)),
            Kind::List(kind, least) => format!("a list of at least {least}, each item {}", kind.allowed(selector)),
            Kind::Positions => "a list of at least 2 positions such as [\"200m\", \"0m\"], each from \"-1000km\" to \
                                \"1000km\""
                .into(),
            Kind::Coordinates => {
                "a list of at least 2 positions such as [52.5163, 13.3777], degrees of latitude from -85 to 85 and of \
                                  longitude from -180 to 180"
                    .into()
            }
            Kind::Waypoints => "a list of [node, time or speed, x, y] or [node, time or speed, x, y, pause], such as \
                                [3, \"10s\", \"400m\", \"0m\"]"
                .into(),
        }
    }
}

impl Kind {
    fn range(&self) -> String {
        match self {
            Kind::Bool => "true/false".into(),
            Kind::Int(from, to) => format!("{from}–{to}"),
            Kind::Quantity(_, from, to) => format!("{from}–{to}"),
            Kind::IntOrList(from, to, _) => format!("{from}–{to}, or a list"),
            Kind::IntOr(from, to, names) => {
                format!("{from}–{to}, or {}", one_of(names.iter().map(|&(name, _)| name)))
            }
            Kind::Text => "text".into(),
            Kind::List(kind, 0) => format!("list, each item {}", kind.range()),
            Kind::List(kind, least) => format!("list of at least {least}, each item {}", kind.range()),
            other => other.allowed(None),
        }
    }
}

/// Whether a section of the kind `selector` may have a list; true if the kind is unknown.
fn takes_list(lists_for: &[&str], selector: Option<&str>) -> bool {
    selector.is_none_or(|s| lists_for.contains(&s))
}

fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ")
}

/// Returns the number in base units of a quantity in the tables.
fn base(unit: Unit, text: &str) -> f64 {
    unit.parse(text).expect("INVARIANT: quantities in the tables are well formed")
}

/// Reads a value of `kind`; the error is a hint, if more is known than that the value is not allowed.
fn read(kind: &Kind, selector: Option<&str>, node: &Node) -> Result<Value, Option<String>> {
    match (kind, &node.data) {
        (Kind::Bool, Data::Bool(b)) => Ok(Value::Bool(*b)),
        (Kind::Int(from, to), data) => int(data, *from, *to).map(Value::Int),
        (Kind::Quantity(unit, from, to), data) => quantity(*unit, data, from, to),
        (Kind::Choice(choices), Data::Text(s)) => {
            let names = choices.iter().map(|&(name, _)| name);
            if names.clone().any(|name| name == s) { Ok(Value::Text(s.clone())) } else { Err(did_you_mean(s, names)) }
        }
        (Kind::Text, Data::Text(s)) if !s.trim().is_empty() => Ok(Value::Text(s.clone())),
        (Kind::Transport, Data::Text(s)) => {
            let names = transport_names();
            if names.contains(&s.as_str()) { Ok(Value::Text(s.clone())) } else { Err(did_you_mean(s, names)) }
        }
        // Names are checked together with the wired side.
        (Kind::Node, Data::Text(s)) if !s.trim().is_empty() => Ok(Value::Text(s.clone())),
        (Kind::Gateways, Data::List(items)) if !items.is_empty() => {
            let nodes = items.iter().map(|item| match &item.data {
                Data::Int(n) if *n >= 0 => Ok(Value::Int(*n as u64)),
                Data::Text(s) if ["first", "last", "random"].contains(&s.as_str()) => Ok(Value::Text(s.clone())),
                _ => Err(Some(format!("one item is {}", item.describe()))),
            });
            nodes.collect::<Result<_, _>>().map(Value::List)
        }
        (Kind::Names(least), Data::List(items)) if items.len() >= *least => {
            let names = items.iter().map(|item| match &item.data {
                Data::Text(s) if !s.trim().is_empty() => Ok(Value::Text(s.clone())),
                _ => Err(Some(format!("one item is {}", item.describe()))),
            });
            names.collect::<Result<_, _>>().map(Value::List)
        }
        // The range follows from the topology and is checked with it.
        (Kind::Node, Data::Int(n)) if *n >= 0 => Ok(Value::Int(*n as u64)),
        (Kind::IntOrList(from, to, lists_for), Data::List(items))
            if !items.is_empty() && takes_list(lists_for, selector) =>
        {
            let numbers = items.iter().map(|item| int(&item.data, *from, *to).map(Value::Int));
            numbers.collect::<Result<_, _>>().map(Value::List)
        }
        (Kind::IntOrList(from, to, _), data) => int(data, *from, *to).map(Value::Int),
        (Kind::IntOr(_, _, names), Data::Text(s)) => {
            let names = names.iter().map(|&(name, _)| name);
            if names.clone().any(|name| name == s) { Ok(Value::Text(s.clone())) } else { Err(did_you_mean(s, names)) }
        }
        (Kind::IntOr(from, to, _), data) => int(data, *from, *to).map(Value::Int),
        (Kind::Form(form), Data::Text(s)) if form.fits(s) => Ok(Value::Text(s.clone())),
        (Kind::List(kind, least), Data::List(items)) if items.len() >= *least => {
            let values = items.iter().map(|item| {
                read(kind, selector, item).map_err(|hint| {
                    Some(format!("one item is {}{}", item.describe(), hint.map_or(String::new(), |h| format!(": {h}"))))
                })
            });
            values.collect::<Result<_, _>>().map(Value::List)
        }
        (Kind::Positions, Data::List(places)) if places.len() >= 2 => {
            places.iter().map(place).collect::<Result<_, _>>().map(Value::List)
        }
        (Kind::Coordinates, Data::List(places)) if places.len() >= 2 => {
            places.iter().map(coordinates).collect::<Result<_, _>>().map(Value::List)
        }
        (Kind::Waypoints, Data::List(items)) => items.iter().map(waypoint).collect::<Result<_, _>>().map(Value::List),
        _ => Err(None),
    }
}

fn int(data: &Data, from: u64, to: u64) -> Result<u64, Option<String>> {
    match data {
        Data::Int(n) => u64::try_from(*n).ok().filter(|n| (from..=to).contains(n)).ok_or(None),
        _ => Err(None),
    }
}

fn quantity(unit: Unit, data: &Data, from: &str, to: &str) -> Result<Value, Option<String>> {
    let value = match data {
        Data::Text(text) => unit.parse(text)?,
        Data::Int(n) if unit == Unit::Number => *n as f64,
        Data::Float(x) if unit == Unit::Number => *x,
        Data::Int(_) | Data::Float(_) => return Err(Some("the unit is missing".into())),
        _ => return Err(None),
    };
    if (base(unit, from)..=base(unit, to)).contains(&value) { Ok(Value::Quantity(unit, value)) } else { Err(None) }
}

/// Returns the two coordinates of a position.
fn two(node: &Node) -> Result<&[Node], Option<String>> {
    match &node.data {
        Data::List(parts) if parts.len() == 2 => Ok(parts),
        Data::List(parts) => Err(Some(format!("one position has {} coordinates", parts.len()))),
        _ => Err(Some(format!("one position is {}", node.describe()))),
    }
}

/// Reads a latitude and a longitude. Near the poles the projection is of little use.
fn coordinates(node: &Node) -> Result<Value, Option<String>> {
    let ranges = [("latitude", "-85", "85"), ("longitude", "-180", "180")];
    let degrees = two(node)?.iter().zip(ranges).map(|(part, (name, from, to))| {
        quantity(Unit::Number, &part.data, from, to).map_err(|_| Some(format!("one {name} is {}", part.describe())))
    });
    degrees.collect::<Result<_, _>>().map(Value::List)
}

fn place(node: &Node) -> Result<Value, Option<String>> {
    let lengths = two(node)?.iter().map(|c| {
        quantity(Unit::Length, &c.data, "-1000km", "1000km").map_err(|hint| {
            Some(format!("one coordinate is {}{}", c.describe(), hint.map_or(String::new(), |h| format!(": {h}"))))
        })
    });
    lengths.collect::<Result<_, _>>().map(Value::List)
}

fn waypoint(node: &Node) -> Result<Value, Option<String>> {
    let Data::List(parts) = &node.data else { return Err(Some(format!("one waypoint is {}", node.describe()))) };
    if !(4..=5).contains(&parts.len()) {
        return Err(Some(format!("one waypoint has {} items", parts.len())));
    }
    let part = |i: usize, allowed: &str, value: Result<Value, Option<String>>| {
        value.map_err(|_| Some(format!("item {} of one waypoint is {}, not {allowed}", i + 1, parts[i].describe())))
    };
    let when = |unit: Unit, from: &str, to: &str| quantity(unit, &parts[1].data, from, to);
    let length = |i: usize| {
        let allowed = "a length from \"-1000km\" to \"1000km\"";
        part(i, allowed, quantity(Unit::Length, &parts[i].data, "-1000km", "1000km"))
    };
    let mut values = vec![
        part(0, "a node number", int(&parts[0].data, 0, u64::from(u32::MAX)).map(Value::Int))?,
        part(
            1,
            "a time up to \"1000000s\" or a speed from \"0.001m/s\" to \"10000m/s\"",
            when(Unit::Time, "0s", "1000000s").or_else(|_| when(Unit::Speed, "0.001m/s", "10000m/s")),
        )?,
        length(2)?,
        length(3)?,
    ];
    if let Some(stay) = parts.get(4) {
        let allowed = "a time up to \"1000000s\"";
        values.push(part(4, allowed, quantity(Unit::Time, &stay.data, "0s", "1000000s"))?);
    }
    Ok(Value::List(values))
}
