//! Datagrams with arbitrary content: the corpus of the fuzz target, mutations of it, and many that are almost valid.
#![cfg(target_os = "linux")]

#[path = "messages/checked.rs"]
mod checked;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use fourhop_units::{Purpose, Stream};

#[test]
fn the_corpus_and_mutations_of_it_break_nothing() {
    replay::replay(&["fuzz/corpus/aodvd"], 3_000, checked::messages);
}

/// Valid messages with a few bytes changed, in long runs. `FOURHOP_MESSAGES` sets their total number; a million take a
/// minute.
#[test]
fn messages_that_are_almost_sound_break_nothing() {
    let wanted = std::env::var("FOURHOP_MESSAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(40_000_u32);
    let mut draw = Stream::global(2, Purpose::Impairment);
    let mut made = 0;
    while made < wanted {
        let mut data = vec![draw.bits32() as u8];
        for _ in 0..200 {
            let kind = [0, 1, 3, 4, 5, 6, 7, 7][draw.below(8) as usize];
            let mut message = sound(&mut draw);
            for _ in 0..draw.below(3) {
                let at = draw.below(message.len() as u32) as usize;
                message[at] = draw.bits32() as u8;
            }
            data.push(kind);
            data.extend((0..4).map(|_| draw.bits32() as u8));
            data.push(message.len() as u8);
            data.extend(message);
            made += u32::from(kind < 4);
        }
        checked::messages(&data);
    }
}

/// A message of RFC 3561 section 5, about addresses of the mesh.
fn sound(draw: &mut Stream) -> Vec<u8> {
    let mut address = || [10, 0, 0, 2 + draw.below(10) as u8];
    let (one, two) = (address(), address());
    let number = |draw: &mut Stream| [0, 0, draw.below(8) as u8, draw.bits32() as u8];
    match draw.below(4) {
        0 => {
            let (id, known, seqno) = (number(draw), number(draw), number(draw));
            let flags = [0, 8, 0x10, 0x28][draw.below(4) as usize];
            [&[1, flags, 0, draw.below(5) as u8][..], &id, &one, &known, &two, &seqno].concat()
        }
        1 => {
            let (seqno, flags) = (number(draw), [0, 0x40][draw.below(2) as usize]);
            [&[2, flags, 0, draw.below(5) as u8][..], &one, &seqno, &two, &[0, 0, 8, 0]].concat()
        }
        2 => {
            let seqno = number(draw);
            [&[3, 0, 0, 1][..], &one, &seqno].concat()
        }
        _ => vec![4, 0],
    }
}
