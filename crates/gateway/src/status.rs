//! The status as JSON: combined metrics of all workers.

use fourhop_live::lateness::{Lateness, Summary};
use fourhop_proto::gateway::{ControlCounters, Counters};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The complete status.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of this program.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// Time since its start, in seconds.
    pub uptime_s: f64,
    /// Whether it works.
    pub state: State,
    /// Problems that keep it from working; empty if there are none.
    pub problems: Vec<String>,
    /// Seconds since a packet last arrived at a queue.
    pub silent_s: f64,
    /// Whether it only observes.
    pub dry_run: bool,
    /// `pace.mode`.
    pub mode: String,
    /// Program that installed the rules.
    pub rules: String,
    /// Interfaces that lead into the mesh.
    pub devices: Vec<String>,
    /// Why the last query for hop counts failed.
    pub hops_error: Option<String>,
    /// Counters.
    pub totals: Totals,
    /// Waiting times of packets into the mesh in the last complete ten seconds, in ms.
    pub sojourn: Waits,
    /// Nodes of the mesh, those with the most bytes first.
    pub nodes: Vec<Node>,
    /// Flows with the most bytes acknowledged.
    pub flows: Vec<Flow>,
}

/// Whether the gateway works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Everything is in place, and packets arrive.
    Healthy,
    /// Everything is in place, but no packet has arrived for [`State::SILENT_S`] seconds: no TCP crosses the border, or
    /// something makes it bypass the queue.
    #[default]
    Idle,
    /// Something keeps it from working.
    Impaired,
}

impl State {
    /// Silence in seconds after which it no longer counts as healthy.
    pub const SILENT_S: f64 = 10.0;

    /// The state for a status whose other fields are filled in.
    pub fn of(status: &Status) -> State {
        match status {
            _ if !status.problems.is_empty() => State::Impaired,
            _ if status.totals.packets == 0 || status.silent_s > State::SILENT_S => State::Idle,
            _ => State::Healthy,
        }
    }

    /// Name in output.
    pub const fn name(self) -> &'static str {
        match self {
            State::Healthy => "healthy",
            State::Idle => "idle",
            State::Impaired => "impaired",
        }
    }
}

/// Declares [`Totals`] with each counter's name and description for Prometheus.
macro_rules! totals {
    ($($field:ident $name:literal $help:literal,)+) => {
        /// Counters, and what is there now.
        #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Totals { $(#[doc = $help] pub $field: u64,)+ }

        impl Totals {
            /// Each by its name, with what it is.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64, &'static str)> + use<> {
                [$(($name, self.$field, $help),)+].into_iter()
            }

            /// Adds those of another worker.
            pub fn add(&mut self, other: &Totals) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

totals! {
    packets "packets_total" "Packets received.",
    followed "followed_total" "Received segments that belong to known flows.",
    waited "waited_total" "Packets delayed.",
    early "early_total" "Data packets released early because their flow had reached its limit.",
    options "options_total" "Acknowledgements into which a wired round trip was written.",
    no_room "no_room_total" "Acknowledgements without room for a wired round trip, or with payload.",
    windows_reduced "windows_reduced_total" "Acknowledgements with a reduced window.",
    marked "marked_total" "Packets marked with ECN.",
    buffer_full "buffer_full_total" "Data packets passed unpaced because the buffer of all flows was full.",
    table_full "table_full_total" "Segments passed unpaced because the flow table was full.",
    displaced "displaced_total" "Half-open flows evicted to make room for others.",
    overload "overload_total" "Packets that passed unpaced because the queue was full or this program hung.",
    nodes_full "nodes_full_total" "Packets of nodes beyond limits.nodes.",
    unknown "unknown_total" "Data packets passed unpaced because the hop count of the node was unknown.",
    no_tcp "no_tcp_total" "Fragments and malformed packets passed unpaced.",
    throttles "throttles_total" "Flows throttled by goodput control.",
    rules_restored "rules_restored_total" "Times that rules changed by another program were restored.",
    given_up "queues_given_up_total" "Periods in which packets passed unpaced because a worker hung.",
    flows "flows" "Known flows.",
    waiting "waiting" "Waiting packets.",
    queued_bytes "queued_bytes" "Waiting payload in bytes.",
    memory_bytes "memory_bytes" "Memory used for flows and nodes, without packets.",
}

impl Totals {
    /// Adds the counters of a state machine.
    pub fn count(&mut self, counted: &Counters, control: Option<&ControlCounters>) {
        self.packets += counted.packets;
        self.followed += counted.followed;
        self.waited += counted.waited;
        self.early += counted.early;
        self.options += counted.options;
        self.no_room += counted.no_room;
        self.windows_reduced += counted.held_back;
        self.marked += counted.marked;
        self.buffer_full += counted.buffer_full;
        self.table_full += counted.table_full;
        self.displaced += counted.displaced;
        self.throttles += control.map_or(0, |control| control.throttles);
    }
}

/// Quantiles of waiting times, in ms.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Waits {
    pub count: u64,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl From<&Lateness> for Waits {
    fn from(waits: &Lateness) -> Waits {
        let Summary { count, p50, p99, max, .. } = waits.summary();
        Waits { count, p50: p50 / 1e3, p99: p99 / 1e3, max: max / 1e3 }
    }
}

/// A node of the mesh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Node {
    pub address: IpAddr,
    pub hops: Option<u8>,
    pub rate_bps: Option<u64>,
    /// Payload and packets into the mesh and out of it.
    pub into_bytes: u64,
    pub into_packets: u64,
    pub out_bytes: u64,
    pub out_packets: u64,
    /// Data that passed unpaced because the node's hop count is unknown.
    pub unknown: u64,
    /// Waiting times in the last complete ten seconds, in ms.
    pub sojourn: Waits,
    /// Its flows, by the direction of most of their data.
    pub into: Class,
    pub out: Class,
}

/// Flows of a node in one direction.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Class {
    pub flows: u64,
    /// Waiting packets and payload.
    pub waiting: u64,
    pub queued_bytes: u64,
    /// Means over those flows that have one.
    pub wireless_rtt_s: Option<f64>,
    pub wired_rtt_s: Option<f64>,
    pub interval_s: Option<f64>,
    pub throttled: u64,
}

