//! The declaration of keys. One row in a `section!` table declares everything about a key: its name, its Rust type, its
//! allowed values, its default in each profile and one sentence of documentation. The struct of the section, the
//! reader, the writer, the JSON Schema and the reference page are all generated from that row. A row that names a field
//! of a layer's configuration (`=> field`) also sets that field, and takes its default from there.

use crate::form::Form;
use crate::layer::Profiled;
use crate::quantity::Unit;
use crate::sections::Profile;
use crate::value::{Value, Values};

/// A key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in the file.
    pub name: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// Allowed values.
    pub kind: Kind,
    /// Default.
    pub default: Fallback,
    /// Kinds of topology or application that have the key; empty: all.
    pub only_for: &'static [&'static str],
}

/// The type of a key. Bounds of quantities are given as text with units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number from .. to.
    Int(u64, u64),
    /// A number with its unit, from .. to.
    Quantity(Unit, &'static str, &'static str),
    /// One of several names, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// Any non-empty text.
    Text,
    /// A transport: a name from the registry of congestion controls, `udp` or `ping`.
    Transport,
    /// A node by its number or name, or `"first"`, `"last"` or `"random"`.
    Node,
    /// A list of nodes, each a number, `"first"`, `"last"` or `"random"`.
    Gateways,
    /// A list of at least this number of texts.
    Names(usize),
    /// A whole number from .. to or, for the kinds listed, a list of such numbers.
    IntOrList(u64, u64, &'static [&'static str]),
    /// A list of positions, each a list of two lengths.
    Positions,
    /// A list of positions, each a latitude and a longitude in degrees.
    Coordinates,
    /// A whole number from .. to, or one of several names, each with its meaning.
    IntOr(u64, u64, &'static [(&'static str, &'static str)]),
    /// A text of a fixed form: an address, a device name.
    Form(Form),
    /// A list of at least this number of values of a kind.
    List(&'static Kind, usize),
    /// A list of waypoints, each a node, a time or speed, two lengths and optionally a time.
    Waypoints,
}

/// Default of a key.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// None: the key is required.
    Required,
    /// The same value in both profiles; `none` means no value: the feature is off or has no limit.
    Both(&'static str),
    /// The first value in profile `ns2`, the second in profile `standard`.
    Profile(&'static str, &'static str),
    /// The value in a profile's configuration of the protocol; `None` is no value.
    Layer(fn(Profile) -> Option<Value>),
    /// A value that follows from other keys, described in words.
    Computed(&'static str),
}

impl Key {
    /// Whether the key is required.
    pub const fn is_required(&self) -> bool {
        matches!(self.default, Fallback::Required)
    }

    /// Whether `"none"` may stand for no value.
    pub fn is_optional(&self) -> bool {
        match self.default {
            Fallback::Both(a) => a == "none",
            Fallback::Profile(a, b) => a == "none" || b == "none",
            Fallback::Layer(default) => [Profile::Ns2, Profile::Standard].map(default).contains(&None),
            Fallback::Required | Fallback::Computed(_) => false,
        }
    }
}

/// A part of a scenario that is declared as a table of keys.
pub trait Section: Sized {
    /// Name in the file; empty for the top level.
    const NAME: &'static str;
    /// Description of the section.
    const ABOUT: &'static str;
    /// Keys, in the order of the file.
    const KEYS: &'static [Key];
    /// Configuration of the layer whose fields the rows name; `()` if they name none.
    type Config: Profiled;
    /// Builds the section from values that were checked against [`Section::KEYS`].
    fn from_values(values: &Values) -> Self;
    /// Returns all values, in the order of the keys.
    fn values(&self) -> Vec<(&'static str, Value)>;
    /// Returns the values from `config` of keys whose rows name a field.
    fn values_of(config: &Self::Config) -> Values;
    /// Writes the values of those keys to `config`.
    fn configure(&self, config: &mut Self::Config);
    /// Returns the configuration of the layer: that of `profile`, with the values of those keys.
    fn configured(&self, profile: Profile) -> Self::Config {
        let mut config = Self::Config::of(profile);
        self.configure(&mut config);
        config
    }
}

/// A section without keys: the top level of a file that has only tables.
impl Section for () {
    const NAME: &'static str = "";
    const ABOUT: &'static str = "";
    const KEYS: &'static [Key] = &[];
    type Config = ();
    fn from_values(_values: &Values) {}
    fn values(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
    fn values_of((): &()) -> Values {
        Values::new()
    }
    fn configure(&self, (): &mut ()) {}
}

/// A time from .. to, for the rows of a table; likewise the functions below.
pub const fn time(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Time, from, to)
}
/// A rate from .. to.
pub const fn rate(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Rate, from, to)
}
/// A length from .. to.
pub const fn length(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Length, from, to)
}
/// A speed from .. to.
pub const fn speed(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Speed, from, to)
}
/// A size from .. to.
pub const fn size(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Size, from, to)
}
/// A share from .. to.
pub const fn share(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Share, from, to)
}
/// A plain number from .. to.
pub const fn number(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Number, from, to)
}
/// A power from .. to.
pub const fn power(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Power, from, to)
}

