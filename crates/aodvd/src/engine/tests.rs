//! Nodes in isolation, with datagrams passed by the test.

use super::*;
use fourhop_proto::wire::{EchoMessage, Rerr, Rrep, Rreq, UnreachableDestination};
use fourhop_units::{NodeId, Purpose};

const CLOCK: u64 = 1_000_000;

fn ip(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}

fn engine(n: u8, more: &str) -> Engine {
    let text = format!("address = '10.0.0.{n}'\ninterfaces = ['a', 'b']\nmesh = ['10.0.0.0/24']\n{more}");
    let config = Config::parse(&text).unwrap();
    let numbers = Some(Numbers { seqno: 10, rreq_id: 1, stamp: 0 });
    let jitter = Stream::new(1, NodeId(u32::from(n)), Purpose::RoutingJitter);
    Engine::new(config, None, numbers, jitter)
}

fn bytes(message: &AodvMessage) -> Vec<u8> {
    let mut payload = Vec::new();
    encode::aodv(message, &mut payload);
    payload
}

fn arrival(from: u8, to: Ipv4Addr) -> Arrival {
    Arrival { interface: 0, from: ip(from), to, ttl: 5, strength: None }
}

fn rreq(originator: Ipv4Addr, seqno: u32, id: u32, destination: Ipv4Addr) -> AodvMessage {
    AodvMessage::Rreq(Rreq {
        hop_count: 0,
        rreq_id: id,
        destination,
        destination_seqno: None,
        originator,
        originator_seqno: seqno,
        destination_only: false,
        gratuitous: false,
        cost: None,
    })
}

fn hello(n: u8) -> AodvMessage {
    AodvMessage::Rrep(Rrep {
        hop_count: 0,
        destination: ip(n),
        destination_seqno: 7,
        originator: ip(n),
        lifetime_ms: 2_000,
        ack_required: false,
        cost: None,
    })
}

fn hear(engine: &mut Engine, now: Time, arrival: Arrival, message: &AodvMessage) -> (Result<(), Refusal>, Vec<Task>) {
    let mut out = Vec::new();
    let done = engine.handle_datagram(now, CLOCK, arrival, &bytes(message), &mut out);
    (done, out)
}

fn sent(tasks: &[Task]) -> Vec<(AodvMessage, Option<Interface>, Ipv4Addr)> {
    let datagrams = tasks.iter().filter_map(|task| if let Task::Send(datagram) = task { Some(datagram) } else { None });
    datagrams.map(|one| (decode::aodv(&one.payload).unwrap(), one.interface, one.to)).collect()
}

fn packet(src: Ipv4Addr, dst: Ipv4Addr) -> Ipv4Packet {
    let body = Body::Echo(EchoMessage { reply: false, ident: 7, number: 1, payload: 56 });
    Ipv4Packet { src, dst, ttl: 63, ident: 1, dscp: 0, body, meta: PacketMeta::default() }
}

const AT: Time = Time::from_secs(1);

#[test]
fn a_caught_packet_waits_for_its_route_and_leaves_by_the_interface_of_its_neighbour() {
    let mut node = engine(1, "");
    let mut out = Vec::new();
    node.handle_caught(AT, CLOCK, packet(ip(1), ip(2)), true, &mut out);
    let [(AodvMessage::Rreq(asked), None, Ipv4Addr::BROADCAST)] = sent(&out)[..] else { panic!("{out:?}") };
    assert_eq!((asked.destination, asked.originator_seqno), (ip(2), 11));
    let reply = AodvMessage::Rrep(Rrep {
        hop_count: 0,
        originator: ip(1),
        lifetime_ms: 6_000,
        ..match hello(2) {
            AodvMessage::Rrep(rrep) => rrep,
            _ => unreachable!(),
        }
    });
    let (done, out) = hear(&mut node, AT, Arrival { interface: 1, ..arrival(2, ip(1)) }, &reply);
    assert_eq!(done, Ok(()));
    let up = Task::Up { destination: ip(2), next_hop: ip(2), interface: 1 };
    assert_eq!(out, [up, Task::Release { packet: packet(ip(1), ip(2)), interface: 1 }]);
}

#[test]
fn a_packet_of_another_without_a_route_makes_an_error_and_one_from_nowhere_nothing() {
    let mut node = engine(1, "");
    let mut out = Vec::new();
    node.handle_caught(AT, CLOCK, packet(ip(3), ip(2)), false, &mut out);
    assert!(matches!(&sent(&out)[..], [(AodvMessage::Rerr(_), None, _)]), "{out:?}");
    out.clear();
    for dst in [[192, 0, 2, 1].into(), Ipv4Addr::BROADCAST, [224, 0, 0, 1].into()] {
        node.handle_caught(AT, CLOCK, packet(ip(1), dst), true, &mut out);
    }
    assert!(sent(&out).is_empty() && out.len() == 3, "{out:?}");
}

