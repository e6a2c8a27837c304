//! Traced packets match the layers' counters in any network, and tracing changes nothing.

use crate::common::{line, udp};
use crate::conservation::network;
use crate::sinr::by_thresholds;
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::node::{self, Ear, Node, Note, Step};
use fourhop_proto::wire::{Frame, Ipv4Packet};
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::Radio;
use fourhop_sim::trace::{Copy, Kind, Recorder, Request, Rows, Sink, Tap, Taps, TxId, WireEnd};
use fourhop_sim::translate;
use fourhop_units::{Bytes, Dur, NodeId, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex};

/// Steps of all packets, as reported by nodes.
#[derive(Default)]
struct Steps {
    steps: BTreeMap<&'static str, u64>,
    dropped: BTreeMap<DropReason, u64>,
    made: BTreeSet<u32>,
    errors: Vec<String>,
    sent: u64,
    ended: u64,
    on_wires: u64,
}

#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Steps>>);

impl Tap for Ledger {
    fn looks_closely(&self) -> bool {
        true
    }

    fn sent(&mut self, _: Time, _: NodeId, _: TxId, _: &Frame) {
        self.0.lock().unwrap().sent += 1;
    }

    fn received(&mut self, _: Time, _: Copy, _: &Frame) {
        self.0.lock().unwrap().ended += 1;
    }

    fn lost(&mut self, _: Time, _: Copy, _: &Frame, _: DropReason) {
        self.0.lock().unwrap().ended += 1;
    }

    fn wired(&mut self, _: Time, _: WireEnd, _: &Ipv4Packet) {
        self.0.lock().unwrap().on_wires += 1;
    }

    fn noted(&mut self, _: Time, node: NodeId, note: &Note) {
        let mut seen = self.0.lock().unwrap();
        let name = match note.step {
            Step::Created | Step::Emitted => "made",
            Step::Queued(_) => "queued",
            Step::Head => "head",
            Step::Failed(_) => "failed",
            Step::Received(_) => "received",
            Step::WireOut(_) => "wire-out",
            Step::WireIn(_) => "wire-in",
            Step::Delivered => "delivered",
            Step::Absorbed => "absorbed",
            Step::Dropped(_) => "dropped",
        };
        *seen.steps.entry(name).or_default() += 1;
        if let Step::Dropped(reason) = note.step {
            *seen.dropped.entry(reason).or_default() += 1;
        }
        let is_new = name == "made" && seen.made.insert(note.number);
        if note.number == 0 || (name == "made") != is_new || !seen.made.contains(&note.number) {
            seen.errors.push(format!("node {node}: {note:?}"));
        }
    }

    fn finish(&mut self, _: Time) -> io::Result<()> {
        Ok(())
    }
}

/// Number of rows of each table, and the most that were written at once.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<(BTreeMap<usize, u64>, usize)>>);

impl Sink for Counted {
    fn write(&mut self, rows: &mut dyn Rows) -> io::Result<()> {
        let (counts, most) = &mut *self.0.lock().unwrap();
        *counts.entry(rows.table()).or_default() += rows.len() as u64;
        *most = (*most).max(rows.len());
        drop(rows.take());
        assert!(rows.is_empty());
        Ok(())
    }

