//! `[c3tcp]`: what it switches on, and nodes without it.

use super::*;
use crate::batch::Control;
use crate::scenario::sections::UNSCALED_WINDOW;
use fourhop_units::NodeId;
use std::collections::BTreeSet;

#[test]
fn it_is_off_unless_asked_for() {
    let plain = with(&[]).unwrap();
    assert!(!plain.c3tcp.enabled && plain.c3tcp.unaware_nodes().is_empty());
    assert!(crate::translate::setup(&plain, 1, &Control::new()).unwrap().0.c3tcp.is_none());
}

#[test]
fn windows_count_in_bytes_unless_a_buffer_is_given() {
    assert_eq!(with(&["c3tcp.enabled=true"]).unwrap().tcp.receive_buffer, UNSCALED_WINDOW);
    let given = with(&["c3tcp.enabled=true", "tcp.receive_buffer=1MB"]).unwrap();
    assert_eq!(given.tcp.receive_buffer, Bytes(1_000_000));
}

#[test]
fn unaware_nodes_are_one_or_several_of_the_network() {
    let some = with(&["c3tcp.enabled=true", "c3tcp.unaware=[1, 3]", "c3tcp.unaware_nodes=pass"]).unwrap();
    let (setup, _) = crate::translate::setup(&some, 1, &Control::new()).unwrap();
    assert_eq!(setup.c3tcp.unwrap().unaware, BTreeSet::from([NodeId(1), NodeId(3)]));
    let again = load(&some.to_toml()).unwrap();
    assert_eq!((&again.c3tcp, again.tcp.receive_buffer), (&some.c3tcp, some.tcp.receive_buffer));
    assert_eq!(with(&["c3tcp.unaware=2"]).unwrap().c3tcp.unaware_nodes(), [NodeId(2)]);
    let error = with(&["c3tcp.unaware=[1, 9]"]).unwrap_err().to_string();
    assert!(error.contains("c3tcp.unaware: found 9, allowed: nodes from 0 to 4"), "{error}");
}
