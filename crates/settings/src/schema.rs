//! The tables of keys as JSON Schema, for editors, and as a page of documentation.

use crate::key::{Choice, Fallback, Key, Kind, Section};
use crate::quantity::{ALL as ALL_UNITS, Unit};
use crate::resolve::{show, transport_names};
use crate::sections::{
    self, AdhocTcp, C3tcp, Edca, FlowKeys, GatewayKeys, General, Link, LossKeys, Mac, MobilityKeys, NodeKeys, Profile,
    Radio, RadioKeys, RouteKeys, Routing, Tcp, TcpAp, TopologyKeys, TopologyKind, TrafficKeys, WallKeys, WireKeys,
    WiredKeys,
};
use serde_json::{Map, Value as Json, json};

/// A section without its type.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name in the file; empty for the top level.
    pub name: &'static str,
    /// Description of the section.
    pub about: &'static str,
    /// Keys, in the order of the file.
    pub keys: &'static [Key],
}

fn table<S: Section>() -> Table {
    Table { name: S::NAME, about: S::ABOUT.trim(), keys: S::KEYS }
}

macro_rules! own_tables {
    ($($field:ident: $file:ident::$section:ident;)+) => { [$(table::<sections::$file::$section>(),)+] };
}

/// Returns all sections in the order of a file.
pub fn tables() -> Vec<Table> {
    let network = [
        table::<General>(),
        table::<TopologyKeys>(),
        table::<MobilityKeys>(),
        table::<Radio>(),
        table::<RadioKeys>(),
        table::<NodeKeys>(),
        table::<LossKeys>(),
        table::<WallKeys>(),
        table::<Mac>(),
        table::<Edca>(),
        table::<Link>(),
        table::<Routing>(),
        table::<RouteKeys>(),
    ];
    let transports = [
        table::<Tcp>(),
        table::<TcpAp>(),
        table::<AdhocTcp>(),
        table::<C3tcp>(),
        table::<WiredKeys>(),
        table::<WireKeys>(),
        table::<GatewayKeys>(),
        table::<TrafficKeys>(),
        table::<FlowKeys>(),
    ];
    network.into_iter().chain(crate::own_sections!(own_tables)).chain(transports).collect()
}

/// Whether there may be several sections `name`, each under `[[name]]`.
pub fn is_list(name: &str) -> bool {
    matches!(name, "radios" | "nodes" | "losses" | "walls" | "routes" | "wires" | "flows")
}

/// Returns the keys of the top level that are sections, in the order of a file.
pub fn section_names() -> Vec<&'static str> {
    tables().iter().map(|table| table.name).filter(|name| !name.is_empty()).collect()
}

/// Returns the JSON Schema (draft 2020-12) of a scenario. It includes every key, its form and its documentation; only
/// the reader checks ranges of quantities and conditions that involve several keys.
pub fn schema() -> String {
    let tables = tables();
    // INVARIANT: the first table is that of the top level.
    let (general, sections) = tables.split_first().expect("there are tables");
    let mut properties = properties(general.keys);
    for section in sections {
        let object = object(section);
        let schema = match section.name {
            name if is_list(name) => json!({ "type": "array", "minItems": 1, "items": object }),
            _ => object,
        };
        properties.insert(section.name.to_owned(), schema);
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fourhop scenario",
        "description": general.about,
        "type": "object",
        "properties": properties,
        "required": required(general.keys),
        // A movement file contains the starting positions.
        "anyOf": [{ "required": ["topology"] }, { "required": ["mobility"] }],
        "additionalProperties": false,
    });
    serde_json::to_string_pretty(&schema).expect("INVARIANT: a schema is JSON")
}

fn object(table: &Table) -> Json {
    json!({
        "type": "object",
        "description": table.about,
        "properties": properties(table.keys),
        "required": required(table.keys),
        "additionalProperties": false,
    })
}

/// Keys that are required for every kind of the section.
fn required(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().filter(|k| k.is_required() && k.only_for.is_empty()).map(|k| k.name).collect()
}

fn properties(keys: &[Key]) -> Map<String, Json> {
    keys.iter().map(|key| (key.name.to_owned(), property(key))).collect()
}

fn property(key: &Key) -> Json {
    let mut schema = match key.kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Int(from, to) => int(from, to),
        Kind::Quantity(unit, ..) => quantity(unit),
        Kind::Choice(choices) => json!({ "enum": choices.iter().map(|(name, _)| name).collect::<Vec<_>>() }),
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Transport => json!({ "enum": transport_names() }),
        Kind::Node => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "minLength": 1 }] }),
        Kind::Gateways => json!({
            "type": "array",
            "minItems": 1,
            "items": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "enum": ["first", "last", "random"] }] },
        }),
        Kind::Names(least) => {
            json!({ "type": "array", "minItems": least, "items": { "type": "string", "minLength": 1 } })
        }
        Kind::IntOrList(from, to, _) => {
            json!({ "anyOf": [int(from, to), { "type": "array", "items": int(from, to), "minItems": 1 }] })
        }
        Kind::IntOr(from, to, names) => {
            json!({ "anyOf": [int(from, to), { "enum": names.iter().map(|(name, _)| name).collect::<Vec<_>>() }] })
        }
        Kind::Form(_) => json!({ "type": "string", "minLength": 1 }),
        Kind::List(kind, least) => {
            json!({ "type": "array", "minItems": least, "items": property(&Key { kind: *kind, ..*key }) })
        }
        Kind::Positions => json!({
            "type": "array",
            "minItems": 2,
            "items": { "type": "array", "items": quantity(Unit::Length), "minItems": 2, "maxItems": 2 },
        }),
        Kind::Coordinates => json!({
            "type": "array",
            "minItems": 2,
            "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 },
        }),
        Kind::Waypoints => json!({
            "type": "array",
            "items": { "type": "array", "minItems": 4, "maxItems": 5 },
        }),
    };
    if key.is_optional() {
        schema = json!({ "anyOf": [schema, { "const": "none" }] });
    }
    schema["description"] = describe(key).into();
    let defaults = [Profile::Ns2, Profile::Standard].map(|profile| key.default_value(profile));
    if let [Some(ns2), Some(standard)] = &defaults
        && ns2 == standard
    {
        schema["default"] = ns2.to_json();
    }
    schema
}

