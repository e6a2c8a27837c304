//! Converts `[radio]`, and the rates of `[mac]`, to the radio of a run.

use super::Scenario;
use super::sections::{Errors, Fading, PathLossKind, RadioModel, RateControl};
use crate::link_cost::LEAST;
use crate::propagation::{PathLoss, Propagation, fading, shadowing};
use crate::setup::{Radio, SinrRadio};
use fourhop_proto::mac::{self, minstrel};
use fourhop_proto::phy::log_distance::{LogDistance, friis};
use fourhop_proto::phy::mcs::{Mcs, Width};
use fourhop_proto::phy::sinr::config::{ratio, thermal_noise, thermal_noise_in};
use fourhop_proto::phy::two_ray::{LIGHT_SPEED, TwoRay};
use fourhop_proto::{phy, phy::sinr};
use fourhop_units::{Bytes, Db, Watt};

/// Links of static routes, and of connected random networks, are those on which a packet of this size gets through this
/// often if nobody else sends.
const LINK: (Bytes, f64) = (Bytes(1500), 0.9);

/// Message for a missing key of the selected model.
const GIVEN: &str = "INVARIANT: keys of the model are present";

impl Scenario {
    /// Returns the configuration of every node's `threshold` receiver.
    pub fn receiver_config(&self) -> phy::Config {
        let radio = &self.radio;
        if radio.model == RadioModel::Sinr {
            return phy::Config::standard();
        }
        phy::Config {
            capture_ratio: radio.capture.expect(GIVEN).then(|| ratio(radio.capture_ratio)),
            ..self.configured(radio)
        }
    }

    /// Returns the range of the radio in metres without obstacles.
    pub fn range_m(&self) -> f64 {
        match self.radio_setup() {
            Radio::Threshold(law) => law.range_m(self.receiver_config().rx_threshold),
            Radio::Sinr(radio) => radio.propagation.range_m(radio.link),
        }
    }

    /// Returns two-ray ground with the transmitter of the scenario.
    pub fn propagation(&self) -> TwoRay {
        TwoRay {
            tx_power: self.radio.tx_power,
            frequency_hz: self.radio.frequency.0,
            antenna_height_m: self.radio.antenna_height.map_or(TwoRay::WAVELAN.antenna_height_m, |height| height.0),
        }
    }

    /// Returns propagation and, with `sinr`, reception.
    pub fn radio_setup(&self) -> Radio {
        match self.radio.model {
            RadioModel::Threshold => Radio::Threshold(self.propagation()),
            RadioModel::Sinr => Radio::Sinr(Box::new(self.sinr_radio())),
        }
    }

    fn sinr_radio(&self) -> SinrRadio {
        let receiver = self.sinr_receiver();
        let radio = &self.radio;
        let (len, success) = LINK;
        // On a link, at least one of the possible data rates gets through.
        let needed = receiver.power_for(success, len + self.mac.data_overhead, self.mac_config().lowest_data_tx());
        let shadows = shadowing::Config {
            deviation: radio.shadowing.expect(GIVEN),
            distance_m: radio.shadowing_distance.expect(GIVEN).0,
            seed: radio.seed,
        };
        let fades = |k| {
            let doppler_hz = radio.doppler.expect(GIVEN).0;
            fading::Config { k, doppler_hz, wavelength_m: LIGHT_SPEED / radio.frequency.0 }
        };
        let judged = SinrRadio {
            propagation: Propagation {
                tx_power: radio.tx_power,
                path_loss: self.path_loss(),
                shadowing: Some(shadows).filter(|shadows| shadows.deviation > Db(0.0)),
                fading: radio.fading.map(|fading| match fading {
                    Fading::Rayleigh => fades(0.0),
                    Fading::Rician => fades(ratio(radio.rician_k.expect(GIVEN))),
                }),
                cutoff: Watt(receiver.noise.0 / ratio(radio.cutoff.expect(GIVEN))),
            },
            receiver,
            link: if needed > receiver.sensitivity { needed } else { receiver.sensitivity },
            metric_over_fades: self.routing.metric_over_fades,
        };
        // Routes that count frames over all fades have links that are too weak before fading.
        let over_fades = judged.metric_over_fades && self.link_metric().is_some();
        let least = || judged.power_for(LEAST, len + self.mac.data_overhead, self.mac_config().lowest_data_tx());
        SinrRadio { link: if over_fades { least() } else { judged.link }, ..judged }
    }

    fn path_loss(&self) -> PathLoss {
        let radio = &self.radio;
        let frequency = radio.frequency.0;
        match radio.path_loss.expect(GIVEN) {
            PathLossKind::LogDistance => {
                let reference_m = radio.reference_distance.expect(GIVEN).0;
                PathLoss::LogDistance(LogDistance {
                    reference_loss: radio.reference_loss.unwrap_or_else(|| friis(frequency, reference_m)),
                    reference_m,
                    exponent: radio.exponent.expect(GIVEN).0,
                })
            }
            PathLossKind::FreeSpace => PathLoss::LogDistance(LogDistance::free_space(frequency)),
            PathLossKind::TwoRay => PathLoss::TwoRay(self.propagation()),
            PathLossKind::ItuIndoor => {
                PathLoss::LogDistance(LogDistance::indoor(radio.environment.expect(GIVEN), frequency))
            }
        }
    }

    fn sinr_receiver(&self) -> sinr::Config {
        let radio = &self.radio;
        sinr::Config {
            phy: radio.phy.kind(),
            plcp: radio.plcp,
            width: radio.mcs().map_or(Width::Mhz20, Mcs::width),
            noise: match radio.mcs() {
                Some(mcs) => thermal_noise_in(mcs.width(), radio.noise_figure.expect(GIVEN)),
                None => thermal_noise(radio.phy.kind(), radio.noise_figure.expect(GIVEN)),
            },
            implementation_loss: ratio(radio.implementation_loss.expect(GIVEN)),
            errors: match radio.errors.expect(GIVEN) {
                Errors::ByRate => sinr::Errors::ByRate,
                Errors::Ratio => sinr::Errors::Ratio(ratio(radio.required_sinr.expect(GIVEN))),
            },
            sensitivity: radio.sensitivity.unwrap_or(Watt(0.0)),
            preamble_sinr: ratio(radio.preamble_sinr.expect(GIVEN)),
            capture: radio.frame_capture.expect(GIVEN),
            capture_ratio: ratio(radio.capture_ratio),
            cca_energy: radio.cca_energy.expect(GIVEN),
            cca_preamble: radio.cca_preamble.expect(GIVEN),
        }
    }

    /// Returns how every node chooses its data rates.
    pub(super) fn rate_control(&self) -> mac::RateControl {
        let mac = &self.mac;
        let arf = |adaptive| {
            mac::RateControl::Arf(mac::Arf {
                up_after: mac.arf_up,
                down_after: mac.arf_down,
                timer: mac.arf_timer,
                adaptive,
            })
        };
        match mac.rate_control {
            RateControl::Fixed => mac::RateControl::Fixed,
            RateControl::Arf => arf(None),
            RateControl::Aarf => arf(Some(mac.aarf_max)),
            RateControl::Minstrel => mac::RateControl::Minstrel(minstrel::Config {
                interval: mac.minstrel_interval,
                sample_gap: mac.minstrel_gap,
                ..minstrel::Config::mac80211()
            }),
        }
    }
}
