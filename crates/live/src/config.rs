//! Configuration of programs: a file in TOML, read into a structure that names every key. What is wrong is said with the file,
//! the line, what was found and what is allowed.
//!
//! Quantities are written as in scenarios: "2Mbps", "50ms", "16MB", "70%".

use fourhop_units::{Dur, Rate};
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use thiserror::Error as Explained;

/// A file cannot be read, or says what is not allowed.
#[derive(Explained, Clone, PartialEq, Eq, Debug)]
#[error("{}: {what}", .file.display())]
pub struct Wrong {
    /// The file.
    pub file: PathBuf,
    /// Line and key, what was found, and what is allowed.
    pub what: String,
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, or says what is not allowed.
pub fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Wrong> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    text.and_then(|text| parse(&text)).map_err(|what| Wrong { file: file.to_owned(), what })
}

/// Reads the text of a file.
///
/// # Errors
/// Line and key, what was found, and what is allowed.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml_edit::de::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
}

/// A whole number within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whole<const LEAST: u32, const MOST: u32>(pub u32);

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let found = i64::deserialize(from)?;
        let allowed = format!("a whole number from {LEAST} to {MOST}");
        let number = u32::try_from(found).ok().filter(|number| (LEAST..=MOST).contains(number));
        number.map(Whole).ok_or_else(|| D::Error::invalid_value(Unexpected::Signed(found), &&allowed[..]))
    }
}

/// Reads what stands in quotes; `allowed` says what may.
///
/// # Errors
/// What was found and what is allowed.
pub fn quoted<'de, D: Deserializer<'de>, T>(
    from: D,
    allowed: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let found = String::deserialize(from)?;
    read(&found).ok_or_else(|| D::Error::custom(format!("found {found:?}, allowed: {allowed}")))
}

/// A number and one of these units, of which each is so many times the smallest; a whole number of those.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let (number, unit) = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let number: f64 = number.trim().parse().ok()?;
    let value = (number * unit).round();
    (0.0..1e18).contains(&value).then_some(value as u64)
}

/// A rate, as "2Mbps".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Speed(pub Rate);

impl Speed {
    /// Reads a rate.
    pub fn parse(text: &str) -> Option<Speed> {
        const UNITS: [(&str, f64); 4] = [("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)];
        let bps = with_unit(text, &UNITS).filter(|&bps| bps <= 10_000_000_000)?;
        Rate::from_bps(bps).map(Speed)
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        quoted(from, "a rate from \"1bps\" to \"10Gbps\"", Speed::parse)
    }
}

/// A time, as "500ms".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Length(pub Dur);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        quoted(from, TIMES, |text| Some(Length(nanos(text)?)))
    }
}

const TIMES: &str = "a time from \"0s\" to \"1000s\"";

fn nanos(text: &str) -> Option<Dur> {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    with_unit(text, &UNITS).filter(|&nanos| nanos <= 1_000_000_000_000).map(Dur::from_nanos)
}

/// A time of a command line.
///
/// # Errors
/// What was found and what is allowed.
pub fn time(text: &str) -> Result<Dur, String> {
    nanos(text).ok_or_else(|| format!("found {text:?}, allowed: {TIMES}"))
}

/// A number of bytes, as "16MB".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size(pub u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        const UNITS: [(&str, f64); 4] = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
        quoted(from, "a number of bytes from \"1kB\" to \"4GB\"", |text| {
            with_unit(text, &UNITS).filter(|bytes| (1_000..=4_000_000_000).contains(bytes)).map(Size)
        })
    }
}

/// A share in thousandths, as "70%".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share(pub u32);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        quoted(from, "a share from \"0%\" to \"99.9%\"", |text| {
            let share = with_unit(text, &[("%", 10.0)]).filter(|&share| share <= 999)?;
            Some(Share(share as u32))
        })
    }
}

/// A network, as "10.0.0.0/8", or an address, which is a network of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Network(pub IpAddr, pub u8);

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        quoted(from, "a network as \"10.0.0.0/8\", or an address", Network::parse)
    }
}

impl Network {
    /// An address, alone or with how many of its bits count.
    pub fn parse(text: &str) -> Option<Network> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
        (bits <= most).then_some(Network(address, bits))
    }

    /// Is the address in it?
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = u32::from(self.1);
        let same = |own: u128, other: u128, width: u32| bits == 0 || (own ^ other) >> (width - bits) == 0;
        match (self.0, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => same(u32::from(own).into(), u32::from(other).into(), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => same(own.into(), other.into(), 128),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct File {
        rate: Option<Speed>,
        wait: Option<Length>,
        room: Option<Size>,
        part: Option<Share>,
        many: Option<Whole<1, 9>>,
        net: Option<Network>,
    }

    #[test]
    fn quantities_are_those_of_scenarios() {
        let text = "rate = '5.5Mbps'\nwait = '50ms'\nroom = '1.5MB'\npart = '12.5%'\nmany = 9\nnet = '10.0.0.0/9'";
        let file: File = parse(text).unwrap();
        assert_eq!(file.rate, Some(Speed(Rate::kbps(5_500))));
        assert_eq!((file.wait, file.room), (Some(Length(Dur::from_millis(50))), Some(Size(1_500_000))));
        assert_eq!((file.part, file.many), (Some(Share(125)), Some(Whole(9))));
        assert_eq!(file.net, Some(Network([10, 0, 0, 0].into(), 9)));
        assert_eq!(time("2s"), Ok(Dur::from_secs(2)));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_line_and_what_is_allowed() {
        for (line, said) in [
            ("rate = '2'", "line 2, column 8|found \"2\", allowed: a rate from"),
            ("wait = '1h'", "allowed: a time from"),
            ("room = '5B'", "allowed: a number of bytes from"),
            ("many = 10", "integer `10`, expected a whole number from 1 to 9"),
            ("net = '10.0.0.0/33'", "allowed: a network"),
            ("rat = 1", "unknown field `rat`, expected one of"),
        ] {
            let error = parse::<File>(&format!("\n{line}")).unwrap_err();
            said.split('|').for_each(|said| assert!(error.contains(said), "{line}: {error}"));
        }
        let error = read::<File>(Path::new("/nonexistent.toml")).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent.toml: No such file"), "{error}");
        assert!(time("2").unwrap_err().contains("allowed: a time"));
    }

    #[test]
    fn networks_contain_what_has_their_bits() {
        let within = |net: &str, address: &str| Network::parse(net).unwrap().contains(address.parse().unwrap());
        assert!(within("10.0.0.0/9", "10.127.0.1") && !within("10.0.0.0/9", "10.128.0.1"));
        assert!(within("0.0.0.0/0", "1.2.3.4") && !within("0.0.0.0/0", "::1"));
        assert!(within("fd00::/8", "fdff::1") && !within("fd00::1", "fd00::2"));
    }
}
