//! MAC constants, the air times derived from them, and the named options.

use super::aggregate::options::Aggregation;
use super::edca::parameters::Config as Categories;
use super::minstrel;
use super::sizes::{CTS_OR_ACK, QOS_CONTROL, RTS};
use crate::phy::PhyKind;
use crate::phy::mcs::{Mcs, TxRate};
use fourhop_units::{Bytes, Dur, Rate};

/// Rate of answers to RTS and data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerRate {
    /// The basic rate, or that of the frame if lower (ns-2).
    Basic,
    /// The highest mandatory rate of the physical layer that does not exceed that of the frame (IEEE 802.11-2020 clause
    /// 10.6.6.5.2).
    Mandatory,
}

/// Range of back-off numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BackoffDraw {
    /// 0 .. CW - 1 (ns-2).
    BelowCw,
    /// 0 .. CW (IEEE 802.11-2020 clause 10.3.3).
    UpToCw,
}

/// Parameters of ARF and AARF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arf {
    /// Consecutive ACKs before a higher rate is tried: 10.
    pub up_after: u32,
    /// Consecutive missing ACKs before falling back to a lower rate: 2.
    pub down_after: u32,
    /// Frames at one rate after which a higher rate is tried in any case: 15.
    pub timer: u32,
    /// AARF: `up_after` and `timer` double with each failed trial, until `up_after` reaches this value. 50.
    pub adaptive: Option<u32>,
}

/// How rates are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateControl {
    /// A fixed rate.
    Fixed,
    /// Adapts to missing ACKs.
    Arf(Arf),
    /// Adapts to the measured throughput of each rate.
    Minstrel(minstrel::Config),
}

/// Treatment of options in forwarded frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionsRule {
    /// Does not know options and drops them.
    Strip,
    /// Does not know options and forwards them unchanged.
    Pass,
    /// Measures the link and updates the options.
    Measure {
        /// Whether the queueing time of an acknowledgement counts. The paper: yes.
        backward_queueing: bool,
    },
}

/// Constants and options. [`Config::ns2`] is the MAC on which the papers measured, [`Config::standard`] IEEE 802.11 as
/// written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Physical layer, which determines the length of frames.
    pub phy: PhyKind,
    /// Rate of unicast data. With rate control: the highest, at which each neighbour starts. With `mcs`: the rate of
    /// the MCS.
    pub data_rate: Rate,
    /// MCS of unicast data in 802.11n and later, sent in aggregates; without it there are no aggregates.
    pub mcs: Option<Mcs>,
    /// Limits of aggregates.
    pub aggregation: Aggregation,
    /// With `mcs`: rate of unicast data to stations without MCS; with rate control the highest such rate.
    pub legacy_rate: Rate,
    /// Rate of broadcasts, of RTS (or the data rate if lower) and, depending on `answer_rate`, of CTS and ACK.
    pub basic_rate: Rate,
    /// Rate of CTS and ACK.
    pub answer_rate: AnswerRate,
    /// Rate control for unicast data.
    pub rate_control: RateControl,
    /// PLCP preamble and header, 192 us for the long format (IEEE 802.11-2020 clause 15.2.2), independent of the rate.
    pub plcp: Dur,
    /// Slot time, 20 us for DSSS (clause 15.3.3).
    pub slot: Dur,
    /// Short interframe space, 10 us for DSSS (clause 15.3.3).
    pub sifs: Dur,
    /// Minimum contention window, 31 slots.
    pub cw_min: u32,
    /// Maximum contention window, 1023 slots. Effect of 255: -14 / -9 / -40 / -39 % of NewReno over 3 / 4 / 7 / 12
    /// hops.
    pub cw_max: u32,
    /// dot11ShortRetryLimit: transmissions of an RTS, or of data without RTS. 7. Effect of 15: +16 / +16 / +69 / +85 %.
    pub short_retry_limit: u32,
    /// dot11LongRetryLimit: transmissions of data after RTS. 4.
    pub long_retry_limit: u32,
    /// dot11RTSThreshold: longer frames are preceded by an RTS. 0: every unicast frame.
    pub rts_threshold: Bytes,
    /// Bytes that a data frame adds to its payload. ns-2: 34 (four addresses and FCS, no LLC); IEEE 802.11 with
    /// LLC/SNAP: 36 (24 + 8 + 4).
    pub data_overhead: Bytes,
    /// Maximum propagation delay allowed for in time-outs, one way. 2 us.
    pub propagation_margin: Dur,
    /// Four access categories instead of one function; `cw_min` and `cw_max` do not apply to them.
    pub edca: Option<Categories>,
    /// Range of the back-off draw.
    pub backoff_draw: BackoffDraw,
    /// Whether a frame may be sent at once if the medium has been idle for DIFS. Clause 10.3.4.2: yes. ns-2: no, the
    /// wait is always random.
    pub immediate_access: bool,
    /// Whether a CTS is also withheld during an EIFS or after a captured frame. ns-2: yes, the whole medium must be
    /// idle. Clause 10.3.2.9: only the NAV counts. Effect of no: +7 / +8 / +4 / -6 %.
    pub cts_refused_by_eifs: bool,
    /// Whether a NAV set by an RTS is reset if nothing follows the RTS. Clause 10.3.2.4: yes. ns-2: no. Effect of yes:
    /// 0 / 0 / -1 / -14 %.
    pub nav_reset: bool,
    /// Whether a DIFS follows an EIFS. ns-2: yes (414 us in total). Clause 10.3.2.3.7: EIFS replaces DIFS (364 us).
    pub eifs_then_difs: bool,
    /// Whether a good frame ends an EIFS. Clause 10.3.2.3.7: yes. ns-2: no. Effect of yes: +5 / +8 / +3 / -8 %.
    pub eifs_ended_by_good_frame: bool,
    /// Whether an EIFS follows energy that could never be decoded. ns-2: yes. Clause 15: only after a frame whose
    /// header was seen. Effect of no EIFS at all: -5 / -4 / -2 / -30 %.
    pub eifs_on_undecodable: bool,
    /// Whether a captured frame keeps the medium busy for its air time and an EIFS. ns-2: yes. Effect of no: +6 / +8 /
    /// +8 / 0 %.
    pub capture_nav: bool,
    /// Treatment of options in the headers of data frames. Neither ns-2 nor IEEE 802.11 has such options.
    pub options: OptionsRule,
}

