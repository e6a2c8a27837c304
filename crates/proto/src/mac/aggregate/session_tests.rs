//! An originator and a recipient under arbitrary losses: the layer above sees no loss, duplicate or reordering.

use super::*;
use crate::mac::aggregate::Choice;
use crate::mac::aggregate::rates::McsControl;
use crate::mac::aggregate::{Recipient, WINDOW};
use crate::mac::{RateControl, minstrel};
use crate::phy::mcs::{Guard, Width};
use crate::wire::{Body, Ipv4Packet, PacketMeta, Payload, UdpDatagram};
use fourhop_units::{Dur, NodeId, Time};
use proptest::prelude::*;

fn msdu(number: u32, len: u64) -> Msdu {
    let body = Body::Udp(UdpDatagram { src_port: 1, dst_port: 2, number, payload: 0 });
    let (src, dst) = (NodeId(0).ipv4(), NodeId(1).ipv4());
    let packet = Ipv4Packet { src, dst, ttl: 1, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
    Msdu { dst: NodeId(1).mac(), len: Bytes(len), payload: Payload::Ipv4(packet) }
}

fn number(msdu: &Msdu) -> u32 {
    match &msdu.payload {
        Payload::Ipv4(Ipv4Packet { body: Body::Udp(datagram), .. }) => datagram.number,
        other => panic!("only datagrams are sent here, not {other:?}"),
    }
}

fn mcs() -> Mcs {
    Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap()
}

fn config() -> Config {
    Config { mcs: Some(mcs()), ..Config::standard() }
}

/// Both ends of a link, and the fate of the packets.
struct Link {
    config: Config,
    originator: Originator,
    recipient: Recipient,
    made: u32,
    up: Vec<u32>,
    given_up: Vec<u32>,
    acked: u64,
    /// Set only with rate control.
    control: Option<McsControl>,
    now: Time,
}

impl Link {
    fn new(config: Config) -> Link {
        let (originator, recipient) = (Originator::new(NodeId(1).mac()), Recipient::new(NodeId(0).mac()));
        let (control, now) = (McsControl::new(&config), Time::ZERO);
        Link { config, originator, recipient, made: 0, up: Vec::new(), given_up: Vec::new(), acked: 0, control, now }
    }

    /// Runs one exchange, for which `fresh` packets wait; bit n of `arrive` says whether MPDU n arrives, `answered`
    /// whether the answer does.
    fn exchange(&mut self, fresh: u32, len: u64, arrive: u64, answered: bool) {
        const LIMIT: u32 = 4;
        self.now += Dur::from_millis(7);
        let Link { config, originator, recipient, made, up, given_up, acked, control, now } = self;
        let mut hand_up = |msdu: Msdu| up.push(number(&msdu));
        let lost = |msdu: Msdu| given_up.push(number(&msdu));
        if let Some(start) = originator.request() {
            if arrive & 1 == 1 {
                recipient.handle_request(Time::ZERO, start, &mut hand_up);
            }
            if arrive & 1 == 1 && answered {
                let (start, bitmap) = recipient.block_ack();
                originator.handle_block_ack(start, bitmap, LIMIT, lost);
            } else {
                originator.handle_request_lost(LIMIT);
            }
            return;
        }
        let last = *made + fresh;
        let choice = match control {
            None => Choice { mcs: mcs(), frames: config.aggregation.frames },
            Some(control) => control.choose(*now, 0, config),
        };
        originator.fill(config, choice, Dur::MAX, || {
            (*made < last).then(|| {
                *made += 1;
                msdu(*made, len)
            })
        });
        let mut sent = Vec::new();
        originator.copy_into(&mut sent);
        if sent.is_empty() {
            return;
        }
        let lasts = choice.mcs.airtime(config.phy, originator.psdu());
        assert!(
            sent.len() == 1 && config.aggregation.amsdu == Bytes(0) || lasts <= config.aggregation.time,
            "{choice:?} {lasts:?}"
        );
        let span = ahead(sent[0].seq, sent[sent.len() - 1].seq);
        assert!(sent.len() <= 64 && span < WINDOW && sent.is_sorted_by_key(|mpdu| ahead(sent[0].seq, mpdu.seq)));
        let arriving = |n: usize| arrive >> n & 1 == 1;
        for mpdu in sent.iter().enumerate().filter(|&(n, _)| arriving(n)).map(|(_, mpdu)| mpdu) {
            recipient.handle_mpdu(Time::ZERO, mpdu, &mut hand_up);
        }
        let heard = (0..sent.len()).any(arriving) && answered;
        let outcome = match (heard, sent.len()) {
            (false, _) => originator.handle_nothing(LIMIT, lost),
            (true, 1) => originator.handle_ack(),
            (true, _) => {
                let (start, bitmap) = recipient.block_ack();
                originator.handle_block_ack(start, bitmap, LIMIT, lost)
            }
        };
        *acked += outcome.acked_packets;
        if let Some(control) = control {
            control.handle_outcome(0, outcome, heard);
        }
    }

    /// Runs exchanges without losses until nothing is left.
    fn drain(&mut self) {
        for _ in 0..1000 {
            if !self.originator.has_work() && self.originator.request().is_none() {
                return;
            }
            self.exchange(0, 100, u64::MAX, true);
        }
        panic!("work is left: {:?}", self.originator);
    }

    fn check(&self) {
        assert!(self.up.is_sorted_by(|a, b| a < b), "in order and once each: {:?}", self.up);
        for packet in 1..=self.made {
            let arrived = self.up.binary_search(&packet).is_ok();
            assert!(arrived || self.given_up.contains(&packet), "packet {packet} vanished");
        }
        assert_eq!(self.acked + self.given_up.len() as u64, u64::from(self.made));
    }
}

/// Bits with a common probability of being one, which is drawn first.
fn arrivals() -> impl Strategy<Value = u64> {
    prop_oneof![Just(u64::MAX), Just(0), any::<u64>(), (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a | b)]
}

proptest! {
    #[test]
    fn nothing_is_lost_doubled_or_reordered(
        controlled in any::<bool>(),
        exchanges in proptest::collection::vec((0u32..80, 40u64..1500, arrivals(), any::<bool>()), 1..400),
        amsdu in prop_oneof![Just(0u64), Just(3839)],
        frames in 1u32..=64,
    ) {
        let sampled = RateControl::Minstrel(minstrel::Config::mac80211());
        let rate_control = if controlled { sampled } else { RateControl::Fixed };
        let mut config = Config { rate_control, ..config() };
        (config.aggregation.amsdu, config.aggregation.frames) = (Bytes(amsdu), frames);
        let mut link = Link::new(config);
        for (fresh, len, arrive, answered) in exchanges {
            link.exchange(fresh, len, arrive, answered);
        }
        link.drain();
        // Requests may also have been lost.
        for second in 1..=64 {
            let up = &mut link.up;
            let now = Time::from_secs(second);
            link.recipient.handle_timeout(now, Dur::from_millis(100), |msdu| up.push(number(&msdu)));
        }
        prop_assert_eq!(link.recipient.buffered(), 0);
        link.check();
    }
}

// 1,500 bytes, 38 of headers, 4 of delimiter and 2 of padding: 1,544 each, 42 in 65,535 bytes; the 5.484 ms of a PPDU
// have room for 1,362 symbols of 260 bits, or 44,262 bytes, enough for 28 of them.
#[test]
fn an_aggregate_is_as_long_as_its_limits_allow() {
    let mut link = Link::new(config());
    let fill_at = |link: &mut Link, mcs: Mcs| {
        let Link { config, originator, .. } = link;
        originator.fill(config, Choice { mcs, frames: config.aggregation.frames }, Dur::MAX, || Some(msdu(0, 1500)));
        (originator.in_flight(), originator.psdu())
    };
    let fill = |link: &mut Link| fill_at(link, mcs());
    assert_eq!(fill(&mut link), (28, Bytes(28 * 1544 - 2)));
    let wide = Mcs::new(Format::Ht, 7, 1, Width::Mhz40, Guard::Ns800).unwrap();
    assert_eq!(fill_at(&mut Link::new(config()), wide), (42, Bytes(42 * 1544 - 2)));
    // With VHT the limit is the window, or a short time.
    let vht = Mcs::new(Format::Vht, 9, 1, Width::Mhz80, Guard::Ns800).unwrap();
    let mut long = Link::new(config());
    long.config.aggregation.bytes = Bytes(1_048_575);
    assert_eq!(fill_at(&mut long, vht).0, 64);
    let mut short = Link::new(config());
    short.config.aggregation.time = Dur::from_micros(1000);
    assert_eq!(fill(&mut short).0, 5);
    // A single MPDU has no delimiter.
    let mut alone = Link::new(config());
    alone.config.aggregation.frames = 1;
    assert_eq!(fill(&mut alone), (1, Bytes(1538)));
    // Two in an A-MSDU: 26 + 4 of header and FCS, 14 + 8 + 1,500 and 2 of padding, 14 + 8 + 1,500; a third would make
    // it 4,568.
    let mut amsdu = Link::new(config());
    (amsdu.config.aggregation.frames, amsdu.config.aggregation.amsdu) = (1, Bytes(3839));
    assert_eq!(fill(&mut amsdu), (1, Bytes(30 + 1524 + 1522)));
}

// 0 never arrives, 1 does: after the last exchange the receiver is notified at once, and then has 1.
#[test]
fn a_receiver_that_waits_is_notified_of_what_is_given_up() {
    let mut link = Link::new(config());
    link.exchange(2, 100, 0b10, true);
    assert!(link.up.is_empty() && link.recipient.waits_since().is_some());
    (0..3).for_each(|_| link.exchange(0, 100, 0, true));
    assert_eq!(
        (link.given_up.clone(), link.originator.request(), link.originator.has_work()),
        (vec![1], Some(2), true)
    );
    link.exchange(0, 100, u64::MAX, true);
    assert_eq!((link.up.clone(), link.originator.has_work()), (vec![2], false));
}

// If nothing later has arrived, there is no hurry: the request comes before the next data.
#[test]
fn a_dead_link_is_not_asked() {
    let mut link = Link::new(config());
    link.exchange(3, 100, 0, true);
    (0..3).for_each(|_| link.exchange(0, 100, 0, true));
    assert_eq!((link.given_up.len(), link.originator.has_work(), link.originator.request()), (3, false, Some(3)));
    // Nor forever: after that, data is tried again.
    link.originator.accept(msdu(4, 100));
    (0..4).for_each(|_| link.exchange(0, 100, 0, false));
    assert_eq!(link.originator.request(), None);
}

#[test]
fn a_receiver_goes_on_without_what_is_missing() {
    let mut link = Link::new(config());
    link.exchange(4, 100, 0b1010, true);
    let timeout = Dur::from_millis(100);
    let mut up = Vec::new();
    let mut wait = |ms| link.recipient.handle_timeout(Time::from_millis(ms), timeout, |msdu| up.push(number(&msdu)));
    wait(99);
    wait(100);
    wait(199);
    wait(200);
    assert_eq!((up, link.recipient.waits_since()), (vec![2, 4], None));
}

// Two subframes of 22 + 1,898 and 22 + 1,897 bytes are the 3,839 that an A-MSDU may have (clause 9.4.2.55.2).
#[test]
fn an_a_msdu_is_as_long_as_its_limit() {
    for (most, packets) in [(3839, 2), (3838, 1)] {
        let mut link = Link::new(config());
        (link.config.aggregation.frames, link.config.aggregation.amsdu) = (1, Bytes(most));
        let Link { config, originator, .. } = &mut link;
        let mut made = [msdu(1, 1898), msdu(2, 1897)].into_iter();
        originator.fill(config, Choice { mcs: mcs(), frames: 1 }, Dur::MAX, || made.next());
        let mut mpdus = Vec::new();
        originator.copy_into(&mut mpdus);
        assert_eq!((mpdus.len(), mpdus[0].msdus().count()), (1, packets));
    }
}
