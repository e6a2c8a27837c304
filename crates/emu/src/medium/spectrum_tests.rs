//! Tests of radios without a kernel.

use super::*;
use crate::medium::radios::Radios;
use crate::members::members;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::translate;
use fourhop_units::Dur;

/// Three radios of 802.11b in a row: neighbours hear each other.
fn chain() -> (Spectrum, Radios) {
    chain_with(&[])
}

/// As above, with other keys in the scenario.
fn chain_with(keys: &[&str]) -> (Spectrum, Radios) {
    let (spectrum, radios, _) = network(keys, None);
    (spectrum, radios)
}

/// As above, with its nodes and with captures.
fn network(keys: &[&str], captures: Option<Captures>) -> (Spectrum, Radios, Vec<Member>) {
    let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    let scenario = load_toml(SCENARIO, "chain", &keys).unwrap();
    let (setup, _) = translate::setup(&scenario, 1, &Control::new()).unwrap();
    let mut radios = Radios::new(setup.positions.len(), BTreeMap::new());
    for number in 0..3 {
        radios.learn(radio(number), interface(number));
        radios.meet(radio(number)).unwrap().frequency = Some(2412);
    }
    let members = members(&scenario, &setup).unwrap();
    (Spectrum::new(setup, 1, captures), radios, members)
}

const SCENARIO: &str = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 2\nspacing = '200m'\n\
    [radio]\ncs_threshold = '-64.4dBm'\n[[flows]]\nfrom = 'first'\nto = 'last'\ntransport = 'newreno'\n";

fn radio(number: u8) -> Address {
    [0x42, 0, 0, 0, number, 0]
}

fn interface(number: u8) -> Address {
    [2, 0, 0, 0, number, 0]
}

/// A data frame of `len` bytes with FCS.
fn data(to: Address, from: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len - 4];
    bytes[0] = 0x08;
    bytes[4..10].copy_from_slice(&to);
    bytes[10..16].copy_from_slice(&interface(from));
    bytes
}

/// A frame with rates given as index at 2.4 GHz, number of tries, and flags.
fn sent<'a>(from: u8, bytes: &'a [u8], rates: &[(i8, u8, u16)], cookie: u64) -> Sent<'a> {
    let one = |n: usize| rates.get(n).map_or(Try::NONE, |&(index, count, flags)| Try { index, count, flags });
    Sent { radio: radio(from), bytes, flags: 0, tries: std::array::from_fn(one), cookie, frequency: 2412 }
}

/// All notices until nothing more happens, each with its time in microseconds.
fn carry(spectrum: &mut Spectrum, radios: &Radios) -> Vec<(u64, String)> {
    let mut notices = Vec::new();
    while let Some(at) = spectrum.next_event() {
        spectrum.advance(at, radios, &mut notices);
    }
    notices.into_iter().map(|(at, one)| (at.as_nanos() / 1_000, text(&one))).collect()
}

fn text(one: &Notice) -> String {
    match one {
        Notice::Received { radio, frame, place, frequency, .. } => {
            format!("{} receives {} at {place} on {frequency}", radio[4], frame.number())
        }
        Notice::Status { cookie, flags, tries, .. } => {
            let counts: Vec<_> = tries.iter().filter(|one| one.index >= 0).map(|one| one.count).collect();
            format!("{cookie} {} {counts:?}", if flags & ACKNOWLEDGED == 0 { "lost" } else { "acknowledged" })
        }
    }
}

//   DIFS 50 | 192 + 4 * 1000 at 2 Mbit/s | SIFS 10 | ACK 304, and 0.7 us each way; medium idle for longer: no back-off
#[test]
fn a_frame_takes_its_air_time_and_is_reported_to_both() {
    let (mut spectrum, radios) = chain();
    let bytes = data(interface(1), 0, 1_000);
    let mut notices = Vec::new();
    spectrum.advance(Time::ZERO + Dur::from_millis(5), &radios, &mut notices);
    spectrum.enter(NodeId(0), &sent(0, &bytes, &[(1, 3, 0)], 77), &radios, &mut notices).unwrap();
    assert!(notices.is_empty() && spectrum.pending() == 1);
    let notices = carry(&mut spectrum, &radios);
    let names: Vec<_> = notices.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(names, ["1 receives 0 at 1 on 2412", "77 acknowledged [1]"]);
    let (received, done) = (notices[0].0, notices[1].0);
    let waited = (received - 5_000 - 192 - 4_000) % 20;
    assert!(waited == 10 || waited == 0, "slots and at most DIFS before it: {received}");
    assert_eq!(done - received, 10 + 192 + 112 + 1, "SIFS, ACK at 1 Mbit/s, the way back");
    assert_eq!((spectrum.pending(), spectrum.counts().delivered), (0, 1));
}

