//! Each case draws the frames at one receiver; powers are relative to the reception threshold.

use super::*;
use crate::preset::Configured;
use DropReason::{Captured, Collision, HalfDuplex, Undecodable};
use fourhop_units::Time;

/// Fate of a copy: received, or lost for a reason; true if it was in the slot, so that the MAC is notified.
type Fate = (bool, Option<DropReason>);
const GOOD: Fate = (true, None);

fn bad(reason: DropReason) -> Fate {
    (true, Some(reason))
}

fn lost(reason: DropReason) -> Fate {
    (false, Some(reason))
}

struct Bench {
    config: Config,
    receiver: Receiver,
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench { config, receiver: Receiver::default() }
    }

    fn arrive(&mut self, src: u32, strength: f64, begin_us: u64, end_us: u64) -> ArrivalEffect {
        self.arrive_while(src, strength, begin_us, end_us, false)
    }

    fn arrive_while(
        &mut self,
        src: u32,
        strength: f64,
        begin_us: u64,
        end_us: u64,
        transmitting: bool,
    ) -> ArrivalEffect {
        let (power, end) = (Watt(3.652e-10 * strength), Time::from_micros(end_us));
        let copy = Arrival { src: NodeId(src), power, end, reserved: Time::ZERO, rts: false };
        self.receiver.arrive::<Configured>(Time::from_micros(begin_us), copy, transmitting, &self.config)
    }

    /// The copy from `src` ends.
    fn depart(&mut self, src: u32, at_us: u64) -> Fate {
        let (now, src) = (Time::from_micros(at_us), NodeId(src));
        match self.receiver.take(now, src) {
            Some(slot) => (true, slot.lost),
            None => lost(self.receiver.interferer_lost(now, src)),
        }
    }

    fn busy_at(&self, at_us: u64) -> bool {
        self.receiver.busy_until() > Time::from_micros(at_us)
    }
}

// ns-2.35, and every capture study since: power ratio 10 is distance ratio 1.78 beyond the crossover.
//   1 |=========|
//   2    |---|
#[test]
fn a_frame_ten_times_stronger_survives_and_the_weaker_leaves_no_trace() {
    let mut bench = Bench::new(Config::ns2());
    assert_eq!(bench.arrive(1, 16.0, 0, 100), ArrivalEffect::Occupied);
    assert_eq!(bench.arrive(2, 1.6, 10, 50), ArrivalEffect::Unreceived(Captured));
    assert_eq!(bench.receiver.on_air(Time::from_micros(49)), 2);
    assert_eq!(bench.depart(2, 50), lost(Captured));
    assert_eq!(bench.depart(1, 100), GOOD);
    assert!(!bench.busy_at(100));
}

//   1 |======|                  captured frame 2 is still on the air when 3 arrives: 3 is received (ns-2)
//   2    |~~~~~~~~~~~~~~~~|
//   3            |======|
#[test]
fn after_a_capture_a_further_frame_is_received_cleanly_only_without_energy_detection() {
    for (config, expected) in [(Config::ns2(), GOOD), (Config::standard(), bad(Collision))] {
        let mut bench = Bench::new(config);
        bench.arrive(1, 16.0, 0, 50);
        assert_eq!(bench.arrive(2, 1.5, 10, 200), ArrivalEffect::Unreceived(Captured));
        assert_eq!(bench.depart(1, 50), GOOD);
        assert_eq!(bench.busy_at(50), config.energy_detection);
        bench.arrive(3, 2.0, 60, 150);
        assert_eq!(bench.depart(3, 150), expected);
        assert_eq!(bench.depart(2, 200), lost(Captured));
        assert!(!bench.busy_at(200));
    }
}

//   1 |======|
//   2    |========|             the slot is occupied to the end of 2
#[test]
fn a_collision_lasts_to_the_later_end() {
    let mut bench = Bench::new(Config::ns2());
    bench.arrive(1, 2.0, 0, 100);
    bench.arrive(2, 2.0, 50, 150);
    assert_eq!(bench.depart(1, 100), lost(Collision));
    assert!(bench.busy_at(149));
    assert_eq!(bench.depart(2, 150), bad(Collision));
    assert!(!bench.busy_at(150));
}

