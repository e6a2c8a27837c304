//! `[mobility]` to and from a [`Movement`]. Movement files are read here, the only files a scenario refers to; the resolved
//! scenario holds what was in them, so that it stands for itself.

use super::error::Problem;
use super::key::{Field, Metres, Speed, Value};
use super::quantity::Unit;
use super::resolve::{Resolved, show};
use super::sections::{MobilityKeys, MobilityModel, Start};
use crate::mobility::file::Tracks;
use crate::mobility::{self, Movement, Waypoint, bonnmotion, ns2, random_waypoint, travel};
use crate::topology::{Position, Topology, distance};
use fourhop_units::{Dur, NodeId, Time};
use std::path::Path;
use std::sync::Arc;

/// Reads the movement file that `keys` name, relative to the folder of `scenario`; `None` if they name none.
pub fn tracks(keys: &MobilityKeys, resolved: &Resolved, scenario: &str) -> Result<Option<Tracks>, Box<Problem>> {
    let Some(name) = &keys.file else { return Ok(None) };
    let path = Path::new(scenario).parent().unwrap_or(Path::new("")).join(name);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let found = format!("{name:?}, which cannot be read: {error}");
        let mut problem = resolved.problem("file", found, "a movement file as plain text");
        problem.hint = Some(format!("looked for {}", path.display()));
        Box::new(problem)
    })?;
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

/// The movement that `keys` describe; `None` if nodes stand still. Otherwise the key that is wrong, what was found and
/// what is allowed.
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

/// No run lasts longer.
const LAST: Time = Time::from_secs(1_000_000);

/// The ways of all nodes from the list of `waypoints`.
fn ways(items: &[Value], topology: &Topology) -> Result<Vec<Vec<Waypoint>>, (String, String)> {
    let count = topology.nodes();
    // Where nodes start is known unless it depends on the seed.
    let starts: Option<Vec<Position>> = match topology {
        Topology::Random { .. } => None,
        // Only random networks look at the range.
        fixed => fixed.place(0, 0.0).ok(),
    };
    let mut ways: Vec<Vec<Waypoint>> = vec![Vec::new(); count as usize];
    for item in items {
        let Value::List(parts) = item else { unreachable!("INVARIANT: waypoints are lists") };
        let metres = |value: &Value| Metres::from_value(Some(value)).0;
        let node = u32::from_value(Some(&parts[0]));
        let place = (metres(&parts[2]), metres(&parts[3]));
        let wrong = |allowed: String| Err((show(item), allowed));
        let Some(way) = ways.get_mut(node as usize) else {
            return wrong(format!("a node number from 0 to {}", count - 1));
        };
        let start = starts.as_ref().map(|starts| starts[NodeId(node).index()]);
        let before = way.last().copied().or(start.map(|place| Waypoint { at: Time::ZERO, place }));
        let at = match (&parts[1], before) {
            (Value::Quantity(Unit::Speed, speed), Some(before)) => {
                before.at + travel(distance(before.place, place), *speed)
            }
            (Value::Quantity(Unit::Speed, _), None) => {
                return wrong("a time: where this node of a random topology starts depends on the seed".into());
            }
            (time, before) => {
                let at = Time::ZERO + Dur::from_value(Some(time));
                if let Some(before) = before.filter(|before| at < before.at) {
                    let earliest = Unit::Time.format(before.at.as_nanos() as f64);
                    return wrong(format!("{earliest:?} or later, when the node has done what stands before"));
                }
                at
            }
        };
        way.push(Waypoint { at, place });
        if let Some(stay) = parts.get(4) {
            way.push(Waypoint { at: at + Dur::from_value(Some(stay)), place });
        }
        if way.last().is_some_and(|last| last.at > LAST) {
            return wrong("one that ends within \"1000000s\"".into());
        }
    }
    Ok(ways)
}

/// The keys that describe a movement.
pub fn keys(movement: Option<&Movement>) -> MobilityKeys {
    let mut keys = MobilityKeys {
        model: MobilityModel::Fixed,
        waypoints: None,
        file: None,
        speed_min: None,
        speed_max: None,
        pause: None,
        width: None,
        height: None,
        start: None,
        seed: None,
        still: None,
    };
    match movement {
        None => {}
        Some(Movement::Waypoints(ways)) => {
            keys.model = MobilityModel::Waypoints;
            let items = ways.iter().enumerate().flat_map(|(node, way)| way.iter().map(move |point| item(node, point)));
            keys.waypoints = Some(Value::List(items.collect()));
        }
        Some(Movement::RandomWaypoint(config)) => {
            keys.model = MobilityModel::RandomWaypoint;
            (keys.speed_min, keys.speed_max) = (Some(Speed(config.speed_min)), Some(Speed(config.speed_max)));
            (keys.pause, keys.seed, keys.still) = (Some(config.pause), config.seed, Some(config.still));
            (keys.width, keys.height) = (Some(Metres(config.width)), Some(Metres(config.height)));
            keys.start = Some(if config.steady { Start::SteadyState } else { Start::Topology });
        }
    }
    keys
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