#[test]
fn nobody_answers_for_a_radio_that_is_far_away_elsewhere_or_unknown() {
    let (mut spectrum, mut radios) = chain();
    let mut notices = Vec::new();
    // Two hops away, or an address that nobody has.
    for (cookie, to) in [(1, interface(2)), (2, [2, 9, 9, 9, 9, 9])] {
        let bytes = data(to, 0, 200);
        spectrum.enter(NodeId(0), &sent(0, &bytes, &[(3, 2, 0), (0, 3, 1)], cookie), &radios, &mut notices).unwrap();
        let texts: Vec<_> = carry(&mut spectrum, &radios).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, [format!("{cookie} lost [2, 3]")]);
    }
    radios.meet(radio(1)).unwrap().frequency = Some(2437);
    let bytes = data(interface(1), 0, 200);
    spectrum.enter(NodeId(0), &sent(0, &bytes, &[(3, 1, 0)], 3), &radios, &mut notices).unwrap();
    let texts: Vec<_> = carry(&mut spectrum, &radios).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["3 lost [1]"], "it listens on another channel");
    assert_eq!(spectrum.counts().given_up, 3);
}

#[test]
fn what_is_for_all_reaches_neighbours_on_its_channel_alone() {
    let (mut spectrum, radios) = chain();
    let bytes = data([255; 6], 1, 100);
    let mut notices = Vec::new();
    spectrum.enter(NodeId(1), &sent(1, &bytes, &[(0, 1, 0)], 5), &radios, &mut notices).unwrap();
    let other = Sent { frequency: 2462, cookie: 6, ..sent(0, &bytes, &[(0, 1, 0)], 0) };
    spectrum.enter(NodeId(0), &other, &radios, &mut notices).unwrap();
    let mut texts: Vec<_> = carry(&mut spectrum, &radios).into_iter().map(|(_, text)| text).collect();
    texts.sort();
    let expected = ["0 receives 0 at 0 on 2412", "1 receives 1 at 0 on 2462", "2 receives 0 at 0 on 2412"];
    assert_eq!(texts, [&expected[..], &["5 lost [1]", "6 lost [1]"]].concat(), "nobody acknowledges them");
    assert_eq!((spectrum.counts().unanswered, spectrum.counts().given_up), (2, 0));
    assert_eq!(spectrum.frames(), BTreeMap::from([(2412, 1), (2462, 1)]));
}

#[test]
fn with_edca_voice_overtakes_what_waits() {
    let (mut spectrum, radios) = chain_with(&["mac.edca=true"]);
    let mut notices = Vec::new();
    let mut bytes = data(interface(1), 0, 1_000);
    bytes[0] = 0x88;
    for (cookie, tid) in (0..20).map(|cookie| (cookie, 1)).chain([(99, 6)]) {
        bytes[24] = tid;
        spectrum.enter(NodeId(0), &sent(0, &bytes, &[(0, 3, 0)], cookie), &radios, &mut notices).unwrap();
    }
    let texts: Vec<_> = carry(&mut spectrum, &radios).into_iter().map(|(_, text)| text).collect();
    let statuses: Vec<_> = texts.iter().filter(|text| text.contains("acknowledged")).collect();
    assert_eq!(statuses.len(), 21, "{texts:?}");
    let place = statuses.iter().position(|text| text.starts_with("99 ")).unwrap();
    assert!(place < 2, "{statuses:?}");
}

