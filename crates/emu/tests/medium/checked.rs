//! Radios of the kernel that send arbitrary messages, in a world of three nodes. A message is accepted or refused; each
//! frame that is accepted gets one status unless its radio has forgotten it; the kernel can parse all replies. Shared
//! by the test next to it and by the fuzz target in `fuzz/`.
//!
//! An input is a sequence of messages: for each its command, how long the network runs afterwards (in units of 100 us),
//! its length (two bytes), and its attributes.

use fourhop_emu::medium::hwsim::{self, Message};
use fourhop_emu::medium::radios::Radios;
use fourhop_emu::medium::spectrum::{Notice, Spectrum};
use fourhop_live::netlink::attributes;
use fourhop_sim::batch::Control;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::translate;
use fourhop_units::{Dur, Time};
use std::collections::BTreeMap;

const SCENARIO: &str = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 2\nspacing = '200m'\n\
    [[flows]]\nfrom = 'first'\nto = 'last'\ntransport = 'newreno'\n";
const RADIOS: usize = 3;

/// Counts of an input's outcomes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Passed {
    /// Frames accepted by the medium.
    pub taken: u64,
    /// Frames delivered.
    pub delivered: u64,
    /// Messages refused.
    pub refused: u64,
}

/// Lets the radios send `data`.
pub fn exercise(mut data: &[u8]) -> Passed {
    let scenario = load_toml(SCENARIO, "radios", &[]).expect("a scenario");
    let (setup, _) = translate::setup(&scenario, 1, &Control::new()).expect("a network");
    let (mut spectrum, mut radios) = (Spectrum::new(setup, 1, None), Radios::new(RADIOS, BTreeMap::new()));
    let (mut now, mut passed, mut notices, mut statuses) = (Time::ZERO, Passed::default(), Vec::new(), 0);
    while let Some((&[command, pause, high, low], rest)) = data.split_first_chunk() {
        let (message, rest) = rest.split_at(rest.len().min(usize::from(high) << 8 | usize::from(low)));
        data = rest;
        match hwsim::read(command, message) {
            Ok(Message::Sent(sent)) => {
                radios.learn(sent.radio, sent.transmitter());
                if let Some(radio) = radios.meet(sent.radio) {
                    radio.frequency = Some(sent.frequency);
                    let node = radio.node;
                    spectrum.enter(node, &sent, &radios, &mut notices).expect("the network is small");
                }
            }
            Ok(Message::Address { radio, address, gone: false }) => radios.learn(radio, address),
            Ok(Message::Address { radio, address, gone: true }) => radios.forget(radio, address),
            Ok(Message::Gone(number)) => {
                if let Some((radio, _)) = radios.remove(number) {
                    spectrum.forget(radio);
                }
            }
            Ok(Message::New) => {}
            Err(_) => passed.refused += 1,
        }
        now += Dur::from_micros(100 * u64::from(pause));
        spectrum.advance(now, &radios, &mut notices);
        statuses += check(&mut notices);
    }
    while let Some(at) = spectrum.next_event() {
        spectrum.advance(at, &radios, &mut notices);
        statuses += check(&mut notices);
    }
    let counts = spectrum.counts();
    assert_eq!(counts.taken, statuses + counts.forgotten + spectrum.pending() as u64, "each frame has one fate");
    assert_eq!(spectrum.pending(), 0, "nothing waits in silence");
    assert_eq!(statuses, counts.acknowledged + counts.given_up + counts.unanswered);
    Passed { taken: counts.taken, delivered: counts.delivered, ..passed }
}

/// Checks that the kernel can parse all notices; returns the number of statuses.
fn check(notices: &mut Vec<(Time, Notice)>) -> u64 {
    let mut statuses = 0;
    for (_, one) in notices.drain(..) {
        let mut out = Vec::new();
        let expected = match &one {
            Notice::Received { radio, frame, place, signal, frequency } => {
                hwsim::write_received(*radio, frame.bytes(), *place, (*signal, *frequency), &mut out);
                assert!((-200..=60).contains(signal), "{signal} dBm");
                5
            }
            Notice::Status { radio, cookie, flags, tries, signal } => {
                hwsim::write_status(*radio, *cookie, *flags, (tries, *signal), &mut out);
                statuses += 1;
                6
            }
        };
        assert_eq!((attributes(&out).count(), out.len() % 4), (expected, 0));
    }
    statuses
}
