//! The profiles: bundles of behaviour.

use crate::choice;

choice! {
    /// The behaviour of the protocols.
    Profile {
        Ns2 = "ns2", "behaviour of ns-2.35, the last release of the simulator that the papers used";
        Standard = "standard", "IEEE 802.11 and the RFCs as written";
    }
}
