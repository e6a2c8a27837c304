//! The DCF alone: one MSDU from station to station, RTS, CTS, data and ACK, without radio or queue.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use fourhop_proto::mac::medium::Rules;
use fourhop_proto::mac::{Action, Config, Dcf, Medium};
use fourhop_proto::wire::{ArpMessage, ArpOperation, Category, Frame, Msdu, Payload};
use fourhop_units::{Bytes, NodeId, Purpose, Stream, Time};
use std::hint::black_box;
use std::net::Ipv4Addr;

/// Two stations and the frame between them.
struct Pair {
    now: Time,
    stations: [Dcf; 2],
    media: [Medium; 2],
    rules: Rules,
    on_air: Option<(usize, Time, Frame)>,
    air: Option<Frame>,
    out: Vec<Action>,
    delivered: u64,
}

impl Pair {
    fn new() -> Pair {
        let station = |n| Dcf::new(NodeId(n).mac(), Config::ns2(), Stream::new(1, NodeId(n), Purpose::Backoff));
        Pair {
            now: Time::ZERO,
            stations: [station(0), station(1)],
            media: Default::default(),
            rules: Rules::new(&Config::ns2()),
            on_air: None,
            air: None,
            out: Vec::new(),
            delivered: 0,
        }
    }

    /// Sends `msdu` from the first to the second station until it has been acknowledged.
    fn exchange(&mut self, msdu: Msdu) {
        self.stations[0].handle_packet(self.now, Category::Be, msdu, &mut self.media[0]);
        while !self.stations[0].is_ready() || self.on_air.is_some() {
            let timers = [0, 1].map(|n: usize| self.stations[n].next_timeout(&self.media[n]));
            let next_timer = timers.into_iter().flatten().min();
            match self.on_air.take_if(|(_, end, _)| next_timer.is_none_or(|timer| *end <= timer)) {
                Some((to, end, frame)) => {
                    self.now = end;
                    let medium = &mut self.media[to];
                    medium.handle_good_frame(end, Time::ZERO, false, &self.rules);
                    medium.handle_quiet(end);
                    self.stations[to].handle_reception(end, &frame, u64::MAX, medium, &mut self.out);
                    self.act(to);
                }
                None => {
                    let Some(at) = next_timer else { return };
                    self.now = at;
                    let who = usize::from(timers[0] != Some(at));
                    self.stations[who].handle_timeout(at, &mut self.media[who], &mut self.air, &mut (), &mut self.out);
                    self.act(who);
                }
            }
        }
    }

    fn act(&mut self, who: usize) {
        if let Some(frame) = self.air.take() {
            let lost = self.media[1 - who].handle_arrival(self.now, &self.rules);
            assert!(!lost, "ns-2 knows no immediate access");
            self.on_air = Some((1 - who, self.now + frame.airtime, frame));
        }
        for action in self.out.drain(..) {
            self.delivered += u64::from(matches!(action, Action::Deliver { .. }));
        }
    }
}

fn exchange(c: &mut Criterion) {
    let ip = Ipv4Addr::LOCALHOST;
    let message = ArpMessage {
        operation: ArpOperation::Request,
        sender_mac: NodeId(0).mac(),
        sender_ip: ip,
        target_mac: None,
        target_ip: ip,
    };
    let msdu = Msdu { dst: NodeId(1).mac(), len: Bytes(1500), payload: Payload::Arp(message) };
    let mut pair = Pair::new();
    let mut sent = 0;
    c.bench_function("dcf/exchange of four frames", |b| {
        b.iter(|| {
            pair.exchange(black_box(msdu.clone()));
            sent += 1;
        });
    });
    assert_eq!(pair.delivered, sent, "every MSDU arrives");
}

criterion_group!(benches, exchange);
criterion_main!(benches);
