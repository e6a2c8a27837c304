//! Link-layer RED: a packet about to be sent is dropped with a probability that grows with the MAC's retries for recent
//! packets, so that TCP slows down before the MAC gives packets up.
//!
//! Source: Fu, Zerfos, Luo, Lu, Zhang, Gerla, "The Impact of Multihop Wireless Channel on TCP Throughput and Loss",
//! INFOCOM 2003. The thresholds and the maximum probability are our choice, as is dropping packets (with `link.ecn`,
//! ECN-capable packets are marked instead, RFC 3168). The paper's second mechanism, adaptive pacing at the link, is
//! left out.

use crate::wire::{Msdu, Payload};
use fourhop_units::Stream;

/// Thresholds and maximum probability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Whether it is enabled.
    pub enabled: bool,
    /// Mean retries per packet, in thousandths, at which drops begin.
    pub low: u32,
    /// Mean retries at which the probability reaches its maximum.
    pub high: u32,
    /// Maximum probability, in thousandths.
    pub max_drop: u32,
}

impl Config {
    /// Disabled: a queue that only drops on overflow, as in ns-2 and the standard.
    pub const fn off() -> Config {
        Config { enabled: false, low: 500, high: 3000, max_drop: 100 }
    }

    /// Returns the probability at a mean of `retries`, both in thousandths: RED's linear ramp between the thresholds.
    fn probability(&self, retries: u64) -> u32 {
        let (low, max) = (u64::from(self.low), u64::from(self.max_drop));
        let span = u64::from(self.high).saturating_sub(low).max(1);
        (retries.saturating_sub(low).min(span) * max / span) as u32
    }
}

/// The state of one station.
#[derive(Clone, Debug)]
pub struct LinkRed {
    config: Config,
    random: Stream,
    /// Mean retries per packet, in thousandths.
    mean: u64,
    /// The MAC's counter when the last packet was offered.
    counted: u64,
    /// Whether that packet was unicast and sent, so that it could be retried.
    retriable: bool,
}

impl LinkRed {
    /// Starts with a mean of zero retries.
    pub fn new(config: Config, random: Stream) -> LinkRed {
        LinkRed { config, random, mean: 0, counted: 0, retriable: false }
    }

    /// Notes that the packet to be dropped was marked and sent instead.
    pub fn handle_marked(&mut self) {
        self.retriable = true;
    }

    /// Returns whether to drop this packet, the next for the MAC. `unanswered` is the number of this station's frames
    /// that have gone unanswered so far.
    pub fn drops(&mut self, unanswered: u64, msdu: &Msdu) -> bool {
        let retries = unanswered - self.counted;
        self.counted = unanswered;
        if self.retriable {
            // Weights of 7/8 and 1/8.
            self.mean = (7 * self.mean + 1000 * retries) / 8;
        }
        let unicast = !msdu.dst.is_broadcast();
        let data = matches!(&msdu.payload, Payload::Ipv4(packet) if !packet.is_network_control());
        let dropped = unicast && data && self.random.below(1000) < self.config.probability(self.mean);
        self.retriable = unicast && !dropped;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{AodvMessage, ArpMessage, ArpOperation, Body, Ipv4Packet, PacketMeta, Rerr, UdpDatagram};
    use fourhop_units::{Bytes, MacAddr, NodeId, Purpose};

    const CERTAIN: Config = Config { enabled: true, low: 1000, high: 2000, max_drop: 1000 };

    fn red(config: Config) -> LinkRed {
        LinkRed::new(config, Stream::new(1, NodeId(0), Purpose::LinkRed))
    }

    fn ip(dst: MacAddr, body: Body) -> Msdu {
        let (src, to) = (NodeId(0).ipv4(), NodeId(9).ipv4());
        let packet = Ipv4Packet { src, dst: to, ttl: 30, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        Msdu { dst, len: Bytes(u64::from(packet.len())), payload: Payload::Ipv4(packet) }
    }

    fn datagram(dst: MacAddr) -> Msdu {
        ip(dst, Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number: 0, payload: 100 }))
    }

    fn data() -> Msdu {
        datagram(NodeId(1).mac())
    }

    /// A state with a mean of at least two retries.
    fn contended() -> LinkRed {
        let mut red = red(CERTAIN);
        for packet in 0..100 {
            red.drops(3 * packet, &routing());
        }
        red
    }

    fn routing() -> Msdu {
        let error = AodvMessage::Rerr(Rerr { no_delete: false, unreachable: Vec::new() });
        ip(NodeId(1).mac(), Body::Routing(error.into()))
    }

    #[test]
    fn the_probability_rises_between_the_thresholds_and_stays_there() {
        let config = Config { enabled: true, low: 1000, high: 3000, max_drop: 500 };
        let at = |retries| config.probability(retries);
        assert_eq!([at(0), at(1000), at(1500), at(2000), at(3000), at(u64::MAX / 1000)], [0, 0, 125, 250, 500, 500]);
        // Thresholds in reverse order: a step at the lower one.
        let step = Config { high: 0, ..config };
        assert_eq!([step.probability(1000), step.probability(1001)], [0, 500]);
    }

    #[test]
    fn nothing_is_dropped_while_frames_are_answered() {
        let mut red = red(CERTAIN);
        assert!((0..1000).all(|_| !red.drops(0, &data())));
    }

    #[test]
    fn the_mean_of_the_retries_weighs_the_newest_packet_an_eighth() {
        let mut red = red(Config { max_drop: 0, ..CERTAIN });
        red.drops(0, &data());
        red.drops(2, &data());
        assert_eq!(red.mean, 250);
        red.drops(2, &data());
        assert_eq!(red.mean, 218);
    }

    #[test]
    fn where_every_packet_is_retried_data_is_dropped() {
        let mut red = contended();
        assert!(red.drops(300, &data()));
        // The dropped packet was not sent, so it says nothing about the link, and the next one sees the same mean.
        let mean = red.mean;
        assert!(red.drops(300, &data()));
        assert_eq!(red.mean, mean);
    }

    #[test]
    fn a_packet_that_is_marked_instead_is_sent_and_tells_of_the_link() {
        let mut red = contended();
        assert!(red.drops(300, &data()));
        red.handle_marked();
        let mean = red.mean;
        red.drops(308, &data());
        assert_eq!(red.mean, (7 * mean + 8_000) / 8);
    }

    #[test]
    fn routing_address_resolution_and_broadcasts_are_spared() {
        let sender = NodeId(0);
        let request = ArpMessage {
            operation: ArpOperation::Request,
            sender_mac: sender.mac(),
            sender_ip: sender.ipv4(),
            target_mac: None,
            target_ip: NodeId(1).ipv4(),
        };
        let arp = Msdu { dst: NodeId(1).mac(), len: Bytes(28), payload: Payload::Arp(request) };
        for spared in [routing(), arp, datagram(MacAddr::BROADCAST)] {
            assert!(!contended().drops(300, &spared));
        }
    }

    #[test]
    fn half_the_packets_go_where_the_probability_is_a_half() {
        let mut red = red(Config { low: 0, high: 1000, max_drop: 500, ..CERTAIN });
        let dropped = (1..=4000u64).filter(|&n| red.drops(n * 10, &data())).count();
        assert!((1900..2100).contains(&dropped), "{dropped} of 4000");
    }
}
