//! ns-2's movement files, as `setdest` writes them:
//!
//! ```text
//! $node_(0) set X_ 83.3                              where node 0 starts
//! $ns_ at 10.0 "$node_(0) setdest 250.0 100.0 5.0"   at 10 s it sets out for (250, 100) at 5 m/s
//! ```
//!
//! A moving node that gets a new destination turns at once; a destination at speed 0 stops it where it is; it stays
//! where it arrives. Of several commands for one instant the last counts. ns-2 refuses destinations whose x or y is not
//! above 0, so they are errors here. `$god_` lines, comments and heights (`Z_`) are ignored. Leaves out: any other Tcl.

use super::file::{FileError, LIMIT, Tracks, Word, instant, words};
use super::{Leg, Waypoint, travel};
use crate::topology::distance;
use fourhop_units::Time;

/// A `setdest` command.
#[derive(Clone, Copy, Debug)]
struct Command {
    at: Time,
    to: (f64, f64),
    speed: f64,
}

/// The lines about a node.
#[derive(Clone, Default, Debug)]
struct Lines {
    x: Option<f64>,
    y: Option<f64>,
    commands: Vec<Command>,
}

/// Largest number of nodes: a larger one is taken for a typing error.
const MOST_NODES: usize = 100_000;

const SIGNS: &[char] = &['"', '(', ')'];

/// Reads a file.
///
/// # Errors
/// The first problem.
pub fn read(text: &str) -> Result<Tracks, FileError> {
    let mut nodes: Vec<Lines> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let end = Word { line: index + 1, column: line.chars().count() + 1, text: "" };
        let mut rest = words(index + 1, line, SIGNS);
        let mut next = || rest.next().unwrap_or(end);
        let first = next();
        match first.text {
            "" => {}
            text if text.starts_with('#') => {}
            "$god_" => {}
            "$node_" => {
                let node = node(&mut next, &mut nodes)?;
                expect(next(), &["set"])?;
                let axis = next();
                let value = next().number("a place in metres", false)?;
                match axis.text {
                    "X_" => node.x = Some(value),
                    "Y_" => node.y = Some(value),
                    "Z_" => {}
                    _ => return Err(axis.error("X_, Y_ or Z_")),
                }
                expect(next(), &["", ";"])?;
            }
            "$ns_" => {
                expect(next(), &["at"])?;
                let at = instant(next().number("a time in seconds", true)?);
                expect(next(), &["\""])?;
                let subject = next();
                if subject.text == "$god_" {
                    continue;
                }
                expect(subject, &["$node_"])?;
                let node = node(&mut next, &mut nodes)?;
                expect(next(), &["setdest"])?;
                let mut coordinate = |name: &str| {
                    let word = next();
                    let value = word.number(name, false)?;
                    if value > 0.0 { Ok(value) } else { Err(word.error(format!("{name} above 0, as in ns-2"))) }
                };
                let to = (coordinate("x in metres")?, coordinate("y in metres")?);
                let speed = next().number("a speed in m/s", true)?;
                expect(next(), &["\""])?;
                node.commands.push(Command { at, to, speed });
            }
            _ => return Err(first.error("\"$node_(N) set ...\", \"$ns_ at ...\", \"$god_ ...\" or a comment")),
        }
    }
    let mut tracks = Tracks { starts: Vec::new(), waypoints: Vec::new() };
    let last = text.lines().count().max(1);
    let missing = |found: String, allowed: String| FileError { line: last, column: 1, found, allowed };
    if nodes.len() < 2 {
        return Err(missing(format!("{} nodes", nodes.len()), "at least 2 nodes".into()));
    }
    for (number, lines) in nodes.into_iter().enumerate() {
        let (Some(x), Some(y)) = (lines.x, lines.y) else {
            let axis = if lines.x.is_none() { "X_" } else { "Y_" };
            let allowed = format!("a line `$node_({number}) set {axis} ...`; nodes are numbered from 0 without gaps");
            return Err(missing("the end of the file".into(), allowed));
        };
        tracks.starts.push((x, y));
        tracks.waypoints.push(waypoints((x, y), lines.commands));
    }
    Ok(tracks)
}

fn expect(word: Word<'_>, allowed: &[&str]) -> Result<(), FileError> {
    if allowed.contains(&word.text) {
        return Ok(());
    }
    let name = |text: &&str| if text.is_empty() { "the end of the line".to_owned() } else { format!("{text:?}") };
    Err(word.error(allowed.iter().map(name).collect::<Vec<_>>().join(" or ")))
}

/// Reads `(N)` and returns the lines of node N.
fn node<'n, 'a>(next: &mut impl FnMut() -> Word<'a>, nodes: &'n mut Vec<Lines>) -> Result<&'n mut Lines, FileError> {
    expect(next(), &["("])?;
    let number = next();
    let Some(index) = number.text.parse::<usize>().ok().filter(|&index| index < MOST_NODES) else {
        return Err(number.error(format!("a node number from 0 to {}", MOST_NODES - 1)));
    };
    expect(next(), &[")"])?;
    if nodes.len() <= index {
        nodes.resize_with(index + 1, Lines::default);
    }
    Ok(&mut nodes[index])
}

/// Returns the movement of a node from `start` on by these commands.
fn waypoints(start: (f64, f64), mut commands: Vec<Command>) -> Vec<Waypoint> {
    commands.sort_by_key(|command| command.at);
    let mut waypoints: Vec<Waypoint> = Vec::new();
    let mut leg = Leg::stay(start, Time::ZERO);
    for Command { at, to, speed } in commands {
        let here = leg.place(at);
        if leg.end < at {
            waypoints.push(Waypoint { at: leg.end, place: leg.to });
        }
        waypoints.push(Waypoint { at, place: here });
        leg = match distance(here, to) {
            metres if metres > 0.0 && speed > 0.0 => {
                // If it ends after any run, the part that a run can see.
                let share = (speed * (LIMIT - at.as_secs_f64()) / metres).min(1.0);
                let to =
                    if share < 1.0 { (here.0 + (to.0 - here.0) * share, here.1 + (to.1 - here.1) * share) } else { to };
                Leg { from: here, start: at, to, end: at + travel(metres * share, speed) }
            }
            _ => Leg::stay(here, at),
        };
    }
    if leg.end < super::NEVER {
        waypoints.push(Waypoint { at: leg.end, place: leg.to });
    }
    waypoints
}