#[test]
fn a_gateway_searches_for_nodes_that_are_asked_for_from_outside() {
    let mut node = engine(1, "announce = ['192.0.2.0/24']");
    let mut out = Vec::new();
    node.handle_caught(AT, CLOCK, packet([192, 0, 2, 9].into(), ip(2)), false, &mut out);
    assert!(matches!(&sent(&out)[..], [(AodvMessage::Rreq(asked), ..)] if asked.destination == ip(2)), "{out:?}");
    let (_, out) = hear(&mut node, AT, arrival(3, Ipv4Addr::BROADCAST), &rreq(ip(3), 5, 1, [192, 0, 2, 9].into()));
    let reply = sent(&out).into_iter().find(|(message, ..)| matches!(message, AodvMessage::Rrep(_)));
    assert!(matches!(reply, Some((_, Some(0), to)) if to == ip(3)), "{out:?}");
}

#[test]
fn forged_and_malformed_messages_are_counted_and_change_nothing() {
    let mut node = engine(1, "[limits]\nseqno_step = 100");
    let all = Ipv4Addr::BROADCAST;
    assert!(hear(&mut node, AT, arrival(2, all), &rreq(ip(2), 5, 1, ip(1))).0.is_ok());
    let before: Vec<_> = node.aodv().routes().cloned().collect();
    let stranger = Arrival { from: [192, 0, 2, 1].into(), ..arrival(2, all) };
    for (expected, arrival, message) in [
        (Refusal::OwnAddress, arrival(1, all), hello(1)),
        (Refusal::Stranger, stranger, hello(2)),
        (Refusal::Impostor, arrival(2, all), rreq(ip(1), 4_000, 9, ip(3))),
        (Refusal::NumberJump, arrival(2, all), rreq(ip(2), 5 + 101, 9, ip(3))),
        (Refusal::ForeignTarget, arrival(2, all), rreq(ip(2), 6, 9, [192, 0, 2, 1].into())),
    ] {
        let (done, out) = hear(&mut node, AT, arrival, &message);
        assert_eq!(done, Err(expected), "{message:?}");
        assert!(out.is_empty());
    }
    let mut out = Vec::new();
    assert_eq!(node.handle_datagram(AT, CLOCK, arrival(2, all), &[9, 9], &mut out), Err(Refusal::Malformed));
    assert_eq!(node.aodv().routes().cloned().collect::<Vec<_>>(), before);
    assert_eq!(node.refusals().values().sum::<u64>(), 6);
    assert_eq!(node.numbers().seqno, 10);
}

/// A request that asks for `seqno` of its destination.
fn asking(originator: Ipv4Addr, number: u32, destination: Ipv4Addr, seqno: u32) -> AodvMessage {
    let AodvMessage::Rreq(asked) = rreq(originator, number, number, destination) else { unreachable!() };
    AodvMessage::Rreq(Rreq { destination_seqno: Some(seqno), ..asked })
}

/// The sender may be honest, and have believed a forger.
#[test]
fn a_request_that_asks_for_an_impossible_number_is_taken_to_ask_for_none() {
    let mut node = engine(1, "[limits]\nseqno_step = 100");
    let all = Ipv4Addr::BROADCAST;
    let cases = [(10 + 100, 110), (110 + 101, 110), (110_u32.wrapping_sub(101), 110)];
    for (number, (seqno, own)) in (6..).zip(cases) {
        let (done, out) = hear(&mut node, AT, arrival(2, all), &asking(ip(2), number, ip(1), seqno));
        assert_eq!((done, node.refusals().len()), (Ok(()), 0));
        let [.., (AodvMessage::Rrep(answer), ..)] = &sent(&out)[..] else { panic!("{out:?}") };
        assert_eq!((answer.destination_seqno, node.numbers().seqno), (own, own), "{seqno}");
    }
    // A relay with a route answers with the number that it knows.
    let mut relay = engine(3, "[limits]\nseqno_step = 100");
    assert_eq!(hear(&mut relay, AT, arrival(1, ip(3)), &reply(ip(1), 10, 0)).0, Ok(()));
    let (done, out) = hear(&mut relay, AT, arrival(2, all), &asking(ip(2), 6, ip(1), 10 + 101));
    assert_eq!(done, Ok(()));
    let [(AodvMessage::Rrep(answer), Some(0), _), ..] = &sent(&out)[..] else { panic!("{out:?}") };
    assert_eq!((answer.destination, answer.destination_seqno), (ip(1), 10));
}

