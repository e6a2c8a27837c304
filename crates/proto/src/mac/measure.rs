//! Link measurements made by a frame: bandwidth with queueing, delay without (Kliazovich, Granelli 2005, section IV).
//!
//! ```text
//!        T_in            T_in'                       T_out
//!         │    queue      │   DIFS, back-off, RTS/CTS  │  DATA   SIFS  ACK  DIFS │
//!         ├───────────────┼────────────────────────────┼─────────────────────────┤
//!         │               │                            │          T_tr           │
//!         └──────────────────── T (bandwidth) ───────────────────────────────────┘
//!                         └──── T' (forward delay) ──────────────────────────────┘
//! ```
//!
//! The paper does not number its equations; here they are numbered in order: (1) B = D / T, (2) T = T_out - T_in +
//! T_tr, (3) T_tr = T_data + SIFS + T_ACK + DIFS, (4) T_data, (5) T_ACK. Failed attempts are part of T_out - T_in: each
//! attempt measures anew, and the one that arrives carries its measurement.
//!
//! Assumed: the header of an ACK is sent at the basic rate, as the MAC actually does; (5) uses the data rate there,
//! which makes no difference where both rates are equal. D is the packet with its IP header, without LLC and MAC.

use super::Config;
use crate::wire::options::{Carried, Options};
use crate::wire::{Msdu, Payload};
use fourhop_units::{Bytes, Dur, Rate, Time};

/// The instants of one transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instants {
    /// T_in: the packet entered the queue.
    pub entered_queue: Time,
    /// T_in of the forward delay: the packet left the queue.
    pub left_queue: Time,
    /// T_out: its data frame started.
    pub out: Time,
}

/// Measurement of a link by one transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkCapacity {
    /// Bandwidth in bit/s, queueing included.
    pub bandwidth: u64,
    /// Delay without queueing.
    pub delay: Dur,
    /// Delay with queueing.
    pub whole_delay: Dur,
}

/// Equation (3): from the start of the data frame at `rate` to the end of the DIFS after its ACK. `airtime` is T_data,
/// with PLCP, MAC header and options.
pub fn transmission_time(config: &Config, airtime: Dur, rate: Rate) -> Dur {
    airtime + config.sifs + config.answer_airtime(config.answer_to(rate)) + config.difs()
}

/// Equations (1) and (2) for a packet of `data` that takes the [`transmission_time`] `sent`.
pub fn link_capacity(data: Bytes, sent: Dur, at: Instants) -> LinkCapacity {
    let whole_delay = at.out.saturating_since(at.entered_queue) + sent;
    let bandwidth = u128::from(data.bits()) * 1_000_000_000 / u128::from(whole_delay.as_nanos());
    LinkCapacity {
        bandwidth: u64::try_from(bandwidth).unwrap_or(u64::MAX),
        delay: at.out.saturating_since(at.left_queue) + sent,
        whole_delay,
    }
}

/// Returns the options that a packet carries, if any.
pub fn carried(msdu: &Msdu) -> Option<&Carried> {
    match &msdu.payload {
        Payload::Ipv4(packet) => packet.carried(),
        Payload::Arp(_) | Payload::Foreign(_) => None,
    }
}

fn carried_mut(msdu: &mut Msdu) -> Option<&mut Carried> {
    match &mut msdu.payload {
        Payload::Ipv4(packet) => packet.carried_mut(),
        Payload::Arp(_) | Payload::Foreign(_) => None,
    }
}

/// The packet leaves the queue.
pub(super) fn note_head(now: Time, msdu: &mut Msdu) {
    if let Some(carried) = carried_mut(msdu) {
        carried.left_queue = now;
    }
}

/// Writes the measurement of this link into `msdu`, which is sent at `now` and takes `sent`.
pub(super) fn update(now: Time, sent: Dur, msdu: &mut Msdu, backward_queueing: bool) {
    let len = msdu.len;
    let Some(carried) = carried_mut(msdu) else { return };
    let at = Instants { entered_queue: carried.entered_queue, left_queue: carried.left_queue, out: now };
    let data = len - carried.options.on_air();
    let link = link_capacity(data, sent, at);
    let Options { path, back, .. } = &mut carried.options;
    *path = path.map(|path| path.over(link.bandwidth, link.delay));
    *back = back.map(|back| back.over(if backward_queueing { link.whole_delay } else { link.delay }));
    carried.waited += at.left_queue.saturating_since(at.entered_queue);
}

