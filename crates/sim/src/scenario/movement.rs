//! Conversion between `[mobility]` and a [`Movement`]. Movement files, the only files that a scenario refers to, are
//! read here; the resolved scenario includes their content, so it is complete by itself.

use super::error::Problem;
use super::quantity::Unit;
use super::resolve::{Resolved, show};
use super::sections::{MobilityKeys, MobilityModel, Start};
use super::value::{Field, Keys, Metres, Speed, Value};
use crate::mobility::file::Tracks;
use crate::mobility::{self, Movement, Waypoint, bonnmotion, ns2, random_waypoint, travel};
use crate::topology::{Position, Topology, distance};
use fourhop_units::{Dur, NodeId, Time};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Largest movement file, in bytes; its content takes several times that in memory.
const LARGEST: u64 = 64 << 20;

/// Reads the movement file that `keys` name, relative to the folder of `scenario`; `None` if they name none.
pub fn tracks(keys: &MobilityKeys, resolved: &Resolved, scenario: &str) -> Result<Option<Tracks>, Box<Problem>> {
    let Some(name) = &keys.file else { return Ok(None) };
    let path = Path::new(scenario).parent().unwrap_or(Path::new("")).join(name);
    let refused = |found: String, allowed: &str| {
        let mut problem = resolved.problem("file", found, allowed);
        problem.hint = Some(format!("looked for {}", path.display()));
        Box::new(problem)
    };
    let mut text = String::new();
    // One byte beyond the limit reveals a file that is too large, even if it is a pipe and has no size.
    std::fs::File::open(&path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text)).map_err(|error| {
        refused(format!("{name:?}, which cannot be read: {error}"), "a movement file as plain text")
    })?;
    if text.len() as u64 > LARGEST {
        let allowed = format!("a movement file of at most {LARGEST} bytes");
        return Err(refused(format!("{name:?}, which is larger"), &allowed));
    }
    let read = match keys.model {
        MobilityModel::BonnMotion => bonnmotion::read(&text),
        _ => ns2::read(&text),
    };
    read.map(Some).map_err(|error: mobility::FileError| {
        Box::new(Problem {
            file: path.display().to_string(),
            line: Some(error.line),
            column: Some(error.column),
            key: "mobility.file".into(),
            found: error.found,
            allowed: error.allowed,
            hint: None,
        })
    })
}

/// Returns the movement of `keys`, or `None` if no node moves; as error the invalid key, its value and the allowed
/// ones.
pub fn movement(
    keys: &MobilityKeys,
    tracks: Option<Tracks>,
    topology: &Topology,
) -> Result<Option<Movement>, (&'static str, String, String)> {
    const GIVEN: &str = "INVARIANT: keys of the model are present";
    Ok(match keys.model {
        MobilityModel::Fixed => None,
        MobilityModel::Ns2 | MobilityModel::BonnMotion => {
            Some(Movement::Waypoints(Arc::new(tracks.expect(GIVEN).waypoints)))
        }
        MobilityModel::Waypoints => {
            let Some(Value::List(items)) = &keys.waypoints else { unreachable!("{GIVEN}") };
            let ways = ways(items, topology).map_err(|(found, allowed)| ("waypoints", found, allowed))?;
            Some(Movement::Waypoints(Arc::new(ways)))
        }
        MobilityModel::RandomWaypoint => {
            let (Speed(speed_min), Speed(speed_max)) = (keys.speed_min.expect(GIVEN), keys.speed_max.expect(GIVEN));
            if speed_min > speed_max {
                let found = Unit::Speed.format(speed_min);
                let allowed = format!("at most `speed_max`, {:?}", Unit::Speed.format(speed_max));
                return Err(("speed_min", format!("{found:?}"), allowed));
            }
            let still = keys.still.expect(GIVEN);
            if still > topology.nodes() {
                return Err(("still", still.to_string(), format!("at most the number of nodes, {}", topology.nodes())));
            }
            Some(Movement::RandomWaypoint(random_waypoint::Config {
                still,
                speed_min,
                speed_max,
                pause: keys.pause.expect(GIVEN),
                width: keys.width.expect(GIVEN).0,
                height: keys.height.expect(GIVEN).0,
                steady: keys.start == Some(Start::SteadyState),
                seed: keys.seed,
            }))
        }
    })
}

