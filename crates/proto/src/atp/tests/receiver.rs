//! Packet scripts of a receiver.

use super::{CONFIG, FIRST, data, feedback, ms};
use crate::atp::Receiver;
use crate::atp::receiver::Outcome;
use crate::wire::{AtpData, AtpFeedback};
use fourhop_units::Seq;

/// The receiver's feedback up to `until`, each with its millisecond.
fn fed_back(receiver: &mut Receiver, until: u64) -> Vec<(u64, AtpFeedback)> {
    let mut all = Vec::new();
    while let Some(at) = receiver.next_timeout().filter(|&at| at <= ms(until)) {
        let Outcome { delivered: 0, feedback } = receiver.handle_timeout(at) else { panic!("time delivers nothing") };
        all.extend(feedback.map(|feedback| (at.saturating_since(ms(0)).as_millis(), *feedback)));
    }
    all
}

#[test]
fn it_feeds_back_once_in_an_epoch_what_has_come_and_how_long_it_took() {
    let mut receiver = Receiver::new(CONFIG);
    for (at, place, expected) in [(0, 0, 1_000), (300, 1, 1_000), (600, 3, 0), (700, 5, 0), (900, 6, 0)] {
        let outcome = receiver.handle_data(ms(at), &data(place as u32, place, 40));
        assert_eq!(outcome, Outcome { delivered: expected, feedback: None }, "packet {place}");
    }
    let mut expected = feedback(0, 40, 2, &[(1, 2), (3, 5)], 6);
    expected.waited_us = 100_000;
    assert_eq!(fed_back(&mut receiver, 1_000), [(1_000, expected)]);
    // A packet that fills the first gap is delivered together with those that waited behind it.
    assert_eq!(receiver.handle_data(ms(1_100), &data(7, 2, 40)).delivered, 2_000);
    assert_eq!(receiver.handle_data(ms(1_100), &data(8, 4, 40)).delivered, 3_000);
}

#[test]
fn what_comes_again_is_delivered_once() {
    let mut receiver = Receiver::new(CONFIG);
    let delivered: u64 =
        [0, 0, 2, 2, 1, 1, 2, 0].iter().map(|&place| receiver.handle_data(ms(1), &data(0, place, 1)).delivered).sum();
    assert_eq!(delivered, 3_000);
}

#[test]
fn a_probe_is_answered_at_once_with_its_own_delay() {
    let mut receiver = Receiver::new(CONFIG);
    receiver.handle_data(ms(0), &data(0, 0, 40));
    let outcome = receiver.handle_data(ms(500), &AtpData { asks: true, ..data(1, 1, 80) });
    assert_eq!(outcome, Outcome { delivered: 1_000, feedback: Some(Box::new(feedback(0, 80, 2, &[], 1))) });
    assert_eq!(receiver.next_timeout(), Some(ms(1_500)), "the next epoch begins with the answer");
}

/// 40 ms, then 80 ms, with weight 3/4 for the old value: 50 ms.
#[test]
fn delays_are_averaged() {
    let mut receiver = Receiver::new(CONFIG);
    receiver.handle_data(ms(0), &data(0, 0, 40));
    receiver.handle_data(ms(500), &data(1, 1, 80));
    assert_eq!(fed_back(&mut receiver, 1_000)[0].1.delay_us, 50_000);
}

#[test]
fn it_falls_silent_after_three_epochs_without_data_and_begins_again_with_the_next() {
    let mut receiver = Receiver::new(CONFIG);
    receiver.handle_data(ms(500), &data(0, 0, 40));
    let times: Vec<_> = fed_back(&mut receiver, 100_000).iter().map(|(at, feedback)| (*at, feedback.number)).collect();
    let expected = [1_500, 2_500, 3_500].into_iter().zip((0..).map(Seq::from_wire));
    assert_eq!(times, expected.collect::<Vec<_>>());
    assert_eq!(receiver.next_timeout(), None);
    receiver.handle_data(ms(60_000), &data(1, 1, 40));
    assert_eq!(receiver.next_timeout(), Some(ms(61_000)));
}

#[test]
fn no_more_than_twenty_blocks_fit_and_the_earliest_do() {
    let mut receiver = Receiver::new(CONFIG);
    for n in (0..60).rev().filter(|n| n % 2 == 1) {
        receiver.handle_data(ms(0), &data(60 - n as u32, n, 40));
    }
    let [(_, feedback)] = &fed_back(&mut receiver, 1_000)[..] else { panic!("one epoch") };
    assert_eq!(feedback.blocks.to_vec(), (0..20).map(|n| (2_000 * n + 1_000, 2_000 * n + 2_000)).collect::<Vec<_>>());
    assert_eq!(feedback.newest, FIRST + 59);
}

#[test]
fn a_call_too_early_changes_nothing() {
    let mut receiver = Receiver::new(CONFIG);
    assert_eq!(receiver.handle_timeout(ms(5_000)), Outcome::default());
    receiver.handle_data(ms(500), &data(0, 0, 40));
    assert_eq!((receiver.handle_timeout(ms(1_499)), receiver.next_timeout()), (Outcome::default(), Some(ms(1_500))));
}
