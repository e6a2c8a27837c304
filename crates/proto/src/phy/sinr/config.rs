//! Parameters of the `sinr` radio.

use crate::phy::error_rate::{Curve, Mode};
use crate::phy::kind::{LONG_PLCP, PhyKind, SHORT_PLCP};
use crate::phy::mcs::{Mcs, TxRate, Width};
use crate::wire::{Frame, FrameKind};
use fourhop_units::{Bytes, Db, Dbm, Dur, Rate, Watt};

/// Rule that decides whether bits are correct.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Errors {
    /// The error rate of each modulation decides.
    ByRate,
    /// Frames are received as long as the ratio stays at or above this value, at every rate and without randomness.
    Ratio(f64),
}

/// When a later frame may take over the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameCapture {
    /// Never.
    None,
    /// During preamble and header of the first frame.
    Preamble,
    /// At any time.
    Any,
}

/// Noise, receiver and carrier sense.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Kind of physical layer.
    pub phy: PhyKind,
    /// Preamble and header of a frame.
    pub plcp: Dur,
    /// Channel width where frames have an MCS.
    pub width: Width,
    /// Noise power in the receiver's band.
    pub noise: Watt,
    /// Factor by which the ratio must exceed what the error rates require.
    pub implementation_loss: f64,
    /// Rule that decides whether bits are correct.
    pub errors: Errors,
    /// Minimum power of a frame on which the receiver synchronises.
    pub sensitivity: Watt,
    /// Minimum ratio at which it does.
    pub preamble_sinr: f64,
    /// When a later frame may take over.
    pub capture: FrameCapture,
    /// How many times stronger the later frame must be.
    pub capture_ratio: f64,
    /// Sum of powers at which the medium becomes busy.
    pub cca_energy: Watt,
    /// Whether a frame whose preamble was heard keeps the medium busy until its end.
    pub cca_preamble: bool,
}

/// Boltzmann's constant in J/K.
const BOLTZMANN: f64 = 1.380_649e-23;
/// Reference temperature of noise figures, in K (IEEE Std 145).
const STANDARD_TEMPERATURE: f64 = 290.0;

/// Receiver bandwidth in Hz unless an MCS specifies another: 22 MHz between the nulls of the DSSS spectrum, 20 MHz of
/// an OFDM channel.
pub const fn bandwidth_hz(phy: PhyKind) -> f64 {
    if phy.is_ofdm() { 20e6 } else { 22e6 }
}

/// Thermal noise in the receiver's band with its noise figure: k T B F.
pub fn thermal_noise(phy: PhyKind, noise_figure: Db) -> Watt {
    Watt(BOLTZMANN * STANDARD_TEMPERATURE * bandwidth_hz(phy) * ratio(noise_figure))
}

/// The same in a channel of `width`. Frames without MCS are then duplicated in each 20 MHz of it (non-HT duplicate), so
/// the ratio of powers in the whole channel is also theirs.
pub fn thermal_noise_in(width: Width, noise_figure: Db) -> Watt {
    Watt(BOLTZMANN * STANDARD_TEMPERATURE * width.mhz() as f64 * 1e6 * ratio(noise_figure))
}

/// Converts decibels to a factor, by the same steps on every machine.
pub fn ratio(db: Db) -> f64 {
    libm::pow(10.0, db.0 / 10.0)
}

/// Default energy threshold for a busy medium: clauses 15.4.6.5 and 16.3.8.5 for DSSS, by transmitted power; clause
/// 17.3.10.6 for OFDM, 20 dB above the minimum sensitivity.
pub fn cca_energy(phy: PhyKind, tx_power: Watt) -> Watt {
    let dbm = match tx_power.0 {
        _ if phy.is_ofdm() => -62.0,
        watts if watts > 0.1 => -80.0,
        watts if watts > 0.05 => -76.0,
        _ => -70.0,
    };
    Dbm(dbm).to_watt()
}

/// The part of preamble and header whose bits must all be correct.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Header {
    /// Its duration, at the end of the PLCP.
    pub length: Dur,
    /// Its bits.
    pub bits: f64,
    /// How they are sent.
    pub mode: Mode,
}

