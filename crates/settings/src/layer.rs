//! The mapping between the keys of a scenario and the configurations of the layers: the configuration for each profile,
//! and the conversion between a key and a field of another type.

use crate::sections::Profile;
use crate::value::{Number, Share};
use fourhop_cc::tcp_ap;
use fourhop_proto::phy::PhyKind;
use fourhop_proto::{ccm, gateway, mac, net, phy, route, tcp};
use fourhop_units::{Bytes, Dur, Watt};

/// The configuration of a layer, with defaults for each profile.
pub trait Profiled {
    /// Returns the defaults of `profile`.
    fn of(profile: Profile) -> Self;
}

impl Profiled for () {
    fn of(_profile: Profile) {}
}

/// Declares the configurations of a layer in both profiles.
#[macro_export]
macro_rules! profiled {
    ($($config:ty: $ns2:expr, $standard:expr;)+) => { $(
        impl $crate::layer::Profiled for $config {
            fn of(profile: $crate::profile::Profile) -> $config {
                match profile {
                    $crate::profile::Profile::Ns2 => $ns2,
                    $crate::profile::Profile::Standard => $standard,
                }
            }
        }
    )+ };
}

profiled! {
    mac::Config: mac::Config::ns2(), mac::Config::standard();
    mac::edca::Config: mac::edca::Config::standard(PhyKind::Dsss), mac::edca::Config::standard(PhyKind::Dsss);
    net::Config: net::Config::ns2(), net::Config::standard();
    phy::Config: phy::Config::ns2(), phy::Config::standard();
    route::Config: route::Config::ns2(), route::Config::standard();
    tcp::Config: tcp::Config::ns2(), tcp::Config::standard();
    // These came after ns-2 and are what their papers say in either profile.
    tcp_ap::Params: tcp_ap::Params::paper(), tcp_ap::Params::paper();
    gateway::Config: gateway::Config::paper(), gateway::Config::paper();
    ccm::Options: ccm::Options::NEWEST, ccm::Options::NEWEST;
}

/// Conversion between a key of this type and a field of type `F`.
pub trait FieldValue<F> {
    /// Converts a field to the value of the key.
    fn from_field(field: &F) -> Self;
    /// Converts the value to the field.
    fn to_field(&self) -> F;
}

impl<T: Clone> FieldValue<T> for T {
    fn from_field(field: &T) -> T {
        field.clone()
    }
    fn to_field(&self) -> T {
        self.clone()
    }
}

macro_rules! field_values {
    ($($type:ty as $field_type:ty: $field:ident => $from:expr, $key:ident => $to:expr;)+) => { $(
        impl FieldValue<$field_type> for $type {
            fn from_field($field: &$field_type) -> $type {
                $from
            }
            fn to_field(&self) -> $field_type {
                let $key = self;
                $to
            }
        }
    )+ };
}

/// Message for a missing key: keys of one model are present if it is selected.
const GIVEN: &str = "INVARIANT: keys of the model are present";

field_values! {
    u32 as usize: field => *field as u32, key => *key as usize;
    u32 as u16: field => u32::from(*field), key => u16::try_from(*key).unwrap_or(u16::MAX);
    Bytes as u32: field => Bytes(u64::from(*field)), key => key.get() as u32;
    Bytes as u64: field => Bytes(*field), key => key.get();
    Share as u32: field => Share::thousandths(*field), key => key.per_mille();
    Number as u32: field => Number::thousandths(*field), key => (key.0 * 1e3).round() as u32;
    // A missing limit is the largest number.
    Option<u32> as u32: field => Some(*field).filter(|&limit| limit < u32::MAX), key => key.unwrap_or(u32::MAX);
    // A missing time is not written.
    Dur as Option<Dur>: field => field.unwrap_or(Dur::ZERO), key => Some(*key).filter(|time| !time.is_zero());
    Option<bool> as bool: field => Some(*field), key => key.expect(GIVEN);
    Option<Watt> as Watt: field => Some(*field), key => key.expect(GIVEN);
}

/// Fields that are `None` in a key and an enum with one value in a protocol.
#[macro_export]
macro_rules! optional {
    ($value:ty: $($type:ident: None is $none:ident, Some is $some:ident;)+) => { $(
        impl $crate::layer::FieldValue<$type> for Option<$value> {
            fn from_field(field: &$type) -> Option<$value> {
                match field {
                    $type::$none => None,
                    $type::$some(value) => Some(*value),
                }
            }
            fn to_field(&self) -> $type {
                self.map_or($type::$none, $type::$some)
            }
        }
    )+ };
}
