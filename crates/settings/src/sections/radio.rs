//! `[radio]`: propagation and reception.

use super::site::Unmeasured;
use crate::key::{Choice, Fallback::*, Kind, length, number, power, rate, time};
use crate::quantity::Unit;
use crate::value::{Field, Hertz, Metres, Number, Value, Values};
use crate::{choice, section};
use fourhop_proto::mac;
use fourhop_proto::phy::log_distance::Indoor;
use fourhop_proto::phy::mcs::{Format, Mcs};
use fourhop_proto::phy::sinr::{self, FrameCapture};
use fourhop_proto::phy::two_ray::TwoRay;
use fourhop_proto::phy::{self, PhyKind};
use fourhop_units::{Db, Dur, Rate, Watt};

/// Keys of only one radio model.
const THRESHOLD: &[&str] = &["threshold"];
const SINR: &[&str] = &["sinr"];

/// A ratio from .. to.
const fn ratio(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Ratio, from, to)
}

/// A frequency from .. to.
const fn frequency(from: &'static str, to: &'static str) -> Kind {
    Kind::Quantity(Unit::Frequency, from, to)
}

choice! {
    /// Model of the radio.
    RadioModel {
        Threshold = "threshold", "two-ray ground, fixed ranges of reception and carrier sense, capture by ratio";
        Sinr = "sinr", "path loss, shadowing and fading; noise, sums of interference, error rates by modulation; \
            docs/radio.md";
    }
}

choice! {
    /// Physical layer.
    Phy {
        Dsss = "dsss", "802.11 and 802.11b";
        Ofdm = "ofdm", "802.11a, 5 GHz: slots of 9 us, symbols of 4 us";
        ErpOfdm = "erp-ofdm", "802.11g only, 2.4 GHz: slots of 20 us";
        Ht = "ht", "802.11n, 5 GHz, with aggregates";
        Ht24 = "ht-2.4ghz", "802.11n, 2.4 GHz";
        Vht = "vht", "802.11ac, 5 GHz";
        He = "he", "802.11ax, 5 GHz: rates and single-user frames";
        He24 = "he-2.4ghz", "802.11ax, 2.4 GHz: rates and single-user frames";
    }
}

impl Phy {
    /// Returns the kind that determines slots, interframe spaces and frames without MCS.
    pub fn kind(self) -> PhyKind {
        match self {
            Phy::Dsss => PhyKind::Dsss,
            Phy::Ofdm | Phy::Ht | Phy::Vht | Phy::He => PhyKind::Ofdm,
            Phy::ErpOfdm | Phy::Ht24 | Phy::He24 => PhyKind::ErpOfdm,
        }
    }

    /// Returns the format of unicast data, if it has an MCS.
    pub fn format(self) -> Option<Format> {
        match self {
            Phy::Dsss | Phy::Ofdm | Phy::ErpOfdm => None,
            Phy::Ht | Phy::Ht24 => Some(Format::Ht),
            Phy::Vht => Some(Format::Vht),
            Phy::He | Phy::He24 => Some(Format::He),
        }
    }
}

/// Values whose data has an MCS.
const WITH_MCS: &[&str] = &["ht", "ht-2.4ghz", "vht", "he", "he-2.4ghz"];

choice! {
    /// Mean power over distance.
    PathLossKind {
        LogDistance = "log-distance", "10 n log10(d / d0) dB more than at the reference distance";
        FreeSpace = "free-space", "Friis";
        TwoRay = "two-ray", "free space up to the crossover distance; beyond it, power falls with the fourth power of \
            the distance";
        ItuIndoor = "itu-indoor", "ITU-R P.1238 on one floor";
    }
}

choice! {
    for Indoor {
        Office = "office", "path-loss exponent 3.0";
        Residential = "residential", "exponent 2.8";
        Hallway = "hallway", "exponent 1.8, since corridors guide waves";
    }
}

choice! {
    /// Small-scale fading: fast changes of power.
    Fading {
        Rayleigh = "rayleigh", "many paths, none dominant";
        Rician = "rician", "one path dominates by `rician_k`";
    }
}

choice! {
    /// Decides which frames are correct.
    Errors {
        ByRate = "by-rate", "the error rate of each modulation";
        Ratio = "ratio", "a frame is correct if its SINR stays at or above `required_sinr`";
    }
}

