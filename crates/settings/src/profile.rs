//! The bundles of behaviour.

use crate::choice;

choice! {
    /// Which behaviour the protocols have.
    Profile {
        Ns2 = "ns2", "as ns-2.35 behaves, the last release of the simulator that the papers used";
        Standard = "standard", "IEEE 802.11 and the RFCs as written";
    }
}