impl Config {
    /// Returns the header. DSSS: start frame delimiter and header, 16 + 48 bits at 1 Mbit/s, or 16 at 1 and 48 at 2
    /// with the short preamble, modelled as 1 Mbit/s throughout (clauses 15.2.3 and 16.2.3). OFDM: the SIGNAL symbol,
    /// 24 bits at 6 Mbit/s.
    pub(super) fn header(&self) -> Header {
        let mode = |rate: Rate| Mode::of(self.phy, rate).expect("INVARIANT: the lowest rate has a mode");
        let (length, bits) = match self.phy {
            // If a fixed ratio decides, it applies to the preamble too.
            _ if matches!(self.errors, Errors::Ratio(_)) => (self.plcp, 1.0),
            PhyKind::Ofdm | PhyKind::ErpOfdm => (Dur::from_micros(4), 24.0),
            PhyKind::Dsss if self.plcp >= LONG_PLCP => (Dur::from_micros(64), 64.0),
            PhyKind::Dsss if self.plcp >= SHORT_PLCP => (Dur::from_micros(40), 64.0),
            PhyKind::Dsss => (self.plcp, 64.0),
        };
        Header { length, bits, mode: mode(self.phy.rates()[0]) }
    }

    /// Returns the header of a frame with an MCS, and its end relative to the start of the frame: L-SIG and HT-SIG,
    /// VHT-SIG-A or HE-SIG-A, 24 + 48 bits at 6 Mbit/s before the training of the streams (clauses 19.3.9 and 21.3.8).
    /// RL-SIG and VHT-SIG-B are treated as part of the training.
    pub(super) fn header_with_mcs(&self, legacy: Header) -> (Header, Dur) {
        if matches!(self.errors, Errors::Ratio(_)) {
            return (legacy, self.plcp);
        }
        (Header { length: Dur::from_micros(12), bits: 72.0, mode: legacy.mode }, Dur::from_micros(28))
    }

    /// Returns the factor from the ratio of a frame's power to noise and interference in the whole channel to that of
    /// its data sent with `mcs`. If that uses a part of the channel, only the noise and interference in that part
    /// count, which are assumed to be spread evenly.
    pub(super) fn ratio_with(&self, mcs: Mcs) -> f64 {
        mcs.ratio_to_ofdm() * (self.width.mhz() as f64 / mcs.width().mhz() as f64)
    }

    /// Returns the hazard of a bit at a ratio of powers.
    pub(super) fn hazard(&self, mode: Mode, sinr: f64) -> f64 {
        self.hazard_on(self.curve(mode), sinr)
    }

    /// Returns the error rates of a mode, if they decide.
    pub(super) fn curve(&self, mode: Mode) -> Option<&'static Curve> {
        matches!(self.errors, Errors::ByRate).then(|| mode.curve())
    }

    /// Returns the hazard of a bit on the curve of its mode.
    #[inline]
    pub(super) fn hazard_on(&self, curve: Option<&Curve>, sinr: f64) -> f64 {
        match (curve, self.errors) {
            (Some(curve), _) => curve.at(sinr / self.implementation_loss),
            (None, Errors::Ratio(least)) if sinr >= least => 0.0,
            (None, _) => f64::INFINITY,
        }
    }

    /// Returns how `frame` is sent.
    pub(super) fn mode(&self, frame: &Frame) -> Mode {
        if let FrameKind::Aggregate(aggregate) = &frame.kind {
            return Mode::Ofdm(aggregate.mcs.coded());
        }
        Mode::of(self.phy, frame.rate).expect("INVARIANT: the scenario allows the rates of the standard only")
    }

    /// Returns the probability that a frame of `len` bytes at `rate` is received over noise alone; 0 if the standard
    /// has no such rate.
    pub fn success(&self, power: Watt, len: Bytes, rate: impl Into<TxRate>) -> f64 {
        let sinr = power.over(self.noise);
        if power < self.sensitivity || sinr < self.preamble_sinr {
            return 0.0;
        }
        let header = self.header();
        let (header, bits, mode, ratio) = match rate.into() {
            TxRate::Legacy(rate) => {
                let Some(mode) = Mode::of(self.phy, rate) else { return 0.0 };
                // The radio counts the bits that fit into the air time: the last OFDM symbol is sent in full.
                let air = self.phy.airtime(Dur::ZERO, len, rate).saturating_sub(self.phy.signal_extension());
                (header, bits_in(air, rate), mode, 1.0)
            }
            // For an aggregate, the bits of each MPDU.
            TxRate::Mcs(mcs) => {
                (self.header_with_mcs(header).0, len.bits() as f64, Mode::Ofdm(mcs.coded()), self.ratio_with(mcs))
            }
        };
        let hazard = header.bits * self.hazard(header.mode, sinr) + bits * self.hazard(mode, sinr * ratio);
        libm::exp(-hazard)
    }

    /// Returns the power at which a frame of `len` bytes at `rate` is received with probability `success` over noise
    /// alone.
    pub fn power_for(&self, success: f64, len: Bytes, rate: impl Into<TxRate>) -> Watt {
        let rate = rate.into();
        let enough = |ratio: f64| self.success(Watt(self.noise.0 * ratio), len, rate) >= success;
        // From -30 to 60 dB, to a thousandth of a dB.
        let (mut below, mut above) = (1e-3, 1e6);
        for _ in 0..27 {
            let middle = f64::sqrt(below * above);
            if enough(middle) {
                above = middle;
            } else {
                below = middle;
            }
        }
        Watt(self.noise.0 * above)
    }
}

