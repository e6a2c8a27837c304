//! `[[nodes]]`, `[[losses]]` and `[[walls]]`: what is particular about a network's place.

use crate::scenario::key::{Fallback::*, Kind, length, power, section};
use crate::scenario::quantity::Unit;
use crate::scenario::value::{Field, Metres, Value};
use fourhop_units::{Db, Watt};

section! {
    /// Names of single nodes; their transmitters and antennas, where they differ from those of `[radio]`.
    NodeKeys = "nodes" {
        /// Number of the node, or a list of several.
        node: Value, Kind::IntOrList(0, 1_000_000, &[]), Required;
        /// What the node is called where it is emulated; letters, digits and hyphens.
        name: Option<String>, Kind::Text, Computed("n and its number");
        /// Transmitted power.
        tx_power: Option<Watt>, power("-50dBm", "60dBm"), Computed("`radio.tx_power`");
        /// Gain of the antenna over an isotropic one, which counts for frames sent and received; antennas of nodes that are
        /// not listed have 0 dBi.
        antenna_gain: Db, Kind::Quantity(Unit::Ratio, "-30dB", "60dB"), Both("0dB");
        /// Height of the antenna above two-ray ground.
        antenna_height: Option<Metres>, length("0.01m", "1km"), Computed("`radio.antenna_height`");
    }
}

section! {
    /// Path losses that were measured, between the antennas of two nodes that stand still. They take the place of path loss, walls
    /// and shadowing; the power and the antenna gains of the nodes still count, and fading if there is any.
    LossKeys = "losses" {
        /// Node that transmits.
        from: u32, Kind::Int(0, 1_000_000), Required;
        /// Node that receives.
        to: u32, Kind::Int(0, 1_000_000), Required;
        /// Loss between them.
        loss: Db, Kind::Quantity(Unit::Ratio, "0dB", "300dB"), Required;
        /// Does it hold in the other direction too?
        both_ways: bool, Kind::Bool, Both("true");
    }
}

section! {
    /// Walls. A signal loses `loss` at each of their straight pieces that the line between the two nodes crosses.
    WallKeys = "walls" {
        /// Corners of the wall in order, such as `[["0m", "5m"], ["10m", "5m"]]`; a straight wall has two, a closed room ends where it
        /// begins.
        corners: Value, Kind::Positions, Required;
        /// Attenuation of a signal that crosses one of its pieces.
        loss: Db, Kind::Quantity(Unit::Ratio, "0dB", "200dB"), Required;
    }
}

impl NodeKeys {
    /// Is this about the name alone?
    pub fn only_names(&self) -> bool {
        let NodeKeys { node: _, name, tx_power, antenna_gain, antenna_height } = self;
        name.is_some() && tx_power.is_none() && *antenna_gain == Db(0.0) && antenna_height.is_none()
    }

    /// The nodes that are meant.
    pub fn numbers(&self) -> Vec<u32> {
        match &self.node {
            Value::List(numbers) => numbers.iter().map(|number| u32::from_value(Some(number))).collect(),
            number => vec![u32::from_value(Some(number))],
        }
    }
}