//   1 |~~~~~~~~~~~~|            undecodable
//   2    |=======|              16 times the threshold
#[test]
fn a_far_frame_locks_the_receiver_only_in_ns2() {
    let mut ns2 = Bench::new(Config::ns2());
    ns2.arrive(1, 0.1, 0, 100);
    ns2.arrive(2, 16.0, 10, 90);
    assert_eq!(ns2.depart(2, 90), lost(Collision));
    assert_eq!(ns2.depart(1, 100), bad(Collision));

    let mut standard = Bench::new(Config::standard());
    standard.arrive(1, 0.1, 0, 100);
    assert!(standard.busy_at(99), "sensed energy makes the medium busy");
    standard.arrive(2, 16.0, 10, 90);
    assert_eq!(standard.depart(2, 90), GOOD);
    assert!(standard.busy_at(99));
    assert_eq!(standard.depart(1, 100), lost(Undecodable));
}

// Without either option a frame that is not locked on makes the medium busy only up to the next end of any frame.
//   1 |~~~~~~~~~~~~|
//   2    |~~~~|
//   3       |===|               occupies the slot, to its own end
#[test]
fn without_lock_and_energy_detection_the_next_end_is_the_last() {
    let config = Config { lock_on_undecodable: false, ..Config::ns2() };
    let mut bench = Bench::new(config);
    assert_eq!(bench.arrive(1, 0.1, 0, 100), ArrivalEffect::Unreceived(Undecodable));
    bench.arrive(2, 0.1, 10, 50);
    assert!(bench.busy_at(49) && !bench.busy_at(50));
    bench.arrive(3, 2.0, 20, 40);
    assert!(bench.busy_at(39) && !bench.busy_at(40));
    assert_eq!(bench.depart(3, 40), GOOD);
    // 1 and 2 are still on the air: the next copy is sensed up to the end of 2.
    bench.arrive(4, 0.1, 45, 200);
    assert!(bench.busy_at(49) && !bench.busy_at(50));
}

//   1 |==========|
//   2    |==============|       2 is ten times stronger
#[test]
fn late_capture_takes_over_only_where_it_is_on() {
    let mut ns2 = Bench::new(Config::ns2());
    ns2.arrive(1, 1.0, 0, 100);
    ns2.arrive(2, 1000.0, 50, 150);
    assert_eq!(ns2.depart(2, 150), bad(Collision));

    let mut late = Bench::new(Config { late_capture: true, ..Config::ns2() });
    late.arrive(1, 1.0, 0, 100);
    late.arrive(2, 10.0, 50, 150);
    assert_eq!(late.depart(1, 100), lost(Collision));
    assert_eq!(late.depart(2, 150), GOOD);
}

#[test]
fn without_capture_any_overlap_destroys_both() {
    let mut bench = Bench::new(Config { capture_ratio: None, ..Config::ns2() });
    bench.arrive(1, 1000.0, 0, 100);
    bench.arrive(2, 0.1, 10, 50);
    assert_eq!(bench.depart(2, 50), lost(Collision));
    assert_eq!(bench.depart(1, 100), bad(Collision));
}

#[test]
fn half_duplex_loses_what_meets_a_transmission() {
    let mut bench = Bench::new(Config::ns2());
    bench.arrive_while(1, 3.0, 0, 10, true);
    assert_eq!(bench.depart(1, 10), bad(HalfDuplex));
    // Sending starts in the middle; a frame lost before keeps its reason.
    bench.arrive(1, 3.0, 20, 30);
    bench.receiver.transmit_started();
    assert_eq!(bench.depart(1, 30), bad(HalfDuplex));
    bench.arrive(1, 0.5, 40, 50);
    bench.receiver.transmit_started();
    assert_eq!(bench.depart(1, 50), bad(Undecodable));
}

// Memory for copies outside the slot does not grow with their number over time.
#[test]
fn ended_copies_are_forgotten() {
    let mut bench = Bench::new(Config::ns2());
    for n in 0..1_000 {
        bench.arrive(1, 16.0, 100 * n, 100 * n + 90);
        for src in 2..5 {
            assert_eq!(
                bench.arrive(src, 0.1, 100 * n + u64::from(src), 100 * n + 50),
                ArrivalEffect::Unreceived(Captured)
            );
        }
        assert_eq!(bench.receiver.on_air(Time::from_micros(100 * n + 49)), 4);
        assert_eq!(bench.depart(1, 100 * n + 90), GOOD);
    }
    assert_eq!(bench.receiver.on_air(Time::from_secs(1)), 0);
    assert!(bench.receiver.interferers.capacity() <= 8, "{}", bench.receiver.interferers.capacity());
}