choice! {
    for FrameCapture {
        None = "none", "never";
        Preamble = "preamble", "during the preamble and header of the first frame";
        Any = "any", "at any time";
    }
}

section! {
    /// Propagation and reception. The defaults give 250 m of reception and 550 m of carrier sense.
    Radio = "radio" of phy::Config {
        /// Model of propagation and reception.
        model: RadioModel, Kind::Choice(RadioModel::CHOICES), Both("threshold");
        /// Physical layer: durations of frames, slots and spaces.
        phy: Phy, Kind::Choice(Phy::CHOICES), Both("dsss");
        /// Rate of unicast data; with `mac.rate_control`, the maximum and initial rate. OFDM: 6, 9, 12, 18, 24, 36, 48
        /// or 54 Mbit/s. From 802.11n on, use `mcs`.
        rate: Rate, rate("100kbps", "10Gbps"), Computed("2Mbps; with OFDM 54Mbps; from 802.11n on that of `mcs`");
        /// MCS of unicast data, counted per stream: up to 7 with 802.11n (its MCS 15 is 7 with two streams), 9 with
        /// 802.11ac, 11 with 802.11ax. With `mac.rate_control`, the maximum.
        mcs: Option<u32>, Kind::Int(0, 11), Both("7");
        /// Spatial streams.
        streams: Option<u32>, Kind::Int(1, 4), Both("1");
        /// Channel width: 20 MHz, 40 MHz or, from 802.11ac on, 80 MHz.
        width: Option<Hertz>, frequency("20MHz", "80MHz"), Both("20MHz");
        /// Guard interval: 400 or 800 ns; with 802.11ax 800, 1600 or 3200 ns. With `mac.rate_control`, the minimum.
        guard_interval: Option<Dur>, time("400ns", "3200ns"), Both("800ns");
        /// Rate of broadcasts and RTS, and of CTS and ACK if `mac.answer_rate` selects it.
        basic_rate: Rate, rate("100kbps", "1Gbps"), Computed("1Mbps; with OFDM 6Mbps");
        /// Air time of the preamble and PLCP header before each frame, whatever its rate.
        plcp: Dur, time("0s", "1ms"), Computed("192us; with OFDM 20us");
        /// Transmit power.
        tx_power: Watt, power("-50dBm", "60dBm"), Computed("0.28183815W; `sinr`: 20dBm");
        /// Carrier frequency.
        frequency: Hertz, frequency("1MHz", "300GHz"), Computed("914MHz; `sinr`: 2412MHz, with `ofdm` 5180MHz");
        /// Height of the antennas above the ground, for two-ray propagation.
        antenna_height: Option<Metres>, length("0.01m", "1km"),
            Layer(|_| Metres(TwoRay::WAVELAN.antenna_height_m).to_value());
        /// Minimum power at which a frame can be decoded.
        rx_threshold: Option<Watt>, power("-150dBm", "0dBm") => rx_threshold, THRESHOLD;
        /// Minimum power at which a frame is sensed.
        cs_threshold: Option<Watt>, power("-150dBm", "0dBm") => cs_threshold, THRESHOLD;
        /// A frame survives an overlap with frames that are weaker by `capture_ratio`.
        capture: Option<bool>, Kind::Bool, Both("true"), THRESHOLD;
        /// Power ratio at which a frame survives an overlap; with `sinr`, at which it takes over the receiver.
        capture_ratio: Db, ratio("0dB", "100dB"), Both("10dB");
        /// A later frame stronger by `capture_ratio` takes over the receiver.
        late_capture: Option<bool>, Kind::Bool => late_capture, THRESHOLD;
        /// Undecodable frames occupy the receiver.
        lock_on_undecodable: Option<bool>, Kind::Bool => lock_on_undecodable, THRESHOLD;
        /// The medium is busy, and receptions are disturbed, while any sensed frame is on the air.
        energy_detection: Option<bool>, Kind::Bool => energy_detection, THRESHOLD;
        /// Mean power over distance.
        path_loss: Option<PathLossKind>, Kind::Choice(PathLossKind::CHOICES), Both("log-distance"), SINR;
        /// Exponent n of `log-distance`.
        exponent: Option<Number>, number("1", "10"), Both("3"), SINR;
        /// Reference distance of `log-distance`.
        reference_distance: Option<Metres>, length("0.1m", "10km"), Both("1m"), SINR;
        /// Loss at the reference distance; none: the free-space loss.
        reference_loss: Option<Db>, ratio("0dB", "200dB"), Both("none"), SINR;
        /// Indoor environment, for `itu-indoor`.
        environment: Option<Indoor>, Kind::Choice(Indoor::CHOICES), Both("office"), SINR;
        /// Standard deviation of shadowing.
        shadowing: Option<Db>, ratio("0dB", "30dB"), Both("0dB"), SINR;
        /// Displacement at which the correlation of shadowing has fallen to 1/e.
        shadowing_distance: Option<Metres>, length("0.1m", "10km"), Both("10m"), SINR;
        /// Seed of shadowing, so that all runs have the same surroundings; none: the seed of the run.
        seed: Option<u64>, Kind::Int(0, 9_007_199_254_740_991), Both("none"), SINR;
        /// Small-scale fading: fast changes of power; none: no fading.
        fading: Option<Fading>, Kind::Choice(Fading::CHOICES), Both("none"), SINR;
        /// Ratio of the power of the dominant path to that of all others.
        rician_k: Option<Db>, ratio("-20dB", "40dB"), Both("6dB"), SINR;
        /// Maximum Doppler shift of the surroundings; the nodes' movement adds to it.
        doppler: Option<Hertz>, frequency("0Hz", "100kHz"), Both("0Hz"), SINR;
        /// Noise of the receiver above thermal noise at 290 K in 22 MHz (DSSS) or 20 MHz (OFDM).
        noise_figure: Option<Db>, ratio("0dB", "60dB"), Both("7dB"), SINR;
        /// Margin added to the required SINR.
        implementation_loss: Option<Db>, ratio("0dB", "30dB"), Both("0dB"), SINR;
        /// Decides which frames are correct.
        errors: Option<Errors>, Kind::Choice(Errors::CHOICES), Both("by-rate"), SINR;
        /// Minimum SINR of a correct frame, for `errors = "ratio"`.
        required_sinr: Option<Db>, ratio("-20dB", "60dB"), Both("10dB"), SINR;
        /// Minimum SINR at which the receiver synchronises to a frame.
        preamble_sinr: Option<Db>, ratio("-30dB", "60dB"), Computed("0dB; with OFDM 4dB"), SINR;
        /// Minimum power at which the receiver synchronises to a frame; none: only the SINR counts.
        sensitivity: Option<Watt>, power("-150dBm", "0dBm"), Both("none"), SINR;
        /// Phase in which a later frame stronger by `capture_ratio` takes over the receiver.
        frame_capture: Option<FrameCapture>, Kind::Choice(FrameCapture::CHOICES), Both("preamble"), SINR;
        /// Total received power at or above which the medium is busy.
        cca_energy: Option<Watt>, power("-150dBm", "30dBm"), Computed("-62dBm with OFDM; else by `tx_power`: -70dBm \
            up to 50 mW, -76dBm up to 100 mW, -80dBm"), SINR;
        /// The medium is busy for the whole duration of a frame whose preamble was received.
        cca_preamble: Option<bool>, Kind::Bool, Both("true"), SINR;
        /// Signals that are weaker than the noise by more than this are ignored.
        cutoff: Option<Db>, ratio("0dB", "60dB"), Both("10dB"), SINR;
        /// With `[[losses]]`: signals between pairs of nodes without a measurement.
        unmeasured: Unmeasured, Kind::Choice(Unmeasured::CHOICES), Both("path-loss");
    }
}