#[test]
fn beacons_of_one_instant_do_not_all_collide() {
    let (mut spectrum, radios) = chain();
    let mut notices = Vec::new();
    let mut bytes = data([255; 6], 0, 100);
    bytes[0] = 0x80;
    for round in 0..50 {
        for from in [0, 1] {
            let beacon = sent(from, &bytes, &[(0, 1, 0)], 2 * round + u64::from(from));
            spectrum.enter(NodeId(from.into()), &beacon, &radios, &mut notices).unwrap();
        }
        carry(&mut spectrum, &radios);
    }
    // Nodes 0 and 2 hear node 1, node 1 hears node 0: 150 without collisions.
    assert!((120..=150).contains(&spectrum.counts().delivered), "{:?}", spectrum.counts());
    assert_eq!(spectrum.counts().unanswered, 100);
}

#[test]
fn beacons_every_tenth_of_a_second_reach_all_neighbours_on_a_clock() {
    let (mut spectrum, radios) = chain_with(&["radio.cs_threshold=-78dBm"]);
    let mut notices = Vec::new();
    let mut bytes = data([255; 6], 0, 100);
    bytes[0] = 0x80;
    let mut now = Time::ZERO;
    for round in 0..50 {
        for from in [0, 1, 2] {
            let beacon = sent(from, &bytes, &[(0, 1, 0)], 3 * round + u64::from(from));
            spectrum.enter(NodeId(from.into()), &beacon, &radios, &mut notices).unwrap();
        }
        for _ in 0..1_024 {
            now += Dur::from_micros(100);
            spectrum.advance(now, &radios, &mut notices);
        }
    }
    let drops: Vec<_> = spectrum.channels.values().map(|channel| format!("{:?}", channel.world.drops())).collect();
    assert!((160..=200).contains(&spectrum.counts().delivered), "{:?} {drops:?}", spectrum.counts());
}

#[test]
fn rates_that_the_scenario_lacks_fail_at_once() {
    let (mut spectrum, radios) = chain();
    let mut notices = Vec::new();
    let bytes = data(interface(1), 0, 200);
    // 54 Mbit/s, an MCS.
    spectrum.enter(NodeId(0), &sent(0, &bytes, &[(11, 4, 0), (2, 1, 8)], 1), &radios, &mut notices).unwrap();
    let texts: Vec<_> = notices.drain(..).map(|(_, one)| text(&one)).collect();
    assert_eq!(texts, ["1 lost [4, 1]"]);
    spectrum.enter(NodeId(0), &sent(0, &bytes, &[(11, 2, 0), (3, 1, 0)], 2), &radios, &mut notices).unwrap();
    assert_eq!(carry(&mut spectrum, &radios).last().unwrap().1, "2 acknowledged [2, 1]");
    assert_eq!(spectrum.counts().tries_uncarried, BTreeMap::from([(0, 1), (54_000, 6)]));
    assert_eq!((spectrum.counts().uncarried, spectrum.counts().acknowledged), (1, 1));
}

#[test]
fn like_hwsim_a_radio_forgets_the_oldest_of_a_hundred() {
    let (mut spectrum, radios) = chain();
    let mut notices = Vec::new();
    let bytes = data(interface(1), 0, 100);
    for cookie in 0..101 {
        spectrum.enter(NodeId(0), &sent(0, &bytes, &[(3, 7, 0)], cookie), &radios, &mut notices).unwrap();
    }
    assert_eq!((spectrum.pending(), spectrum.counts().forgotten), (KEPT + 1, 51));
    let texts: Vec<_> = carry(&mut spectrum, &radios).into_iter().map(|(_, text)| text).collect();
    let notices = |cookie: u64| texts.iter().any(|text| text.starts_with(&format!("{cookie} ack")));
    assert!(!notices(0) && !notices(50) && notices(51) && notices(100));
    assert_eq!(spectrum.counts().acknowledged, 50);
}

