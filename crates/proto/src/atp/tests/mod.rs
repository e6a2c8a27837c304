//! Packet scripts of each end and of a node, and both ends with a network in between.

mod end;
mod meter;
mod pair;
mod receiver;
mod sender;

use super::Config;
use crate::wire::{AtpData, AtpFeedback};
use fourhop_units::{Seq, Time};

/// Packets of 1,000 bytes, so that positions are easy to read.
const CONFIG: Config = Config { mss: 1_000, ..Config::published() };

/// Transmissions are numbered from here, so that numbers wrap within the first few.
const FIRST: Seq = Seq::from_wire(u32::MAX - 1);

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Packet `place` of a stream of whole packets, as transmission `number`, with a delay in milliseconds.
fn data(number: u32, place: u64, delay_ms: u32) -> AtpData {
    AtpData {
        number: FIRST + number,
        offset: place * 1_000,
        payload: 1_000,
        asks: false,
        delay_us: delay_ms * 1_000,
        entered_queue: Time::ZERO,
    }
}

/// Feedback `number`: `complete` packets and those of `blocks` have arrived; `newest` is the newest transmission among
/// them.
fn feedback(number: u32, delay_ms: u32, complete: u64, blocks: &[(u32, u32)], newest: u32) -> AtpFeedback {
    AtpFeedback {
        number: Seq::from_wire(number),
        delay_us: delay_ms * 1_000,
        complete: complete * 1_000,
        blocks: blocks.iter().map(|(first, behind)| (first * 1_000, behind * 1_000)).collect(),
        newest: FIRST + newest,
        waited_us: 0,
    }
}
