//! RFC 8966 section 3.8: requests.

use super::*;
use NextHop::Broadcast;

fn seqno_request(dst: u32, seqno: u16, hop_count: u8) -> BabelTlv {
    BabelTlv::SeqnoRequest { prefix: host(dst), seqno, hop_count, router_id: id(dst) }
}

/// Section 3.8.1.1.
#[test]
fn a_request_for_a_route_is_always_answered() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    bench.pass(secs(2));
    bench.receive(2, &[BabelTlv::RouteRequest { prefix: Some(host(9)) }]);
    assert_eq!(about(&bench.pass(ms(200)), 9), [(to(2), Some((4, 768)))]);
    bench.receive(2, &[BabelTlv::RouteRequest { prefix: Some(host(8)) }]);
    assert_eq!(about(&bench.pass(ms(200)), 8), [(to(2), None)], "a retraction if there is none");
    bench.receive(2, &[BabelTlv::RouteRequest { prefix: Some(host(5)) }]);
    assert_eq!(about(&bench.pass(ms(200)), 5), [(to(2), Some((0, 0)))]);
    bench.receive(2, &[BabelTlv::RouteRequest { prefix: None }]);
    bench.receive(1, &[BabelTlv::RouteRequest { prefix: None }]);
    let said = bench.pass(secs(1));
    let (own, other) = (about(&said, 5), about(&said, 9));
    assert_eq!((own, other), (vec![(Broadcast, Some((0, 0)))], vec![(Broadcast, Some((4, 768)))]), "everything, once");
}

/// Section 3.8.1.2: at the router itself.
#[test]
fn the_router_that_is_asked_makes_one_new_number() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.receive(1, &[seqno_request(5, 0, 64)]);
    assert_eq!(about(&bench.pass(ms(200)), 5), [(to(1), Some((0, 0)))], "what it has is new enough");
    assert_eq!(bench.babel.seqno(), 0);
    bench.receive(1, &[seqno_request(5, 9, 1)]);
    assert_eq!(about(&bench.pass(ms(200)), 5), [(Broadcast, Some((1, 0)))], "by one, however many were asked for");
    assert_eq!(bench.babel.seqno(), 1);
    bench.receive(1, &[BabelTlv::SeqnoRequest { prefix: host(5), seqno: 9, hop_count: 64, router_id: id(4) }]);
    assert_eq!(about(&bench.pass(ms(200)), 5), [(to(1), Some((1, 0)))], "another router is not here any more");
}

/// Section 3.8.1.2: at a node on the path.
#[test]
fn a_request_is_passed_on_and_its_answer_comes_back() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 512));
    bench.pass(secs(2));
    bench.receive(2, &[seqno_request(9, 4, 64)]);
    assert_eq!(about(&bench.pass(ms(200)), 9), [(to(2), Some((4, 768)))], "it has the number");
    bench.receive(2, &[seqno_request(9, 5, 64)]);
    assert_eq!(asked(&bench.pass(ms(200))), [(to(1), host(9), 5, 63)]);
    bench.receive(2, &[seqno_request(9, 5, 64)]);
    assert_eq!(asked(&bench.pass(ms(200))), [], "a short time ago");
    bench.pass(ms(600));
    bench.receive(2, &[seqno_request(9, 5, 64)]);
    assert_eq!(asked(&bench.pass(ms(200))), [(to(1), host(9), 5, 63)], "a repetition after a second");
    bench.advertise(1, update(9, 5, 512));
    assert_eq!(about(&bench.pass(ms(200)), 9), [(Broadcast, Some((5, 768)))], "the answer is urgent");
    bench.receive(2, &[seqno_request(9, 6, 1)]);
    assert_eq!(asked(&bench.pass(secs(1))), [], "no hop is left");
    bench.receive(1, &[seqno_request(9, 6, 64)]);
    assert_eq!(asked(&bench.pass(secs(1))), [], "not to who asks");
    bench.advertise(2, update(9, 5, 9_000));
    bench.pass(secs(1));
    bench.receive(1, &[seqno_request(9, 6, 64)]);
    assert_eq!(asked(&bench.pass(secs(1))), [(to(2), host(9), 6, 63)], "but along any other route");
    bench.receive(1, &[seqno_request(8, 6, 64)]);
    assert_eq!(asked(&bench.pass(secs(1))), [], "it is no way to there");
}

