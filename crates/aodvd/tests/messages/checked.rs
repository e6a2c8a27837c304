//! Checks an engine that gets datagrams with arbitrary content from anywhere, packets without a route, broken links,
//! and time. Shared by the test next to it and by the fuzz target in `fuzz/`.

use fourhop_aodvd::authentication::{BLOCK, Envelope, Keys};
use fourhop_aodvd::config::Config;
use fourhop_aodvd::engine::{Arrival, Engine, Numbers, Task};
use fourhop_proto::drop::DropReason;
use fourhop_proto::route::Protocol;
use fourhop_proto::wire::{Body, EchoMessage, Ipv4Packet, PacketMeta, decode};
use fourhop_units::{Dbm, Dur, NodeId, Purpose, Stream, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// So small that all limits are reached.
const CONFIG: &str = "address = '10.0.0.1'\ninterfaces = ['a', 'b']\nmesh = ['10.0.0.0/24']\noutside = ['0.0.0.0/0']\n\
    announce = ['192.0.2.0/24']\n[limits]\nroutes = 8\nrequests = 8\nneighbours = 4\nmessages = 4\nrate = 20\n\
    originator_rate = 5\n\
    seqno_step = 1000\n[routing]\nlocal_repair = true\nreply_acks = true\nbuffer = 4\n";
const SIGNALS: &str = "[signal]\nsource = 'emulator'\nemulator = '/x'\nthreshold = '-80dBm'\n";
const KEYS: &str = "[authentication]\nsign_with = 1\nkeys = [{ id = 1, file = '/x' }]\n";
const SECRET: &[u8] = b"thirty-two bytes of a shared key";
const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const ROUTES: usize = 8;
const NEIGHBOURS: usize = 4;

fn address(number: u8) -> Ipv4Addr {
    match number {
        250 => Ipv4Addr::BROADCAST,
        251 => Ipv4Addr::UNSPECIFIED,
        252 => Ipv4Addr::new(224, 0, 0, 109),
        253 => Ipv4Addr::new(203, 0, 113, 7),
        254 => Ipv4Addr::new(192, 0, 2, 9),
        number => Ipv4Addr::new(10, 0, 0, number % 16),
    }
}

struct Checked {
    engine: Engine,
    keys: Option<Keys>,
    now: Time,
    kernel: BTreeMap<Ipv4Addr, (Ipv4Addr, usize)>,
    given: u64,
    back: u64,
}

impl Checked {
    fn new(kind: u8) -> Checked {
        let text =
            format!("{CONFIG}{}{}", if kind & 1 == 1 { SIGNALS } else { "" }, if kind & 2 == 2 { KEYS } else { "" });
        let text = if kind & 4 == 4 { format!("profile = 'ns2'\n{text}") } else { text };
        let config = Config::parse(&text).expect("a sound configuration");
        let keys = (kind & 2 == 2).then(|| Keys::one(1, SECRET));
        let numbers = (kind & 8 == 0).then_some(Numbers { seqno: 5, rreq_id: 9, stamp: 0 });
        let jitter = Stream::new(1, NodeId(1), Purpose::RoutingJitter);
        let engine = Engine::new(config, keys.clone(), numbers, jitter);
        Checked { engine, keys, now: Time::from_secs(1), kernel: BTreeMap::new(), given: 0, back: 0 }
    }

    /// Microseconds since 1970.
    fn clock(&self) -> u64 {
        self.now.as_nanos() / 1_000
    }

    fn check(&mut self, tasks: Vec<Task>) {
        for task in tasks {
            match task {
                Task::Send(datagram) => {
                    let message = decode::aodv(&datagram.payload).expect("a message of AODV");
                    assert!(datagram.ttl > 0 && datagram.to != OWN, "{message:?}");
                    assert!(datagram.to.is_broadcast() || datagram.interface.is_some_and(|interface| interface < 2));
                    if let Some(keys) = &self.keys {
                        let envelope = Envelope { src: OWN, dst: datagram.to, ttl: datagram.ttl };
                        assert!(
                            keys.verify(0, None, envelope, &datagram.payload).is_ok() && datagram.payload.len() > BLOCK
                        );
                    }
                }
                Task::Release { interface, .. } => {
                    assert!(interface < 2);
                    self.back += 1;
                }
                Task::Lost { .. } => self.back += 1,
                Task::Up { destination, next_hop, interface } => {
                    assert!(destination != OWN && next_hop != OWN && interface < 2, "{destination} over {next_hop}");
                    let octets = next_hop.octets();
                    assert!(octets[..3] == [10, 0, 0], "{next_hop} is no neighbour");
                    self.kernel.insert(destination, (next_hop, interface));
                }
                Task::Down { destination } => {
                    assert!(self.kernel.remove(&destination).is_some(), "{destination} was never up");
                }
            }
        }
        assert_eq!(&self.kernel, self.engine.routes(), "every change of a route is a task");
        assert_eq!(self.given - self.back, self.engine.aodv().buffered() as u64, "no packet is lost without a word");
        assert!(self.engine.aodv().routes().count() <= ROUTES);
        assert!(self.engine.neighbours().len() <= NEIGHBOURS);
    }

    fn step(&mut self, kind: u8, what: [u8; 4], content: &[u8]) {
        let mut tasks = Vec::new();
        let clock = self.clock();
        match kind % 8 {
            0..=3 => {
                let to = if what[1] & 1 == 0 { Ipv4Addr::BROADCAST } else { OWN };
                let (interface, from, ttl) = (usize::from(what[1] >> 1 & 1), address(what[0]), what[2].max(1));
                let strength = (what[3] & 1 == 1).then(|| Dbm(-f64::from(what[3])));
                let arrival = Arrival { interface, from, to, ttl, strength };
                let mut payload = content.to_vec();
                if kind % 8 == 3
                    && let Some(keys) = &mut self.keys
                {
                    keys.sign(clock, Envelope { src: from, dst: to, ttl }, &mut payload);
                }
                let before = self.engine.refusals().values().sum::<u64>();
                let done = self.engine.handle_datagram(self.now, clock, arrival, &payload, &mut tasks);
                let refused = self.engine.refusals().values().sum::<u64>() - before;
                assert_eq!(refused, u64::from(done.is_err()), "what is refused is counted");
                if done.is_err() {
                    assert!(tasks.iter().all(|task| matches!(task, Task::Up { .. })), "and has no effect: {tasks:?}");
                }
            }
            4 => {
                let body = Body::Echo(EchoMessage { reply: false, ident: 1, number: 1, payload: 8 });
                let (src, dst) = (address(what[0]), address(what[1]));
                let own = src == OWN;
                let packet =
                    Ipv4Packet { src, dst, ttl: what[2].max(1), ident: 1, dscp: 0, body, meta: PacketMeta::default() };
                self.given += 1;
                self.engine.handle_caught(self.now, clock, packet, own, &mut tasks);
            }
            5 => self.engine.handle_used(self.now, address(what[0]), address(what[1]), Some(address(what[2]))),
            6 => self.engine.handle_failure(self.now, clock, address(what[0]), DropReason::DataRetryLimit, &mut tasks),
            _ => {
                self.now += Dur::from_millis(u64::from(what[0]) * u64::from(what[1]));
                while let Some(at) = self.engine.next_timeout().filter(|&at| at <= self.now) {
                    self.engine.handle_timeout(at.max(self.now), clock, &mut tasks);
                }
            }
        }
        self.check(tasks);
    }
}

/// The first byte selects the configuration; then come steps: kind, four bytes, the length of a datagram, and the
/// datagram.
pub fn messages(data: &[u8]) {
    let Some((&kind, mut rest)) = data.split_first() else { return };
    let mut checked = Checked::new(kind);
    while let Some((&[kind, a, b, c, d, length], after)) = rest.split_first_chunk::<6>() {
        let (content, after) = after.split_at(usize::from(length).min(after.len()));
        checked.step(kind, [a, b, c, d], content);
        rest = after;
    }
}
