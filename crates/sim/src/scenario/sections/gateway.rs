//! `[gateway]`: what happens to packets between the mesh and the wired side.

use crate::scenario::key::{Fallback::*, Kind, Number, Share, choice, number, rate, section, share, size, time};
use fourhop_units::{Bytes, Dur, Rate};

choice! {
    /// What happens at a gateway.
    GatewayKind {
        Plain = "plain", "packets are passed on";
        Gap = "gap", "adaptive pacing and goodput control, for senders and receivers that need not know of it (TCP-GAP)";
        FairShare = "fair-share", "each flow into the mesh leaves at the same part of `capacity`";
        FqCodel = "fq-codel", "FQ-CoDel for what goes into the mesh, before the interface or a shaper of `capacity`";
    }
}

section! {
    /// What gateways do with packets between the mesh and the wired side; beside `[wired]` only. docs/tcp-gap.md has the
    /// formulas. The pacing of `gap` takes its parameters from `[tcp_ap]`, as do wireless senders with `tcp-ap`, which are
    /// TCP-GAP's.
    GatewayKeys = "gateway" {
        /// What happens.
        kind: GatewayKind, Kind::Choice(GatewayKind::CHOICES), Both("plain");
        /// `gap`: is what comes from wired senders paced?
        pacing: bool, Kind::Bool, Both("true");
        /// `gap`: do acknowledgements tell wireless senders the wired part of the round trip?
        option: bool, Kind::Bool, Both("true");
        /// `gap`: are flows throttled that run ahead of the others?
        goodput_control: bool, Kind::Bool, Both("true");
        /// S: so many times the mean goodput is too fast.
        threshold: Number, number("1", "1000"), Both("1.1");
        /// How often goodputs are compared.
        interval: Dur, time("10ms", "1000s"), Both("5s");
        /// By how much the slower flows must gain for a throttle to stay.
        gain: Share, share("0%", "100%"), Both("5%");
        /// By how much a throttled rate rises in each interval.
        ageing: Share, share("0%", "100%"), Both("5%");
        /// Intervals after a throttle that was in vain before the next is tried.
        rest: u32, Kind::Int(0, 1_000_000), Both("4");
        /// Flows a gateway knows at the same time; more of them pass.
        flows: u32, Kind::Int(1, 10_000_000), Both("4096");
        /// `gap`: payload that may wait in all flows together.
        buffer: Bytes, size("0B", "100GB"), Both("18688kB");
        /// `gap`: payload that may wait in one flow, if its receiver's window is not smaller.
        flow_buffer: Bytes, size("1B", "1GB"), Both("1MB");
        /// A flow that is silent for this long is forgotten.
        idle_timeout: Dur, time("1s", "1000000s"), Both("180s");
        /// The same for a flow of which only one side has been heard.
        half_open_timeout: Dur, time("1s", "1000000s"), Both("30s");
        /// What all flows share under `fair-share`, where it is required; rate of the shaper of `fq-codel`, none: there is no shaper.
        capacity: Option<Rate>, rate("1kbps", "100Gbps"), Both("none");
        /// `fair-share`: packets that may wait in a flow. `fq-codel`: in all.
        queue: Option<u32>, Kind::Int(1, 1_000_000), Computed("50; `fq-codel`: 10240");
        /// `fq-codel`: packets that may wait at the wireless interface without a shaper.
        backlog: u32, Kind::Int(1, 1_000_000), Both("2");
        /// `fq-codel`: acceptable delay of a queue.
        target: Dur, time("1us", "1000s"), Both("5ms");
        /// `fq-codel`: worst round trip expected.
        codel_interval: Dur, time("1us", "1000s"), Both("100ms");
    }
}
