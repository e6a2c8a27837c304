//! `[radio]`: propagation and reception.

use crate::scenario::key::{Fallback::*, Field, Hertz, Kind, Value, Values, choice, power, rate, section, time};
use crate::scenario::quantity::Unit;
use fourhop_proto::phy::PhyKind;
use fourhop_units::{Db, Dur, Rate, Watt};

choice! {
    /// Model of the radio.
    RadioModel {
        Threshold = "threshold", "two-ray ground, fixed ranges of reception and carrier sense, capture by ratio";
    }
}

choice! {
    /// Kind of physical layer.
    Phy {
        Dsss = "dsss", "802.11 and 802.11b, with their timing at any rate";
        Ofdm = "ofdm", "802.11a, 5 GHz: slots of 9 us, symbols of 4 us";
        ErpOfdm = "erp-ofdm", "802.11g among its own kind, 2.4 GHz: slots of 20 us as ad hoc networks have them";
    }
}

impl Phy {
    /// What the protocols call it.
    pub const fn kind(self) -> PhyKind {
        match self {
            Phy::Dsss => PhyKind::Dsss,
            Phy::Ofdm => PhyKind::Ofdm,
            Phy::ErpOfdm => PhyKind::ErpOfdm,
        }
    }
}

section! {
    /// Propagation and reception. The defaults give 250 m of reception and 550 m of carrier sense.
    Radio = "radio" {
        /// Model of propagation and reception.
        model: RadioModel, Kind::Choice(RadioModel::CHOICES), Both("threshold");
        /// Kind of physical layer: how long frames, slots and interframe spaces last.
        phy: Phy, Kind::Choice(Phy::CHOICES), Both("dsss");
        /// Rate of unicast data frames; with `mac.rate_control` the highest, with which each neighbour begins. OFDM: 6, 9, 12, 18,
        /// 24, 36, 48 or 54 Mbit/s.
        rate: Rate, rate("100kbps", "1Gbps"), Computed("2Mbps; with OFDM 54Mbps");
        /// Rate of broadcasts and RTS, and of CTS and ACK where `mac.answer_rate` says so.
        basic_rate: Rate, rate("100kbps", "1Gbps"), Computed("1Mbps; with OFDM 6Mbps");
        /// Air time of preamble and PLCP header before each frame, whatever its rate.
        plcp: Dur, time("0s", "1ms"), Computed("192us; with OFDM 20us");
        /// Transmitted power.
        tx_power: Watt, power("-50dBm", "60dBm"), Both("0.28183815W");
        /// Carrier frequency.
        frequency: Hertz, Kind::Quantity(Unit::Frequency, "1MHz", "300GHz"), Both("914MHz");
        /// Height of both antennas above ground.
        antenna_height: crate::scenario::key::Metres, Kind::Quantity(Unit::Length, "0.01m", "1km"), Both("1.5m");
        /// Least power that can be decoded.
        rx_threshold: Watt, power("-150dBm", "0dBm"), Both("3.652e-10W");
        /// Least power that is sensed; weaker frames have no effect.
        cs_threshold: Watt, power("-150dBm", "0dBm"), Both("1.559e-11W");
        /// Does a frame survive an overlap with another that is weaker by `capture_ratio`?
        capture: bool, Kind::Bool, Both("true");
        /// How much stronger a frame must be to survive an overlap.
        capture_ratio: Db, Kind::Quantity(Unit::Ratio, "0dB", "100dB"), Both("10dB");
        /// May a later frame that is stronger by `capture_ratio` take over the receiver?
        late_capture: bool, Kind::Bool, Profile("false", "true");
        /// Does a frame that is sensed but too weak to be decoded occupy the receiver?
        lock_on_undecodable: bool, Kind::Bool, Profile("true", "false");
        /// Is the medium busy, and a reception disturbed, for as long as any sensed frame is on the air?
        energy_detection: bool, Kind::Bool, Profile("false", "true");
    }
}

/// Fills in what follows from the kind of physical layer.
pub fn complete(values: &mut Values) {
    let phy = Phy::from_value(values.get("phy")).kind();
    let (rate, basic) = if phy.is_ofdm() { (54e6, 6e6) } else { (2e6, 1e6) };
    let rows = [
        ("rate", Value::Quantity(Unit::Rate, rate)),
        ("basic_rate", Value::Quantity(Unit::Rate, basic)),
        ("plcp", Value::Quantity(Unit::Time, phy.plcp().as_nanos() as f64)),
    ];
    for (key, value) in rows {
        values.entry(key).or_insert(value);
    }
}
