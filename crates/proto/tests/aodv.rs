//! Arbitrary datagrams to AODV, with data that needs its routes: what the fuzz target does, on its corpus and mutations
//! of it.

#[path = "aodv/checked.rs"]
mod checked;

use std::cell::RefCell;
use std::collections::BTreeMap;

/// Every counter must move: the properties would also be true of a node that does nothing.
#[test]
fn any_messages_at_all() {
    let sum = RefCell::new(BTreeMap::<&str, u64>::new());
    crate::replay::replay(&["fuzz/corpus/aodv"], 10_000, |data| {
        let (understood, counters) = checked::messages(data);
        let counted = counters.named().chain([("understood", understood)]);
        counted.for_each(|(name, count)| *sum.borrow_mut().entry(name).or_default() += count);
    });
    let never: Vec<_> = sum.into_inner().into_iter().filter(|&(_, count)| count == 0).collect();
    assert!(never.is_empty(), "{never:?}");
}
