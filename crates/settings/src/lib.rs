//! All user settings, each declared once: keys, types, ranges, defaults, and the fields of layers that they set.
//!
//! Every key is one row of a table ([`section!`]). Reading TOML and JSON, writing a resolved scenario, the JSON Schema
//! and the reference pages follow from those rows. Reading is strict: an unknown or missing key, a bad unit or an
//! impossible value is a [`Problem`] with file, line and key, and all problems of a file are reported at once.
//!
//! ```text
//! TOML, JSON  --tree-->  tables with places  --resolve-->  checked values with defaults  --from_values-->  a section
//! ```
//!
//! `sim` builds a scenario from all sections of [`sections`]. The daemons have files with different tables; keys that
//! belong to a layer are declared here.

pub mod error;
pub mod file;
pub mod form;
pub mod key;
pub mod layer;
pub mod profile;
pub mod quantity;
pub mod resolve;
pub mod schema;
pub mod sections;
pub mod tree;
pub mod value;

pub use error::{Invalid, Problem};
pub use form::Network;