/// The forger is heard before the node whose name it uses.
#[test]
fn a_forged_number_does_not_outlast_its_route() {
    // Its break raises the number by one.
    for (first, answer, believed) in [(3_000_000, 10, true), (10 + 100, 10, true), (10 + 99, 10, false)] {
        let mut node = engine(1, "[limits]\nseqno_step = 100");
        assert_eq!(hear(&mut node, AT, arrival(2, ip(1)), &reply(ip(9), first, 1)).0, Ok(()));
        // As long as the route is there, the true number is an old one.
        let (done, out) = hear(&mut node, AT, arrival(8, ip(1)), &reply(ip(9), answer, 1));
        assert_eq!((done, node.routes().get(&ip(9))), (Ok(()), Some(&(ip(2), 0))), "{out:?}");
        let (later, mut out) = (AT + Dur::from_secs(2), Vec::new());
        node.handle_failure(later, CLOCK, ip(2), DropReason::DataRetryLimit, &mut out);
        node.handle_caught(later, CLOCK, packet(ip(1), ip(9)), true, &mut out);
        let (done, out) = hear(&mut node, later, arrival(8, ip(1)), &reply(ip(9), answer, 1));
        let route = believed.then_some((ip(8), 0));
        assert_eq!((done, node.routes().get(&ip(9)).copied()), (Ok(()), route), "{first}: {out:?}");
        if first - answer > 100 {
            // From then on the forger's number is the one that is impossible.
            let again = hear(&mut node, later, arrival(2, ip(1)), &reply(ip(9), first, 1)).0;
            assert_eq!(again, Err(Refusal::NumberJump));
        }
    }
}

/// Nor does one that is far behind, which would make the true one a jump.
#[test]
fn a_number_far_behind_does_not_outlast_its_route_either() {
    let mut node = engine(1, "[limits]\nseqno_step = 100");
    let behind = 10_u32.wrapping_sub(101);
    assert_eq!(hear(&mut node, AT, arrival(8, ip(1)), &reply(ip(9), 10, 1)).0, Ok(()));
    assert_eq!(hear(&mut node, AT, arrival(2, ip(1)), &reply(ip(9), behind, 1)).0, Ok(()));
    assert_eq!(node.routes().get(&ip(9)), Some(&(ip(8), 0)), "old, beside a route");
    let mut out = Vec::new();
    let later = AT + Dur::from_secs(2);
    node.handle_failure(later, CLOCK, ip(8), DropReason::DataRetryLimit, &mut out);
    assert_eq!(hear(&mut node, later, arrival(2, ip(1)), &reply(ip(9), behind, 1)).0, Ok(()));
    assert_eq!(node.routes().get(&ip(9)), Some(&(ip(2), 0)), "believed");
    node.handle_failure(later, CLOCK, ip(2), DropReason::DataRetryLimit, &mut out);
    assert_eq!(hear(&mut node, later, arrival(8, ip(1)), &reply(ip(9), 10, 1)).0, Ok(()));
    assert_eq!(node.routes().get(&ip(9)), Some(&(ip(8), 0)));
}

#[test]
fn a_flood_is_cut_to_its_rate_and_leaves_others_theirs() {
    let mut node = engine(1, "[limits]\nrate = 50\noriginator_rate = 10\nneighbours = 4");
    let all = Ipv4Addr::BROADCAST;
    let mut taken = 0;
    for n in 0..1_000 {
        taken += u32::from(hear(&mut node, AT, arrival(2, all), &rreq(ip(2), 5 + n, n, ip(9))).0.is_ok());
    }
    assert_eq!(taken, 20, "two seconds' worth of its originator");
    assert_eq!(hear(&mut node, AT, arrival(3, all), &rreq(ip(3), 5, 1, ip(9))).0, Ok(()));
    let refusals = node.refusals();
    assert!(refusals[&Refusal::Flood] == 80 && refusals[&Refusal::TooFast] == 900, "{refusals:?}");
    // Invented sources do not fill a table.
    for n in 10..200 {
        let _ = hear(&mut node, AT, arrival(n, all), &hello(n));
    }
    assert!(node.neighbours().len() <= 4);
}

