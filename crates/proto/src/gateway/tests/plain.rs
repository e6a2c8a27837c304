//! A single link behind the gateway, in virtual time: the cost of pacing where packets cannot collide.

use super::*;
use std::collections::BTreeMap;

const PAYLOAD: u32 = 1_460;
const RATE: Rate = Rate::kbps(2_000);
/// Transmission time of the acknowledgement, and the receiver's delayed-ACK timer (Linux: 40 ms).
const BACK: Dur = Dur::from_micros(160);
const DELAY: Dur = Dur::from_millis(40);
/// Window scale and window of the receiver, in segments.
const SHIFT: u8 = 7;
const WINDOW: u32 = 64;

/// Events outside the gateway.
enum Event {
    /// A segment that ends here has arrived at the node.
    AtNode(u32),
    /// The node has waited long enough for another segment after the one that ends here.
    Late(u32),
    /// An acknowledgement has arrived at the gateway.
    Acked(u32),
}

/// A sender that always has data, the gateway as driven by its daemon, a link of 2 Mbit/s, and a receiver.
struct Link {
    gateway: Gateway<Ipv4Packet>,
    out: Vec<Action<Ipv4Packet>>,
    events: BTreeMap<(Time, u32), Event>,
    /// Event number, to preserve the order of simultaneous events.
    number: u32,
    /// When the link has sent all its packets.
    free: Time,
    next: u32,
    edge: u32,
    acked: u32,
    /// Ends of segments that the receiver has not acknowledged.
    pending: Vec<u32>,
    delays: bool,
}

impl Link {
    fn new(pacing: bool, delays: bool) -> Link {
        let config = Config {
            pacing,
            even: Some(Dur::from_millis(500)),
            sojourn: Some(Dur::from_millis(50)),
            whole_segments: true,
            delayed_acks: true,
            least_round_trip: true,
            ..Config::paper()
        };
        let mut gateway = Gateway::new(config, HashKey([7, 8]));
        gateway.handle_path(NODE, 1, RATE);
        Link {
            gateway,
            out: Vec::new(),
            events: BTreeMap::new(),
            number: 0,
            free: Time::ZERO,
            next: 1,
            edge: 1,
            acked: 1,
            pending: Vec::new(),
            delays,
        }
    }

    fn at(&mut self, time: Time, event: Event) {
        self.number += 1;
        self.events.insert((time, self.number), event);
    }

    /// Exchanges both SYNs, and the first window.
    fn begin(&mut self) {
        let scaled = |segment: &mut TcpSegment, ack| {
            (segment.flags.syn, segment.flags.ack, segment.options.window_scale) = (true, ack, Some(SHIFT));
        };
        for (side, packet) in [
            (Side::Wired, flagged(segment(0, true, 0, 0, 0), |one| scaled(one, false))),
            (Side::Wireless, flagged(segment(0, false, 0, 1, 0), |one| scaled(one, true))),
        ] {
            self.gateway.handle_packet(Time::ZERO, side, packet, &mut self.out);
        }
        self.out.clear();
        self.edge += 10 * PAYLOAD;
        self.send(Time::ZERO);
    }

    /// Sends what the window allows, in whole segments.
    fn send(&mut self, now: Time) {
        while self.next + PAYLOAD <= self.edge {
            let packet = segment(0, true, self.next, 1, PAYLOAD);
            self.next += PAYLOAD;
            self.gateway.handle_packet(now, Side::Wired, packet, &mut self.out);
        }
        self.pass(now);
    }

    /// Passes on the packets that the gateway releases.
    fn pass(&mut self, now: Time) {
        for action in std::mem::take(&mut self.out) {
            let Action::Forward { packet, to } = action else { panic!("{action:?}") };
            let Body::Tcp(segment) = packet.body else { panic!("TCP") };
            match to {
                Side::Wireless => {
                    self.free = self.free.max(now) + RATE.time_for(Bytes(u64::from(PAYLOAD) + 40));
                    self.at(self.free, Event::AtNode(segment.seq.to_wire() + PAYLOAD));
                }
                Side::Wired => {
                    let ack = segment.ack.to_wire();
                    self.acked = self.acked.max(ack);
                    self.edge = self.edge.max(ack + (u32::from(segment.window) << SHIFT));
                }
            }
        }
        if self.next + PAYLOAD <= self.edge {
            self.send(now);
        }
    }

    fn acknowledge(&mut self, now: Time) {
        if let Some(&end) = self.pending.last() {
            self.pending.clear();
            self.at(now + BACK, Event::Acked(end));
        }
    }

    /// Returns the payload acknowledged within `seconds`, in bits per second.
    fn goodput(mut self, seconds: u64) -> f64 {
        self.begin();
        let end = Time::from_secs(seconds);
        loop {
            let timer = self.gateway.next_timeout().unwrap_or(Time::NEVER);
            let event = self.events.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
            let now = timer.min(event);
            if now > end {
                return f64::from(self.acked) * 8.0 / seconds as f64;
            }
            if timer <= event {
                self.gateway.handle_timeout(now, &mut self.out);
            } else {
                match self.events.pop_first().expect("an event").1 {
                    Event::AtNode(end) => {
                        self.pending.push(end);
                        match self.delays && self.pending.len() == 1 {
                            true => self.at(now + DELAY, Event::Late(end)),
                            false => self.acknowledge(now),
                        }
                    }
                    Event::Late(end) if self.pending == [end] => self.acknowledge(now),
                    Event::Late(_) => {}
                    Event::Acked(end) => {
                        let ack = flagged(segment(0, false, 1, end, 0), |one| {
                            one.window = ((WINDOW * PAYLOAD) >> SHIFT) as u16;
                        });
                        self.gateway.handle_packet(now, Side::Wireless, ack, &mut self.out);
                    }
                }
            }
            self.pass(now);
        }
    }
}

/// Without interference, pacing spaces segments by their time on the link, whatever the kind of receiver. A pair sent
/// together to find out the kind must not count the wait of the second segment for the first.
#[test]
fn pacing_leaves_a_plain_link_its_rate() {
    for delays in [false, true] {
        let plain = Link::new(false, delays).goodput(30);
        assert!((1.85e6..2e6).contains(&plain), "{plain}");
        let paced = Link::new(true, delays).goodput(30);
        assert!(paced > 0.9 * plain, "{paced:.0} of {plain:.0} bit/s, delays: {delays}");
    }
}
