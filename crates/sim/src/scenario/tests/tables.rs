//! Properties of the rows of the tables: each key has an effect, and the field that a key sets is the one its default
//! is read from.

use super::*;
use crate::batch::Control;
use crate::scenario::key::{Kind, Section};
use crate::scenario::layer::Profiled;
use crate::scenario::sections::*;
use crate::scenario::value::{Value, Values};
use serde_json::Value as Json;

/// Returns a value for each key of a section, as far from the defaults as its row allows.
fn unusual<S: Section>() -> Values {
    let value = |key: &Key| {
        let usual = key.default_value(Profile::Ns2);
        Some(match key.kind {
            Kind::Bool => Value::Bool(usual != Some(Value::Bool(true))),
            // A different number for each key, if the ranges are wide enough: two rows for one field would be detected.
            Kind::Int(from, to) => {
                Value::Int(to.min(from + 1 + S::KEYS.iter().position(|k| k.name == key.name)? as u64))
            }
            Kind::Quantity(unit, from, to) => {
                let (from, to) = (unit.parse(from).ok()?, unit.parse(to).ok()?);
                let share = 1 + S::KEYS.iter().position(|k| k.name == key.name)?;
                let within = (from + (to - from) * share as f64 / 128.0).round();
                Value::Quantity(unit, if unit == Unit::Power { from * 1e3 } else { within })
            }
            Kind::Choice(choices) => Value::Text(choices.last()?.0.to_owned()),
            _ => return None,
        })
    };
    S::KEYS.iter().filter_map(|key| Some((key.name, value(key)?))).collect()
}

