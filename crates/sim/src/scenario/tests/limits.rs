//! A scenario that is too large is refused, and a large one is read without delay.

use super::*;
use crate::batch::Control;

/// Each value has a position in the file; finding all of them must not take a pass over the file for each.
#[test]
fn a_long_file_is_read_in_one_go() {
    let flow = |n: usize| format!("[[flows]]\nname = \"f{n}\"\nfrom = 0\nto = 4\ntransport = \"newreno\"\n");
    let flows: String = (0..8_000).map(flow).collect();
    let text = CHAIN.split("[[flows]]").next().unwrap().to_owned() + &flows;
    let scenario = load(&text.replace("100s", "10000s")).unwrap();
    assert_eq!(scenario.flows.len(), 8_000);
    // The same on one line.
    let places: Vec<_> = (0..20_000).map(|n| format!("[\"{n}m\", \"0m\"]")).collect();
    let topology = format!("topology = {{ kind = \"positions\", positions = [{}] }}", places.join(", "));
    let text = CHAIN.replace("[topology]\nkind = \"chain\"\nhops = 4\n", &topology);
    assert_eq!(load(&text).unwrap().topology.nodes(), 20_000);
}

/// Lines and columns far into a file, after letters of several bytes.
#[test]
fn places_are_right_far_into_a_file() {
    let comment = "# Übergröße für jeden, 宽频\n".repeat(300);
    let text = format!("{comment}{CHAIN}").replace("hops = 4", "hops = 4 # ä\n\"spaßing\" = 1");
    let error = load(&text).unwrap_err().to_string();
    assert!(error.starts_with("chain.toml:307:1: topology.spaßing: found an unknown key"), "{error}");
    let wide = format!("name = \"{}\"; oops\n{CHAIN}", "ä".repeat(1_000));
    let error = load(&wide).unwrap_err().to_string();
    assert!(error.starts_with("chain.toml:1:1010: found text that is not TOML"), "{error}");
}

#[test]
fn places_in_json_count_letters_too() {
    for (text, expected) in [
        (
            "{\"name\": \"Übung\" oops}",
            "x:1:18: found text that is not JSON, allowed: a scenario in JSON (expected `,` or `}`)",
        ),
        ("{\n\"größe\": }", "x:2:10: found text that is not JSON, allowed: a scenario in JSON (expected value)"),
        ("{\n", "x:2:1: found text that is not JSON, allowed: a scenario in JSON (EOF while parsing an object)"),
    ] {
        assert_eq!(load_json(text, "x", &[]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_path_that_is_too_deep_is_refused() {
    let deep = format!("{}=1", ["a"; 20_000].join("."));
    let error = with(&[&deep]).unwrap_err().to_string();
    assert!(
        error.starts_with("--set: found a path of 20000 steps, \"a.a.a.")
            && error.ends_with("..., allowed: a path of at most 16 steps, such as flows[2].to"),
        "{error}"
    );
    let allowed = format!("{}=1", ["a"; 16].join("."));
    assert!(with(&[&allowed]).unwrap_err().to_string().starts_with("--set: a: found an unknown key"));
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let long = CHAIN.to_owned() + &"#".repeat(LARGEST);
    let allowed = format!("allowed: text of at most {LARGEST} bytes");
    for error in [load(&long).unwrap_err(), load_ns2(&long, "chain.toml", None, None, &[]).unwrap_err()] {
        assert_eq!(error.to_string(), format!("chain.toml: found {} bytes, {allowed}", long.len()));
    }
}

/// A search for a network that would take hours ends when it is stopped, before the first draw and within a run.
#[test]
fn a_stopped_control_ends_the_search_for_a_network() {
    let sparse = "profile = \"ns2\"\nduration = \"9s\"\n[topology]\nkind = \"random\"\nnodes = 5000\nwidth = \
        \"1000km\"\n\
                  height = \"1000km\"\nredraws = 100000\n[traffic]\ntransport = \"newreno\"\npairs = 1";
    let control = Control::new();
    control.stop();
    let error =
        crate::scenario::load(Form::Toml, sparse, "sparse.toml", Overrides::NONE, &control).unwrap_err().to_string();
    assert!(error.contains("not connected after 0 draws"), "{error}");
    let dense = load_toml(&sparse.replace("1000km", "10m").replace("5000", "5"), "dense.toml", &[]).unwrap();
    let stopped = crate::run(&dense, 1, &crate::RunOptions::default(), &control);
    assert!(matches!(stopped, Err(crate::RunError::Stopped)));
}
