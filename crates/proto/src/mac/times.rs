//! Times that depend only on a rate and the options. Each takes divisions, and a station needs the same few again and
//! again, so they are recomputed only when the rate changes.

use super::config::{Config, whole_micros};
use super::exchange::needs_rts;
use super::sizes::{CTS_OR_ACK, QOS_CONTROL};
use crate::phy::Mcs;
use crate::wire::Msdu;
use fourhop_units::{Bytes, Dur, Rate};

/// Times of an exchange with data at one rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeTimes {
    data: Rate,
    /// Bytes of the answer to the data.
    answer: Bytes,
    /// Rate of the RTS.
    pub rts: Rate,
    /// Air time of the RTS.
    pub rts_airtime: Dur,
    /// From the start of the RTS to the end of the wait for the CTS.
    pub cts_timeout: Dur,
    /// The time in the RTS's duration field besides the data.
    around_data: Dur,
    /// Duration field of the data.
    pub data_duration: Dur,
    /// From the end of the data to the end of the wait for the ACK.
    after_data: Dur,
}

impl ExchangeTimes {
    pub fn new(config: &Config, data: Rate) -> ExchangeTimes {
        ExchangeTimes::answered_by(config, data, CTS_OR_ACK)
    }

    /// Times for data answered by a frame of `answer` bytes.
    pub fn answered_by(config: &Config, data: Rate, answer: Bytes) -> ExchangeTimes {
        let rates = config.rates_around(data);
        let answered = config.sifs + config.airtime(answer, rates.ack);
        ExchangeTimes {
            data,
            answer,
            rts: rates.rts,
            rts_airtime: config.rts_airtime(rates.rts),
            cts_timeout: config.cts_timeout(data),
            around_data: config.sifs * 2 + config.answer_airtime(rates.cts) + answered,
            data_duration: whole_micros(answered),
            after_data: answered + config.propagation_margin * 2,
        }
    }

    /// Switches to another data rate.
    #[inline]
    pub fn follow(&mut self, config: &Config, data: Rate) {
        if self.data != data {
            *self = ExchangeTimes::answered_by(config, data, self.answer);
        }
    }

    /// Duration field of an RTS before a data frame of air time `data`: three SIFS, CTS, data, ACK (clause 9.2.5.2), to
    /// the nearest microsecond.
    pub fn rts_duration(&self, data: Dur) -> Dur {
        whole_micros(self.around_data + data)
    }

    /// Time from the end of the data to the end of its answer.
    pub fn answered(&self, config: &Config) -> Dur {
        self.after_data - config.propagation_margin * 2
    }

    /// Duration field of a CTS-to-self before a data frame of air time `data`: two SIFS, data, answer (clause 9.2.5.2).
    pub fn self_cts_duration(&self, config: &Config, data: Dur) -> Dur {
        whole_micros(config.sifs + data + self.answered(config))
    }

    /// As [`Config::ack_timeout`].
    pub fn ack_timeout(&self, data: Dur) -> Dur {
        data + self.after_data
    }
}

/// The shortest frame that stations with the same options can send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShortestFrame {
    /// Its kind, with an indefinite article.
    pub name: &'static str,
    /// Its rate, the highest possible.
    pub rate: Rate,
    /// Its air time.
    pub airtime: Dur,
}

impl Config {
    /// Returns the average time to send this packet to one station without contention: from its acceptance by the MAC
    /// to its ACK, after a back-off from the minimum window.
    pub fn unhindered(&self, msdu: &Msdu) -> Dur {
        self.unhindered_bytes(msdu.len, needs_rts(self, msdu))
    }

    /// Returns the overhead of channel access around packets of `len` bytes: the time they take beyond that of their
    /// bits. It is the O of clause 14.9.
    pub fn access_overhead(&self, len: Bytes) -> Dur {
        let reserved = self.data_len(len) > self.rts_threshold;
        self.unhindered_bytes(len, reserved).saturating_sub(self.reference_rate().time_for(len))
    }

    fn unhindered_bytes(&self, len: Bytes, reserved: bool) -> Dur {
        let rates = self.rates_around(self.reference_rate());
        let reserved = match reserved {
            true => self.rts_airtime(rates.rts) + self.answer_airtime(rates.cts) + self.sifs * 2,
            false => Dur::ZERO,
        };
        let data = self.alone_airtime(len) + self.sifs + self.answer_airtime(rates.ack);
        self.difs() + self.slot * u64::from(self.cw_min) / 2 + reserved + data
    }

