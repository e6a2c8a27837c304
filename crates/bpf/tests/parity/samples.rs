//! Random connections for both comparisons of the arithmetic.

use fourhop_bpf::layout::{MAX_HISTORY, Path};
use fourhop_cc::tcp_ap::variation::Spread;
use fourhop_cc::tcp_ap::{self, ShortPath, TcpAp};
use fourhop_cc::{Ack, CaState, CongestionControl, Hint, Params, PathTime, View, Window};
use fourhop_units::{Dur, Rate, Time};

/// Random numbers (splitmix64: Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// A random 64-bit number.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// A number of up to `bits` bits, with all magnitudes equally likely.
    pub fn log(&mut self, bits: u64) -> u64 {
        let width = self.below(bits) + 1;
        self.bits() >> (64 - width)
    }

    /// `some` in half of all draws.
    pub fn maybe<T>(&mut self, some: impl FnOnce(&mut Random) -> T) -> Option<T> {
        if self.below(2) == 0 { None } else { Some(some(self)) }
    }

    fn rate(&mut self) -> Rate {
        Rate::from_bps(1_000 + self.log(30)).expect("above zero")
    }
}

/// The bytes as 64-bit words, whose number the test knows.
pub fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let words: Vec<u64> = bytes.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().expect("whole"))).collect();
    words.try_into().expect("as many words as the structure has")
}

/// A connection in `fourhop_cc`, and what the kernel would know of it.
#[derive(Debug)]
pub struct Case {
    /// Parameters of TCP-AP.
    pub params: tcp_ap::Params,
    /// The path, in the form of the kernel's programs.
    pub path: Path,
    /// Payload of a segment, in bytes.
    pub mss: u32,
    /// The reference implementation.
    pub algorithm: TcpAp,
    /// Its window.
    pub window: Window,
    /// Round trips are about this long, in ns, and their spread.
    base: u64,
    spread: u64,
}

impl Case {
    /// Draws any parameters and any path.
    pub fn draw(random: &mut Random) -> Case {
        let params = tcp_ap::Params {
            alpha: random.below(1_100) as u32,
            history: random.below(u64::from(MAX_HISTORY) + 1) as u32,
            factor: random.below(12) as u32,
            spread: [Spread::DeviationOfRoundTrips, Spread::AbsoluteDeviationOfDelays][random.below(2) as usize],
            short_path: [ShortPath::AllHops, ShortPath::OneHop][random.below(2) as usize],
            data_overhead: random.below(200) as u32,
            ack_bytes: random.below(200) as u32,
            link_rate: if random.below(4) == 0 { Some(random.rate()) } else { None },
            queue_limit: random.maybe(|random| Dur::from_nanos(random.log(32))),
            queue_alpha: random.below(1_100) as u32,
            delay_limit: random.maybe(|random| Dur::from_nanos(random.log(36))),
            first_interval: random.maybe(|random| Dur::from_nanos(1 + random.log(30))),
            ..tcp_ap::Params::paper()
        };
        let window = Window { cwnd: 10, cwnd_cnt: 0, ssthresh: 2, cwnd_clamp: u32::MAX, pacing: None, burst: 1 };
        let base = random.log(37);
        let algorithm = TcpAp::new(&Params { tcp_ap: params, ..Params::new() });
        let (path, mss) = (Path::default(), 1 + random.below(65_535) as u32);
        Case { params, path, mss, algorithm, window, base, spread: 1 + random.log(36) % base.max(1) }
    }

    /// Changes the path: at first, and occasionally afterwards.
    pub fn change(&mut self, random: &mut Random, n: u32) {
        if n == 0 {
            let view = self.view();
            self.algorithm.init(&mut self.window, &view);
            self.path.rate = random.maybe(Random::rate);
            if random.below(3) == 0 {
                let links = 1 + random.below(40);
                self.path.links = (0..links).map(|_| random.rate()).collect();
                self.hint(Hint::PathTime(PathTime::over(self.path.links.iter().copied()).expect("at least one link")));
            }
            if let Some(rate) = self.path.rate {
                self.hint(Hint::LinkRate(rate));
            }
        }
        if n == 0 || random.below(60) == 0 {
            let most = if random.below(4) == 0 { 300 } else { 12 };
            self.path.hops = Some(1 + random.below(most) as u32);
            self.hint(Hint::HopCount(self.path.hops.unwrap_or(0)));
        }
        if random.below(60) == 0 {
            self.path.wired = Dur::from_millis(random.below(500) % (1 + self.base / 1_000_000));
            self.hint(Hint::WiredRtt(self.path.wired));
        }
    }

    fn hint(&mut self, hint: Hint) {
        let view = self.view();
        self.algorithm.on_hint(&mut self.window, &view, hint);
    }

    /// The next round trip, in ns: most are near the base, some arbitrary, some only the wired part or hardly more.
    pub fn round_trip(&mut self, random: &mut Random) -> u64 {
        match random.below(20) {
            0 => 1 + random.log(40),
            1 => self.path.wired.as_nanos() + random.below(3),
            _ => 1 + self.base + random.below(self.spread),
        }
    }

    fn view(&self) -> View {
        View {
            now: Time::ZERO,
            in_flight: 1,
            window: 10,
            snd_wnd: 10,
            mss: self.mss,
            srtt: None,
            min_rtt: None,
            rto: Dur::from_secs(1),
            state: CaState::Recovery,
        }
    }

    /// The interval after an acknowledgement with this round trip, in `fourhop_cc`.
    pub fn expected(&mut self, rtt: u64) -> Option<Dur> {
        let rtt = Some(Dur::from_nanos(rtt));
        let ack = Ack { acked: 1, credit: 1, rtt, cwnd_limited: true, total_acked: 1, total_sent: 1 };
        let view = self.view();
        self.algorithm.on_ack(&mut self.window, &view, &ack);
        self.window.pacing
    }
}