/// A flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Flow {
    pub node: String,
    pub host: String,
    pub into_bytes: u64,
    pub out_bytes: u64,
    pub waiting: usize,
    pub queued_bytes: u32,
    pub wireless_rtt_s: Option<f64>,
    pub wired_rtt_s: Option<f64>,
    pub variation: f64,
    /// Its interval, and the one that adaptive pacing alone would give it.
    pub interval_s: Option<f64>,
    pub own_interval_s: Option<f64>,
    pub throttle_bps: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::Dur;

    #[test]
    fn a_problem_is_worse_than_silence_and_silence_begins_after_ten_seconds() {
        let state = |packets, silent_s, problems: &[&str]| {
            let problems = problems.iter().map(|&words| words.to_owned()).collect();
            State::of(&Status {
                totals: Totals { packets, ..Totals::default() },
                silent_s,
                problems,
                ..Status::default()
            })
        };
        assert_eq!(state(1, 10.0, &[]), State::Healthy);
        assert_eq!(state(1, 10.1, &[]), State::Idle);
        assert_eq!(state(0, 0.0, &[]), State::Idle, "no packet has come yet");
        assert_eq!(state(1, 0.0, &["no rules"]), State::Impaired);
        assert_eq!(state(0, 90.0, &["no rules"]), State::Impaired);
    }

    #[test]
    fn the_state_has_one_name_in_json_and_on_the_screen() {
        for (state, name) in [(State::Healthy, "healthy"), (State::Idle, "idle"), (State::Impaired, "impaired")] {
            assert_eq!((state.name(), serde_json::to_value(state).unwrap()), (name, name.into()));
        }
    }

    /// Counters with distinct numbers, from `first` on.
    fn totals(first: u64) -> Totals {
        let json = serde_json::to_value(Totals::default()).unwrap();
        let mut numbers = json.as_object().unwrap().clone();
        assert_eq!(numbers.len(), Totals::default().named().count(), "each has a name for Prometheus");
        numbers.values_mut().zip(first..).for_each(|(number, n)| *number = n.into());
        serde_json::from_value(numbers.into()).unwrap()
    }

    #[test]
    fn totals_of_workers_are_added_field_by_field() {
        let (one, other) = (totals(1), totals(100));
        let mut sum = one;
        sum.add(&other);
        for (((name, sum, _), (_, one, _)), (_, other, _)) in sum.named().zip(one.named()).zip(other.named()) {
            assert_eq!(sum, one + other, "{name}");
        }
    }

    #[test]
    fn totals_have_names_values_and_words() {
        let totals = Totals { packets: 7, queued_bytes: 9, ..Totals::default() };
        let named: Vec<_> = totals.named().collect();
        assert_eq!(named[0], ("packets_total", 7, "Packets received."));
        assert!(named.contains(&("queued_bytes", 9, "Waiting payload in bytes.")), "{named:?}");
        assert!(named.iter().all(|(_, _, words)| words.ends_with('.')));
    }

    #[test]
    fn what_the_state_machine_counts_is_added_under_its_name() {
        let counted = Counters {
            packets: 1,
            followed: 2,
            waited: 3,
            early: 4,
            options: 5,
            no_room: 6,
            held_back: 7,
            marked: 8,
            buffer_full: 9,
            table_full: 10,
            displaced: 11,
            ..Counters::default()
        };
        let mut totals = Totals { packets: 100, throttles: 100, unknown: 12, ..Totals::default() };
        totals.count(&counted, Some(&ControlCounters { throttles: 13, ..ControlCounters::default() }));
        totals.count(&counted, None);
        let expected = Totals {
            packets: 102,
            followed: 4,
            waited: 6,
            early: 8,
            options: 10,
            no_room: 12,
            windows_reduced: 14,
            marked: 16,
            buffer_full: 18,
            table_full: 20,
            displaced: 22,
            throttles: 113,
            unknown: 12,
            ..Totals::default()
        };
        assert_eq!(totals, expected);
    }

    #[test]
    fn waits_are_in_milliseconds() {
        let mut waits = Lateness::default();
        (0..99).for_each(|_| waits.record(Dur::from_millis(20)));
        waits.record(Dur::from_millis(700));
        let Waits { count, p50, p99, max } = Waits::from(&waits);
        assert!((p50 - 20.0).abs() < 1.0 && (p99 - 20.0).abs() < 1.0, "{p50} {p99}");
        assert_eq!((count, max), (100, 700.0));
    }
}
