//! `[radio]`: propagation and reception.

use crate::scenario::key::{Fallback::*, Hertz, Kind, choice, power, rate, section, time};
use crate::scenario::quantity::Unit;
use fourhop_units::{Db, Dur, Rate, Watt};

choice! {
    /// Model of the radio.
    RadioModel {
        Threshold = "threshold", "two-ray ground, fixed ranges of reception and carrier sense, capture by ratio";
    }
}

section! {
    /// Propagation and reception. The defaults give 250 m of reception and 550 m of carrier sense.
    Radio = "radio" {
        /// Model of propagation and reception.
        model: RadioModel, Kind::Choice(RadioModel::CHOICES), Both("threshold");
        /// Rate of unicast data frames.
        rate: Rate, rate("100kbps", "1Gbps"), Both("2Mbps");
        /// Rate of RTS, CTS, ACK and broadcasts.
        basic_rate: Rate, rate("100kbps", "1Gbps"), Both("1Mbps");
        /// Air time of preamble and PLCP header before each frame, whatever its rate.
        plcp: Dur, time("0s", "1ms"), Both("192us");
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
