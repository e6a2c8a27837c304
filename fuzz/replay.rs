//! Fuzzing without a fuzzer, for tests: the corpus of a target, then random mutations of it, which are the same in
//! every run. The tests of the crates include this file.

use fourhop_units::{Purpose, Stream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Longest input made here, in bytes.
const LONGEST: usize = 4_096;
/// Replacements for a number in a text: ends of ranges, other notations, and signs of the formats.
const WORDS: [&[u8]; 12] = [
    b"0",
    b"-1",
    b"1e6",
    b"1e-9",
    b"4294967296",
    b"18446744073709551615",
    b"nan",
    b"\"",
    b"[[",
    b"}",
    b"\n",
    "é".as_bytes(),
];

/// Calls `check` with every file of `folders`, whose paths are relative to the root of the repository, and then with
/// `mutations` inputs made from them. A failure prints its input as a literal, and the name of its file if it has one.
pub fn replay(folders: &[&str], mutations: u32, check: impl Fn(&[u8])) {
    let corpus: Vec<_> = folders.iter().flat_map(|folder| files(folder)).collect();
    for (name, data) in &corpus {
        tried(name, data, &check);
    }
    let mut stream = Stream::global(1, Purpose::Impairment);
    for _ in 0..mutations {
        let mut data = pick(&corpus, &mut stream).clone();
        for _ in 0..1 << stream.below(3) {
            mutate(&mut data, pick(&corpus, &mut stream), &mut stream);
        }
        data.truncate(LONGEST);
        tried("a mutation", &data, &check);
    }
}

/// Names and contents of the files in a folder, in the order of their names.
#[allow(clippy::disallowed_methods, reason = "tests read their corpus")]
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let read = |path: &Path| (path.display().to_string(), std::fs::read(path).expect("a file of the corpus"));
    paths.iter().map(|path| read(path)).collect()
}

fn pick<'a>(corpus: &'a [(String, Vec<u8>)], stream: &mut Stream) -> &'a Vec<u8> {
    &corpus[stream.below(corpus.len() as u32) as usize].1
}

fn tried(name: &str, data: &[u8], check: &impl Fn(&[u8])) {
    if let Err(failure) = catch_unwind(AssertUnwindSafe(|| check(data))) {
        eprintln!("{name}: b\"{}\"", data.escape_ascii());
        resume_unwind(failure);
    }
}

/// Makes one change: it flips a bit, sets a byte, deletes or repeats a range, inserts a word, or replaces a range by
/// one of `other`.
fn mutate(data: &mut Vec<u8>, other: &[u8], stream: &mut Stream) {
    let stretch = |len: usize, stream: &mut Stream| {
        let (from, longest) = (stream.below(len as u32 + 1) as usize, 1 << stream.below(6));
        from..(from + stream.below(longest) as usize).min(len)
    };
    let here = stretch(data.len(), stream);
    match stream.below(6) {
        0 => data.iter_mut().skip(here.start).take(1).for_each(|byte| *byte ^= 1 << stream.below(8)),
        1 => data.iter_mut().skip(here.start).take(1).for_each(|byte| *byte = stream.bits32() as u8),
        2 => drop(data.drain(here)),
        3 => {
            let again = data[here.clone()].to_vec();
            let _ = data.splice(here.end..here.end, again);
        }
        4 => {
            let word = WORDS[stream.below(WORDS.len() as u32) as usize];
            // It replaces the number that begins here, if there is one.
            let end = data[here.start..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
            let _ = data.splice(here.start..here.start + end, word.iter().copied());
        }
        _ => drop(data.splice(here, other[stretch(other.len(), stream)].iter().copied())),
    }
}
