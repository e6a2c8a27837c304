//! AP2: random connections in `fourhop_cc`, and the same ones in the header, on the host and in the kernel.

use crate::samples::Random;
use fourhop_cc::ap2::Ap2;
use fourhop_cc::rate::{Lost, RateSample};
use fourhop_cc::{CaState, CongestionControl, Hint, Params, View, Window};
use fourhop_units::{Dur, Rate, Time};
use libbpf_rs::{MapCore, MapFlags, ObjectBuilder, ProgramInput};
use std::io::Write;

/// 64-bit words of `struct fh_ap2` and of `struct fh_event`.
const STATE: usize = 52;
const EVENT: usize = 10;
/// `FH_BATCH`.
const BATCH: usize = 1024;

// The body is in c/event.h. It keeps no pointer, and writes only to the state, whose length is STATE.
unsafe extern "C" {
    safe fn fh_ap2_event(ap2: &mut [u64; STATE], event: &[u64; EVENT]) -> i32;
}

/// A word of two 32-bit numbers, the first one in front.
fn pair(first: u32, second: u32) -> u64 {
    let bytes: Vec<u8> = first.to_ne_bytes().into_iter().chain(second.to_ne_bytes()).collect();
    u64::from_ne_bytes(bytes.try_into().expect("eight"))
}

/// Outputs of a state: window, burst, interval and newest round trip.
type Outputs = (u32, u32, Option<Dur>, Option<Dur>);