/// A thousand requests per second, each from an unknown source and originator.
#[test]
fn a_flood_of_invented_sources_displaces_no_neighbour_and_is_not_passed_on_faster_than_one_may_send() {
    let mut node = engine(1, "[limits]\nneighbours = 16");
    let all = Ipv4Addr::BROADCAST;
    let mut state = 1_u32;
    let mut invented = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        20 + (state >> 24) as u8 % 230
    };
    let mut relayed = 0;
    for ms in 0..10_000 {
        let now = AT + Dur::from_millis(ms);
        if ms % 1_000 == 0 {
            for n in [2, 3] {
                let number = 7 + ms as u32 / 1_000;
                assert_eq!(hear(&mut node, now, arrival(n, all), &hello(n)).0, Ok(()), "at {ms} ms");
                assert_eq!(hear(&mut node, now, arrival(n, all), &rreq(ip(n), number, number, ip(1))).0, Ok(()));
            }
        }
        let (source, originator) = (invented(), invented());
        let (_, out) = hear(&mut node, now, arrival(source, all), &rreq(ip(originator), ms as u32, ms as u32, ip(9)));
        relayed += sent(&out).iter().filter(|(message, ..)| matches!(message, AodvMessage::Rreq(_))).count();
        let mut out = Vec::new();
        node.handle_timeout(now, CLOCK, &mut out);
        relayed += sent(&out).iter().filter(|(message, ..)| matches!(message, AodvMessage::Rreq(_))).count();
        assert!(node.neighbours().len() <= 16);
    }
    for n in [2, 3] {
        assert_eq!(node.neighbours()[&ip(n)].messages, 20, "every message of the neighbours was let in");
    }
    assert!((50..=200 + 100 * 10).contains(&relayed), "{relayed}");
}

/// Without authentication AODV believes a forged reply; the damage is limited because the next search replaces it.
#[test]
fn a_forged_reply_holds_until_its_route_breaks_and_the_next_search_finds_the_true_one() {
    let [mut node, mut target] = [1, 9].map(|n| engine(n, "[limits]\nseqno_step = 100"));
    let forged = |seqno, originator: Ipv4Addr| {
        let AodvMessage::Rrep(rrep) = hello(9) else { unreachable!() };
        AodvMessage::Rrep(Rrep { destination_seqno: seqno, originator, ..rrep })
    };
    assert_eq!(hear(&mut node, AT, arrival(9, Ipv4Addr::BROADCAST), &hello(9)).0, Ok(()));
    assert_eq!(hear(&mut node, AT, arrival(2, ip(1)), &forged(7 + 101, ip(1))).0, Err(Refusal::NumberJump));
    // About this node itself, and broadcast in another node's name: both are ignored.
    let AodvMessage::Rrep(own) = forged(50, ip(1)) else { unreachable!() };
    let own = AodvMessage::Rrep(Rrep { destination: ip(1), ..own });
    let (_, out) = hear(&mut node, AT, arrival(2, ip(1)), &own);
    assert_eq!(
        out,
        [Task::Up { destination: ip(2), next_hop: ip(2), interface: 0 }],
        "that it is a neighbour, no more"
    );
    assert!(hear(&mut node, AT, arrival(2, Ipv4Addr::BROADCAST), &forged(60, ip(9))).1.is_empty());
    assert_eq!((node.routes().get(&ip(9)), node.numbers().seqno), (Some(&(ip(9), 0)), 10));
    let (_, out) = hear(&mut node, AT, arrival(2, ip(1)), &forged(7 + 100, ip(1)));
    assert_eq!(out, [Task::Up { destination: ip(9), next_hop: ip(2), interface: 0 }], "believed");
    // The route leads nowhere: the forger is silent, and the link to it breaks.
    let mut out = Vec::new();
    let later = AT + Dur::from_secs(2);
    node.handle_failure(later, CLOCK, ip(2), DropReason::DataRetryLimit, &mut out);
    assert!(out.contains(&Task::Down { destination: ip(9) }), "{out:?}");
    out.clear();
    node.handle_caught(later, CLOCK, packet(ip(1), ip(9)), true, &mut out);
    let [(asked, ..)] = &sent(&out)[..] else { panic!("{out:?}") };
    let (done, out) = hear(&mut target, later, arrival(1, Ipv4Addr::BROADCAST), asked);
    assert_eq!(done, Ok(()), "a number within the step is no jump for the destination either");
    let [(answer, _, to)] = &sent(&out)[..] else { panic!("{out:?}") };
    assert_eq!(*to, ip(1));
    let (_, out) = hear(&mut node, later, arrival(9, ip(1)), answer);
    assert_eq!(out[0], Task::Up { destination: ip(9), next_hop: ip(9), interface: 0 });
}

#[test]
fn a_neighbour_that_falls_silent_at_one_interface_is_reached_by_the_other_with_its_routes() {
    let mut node = engine(1, "");
    let all = Ipv4Addr::BROADCAST;
    assert!(hear(&mut node, AT, arrival(2, all), &hello(2)).0.is_ok());
    let other = Arrival { interface: 1, ..arrival(2, all) };
    let (_, out) = hear(&mut node, AT + Dur::from_millis(900), other, &hello(2));
    assert!(out.is_empty() && node.neighbours()[&ip(2)].interface == 0, "it stays where it is heard");
    let (_, out) = hear(&mut node, AT + Dur::from_millis(2_100), other, &hello(2));
    assert!(out.contains(&Task::Up { destination: ip(2), next_hop: ip(2), interface: 1 }), "{out:?}");
    assert_eq!(node.next_hops(1).into_iter().collect::<Vec<_>>(), [ip(2)]);
    assert!(node.leads_over(ip(2)) && !node.leads_over(ip(3)));
}

