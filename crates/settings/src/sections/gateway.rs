//! `[gateway]`: treatment of packets between the mesh and the wired side.

use crate::key::{Choice, Fallback::*, Kind, Section, number, rate, share, size, time};
use crate::layer::FieldValue;
use crate::sections::Profile;
use crate::value::{Field, Number, Share};
use crate::{choice, section};
use fourhop_cc::tcp_ap;
use fourhop_proto::gateway::{self, Among, FqCodelConfig, GoodputControl, Mode};
use fourhop_units::{Bytes, Dur, Rate};

choice! {
    /// The algorithm of a gateway.
    GatewayKind {
        Plain = "plain", "forwarding only";
        Gap = "gap", "adaptive pacing and goodput control (TCP-GAP)";
        Ap2 = "ap2", "AP2's windows for wired senders";
        FairShare = "fair-share", "an equal share of `capacity` for each flow";
        FqCodel = "fq-codel", "FQ-CoDel before the interface or a shaper of `capacity`";
    }
}

choice! {
    for Mode {
        Gap = "gap", "intervals, as in the paper";
        Ap2 = "ap2", "AP2's windows (docs/ap2.md)";
    }
}

choice! {
    for Among {
        Oncoming = "oncoming", "slow flows from the mesh";
        All = "all", "slow flows of either direction";
    }
}

/// Defaults of goodput control.
const GOODPUT: GoodputControl = GoodputControl::paper();
/// Default of `sojourn` with `ap2`.
const AP2_SOJOURN: Dur = Dur::from_millis(5);
/// Interval at which AP2's limits of airtime are set.
const AP2_SHARING: Dur = Dur::from_millis(100);
/// Defaults of FQ-CoDel.
const FQ_CODEL: FqCodelConfig = FqCodelConfig::rfc8290();

section! {
    /// Treatment of packets between mesh and wires, together with `[wired]`. docs/tcp-gap.md has the formulas. The
    /// pacing of `gap` takes its parameters from `[tcp_ap]`, as do TCP-GAP's wireless senders with `tcp-ap`.
    GatewayKeys = "gateway" of gateway::Config {
        /// Treatment of packets into the mesh.
        kind: GatewayKind, Kind::Choice(GatewayKind::CHOICES), Both("plain");
        /// `gap`, `ap2`: pace wired senders.
        pacing: bool, Kind::Bool => pacing;
        /// `gap`, `ap2`: write the wired part of the round trip into acknowledgements for wireless senders.
        option: bool, Kind::Bool => option;
        /// `gap`: throttle flows that are faster than the others.
        goodput_control: bool, Kind::Bool, Both("true");
        /// Flows that throttling protects.
        among: Among, Kind::Choice(Among::CHOICES), Layer(|_| GOODPUT.among.to_value());
        /// S: a flow into the mesh with more than S times the mean goodput is throttled.
        threshold: Number, number("1", "1000"), Layer(|_| Number::thousandths(GOODPUT.threshold).to_value());
        /// Time between comparisons of goodput.
        interval: Dur, time("10ms", "1000s"), Layer(|_| GOODPUT.interval.to_value());
        /// Minimum gain of the others, as a share of the throttled flows' loss, that keeps throttles in place.
        gain: Share, share("0%", "100%"), Layer(|_| Share::thousandths(GOODPUT.gain).to_value());
        /// Increase of a throttled rate per interval.
        ageing: Share, share("0%", "100%"), Layer(|_| Share::thousandths(GOODPUT.ageing).to_value());
        /// Number of intervals between an ineffective throttle and the next attempt; more after several of them.
        rest: u32, Kind::Int(0, 1_000_000), Layer(|_| GOODPUT.rest.to_value());
        /// Maximum number of flows that a gateway tracks at the same time; packets of further flows pass unpaced.
        flows: u32, Kind::Int(1, 10_000_000) => flows;
        /// `gap`, `ap2`: payload limit of all flows together.
        buffer: Bytes, size("0B", "100GB") => buffer;
        /// `gap`, `ap2`: payload limit of one flow, if its receiver's window is not smaller.
        flow_buffer: Bytes, size("1B", "1GB"), Both("1MB") => flow_buffer;
        /// `gap`, `ap2`: maximum wait of packets to be paced; the gateway lowers advertised windows to reach it. None:
        /// no limit, as in the paper; with `ap2` 5 ms, or 20 ms with 802.11b.
        sojourn: Option<Dur>, time("1ms", "1000s") => sojourn;
        /// Time after which a silent flow is forgotten.
        idle_timeout: Dur, time("1s", "1000000s") => idle_timeout;
        /// Time after which a silent half-open flow is forgotten.
        half_open_timeout: Dur, time("1s", "1000000s") => half_open_timeout;
        /// `fair-share`: capacity that flows share; required. `fq-codel`: rate of the shaper; none: no shaper.
        capacity: Option<Rate>, rate("1kbps", "100Gbps"), Both("none");
        /// `fair-share`: packet limit of each flow. `fq-codel`: packet limit of all flows together.
        queue: Option<u32>, Kind::Int(1, 1_000_000), Computed("50; `fq-codel`: 10240");
        /// `fq-codel`: packet limit at the wireless interface without a shaper. With aggregates, set it to twice their
        /// size, or use `link.queue = "fq-codel"`.
        backlog: u32, Kind::Int(1, 1_000_000), Layer(|_| FQ_CODEL.backlog.to_value());
        /// `fq-codel`: acceptable delay of a queue.
        target: Dur, time("1us", "1000s"), Layer(|_| FQ_CODEL.codel.target.to_value());
        /// `fq-codel`: maximum expected round trip.
        codel_interval: Dur, time("1us", "1000s"), Layer(|_| FQ_CODEL.codel.interval.to_value());
        /// `fq-codel`: mark packets of TCP connections that use ECN (`tcp.ecn`) instead of dropping them (RFC 3168).
        ecn: bool, Kind::Bool, Both("false");
    }
}

impl GatewayKeys {
    /// Returns the configuration of TCP-GAP at a gateway to a mesh of `nodes` nodes; `pace` paces flows into the mesh.
    pub fn gap(&self, profile: Profile, pace: tcp_ap::Params, nodes: u32) -> gateway::Config {
        gateway::Config {
            goodput_control: self.goodput_control.then_some(GoodputControl {
                among: self.among,
                threshold: self.threshold.to_field(),
                interval: self.interval,
                gain: self.gain.per_mille(),
                ageing: self.ageing.per_mille(),
                rest: self.rest,
            }),
            pace,
            nodes,
            ..self.configured(profile)
        }
    }

    /// Returns the same with AP2's windows.
    pub fn ap2(&self, profile: Profile, pace: tcp_ap::Params, nodes: u32) -> gateway::Config {
        gateway::Config {
            mode: Mode::Ap2,
            goodput_control: None,
            sojourn: self.sojourn.or(Some(AP2_SOJOURN)),
            even: Some(AP2_SHARING),
            whole_segments: true,
            ..self.gap(profile, pace, nodes)
        }
    }
}