fn outputs(state: &[u64; STATE]) -> Outputs {
    let [a, b, c, d, e, f, g, h] = state[40].to_ne_bytes();
    let some = |nanos: u64| Some(nanos).filter(|&nanos| nanos > 0).map(Dur::from_nanos);
    let (cwnd, burst) = (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
    (cwnd, burst, some(state[35]), some(state[1] * 1_000))
}

/// Whether it drains, there are others, the receiver is known to wait, the queue has little room, and a train was fast.
fn modes(state: &[u64; STATE]) -> [bool; 5] {
    let low = |word: u64| u32::from_ne_bytes([0, 1, 2, 3].map(|n| word.to_ne_bytes()[n]));
    let high = |word: u64| u32::from_ne_bytes([4, 5, 6, 7].map(|n| word.to_ne_bytes()[n]));
    let (short, fast) = (state[30] < 50_000, state[17] > state[14]);
    [low(state[42]) > 0, high(state[43]) > 0, high(state[48]) > 0, short, fast]
}

/// A connection in `fourhop_cc`.
#[derive(Debug)]
struct Connection {
    ap2: Ap2,
    window: Window,
    now: u64,
    delivered: u64,
    /// Round trips are about this long, in ns, and their spread.
    base: u64,
    spread: u64,
    /// Queueing delay caused by others.
    queue: u64,
    /// Whether its link's rate is never known.
    is_wire: bool,
    /// Of 400 events, how many are losses.
    losses: u64,
    /// Number of further segments that leave one by one.
    alone: u64,
}

impl Connection {
    /// Draws any window, path and round trip; also returns the event that starts the connection.
    fn draw(random: &mut Random) -> (Connection, [u64; EVENT]) {
        let (ap2, is_wire) = (Ap2::new(&Params::new()), random.below(3) == 0);
        let cwnd = 1 + random.log(5) as u32;
        let window = Window { cwnd, cwnd_cnt: 0, ssthresh: 2, cwnd_clamp: u32::MAX, pacing: None, burst: 1 };
        let base = 1_000 * (1 + random.log(27));
        let spread = 1 + random.log(38) % (4 * base);
        let (now, losses) = (random.log(50), [4, 40][random.below(2) as usize]);
        let mut connection =
            Connection { ap2, window, now, delivered: 0, base, spread, queue: 0, is_wire, losses, alone: 0 };
        let srtt = random.maybe(|random| connection.round_trip(random));
        let view = View { srtt: srtt.map(Dur::from_nanos), ..connection.view(0) };
        connection.ap2.init(&mut connection.window, &view);
        let begin = [0, u64::from(cwnd), 0, connection.now, 0, 0, srtt.unwrap_or(0), 0, 0, 0];
        (connection, begin)
    }

    fn round_trip(&self, random: &mut Random) -> u64 {
        let nanos =
            if random.below(40) == 0 { random.log(40) } else { self.base + self.queue + random.below(self.spread) };
        // The kernel's round trips are whole microseconds.
        1_000 * (1 + nanos / 1_000)
    }

    fn view(&self, in_flight: u32) -> View {
        View {
            now: Time::from_nanos(self.now),
            in_flight,
            window: self.window.cwnd,
            snd_wnd: 10,
            mss: 1_460,
            srtt: None,
            min_rtt: None,
            rto: Dur::from_secs(1),
            state: CaState::Open,
        }
    }

    /// A random event, which is returned.
    fn next(&mut self, random: &mut Random) -> [u64; EVENT] {
        let view = self.view(0);
        match random.below(400) {
            n if n < self.losses => {
                let segments = 1 + random.below(10) as u32;
                let lost = Lost { tx_in_flight: 1, lost: 1, is_app_limited: false, total_delivered: self.delivered };
                (0..segments).for_each(|_| self.ap2.on_lost(&mut self.window, &view, &lost));
                [2, u64::from(segments), 0, 0, 0, 0, 0, 0, 0, 0]
            }
            50 => {
                let mark = Lost { tx_in_flight: 1, lost: 0, is_app_limited: false, total_delivered: self.delivered };
                self.ap2.on_mark(&mut self.window, &view, &mark);
                [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            }
            51 => {
                let in_flight = random.log(6) as u32;
                let view = self.view(in_flight);
                self.ap2.on_state(&mut self.window, &view, CaState::Loss);
                [4, u64::from(in_flight), 0, 0, 0, 0, 0, 0, 0, 0]
            }
            52 => {
                let link = if self.is_wire { 0 } else { 1_000 + random.log(34) };
                let hops = 1 + random.log(9) as u32;
                self.learn(link, hops)
            }
            53 if random.below(4) == 0 => {
                self.ap2.on_restart(&mut self.window, &view);
                [6, 0, 0, self.now, 0, 0, 0, 0, 0, 0]
            }
            54 if random.below(2) == 0 => {
                self.queue = random.below(3) * random.below(4 * self.base);
                self.acknowledge(random)
            }
            _ => self.acknowledge(random),
        }
    }

    /// Learns the link's rate, 0 if unknown, and the hops.
    fn learn(&mut self, link: u64, hops: u32) -> [u64; EVENT] {
        let view = self.view(0);
        if let Some(rate) = Rate::from_bps(link) {
            self.ap2.on_hint(&mut self.window, &view, Hint::LinkRate(rate));
        }
        self.ap2.on_hint(&mut self.window, &view, Hint::HopCount(hops));
        [5, u64::from(hops), link, 0, 0, 0, 0, 0, 0, 0]
    }

    fn acknowledge(&mut self, random: &mut Random) -> [u64; EVENT] {
        // About a round trip and a window make a round, with an occasional silence.
        let window = u64::from(self.window.cwnd);
        self.now += if random.below(200) == 0 { random.log(38) } else { random.below(2 + 2 * self.base / window) };
        self.alone = if random.below(100) == 0 { random.log(7) } else { self.alone.saturating_sub(1) };
        let (newly_acked, left) = match self.alone {
            0 if random.below(20) == 0 => (random.log(12), random.below(3)),
            0 => (random.below(4), random.below(3)),
            _ => (1, 0),
        };
        let (newly_acked, left) = (newly_acked as u32, left as u32);
        self.delivered += u64::from(newly_acked);
        let prior_delivered = self.delivered.saturating_sub(random.below(2 * window + 1));
        let (has_data, cwnd_limited) = (random.below(8) != 0, random.below(2) == 0);
        let rtt = random.maybe(|random| self.round_trip(random));
        let tx_in_flight = random.below(2 * window) as u32;
        let rtt = rtt.map(Dur::from_nanos);
        self.take(RateSample {
            has_data,
            prior_delivered,
            tx_in_flight,
            newly_acked,
            in_flight: left,
            rtt,
            cwnd_limited,
            ..RateSample::default()
        })
    }

    fn take(&mut self, sample: RateSample) -> [u64; EVENT] {
        let sample = RateSample { total_delivered: self.delivered, ..sample };
        let view = self.view(0);
        self.ap2.on_rate(&mut self.window, &view, &sample);
        let counts = pair(sample.newly_acked, sample.tx_in_flight);
        let flags = pair(u32::from(sample.has_data), u32::from(sample.cwnd_limited));
        let rtt = sample.rtt.map_or(0, Dur::as_nanos);
        [1, 0, 0, self.now, self.delivered, sample.prior_delivered, rtt, counts, flags, pair(sample.in_flight, 0)]
    }

    fn expected(&self) -> Outputs {
        (self.window.cwnd, self.window.burst, self.window.pacing, self.ap2.measurements().rtt)
    }
}

/// Behaviour of the windows: the test is meaningful if they grew, were limited, and met others.
#[derive(Default)]
struct Seen {
    compared: usize,
    large: usize,
    bursts: usize,
    drains: usize,
    beside: usize,
    waits: usize,
    short: usize,
    fast: usize,
}

impl Seen {
    fn note(&mut self, state: &[u64; STATE]) {
        let ((cwnd, burst, ..), [drain, beside, wait, short, fast]) = (outputs(state), modes(state));
        self.compared += 1;
        self.large += usize::from(cwnd > 20);
        self.bursts += usize::from(burst > 2);
        self.drains += usize::from(drain);
        self.beside += usize::from(beside);
        self.waits += usize::from(wait);
        self.short += usize::from(short);
        self.fast += usize::from(fast);
    }

    fn end(&self) {
        let &Seen { compared, large, bursts, drains, beside, waits, short, fast } = self;
        let least =
            [large, compared - large, bursts, drains, beside, waits, short, fast].into_iter().min().unwrap_or(0);
        assert!(
            least > compared / 200,
            "{compared}: {large} large, {bursts} bursts, {drains} in drains, {beside} beside others, {waits} \
             with a receiver that waits, {short} with a short queue, {fast} with fast trains"
        );
    }
}

#[test]
fn a_million_events_make_the_same_windows_and_bursts() {
    let (mut random, mut seen) = (Random(5), Seen::default());
    while seen.compared < 1_000_000 {
        let (mut connection, begin) = Connection::draw(&mut random);
        let mut state = [0; STATE];
        fh_ap2_event(&mut state, &begin);
        assert_eq!(outputs(&state), connection.expected(), "{connection:?}");
        for _ in 0..3_000 {
            let event = connection.next(&mut random);
            fh_ap2_event(&mut state, &event);
            assert_eq!(outputs(&state), connection.expected(), "after {event:?}, {connection:?}");
            seen.note(&state);
        }
    }
    seen.end();
}

/// If 1,000 segments per second arrive behind one radio, each after at least 80 ms, a trial ends in vain. If the round
/// trip is 120 ms whatever the window is, it does not.
#[test]
fn trials_end_the_same_way() {
    for of_others in [false, true] {
        let (mut connection, begin) = Connection::draw(&mut Random(7));
        connection.ap2 = Ap2::new(&Params::new());
        connection.window = Window { cwnd: 10, ..connection.window };
        let view = View { srtt: Some(Dur::from_millis(80)), ..connection.view(0) };
        connection.ap2.init(&mut connection.window, &view);
        let begin = [0, 10, 0, begin[3], 0, 0, 80_000_000, 0, 0, 0];
        let mut state = [0; STATE];
        fh_ap2_event(&mut state, &begin);
        fh_ap2_event(&mut state, &connection.learn(65_000_000, 1));
        let (mut trials, mut vain) = (0, 0);
        for _ in 0..300 {
            let window = u64::from(connection.window.cwnd.min(1_000));
            let rtt = if of_others { 120 } else { window.max(80) };
            let began = connection.delivered;
            for n in 1..=window {
                connection.now += 1_000_000 * rtt / window;
                connection.delivered += 1;
                let event = connection.take(RateSample {
                    has_data: n == window,
                    prior_delivered: began,
                    newly_acked: 1,
                    in_flight: 1,
                    rtt: Some(Dur::from_millis(rtt)),
                    cwnd_limited: true,
                    ..RateSample::default()
                });
                fh_ap2_event(&mut state, &event);
                assert_eq!(outputs(&state), connection.expected(), "{connection:?}");
            }
            let [trial, proven] = [23, 29].map(|word| u32::from(state[word] > 0));
            (trials, vain) = (trials + trial, vain + proven);
        }
        assert!(trials > 2 && (vain > 0) != of_others, "{trials} rounds in trials, {vain} after one in vain");
    }
}

/// Runs here with root's rights, or not at all.
#[test]
fn a_hundred_thousand_events_make_the_same_under_the_kernels_compiler() {
    let object = ObjectBuilder::default()
        .open_memory(include_bytes!(concat!(env!("OUT_DIR"), "/parity.bpf.o")))
        .and_then(|object| object.load());
    let object = match object {
        Err(error) if error.kind() == libbpf_rs::ErrorKind::PermissionDenied => {
            let _ = writeln!(std::io::stderr(), "SKIPPED the kernel's AP2: loading programs needs root: {error}");
            return;
        }
        other => other.expect("a kernel as new as README says loads it"),
    };
    let exchange = object.maps().find(|map| map.name() == "fh_ap2_exchanges").expect("the object has it");
    let program = object.progs_mut().find(|program| program.name() == "fh_parity_ap2").expect("the object has it");
    let (mut random, mut seen) = (Random(6), Seen::default());
    while seen.compared < 100_000 {
        let (mut connection, begin) = Connection::draw(&mut random);
        let mut expected = vec![(begin, connection.expected())];
        expected.extend((1..BATCH).map(|_| (connection.next(&mut random), connection.expected())));
        let head = [[0; STATE].as_slice(), &[BATCH as u64]].concat();
        let words = head.into_iter().chain(expected.iter().flat_map(|(event, _)| *event));
        let mut bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        let after = bytes.len();
        bytes.resize(after + 8 * STATE * BATCH, 0);
        exchange.update(&0_u32.to_ne_bytes(), &bytes, MapFlags::ANY).expect("as long as the kernel's");
        let ran = program.test_run(ProgramInput::default()).expect("it can be run");
        assert_eq!(ran.return_value, 0);
        let bytes = exchange.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).expect("it is there").expect("it is there");
        for ((event, expected), state) in expected.iter().zip(bytes[after..].chunks(8 * STATE)) {
            let state = crate::samples::words(state);
            assert_eq!(outputs(&state), *expected, "after {event:?}");
            seen.note(&state);
        }
    }
    seen.end();
}
