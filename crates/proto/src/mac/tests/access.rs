//! Access.

use super::*;

//   packet
//     | DIFS | k slots | RTS
//   1000   1050      1050 + 20 k
#[test]
fn an_idle_station_waits_difs_and_a_random_number_of_slots() {
    let mut seen = [false; 31];
    for seed in 0..500 {
        let mut bench = Bench::seeded(Config::ns2(), seed);
        bench.packet(1000, packet());
        let wait = bench.draw(31);
        seen[(wait / SLOT) as usize] = true;
        bench.next_is(1000 + DIFS + wait, "RTS");
    }
    assert!(seen.iter().all(|&seen| seen), "0 .. 30 slots all occur: {seen:?}");
}

//   packet            117                421
//     | DIFS | 3 slots +|== another's ACK ==| DIFS | k - 3 slots | RTS
//     0     50                                   471
#[test]
fn a_busy_medium_freezes_the_slots_and_costs_a_full_difs() {
    for k in [4, 5, 30] {
        let mut bench = Bench::with_first_draw(Config::ns2(), k);
        bench.packet(0, packet());
        let end = bench.hear(117, &frame(FrameKind::Ack, 3, 2, 0));
        bench.next_is(end + DIFS + (k - 3) * SLOT, "RTS");
    }
}

//   packet     40            344
//     | DIFS...|==== ACK ====| DIFS | k slots | RTS
#[test]
fn a_pause_within_difs_costs_no_slot() {
    let mut bench = Bench::new(Config::ns2());
    bench.packet(0, packet());
    let end = bench.hear(40, &frame(FrameKind::Ack, 3, 2, 0));
    let wait = bench.draw(31);
    bench.next_is(end + DIFS + wait, "RTS");
}

//   0     packet
//   |=== noise ===| (EIFS) | DIFS | k slots | RTS         ns-2: 364 + 50; standard: 364 in total
//   0            1000
#[test]
fn eifs_is_followed_by_difs_in_ns2_and_replaces_it_in_the_standard() {
    for (config, values, wait) in [(Config::ns2(), 31, EIFS + DIFS), (Config::standard(), 32, EIFS)] {
        let mut bench = Bench::new(config);
        bench.arrive(0);
        bench.packet(500, packet());
        let end = bench.noise(500, 500, DropReason::Collision);
        let slots = bench.draw(values);
        bench.next_is(end + wait + slots, "RTS");
    }
}

//   |=== never decodable ===| DIFS | k slots | RTS        standard: no EIFS without a header
#[test]
fn the_standard_observes_no_eifs_after_mere_energy() {
    for (config, values, wait) in [(Config::ns2(), 31, EIFS + DIFS), (Config::standard(), 32, DIFS)] {
        let mut bench = Bench::new(config);
        bench.arrive(0);
        bench.packet(500, packet());
        let end = bench.noise(500, 500, DropReason::Undecodable);
        let slots = bench.draw(values);
        bench.next_is(end + wait + slots, "RTS");
    }
}

//   |== noise ==| 10 |== ACK of others ==| DIFS | k |      standard: the good frame ends the EIFS
//   |== noise ==|............ EIFS 364 ......| DIFS | k |  ns-2
//   0         1000  1010               1314 1364
#[test]
fn a_good_frame_ends_eifs_in_the_standard_only() {
    for (config, values, free) in [(Config::ns2(), 31, 1364), (Config::standard(), 32, 1314)] {
        let mut bench = Bench::new(config);
        bench.arrive(0);
        bench.packet(500, packet());
        bench.noise(500, 500, DropReason::Collision);
        bench.hear(1010, &frame(FrameKind::Ack, 3, 2, 0));
        let slots = bench.draw(values);
        bench.next_is(free + DIFS + slots, "RTS");
    }
}
