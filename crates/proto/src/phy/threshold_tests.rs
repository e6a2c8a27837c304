//! Each case draws the frames at one receiver; powers are in units of the reception threshold.

use super::*;
use DropReason::{Captured, Collision, HalfDuplex, Undecodable};
use fourhop_units::Time;

const GOOD: Departure = Departure::Judged(Verdict::Good);

fn bad(reason: DropReason) -> Departure {
    Departure::Judged(Verdict::Bad(reason))
}

struct Bench {
    config: Config,
    receiver: Receiver,
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench { config, receiver: Receiver::default() }
    }

    fn arrive(&mut self, tx: u32, strength: f64, end_us: u64) -> ArrivalEffect {
        let power = Watt(3.652e-10 * strength);
        self.receiver.arrive(Arrival { tx: TxId(tx), power, end: Time::from_micros(end_us) }, false, &self.config)
    }

    fn depart(&mut self, tx: u32) -> Departure {
        self.receiver.depart(TxId(tx), false)
    }
}

// ns-2.35, and every capture study since: power ratio 10 is distance ratio 1.78 beyond the crossover.
//   1 |=========|
//   2    |---|
#[test]
fn a_frame_ten_times_stronger_survives_and_the_weaker_leaves_no_trace() {
    let mut bench = Bench::new(Config::ns2());
    assert_eq!(bench.arrive(1, 16.0, 100), ArrivalEffect::Occupied);
    assert_eq!(bench.arrive(2, 1.6, 50), ArrivalEffect::CapturedAway);
    assert_eq!(bench.depart(2), Departure::Lost(Captured));
    assert_eq!(bench.depart(1), GOOD);
    assert!(!bench.receiver.busy(&bench.config));
}

//   1 |======|                  captured-away frame 2 is still on the air when 3 comes: 3 is received (ns-2)
//   2    |~~~~~~~~~~~~~~~~|
//   3            |======|
#[test]
fn after_a_capture_a_further_frame_is_received_cleanly_only_without_energy_detection() {
    for (config, expected) in [(Config::ns2(), GOOD), (Config::standard(), bad(Collision))] {
        let mut bench = Bench::new(config);
        bench.arrive(1, 16.0, 50);
        assert_eq!(bench.arrive(2, 1.5, 200), ArrivalEffect::CapturedAway);
        assert_eq!(bench.depart(1), GOOD);
        assert_eq!(bench.receiver.busy(&bench.config), config.energy_detection);
        bench.arrive(3, 2.0, 150);
        assert_eq!(bench.depart(3), expected);
        assert_eq!(bench.depart(2), Departure::Lost(Captured));
        assert!(!bench.receiver.busy(&bench.config));
    }
}

//   1 |======|
//   2    |========|             the slot is occupied to the end of 2
#[test]
fn a_collision_lasts_to_the_later_end() {
    let mut bench = Bench::new(Config::ns2());
    bench.arrive(1, 2.0, 100);
    bench.arrive(2, 2.0, 150);
    assert_eq!(bench.depart(1), Departure::Lost(Collision));
    assert!(bench.receiver.busy(&bench.config));
    assert_eq!(bench.depart(2), bad(Collision));
}

//   1 |~~~~~~~~~~~~|            undecodable
//   2    |=======|              16 times the threshold
#[test]
fn a_far_frame_locks_the_receiver_only_in_ns2() {
    let mut ns2 = Bench::new(Config::ns2());
    ns2.arrive(1, 0.1, 100);
    ns2.arrive(2, 16.0, 90);
    assert_eq!(ns2.depart(2), Departure::Lost(Collision));
    assert_eq!(ns2.depart(1), bad(Collision));

    let mut standard = Bench::new(Config::standard());
    standard.arrive(1, 0.1, 100);
    assert!(standard.receiver.busy(&standard.config), "sensed energy makes the medium busy");
    standard.arrive(2, 16.0, 90);
    assert_eq!(standard.depart(2), GOOD);
    assert_eq!(standard.depart(1), Departure::Lost(Undecodable));
}

//   1 |==========|
//   2    |==============|       2 is ten times stronger
#[test]
fn late_capture_takes_over_only_where_it_is_on() {
    let mut ns2 = Bench::new(Config::ns2());
    ns2.arrive(1, 1.0, 100);
    ns2.arrive(2, 1000.0, 150);
    assert_eq!(ns2.depart(2), bad(Collision));

    let mut late = Bench::new(Config { late_capture: true, ..Config::ns2() });
    late.arrive(1, 1.0, 100);
    late.arrive(2, 10.0, 150);
    assert_eq!(late.depart(1), Departure::Lost(Collision));
    assert_eq!(late.depart(2), GOOD);
}

#[test]
fn without_capture_any_overlap_destroys_both() {
    let mut bench = Bench::new(Config { capture_ratio: None, ..Config::ns2() });
    bench.arrive(1, 1000.0, 100);
    bench.arrive(2, 0.1, 50);
    assert_eq!(bench.depart(2), Departure::Lost(Collision));
    assert_eq!(bench.depart(1), bad(Collision));
}

#[test]
fn half_duplex_loses_what_meets_a_transmission() {
    let mut bench = Bench::new(Config::ns2());
    let copy = Arrival { tx: TxId(1), power: Watt(1e-9), end: Time::from_micros(10) };
    // Arrives while sending, ends after: the MAC learns of an error.
    bench.receiver.arrive(copy, true, &bench.config);
    assert_eq!(bench.receiver.depart(TxId(1), false), bad(HalfDuplex));
    // Still sending at the end: nothing is noticed.
    bench.receiver.arrive(copy, true, &bench.config);
    assert_eq!(bench.receiver.depart(TxId(1), true), Departure::Judged(Verdict::Missed));
    // Sending begins in the middle.
    bench.receiver.arrive(copy, false, &bench.config);
    bench.receiver.transmit_started();
    assert_eq!(bench.receiver.depart(TxId(1), false), bad(HalfDuplex));
}
