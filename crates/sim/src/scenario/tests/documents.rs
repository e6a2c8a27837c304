//! Schema, reference page and catalogue match the reader.

use super::*;
use serde_json::Value as Json;

fn parsed() -> Json {
    serde_json::from_str(&schema()).expect("the schema is JSON")
}

/// Returns the keys of every section as written in the resolved scenario.
fn written(scenario: &Scenario) -> serde_json::Map<String, Json> {
    serde_json::from_str(&scenario.to_json()).expect("an object")
}

#[test]
fn the_schema_knows_every_key_and_its_meaning() {
    let schema = parsed();
    for (name, value) in written(&with(&[]).unwrap()) {
        let known = &schema["properties"][&name];
        assert!(known.is_object(), "{name}");
        let (keys, known) = match &value {
            Json::Object(keys) => (keys.clone(), known),
            Json::Array(items) => (items[0].as_object().unwrap().clone(), &known["items"]),
            _ => continue,
        };
        for key in keys.keys() {
            let description = known["properties"][key]["description"].as_str();
            assert!(description.is_some_and(|d| d.contains("Default: ")), "{name}.{key}");
        }
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["link"]["properties"]["arp_delay"]["default"], "5us");
    // An editor must not fill in a default that depends on the profile.
    assert_eq!(schema["properties"]["mac"]["properties"]["nav_reset"]["default"], Json::Null);
}

#[test]
fn quantities_match_their_pattern() {
    let schema = parsed();
    let pattern = schema["properties"]["radio"]["properties"]["rate"]["pattern"].as_str().unwrap();
    assert_eq!(pattern, r"^\s*[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?\s*(bps|kbps|Mbps|Gbps)\s*$");
}

#[test]
fn the_reference_page_has_a_row_for_every_key() {
    let page = reference_markdown();
    for (name, value) in written(&with(&[]).unwrap()) {
        if let Json::Object(keys) = value {
            assert!(page.contains(&format!("## `[{name}]`")), "{name}");
            for key in keys.keys() {
                assert!(page.contains(&format!("\n| `{key}` | ")), "{name}.{key}");
            }
        }
    }
    assert!(page.contains("| `duration` | Simulated time; with `packets`, the maximum. | 1ms–1000000s | required |"));
    let floods = "| `rreq_retries` | Number of full floods after the first one. | 0–255 | 3 (ns2), 2 (standard) |";
    assert!(page.contains(floods));
    // Tables have rows of four cells.
    assert!(page.lines().filter(|l| l.starts_with("| `") && l.ends_with('|')).all(|l| l.matches(" | ").count() >= 2));
}

#[test]
fn the_catalogue_lists_what_the_reader_takes() {
    let catalog = catalog();
    for transport in &catalog.transports {
        assert!(FlowTransport::find(transport.name).is_some(), "{}", transport.name);
    }
    assert!(catalog.transports.iter().any(|t| t.name == "newreno"));
    assert_eq!(catalog.topologies.len(), 7);
    for (kind, entries) in catalog.kinds() {
        assert!(entries.iter().all(|e| !e.summary.is_empty()), "{kind}");
    }
}
