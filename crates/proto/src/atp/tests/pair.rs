//! A sender, a receiver and a network between them that delays, loses, duplicates and reorders, in both directions.

use super::FIRST;
use crate::atp::{Config, Receiver, Sender};
use crate::wire::{AtpData, AtpFeedback};
use fourhop_units::{Dur, Time};
use proptest::prelude::*;

/// Fate of one packet in the network.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Delivered,
    Lost,
    Doubled,
    /// Later than others by this many milliseconds.
    Late(u64),
}

enum Packet {
    Data(AtpData),
    Feedback(Box<AtpFeedback>),
}

struct Pair {
    now: Time,
    sender: Sender,
    receiver: Receiver,
    network: Vec<(Time, usize, Packet)>,
    fates: Vec<Fate>,
    sent: usize,
    delivered: u64,
    /// Packets of the stream that have arrived.
    arrived: Vec<bool>,
    mss: u64,
    bytes: u64,
}

impl Pair {
    fn new(config: Config, fates: Vec<Fate>) -> Pair {
        Pair {
            now: Time::ZERO,
            sender: Sender::new(config, FIRST),
            receiver: Receiver::new(config),
            network: Vec::new(),
            fates,
            sent: 0,
            delivered: 0,
            arrived: Vec::new(),
            mss: u64::from(config.mss),
            bytes: 0,
        }
    }

    fn send(&mut self, make: impl Fn() -> Packet) {
        let fate = self.fates.get(self.sent).copied().unwrap_or(Fate::Delivered);
        self.sent += 1;
        let arrives = self.now + Dur::from_millis(20);
        let copies: &[Dur] = match fate {
            Fate::Lost => &[],
            Fate::Delivered => &[Dur::ZERO],
            Fate::Doubled => &[Dur::ZERO, Dur::from_millis(3)],
            Fate::Late(millis) => &[Dur::from_millis(millis)],
        };
        for &more in copies {
            self.network.push((arrives + more, self.network.len(), make()));
        }
    }

    /// Handles the earliest event. Returns false if there is none.
    fn step(&mut self) -> bool {
        let packet = (0..self.network.len()).min_by_key(|&place| (self.network[place].0, self.network[place].1));
        let at = packet.map(|place| self.network[place].0);
        let timer = Time::earlier_of(self.sender.next_timeout(), self.receiver.next_timeout());
        let Some(next) = Time::earlier_of(at, timer) else { return false };
        self.now = self.now.max(next);
        if let Some(place) = packet.filter(|_| at == Some(next)) {
            match self.network.remove(place).2 {
                Packet::Data(data) => {
                    assert_eq!(data.offset % self.mss, 0);
                    assert_eq!(u64::from(data.payload), self.mss.min(self.bytes - data.offset));
                    self.arrived[(data.offset / self.mss) as usize] = true;
                    let outcome = self.receiver.handle_data(self.now, &data);
                    self.delivered += outcome.delivered;
                    if let Some(feedback) = outcome.feedback {
                        self.send(|| Packet::Feedback(feedback.clone()));
                    }
                }
                Packet::Feedback(feedback) => self.sender.handle_feedback(self.now, &feedback),
            }
            // The receiver delivers the stream up to the first missing packet: whole, once and in order.
            let whole = self.arrived.iter().position(|there| !there).unwrap_or(self.arrived.len());
            assert_eq!(self.delivered, self.bytes.min(whole as u64 * self.mss));
            return true;
        }
        while let Some(mut data) = self.sender.handle_timeout(self.now) {
            data.delay_us = 10_000;
            self.send(|| Packet::Data(data));
        }
        let outcome = self.receiver.handle_timeout(self.now);
        assert_eq!(outcome.delivered, 0);
        if let Some(feedback) = outcome.feedback {
            self.send(|| Packet::Feedback(feedback.clone()));
        }
        true
    }

    /// Sends this many bytes, until both ends have nothing more to do.
    fn transfer(mut self, bytes: u64) -> Pair {
        self.bytes = bytes;
        self.arrived = vec![false; bytes.div_ceil(self.mss) as usize];
        self.sender.open(Time::ZERO, bytes);
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 200_000, "{} of {bytes} bytes by {:?}", self.delivered, self.now);
        }
        assert_eq!(self.delivered, bytes);
        let stats = self.sender.stats();
        assert_eq!(stats.packets_acked, stats.packets_sent - stats.packets_retransmitted);
        self
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        5 => Just(Fate::Delivered),
        3 => Just(Fate::Lost),
        1 => Just(Fate::Doubled),
        2 => (1u64..3_000).prop_map(Fate::Late),
    ]
}

prop_compose! {
    fn config()(mss in 1u32..3_000, epoch in 100u64..3_000, smoothing in 0u32..1_000, increase_over in 0u32..2_000,
                increase_by in 1u32..=1_000) -> Config {
        Config { mss, epoch: Dur::from_millis(epoch), smoothing, increase_over, increase_by, ..Config::published() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The stream arrives whole, once and in order under any pattern of loss, reordering and duplication, of data and
    /// of feedback.
    #[test]
    fn the_stream_arrives_whole_once_and_in_order(
        config in config(),
        fates in prop::collection::vec(fate(), 0..300),
        packets in 0u64..300,
        rest in 0u64..3_000,
    ) {
        let mss = u64::from(config.mss);
        Pair::new(config, fates).transfer(packets * mss + rest % mss);
    }
}

/// Without loss nothing is sent twice, and the transfer takes as long as the rate implies.
#[test]
fn a_clean_path_needs_no_retransmission() {
    let pair = Pair::new(Config::published(), Vec::new()).transfer(1_460 * 1_000);
    assert_eq!((pair.sender.stats().packets_retransmitted, pair.sender.stats().restarts), (0, 0));
    // A thousand packets, one per 10 ms; then the receiver falls silent after three epochs.
    assert!(pair.now < Time::from_secs(10 + 5), "{:?}", pair.now);
}

/// More gaps than feedback has blocks for are still filled.
#[test]
fn a_path_that_loses_every_other_packet_carries_everything() {
    let fates = (0..4_000).map(|n| if n % 2 == 1 { Fate::Lost } else { Fate::Delivered }).collect();
    let pair = Pair::new(Config::published(), fates).transfer(1_460 * 1_000);
    assert!(pair.sender.stats().packets_retransmitted > 400);
}

/// Nothing arrives for a minute: only probes are sent, one per epoch, and then the rest follows.
#[test]
fn a_path_that_is_gone_for_a_minute_is_probed() {
    let config = Config::published();
    let fates = (0..2_000).map(|n| if (200..600).contains(&n) { Fate::Lost } else { Fate::Delivered }).collect();
    let pair = Pair::new(config, fates).transfer(1_460 * 2_000);
    assert!(pair.sender.stats().restarts >= 1);
}
