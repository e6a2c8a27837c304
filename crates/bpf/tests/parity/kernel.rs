//! The arithmetic under the kernel's own compiler.

use crate::samples::{Case, Random};
use fourhop_bpf::layout;
use fourhop_units::Dur;
use libbpf_rs::{MapCore, MapFlags, ObjectBuilder, ProgramInput};
use std::io::Write;

/// `FH_BATCH`, and the sizes of the parts of `struct fh_exchange`.
const BATCH: usize = 1024;
const STATE: usize = 262 * 8;
const PARAMS: usize = 72;
const PATH: usize = 96;
const HEAD: usize = STATE + PARAMS + PATH + 16;

/// Runs here with root's rights, or not at all; elsewhere `host.rs` covers the same.
#[test]
fn a_hundred_thousand_round_trips_make_the_same_intervals() {
    let object = ObjectBuilder::default()
        .open_memory(include_bytes!(concat!(env!("OUT_DIR"), "/parity.bpf.o")))
        .and_then(|object| object.load());
    let object = match object {
        Err(error) if error.kind() == libbpf_rs::ErrorKind::PermissionDenied => {
            let _ =
                writeln!(std::io::stderr(), "SKIPPED the kernel's arithmetic: loading programs needs root: {error}");
            return;
        }
        other => other.expect("a kernel as new as README says loads it"),
    };
    let exchange = object.maps().find(|map| map.name() == "fh_exchanges").expect("the object has it");
    let program = object.progs_mut().find(|program| program.name() == "fh_parity").expect("the object has it");
    let mut random = Random(4);
    let (mut compared, mut paced) = (0, 0);
    while compared < 100_000 {
        let mut case = Case::draw(&mut random);
        case.change(&mut random, 0);
        let mut interval = case.params.first_interval;
        let mut state = vec![0; STATE];
        // Four batches, with changes of the path between them.
        for _ in 0..4 {
            let rtts: Vec<u64> = (0..100).map(|_| case.round_trip(&mut random)).collect();
            let mut bytes = state.clone();
            bytes.extend(layout::params(&case.params, 1));
            bytes.extend(layout::path(&case.path));
            bytes.extend(u64::from(case.mss).to_ne_bytes());
            bytes.extend((rtts.len() as u64).to_ne_bytes());
            rtts.iter().for_each(|rtt| bytes.extend(rtt.to_ne_bytes()));
            bytes.resize(HEAD + 3 * 8 * BATCH, 0);
            exchange.update(&0_u32.to_ne_bytes(), &bytes, MapFlags::ANY).expect("as long as the kernel's");
            let ran = program.test_run(ProgramInput::default()).expect("it can be run");
            assert_eq!(ran.return_value, 0);
            let after =
                exchange.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).expect("it is there").expect("it is there");
            let word = |at: usize| u64::from_ne_bytes(after[at..at + 8].try_into().expect("eight"));
            for (n, &rtt) in rtts.iter().enumerate() {
                let expected = case.expected(rtt);
                let found = word(HEAD + 8 * (BATCH + n));
                interval = if found == 0 { interval } else { Some(Dur::from_nanos(found)) };
                assert_eq!(interval, expected, "sample {n}, {rtt} ns, of {case:?}");
                if found > 0 {
                    let rate = word(HEAD + 8 * (2 * BATCH + n));
                    assert_eq!(rate, u64::from(case.window.max_pacing_rate(case.mss)));
                    paced += 1;
                }
                compared += 1;
            }
            state = after[..STATE].to_vec();
            case.change(&mut random, 1);
        }
    }
    assert!(paced > compared / 4, "{paced} of {compared} make an interval");
}
