//! The arithmetic compiled for the host.

use crate::samples::{Case, Random, words};
use fourhop_bpf::layout;
use fourhop_cc::rbp::Rbp;
use fourhop_cc::{CaState, CongestionControl, Params, View, Window};
use fourhop_proto::wire::TcpOptions;
use fourhop_proto::wire::bytes::hops_by_ttl;
use fourhop_units::{Dur, Time};

/// 64-bit words of `struct fh_pace`.
const STATE: usize = 256 + 4 + 2;

// The bodies are in c/host.c. None keeps a pointer, and each writes only to the state, whose length is STATE.
unsafe extern "C" {
    safe fn fh_sample(state: &mut [u64; STATE], params: &[u64; 9], path: &[u64; 12], mss: u32, rtt: u64) -> u64;
    safe fn fh_square_root(x: u64) -> u64;
    safe fn fh_rbp_interval(rtt: u64, window: u32, v: u32) -> u64;
    safe fn fh_rate(interval: u64, mss: u32) -> u32;
    safe fn fh_hops(ttl: u32) -> u32;
    safe fn fh_wired_millis(option: &[u8; 6]) -> u32;
}

#[test]
fn a_million_round_trips_make_the_same_intervals() {
    let mut random = Random(1);
    let (mut compared, mut paced) = (0, 0);
    while compared < 1_000_000 {
        let mut case = Case::draw(&mut random);
        let mut state = [0; STATE];
        let params = words(&layout::params(&case.params, 1));
        let mut interval = case.params.first_interval;
        for n in 0..500 {
            case.change(&mut random, n);
            let rtt = case.round_trip(&mut random);
            let expected = case.expected(rtt);
            let found = fh_sample(&mut state, &params, &words(&layout::path(&case.path)), case.mss, rtt);
            interval = if found == 0 { interval } else { Some(Dur::from_nanos(found)) };
            assert_eq!(interval, expected, "sample {n}, {rtt} ns, of {case:?}");
            if let Some(interval) = interval {
                assert_eq!(fh_rate(interval.as_nanos(), case.mss), case.window.max_pacing_rate(case.mss));
                paced += 1;
            }
            compared += 1;
        }
        let measured = case.algorithm.measurements();
        // After 256 samples come sum, average, queueing delay and round trip.
        let known = |at: usize| Some(state[256 + at]).filter(|&nanos| nanos > 0).map(Dur::from_nanos);
        assert_eq!((known(1), known(3)), (measured.delay, measured.rtt), "{case:?}");
    }
    assert!(paced > compared / 2, "{paced} of {compared} have an interval");
}

#[test]
fn rate_based_pacing_divides_alike() {
    let mut random = Random(2);
    for _ in 0..1_000_000 {
        let (pacing_v, cwnd) = (random.below(4) as u32, random.log(32) as u32);
        let srtt = Dur::from_nanos(random.log(38));
        let mut window = Window { cwnd, cwnd_cnt: 0, ssthresh: 2, cwnd_clamp: u32::MAX, pacing: None, burst: 1 };
        let view = View {
            now: Time::ZERO,
            in_flight: 1,
            window: cwnd,
            snd_wnd: 1,
            mss: 1_460,
            srtt: Some(srtt),
            min_rtt: None,
            rto: Dur::from_secs(1),
            state: CaState::Open,
        };
        Rbp::new(&Params { pacing_v, ..Params::new() }).on_state(&mut window, &view, CaState::Open);
        assert_eq!(Some(Dur::from_nanos(fh_rbp_interval(srtt.as_nanos(), cwnd, pacing_v))), window.pacing);
    }
}

#[test]
fn square_roots_are_rounded_down() {
    let mut random = Random(3);
    let drawn = (0..1_000_000).map(|_| random.log(64));
    let roots = (0..32).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    let about_squares = roots.chain([u64::from(u32::MAX)]).flat_map(|root| {
        let square = root * root;
        [square.wrapping_sub(1), square, square + 1]
    });
    for x in about_squares.chain([0, 1, 2, 3, u64::MAX]).chain(drawn) {
        assert_eq!(fh_square_root(x), x.isqrt(), "{x}");
    }
}

#[test]
fn hops_are_read_off_alike() {
    for ttl in 0..=u8::MAX {
        assert_eq!(fh_hops(u32::from(ttl)), u32::from(hops_by_ttl(ttl)), "{ttl}");
    }
}

/// The kernel's program reads options written by the gateway of `fourhop_proto`.
#[test]
fn the_option_of_a_gateway_is_understood() {
    let (id, millis) = (TcpOptions::WIRED_RTT_ID.to_be_bytes(), 4_242_u16.to_be_bytes());
    let option = [TcpOptions::EXPERIMENT, TcpOptions::WIRED_RTT_LEN as u8, id[0], id[1], millis[0], millis[1]];
    assert_eq!(option[..4], [253, 6, 0x34, 0x68], "FH_OPTION_KIND, FH_OPTION_LENGTH, FH_OPTION_ID");
    assert_eq!(fh_wired_millis(&option), 4_242);
}
