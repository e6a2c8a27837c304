//! The gateway as driven by a daemon: packets from a netfilter queue, of hosts with arbitrary addresses. A packet has
//! an id for its verdict and a length; the program sees only its first 128 bytes, the rest stays in the kernel.

use etherparse::{IpNumber, Ipv4Header, PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice};
use fourhop_proto::gateway::{
    Action, Config, Discipline, DisciplineConfig, FiveTuple, FlowKey, FlowState, HashKey, Packet, Side, TcpView,
};
use fourhop_proto::wire::bytes;
use fourhop_units::{Dur, Rate, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Bytes of a packet that the queue copies.
const COPIED: usize = 128;
const LAPTOP: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 23);
const SERVER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 80);

/// A packet as delivered by the queue.
#[derive(Clone, Debug)]
struct Queued {
    id: u32,
    head: Vec<u8>,
    len: u32,
    changed: bool,
}

impl Packet for Queued {
    fn len(&self) -> u32 {
        self.len
    }

    fn tcp(&self) -> Option<TcpView> {
        TcpView::of(&self.head)
    }

    fn five_tuple(&self) -> Option<FiveTuple> {
        FiveTuple::of(&self.head)
    }

    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool {
        let before = self.head.len();
        let written = bytes::write_wired_rtt(&mut self.head, millis, mtu);
        self.len = self.len + self.head.len() as u32 - before as u32;
        self.changed |= written;
        written
    }

    fn mark_congestion(&mut self) -> bool {
        bytes::mark_congestion(&mut self.head)
    }

    fn write_window(&mut self, window: u16) -> bool {
        let written = bytes::set_window(&mut self.head, window);
        self.changed |= written;
        written
    }
}

/// A flow between two ports, with options as sent by Linux.
struct Flow {
    laptop: u16,
    server: u16,
}

const DOWNLOAD: Flow = Flow { laptop: 51_514, server: 443 };
const UPLOAD: Flow = Flow { laptop: 51_515, server: 22 };

impl Flow {
    fn segment(&self, from: Side, seq: u32, ack: u32, payload: usize, syn: bool) -> Vec<u8> {
        let ends = [(LAPTOP, self.laptop), (SERVER, self.server)];
        let [src, dst] = if from == Side::Wireless { ends } else { [ends[1], ends[0]] };
        let times = TcpOptionElement::Timestamp(seq ^ 0x5555, ack);
        let no = TcpOptionElement::Noop;
        let scale = TcpOptionElement::WindowScale(7);
        let first = [TcpOptionElement::MaximumSegmentSize(1_460), no.clone(), scale];
        let options: Vec<_> = first.into_iter().filter(|_| syn).chain([no.clone(), no, times]).collect();
        let step =
            PacketBuilder::ipv4(src.0.octets(), dst.0.octets(), 57).tcp(src.1, dst.1, seq, 502).options(&options);
        let step = step.expect("options fit");
        let step = if syn { step.syn() } else { step };
        let step = if syn && from == Side::Wireless { step } else { step.ack(ack) };
        let payload: Vec<u8> = (0..payload).map(|n| (n as u8).wrapping_mul(31) ^ seq as u8).collect();
        let mut bytes = Vec::new();
        step.write(&mut bytes, &payload).expect("a vector takes all");
        bytes
    }

    fn key(&self) -> FlowKey {
        FlowKey { wireless: (LAPTOP.into(), self.laptop), wired: (SERVER.into(), self.server) }
    }
}

/// The kernel's queue and the gateway behind it: whole packets by id, and the packets sent.
struct Device {
    discipline: Discipline<Queued>,
    now: Time,
    next_id: u32,
    waiting: BTreeMap<u32, (Side, Vec<u8>)>,
    /// Time, id, side, bytes.
    sent: Vec<(Dur, u32, Side, Vec<u8>)>,
    out: Vec<Action<Queued>>,
}

/// The device's clock, in seconds since 1970.
const STARTED: Time = Time::from_secs(1_800_000_000);

impl Device {
    fn new() -> Device {
        let config = Config { goodput_control: None, ..Config::paper() };
        let discipline = Discipline::new(&DisciplineConfig::Gap(config), HashKey([0x0123_4567_89ab_cdef, 0x0f1e_2d3c]));
        let (waiting, sent, out) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut device = Device { discipline, now: STARTED, next_id: 7_000, waiting, sent, out };
        device.path();
        device
    }

