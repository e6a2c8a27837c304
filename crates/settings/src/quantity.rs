//! Quantities with units as people write them: `2Mbps`, `200 m`, `40ms`, `1460B`, `24.5dBm`.
//!
//! Internally, a quantity is a number in the base unit of its kind (ns, bit/s, m, B, W, dB, Hz). Numbers above 2^53
//! would lose digits; every range in the schema is far below that.

use fourhop_units::{Dbm, Dur, Watt};

/// Kinds of quantities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A length of time; base unit 1 ns.
    Time,
    /// A bit rate; base unit 1 bit/s.
    Rate,
    /// A distance; base unit 1 m.
    Length,
    /// An amount of data; base unit 1 byte.
    Size,
    /// A power; base unit 1 W, dBm accepted.
    Power,
    /// A ratio of powers; base unit 1 dB.
    Ratio,
    /// A frequency; base unit 1 Hz.
    Frequency,
    /// A speed; base unit 1 m/s.
    Speed,
    /// A part of a whole; base unit 1 per cent.
    Share,
    /// A number without a unit.
    Number,
}

/// All kinds, to find the kind that a foreign unit belongs to.
pub const ALL: [Unit; 10] = [
    Unit::Time,
    Unit::Rate,
    Unit::Length,
    Unit::Size,
    Unit::Power,
    Unit::Ratio,
    Unit::Frequency,
    Unit::Speed,
    Unit::Share,
    Unit::Number,
];

impl Unit {
    /// Returns the name of the quantity, with an article.
    pub const fn noun(self) -> &'static str {
        match self {
            Unit::Time => "a time",
            Unit::Rate => "a rate",
            Unit::Length => "a length",
            Unit::Size => "a size",
            Unit::Power => "a power",
            Unit::Ratio => "a ratio",
            Unit::Frequency => "a frequency",
            Unit::Speed => "a speed",
            Unit::Share => "a share",
            Unit::Number => "a number",
        }
    }

    /// Returns the accepted units, each with its size in base units. `dBm` is not a multiple and is listed with 0.
    pub const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Unit::Time => &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)],
            Unit::Rate => &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9)],
            Unit::Length => &[("m", 1.0), ("km", 1e3)],
            Unit::Size => &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)],
            Unit::Power => &[("dBm", 0.0), ("mW", 1e-3), ("W", 1.0)],
            Unit::Ratio => &[("dB", 1.0)],
            Unit::Frequency => &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
            Unit::Speed => &[("m/s", 1.0), ("km/h", 1.0 / 3.6)],
            Unit::Share => &[("%", 1.0)],
            Unit::Number => &[("", 1.0)],
        }
    }

    /// Whether the base unit is indivisible, so that values read are rounded to integers.
    const fn is_whole(self) -> bool {
        matches!(self, Unit::Time | Unit::Rate | Unit::Size)
    }

    /// Returns the names of the units, separated by commas.
    pub fn unit_names(self) -> String {
        self.units().iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
    }

    /// Parses a number with its unit; a space may separate them.
    ///
    /// # Errors
    /// The problem, if more is known than that the text is not such a quantity.
    pub fn parse(self, text: &str) -> Result<f64, Option<String>> {
        let text = text.trim();
        let is_numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        // A number may have an exponent ("3.652e-10W"), recognised by the digit or sign after the `e`.
        let mut end = text.find(|c| !is_numeric(c)).unwrap_or(text.len());
        if let Some(exponent) = text[end..].strip_prefix(['e', 'E'])
            && exponent.starts_with(is_numeric)
        {
            end = text.len() - exponent.trim_start_matches(is_numeric).len();
        }
        let number: f64 = text[..end].parse().map_err(|_| None)?;
        let name = text[end..].trim_start();
        if name.is_empty() && self != Unit::Number {
            return Err(Some("the unit is missing".into()));
        }
        let Some(&(_, factor)) = self.units().iter().find(|&&(unit, _)| unit == name) else {
            return Err(self.explain_unit(name));
        };
        let value = match name {
            "dBm" => Dbm(number).to_watt().0,
            _ => number * factor,
        };
        if !value.is_finite() {
            return Err(Some("the number is too large".into()));
        }
        Ok(if self.is_whole() { value.round() } else { value })
    }

    /// Explains a unit that does not fit.
    fn explain_unit(self, name: &str) -> Option<String> {
        if let Some((unit, _)) = self.units().iter().find(|(unit, _)| unit.eq_ignore_ascii_case(name)) {
            return Some(format!("did you mean \"{unit}\"?"));
        }
        match ALL.into_iter().find(|unit| unit.units().iter().any(|&(other, _)| other == name)) {
            Some(other) => Some(format!("{name} is a unit of {}", other.noun().trim_start_matches("a "))),
            None => Some(format!("units: {}", self.unit_names())),
        }
    }

    /// Writes `value` (in base units) so that [`Unit::parse`] reads the same number: in the largest unit that yields an
    /// integer, or with as many digits as needed.
    pub fn format(self, value: f64) -> String {
        match self {
            Unit::Power => {
                let dbm = (Watt(value).to_dbm().0 * 1e4).round() / 1e4;
                if Dbm(dbm).to_watt().0 == value {
                    return format!("{dbm}dBm");
                }
                if value < 1e-3 { format!("{value:e}W") } else { format!("{value}W") }
            }
            // A distance reads better as "1200m" next to "200m" than as "1.2km"; minutes and hours are for input only.
            Unit::Length | Unit::Ratio | Unit::Speed | Unit::Share | Unit::Number => {
                format!("{value}{}", self.units()[0].0)
            }
            Unit::Time | Unit::Rate | Unit::Size | Unit::Frequency => {
                if value == 0.0 {
                    return if self == Unit::Time { "0s".into() } else { format!("0{}", self.units()[0].0) };
                }
                let (unit, factor) =
                    self.units()[..4].iter().rfind(|&&(_, factor)| value % factor == 0.0).unwrap_or(&self.units()[0]);
                format!("{}{unit}", value / factor)
            }
        }
    }
}