    /// Returns the shortest possible frame, for any traffic and any rate that rate control may choose.
    pub fn shortest_frame(&self) -> ShortestFrame {
        let rates = self.rates_around(self.reference_rate());
        let alone = |mcs: Mcs| mcs.airtime(self.phy, Bytes(1) + self.data_overhead + QOS_CONTROL);
        // With rate control, an MCS with fewer streams may have the shortest preamble.
        let data = self.mcs_set().into_iter().map(alone).min().unwrap_or_else(|| self.alone_airtime(Bytes(1)));
        let frames = [
            // No CTS is faster than the ACK of data at the highest rate.
            ("an ACK", rates.ack, self.answer_airtime(rates.ack)),
            ("an RTS", rates.rts, self.rts_airtime(rates.rts)),
            // ns-2 counts at least one byte per packet: it hides headers.
            ("data", self.data_rate, data),
        ];
        let [first, others @ ..] = frames.map(|(name, rate, airtime)| ShortestFrame { name, rate, airtime });
        others.into_iter().fold(first, |least, frame| if frame.airtime < least.airtime { frame } else { least })
    }
}

/// Times of answers at one rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerTimes {
    rate: Rate,
    /// Air time of a CTS or an ACK.
    pub airtime: Dur,
    sifs: Dur,
    /// Allowance for propagation to the other station and back.
    margin: Dur,
    /// SIFS and the shortest ACK that may follow data.
    ack_after_data: Dur,
}

impl AnswerTimes {
    pub fn new(config: &Config, rate: Rate) -> AnswerTimes {
        AnswerTimes {
            rate,
            airtime: config.answer_airtime(rate),
            sifs: config.sifs,
            margin: config.propagation_margin * 2,
            ack_after_data: config.sifs + config.answer_airtime(config.answer_to(config.data_rate)),
        }
    }

    /// Switches to another rate.
    #[inline]
    pub fn follow(&mut self, config: &Config, rate: Rate) {
        if self.rate != rate {
            *self = AnswerTimes::new(config, rate);
        }
    }

    /// Duration field of a CTS in answer to an RTS with `rts_duration`.
    pub fn cts_duration(&self, rts_duration: Dur) -> Dur {
        whole_micros(rts_duration.saturating_sub(self.sifs + self.airtime))
    }

    /// From the start of a CTS to the end of the wait for the data announced by its duration field. The air time of the
    /// final ACK is unknown if it depends on the data rate; the shortest is assumed.
    pub fn data_timeout(&self, cts_duration: Dur) -> Dur {
        (self.airtime + self.margin + cts_duration).saturating_sub(self.ack_after_data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::AnswerRate;
    use crate::phy::PhyKind;

    #[test]
    fn the_shortest_frame_is_an_answer_an_rts_or_data_by_the_rates_they_may_have() {
        let shortest = |config: Config| (config.shortest_frame().name, config.shortest_frame().airtime);
        let standard = Config { answer_rate: AnswerRate::Mandatory, ..Config::standard() };
        let mbps = |rate: u64| Rate::kbps(rate * 1_000);
        // 14 bytes at 2 Mbit/s.
        assert_eq!(shortest(standard), ("an ACK", Dur::from_micros(192 + 56)));
        // 20 bytes at 11 Mbit/s; answers are sent at 2.
        let fast = Config { data_rate: mbps(11), basic_rate: mbps(11), ..standard };
        assert_eq!(shortest(fast), ("an RTS", Dur::from_nanos(192_000 + 14_545)));
        // 36 + 1 bytes at 11 Mbit/s; everything else is sent at 1.
        let slow = Config { data_rate: mbps(11), ..Config::standard() };
        assert_eq!(shortest(slow), ("data", Dur::from_nanos(192_000 + 26_909)));
        let ofdm = Config { phy: PhyKind::Ofdm, plcp: PhyKind::Ofdm.plcp(), basic_rate: mbps(6), ..standard };
        // Two symbols at 24 Mbit/s; at 54 Mbit/s data is no shorter.
        assert_eq!(shortest(Config { data_rate: mbps(54), ..ofdm }), ("an ACK", Dur::from_micros(28)));
    }

    #[test]
    fn they_are_those_of_the_options() {
        let data = Dur::from_nanos(1_234_567);
        let mandatory = Config { answer_rate: AnswerRate::Mandatory, ..Config::standard() };
        for config in [Config::ns2(), Config::standard(), mandatory] {
            let mut times = ExchangeTimes::new(&config, config.basic_rate);
            let mut answer = AnswerTimes::new(&config, config.basic_rate);
            for &rate in PhyKind::Dsss.mandatory_rates().iter().chain(&[Rate::kbps(11_000), Rate::kbps(1_000)]) {
                times.follow(&config, rate);
                answer.follow(&config, rate);
                assert_eq!(times.rts_duration(data), ExchangeTimes::new(&config, rate).rts_duration(data));
                assert_eq!(times.ack_timeout(data), config.ack_timeout(data, rate));
                assert_eq!(
                    (times.cts_timeout, times.data_duration),
                    (config.cts_timeout(rate), config.data_duration(rate))
                );
                assert_eq!(times.rts_airtime, config.rts_airtime(config.rates_around(rate).rts));
                assert_eq!(answer.airtime, config.answer_airtime(rate));
                let fresh = AnswerTimes::new(&config, rate);
                assert_eq!(answer.cts_duration(data * 3), fresh.cts_duration(data * 3));
                assert_eq!(answer.data_timeout(data), fresh.data_timeout(data));
            }
        }
    }
}
