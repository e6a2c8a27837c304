//! All ways to process copies give the same result.

use super::*;
use crate::drop::Layer;
use crate::mac::backoff::Backoff;
use crate::wire::FrameKind;
use fourhop_units::{Dur, Purpose, Rate, Stream};
use proptest::prelude::*;

#[test]
fn the_reasons_of_the_radio_come_first() {
    let radio = |reason: &DropReason| reason.layer() == Layer::Radio;
    assert!(DropReason::ALL[..REASONS].iter().all(radio) && !DropReason::ALL[REASONS..].iter().any(radio));
}

#[test]
fn an_ear_is_three_cache_lines() {
    assert!(size_of::<Receiver>() <= 64 && size_of::<Medium>() <= 64);
    assert_eq!(size_of::<Ear>(), 192);
}

/// A receiver is locked on a frame from its first bit to its last, and never on one that is too weak for it.
#[test]
fn it_receives_while_a_frame_lasts_that_is_strong_enough() {
    let config = phy::Config::standard();
    let rules = Rules::new(config, &mac::Config::standard());
    let frame = Frame {
        dst: NodeId(0).mac(),
        src: NodeId(1).mac(),
        duration: Dur::ZERO,
        rate: Rate::kbps(1_000),
        airtime: Dur::from_micros(300),
        kind: FrameKind::Cts,
    };
    for (power, receives) in [(Watt(3.652e-9), true), (Watt(3.652e-13), false)] {
        let mut ear = Ear::new();
        assert!(!ear.is_receiving());
        let radiated = Radiated::new(NodeId(1), &frame);
        let copy = radiated.copy(Time::ZERO, power, true);
        let _ = ear.handle_arrival::<Configured>(Time::ZERO, copy, &frame, None, &rules);
        assert_eq!(ear.is_receiving(), receives);
        ear.catch_up(Time::from_secs(1), None, &rules.medium);
        assert!(!ear.is_receiving());
    }
}

/// A frame of 300 us that no station here must answer.
fn overheard(src: u32) -> Frame {
    Frame {
        dst: NodeId(9).mac(),
        src: NodeId(src).mac(),
        duration: Dur::ZERO,
        rate: Rate::kbps(1_000),
        airtime: Dur::from_micros(300),
        kind: FrameKind::Cts,
    }
}

/// An ear with a back-off of ten slots for a packet, after a reservation by others up to `nav`.
fn waiting(nav: Time, rules: &Rules) -> Ear {
    let mut ear = Ear::new();
    ear.medium.handle_good_frame(Time::ZERO, nav, false, &rules.medium);
    ear.medium.replace_backoff(Some(Backoff::drawn(Time::ZERO, 10, 0)));
    ear.medium.want_access(true);
    ear
}

/// Almost all copies find an idle node: for them the fast path is open. A running back-off closes it, so that its slots
/// are counted. Where the end of a received frame may end a wait (EIFS: IEEE 802.11-2020, clause 10.3.2.3.7), so does
/// one that does not run.
#[test]
fn a_lone_copy_is_soon_done_unless_a_back_off_must_know() {
    let ns2 = Rules::new(phy::Config::ns2(), &mac::Config::ns2());
    let standard = Rules::new(phy::Config::standard(), &mac::Config::standard());
    let frame = overheard(1);
    let radiated = Radiated::new(NodeId(1), &frame);
    let now = Time::from_millis(1);
    let (past, ahead) = (Time::ZERO, Time::from_millis(2));
    for (rules, nav, soon) in [
        (&ns2, None, true),
        (&standard, None, true),
        (&ns2, Some(past), false),
        (&standard, Some(past), false),
        (&ns2, Some(ahead), true),
        (&standard, Some(ahead), false),
    ] {
        let mut ear = nav.map_or_else(Ear::new, |nav| waiting(nav, rules));
        assert_eq!(ear.arrives_alone::<Configured>(now, Watt(3.652e-9), false, &radiated, rules), soon, "{nav:?}");
        assert_eq!(ear.is_receiving(), soon);
    }
}

/// A collision may last longer or shorter than the driver had assumed: it asks again when the wait of a packet ends, if
/// there is one.
#[test]
fn a_collision_may_move_the_access_that_a_packet_waits_for() {
    let rules = Rules::new(phy::Config::ns2(), &mac::Config::ns2());
    for waits in [true, false] {
        let mut ear = if waits { waiting(Time::ZERO, &rules) } else { Ear::new() };
        assert_eq!(ear.awaits_access(), waits);
        let begun = [1, 2].map(|src| {
            let (now, frame) = (Time::from_micros(10 * u64::from(src)), overheard(src));
            let copy = Radiated::new(NodeId(src), &frame).copy(now, Watt(3.652e-9), false);
            ear.handle_arrival::<Configured>(now, copy, &frame, None, &rules)
        });
        assert_eq!(begun, [Begun::Unnoticed, if waits { Begun::Sooner } else { Begun::Unnoticed }]);
    }
}