#[test]
fn without_its_numbers_it_keeps_quiet_for_delete_period() {
    let config = Config::parse("address = '10.0.0.1'\ninterfaces = ['a']\nmesh = ['10.0.0.0/24']").unwrap();
    let jitter = Stream::new(1, NodeId(1), Purpose::RoutingJitter);
    let mut node = Engine::new(config, None, None, jitter);
    let all = Ipv4Addr::BROADCAST;
    let (_, out) = hear(&mut node, AT, arrival(2, all), &rreq(ip(2), 5, 1, ip(1)));
    assert!(sent(&out).is_empty() && node.is_quiet(AT) && node.kept_back == 1);
    assert!(out.contains(&Task::Up { destination: ip(2), next_hop: ip(2), interface: 0 }), "but it learns");
    // A packet sent through it causes an error, and the wait starts again.
    let mut out = Vec::new();
    let late = Time::from_secs(14);
    node.handle_caught(late, CLOCK, packet(ip(2), ip(3)), false, &mut out);
    assert!(matches!(&sent(&out)[..], [(AodvMessage::Rerr(_), ..)]));
    assert!(node.is_quiet(Time::from_secs(28)) && !node.is_quiet(Time::from_secs(29)));
    let (_, out) = hear(&mut node, Time::from_secs(29), arrival(2, all), &rreq(ip(2), 6, 2, ip(1)));
    assert_eq!(sent(&out).len(), 1);
}

#[test]
fn messages_are_signed_and_others_refused() {
    let keys = "[authentication]\nsign_with = 1\nkeys = [{ id = 1, file = '/nonexistent' }]";
    let make = |n: u8, require: bool| {
        let text =
            format!("address = '10.0.0.{n}'\ninterfaces = ['a']\nmesh = ['10.0.0.0/24']\n{keys}\nrequire = {require}");
        let secret = Keys::one(1, b"a shared secret of thirty-two by");
        let jitter = Stream::new(1, NodeId(u32::from(n)), Purpose::RoutingJitter);
        let numbers = Some(Numbers { seqno: 10, rreq_id: 1, stamp: 0 });
        Engine::new(Config::parse(&text).unwrap(), Some(secret), numbers, jitter)
    };
    let [mut one, mut two] = [make(1, true), make(2, true)];
    let mut out = Vec::new();
    one.handle_caught(AT, CLOCK, packet(ip(1), ip(2)), true, &mut out);
    let Task::Send(asked) = out.remove(0) else { panic!() };
    let came = Arrival { interface: 0, from: ip(1), to: asked.to, ttl: asked.ttl, strength: None };
    assert_eq!(two.handle_datagram(AT, CLOCK, came, &asked.payload, &mut out), Ok(()));
    assert_eq!(sent(&out).len(), 1, "it answers");
    out.clear();
    let again = two.handle_datagram(AT, CLOCK, came, &asked.payload, &mut out);
    assert_eq!(again, Err(Refusal::Replayed));
    let plain = hear(&mut two, AT, arrival(3, Ipv4Addr::BROADCAST), &hello(3));
    assert_eq!(plain.0, Err(Refusal::Unauthenticated));
    let mut tolerant = make(4, false);
    assert_eq!(hear(&mut tolerant, AT, arrival(3, Ipv4Addr::BROADCAST), &hello(3)).0, Ok(()));
    let mut changed = asked.payload.clone();
    changed[3] ^= 1;
    assert_eq!(tolerant.handle_datagram(AT, CLOCK, came, &changed, &mut out), Err(Refusal::Unauthenticated));
}