/// Returns the bits sent at `rate` in `time`.
pub(super) fn bits_in(time: Dur, rate: Rate) -> f64 {
    time.as_nanos() as f64 * rate.bps() as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    // kTB at 290 K is -174.0 dBm/Hz: -100.55 dBm in 22 MHz, -100.97 dBm in 20 MHz.
    #[test]
    fn thermal_noise_is_that_of_every_link_budget() {
        assert!((thermal_noise(PhyKind::Dsss, Db(0.0)).to_dbm().0 + 100.55).abs() < 0.01);
        assert!((thermal_noise(PhyKind::Ofdm, Db(7.0)).to_dbm().0 + 93.97).abs() < 0.01);
    }

    #[test]
    fn a_wide_channel_has_the_noise_of_its_band() {
        for (width, dbm) in [(Width::Mhz20, -93.97), (Width::Mhz40, -90.95), (Width::Mhz80, -87.94)] {
            assert!((thermal_noise_in(width, Db(7.0)).to_dbm().0 - dbm).abs() < 0.01, "{width:?}");
        }
    }

    #[test]
    fn the_header_is_what_follows_the_preamble() {
        let header = |phy, plcp: u64, errors| {
            let config = Config {
                phy,
                plcp: Dur::from_micros(plcp),
                width: Width::Mhz20,
                noise: Watt(1.0),
                implementation_loss: 1.0,
                errors,
                sensitivity: Watt(0.0),
                preamble_sinr: 1.0,
                capture: FrameCapture::Preamble,
                capture_ratio: 10.0,
                cca_energy: Watt(1.0),
                cca_preamble: true,
            };
            let Header { length, bits, .. } = config.header();
            (length.as_micros_rounded(), bits)
        };
        assert_eq!(header(PhyKind::Dsss, 192, Errors::ByRate), (64, 64.0), "long preamble");
        assert_eq!(header(PhyKind::Dsss, 96, Errors::ByRate), (40, 64.0), "short preamble");
        assert_eq!(header(PhyKind::Dsss, 20, Errors::ByRate), (20, 64.0), "no more than there is");
        assert_eq!(header(PhyKind::Ofdm, 20, Errors::ByRate), (4, 24.0));
        assert_eq!(header(PhyKind::Dsss, 192, Errors::Ratio(10.0)), (192, 1.0));
    }

    #[test]
    fn carrier_sense_by_energy_follows_the_transmitted_power() {
        let dbm = |phy, mw: f64| cca_energy(phy, Watt(mw * 1e-3)).to_dbm().0.round();
        assert_eq!([50.0, 100.0, 101.0].map(|mw| dbm(PhyKind::Dsss, mw)), [-70.0, -76.0, -80.0]);
        assert_eq!(dbm(PhyKind::Ofdm, 10.0), -62.0);
    }
}
