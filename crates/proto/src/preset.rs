//! Options known at compile time.
//!
//! Every copy of a frame consults the same few options of its receiver and of carrier sense. Code that handles copies
//! is generic over a [`Preset`]. Where all stations share the options of a preset, the compiler removes the checks;
//! under [`Configured`] each option is read from the configuration. The results are the same.

use crate::{mac, phy};

/// Where the boolean options of the receiver and of carrier sense come from: a configuration known at compile time, or
/// the one at hand. Thresholds, the capture ratio and times always come from the configuration at hand.
pub trait Preset {
    /// Source of the receiver's options.
    const PHY: Option<phy::Config>;
    /// Source of the carrier-sense options.
    const MAC: Option<mac::Config>;
}

/// Nothing is known at compile time: fits every configuration.
#[derive(Clone, Copy, Debug)]
pub struct Configured;

impl Preset for Configured {
    const PHY: Option<phy::Config> = None;
    const MAC: Option<mac::Config> = None;
}

/// The options of ns-2.35.
#[derive(Clone, Copy, Debug)]
pub struct Ns2;

impl Preset for Ns2 {
    const PHY: Option<phy::Config> = Some(phy::Config::ns2());
    const MAC: Option<mac::Config> = Some(mac::Config::ns2());
}

/// IEEE 802.11 as written.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl Preset for Standard {
    const PHY: Option<phy::Config> = Some(phy::Config::standard());
    const MAC: Option<mac::Config> = Some(mac::Config::standard());
}
