//! `[[radios]]`: the channel plan.

use crate::key::{Fallback::*, Kind};
use crate::section;
use crate::value::{Field, Value};

section! {
    /// The channel plan: each table gives the nodes that it names one radio on a channel. A node in several tables has
    /// several radios, in their order; all are as `[radio]`, `[mac]` and `[link]` say. Different channels do not hear
    /// each other. Without any table every node has one radio, all on one channel.
    RadioKeys = "radios" {
        /// Number of the channel, which each node may have once.
        channel: u8, Kind::Int(1, 233), Required;
        /// Number of a node that has a radio there, or a list of several.
        nodes: Option<Value>, Kind::IntOrList(0, 1_000_000, &[]), Computed("all");
    }
}

impl RadioKeys {
    /// The nodes that are meant, of so many.
    pub fn numbers(&self, nodes: u32) -> Vec<u32> {
        match &self.nodes {
            None => (0..nodes).collect(),
            Some(Value::List(numbers)) => numbers.iter().map(|number| u32::from_value(Some(number))).collect(),
            Some(number) => vec![u32::from_value(Some(number))],
        }
    }
}