/// The values that keys write to the fields of their layer are read back from there: no two rows name the same field,
/// and different types are converted without loss.
#[test]
fn rows_read_what_they_write() {
    fn check<S: Section>(least: usize, given: &[(&'static str, Value)]) {
        for profile in [Profile::Ns2, Profile::Standard] {
            let mut values = unusual::<S>();
            values.extend(given.iter().cloned());
            let mut config = S::Config::of(profile);
            S::from_values(&values).configure(&mut config);
            let used = S::values_of(&config);
            assert!(used.len() >= least, "{} has {} rows with a field", S::NAME, used.len());
            for (key, value) in used {
                assert_eq!(Some(&value), values.get(key), "{}.{key}", S::NAME);
            }
        }
    }
    check::<Mac>(18, &[]);
    check::<Link>(7, &[]);
    check::<Edca>(16, &[]);
    check::<Routing>(36, &[]);
    check::<Tcp>(35, &[]);
    check::<TcpAp>(12, &[]);
    check::<Radio>(5, &[]);
    check::<GatewayKeys>(7, &[]);
    check::<C3tcp>(3, &[]);
}

/// The documented defaults of adaptive pacing by profile match the values that the reader fills in.
#[test]
fn the_defaults_of_adaptive_pacing_are_as_described() {
    let resolved = |profile: &str| -> Json {
        let scenario = with(&[&format!("tcp_ap.profile={profile}")]).unwrap();
        serde_json::from_str(&scenario.to_json()).expect("an object")
    };
    let (paper, code) = (resolved("paper"), resolved("authors-code"));
    let mut described = 0;
    for key in TcpAp::KEYS {
        let key::Fallback::Computed(words) = key.default else { continue };
        let show = |scenario: &Json| match &scenario["tcp_ap"][key.name] {
            Json::String(text) if matches!(key.kind, Kind::Choice(_)) => format!("`{text}`"),
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert_eq!(words, format!("{}; `authors-code`: {}", show(&paper), show(&code)), "{}", key.name);
        described += 1;
    }
    assert_eq!(described, 10);
}

/// A scenario with all features, so that every key can matter in one of its [`VARIANTS`].
const EVERYTHING: &str = r#"profile = "ns2"
duration = "100s"

[topology]
kind = "chain"
hops = 5

[[nodes]]
node = 1

[[losses]]
from = 2
to = 3
loss = "80dB"

[[walls]]
corners = [["1m", "-1m"], ["1m", "1m"]]
loss = "1dB"

[mac]
rate_control = "aarf"

[routing]
hello = true

[c3tcp]
enabled = true
unaware = [1]

[wired]
gateways = [4]
nodes = ["router", "host"]

[[wires]]
ends = ["gateway-1", "router"]

[[wires]]
ends = ["router", "host"]

[gateway]
kind = "gap"

[traffic]
transport = "tcp-ap"

[[flows]]
from = "first"
to = "host"
transport = "adhoc-tcp"
"#;

/// Changes of [`EVERYTHING`] under which further keys apply.
const VARIANTS: &[&[&str]] = &[
    &[],
    &["adhoc_tcp.probe_bound=largest-rto", "tcp.ack_policy=delayed"],
    &["gateway.kind=fair-share", "gateway.capacity=1Mbps"],
    &["gateway.kind=fq-codel"],
    &["link.red=true"],
    &["routing.protocol=ssa-aodv", "routing.signal_threshold=-80dBm"],
    &["routing.metric=etx"],
    &["routing.protocol=babel"],
    &["mac.rate_control=minstrel"],
    &["mac.edca=true", "c3tcp.enabled=false"],
    &["c3tcp.enabled=false", "radios=[{channel=44,nodes=[0]},{channel=36}]"],
    &["radio.model=sinr", "radio.rate=11Mbps", "topology.spacing=20m"],
    &["radio.phy=vht", "mac.rate_control=fixed", "c3tcp.enabled=false"],
    &["radio.phy=ht", "mac.rate_control=minstrel", "c3tcp.enabled=false"],
    &[
        "radio.phy=ht",
        "radio.model=sinr",
        "mac.rate_control=fixed",
        "mac.protection=auto",
        "c3tcp.enabled=false",
        "topology.spacing=20m",
    ],
    &["radio.model=sinr", "radio.errors=ratio", "radio.fading=rician", "topology.spacing=20m"],
    &["radio.model=sinr", "radio.path_loss=two-ray", "radio.shadowing=3dB", "topology.spacing=20m"],
    &["radio.model=sinr", "radio.path_loss=itu-indoor", "topology.spacing=20m"],
    &["topology={kind='parallel-chains',hops=3}"],
    &["topology={kind='parallel-chains',hops=[2,3]}"],
    &["topology={kind='cross',hops=4}"],
    &["topology={kind='grid',columns=3,rows=2}"],
    &["topology={kind='random',nodes=20,width='600m',height='600m'}", "traffic.pairs=2"],
    &[
        "topology={kind='positions',positions=[['0m','0m'],['9m','0m'],['9m','9m'],['0m','9m'],['5m','5m']]}",
        "traffic.pairs=2",
    ],
    &[
        "topology={kind='coordinates',coordinates=[[50,9],[50,9.001],[50,9.002],[50,9.003],[50,9.004]]}",
        "traffic.pairs=2",
    ],
    &["radio.model=sinr", "losses=[{from=0,to=1,snr='9dB'}]"],
    &["radio.model=sinr", "radio.preamble_sinr='-10dB'", "losses=[{from=0,to=1,delivery='50%'}]"],
    &["radio.model=sinr", "radio.preamble_sinr='-10dB'", "losses=[{from=0,to=1,etx=2}]"],
    &["radio.model=sinr", "losses=[{from=0,to=1,rate='1Mbps'}]"],
    &["routing={protocol='static'}", "routes=[{node=0,to=4,via=1}]"],
    &["losses=[]", "mobility={model='waypoints',waypoints=[[1,'10s','400m','0m']]}"],
    &["losses=[]", "mobility={model='random-waypoint',speed_max='5m/s',width='1km',height='1km'}"],
    &["traffic.transport=udp", "traffic.rate=64kbps", "flows[0].transport=udp", "flows[0].rate=64kbps"],
    &["traffic.transport=ping", "flows[0].transport=ping"],
    &["traffic.transport=atp"],
    &["traffic.app=transfer", "traffic.size=1MB", "flows[0].app=transfer", "flows[0].size=1MB"],
    &["traffic.app=files", "traffic.mean_pause=1s", "flows[0].app=files", "flows[0].mean_pause=1s"],
];

/// Keys that do not concern the network of a run (its name, its duration), that name a file, or that determine which
/// other keys there are and cannot be changed alone.
const ELSEWHERE: &[&str] = &[
    "name",
    "duration",
    "warmup",
    "batches",
    "packets",
    "sample_every",
    "profile",
    "topology.redraws",
    "mobility.file",
    "mobility.model",
    "traffic.app",
    "flows.app",
    "flows.name",
    "nodes.name",
];

/// Returns texts for values that match this schema.
fn candidates(schema: &Json) -> Vec<String> {
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().flat_map(candidates).collect();
    }
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        let units = pattern.rsplit_once('(').map_or("", |(_, rest)| rest.split(')').next().unwrap_or_default());
        let numbers = ["3", "0.7", "11", "40", "70", "350", "400", "-70", "1100"];
        return units.split('|').flat_map(|unit| numbers.map(|number| format!("{number}{unit}"))).collect();
    }
    match schema["type"].as_str() {
        Some("boolean") => vec!["true".into(), "false".into()],
        Some("integer") => ["3", "7", "2", "300"].map(str::to_owned).to_vec(),
        Some("number") => vec!["1.25".into(), "0.5".into()],
        Some("array") => [
            "[2]",
            "[[60,9],[60,9.001],[60,9.002],[60,9.003],[60,9.004]]",
            "['host', 'router']",
            "['gateway-1', 'host']",
            "[[2, '20s', '500m', '0m']]",
            "[['0m','0m'],['9m','0m'],['9m','9m'],['0m','9m'],['6m','6m']]",
        ]
        .map(str::to_owned)
        .to_vec(),
        _ => Vec::new(),
    }
}

/// A row without a use would be a key without effect.
#[test]
fn every_key_has_an_effect() {
    let schema: Json = serde_json::from_str(&schema()).expect("the schema is JSON");
    let setup = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let scenario = load_toml(EVERYTHING, "everything.toml", &overrides)?;
        crate::translate::setup(&scenario, scenario.seed, &Control::new()).map(|(setup, _)| format!("{setup:?}"))
    };
    let bases: Vec<String> = VARIANTS.iter().map(|variant| setup(variant).unwrap_or_else(|e| panic!("{e}"))).collect();
    let idle_of = |section: &str, table: &Json| {
        let (place, table) = match table["type"].as_str() {
            Some("array") => (format!("{section}[0]."), &table["items"]),
            _ => (format!("{section}."), table),
        };
        let keys: Vec<_> = match table["properties"].as_object() {
            Some(keys) => keys.iter().map(|(key, form)| (place.as_str(), key.as_str(), form)).collect(),
            None => vec![("", section, table)],
        };
        let has_effect = |place: &str, key: &str, form: &Json| {
            let texts = candidates(form);
            VARIANTS.iter().zip(&bases).any(|(variant, base)| {
                let changes = texts.iter().map(|text| format!("{place}{key}={text}"));
                let accepted = changes.filter_map(|change| setup(&[variant, &[change.as_str()][..]].concat()).ok());
                // Of two values that a variant accepts, one differs from its own.
                accepted.take(2).any(|changed| changed != *base)
            })
        };
        let named = |place: &str, key: &str| if place.is_empty() { key.into() } else { format!("{section}.{key}") };
        keys.into_iter()
            .filter(|(place, key, form)| !ELSEWHERE.contains(&&*named(place, key)) && !has_effect(place, key, form))
            .map(|(place, key, _)| named(place, key))
            .collect::<Vec<_>>()
    };
    let sections = schema["properties"].as_object().expect("sections");
    let idle: Vec<String> = std::thread::scope(|scope| {
        let looked_at: Vec<_> =
            sections.iter().map(|(section, table)| scope.spawn(|| idle_of(section, table))).collect();
        looked_at.into_iter().flat_map(|section| section.join().expect("no panic")).collect()
    });
    assert_eq!(idle, [] as [&str; 0], "keys without an effect");
}
