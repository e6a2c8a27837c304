//! Buffers that a driver lends to its nodes for their output and as scratch space.

use super::output::Output;
use crate::wire::Ipv4Packet;
use crate::{gateway, mac, net, route};

/// Buffers that are emptied after each use and keep their memory. Layers call each other, so a layer can be re-entered
/// before its first buffer has been returned: each layer has as many buffers as it has ever needed at once.
#[derive(Debug)]
pub(super) struct Pool<T>(Vec<Vec<T>>);

impl<T> Pool<T> {
    pub(super) fn take(&mut self) -> Vec<T> {
        self.0.pop().unwrap_or_default()
    }

    pub(super) fn give(&mut self, buffer: Vec<T>) {
        debug_assert!(buffer.is_empty(), "every action is performed before its buffer returns");
        self.0.push(buffer);
    }
}

/// Takes the actions out in order. Mostly there is at most one, for which a `Drain` costs more than the action.
pub(super) fn in_order<T>(actions: &mut Vec<T>) -> impl Iterator<Item = T> {
    actions.reverse();
    core::iter::from_fn(|| actions.pop())
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Vec::new())
    }
}

/// A node's output and scratch buffers, which are empty between its calls: the driver lends the same set to all of its
/// nodes.
#[derive(Debug, Default)]
pub struct Buffers {
    /// The node's output; the driver takes it.
    pub outputs: Vec<Output>,
    pub(super) mac: Vec<mac::Action>,
    pub(super) link: Pool<net::Action>,
    pub(super) route: Pool<route::Action>,
    pub(super) discipline: Pool<gateway::Action<Ipv4Packet>>,
    pub(super) packets: Pool<Ipv4Packet>,
}
