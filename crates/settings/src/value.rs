//! Values of keys, and the Rust types that represent them.

use crate::form::Network;
use crate::quantity::Unit;
use fourhop_proto::route::Prefix;
use fourhop_units::{Bytes, Db, Dur, Rate, Watt};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The value of a key, checked against its kind.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(u64),
    /// A quantity in its base unit.
    Quantity(Unit, f64),
    /// A text or the name of a choice.
    Text(String),
    /// A list.
    List(Vec<Value>),
}

impl Value {
    /// Returns the value as TOML.
    pub fn to_toml(&self) -> String {
        match self {
            Value::Bool(b) => b.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Quantity(unit, x) => format!("\"{}\"", unit.format(*x)),
            Value::Text(s) => toml_edit::Value::from(s.as_str()).to_string(),
            Value::List(items) => format!("[{}]", items.iter().map(Value::to_toml).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Bool(b) => (*b).into(),
            Value::Int(n) => (*n).into(),
            Value::Quantity(unit, x) => unit.format(*x).into(),
            Value::Text(s) => s.as_str().into(),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
        }
    }
}

/// The values of a section by key.
pub type Values = BTreeMap<&'static str, Value>;

/// Keys of a table and their values to be written; a key without a value is left out.
pub type Keys = Vec<(&'static str, Option<Value>)>;

/// A Rust type that a key can have.
///
/// # Panics
/// `from_value` panics if the value is of another kind: then the row of the table contradicts itself, which the tests
/// find.
pub trait Field {
    /// Converts a checked value; `None` if the key is absent.
    fn from_value(value: Option<&Value>) -> Self;
    /// Returns the value to write; `None` if absent.
    fn to_value(&self) -> Option<Value>;
}

macro_rules! fields {
    ($($type:ty: $pattern:pat => $take:expr, $self:ident => $give:expr;)+) => { $(
        impl Field for $type {
            fn from_value(value: Option<&Value>) -> Self {
                match value {
                    Some($pattern) => $take,
                    other => panic!("INVARIANT: a row declares a kind that fits its type, yet {other:?} came for one"),
                }
            }
            fn to_value(&self) -> Option<Value> {
                let $self = self;
                Some($give)
            }
        }
    )+ };
}

fields! {
    bool: Value::Bool(b) => *b, b => Value::Bool(*b);
    u8: Value::Int(n) => *n as u8, n => Value::Int(u64::from(*n));
    u16: Value::Int(n) => *n as u16, n => Value::Int(u64::from(*n));
    u32: Value::Int(n) => *n as u32, n => Value::Int(u64::from(*n));
    u64: Value::Int(n) => *n, n => Value::Int(*n);
    String: Value::Text(s) => s.clone(), s => Value::Text(s.clone());
    Dur: Value::Quantity(Unit::Time, ns) => Dur::from_nanos(*ns as u64),
        d => Value::Quantity(Unit::Time, d.as_nanos() as f64);
    TimeShift: Value::Quantity(Unit::Time, ns) => TimeShift(*ns as i64), t => Value::Quantity(Unit::Time, t.0 as f64);
    Rate: Value::Quantity(Unit::Rate, bps) => Rate::from_bps(*bps as u64).expect("INVARIANT: rates are above 0"),
        r => Value::Quantity(Unit::Rate, r.bps() as f64);
    Bytes: Value::Quantity(Unit::Size, b) => Bytes(*b as u64), b => Value::Quantity(Unit::Size, b.get() as f64);
    Watt: Value::Quantity(Unit::Power, w) => Watt(*w), w => Value::Quantity(Unit::Power, w.0);
    Db: Value::Quantity(Unit::Ratio, db) => Db(*db), db => Value::Quantity(Unit::Ratio, db.0);
    Metres: Value::Quantity(Unit::Length, m) => Metres(*m), m => Value::Quantity(Unit::Length, m.0);
    Speed: Value::Quantity(Unit::Speed, v) => Speed(*v), v => Value::Quantity(Unit::Speed, v.0);
    Hertz: Value::Quantity(Unit::Frequency, hz) => Hertz(*hz), hz => Value::Quantity(Unit::Frequency, hz.0);
    Number: Value::Quantity(Unit::Number, x) => Number(*x), n => Value::Quantity(Unit::Number, n.0);
    Share: Value::Quantity(Unit::Share, percent) => Share(*percent), s => Value::Quantity(Unit::Share, s.0);
    Ipv4Addr: Value::Text(s) => form(s, s.parse()), a => Value::Text(a.to_string());
    SocketAddr: Value::Text(s) => form(s, s.parse()), a => Value::Text(a.to_string());
    PathBuf: Value::Text(s) => PathBuf::from(s), p => Value::Text(p.display().to_string());
    Network: Value::Text(s) => form(s, Network::parse(s).ok_or("not a network")), n => Value::Text(n.to_string());
    Prefix: Value::Text(s) => form(s, prefix(s).ok_or("not an IPv4 network")),
        p => Value::Text(format!("{}/{}", p.addr(), p.bits()));
    Value: value => value.clone(), value => value.clone();
}

impl<T: Field> Field for Option<T> {
    fn from_value(value: Option<&Value>) -> Self {
        value.map(|v| T::from_value(Some(v)))
    }
    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value)
    }
}

impl<T: Field> Field for Vec<T> {
    fn from_value(value: Option<&Value>) -> Self {
        match value {
            Some(Value::List(items)) => items.iter().map(|item| T::from_value(Some(item))).collect(),
            other => panic!("INVARIANT: a row declares a kind that fits its type, yet {other:?} came for a list"),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(self.iter().filter_map(T::to_value).collect()))
    }
}

/// Parses an IPv4 network.
fn prefix(text: &str) -> Option<Prefix> {
    match Network::parse(text)? {
        Network(IpAddr::V4(address), bits) => Prefix::new(address, bits),
        Network(IpAddr::V6(_), _) => None,
    }
}

/// Returns the value of a text whose form was checked.
fn form<T, E: core::fmt::Debug>(text: &str, read: Result<T, E>) -> T {
    read.unwrap_or_else(|error| panic!("INVARIANT: forms are checked, yet {text:?} is {error:?}"))
}

/// Returns the positions in a list of pairs of quantities.
pub fn pairs(list: &Value) -> Vec<(f64, f64)> {
    let items = |list: &Value| match list {
        Value::List(items) => items.clone(),
        other => unreachable!("INVARIANT: places are lists, not {other:?}"),
    };
    let number = |value: &Value| match value {
        Value::Quantity(_, number) => *number,
        other => unreachable!("INVARIANT: a coordinate is a quantity, not {other:?}"),
    };
    items(list).iter().map(items).map(|pair| (number(&pair[0]), number(&pair[1]))).collect()
}

/// A time that may be negative, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeShift(pub i64);

/// A distance in metres.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Metres(pub f64);

/// A speed in metres per second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Speed(pub f64);

/// A frequency in hertz.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Hertz(pub f64);

/// A number without a unit.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Number(pub f64);

/// A part of a whole, in per cent.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Share(pub f64);

impl Number {
    /// A number of thousandths.
    pub fn thousandths(n: u32) -> Number {
        Number(f64::from(n) / 1e3)
    }
}

impl Share {
    /// A number of thousandths.
    pub fn thousandths(n: u32) -> Share {
        Share(f64::from(n) / 10.0)
    }

    /// Returns the share in thousandths, rounded.
    pub fn per_mille(self) -> u32 {
        (self.0 * 10.0).round() as u32
    }
}