/// A router that lost power has kept its numbers, but its clock starts in the past, and its neighbours remember it.
#[test]
fn a_clock_that_goes_back_repeats_no_time_unless_clocks_agree() {
    let make = |more: &str, stamp: u64| {
        let keys = format!("sign_with = 1\nkeys = [{{ id = 1, file = '/nonexistent' }}]\n{more}");
        let text =
            format!("address = '10.0.0.1'\ninterfaces = ['a']\nmesh = ['10.0.0.0/24']\n[authentication]\n{keys}");
        let config = Config::parse(&text).unwrap();
        let within = config.authentication.as_ref().unwrap().clocks_within.map(|_| 5);
        let mut secret = Keys::one(1, b"a shared secret of thirty-two by");
        secret.within = within;
        let numbers = Some(Numbers { seqno: 10, rreq_id: 1, stamp });
        Engine::new(config, Some(secret), numbers, Stream::new(1, NodeId(1), Purpose::RoutingJitter))
    };
    let ask = |node: &mut Engine, clock: u64| {
        let mut out = Vec::new();
        node.handle_caught(AT, clock, packet(ip(1), ip(2)), true, &mut out);
        assert_eq!(sent(&out).len(), 1);
        node.numbers().stamp
    };
    assert_eq!(ask(&mut make("", 9 * CLOCK), CLOCK), 9 * CLOCK + 1);
    assert_eq!(ask(&mut make("", 9 * CLOCK), 10 * CLOCK), 10 * CLOCK);
    assert_eq!(ask(&mut make("clocks_within = '5s'", 9 * CLOCK), CLOCK), CLOCK);
}

fn rerr(lost: Ipv4Addr, seqno: u32) -> AodvMessage {
    AodvMessage::Rerr(Rerr { no_delete: false, unreachable: vec![UnreachableDestination { addr: lost, seqno }] })
}

/// A reply of a neighbour to this node, about a destination `hops` beyond it.
fn reply(destination: Ipv4Addr, seqno: u32, hops: u8) -> AodvMessage {
    let AodvMessage::Rrep(rrep) = hello(0) else { unreachable!() };
    let hop_count = hops;
    let rrep = Rrep { hop_count, destination, destination_seqno: seqno, originator: ip(1), lifetime_ms: 6_000, ..rrep };
    AodvMessage::Rrep(rrep)
}

#[test]
fn what_is_said_of_foreign_addresses_or_jumps_is_refused_in_every_message() {
    let mut node = engine(1, "[limits]\nseqno_step = 100");
    let (all, foreign) = (Ipv4Addr::BROADCAST, Ipv4Addr::new(192, 0, 2, 1));
    assert_eq!(hear(&mut node, AT, arrival(2, ip(1)), &reply(ip(9), 7, 1)).0, Ok(()));
    let AodvMessage::Rrep(for_others) = reply(ip(9), 7, 1) else { unreachable!() };
    let for_others = AodvMessage::Rrep(Rrep { originator: foreign, ..for_others });
    for (expected, message) in [
        (Err(Refusal::ForeignTarget), reply(foreign, 7, 1)),
        (Err(Refusal::ForeignTarget), for_others),
        (Err(Refusal::ForeignTarget), rreq(foreign, 5, 1, ip(1))),
        (Err(Refusal::ForeignTarget), rerr(foreign, 8)),
        (Err(Refusal::NumberJump), rerr(ip(9), 7 + 101)),
        (Err(Refusal::NumberJump), rreq(ip(9), 7 + 101, 1, ip(3))),
        (Ok(()), rreq(ip(9), 7 + 100, 2, ip(3))),
        // Older numbers are AODV's business, however old.
        (Ok(()), rreq(ip(9), 7_u32.wrapping_sub(200), 3, ip(3))),
        // There is no jump without a known number, such as the neighbour's.
        (Ok(()), rreq(ip(2), 4_000, 4, ip(3))),
        // An own request that returns is not an impostor's, unless its number was never reached.
        (Ok(()), rreq(ip(1), 10, 5, ip(3))),
        (Err(Refusal::Impostor), rreq(ip(1), 11, 6, ip(3))),
        (Ok(()), AodvMessage::RrepAck),
    ] {
        assert_eq!(hear(&mut node, AT, arrival(2, all), &message).0, expected, "{message:?}");
    }
}

#[test]
fn an_address_behind_a_gateway_is_no_neighbour_even_in_a_network_of_the_mesh() {
    let mut node = engine(1, "announce = ['10.0.0.128/25']");
    assert_eq!(hear(&mut node, AT, arrival(200, ip(1)), &AodvMessage::RrepAck).0, Err(Refusal::Stranger));
    assert_eq!(hear(&mut node, AT, arrival(100, ip(1)), &AodvMessage::RrepAck).0, Ok(()));
}