/// The end of a frame leaves the medium quiet, so that the node's next action, such as an answer, sees it idle; but not
/// while another frame is on the air whose end is the next event of the same instant.
#[test]
fn the_medium_is_quiet_at_the_end_of_a_frame_unless_another_one_ends_next() {
    let rules = Rules::new(phy::Config::standard(), &mac::Config::standard());
    let end = Time::from_micros(300);
    for (others, busy) in [(&[][..], false), (&[2], true)] {
        let mut ear = Ear::new();
        for (src, power) in [(1, 3.652e-8)].into_iter().chain(others.iter().map(|&src| (src, 3.652e-10))) {
            let frame = overheard(src);
            let copy = Radiated::new(NodeId(src), &frame).copy(Time::ZERO, Watt(power), false);
            let _ = ear.handle_arrival::<Configured>(Time::ZERO, copy, &frame, None, &rules);
        }
        assert_eq!(ear.handle_departure(end, NodeId(1), &overheard(1), false, None, &rules), Heard::Overheard);
        assert_eq!(ear.medium().is_busy(), busy, "{others:?}");
        ear.catch_up(end, None, &rules.medium);
        assert!(!ear.medium().is_busy());
    }
}

/// A copy: microseconds of silence before it, length, power relative to the reception threshold, duration field, RTS.
type Drawn = (u64, u64, f64, u64, bool);

fn copies() -> impl Strategy<Value = Vec<Drawn>> {
    proptest::collection::vec((0u64..60, 30u64..130, 0.05f64..40.0, 0u64..300, any::<bool>()), 1..40)
}

/// How an ear is driven.
#[derive(Clone, Copy, Default)]
struct Way {
    /// With this radio's receiver instead of its own.
    sinr: Option<sinr::Config>,
    /// It evaluates every end between copies.
    watchful: bool,
    /// [`Ear::arrives_alone`] is never tried.
    thorough: bool,
    /// A back-off of this many slots runs from the beginning, for a packet if true; `None` slots: an immediate access.
    backoff: Option<(Option<u32>, bool)>,
}

/// Drives an ear through all of `copies`; returns its observable state at the end.
fn heard<P: Preset>(copies: &[Drawn], rules: &Rules, way: Way) -> String {
    assert!(rules.fit::<P>());
    let Way { sinr, watchful, thorough, backoff } = way;
    let mut receiver = sinr.map(|config| sinr::Receiver::new(config, Stream::new(1, NodeId(0), Purpose::Channel)));
    let mut ear = if sinr.is_some() { Ear::without_receiver() } else { Ear::new() };
    if let Some((slots, wanted)) = backoff {
        match slots {
            Some(slots) => {
                ear.medium.replace_backoff(Some(Backoff::drawn(Time::ZERO, slots, 0)));
            }
            None => assert!(!ear.medium.request_access(Time::ZERO, true, 0, &rules.medium)),
        }
        ear.medium.want_access(wanted);
    }
    let (mut now, mut ends, mut begun) = (Time::ZERO, Vec::new(), Vec::new());
    for (n, &(silence, length, strength, duration, rts)) in (0u32..).zip(copies) {
        now += Dur::from_micros(silence);
        ends.sort_unstable();
        for end in ends.iter().copied().take_while(|&end| watchful && end <= now) {
            ear.catch_up(end, receiver.as_mut(), &rules.medium);
        }
        ends.retain(|&end| end > now);
        let frame = Frame {
            dst: NodeId(n % 3).mac(),
            src: NodeId(1).mac(),
            duration: Dur::from_micros(duration),
            rate: Rate::kbps(1_000),
            airtime: Dur::from_micros(length),
            kind: if rts { FrameKind::Rts } else { FrameKind::Cts },
        };
        let (power, for_us) = (Watt(3.652e-10 * strength), n % 3 == 0);
        let radiated = Radiated::new(NodeId(n), &frame);
        let copy = radiated.copy(now, power, for_us);
        ends.push(copy.end);
        let shortly = receiver.is_none() && !thorough;
        let effect = match shortly && ear.arrives_alone::<P>(now, power, for_us, &radiated, rules) {
            true => Begun::Unnoticed,
            false => ear.handle_arrival::<P>(now, copy, &frame, receiver.as_mut(), rules),
        };
        if effect == Begun::AccessLost {
            ear.medium.replace_backoff(Some(Backoff::drawn(now, 20, 0)));
        }
        begun.push((effect, ear.access_timeout(&rules.medium)));
    }
    now += Dur::from_millis(1);
    ear.catch_up(now, receiver.as_mut(), &rules.medium);
    format!("{:?} {} {:?} {begun:?}", ear.medium, ear.received, ear.drops(now))
}