    fn next_part(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a scenario with a ledger and a recorder, and without.
fn check(text: &str, seed: u64) -> Result<(), TestCaseError> {
    let scenario = load_toml(text, "random.toml", &[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let end = Time::ZERO + scenario.duration;
    let (setup, flows) = translate::setup(&scenario, seed, &Control::new()).unwrap();
    let (ledger, counted) = (Ledger::default(), Counted::default());
    let mut taps = Taps::default();
    taps.add(ledger.clone());
    let sink = Box::new(counted.clone());
    let request = Request::all("unused".into());
    taps.add(Recorder::new(&scenario, (&setup, &flows), seed, Kind::Simulated, &request, sink).unwrap());
    let (mut world, _) = setup.build(seed, taps.into_tap()).unwrap();
    let (mut alone, _) = setup.build(seed, None).unwrap();
    for world in [&mut world, &mut alone] {
        world.run_until(end, &Control::new());
    }
    prop_assert_eq!(format!("{:?}", world.accounts()), format!("{:?}", alone.accounts()));
    prop_assert_eq!((world.frames(), world.receptions()), (alone.frames(), alone.receptions()));
    let in_flight: u64 = world.wired().wires().iter().map(|wire| wire.port.queued() as u64).sum();
    world.finish_trace().unwrap();

    let seen = ledger.0.lock().unwrap();
    prop_assert_eq!(&seen.errors, &Vec::<String>::new());
    let step = |name: &str| seen.steps.get(name).copied().unwrap_or(0);
    let dropped =
        |layer: Layer| seen.dropped.iter().filter(|(reason, _)| reason.layer() == layer).map(|of| of.1).sum::<u64>();
    let accounts = world.accounts();
    // Packets that enter IP and leave it.
    let came = step("made") + step("received") + step("failed") + step("wire-in");
    prop_assert_eq!(came, accounts.network.taken);
    let went = step("queued") + step("delivered") + step("wire-out") + dropped(Layer::Wire) + step("absorbed");
    prop_assert_eq!(went, accounts.network.passed);
    for &reason in DropReason::ALL {
        let (here, counted) = (seen.dropped.get(&reason).copied().unwrap_or(0), world.drops().of(reason));
        match reason.layer() {
            Layer::Network | Layer::Wire => prop_assert_eq!(here, counted, "{}", reason.name()),
            // ARP messages are not packets.
            Layer::Link => prop_assert!(here <= counted, "{}", reason.name()),
            Layer::Mac | Layer::Radio => {}
        }
    }
    prop_assert!(step("head") <= accounts.mac.taken && step("head") <= step("queued"));
    prop_assert_eq!(step("wire-out"), step("wire-in") + in_flight);
    // A packet passes both ends, the second one when it arrives.
    prop_assert!((2 * step("wire-in")..=step("wire-in") + step("wire-out")).contains(&seen.on_wires));
    // Rows are written as they are noted.
    let (counts, _) = &*counted.0.lock().unwrap();
    let rows = |table: usize| counts.get(&table).copied().unwrap_or(0);
    prop_assert_eq!((rows(0), rows(1)), (world.frames(), world.receptions()));
    prop_assert_eq!((seen.sent, seen.ended), (world.frames(), world.receptions()));
    let seen: u64 = seen.steps.values().sum();
    prop_assert!((seen..=seen + accounts.mac.passed).contains(&rows(3)), "the MAC's part is noted by nobody");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_nodes_note_is_what_their_layers_count(text in network(), seed in 0u64..1000) {
        check(&text, seed)
            .map_err(|error| TestCaseError::fail(format!("{error}\nseed {seed} of this scenario:\n{text}")))?;
    }
}

/// Memory for rows is bounded, however many frames there are: here some hundred thousand.
#[test]
fn rows_do_not_gather_in_memory() {
    let text = "profile = 'ns2'\nduration = '60s'\n[topology]\nkind = 'grid'\nrows = 5\ncolumns = 5\n[routing]\n\
        protocol = 'static'\n\
                [traffic]\npairs = 5\ntransport = 'newreno'\n";
    let scenario = load_toml(text, "grid.toml", &[]).unwrap();
    let (setup, flows) = translate::setup(&scenario, 1, &Control::new()).unwrap();
    let counted = Counted::default();
    let request = Request::all("unused".into());
    let sink = Box::new(counted.clone());
    let recorder = Recorder::new(&scenario, (&setup, &flows), 1, Kind::Simulated, &request, sink).unwrap();
    let (mut world, _) = setup.build(1, Some(Box::new(recorder))).unwrap();
    world.run_until(Time::ZERO + scenario.duration, &Control::new());
    world.finish_trace().unwrap();
    let (counts, most) = &*counted.0.lock().unwrap();
    assert!(counts[&1] > 500_000, "{counts:?}");
    assert!(*most < (1 << 16) + 1000, "{most}");
}

/// When frames began, and after each event whether the receiver of a station was on a frame.
#[derive(Default)]
struct Shown {
    begun: Vec<Time>,
    states: Vec<(Time, u32, bool)>,
}

#[derive(Clone, Default)]
struct Receivers(Arc<Mutex<Shown>>);

impl Tap for Receivers {
    fn sent(&mut self, now: Time, _: NodeId, _: TxId, _: &Frame) {
        self.0.lock().unwrap().begun.push(now);
    }

    fn received(&mut self, _: Time, _: Copy, _: &Frame) {}

    fn ear(&mut self, now: Time, node: NodeId, _: &Ear, receiving: bool) {
        self.0.lock().unwrap().states.push((now, node.0, receiving));
    }

    fn node(&mut self, now: Time, id: NodeId, _: &Node, _: &Ear, receiving: bool) {
        self.0.lock().unwrap().states.push((now, id.0, receiving));
    }

    fn finish(&mut self, _: Time) -> io::Result<()> {
        Ok(())
    }
}

/// While a frame is on the air, a node that can decode it receives, and a node that merely senses it does not.
#[test]
fn a_tap_sees_which_receivers_are_on_a_frame() {
    let mut setup = line(node::Config::standard(), &[0.0, 200.0, 400.0]);
    setup.flows.push(udp(0, 1, Time::from_secs(1), Dur::from_secs(9)));
    setup.node.mac.rts_threshold = Bytes(3_000);
    let sinr = Radio::Sinr(Box::new(by_thresholds(&setup.node.phy)));
    for radio in [setup.radio.clone(), sinr] {
        setup.radio = radio;
        let seen = Receivers::default();
        let (mut world, _) = setup.build(1, Some(Box::new(seen.clone()))).unwrap();
        world.run_until(Time::from_secs(2), &Control::new());
        let Shown { begun, states } = &*seen.0.lock().unwrap();
        let &[data, _acknowledgement] = &begun[..] else { panic!("{begun:?}") };
        let receiving = |node: u32, at: Time| {
            let before = states.iter().rev().find(|&&(when, whose, _)| when <= at && whose == node);
            before.is_some_and(|&(.., receiving)| receiving)
        };
        // The datagram takes milliseconds.
        let (during, after) = (data + Dur::from_millis(1), Time::from_secs(2));
        assert_eq!([0, 1, 2].map(|node| receiving(node, during)), [false, true, false], "{:?}", setup.radio);
        assert_eq!([0, 1, 2].map(|node| receiving(node, after)), [false; 3], "{:?}", setup.radio);
    }
}