#[test]
fn a_search_that_nobody_answers_is_repeated_and_its_packet_lost_in_the_end() {
    let mut node = engine(1, "[hello]\nenabled = false");
    assert_eq!((node.next_timeout(), node.numbers()), (None, Numbers { seqno: 10, rreq_id: 1, stamp: 0 }));
    let mut out = Vec::new();
    node.handle_caught(AT, CLOCK, packet(ip(1), ip(2)), true, &mut out);
    assert_eq!(node.numbers(), Numbers { seqno: 11, rreq_id: 2, stamp: 0 });
    let first = node.next_timeout().unwrap();
    assert!(first > AT);
    node.handle_timeout(first, CLOCK, &mut out);
    let asked: Vec<_> = sent(&out);
    let [(AodvMessage::Rreq(one), ..), (AodvMessage::Rreq(two), ..)] = &asked[..] else { panic!("{out:?}") };
    assert_eq!((one.rreq_id + 1, one.destination), (two.rreq_id, two.destination));
    for _ in 0..100 {
        let Some(at) = node.next_timeout().filter(|&at| at < Time::from_secs(60)) else { break };
        node.handle_timeout(at, CLOCK, &mut out);
    }
    let lost: Vec<_> = out.iter().filter(|task| matches!(task, Task::Lost { .. })).collect();
    let reason = DropReason::DiscoveryFailed;
    assert_eq!(lost, [&Task::Lost { packet: packet(ip(1), ip(2)), reason }]);
}

#[test]
fn traffic_of_the_kernel_keeps_its_route_alive() {
    let mut node = engine(1, "[hello]\nenabled = false");
    assert_eq!(hear(&mut node, AT, arrival(2, ip(1)), &reply(ip(9), 7, 1)).0, Ok(()));
    let expires = |node: &Engine| node.aodv().route(ip(9)).unwrap().expires;
    assert_eq!(expires(&node), AT + Dur::from_secs(6));
    // ACTIVE_ROUTE_TIMEOUT of RFC 3561 section 10.
    let later = AT + Dur::from_secs(5);
    node.handle_used(later, ip(9), ip(1), None);
    assert_eq!(expires(&node), later + Dur::from_secs(3));
    node.handle_used(later + Dur::from_secs(1), ip(8), ip(1), None);
    assert_eq!(expires(&node), later + Dur::from_secs(3), "that of another destination does not");
}

#[test]
fn a_weak_neighbour_is_shown_and_not_routed_over() {
    let mut node = engine(1, "[signal]\nsource = 'emulator'\nemulator = '/x'\nthreshold = '-80dBm'");
    for (n, strength) in [(2, -90.0), (3, -60.0)] {
        let arrival = Arrival { strength: Some(Dbm(strength)), ..arrival(n, Ipv4Addr::BROADCAST) };
        assert_eq!(hear(&mut node, AT, arrival, &hello(n)).0, Ok(()));
    }
    let signal = |n: u8| node.signal(ip(n)).map(|signal| (signal.smoothed.0, signal.stable));
    assert_eq!([2, 3, 4].map(signal), [Some((-90.0, false)), Some((-60.0, true)), None]);
    assert_eq!(node.routes().keys().collect::<Vec<_>>(), [&ip(3)]);
    assert_eq!(node.neighbours()[&ip(2)].strength, Some(Dbm(-90.0)));
    assert_eq!(node.next_hops(0), [ip(3)].into());
    assert!(node.next_hops(1).is_empty());
}

#[test]
fn an_interface_is_left_only_after_the_lifetime_of_a_neighbour() {
    // Two HELLOs may be lost; without HELLOs ACTIVE_ROUTE_TIMEOUT counts.
    for (more, lifetime) in [("", 2), ("[hello]\nenabled = false", 3)] {
        let mut node = engine(1, more);
        let first = Arrival { strength: Some(Dbm(-50.0)), ..arrival(2, ip(1)) };
        let other = Arrival { interface: 1, strength: Some(Dbm(-70.0)), ..first };
        assert_eq!(hear(&mut node, AT, first, &AodvMessage::RrepAck).0, Ok(()));
        let mut hear_there = |now| {
            assert_eq!(hear(&mut node, now, other, &AodvMessage::RrepAck).0, Ok(()));
            let neighbour = &node.neighbours()[&ip(2)];
            (neighbour.interface, neighbour.heard, neighbour.strength, neighbour.messages)
        };
        let end = AT + Dur::from_secs(lifetime);
        assert_eq!(hear_there(end), (0, AT, Some(Dbm(-50.0)), 2), "{more}");
        let late = end + Dur::from_nanos(1);
        assert_eq!(hear_there(late), (1, late, Some(Dbm(-70.0)), 3), "{more}");
    }
}