#[test]
fn a_change_counts_on_all_channels_from_then_on() {
    let (mut spectrum, mut radios, members) = network(&[], None);
    let mut fate = |spectrum: &mut Spectrum, frequency, cookie| {
        let bytes = data(interface(1), 0, 200);
        for number in [0, 1] {
            radios.meet(radio(number)).unwrap().frequency = Some(frequency);
        }
        let frame = Sent { frequency, ..sent(0, &bytes, &[(3, 1, 0)], cookie) };
        spectrum.enter(NodeId(0), &frame, &radios, &mut Vec::new()).unwrap();
        carry(spectrum, &radios).pop().unwrap().1
    };
    assert_eq!(fate(&mut spectrum, 2412, 1), "1 acknowledged [1]");
    let far = |node: &str, loss| Request {
        node: node.to_owned(),
        losses: vec![("n1".to_owned(), loss)],
        ..Request::default()
    };
    spectrum.change(&far("n0", 150.0), &members).unwrap();
    assert_eq!(fate(&mut spectrum, 2412, 2), "2 lost [1]");
    assert_eq!(fate(&mut spectrum, 2462, 3), "3 lost [1]", "the channel is made after the change");
    spectrum.change(&far("n0", 70.0), &members).unwrap();
    assert_eq!(fate(&mut spectrum, 2412, 4), "4 acknowledged [1]");
    assert_eq!(fate(&mut spectrum, 2462, 5), "5 acknowledged [1]");
    let refused = spectrum.change(&far("n7", 70.0), &members).unwrap_err();
    assert_eq!(refused, "found \"n7\", allowed: nodes with radios");
}

#[test]
fn frames_of_a_radio_that_went_are_forgotten() {
    let (mut spectrum, mut radios) = chain();
    let bytes = data(interface(1), 0, 1_000);
    for cookie in 0..10 {
        spectrum.enter(NodeId(0), &sent(0, &bytes, &[(3, 1, 0)], cookie), &radios, &mut Vec::new()).unwrap();
    }
    let (address, gone) = radios.remove(0).unwrap();
    spectrum.forget(address);
    assert_eq!((gone.node, spectrum.pending(), spectrum.counts().abandoned), (NodeId(0), 0, 10));
    let texts: Vec<_> = carry(&mut spectrum, &radios).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["1 receives 0 at 3 on 2412"], "it was on the air");
    let fates: u64 = spectrum.counts().fates().iter().map(|(_, count)| count).sum();
    assert_eq!(fates, spectrum.counts().taken);
}

#[test]
fn captures_have_every_attempt_and_the_addresses_of_interfaces() {
    let folder = std::env::temp_dir().join(format!("fourhop-captures-{}", std::process::id()));
    let captures = Captures::new(folder.clone(), ["n0", "n1", "n2"].map(str::to_owned).to_vec());
    let (mut spectrum, radios, _) = network(&[], Some(captures));
    let body: Vec<u8> = (0..100).collect();
    for (cookie, to) in [(1, interface(1)), (2, [2, 9, 9, 9, 9, 9])] {
        let mut bytes = data(to, 0, 128);
        bytes[24..].copy_from_slice(&body);
        spectrum.enter(NodeId(0), &sent(0, &bytes, &[(3, 3, 0)], cookie), &radios, &mut Vec::new()).unwrap();
        carry(&mut spectrum, &radios);
    }
    spectrum.finish().unwrap();
    let written = std::fs::read(folder.join("2412").join("capture.pcapng")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let count = |wanted: &[u8]| written.windows(wanted.len()).filter(|found| *found == wanted).count();
    // Node 0 sends once and then three times; node 1 hears all of it.
    assert_eq!(count(&body), 2 * (1 + 3));
    let header = |first: u8, retry: u8, to: Address| [&[first, retry, 0, 0][..], &to, &interface(0)].concat();
    let unanswered = |retry| count(&header(0x08, retry, [2, 9, 9, 9, 9, 9]));
    assert_eq!((unanswered(0), unanswered(0x08)), (2, 4), "two of three have the flag of repeats");
    let acknowledgement = [&[0xd4, 0, 0, 0][..], &interface(0)].concat();
    assert_eq!(count(&acknowledgement), 3, "node 1 sends it, the others hear it");
}

#[test]
fn the_kernel_gets_strengths_in_whole_dbm() {
    assert_eq!([-71.4, -71.6].map(|power| dbm(Dbm(power).to_watt())), [-71, -72]);
    assert_eq!(dbm(Watt(0.0)), SILENCE);
}