/// Keys that apply only with certain values of another key: the key, the other key, and those values.
pub const CONDITIONS: [(&str, &str, &[&str]); 12] = [
    ("mcs", "phy", WITH_MCS),
    ("streams", "phy", WITH_MCS),
    ("width", "phy", WITH_MCS),
    ("guard_interval", "phy", WITH_MCS),
    ("antenna_height", "path_loss", &["two-ray"]),
    ("exponent", "path_loss", &["log-distance"]),
    ("reference_distance", "path_loss", &["log-distance"]),
    ("reference_loss", "path_loss", &["log-distance"]),
    ("environment", "path_loss", &["itu-indoor"]),
    ("rician_k", "fading", &["rician"]),
    ("doppler", "fading", &["rayleigh", "rician"]),
    ("required_sinr", "errors", &["ratio"]),
];

/// Returns the other key that `key` depends on, and the required values; `None` if they are given.
pub fn needs(key: &str, values: &Values) -> Option<(&'static str, &'static [&'static str])> {
    let &(_, other, allowed) = CONDITIONS.iter().find(|(name, ..)| *name == key)?;
    // With `threshold` the antennas are always above two-ray ground, and the other keys are refused anyway.
    if other != "phy" && RadioModel::from_value(values.get("model")) == RadioModel::Threshold {
        return None;
    }
    let fits = matches!(values.get(other), Some(Value::Text(found)) if allowed.contains(&found.as_str()));
    (!fits).then_some((other, allowed))
}

/// Returns the MCS that the keys describe, if it exists.
fn mcs_in(values: &Values) -> Option<Mcs> {
    let format = Phy::from_value(values.get("phy")).format()?;
    let number = |key| Option::<u32>::from_value(values.get(key));
    mcs_of(
        format,
        number("mcs")?,
        number("streams")?,
        Option::from_value(values.get("width"))?,
        Option::from_value(values.get("guard_interval"))?,
    )
}

fn mcs_of(format: Format, index: u32, streams: u32, width: Hertz, guard: Dur) -> Option<Mcs> {
    let width = format.widths().iter().find(|it| it.mhz() as f64 * 1e6 == width.0)?;
    let guard = format.guards().iter().find(|it| it.duration() == guard)?;
    Mcs::new(format, u8::try_from(index).ok()?, u8::try_from(streams).ok()?, *width, *guard)
}

impl Radio {
    /// Returns the MCS of unicast data, if it has one.
    pub fn mcs(&self) -> Option<Mcs> {
        mcs_of(self.phy.format()?, self.mcs?, self.streams?, self.width?, self.guard_interval?)
    }
}

/// Fills in values that depend on the physical layer and the model, and drops those that do not apply, unless they were
/// `given`.
pub fn complete(values: &mut Values, given: impl Fn(&str) -> bool) {
    let standard = Phy::from_value(values.get("phy"));
    let phy = standard.kind();
    let is_sinr = RadioModel::from_value(values.get("model")) == RadioModel::Sinr;
    let usual = mac::Config::ns2();
    let (rate, basic) = match phy.is_ofdm() {
        true => (mcs_in(values).map_or(54e6, |mcs| mcs.rate().bps() as f64), 6e6),
        false => (usual.data_rate.bps() as f64, usual.basic_rate.bps() as f64),
    };
    let (tx_power, carrier) = match (is_sinr, phy) {
        (false, _) => (TwoRay::WAVELAN.tx_power.0, TwoRay::WAVELAN.frequency_hz),
        (true, PhyKind::Ofdm) => (0.1, 5.18e9),
        (true, PhyKind::Dsss | PhyKind::ErpOfdm) => (0.1, 2.412e9),
    };
    let mut rows = vec![
        ("rate", Value::Quantity(Unit::Rate, rate)),
        ("basic_rate", Value::Quantity(Unit::Rate, basic)),
        ("plcp", Value::Quantity(Unit::Time, phy.plcp().as_nanos() as f64)),
        ("tx_power", Value::Quantity(Unit::Power, tx_power)),
        ("frequency", Value::Quantity(Unit::Frequency, carrier)),
    ];
    if is_sinr {
        let tx_power = values.get("tx_power").map_or(Watt(tx_power), |power| Watt::from_value(Some(power)));
        let preamble_sinr = if phy.is_ofdm() { 4.0 } else { 0.0 };
        rows.push(("preamble_sinr", Value::Quantity(Unit::Ratio, preamble_sinr)));
        rows.push(("cca_energy", Value::Quantity(Unit::Power, sinr::config::cca_energy(phy, tx_power).0)));
    }
    for (key, value) in rows {
        values.entry(key).or_insert(value);
    }
    for (key, ..) in CONDITIONS {
        if !given(key) && needs(key, values).is_some() {
            values.remove(key);
        }
    }
}
