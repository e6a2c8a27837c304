//! Arbitrary datagrams to Babel: what the fuzz target does, on its corpus and mutations of it.

#[path = "babel/checked.rs"]
mod checked;

use std::cell::RefCell;
use std::collections::BTreeMap;

/// Every counter must move except those of the link layer, which is missing here: the properties would also be true of
/// a node that does nothing.
#[test]
fn any_packets_at_all() {
    let sum = RefCell::new(BTreeMap::<&str, u64>::new());
    crate::replay::replay(&["fuzz/corpus/babel"], 150, |data| {
        let (understood, counters) = checked::packets(data);
        let counted = counters.named().chain([("understood", understood)]);
        counted.for_each(|(name, count)| *sum.borrow_mut().entry(name).or_default() += count);
    });
    let never: Vec<_> = sum.into_inner().into_iter().filter(|&(_, count)| count == 0).map(|(name, _)| name).collect();
    assert_eq!(never, ["link_failures"]);
}