/// Returns the fields that a station without support for options reads from a frame.
pub(super) fn stripped(msdu: &Msdu) -> Msdu {
    let mut plain = msdu.clone();
    if let Payload::Ipv4(packet) = &mut plain.payload {
        packet.take_carried();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::options::{Back, Path};
    use crate::wire::{Body, Ipv4Packet, MeasuredSegment, PacketMeta, TcpFlags, TcpOptions, TcpSegment};
    use fourhop_units::{NodeId, Seq};

    /// The example of the paper's figure 1, computed by hand, at 11 and 1 Mbit/s with long preambles.
    #[test]
    fn the_transmission_time_adds_up() {
        let config = Config { data_rate: Rate::kbps(11_000), ..Config::ns2() };
        // 192 us PLCP and 1,534 bytes at 11 Mbit/s.
        let airtime = config.data_airtime(Bytes(1500), config.data_rate);
        assert_eq!(airtime, Dur::from_nanos(1_307_636));
        // + 10 us SIFS + 192 us + 14 bytes at 1 Mbit/s + 50 us DIFS.
        assert_eq!(
            transmission_time(&config, airtime, config.data_rate),
            Dur::from_nanos(1_307_636 + 10_000 + 304_000 + 50_000)
        );
    }

    /// A packet's options after one more link: the options themselves, which the frame carries beside the packet, do
    /// not count as data; an acknowledgement counts its queueing time only with `backward_queueing`.
    #[test]
    fn a_frame_takes_along_what_it_finds() {
        let us = Time::from_micros;
        let back = Some(Back { delay: 100, links: 1 });
        let options = Options { path: Some(Path::START), back, ..Options::default() };
        let (on_air, sent) = (options.on_air(), Dur::from_micros(6_692));
        let carried =
            Carried { options, entered_queue: us(992_000), waited: Dur::from_micros(5), ..Carried::default() };
        let segment = TcpSegment {
            src_port: 1,
            dst_port: 2,
            seq: Seq::from_wire(1),
            ack: Seq::from_wire(1),
            flags: TcpFlags::default(),
            window: 0,
            options: TcpOptions::default(),
            payload: 1_460,
            ..TcpSegment::default()
        };
        let packet = Ipv4Packet {
            src: NodeId(0).ipv4(),
            dst: NodeId(1).ipv4(),
            ttl: 9,
            ident: 0,
            dscp: 0,
            body: Body::Measured(Box::new(MeasuredSegment { segment, carried })),
            meta: PacketMeta::default(),
        };
        let msdu = Msdu { dst: NodeId(1).mac(), len: Bytes(1_500) + on_air, payload: Payload::Ipv4(packet) };
        for (backward_queueing, back_delay) in [(false, 100 + 8_000), (true, 100 + 16_000)] {
            let mut msdu = msdu.clone();
            note_head(us(1_000_000), &mut msdu);
            update(us(1_001_308), sent, &mut msdu, backward_queueing);
            let found = super::carried(&msdu).expect("it still carries options");
            // 1,500 bytes in 16 ms, 8 ms of them in the queue.
            assert_eq!(found.options.path, Some(Path { bandwidth: 750_000, delay: 8_000, links: 1 }));
            assert_eq!(found.options.back, Some(Back { delay: back_delay, links: 2 }));
            assert_eq!(found.waited, Dur::from_micros(8_005));
        }
    }

    #[test]
    fn queueing_lowers_the_bandwidth_and_not_the_delay() {
        let config = Config::ns2();
        let airtime = config.data_airtime(Bytes(1500), config.data_rate);
        let sent = transmission_time(&config, airtime, config.data_rate);
        let us = Time::from_micros;
        let alone = Instants { entered_queue: us(1_000_000), left_queue: us(1_000_000), out: us(1_001_308) };
        let link = link_capacity(Bytes(1500), sent, alone);
        // T = 1,308 us until the frame + 6,328 us + 10 us + 304 us + 50 us = 8 ms.
        assert_eq!((link.delay, link.whole_delay), (Dur::from_millis(8), Dur::from_millis(8)));
        assert_eq!(link.bandwidth, 1_500_000);
        let behind = Instants { entered_queue: us(992_000), ..alone };
        let link = link_capacity(Bytes(1500), sent, behind);
        assert_eq!((link.delay, link.whole_delay), (Dur::from_millis(8), Dur::from_millis(16)));
        assert_eq!(link.bandwidth, 750_000);
    }
}
