//! `[traffic]` and `[[flows]]`: the flows.

use crate::key::{Choice, Fallback::*, Kind, number, rate, size, time};
use crate::value::{Number, Value};
use crate::{choice, section};
use fourhop_units::{Bytes, Dur, Rate};

choice! {
    /// The application of a flow.
    AppKind {
        Bulk = "bulk", "endless transfer over TCP or ATP";
        Transfer = "transfer", "transfer of `size` over TCP or ATP";
        Stream = "stream", "TCP data at a constant `rate`";
        Files = "files", "files over TCP, Pareto sizes, exponential pauses";
        Cbr = "cbr", "UDP datagrams of `payload` at a constant `rate`";
        Ping = "ping", "an ICMP echo request of `payload` every `interval`";
    }
}

choice! {
    /// Whether files have connections of their own.
    Connections {
        Same = "same", "one for all files; its window is kept during the pauses";
        Fresh = "fresh", "one for each file, with handshake and initial window";
    }
}

/// Declares a section whose own keys surround those that describe a flow's data.
macro_rules! traffic_section {
    (
        $(#[doc = $about:literal])+
        $name:ident = $path:literal { $($before:tt)+ } sends { $($after:tt)+ }
    ) => {
        section! {
            $(#[doc = $about])+
            $name = $path {
                $($before)+
                /// Amount to send.
                size: Option<Bytes>, size("1B", "1000GB"), Required, &["transfer"];
                /// Mean size of a file.
                mean_size: Option<Bytes>, size("1B", "1GB"), Both("30kB"), &["files"];
                /// Shape of the Pareto distribution of sizes.
                shape: Option<Number>, number("1.001", "1000"), Both("1.5"), &["files"];
                /// Mean pause between the end of a file and the beginning of the next.
                mean_pause: Option<Dur>, time("0s", "100000s"), Required, &["files"];
                /// Connections that carry the files.
                connection: Option<Connections>, Kind::Choice(Connections::CHOICES), Both("same"), &["files"];
                /// Rate of payload; for `stream`, the rate of the application.
                rate: Option<Rate>, rate("1bps", "10Gbps"), Required, &["cbr", "stream"];
                /// Payload of a packet.
                payload: Option<Bytes>, size("1B", "65kB"), Computed("1460B for `cbr`, 56B for `ping`"),
                    &["cbr", "ping"];
                /// Time between requests.
                interval: Option<Dur>, time("1us", "1000000s"), Both("1s"), &["ping"];
                /// Maximum number of unanswered requests; a request counts as lost after a second, or after `interval`
                /// if that is longer.
                outstanding: Option<u32>, Kind::Int(1, 1_000), Both("none"), &["ping"];
                $($after)+
                /// Differentiated services code point of packets in both directions; with `mac.edca`, it determines
                /// their access category.
                dscp: u32, Kind::Int(0, 63), Both("0");
                /// Limit of the window in segments.
                window: Option<u32>, Kind::Int(1, 1_000_000), Computed("`tcp.window`"),
                    &["bulk", "transfer", "stream", "files"];
            }
        }
    };
}

traffic_section! {
    /// The same traffic between all natural pairs of the topology. In a chain and in parallel chains, these are the
    /// first and last node of each chain; in a cross, the ends of both lines. In a grid, each row goes from left to
    /// right and each column from top to bottom. Other topologies have random pairs.
    TrafficKeys = "traffic" {
        /// Number of pairs, from the first natural one on; for `random` and `positions`, the number of pairs to draw.
        pairs: Option<u32>, Kind::Int(1, 10_000), Computed("all natural pairs; required for `random` and `positions`");
        /// Congestion control of TCP flows, or `atp`, `udp` or `ping`.
        transport: String, Kind::Transport, Required;
        /// Application of each flow.
        app: AppKind, Kind::Choice(AppKind::CHOICES), Computed("`bulk` over TCP and ATP, `cbr` over `udp`, `ping` \
            over `ping`");
    } sends {
        /// Start of the first flow.
        start: Dur, time("0s", "1000000s"), Both("1s");
        /// Delay between the starts of successive flows.
        stagger: Dur, time("0s", "1000000s"), Both("100ms");
        /// End of the flows; none: the end of the run.
        stop: Option<Dur>, time("1ns", "1000000s"), Both("none");
    }
}

traffic_section! {
    /// A single flow, given by its ends.
    FlowKeys = "flows" {
        /// Name of the flow in results.
        name: Option<String>, Kind::Text, Computed("flow-1, flow-2, ...");
        /// Sender: a node of the topology, or a name from `[wired]`. "random" draws a node of the topology in every
        /// run.
        from: Value, Kind::Node, Required;
        /// Receiver, in the same form.
        to: Value, Kind::Node, Required;
        /// Congestion control of a TCP flow, or `atp`, `udp` or `ping`.
        transport: String, Kind::Transport, Required;
        /// Application of the flow.
        app: AppKind, Kind::Choice(AppKind::CHOICES), Computed("`bulk` over TCP and ATP, `cbr` over `udp`, `ping` \
            over `ping`");
    } sends {
        /// Start of the flow.
        start: Option<Dur>, time("0s", "1000000s"), Computed("1s for the first flow, 100ms later for each further one");
        /// End of the flow; none: the end of the run.
        stop: Option<Dur>, time("1ns", "1000000s"), Both("none");
    }
}