/// Parses a time from a command line.
///
/// # Errors
/// The text found, and the allowed values.
pub fn time(text: &str) -> Result<Dur, String> {
    let nanos = Unit::Time.parse(text).ok().filter(|nanos| (0.0..=1e15).contains(nanos));
    let refused = || format!("found {text:?}, allowed: a time from \"0s\" to \"1000000s\", such as \"500ms\"");
    nanos.map(|nanos| Dur::from_nanos(nanos as u64)).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_scale_the_number() {
        let cases = [
            (Unit::Rate, "2Mbps", 2e6),
            (Unit::Rate, "5.5 Mbps", 5.5e6),
            (Unit::Length, "1.2km", 1200.0),
            (Unit::Time, "10us", 1e4),
            (Unit::Time, "5min", 3e11),
            (Unit::Time, "0.1 ns", 0.0),
            (Unit::Size, "30kB", 30_000.0),
            (Unit::Ratio, "-3dB", -3.0),
            (Unit::Power, "3.652e-10W", 3.652e-10),
            (Unit::Power, "30dBm", 1.0),
            (Unit::Frequency, "914MHz", 914e6),
            (Unit::Speed, "1.5 m/s", 1.5),
            (Unit::Speed, "36km/h", 10.0),
            (Unit::Share, "70%", 70.0),
        ];
        for (unit, text, value) in cases {
            assert_eq!(unit.parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_quantity_is_explained() {
        let hint = |unit: Unit, text: &str| unit.parse(text).unwrap_err();
        assert_eq!(hint(Unit::Rate, "2"), Some("the unit is missing".into()));
        assert_eq!(hint(Unit::Rate, "2mbps"), Some("did you mean \"Mbps\"?".into()));
        assert_eq!(hint(Unit::Rate, "200m"), Some("m is a unit of length".into()));
        assert_eq!(hint(Unit::Rate, "2furlongs"), Some("units: bps, kbps, Mbps, Gbps".into()));
        assert_eq!(hint(Unit::Rate, "fast"), None);
        assert_eq!(hint(Unit::Time, "nans"), None);
        assert_eq!(hint(Unit::Time, "1e999s"), Some("the number is too large".into()));
        assert_eq!(hint(Unit::Time, ""), None);
    }

    #[test]
    fn quantities_are_written_in_the_unit_that_fits() {
        assert_eq!(Unit::Time.format(100e9), "100s");
        assert_eq!(Unit::Time.format(1.5e9), "1500ms");
        assert_eq!(Unit::Time.format(0.0), "0s");
        assert_eq!(Unit::Rate.format(5.5e6), "5500kbps");
        assert_eq!(Unit::Size.format(1460.0), "1460B");
        assert_eq!(Unit::Size.format(0.0), "0B");
        assert_eq!(Unit::Power.format(Dbm(24.5).to_watt().0), "24.5dBm");
        assert_eq!(Unit::Power.format(3.652e-10), "3.652e-10W");
        assert_eq!(Unit::Length.format(847.4), "847.4m");
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same(which in 0..ALL.len(), whole in 0u64..1 << 50, part in 0.0f64..1e4) {
            let unit = ALL[which];
            let value = if unit.is_whole() { whole as f64 } else { part };
            prop_assert_eq!(unit.parse(&unit.format(value)), Ok(value));
        }

        #[test]
        fn no_text_makes_the_reader_fail(text in "\\PC{0,12}") {
            for unit in ALL {
                if let Ok(value) = unit.parse(&text) {
                    prop_assert!(value.is_finite());
                }
            }
        }
    }
}
