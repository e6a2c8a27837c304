//! Options whose values are known when the program is compiled.
//!
//! Every copy of a frame asks for the same few options of its receiver and of carrier sense. Code that handles copies
//! is generic over a [`Preset`]. Where all stations have the options of one, the compiler leaves the questions out;
//! under [`Configured`] each option is read from the configuration. Results are the same.

use crate::{mac, phy};

/// The yes-or-no options of the receiver and of carrier sense: those of a known configuration, or of the one at hand.
/// Thresholds, the capture ratio and times always come from the configuration at hand.
pub trait Preset {
    /// Where the options of the receiver come from.
    const PHY: Option<phy::Config>;
    /// Where the options of carrier sense come from.
    const MAC: Option<mac::Config>;
}

/// Nothing is known before the program runs: fits every configuration.
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