    /// Sets the path: the laptop is five links of 11 Mbit/s away.
    fn path(&mut self) {
        self.discipline.handle_path(LAPTOP, 5, Rate::kbps(11_000));
    }

    fn path_lost(&mut self, ms: u64) {
        self.until(ms);
        self.discipline.handle_path_lost(self.now, LAPTOP, &mut self.out);
        self.verdicts();
    }

    fn until(&mut self, ms: u64) {
        let end = STARTED + Dur::from_millis(ms);
        while let Some(at) = self.discipline.next_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.discipline.handle_timeout(self.now, &mut self.out);
            self.verdicts();
        }
        self.now = end;
    }

    /// A packet arrives; returns its id.
    fn packet(&mut self, ms: u64, from: Side, bytes: Vec<u8>) -> u32 {
        self.until(ms);
        let id = self.next_id;
        self.next_id += 1;
        let (head, len) = (bytes[..bytes.len().min(COPIED)].to_vec(), bytes.len() as u32);
        self.waiting.insert(id, (from, bytes));
        self.discipline.handle_packet(self.now, from, Queued { id, head, len, changed: false }, &mut self.out);
        self.verdicts();
        id
    }

    /// The kernel sends the packets that the gateway releases: its own bytes, except for a changed head.
    fn verdicts(&mut self) {
        for action in self.out.drain(..) {
            let Action::Forward { packet, to } = action else { panic!("lost: {action:?}") };
            let (from, whole) = self.waiting.remove(&packet.id).expect("each id has one verdict");
            assert_eq!(from, to.other());
            let sent = match packet.changed {
                true => [&packet.head, &whole[whole.len().min(COPIED)..]].concat(),
                false => whole,
            };
            assert_eq!((sent.len(), sent[..packet.head.len()] == packet.head), (packet.len as usize, true));
            self.sent.push((self.now - STARTED, packet.id, to, sent));
        }
    }

    fn state(&self, flow: &Flow) -> FlowState {
        self.discipline.gateway().and_then(|gateway| gateway.flow(&flow.key())).expect("the flow is followed")
    }

    /// Returns when packets have been sent since the last call, and their ids.
    fn sent(&mut self) -> Vec<(Dur, u32)> {
        self.sent.drain(..).map(|(at, id, ..)| (at, id)).collect()
    }

    fn handshake(&mut self, ms: u64, flow: &Flow) {
        self.packet(ms, Side::Wireless, flow.segment(Side::Wireless, 999, 0, 0, true));
        self.packet(ms + 1, Side::Wired, flow.segment(Side::Wired, 4_999, 1_000, 0, true));
        self.packet(ms + 2, Side::Wireless, flow.segment(Side::Wireless, 1_000, 5_000, 0, false));
        assert_eq!(self.sent().len(), 3);
    }

    /// Passes in data number `n` for the laptop.
    fn down(&mut self, ms: u64, n: u32) -> u32 {
        self.packet(ms, Side::Wired, DOWNLOAD.segment(Side::Wired, 5_000 + n * 1_448, 1_000, 1_448, false))
    }

    /// The laptop acknowledges all data before number `n`.
    fn down_acked(&mut self, ms: u64, n: u32) {
        self.packet(ms, Side::Wireless, DOWNLOAD.segment(Side::Wireless, 1_000, 5_000 + n * 1_448, 0, false));
    }
}

fn ms(ms: u64) -> Dur {
    Dur::from_millis(ms)
}

/// TCP-AP's four-hop delay for a round trip of 60 ms over five links: 2 (60 / 5 + 8 (1488 - 40) / 11000) ms.
const SPACING: Dur = Dur::from_nanos(26_106_182);