fn int(from: u64, to: u64) -> Json {
    json!({ "type": "integer", "minimum": from, "maximum": to })
}

/// A text that looks like a quantity.
fn quantity(unit: Unit) -> Json {
    if unit == Unit::Number {
        let number = r"^\s*[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?\s*$";
        return json!({ "anyOf": [{ "type": "number" }, { "type": "string", "pattern": number }] });
    }
    let units = unit.units().iter().map(|&(name, _)| name).collect::<Vec<_>>().join("|");
    json!({ "type": "string", "pattern": format!(r"^\s*[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?\s*({units})\s*$") })
}

/// Returns the documentation of a key and its values.
fn describe(key: &Key) -> String {
    let mut text = format!("{} {}.", key.doc.trim(), capitalised(&key.allowed(None)));
    if let Kind::Choice(choices) = key.kind {
        for (name, meaning) in choices {
            text += &format!(" {name}: {meaning}.");
        }
    }
    text + &format!(" Default: {}.", default(key))
}

fn default(key: &Key) -> String {
    let of = |profile| key.default_value(profile).map_or("none".to_owned(), |value| show(&value).replace('"', ""));
    match (key.default, [Profile::Ns2, Profile::Standard].map(of)) {
        (Fallback::Required, _) => "required".into(),
        (Fallback::Computed(words), _) => words.into(),
        (_, [ns2, standard]) if ns2 == standard => ns2,
        (_, [ns2, standard]) => format!("{ns2} (ns2), {standard} (standard)"),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns keys as a Markdown table.
pub fn key_table(keys: &[Key]) -> String {
    Explained::default().key_table("", keys)
}

/// Keys and choices that a page has explained already; later tables refer to them.
#[derive(Default)]
struct Explained {
    keys: Vec<(&'static str, &'static str, String)>,
    choices: Vec<(&'static [(&'static str, &'static str)], String)>,
}

impl Explained {
    fn key_table(&mut self, title: &str, keys: &[Key]) -> String {
        let mut text = String::from("| key | meaning | allowed | default |\n|---|---|---|---|\n");
        for key in keys {
            let doc = key.doc.trim();
            let (meaning, allowed) = match self.keys.iter().find(|(name, known, _)| (*name, *known) == (key.name, doc))
            {
                Some((_, _, place)) => (format!("As in {place}."), String::new()),
                None => (meaning(key), self.allowed(title, key)),
            };
            self.keys.push((key.name, doc, title.to_owned()));
            text += &format!("| `{}` | {meaning} | {allowed} | {} |\n", key.name, default(key));
        }
        text
    }

    fn allowed(&mut self, title: &str, key: &Key) -> String {
        let Kind::Choice(choices) = key.kind else {
            return match key.kind {
                Kind::Transport => transport_names().iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", "),
                _ => key.range(),
            };
        };
        if let Some((_, place)) = self.choices.iter().find(|(known, _)| *known == choices) {
            let names = choices.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return format!("{names}: see {place}");
        }
        self.choices.push((choices, format!("`{}` in {title}", key.name)));
        choices.iter().map(|(name, what)| format!("`{name}`: {what}")).collect::<Vec<_>>().join("; ")
    }
}

fn meaning(key: &Key) -> String {
    let mut meaning = key.doc.trim().to_owned();
    if !key.only_for.is_empty() {
        meaning += &format!(" Only for {}.", key.only_for.join(", "));
    }
    meaning
}

/// Returns all keys as a Markdown page.
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Scenario reference\n\n\
         A scenario is a TOML file. Write quantities as strings with a unit, such as `\"2Mbps\"`, and plain numbers \
         without quotes. Missing keys have the default of the `profile`. `\"none\"` switches a feature or limit \
         off.\n\n\
         | quantity | units |\n|---|---|\n",
    );
    for unit in ALL_UNITS.into_iter().filter(|&unit| unit != Unit::Number) {
        page += &format!("| {} | {} |\n", unit.noun().trim_start_matches("a "), unit.unit_names());
    }
    let mut explained = Explained::default();
    for table in tables() {
        let title = match table.name {
            "" => "Top level".to_owned(),
            name if is_list(name) => format!("`[[{name}]]`"),
            name => format!("`[{name}]`"),
        };
        page += &format!("\n## {title}\n\n{}\n\n{}", table.about, explained.key_table(&title, table.keys));
    }
    page += "\n## Kinds of topology\n\n| kind | what | keys |\n|---|---|---|\n";
    for (kind, what) in TopologyKind::CHOICES {
        let keys = TopologyKeys::KEYS.iter().filter(|k| k.only_for.contains(kind)).map(|k| format!("`{}`", k.name));
        page += &format!("| `{kind}` | {what} | {} |\n", keys.collect::<Vec<_>>().join(", "));
    }
    page
}
