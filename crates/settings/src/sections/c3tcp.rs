//! `[c3tcp]`: capacity measured by the link layers, carried in MAC headers, written into TCP's window (Kliazovich,
//! Granelli 2005); docs/c3tcp.md.

use crate::key::{Choice, Fallback::*, Kind, share, time};
use crate::value::{Share, Value};
use crate::{choice, section};
use fourhop_proto::ccm;
use fourhop_units::{Bytes, Dur, NodeId};

choice! {
    /// Treatment of unknown options by nodes.
    UnawareNodes {
        Strip = "strip", "remove the options";
        Pass = "pass", "forward the options unchanged";
    }
}

/// Receive buffer with C3TCP, if none is given: a larger one makes windows count in units of up to 16 kB (RFC 7323
/// section 2.2), too coarse for the capacity of a path of radio links.
pub const UNSCALED_WINDOW: Bytes = Bytes(65_535);

section! {
    /// C3TCP below every TCP connection, whatever its congestion control: each link layer measures bandwidth and delay
    /// of its frames, options in the MAC header carry them, and a module below TCP lowers the window to their product.
    C3tcp = "c3tcp" of ccm::Options {
        /// Use C3TCP. `tcp.receive_buffer` then defaults to 65535B, so that windows count in bytes.
        enabled: bool, Kind::Bool, Both("false");
        /// Nodes without C3TCP: a node or a list.
        unaware: Option<Value>, Kind::IntOrList(0, 100_000, &[]), Both("none");
        /// Treatment of the options by nodes without C3TCP.
        unaware_nodes: UnawareNodes, Kind::Choice(UnawareNodes::CHOICES), Both("strip");
        /// Include queueing of acknowledgements in the backward delay.
        backward_queueing: bool, Kind::Bool, Both("true");
        /// Weight of the previous value in the moving averages of bandwidth and delay; 0%: only the newest measurement
        /// counts.
        smoothing: Share, share("0%", "99.9%"), Both("75%") => smoothing;
        /// The module acknowledges data to the local TCP itself, and sends the data within its own window: TCP's
        /// congestion control no longer matters.
        local_acks: bool, Kind::Bool => local_acks;
        /// Lifetime of a measurement that no newer one replaces; afterwards the receiver's own window applies.
        hold: Dur, time("1ms", "1000s") => hold;
    }
}

impl C3tcp {
    /// Returns the nodes that do not participate.
    pub fn unaware_nodes(&self) -> Vec<NodeId> {
        let node = |value: &Value| match value {
            Value::Int(n) => Some(NodeId(*n as u32)),
            _ => None,
        };
        match &self.unaware {
            Some(Value::List(items)) => items.iter().filter_map(node).collect(),
            Some(one) => node(one).into_iter().collect(),
            None => Vec::new(),
        }
    }
}