proptest! {
    /// It does not matter when an ear looks at what has ended.
    #[test]
    fn late_is_as_good_as_in_time(copies in copies(), options in any::<(bool, bool, bool, bool, bool)>()) {
        let (late_capture, lock_on_undecodable, energy_detection, nav_reset, ends_eifs) = options;
        let phy = phy::Config { late_capture, lock_on_undecodable, energy_detection, ..phy::Config::ns2() };
        let mac = mac::Config { nav_reset, eifs_ended_by_good_frame: ends_eifs, ..mac::Config::ns2() };
        let rules = Rules::new(phy, &mac);
        let in_time = Way { watchful: true, ..Way::default() };
        prop_assert_eq!(
            heard::<Configured>(&copies, &rules, Way::default()),
            heard::<Configured>(&copies, &rules, in_time)
        );
        let sinr = sinr::Config {
            phy: phy::PhyKind::Dsss,
            plcp: Dur::from_micros(20),
            width: phy::mcs::Width::Mhz20,
            noise: Watt(1e-10),
            implementation_loss: 1.0,
            errors: sinr::Errors::ByRate,
            sensitivity: Watt(0.0),
            preamble_sinr: 1.0,
            capture: if late_capture { sinr::FrameCapture::Any } else { sinr::FrameCapture::Preamble },
            capture_ratio: 10.0,
            cca_energy: Watt(if lock_on_undecodable { 1e-9 } else { 1e-7 }),
            cca_preamble: energy_detection,
        };
        prop_assert_eq!(
            heard::<Configured>(&copies, &rules, Way { sinr: Some(sinr), ..Way::default() }),
            heard::<Configured>(&copies, &rules, Way { sinr: Some(sinr), ..in_time })
        );
    }

    /// Nor whether a copy is overheard shortly or handled in full, nor what is known of the options beforehand.
    #[test]
    fn short_is_as_good_as_thorough(
        copies in copies(),
        backoff in prop::option::of((prop::option::of(0u32..100), any::<bool>())),
        capture_nav in any::<bool>(),
    ) {
        let way = Way { backoff, ..Way::default() };
        for standard in [false, true] {
            let (phy, mac) = match standard {
                false => (phy::Config::ns2(), mac::Config::ns2()),
                true => (phy::Config::standard(), mac::Config::standard()),
            };
            let rules = Rules::new(phy, &mac::Config { capture_nav, ..mac });
            let known = if standard { Known::Standard } else { Known::Ns2 };
            prop_assert_eq!(rules.known(), known);
            let thorough = heard::<Configured>(&copies, &rules, Way { thorough: true, ..way });
            prop_assert_eq!(&thorough, &heard::<Configured>(&copies, &rules, way));
            match known {
                Known::Standard => prop_assert_eq!(&thorough, &heard::<Standard>(&copies, &rules, way)),
                _ => prop_assert_eq!(&thorough, &heard::<Ns2>(&copies, &rules, way)),
            }
        }
    }

    /// The same for options unknown at compile time, with EDCA's boundaries among them.
    #[test]
    fn short_is_as_good_with_any_options(
        copies in copies(),
        backoff in prop::option::of((prop::option::of(0u32..100), any::<bool>())),
        options in any::<[bool; 6]>(),
        edca in any::<bool>(),
    ) {
        let [late_capture, lock_on_undecodable, energy_detection, nav_reset, ends_eifs, eifs] = options;
        let phy = phy::Config { late_capture, lock_on_undecodable, energy_detection, ..phy::Config::ns2() };
        let edca = edca.then(|| mac::edca::Config::standard(phy::PhyKind::Dsss));
        let mac = mac::Config {
            nav_reset, eifs_ended_by_good_frame: ends_eifs, eifs_on_undecodable: eifs, edca, ..mac::Config::ns2()
        };
        let rules = Rules::new(phy, &mac);
        let way = Way { backoff, ..Way::default() };
        let thorough = heard::<Configured>(&copies, &rules, Way { thorough: true, ..way });
        prop_assert_eq!(thorough, heard::<Configured>(&copies, &rules, way));
    }
}
