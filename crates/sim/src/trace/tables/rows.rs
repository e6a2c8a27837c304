//! The tables, each with its columns in order.

use super::cell::{Cell, Column};
use super::{ColumnAbout, Rows, TableAbout, TableWriter, unit};
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::node::PacketKind;
use parquet::basic::Repetition;
use parquet::errors::Result;
use parquet::schema::types::Type;
use std::sync::{Arc, LazyLock};

/// Declares tables: a row as a struct, its columns, and all tables together.
macro_rules! tables {
    ($($(#[doc = $about:literal])+ $name:ident: $row:ident {
        $($(#[doc = $what:literal])+ $column:ident: $type:ty $(= $names:expr)?,)+
    })+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Copy, PartialEq, Debug)]
            #[allow(clippy::struct_excessive_bools, reason = "columns are what they are")]
            pub struct $row { $($(#[doc = $what])+ pub $column: $type,)+ }
        )+

        /// The rows of each table that wait to be written.
        #[derive(Default)]
        pub struct Tables {
            $($(#[doc = $about])+ pub $name: columns::$name,)+
        }

        mod columns {
            use super::{
                CONTENTS, Column, FATES, KINDS, PACKETS, REASONS, Result, Rows, STATES, STEPS, TCP_EVENTS, TableWriter,
            };
            $(
                #[doc = concat!("The columns of `", stringify!($name), "`.")]
                #[allow(non_camel_case_types, reason = "a table is called what its file is")]
                #[derive(Default)]
                pub struct $name { len: usize, written: u64, $($column: Column<$type>,)+ }

                impl $name {
                    /// One more row.
                    pub fn push(&mut self, row: super::$row) {
                        self.len += 1;
                        self.written += 1;
                        $($(debug_assert!(super::Name::stands_in(row.$column, &$names), "{:?}", row.$column);)?)+
                        $(self.$column.push(row.$column);)+
                    }

                    /// Rows so far, those included that have been taken.
                    pub fn count(&self) -> u64 {
                        self.written
                    }
                }

                impl Rows for $name {
                    fn table(&self) -> usize {
                        super::Place::$name as usize
                    }

                    fn len(&self) -> usize {
                        self.len
                    }

                    fn take(&mut self) -> Box<dyn Rows> {
                        let written = self.written;
                        let taken = std::mem::replace(self, Self { written, ..Self::default() });
                        Box::new(taken)
                    }

                    fn write(&mut self, file: &mut TableWriter) -> Result<()> {
                        let mut group = file.next_row_group()?;
                        $(self.$column.write(&mut group)?;)+
                        self.len = 0;
                        group.close().map(|_| ())
                    }
                }
            )+
        }

        #[allow(non_camel_case_types, reason = "a table is called what its file is")]
        enum Place { $($name,)+ }

        impl Tables {
            /// Every table, in the order of their places.
            pub fn about() -> Vec<TableAbout> {
                vec![$({
                    let columns = vec![$(ColumnAbout {
                        name: stringify!($column),
                        kind: <$type as Cell>::NAME,
                        optional: <$type as Cell>::OPTIONAL,
                        unit: unit(stringify!($column)),
                        about: concat!($($what,)+).trim_ascii(),
                        names: { let names: &[&[&'static str]] = &[$(&$names)?]; names.concat() },
                    },)+];
                    let fields = vec![$(Arc::new(
                        Type::primitive_type_builder(stringify!($column), <$type as Cell>::PHYSICAL)
                            .with_repetition(match <$type as Cell>::OPTIONAL {
                                true => Repetition::OPTIONAL,
                                false => Repetition::REQUIRED,
                            })
                            .with_logical_type(<$type as Cell>::logical())
                            .build()
                            .expect("INVARIANT: each type of a cell has its logical type"),
                    ),)+];
                    let schema = Type::group_type_builder(stringify!($name)).with_fields(fields).build();
                    TableAbout {
                        name: stringify!($name),
                        about: concat!($($about,)+).trim_ascii(),
                        columns,
                        schema: Arc::new(schema.expect("INVARIANT: a table has columns")),
                    }
                },)+]
            }

            /// All of them.
            pub fn each(&mut self) -> impl Iterator<Item = &mut dyn Rows> {
                [$(&mut self.$name as &mut dyn Rows,)+].into_iter()
            }

            /// Rows of each so far.
            pub fn counts(&self) -> Vec<u64> {
                vec![$(self.$name.count(),)+]
            }
        }
    };
}

/// A column that contains names.
trait Name {
    /// Whether the value is one of these names, or missing.
    fn stands_in(self, names: &[&str]) -> bool;
}

impl Name for &'static str {
    fn stands_in(self, names: &[&str]) -> bool {
        names.contains(&self)
    }
}

impl Name for Option<&'static str> {
    fn stands_in(self, names: &[&str]) -> bool {
        self.is_none_or(|name| names.contains(&name))
    }
}

const KINDS: [&str; 6] = ["rts", "cts", "data", "ack", "block-ack", "block-ack-request"];
const STATES: [&str; 9] = ["transmitting", "receiving", "busy", "waiting", "nav", "eifs", "ifs", "counting", "frozen"];
const STEPS: [&str; 11] = [
    "created",
    "queued",
    "head",
    "sent",
    "failed",
    "received",
    "wire-out",
    "wire-in",
    "delivered",
    "absorbed",
    "dropped",
];
const TCP_EVENTS: [&str; 6] = ["sent", "resent", "received", "timeout", "fast-retransmit", "window"];

/// Fate of a copy: received, overheard, or the reason why the radio lost it.
static FATES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let lost = DropReason::ALL.iter().filter(|reason| reason.layer() == Layer::Radio);
    ["received", "overheard"].into_iter().chain(lost.map(|reason| reason.name())).collect()
});
static REASONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| DropReason::ALL.iter().map(|reason| reason.name()).collect());
static PACKETS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| PacketKind::ALL.iter().map(|kind| kind.name()).collect());
/// Content of a frame.
static CONTENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| [&["arp"], &**PACKETS].concat());