impl Config {
    /// ns-2.35 as the papers set it: 2 Mbit/s data, 1 Mbit/s basic, RTS before every unicast frame.
    pub const fn ns2() -> Config {
        Config {
            phy: PhyKind::Dsss,
            data_rate: Rate::kbps(2_000),
            mcs: None,
            aggregation: Aggregation::standard(),
            legacy_rate: Rate::kbps(54_000),
            basic_rate: Rate::kbps(1_000),
            answer_rate: AnswerRate::Basic,
            rate_control: RateControl::Fixed,
            plcp: Dur::from_micros(192),
            slot: Dur::from_micros(20),
            sifs: Dur::from_micros(10),
            cw_min: 31,
            cw_max: 1023,
            short_retry_limit: 7,
            long_retry_limit: 4,
            rts_threshold: Bytes(0),
            data_overhead: Bytes(34),
            propagation_margin: Dur::from_micros(2),
            edca: None,
            backoff_draw: BackoffDraw::BelowCw,
            immediate_access: false,
            cts_refused_by_eifs: true,
            nav_reset: false,
            eifs_then_difs: true,
            eifs_ended_by_good_frame: false,
            eifs_on_undecodable: true,
            capture_nav: true,
            options: OptionsRule::Strip,
        }
    }

    /// IEEE 802.11 as written, with the same rates and the same RTS threshold.
    pub const fn standard() -> Config {
        Config {
            data_overhead: Bytes(36),
            backoff_draw: BackoffDraw::UpToCw,
            immediate_access: true,
            cts_refused_by_eifs: false,
            nav_reset: true,
            eifs_then_difs: false,
            eifs_ended_by_good_frame: true,
            eifs_on_undecodable: false,
            capture_nav: false,
            ..Config::ns2()
        }
    }

    /// DIFS = SIFS + 2 slots (clause 10.3.7).
    pub const fn difs(&self) -> Dur {
        Dur::from_nanos(self.sifs.as_nanos() + 2 * self.slot.as_nanos())
    }

    /// EIFS = SIFS + DIFS + the air time of an ACK at the basic rate (clause 10.3.7).
    pub fn eifs(&self) -> Dur {
        self.sifs + self.difs() + self.answer_airtime(self.basic_rate)
    }

    /// How long the medium counts as busy after a frame received in error; a DIFS always follows.
    pub fn eifs_before_difs(&self) -> Dur {
        if self.eifs_then_difs { self.eifs() } else { self.eifs() - self.difs() }
    }

    /// Returns the rates around data at `data`: those of the RTS before it, of the CTS that answers this RTS, and of
    /// the ACK that answers the data.
    pub fn rates_around(&self, data: Rate) -> ControlRates {
        let rts = self.basic_rate.min(data);
        ControlRates { rts, cts: self.answer_to(rts), ack: self.answer_to(data) }
    }

    /// Returns the rate of the answer to a frame at `rate`.
    pub fn answer_to(&self, rate: Rate) -> Rate {
        match self.answer_rate {
            AnswerRate::Basic => self.basic_rate.min(rate),
            AnswerRate::Mandatory => {
                let mandatory = self.phy.mandatory_rates();
                *mandatory.iter().rfind(|&&other| other <= rate).unwrap_or(&mandatory[0])
            }
        }
    }

