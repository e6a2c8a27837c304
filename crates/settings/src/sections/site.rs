//! `[[nodes]]`, `[[losses]]` and `[[walls]]`: single nodes, measured links and the surroundings.

use super::Phy;
use crate::key::{Choice, Fallback::*, Kind, length, number, power, rate, share, size, time};
use crate::quantity::Unit;
use crate::value::{Field, Metres, Number, Share, Value};
use crate::{choice, section};
use fourhop_units::{Bytes, Db, Dur, Rate, Watt};

choice! {
    /// Radio contact between nodes without a measured link.
    Unmeasured {
        PathLoss = "path-loss", "path loss, walls and shadowing";
        NoLink = "no-link", "like `path-loss`, but too weak for a link";
        Heard = "heard", "like `path-loss`, but static routes use only measured links";
        Silent = "silent", "no signals";
    }
}

section! {
    /// Names of individual nodes, and what differs from `[radio]` in their transmitters and antennas.
    NodeKeys = "nodes" {
        /// Number of the node, or a list of several.
        node: Value, Kind::IntOrList(0, 1_000_000, &[]), Required;
        /// Name of the node: up to 64 characters without a comma. Emulation replaces non-ASCII characters by hyphens.
        name: Option<String>, Kind::Text, Computed("n and its number");
        /// `ofdm` or `erp-ofdm`, for an older station in a network of 802.11n or later. Only with `sinr`.
        phy: Option<Phy>, Kind::Choice(Phy::CHOICES), Computed("`radio.phy`");
        /// Transmit power.
        tx_power: Option<Watt>, power("-50dBm", "60dBm"), Computed("`radio.tx_power`");
        /// Gain over an isotropic antenna, for frames sent and received; 0 dBi for other nodes.
        antenna_gain: Db, Kind::Quantity(Unit::Ratio, "-30dB", "60dB"), Both("0dB");
        /// Height of the antenna above the ground, for two-ray propagation.
        antenna_height: Option<Metres>, length("0.01m", "1km"), Computed("`radio.antenna_height`");
        /// Processor time per packet, if it differs from that of other nodes.
        packet_cost: Option<Dur>, time("0s", "100ms"), Computed("`link.packet_cost`");
        /// Forward packets of other nodes. Static routes avoid nodes that do not.
        forwards: bool, Kind::Bool, Both("true");
    }
}

section! {
    /// Measurements between two nodes at rest: path loss, SNR, delivery ratio, ETX or rate, one per entry. A
    /// measurement replaces path loss, walls and shadowing. Transmit power and antenna gains count only with `loss`.
    /// Fading is added.
    LossKeys = "losses" {
        /// Transmitter.
        from: u32, Kind::Int(0, 1_000_000), Required;
        /// Receiver.
        to: u32, Kind::Int(0, 1_000_000), Required;
        /// Loss between the two nodes.
        loss: Option<Db>, Kind::Quantity(Unit::Ratio, "0dB", "300dB"),
            Computed("derived from `snr`, `delivery` or `etx`");
        /// Signal-to-noise ratio at the receiver. Only with `sinr`, like `delivery`, `etx` and `rate`.
        snr: Option<Db>, Kind::Quantity(Unit::Ratio, "-30dB", "100dB"), Computed("derived from `loss`");
        /// Delivery ratio of frames of size `frame` at `frame_rate` without other traffic, averaged over fading; like
        /// the TQ of B.A.T.M.A.N.
        delivery: Option<Share>, share("0.1%", "99.99%"), Computed("derived from `loss`");
        /// Expected transmissions of such a frame: 1 over the product of the delivery ratios in both directions, which
        /// are assumed to be equal (De Couto et al., 2003).
        etx: Option<Number>, number("1.001", "1000"), Computed("derived from `loss`");
        /// Maximum product of bit rate and delivery ratio of 1,500-byte frames, over all fades: the estimate of
        /// OLSRv2's airtime metric, B.A.T.M.A.N. V and rate control.
        rate: Option<Rate>, rate("10kbps", "10Gbps"), Computed("derived from `loss`");
        /// Size of the frames of `delivery` and `etx`, including the MAC header.
        frame: Option<Bytes>, size("14B", "4kB"), Computed("170B, a probe of ETX with its header");
        /// Rate of these frames; probes and routing messages are broadcasts.
        frame_rate: Option<Rate>, rate("100kbps", "1Gbps"), Computed("`radio.basic_rate`");
        /// Use the value for the other direction as well.
        both_ways: bool, Kind::Bool, Both("true");
    }
}

section! {
    /// Explicit next hops of static routes, instead of those computed by `metric`. Each node on the path applies its
    /// own table.
    RouteKeys = "routes" {
        /// Node that has the route.
        node: u32, Kind::Int(0, 1_000_000), Required;
        /// Destination, a node of the topology.
        to: u32, Kind::Int(0, 1_000_000), Required;
        /// Next hop.
        via: u32, Kind::Int(0, 1_000_000), Required;
    }
}

section! {
    /// Walls. A signal is attenuated by `loss` at each straight section of a wall between two nodes.
    WallKeys = "walls" {
        /// Corners of the wall in order, such as `[["0m", "5m"], ["10m", "5m"]]`; a straight wall has two, a closed
        /// room ends where it begins.
        corners: Value, Kind::Positions, Required;
        /// Attenuation by each straight section of the wall.
        loss: Db, Kind::Quantity(Unit::Ratio, "0dB", "200dB"), Required;
    }
}

impl NodeKeys {
    /// Whether it sets no more than the name, `packet_cost` and `forwards`, and any of these.
    pub fn only_names(&self) -> bool {
        let NodeKeys { node: _, name, phy: _, tx_power, antenna_gain, antenna_height, packet_cost, forwards } = self;
        let is_plain = packet_cost.is_none() && *forwards;
        (name.is_some() || !is_plain) && tx_power.is_none() && *antenna_gain == Db(0.0) && antenna_height.is_none()
    }

    /// Returns the nodes that the section applies to.
    pub fn numbers(&self) -> Vec<u32> {
        match &self.node {
            Value::List(numbers) => numbers.iter().map(|number| u32::from_value(Some(number))).collect(),
            number => vec![u32::from_value(Some(number))],
        }
    }
}

impl LossKeys {
    /// Keys for the quality of a link; one is enough.
    pub const MEASURED: [&str; 5] = ["loss", "snr", "delivery", "etx", "rate"];

    /// Default size of the frames whose share was measured: the probes of ETX carry 134 bytes (De Couto et al. 2003,
    /// section 5) after a MAC header and checksum of 28 and LLC of 8.
    pub const PROBE: Bytes = Bytes(170);

    /// Returns those of [`LossKeys::MEASURED`] that are given.
    pub fn measured(&self) -> Vec<&'static str> {
        let LossKeys { loss, snr, delivery, etx, rate, .. } = self;
        let given = [loss.is_some(), snr.is_some(), delivery.is_some(), etx.is_some(), rate.is_some()];
        Self::MEASURED.into_iter().zip(given).filter_map(|(name, given)| given.then_some(name)).collect()
    }

    /// Returns the share of frames that arrive in each direction, as given or from ETX = 1 / (forward times reverse).
    pub fn delivered(&self) -> Option<f64> {
        let by_etx = self.etx.map(|Number(etx)| 1.0 / etx.sqrt());
        self.delivery.map(|Share(percent)| percent / 100.0).or(by_etx)
    }
}