/// Declares a section: a struct and its table of keys. A row follows its documentation and is one of
/// ```text
/// name: Type, kind => field;              the field of the layer's configuration, with the default from there
/// name: Type, kind, default => field;     the same with a default of its own
/// name: Type, kind, default;              used where the section is
/// ```
/// After the default or field, `, only_for` may follow.
#[macro_export]
macro_rules! section {
    ($(#[doc = $about:literal])+ $name:ident = $path:literal { $($rows:tt)+ }) => {
        $crate::section! { $(#[doc = $about])+ $name = $path of () { $($rows)+ } }
    };
    (
        $(#[doc = $about:literal])+
        $name:ident = $path:literal of $config:ty {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty, $kind:expr
                $(, $default:expr $(, $only_for:expr)?)?
                $(=> $($place:ident).+ $(, $placed_only_for:expr)?)?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name { $( $(#[doc = $doc])+ pub $field: $type, )+ }

        impl $crate::key::Section for $name {
            const NAME: &'static str = $path;
            const ABOUT: &'static str = concat!($($about),+);
            const KEYS: &'static [$crate::key::Key] = &[$(
                $crate::key::Key {
                    name: stringify!($field),
                    doc: concat!($($doc),+),
                    kind: $kind,
                    default: $crate::key::first(&[
                        $($default,)?
                        $($crate::key::Fallback::Layer(|profile| {
                            let config = <$config as $crate::layer::Profiled>::of(profile);
                            let value: $type = $crate::layer::FieldValue::from_field(&config.$($place).+);
                            $crate::value::Field::to_value(&value)
                        }),)?
                    ]),
                    only_for: $crate::key::first(&[$($($only_for,)?)? $($($placed_only_for,)?)? &[]]),
                },
            )+];
            type Config = $config;
            fn from_values(values: &$crate::value::Values) -> Self {
                $name { $( $field: $crate::value::Field::from_value(values.get(stringify!($field))), )+ }
            }
            fn values(&self) -> Vec<(&'static str, $crate::value::Value)> {
                let all = [$( (stringify!($field), $crate::value::Field::to_value(&self.$field)), )+];
                all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
            }
            fn values_of(_config: &$config) -> $crate::value::Values {
                let all: &[(&str, Option<$crate::value::Value>)] = &[$($((stringify!($field), {
                    let value: $type = $crate::layer::FieldValue::from_field(&_config.$($place).+);
                    $crate::value::Field::to_value(&value)
                }),)?)+];
                all.iter().filter_map(|(name, value)| Some((*name, value.clone()?))).collect()
            }
            fn configure(&self, _config: &mut $config) {
                $($(_config.$($place).+ = $crate::layer::FieldValue::to_field(&self.$field);)?)+
            }
        }
    };
}

/// Returns the first element of a list that is never empty: the argument of the macro, or its fallback.
pub const fn first<T: Copy>(list: &[T]) -> T {
    list[0]
}

/// A type whose values have names in files.
pub trait Choice: Copy {
    /// All options: name in files and meaning.
    const CHOICES: &'static [(&'static str, &'static str)];
    /// Returns the name of the option in files.
    fn name(self) -> &'static str;
    /// Returns the option with that name.
    fn find(name: &str) -> Option<Self>;
}

/// Gives the options of a key their names in files: for an enum of a protocol (`for Type`), or one declared here.
#[macro_export]
macro_rules! choice {
    ($(#[doc = $about:literal])+ $name:ident { $( $variant:ident = $text:literal, $doc:literal; )+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $( #[doc = $doc] $variant, )+ }

        $crate::choice! { for $name { $( $variant = $text, $doc; )+ } }
    };
    (for $name:ident { $( $variant:ident = $text:literal, $doc:literal; )+ }) => {
        impl $crate::key::Choice for $name {
            const CHOICES: &'static [(&'static str, &'static str)] = &[$( ($text, $doc), )+];
            fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )+ }
            }
            fn find(name: &str) -> Option<$name> {
                match name { $( $text => Some($name::$variant), )+ _ => None }
            }
        }

        impl $crate::value::Field for $name {
            fn from_value(value: Option<&$crate::value::Value>) -> Self {
                match value {
                    Some($crate::value::Value::Text(s)) => {
                        $crate::key::Choice::find(s).expect("INVARIANT: choices are checked")
                    }
                    other => panic!("INVARIANT: a choice is a text, not {other:?}"),
                }
            }
            fn to_value(&self) -> Option<$crate::value::Value> {
                let name = $crate::key::Choice::name(*self);
                Some($crate::value::Value::Text(name.to_owned()))
            }
        }
    };
}