    /// Returns the air time of a frame of `len` bytes at `rate`.
    pub fn airtime(&self, len: Bytes, rate: Rate) -> Dur {
        self.phy.airtime(self.plcp, len, rate)
    }

    /// Returns the air time of an RTS at `rate`.
    pub fn rts_airtime(&self, rate: Rate) -> Dur {
        self.airtime(RTS, rate)
    }

    /// Returns the air time of a CTS or an ACK at `rate`.
    pub fn answer_airtime(&self, rate: Rate) -> Dur {
        self.airtime(CTS_OR_ACK, rate)
    }

    /// Returns the air time of a data frame with `len` bytes of payload at `rate`.
    pub fn data_airtime(&self, len: Bytes, rate: Rate) -> Dur {
        self.airtime(self.data_len(len), rate)
    }

    /// Returns the size of a data frame with `len` bytes of payload; with EDCA it is QoS data.
    pub fn data_len(&self, len: Bytes) -> Bytes {
        let plain = len + self.data_overhead;
        if self.edca.is_some() { plain + QOS_CONTROL } else { plain }
    }

    /// Returns how unicast data is sent unless rate control decides otherwise.
    pub fn data_tx(&self) -> TxRate {
        self.mcs.map_or(TxRate::Legacy(self.data_rate), TxRate::Mcs)
    }

    /// Returns the rate of unicast data without MCS unless rate control decides otherwise.
    pub fn single_rate(&self) -> Rate {
        if self.mcs.is_some() { self.legacy_rate } else { self.data_rate }
    }

    /// Returns the options of a station without MCS among stations with these: it sends at the rates at which they send
    /// to it.
    pub fn without_mcs(&self) -> Config {
        Config { mcs: None, data_rate: self.single_rate(), ..*self }
    }

    /// Returns the same options on another physical layer, with its preamble, slot, SIFS and minimum contention window.
    /// Rates stay as they are.
    pub fn with_phy(&self, phy: PhyKind) -> Config {
        Config { phy, plcp: phy.plcp(), slot: phy.slot(), sifs: phy.sifs(), cw_min: phy.cw_min(), ..*self }
    }

    /// Returns the rate from which those of the frames around unicast data are derived.
    pub fn reference_rate(&self) -> Rate {
        self.mcs.map_or(self.data_rate, Mcs::reference_rate)
    }

    /// Returns the air time of a frame that carries a single packet of `len` bytes, sent as [`Config::data_tx`] says.
    pub fn alone_airtime(&self, len: Bytes) -> Dur {
        match self.mcs {
            Some(mcs) => mcs.airtime(self.phy, len + self.data_overhead + QOS_CONTROL),
            None => self.data_airtime(len, self.data_rate),
        }
    }

    /// Duration field of unicast data at `rate`: SIFS and ACK.
    pub fn data_duration(&self, rate: Rate) -> Dur {
        whole_micros(self.sifs + self.answer_airtime(self.answer_to(rate)))
    }

    /// Time from the start of an RTS for data at `rate` until the wait for its CTS ends.
    pub fn cts_timeout(&self, rate: Rate) -> Dur {
        let rates = self.rates_around(rate);
        self.rts_airtime(rates.rts) + self.sifs + self.answer_airtime(rates.cts) + self.propagation_margin * 2
    }

    /// Time from the start of a data frame of air time `data` at `rate` until the wait for its ACK ends.
    pub fn ack_timeout(&self, data: Dur, rate: Rate) -> Dur {
        data + self.sifs + self.answer_airtime(self.answer_to(rate)) + self.propagation_margin * 2
    }

    /// Time from an RTS for another station until its NAV may be reset if nothing has followed: 2 SIFS, CTS, the start
    /// of a PHY header and 2 slots (clause 10.3.2.4).
    pub fn nav_reset_timeout(&self) -> Dur {
        self.sifs * 2 + self.answer_airtime(self.basic_rate) + self.plcp + self.slot * 2
    }

    /// Returns the number of values that a back-off with this window can take.
    pub fn backoff_values(&self, cw: u32) -> u32 {
        match self.backoff_draw {
            BackoffDraw::BelowCw => cw,
            BackoffDraw::UpToCw => cw + 1,
        }
    }
}

/// Rates of the control frames around a data frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlRates {
    /// Of the RTS.
    pub rts: Rate,
    /// Of the CTS.
    pub cts: Rate,
    /// Of the ACK.
    pub ack: Rate,
}