tables! {
    /// A frame that a node has transmitted.
    frames: Frame {
        /// Number of the frame, counted over the whole run.
        frame: u32,
        /// Transmitter.
        node: u32,
        /// Start of the transmission.
        start_ns: i64,
        /// End of the copy at this node.
        end_ns: i64,
        /// `rts`, `cts`, `data`, `ack`, `block-ack`, `block-ack-request`.
        kind: &'static str = KINDS,
        /// The node to which it is addressed; none: all.
        dst: Option<u32>,
        /// Bit rate of its MAC part.
        rate_bps: i64,
        /// Length including MAC header and frame check sequence.
        bytes: u32,
        /// Duration field: the time for which it reserves the medium after its end.
        nav_ns: i64,
        /// Sequence number of data.
        seq: Option<u16>,
        /// True for data that was sent before.
        retry: Option<bool>,
        /// Number of MPDUs in data sent with an MCS; none without an MCS.
        mpdus: Option<u16>,
        /// The packet that it carries, reserves the medium for or acknowledges.
        packet: Option<u32>,
        /// Flow of that packet.
        flow: Option<u32>,
        /// Kind of that packet, or `arp`.
        content: Option<&'static str> = CONTENTS,
    }
    /// A copy of a frame at a node that senses it.
    receptions: Reception {
        /// The frame.
        frame: u32,
        /// The receiving node.
        node: u32,
        /// Start of the copy at this node.
        start_ns: i64,
        /// End of the copy at this node.
        end_ns: i64,
        /// Received power.
        power_dbm: f32,
        /// `received`, `overheard`, or the reason why it was lost.
        fate: &'static str = FATES,
    }
    /// States of a node's MAC: of the medium and of the backoff.
    mac: Mac {
        /// The node.
        node: u32,
        /// Start of the state.
        start_ns: i64,
        /// End of the state.
        end_ns: i64,
        /// Of the medium: `transmitting`, `receiving`, `busy`, `waiting`, `nav`, `eifs`; of the backoff: `ifs`,
        /// `counting`, `frozen`.
        state: &'static str = STATES,
        /// Backoff only: slots left at the start of the state.
        slots: Option<u32>,
    }
    /// A step of an IP packet.
    packets: Packet {
        /// Number of the packet.
        packet: u32,
        /// The time.
        time_ns: i64,
        /// The node.
        node: u32,
        /// The event.
        event: &'static str = STEPS,
        /// The reason why it was lost or given up.
        reason: Option<&'static str> = REASONS,
        /// The neighbour to which it goes or from which it comes.
        peer: Option<u32>,
        /// Its flow, in either direction.
        flow: Option<u32>,
        /// Its kind.
        kind: &'static str = PACKETS,
        /// Its source.
        src: Option<u32>,
        /// Its destination.
        dst: Option<u32>,
        /// Sequence number of TCP; number of a datagram, an echo or a packet of ATP.
        seq: Option<u32>,
        /// Acknowledgement number of TCP.
        ack: Option<u32>,
        /// Bytes above the transport's header.
        payload: u32,
        /// Length including the IP header.
        bytes: u32,
    }
    /// The length of a queue after a change.
    queues: Queue {
        /// The node.
        node: u32,
        /// The time.
        time_ns: i64,
        /// `interface`, `routing`, `gateway`, `wire`.
        queue: &'static str,
        /// Wire only: the node at the other end.
        to: Option<u32>,
        /// Packets in the queue.
        packets: u32,
    }
    /// The ends of TCP flows.
    tcp: Tcp {
        /// The flow.
        flow: u32,
        /// Node of this end.
        node: u32,
        /// `sender` or `receiver` of the data.
        end: &'static str,
        /// The time.
        time_ns: i64,
        /// `sent`, `resent`, `received`, `timeout`, `fast-retransmit`, `window`.
        event: &'static str = TCP_EVENTS,
        /// Packet of the segment.
        packet: Option<u32>,
        /// Sequence number of the segment, from 0 for the SYN of its direction.
        seq: Option<i64>,
        /// Acknowledgement number of the segment, likewise.
        ack: Option<i64>,
        /// Bytes of payload of the segment.
        payload: Option<u32>,
        /// Window that the segment advertises.
        window_bytes: Option<i64>,
        /// Congestion window.
        cwnd_segments: Option<u32>,
        /// Slow-start threshold, if one is set.
        ssthresh_segments: Option<u32>,
        /// Bytes sent but not acknowledged.
        in_flight_bytes: Option<i64>,
        /// Smoothed round trip.
        srtt_ns: Option<i64>,
        /// Newest round trip that congestion control has used.
        rtt_ns: Option<i64>,
        /// Retransmission timeout.
        rto_ns: Option<i64>,
        /// Minimum time between segments, if paced.
        interval_ns: Option<i64>,
        /// Number of expirations of the retransmission timer so far.
        timeouts: Option<u32>,
        /// Number of fast retransmits so far.
        fast_retransmits: Option<u32>,
        /// Number of retransmitted segments so far.
        retransmitted: Option<u32>,
    }
    /// A route that was added, changed or removed.
    routes: Route {
        /// The node.
        node: u32,
        /// The time.
        time_ns: i64,
        /// Destination of the route.
        destination: u32,
        /// The next hop.
        next_hop: Option<u32>,
        /// Number of hops.
        hops: Option<u32>,
        /// True if the route is up.
        up: bool,
    }
    /// The position of a node.
    positions: Position {
        /// The node.
        node: u32,
        /// The time.
        time_ns: i64,
        /// Metres along the first axis.
        x_m: f64,
        /// Metres along the second axis.
        y_m: f64,
    }
}
