//! Common parts of the programs' command lines.

use crate::EmulationError;
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::{Form, Overrides, Scenario, load};
use fourhop_units::Dur;
use std::io::Read;

/// Parses a duration such as 60s, above zero.
///
/// # Errors
/// If it is not one.
pub fn duration(text: &str) -> Result<Dur, String> {
    duration_or_none(text).and_then(|found| if found.is_zero() { Err(unread(text)) } else { Ok(found) })
}

/// Parses a duration such as 60s or 0s.
///
/// # Errors
/// If it is not one.
pub fn duration_or_none(text: &str) -> Result<Dur, String> {
    const UNITS: [(&str, f64); 5] = [("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("h", 3600.0)];
    let allowed = || unread(text);
    let found = UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = found.ok_or_else(allowed)?;
    let number: f64 = number.trim().parse().map_err(|_| allowed())?;
    if number.is_finite() && number >= 0.0 { Ok(Dur::from_secs_f64(number * seconds)) } else { Err(allowed()) }
}

fn unread(text: &str) -> String {
    format!("found {text:?}, allowed: a time such as \"60s\", \"5min\" or \"100us\"")
}

/// Reads a scenario from a file, or from standard input if `name` is `-`, with some keys changed.
///
/// # Errors
/// If it cannot be read or is invalid.
pub fn read(name: &str, set: &[String]) -> Result<Scenario, EmulationError> {
    let unreadable = |error: std::io::Error| EmulationError::Unsuited(format!("{name}: cannot be read: {error}"));
    let mut text = String::new();
    match name {
        "-" => std::io::stdin().read_to_string(&mut text).map(drop),
        file => std::fs::read_to_string(file).map(|content| text = content),
    }
    .map_err(unreadable)?;
    let form = if name.ends_with(".json") { Form::Json } else { Form::Toml };
    Ok(load(form, &text, name, Overrides::set(set), &Control::new())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_a_time_only_where_it_means_something() {
        assert_eq!(duration_or_none("0us"), Ok(Dur::ZERO));
        assert!(duration("0us").unwrap_err().starts_with("found \"0us\", allowed: a time such as"));
        for read in [duration, duration_or_none] {
            assert_eq!(read("1.5ms"), Ok(Dur::from_micros(1_500)));
            assert_eq!(read("2min"), Ok(Dur::from_secs(120)));
            assert!(["-1s", "1", "s", "infs"].iter().all(|text| read(text).is_err()));
        }
    }
}
