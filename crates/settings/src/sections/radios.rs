//! `[[radios]]`: the channel plan.

use crate::key::{Fallback::*, Kind};
use crate::section;
use crate::value::{Field, Value};

section! {
    /// The channel plan: each table gives its nodes one radio on a channel. A node in several tables has several
    /// radios, in the order of the tables; all use `[radio]`, `[mac]` and `[link]`. Radios on different channels do not
    /// hear each other. Without these tables, every node has one radio, and all use the same channel.
    RadioKeys = "radios" {
        /// Number of the channel; at most one radio per node and channel.
        channel: u8, Kind::Int(1, 233), Required;
        /// Nodes that have a radio on this channel: a number or a list.
        nodes: Option<Value>, Kind::IntOrList(0, 1_000_000, &[]), Computed("all");
    }
}

impl RadioKeys {
    /// Returns the nodes with this radio, out of `nodes` nodes.
    pub fn numbers(&self, nodes: u32) -> Vec<u32> {
        match &self.nodes {
            None => (0..nodes).collect(),
            Some(Value::List(numbers)) => numbers.iter().map(|number| u32::from_value(Some(number))).collect(),
            Some(number) => vec![u32::from_value(Some(number))],
        }
    }
}