pub(super) fn whole_micros(d: Dur) -> Dur {
    Dur::from_micros(d.as_micros_rounded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::times::{AnswerTimes, ExchangeTimes};

    // Tables of air times, durations and time-outs measured in ns-2.35 at 2 and 1 Mbit/s.
    #[test]
    fn times_agree_with_ns2_at_2_mbps() {
        let mac = Config::ns2();
        let us = Dur::from_micros;
        let (slow, fast) = (mac.basic_rate, mac.data_rate);
        assert_eq!((mac.rts_airtime(slow), mac.answer_airtime(slow)), (us(352), us(304)));
        assert_eq!((mac.difs(), mac.eifs(), mac.eifs_before_difs()), (us(50), us(364), us(364)));
        let data = mac.data_airtime(Bytes(1500), mac.data_rate);
        assert_eq!(data, us(6328));
        assert_eq!(mac.data_airtime(Bytes(40), mac.data_rate), us(488));
        assert_eq!(mac.data_airtime(Bytes(48), mac.basic_rate), us(848));
        assert_eq!(mac.data_airtime(Bytes(32), mac.basic_rate), us(720));
        let (times, answer) = (ExchangeTimes::new(&mac, fast), AnswerTimes::new(&mac, slow));
        assert_eq!(times.rts_duration(data), us(6966));
        assert_eq!(answer.cts_duration(us(6966)), us(6652));
        assert_eq!(mac.data_duration(fast), us(314));
        assert_eq!(mac.cts_timeout(fast), us(670));
        assert_eq!(mac.ack_timeout(data, fast), us(6646));
        assert_eq!(answer.data_timeout(us(6652)), us(6646));
    }

    #[test]
    fn air_time_at_11_mbps_is_rounded_to_the_nanosecond() {
        let mac = Config { data_rate: Rate::kbps(11_000), ..Config::ns2() };
        assert_eq!(mac.data_airtime(Bytes(1500), mac.data_rate), Dur::from_nanos(1_307_636));
    }

    // Clause 10.6.6.5.2: 54 and 36 Mbit/s are answered at 24, 18 at 12, 9 at 6.
    #[test]
    fn answers_go_at_the_highest_mandatory_rate_not_above_the_frame() {
        let mbps = |n: u64| Rate::kbps(n * 1_000);
        let mac =
            Config { phy: PhyKind::Ofdm, answer_rate: AnswerRate::Mandatory, basic_rate: mbps(6), ..Config::ns2() };
        assert_eq!([54, 36, 18, 9, 6].map(|rate| mac.answer_to(mbps(rate))), [24, 24, 12, 6, 6].map(mbps));
        let mac = Config { answer_rate: AnswerRate::Mandatory, basic_rate: mbps(1), ..Config::ns2() };
        assert_eq!(mac.rates_around(mbps(11)), ControlRates { rts: mbps(1), cts: mbps(1), ack: mbps(2) });
    }

    // If the data rate is below the basic rate, no control frame is faster than the data it protects.
    #[test]
    fn slow_data_has_slow_answers() {
        let mac = Config { basic_rate: Rate::kbps(2_000), data_rate: Rate::kbps(11_000), ..Config::ns2() };
        let slow = Rate::kbps(1_000);
        assert_eq!(mac.rates_around(slow), ControlRates { rts: slow, cts: slow, ack: slow });
        assert_eq!(mac.data_duration(slow), Dur::from_micros(314));
        assert_eq!(mac.data_duration(mac.data_rate), Dur::from_micros(10 + 192 + 56));
    }

    // A whole exchange of 1,500 bytes at 54 Mbit/s in 802.11a: RTS 52 us, CTS and ACK at 6 Mbit/s 44 us.
    #[test]
    fn times_of_an_exchange_at_54_mbps() {
        let mac = Config {
            data_rate: Rate::kbps(54_000),
            basic_rate: Rate::kbps(6_000),
            ..Config::standard().with_phy(PhyKind::Ofdm)
        };
        let us = Dur::from_micros;
        let data = mac.data_airtime(Bytes(1500), mac.data_rate);
        assert_eq!((mac.rts_airtime(mac.basic_rate), data, mac.difs()), (us(52), us(248), us(34)));
        assert_eq!(ExchangeTimes::new(&mac, mac.data_rate).rts_duration(data), us(3 * 16 + 44 + 248 + 44));
        assert_eq!(mac.eifs(), us(16 + 34 + 44));
    }

    // Clause 10.3.7: EIFS replaces DIFS, so the busy time before the DIFS is EIFS - DIFS.
    #[test]
    fn the_standard_counts_difs_within_eifs() {
        let mac = Config::standard();
        assert_eq!(mac.eifs_before_difs() + mac.difs(), Dur::from_micros(364));
        assert_eq!(mac.backoff_values(31), 32);
    }
}
