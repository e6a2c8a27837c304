//! BonnMotion's `.movements` files: one line per node, `time x y time x y ...` in seconds and metres. The node moves
//! straight from each position to the next. Leaves out: positions with height (three coordinates), compressed files.

use super::Waypoint;
use super::file::{FileError, Tracks, Word, instant, words};

/// Reads a file.
///
/// # Errors
/// The first problem.
pub fn read(text: &str) -> Result<Tracks, FileError> {
    let mut tracks = Tracks { starts: Vec::new(), waypoints: Vec::new() };
    let mut last = 1;
    for (index, line) in text.lines().enumerate() {
        last = index + 1;
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let mut waypoints: Vec<Waypoint> = Vec::new();
        let mut rest = words(index + 1, line, &[]);
        let end = Word { line: index + 1, column: line.chars().count() + 1, text: "" };
        while let Some(time) = rest.next() {
            let at = instant(time.number("a time in seconds", true)?);
            if waypoints.last().is_some_and(|before| at < before.at) {
                return Err(time.error("a time no earlier than the previous one"));
            }
            let mut coordinate = |name| rest.next().unwrap_or(end).number(name, false);
            let place = (coordinate("x in metres")?, coordinate("y in metres")?);
            waypoints.push(Waypoint { at, place });
        }
        let first = waypoints[0];
        tracks.starts.push(first.place);
        tracks.waypoints.push(waypoints);
    }
    if tracks.starts.len() < 2 {
        let found = format!("{} nodes", tracks.starts.len());
        let allowed = "one line per node, for at least 2 nodes".into();
        return Err(FileError { line: last, column: 1, found, allowed });
    }
    Ok(tracks)
}