#[test]
fn a_full_table_of_neighbours_forgets_who_was_hardly_heard_and_nobody_that_a_route_leads_over() {
    let mut node = engine(1, "[limits]\nneighbours = 3");
    let mut say = |n: u8, ms: u64, message: &AodvMessage| {
        let done = hear(&mut node, AT + Dur::from_millis(ms), arrival(n, ip(1)), message).0;
        (done, node.neighbours().keys().map(|address| address.octets()[3]).collect::<Vec<_>>())
    };
    let ack = AodvMessage::RrepAck;
    // Node 2 is heard three times and proves itself; node 3 only twice, though later.
    for (n, ms) in [(2, 0), (2, 1), (2, 2), (3, 3), (3, 4), (4, 5), (4, 6), (4, 7)] {
        assert_eq!(say(n, ms, &ack).0, Ok(()));
    }
    assert_eq!(say(5, 8, &ack), (Ok(()), vec![2, 4, 5]));
    for ms in 9..11 {
        say(5, ms, &ack).0.unwrap();
    }
    assert_eq!(say(6, 12, &ack), (Ok(()), vec![4, 5, 6]), "then who has been silent longest");
    // HELLOs create routes.
    say(4, 13, &hello(4)).0.unwrap();
    assert_eq!(say(7, 14, &ack), (Ok(()), vec![4, 5, 7]), "node 6 was hardly heard");
    for n in [5, 7] {
        say(n, 15, &hello(n)).0.unwrap();
    }
    assert_eq!(say(8, 16, &ack), (Err(Refusal::TooFast), vec![4, 5, 7]));
}

#[test]
fn new_neighbours_together_have_the_rate_of_one() {
    let mut node = engine(1, "[limits]\nrate = 1");
    let mut say = |n: u8, ms: u64| hear(&mut node, Time::from_millis(ms), arrival(n, ip(1)), &AodvMessage::RrepAck).0;
    assert_eq!([say(2, 0), say(3, 0), say(4, 0)], [Ok(()), Ok(()), Err(Refusal::TooFast)]);
    assert_eq!([say(2, 0), say(2, 0)], [Ok(()), Err(Refusal::TooFast)], "one that is known has its own");
    assert_eq!([say(4, 1_000), say(5, 1_000)], [Ok(()), Err(Refusal::TooFast)]);
}

#[test]
fn only_a_route_from_before_makes_the_wait_of_a_start_begin_anew() {
    let make = |more: &str| {
        let text = format!("address = '10.0.0.1'\ninterfaces = ['a']\nmesh = ['10.0.0.0/24']\n{more}");
        let jitter = Stream::new(1, NodeId(1), Purpose::RoutingJitter);
        Engine::new(Config::parse(&text).unwrap(), None, None, jitter)
    };
    let mut node = make("announce = ['192.0.2.0/24']");
    let end = Time::from_secs(15);
    let mut out = Vec::new();
    assert_eq!(node.aodv().config().delete_period(), Dur::from_secs(15));
    node.handle_caught(AT, CLOCK, packet(ip(1), ip(2)), true, &mut out);
    node.handle_caught(AT, CLOCK, packet([192, 0, 2, 9].into(), ip(3)), false, &mut out);
    assert!(node.is_quiet(end - Dur::from_nanos(1)) && !node.is_quiet(end));
    assert!(node.kept_back > 0 && sent(&out).is_empty(), "own packets, and those that enter the mesh here");
    node.handle_caught(end, CLOCK, packet(ip(3), ip(4)), false, &mut out);
    assert!(!node.is_quiet(end), "it is over");
    assert!(!make("[routing]\nreboot_wait = false").is_quiet(Time::ZERO));
}

#[test]
fn packets_with_a_route_are_released_with_the_time_to_live_that_is_left() {
    let mut node = engine(1, "announce = ['192.0.2.0/24']");
    let other = Arrival { interface: 1, ..arrival(2, Ipv4Addr::BROADCAST) };
    assert_eq!(hear(&mut node, AT, other, &hello(2)).0, Ok(()));
    for (src, own) in [(ip(1), true), (ip(3), false), ([192, 0, 2, 9].into(), false)] {
        // The kernel has decremented the time to live of those that it forwards.
        let mut out = Vec::new();
        node.handle_caught(AT, CLOCK, packet(src, ip(2)), own, &mut out);
        assert_eq!(out, [Task::Release { packet: packet(src, ip(2)), interface: 1 }], "{src}");
    }
    let mut out = Vec::new();
    let last = Ipv4Packet { ttl: 1, ..packet(ip(3), ip(2)) };
    node.handle_caught(AT, CLOCK, last.clone(), false, &mut out);
    assert_eq!(out, [Task::Release { packet: last, interface: 1 }], "the neighbour is the last hop");
}

#[test]
fn no_route_is_searched_for_to_what_no_host_has() {
    let mut node = engine(1, "outside = ['0.0.0.0/0']");
    for (first, host) in [(0, false), (1, true), (126, true), (127, false), (128, true), (223, true), (224, false)] {
        let mut out = Vec::new();
        node.handle_caught(AT, CLOCK, packet(ip(1), [first, 9, 9, 9].into()), true, &mut out);
        assert_eq!(!matches!(out[..], [Task::Lost { .. }]), host, "{first}.9.9.9: {out:?}");
    }
}