/// Makes node 1 announce a route to node 9 and retract it.
fn lose_the_only_route(bench: &mut Bench) {
    bench.advertise(1, update(9, 4, 100));
    bench.pass(secs(2));
    bench.receive(1, &[BabelTlv::Retraction { prefix: Some(host(9)), interval: 1600 }]);
}

/// Section 3.8.2.1.
#[test]
fn a_node_that_has_lost_its_last_route_asks_for_a_newer_one() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 100));
    bench.pass(secs(2));
    bench.advertise(2, update(9, 4, 600));
    assert_eq!(asked(&bench.pass(secs(1))), [], "the other one is not better");
    bench.receive(1, &[BabelTlv::Retraction { prefix: Some(host(9)), interval: 1600 }]);
    let begun = bench.now;
    let said = bench.pass(secs(60));
    let times: Vec<_> = said
        .iter()
        .filter(|(.., tlv)| matches!(tlv, BabelTlv::SeqnoRequest { .. }))
        .map(|(at, ..)| (*at - begun).as_millis() / 1_000)
        .collect();
    assert_eq!(asked(&said), [(Broadcast, host(9), 5, 64); 4]);
    assert_eq!(times, [0, 2, 6, 14], "again after 2, 4 and 8 s");
    bench.advertise(2, update(9, 5, 600));
    assert_eq!(bench.way(9), Some((2, 856)));
}

/// The same: a request is remembered until the wait after its last repeat is over, which takes as long as all waits
/// before; then nothing wakes the node for it.
#[test]
fn a_request_without_an_answer_is_forgotten_behind_the_last_wait() {
    let mut bench = Bench::with_neighbours([256, 256]);
    lose_the_only_route(&mut bench);
    let begun = bench.now;
    assert_eq!(bench.babel.requests.next(), Some(begun + secs(2)));
    bench.pass(secs(20));
    assert_eq!(bench.babel.requests.next(), Some(begun + secs(32)), "2, 4, 8 and 16 s, and once more 2");
    bench.pass(secs(12));
    assert_eq!(bench.babel.requests.next(), None);
}

/// The same, without repeats.
#[test]
fn a_request_can_be_made_once() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.babel = babel(5, Config { request_repeats: 0, ..HOPS });
    for _ in 0..2 {
        bench.greet(1, 256);
    }
    lose_the_only_route(&mut bench);
    assert_eq!(asked(&bench.pass(secs(60))), [(Broadcast, host(9), 5, 64)]);
}

/// The same, answered.
#[test]
fn an_answer_ends_the_repetitions() {
    let mut bench = Bench::with_neighbours([256, 256]);
    lose_the_only_route(&mut bench);
    assert_eq!(asked(&bench.pass(secs(1))).len(), 1);
    bench.advertise(2, update(9, 5, 600));
    assert_eq!(asked(&bench.pass(secs(40))), []);
}

/// Section 3.8.2.2.
#[test]
fn an_unfeasible_route_that_would_be_better_is_asked_for() {
    let mut bench = Bench::with_neighbours([256, 256]);
    bench.advertise(1, update(9, 4, 100));
    bench.pass(secs(2));
    // The current route becomes worse, with a new number; then the other one is better, but its number is old.
    bench.advertise(1, update(9, 5, 2_000));
    bench.pass(secs(2));
    bench.advertise(2, update(9, 4, 300));
    assert_eq!(bench.way(9), Some((1, 2_256)));
    assert_eq!(asked(&bench.pass(secs(1))), [(to(2), host(9), 6, 64)]);
}