/// Upper bound on the duration of a run.
const LAST: Time = Time::from_secs(1_000_000);

/// Returns the paths of all nodes from the list `waypoints`.
fn ways(items: &[Value], topology: &Topology) -> Result<Vec<Vec<Waypoint>>, (String, String)> {
    let count = topology.nodes();
    // The starting positions are known unless they depend on the seed.
    let starts: Option<Vec<Position>> = match topology {
        Topology::Random { .. } => None,
        // The range matters only for random networks.
        fixed => fixed.place(0, 0.0).ok(),
    };
    let mut ways: Vec<Vec<Waypoint>> = vec![Vec::new(); count as usize];
    for item in items {
        let Value::List(parts) = item else { unreachable!("INVARIANT: waypoints are lists") };
        let metres = |value: &Value| Metres::from_value(Some(value)).0;
        let node = u32::from_value(Some(&parts[0]));
        let place = (metres(&parts[2]), metres(&parts[3]));
        let refuse = |allowed: String| Err((show(item), allowed));
        let Some(way) = ways.get_mut(node as usize) else {
            return refuse(format!("a node number from 0 to {}", count - 1));
        };
        let start = starts.as_ref().map(|starts| starts[NodeId(node).index()]);
        let before = way.last().copied().or(start.map(|place| Waypoint { at: Time::ZERO, place }));
        let at = match (&parts[1], before) {
            (Value::Quantity(Unit::Speed, speed), Some(before)) => {
                before.at + travel(distance(before.place, place), *speed)
            }
            (Value::Quantity(Unit::Speed, _), None) => {
                return refuse("a time: where this node of a random topology starts depends on the seed".into());
            }
            (time, before) => {
                let at = Time::ZERO + Dur::from_value(Some(time));
                if let Some(before) = before.filter(|before| at < before.at) {
                    let earliest = Unit::Time.format(before.at.as_nanos() as f64);
                    return refuse(format!("{earliest:?} or later, when the node has completed the previous waypoint"));
                }
                at
            }
        };
        way.push(Waypoint { at, place });
        if let Some(stay) = parts.get(4) {
            way.push(Waypoint { at: at + Dur::from_value(Some(stay)), place });
        }
        if way.last().is_some_and(|last| last.at > LAST) {
            return refuse("a waypoint that ends within \"1000000s\"".into());
        }
    }
    Ok(ways)
}

/// Returns the keys that describe a movement.
pub fn keys(movement: Option<&Movement>) -> (MobilityModel, Keys) {
    match movement {
        None => (MobilityModel::Fixed, vec![]),
        Some(Movement::Waypoints(ways)) => {
            let items = ways.iter().enumerate().flat_map(|(node, way)| way.iter().map(move |point| item(node, point)));
            (MobilityModel::Waypoints, vec![("waypoints", Some(Value::List(items.collect())))])
        }
        Some(Movement::RandomWaypoint(config)) => {
            let start = if config.steady { Start::SteadyState } else { Start::Topology };
            let keys = vec![
                ("speed_min", Speed(config.speed_min).to_value()),
                ("speed_max", Speed(config.speed_max).to_value()),
                ("pause", config.pause.to_value()),
                ("width", Metres(config.width).to_value()),
                ("height", Metres(config.height).to_value()),
                ("start", start.to_value()),
                ("still", config.still.to_value()),
                ("seed", config.seed.to_value()),
            ];
            (MobilityModel::RandomWaypoint, keys)
        }
    }
}

fn item(node: usize, waypoint: &Waypoint) -> Value {
    let (x, y) = waypoint.place;
    Value::List(vec![
        Value::Int(node as u64),
        Value::Quantity(Unit::Time, waypoint.at.as_nanos() as f64),
        Value::Quantity(Unit::Length, x),
        Value::Quantity(Unit::Length, y),
    ])
}