/// Data of a server waits in the kernel until its time; without a path nothing waits, and with a new path it waits
/// again.
#[test]
fn a_download_is_paced_released_and_paced_again() {
    let mut device = Device::new();
    device.handshake(0, &DOWNLOAD);
    device.down(100, 0);
    device.down_acked(160, 1);
    let interval = device.state(&DOWNLOAD).interval.expect("a round trip is known");
    assert!(interval.max(SPACING) - interval.min(SPACING) < Dur::from_micros(1), "{interval:?}");
    device.sent();
    let ids: Vec<u32> = (1..6).map(|n| device.down(200, n)).collect();
    assert_eq!(device.discipline.queued(), 4);
    device.until(400);
    let paced: Vec<(Dur, u32)> = (0..).map(|n| ms(200) + interval * n).zip(ids).collect();
    assert_eq!(device.sent(), paced);
    // The path is lost while packets wait.
    let ids: Vec<u32> = (6..9).map(|n| device.down(500, n)).collect();
    device.path_lost(510);
    assert_eq!(device.sent(), [(ms(500), ids[0]), (ms(510), ids[1]), (ms(510), ids[2])]);
    let late: Vec<u32> = (9..12).map(|n| device.down(520, n)).collect();
    assert_eq!(device.sent(), late.iter().map(|&id| (ms(520), id)).collect::<Vec<_>>());
    device.down_acked(700, 12);
    assert_eq!(device.state(&DOWNLOAD).interval, None);
    // It is back, and with the next round trip so is the pacing.
    device.path();
    device.down(800, 12);
    device.down_acked(860, 13);
    device.sent();
    let interval = device.state(&DOWNLOAD).interval.expect("paced again");
    let ids: Vec<u32> = (13..16).map(|n| device.down(900, n)).collect();
    device.until(10_000);
    assert_eq!(device.sent(), (0..).map(|n| ms(900) + interval * n).zip(ids).collect::<Vec<_>>());
    assert_eq!((device.waiting.len(), device.discipline.queued()), (0, 0), "every packet has had its verdict");
}

/// The acknowledgement of a server carries the round trip of the wired side, although its payload was never seen.
#[test]
fn an_upload_learns_the_wired_round_trip() {
    let mut device = Device::new();
    device.handshake(0, &UPLOAD);
    device.packet(100, Side::Wireless, UPLOAD.segment(Side::Wireless, 1_000, 5_000, 1_448, false));
    // 85 ms later, with data of its own beyond the bytes that the queue copies.
    let before = UPLOAD.segment(Side::Wired, 5_000, 2_448, 700, false);
    device.packet(185, Side::Wired, before.clone());
    assert_eq!(device.state(&UPLOAD).wired_rtt, Some(ms(85)));
    let (_, _, to, after) = device.sent.pop().expect("it passes at once");
    assert_eq!((to, after.len(), device.waiting.len()), (Side::Wireless, before.len() + 8, 0));
    let (segment, whole) = (bytes::segment(&after).expect("TCP"), bytes::segment(&before).expect("TCP"));
    assert_eq!(segment.options.wired_rtt, Some(85));
    assert_eq!((segment.payload, segment.ack, segment.window), (700, whole.ack, whole.window));
    assert_eq!(after[after.len() - 700..], before[before.len() - 700..]);
    let sliced = SlicedPacket::from_ip(&after).expect("well-formed");
    let (Some(TransportSlice::Tcp(tcp)), Ok((ip, _))) = (sliced.transport, Ipv4Header::from_slice(&after)) else {
        panic!("TCP in IPv4 expected")
    };
    assert_eq!(tcp.calc_checksum_ipv4(ip.source, ip.destination), Ok(tcp.checksum()));
    assert_eq!((ip.header_checksum, ip.time_to_live), (ip.calc_header_checksum(), 57));
}

/// Anything else in the queue passes the gateway at once, unchanged.
#[test]
fn what_is_no_tcp_passes_untouched() {
    let mut device = Device::new();
    let plain = DOWNLOAD.segment(Side::Wired, 1, 1, 1_000, false);
    let change = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = plain.clone();
        change(&mut bytes);
        bytes
    };
    let others = [
        change(&|bytes| bytes[9] = IpNumber::UDP.0),
        change(&|bytes| bytes[9] = IpNumber::ICMP.0),
        // A first and a later fragment, a bad IPv6 header, a truncated packet, an empty one.
        change(&|bytes| bytes[6] = 0x20),
        change(&|bytes| bytes[7] = 185),
        change(&|bytes| bytes[0] = 0x60),
        change(&|bytes| bytes.truncate(30)),
        Vec::new(),
    ];
    for (n, other) in (0..).zip(others) {
        for from in [Side::Wired, Side::Wireless] {
            let id = device.packet(n, from, other.clone());
            let (at, sent, to, bytes) = device.sent.pop().expect("it passes at once");
            assert_eq!((at, sent, to, bytes == other), (ms(n), id, from.other(), true));
        }
    }
    assert_eq!(device.discipline.gateway().map(|gateway| gateway.flows()), Some(0));
}
