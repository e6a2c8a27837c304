//! Checks on a gateway: every packet must leave once, unchanged except for the option and a smaller window, in order
//! within its flow, and no limit may be exceeded. Shared by the property tests next to it and the fuzz target in
//! `fuzz/`.

use fourhop_proto::gateway::{
    Action, Among, Config, Counters, FiveTuple, Gateway, GoodputControl, HashKey, Mode, Packet, Side,
};
use fourhop_units::{Dur, Rate, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// A gateway with a record of the packets passed to it.
pub struct Checked {
    gateway: Gateway<Vec<u8>>,
    config: Config,
    now: Time,
    out: Vec<Action<Vec<u8>>>,
    /// Packets that have not left yet, per flow and direction, in order.
    inside: BTreeMap<(bool, FiveTuple), VecDeque<Vec<u8>>>,
    /// Number of packets that entered and left.
    pub passed: (u64, u64),
}

impl Checked {
    /// Creates an empty gateway.
    pub fn new(config: Config) -> Checked {
        Checked {
            gateway: Gateway::new(config, HashKey([7, 8])),
            config,
            now: Time::from_secs(1),
            out: Vec::new(),
            inside: BTreeMap::new(),
            passed: (0, 0),
        }
    }

    /// The gateway.
    #[allow(dead_code)]
    pub fn gateway(&self) -> &Gateway<Vec<u8>> {
        &self.gateway
    }

    /// A wireless node is this far away.
    pub fn path(&mut self, node: Ipv4Addr, hops: u8, kbps: u64) {
        self.gateway.handle_path(node, hops, Rate::kbps(kbps.max(1)));
    }

    /// No path leads to a wireless node any more.
    pub fn path_lost(&mut self, node: Ipv4Addr) {
        self.gateway.handle_path_lost(self.now, node, &mut self.out);
        self.check();
    }

    /// A packet arrives on side `from`.
    pub fn packet(&mut self, from: Side, packet: Vec<u8>) {
        self.passed.0 += 1;
        let flow = packet.tcp().and_then(|_| packet.five_tuple());
        match flow {
            Some(flow) => self.inside.entry((from == Side::Wired, flow)).or_default().push_back(packet.clone()),
            None => {
                // Not a segment: it leaves at once, unchanged, after any packets that this call has released.
                self.gateway.handle_packet(self.now, from, packet.clone(), &mut self.out);
                let Some(Action::Forward { packet: last, to }) = self.out.pop() else { panic!("it must pass at once") };
                assert!(last == packet && to != from, "what is no segment passes untouched");
                self.passed.1 += 1;
                self.check();
                return;
            }
        }
        self.gateway.handle_packet(self.now, from, packet, &mut self.out);
        self.check();
    }

    /// Lets time pass, and calls timers.
    pub fn advance(&mut self, by: Dur) {
        let end = self.now + by;
        while let Some(at) = self.gateway.next_timeout().filter(|&at| at <= end) {
            assert!(at >= self.now, "no timer lies in the past");
            self.now = self.now.max(at);
            self.gateway.handle_timeout(self.now, &mut self.out);
            self.check();
            assert!(self.gateway.next_timeout().is_none_or(|next| next > self.now), "a timer that is due is handled");
        }
        self.now = end;
        // An early call does nothing.
        self.gateway.handle_timeout(self.now, &mut self.out);
        assert!(self.out.is_empty(), "an early timeout does nothing");
    }

    fn check(&mut self) {
        for action in self.out.drain(..) {
            let Action::Forward { packet, to } = action else { panic!("a packet is lost") };
            self.passed.1 += 1;
            let flow = packet.five_tuple().expect("only segments wait or are checked here");
            let queue =
                self.inside.get_mut(&(to == Side::Wireless, flow)).expect("no packet comes out that was not put in");
            let expected = queue.pop_front().expect("no packet comes out twice");
            if packet != expected {
                let mut edited = expected;
                if to == Side::Wireless && packet[1] != edited[1] {
                    assert!(self.config.mode == Mode::Ap2 && edited.mark_congestion(), "a mark");
                }
                if to == Side::Wireless && packet != edited {
                    let at = position(&packet).expect("nothing but the option may differ");
                    let millis = u16::from_be_bytes([packet[at], packet[at + 1]]);
                    assert!(self.config.option && edited.write_wired_rtt(millis, self.config.mtu));
                } else if to == Side::Wired {
                    let window = |packet: &Vec<u8>| packet.tcp().map(|view| view.segment.window);
                    assert!(self.config.sojourn.is_some() && window(&packet) < window(&edited), "never raised");
                    assert!(edited.write_window(window(&packet).expect("a segment stays one")));
                }
                assert_eq!(packet, edited, "nothing but the option or the window may differ");
            }
            if queue.is_empty() {
                self.inside.remove(&(to == Side::Wireless, flow));
            }
        }
        let (gateway, config) = (&self.gateway, &self.config);
        let waiting: usize = self.inside.values().map(VecDeque::len).sum();
        assert_eq!(gateway.queued(), waiting, "the rest is queued");
        let payload = |packet: &Vec<u8>| packet.tcp().map_or(0, |view| u64::from(view.segment.payload));
        assert_eq!(gateway.queued_bytes(), self.inside.values().flatten().map(payload).sum::<u64>());
        assert!(gateway.queued_bytes() <= config.buffer, "the buffer is bounded");
        for queue in self.inside.values() {
            assert!(queue.len() <= config.flow_packets.max(1) as usize, "a flow holds so many packets at most");
            assert!(queue.iter().map(payload).sum::<u64>() <= u64::from(config.flow_buffer), "and so many bytes");
        }
        assert!(gateway.flows() <= config.flows as usize, "the table is bounded");
    }

    /// Releases everything queued, and lets everything be forgotten.
    pub fn finish(mut self) {
        // Each packet of the fullest queue may wait for the maximum interval: 64 s, plus variation.
        self.advance(Dur::from_secs(1_000_000));
        assert!(self.inside.is_empty() && self.gateway.queued() == 0, "nothing stays inside");
        assert_eq!(self.passed.0, self.passed.1);
        assert_eq!((self.gateway.flows(), self.gateway.next_timeout()), (0, None), "nothing stays to be done");
    }
}

/// Returns the position of the option's value in a packet.
fn position(packet: &[u8]) -> Option<usize> {
    packet.windows(4).position(|bytes| bytes == [253, 6, 0x34, 0x68]).map(|at| at + 4)
}

/// Limits so small that all of them are reached, pacing from the first packet on, and goodputs compared every second.
pub fn small() -> Config {
    let mut pace = Config::paper().pace;
    pace.first_interval = Some(Dur::from_millis(30));
    let goodput_control =
        Some(GoodputControl { among: Among::All, interval: Dur::from_secs(1), gain: 0, ..GoodputControl::paper() });
    Config {
        pace,
        goodput_control,
        sojourn: Some(Dur::from_millis(50)),
        flows: 4,
        nodes: 3,
        buffer: 3_500,
        flow_buffer: 3_000,
        flow_packets: 5,
        ..Config::paper()
    }
}

/// Interprets `data` as events at a gateway. Each step begins with a byte: time passes, a path appears or is lost, or a
/// packet arrives. Its bytes follow, repaired as the next byte says, so that not only garbage gets through. Returns the
/// gateway's counters.
pub fn exercise(data: &[u8]) -> Counters {
    let mut checked = Checked::new(small());
    let mut rest = data;
    while let Some((&op, after)) = rest.split_first() {
        rest = after;
        let mut take = |len: usize| {
            let (taken, left) = rest.split_at(len.min(rest.len()));
            rest = left;
            taken
        };
        match op % 8 {
            0 => {
                let &[ms] = take(1) else { break };
                checked.advance(Dur::from_millis(u64::from(ms) * u64::from(op)));
            }
            1 => {
                let &[node, hops] = take(2) else { break };
                let node = Ipv4Addr::new(10, 0, 0, node);
                match hops {
                    u8::MAX => checked.path_lost(node),
                    _ => checked.path(node, hops, 1 + u64::from(op) * 100),
                }
            }
            _ => {
                let from = if op & 8 == 0 { Side::Wired } else { Side::Wireless };
                let &[len, repairs] = take(2) else { break };
                let mut packet = take(usize::from(len)).to_vec();
                repair(&mut packet, repairs);
                checked.packet(from, packet);
            }
        }
    }
    let counters = *checked.gateway().counters();
    checked.finish();
    counters
}

/// Turns the first bytes into an IPv4 header with TCP between few addresses and ports, as far as `how` says.
fn repair(packet: &mut [u8], how: u8) {
    if packet.len() < 40 {
        return;
    }
    if how & 1 == 0 {
        let len = (packet.len() as u16).to_be_bytes();
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&len);
        packet[6..8].copy_from_slice(&[0x40, 0]);
        packet[9] = 6;
    }
    if how & 2 == 0 {
        // Six flows: more than the capacity of the table.
        let (a, b) = ([10, 0, 0, how >> 6], [10, 128, 0, 1]);
        let (src, dst) = if how & 4 == 0 { (a, b) } else { (b, a) };
        packet[12..16].copy_from_slice(&src);
        packet[16..20].copy_from_slice(&dst);
        let (near, far) = ([0, how >> 5 & 1], [0, 80]);
        let (from, to) = if how & 4 == 0 { (near, far) } else { (far, near) };
        packet[20..22].copy_from_slice(&from);
        packet[22..24].copy_from_slice(&to);
    }
    if how & 8 == 0 {
        // Numbers close together, around the wrap.
        packet[24..27].copy_from_slice(&[0xff, 0xff, 0xff]);
        packet[28..31].copy_from_slice(&[0xff, 0xff, 0xff]);
    }
    if how & 16 == 0 {
        packet[32] = 0x50 | packet[32] & 0x0f;
    }
}
