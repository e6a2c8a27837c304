//! Options of a gateway.

use fourhop_cc::tcp_ap;
use fourhop_units::Dur;

/// How data into the mesh is paced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// By an interval between packets, as in the paper.
    Gap,
    /// By AP2's window, in bursts (`windowed.rs`).
    Ap2,
}

/// Options and limits of a gateway.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// How flows from the wired to the wireless side are paced.
    pub mode: Mode,
    /// Whether flows from the wired to the wireless side are paced. The paper, section 4.3.
    pub pacing: bool,
    /// Whether the wired part of the round trip is reported to wireless senders. Section 4.2.
    pub option: bool,
    /// Throttling of flows that get ahead of the others. Section 4.4.
    pub goodput_control: Option<GoodputControl>,
    /// How often the intervals of flows into the mesh are equalised (`even.rs`); `None`: each flow has its own, as in
    /// the paper.
    pub even: Option<Dur>,
    /// Maximum pacing delay of a packet, which the gateway achieves by reducing advertised windows in passing
    /// acknowledgements (`window.rs`). `None`: only the receiver's window limits it, as in the paper.
    pub sojourn: Option<Dur>,
    /// Whether windows are rounded to whole segments. Linux fills a window to its last byte, so every other segment may
    /// be short, and each takes an interval.
    pub whole_segments: bool,
    /// Whether receivers may delay acknowledgements (`delayed.rs`). Those in the paper acknowledge every segment.
    pub delayed_acks: bool,
    /// Whether a round trip counts as at least the time that its bits take on the links. On a link with bursts of its
    /// own (a token bucket, a switch that polices only later) round trips are shorter and vary by many times their
    /// mean, a variation by which adaptive pacing multiplies.
    pub least_round_trip: bool,
    /// Whether the gateway only measures and computes: no packet waits, and none is changed.
    pub observe: bool,
    /// Parameters of TCP-AP, which determine the interval.
    pub pace: tcp_ap::Params,
    /// Maximum size of a departing packet in bytes: a longer one would be fragmented. IEEE 802 links: 1500.
    pub mtu: u32,
    /// Maximum number of flows tracked at the same time.
    pub flows: u32,
    /// Maximum number of wireless nodes whose distance is stored at the same time.
    pub nodes: u32,
    /// Payload bytes that may be queued in all flows together. The paper, section 4.3: the sum of the advertised
    /// windows.
    pub buffer: u64,
    /// Payload bytes that may be queued in one flow; fewer if its receiver advertises less.
    pub flow_buffer: u32,
    /// Packets that may be queued in one flow, including those without payload.
    pub flow_packets: u32,
    /// A flow silent for this long is forgotten. The paper: a few minutes.
    pub idle_timeout: Dur,
    /// The same for a flow with packets from one side only.
    pub half_open_timeout: Dur,
}

/// Flows for whose sake goodput control throttles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Among {
    /// Slow flows out of the mesh, as the title of section 4.4 says: flows of one direction share evenly without
    /// control, and what is taken from one of them is lost.
    Oncoming,
    /// Slow flows of either direction, as its text says.
    All,
}

/// Parameters of goodput control (section 4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoodputControl {
    /// Flows whose slowness counts.
    pub among: Among,
    /// S in thousandths: a flow is fast above S times the mean. The paper: 1100.
    pub threshold: u32,
    /// How often goodputs are compared. The paper: 5 s.
    pub interval: Dur,
    /// Minimum gain of the other flows, in thousandths of the throttled flows' loss, for throttles to stay. The paper:
    /// "an increase". Assumed: 100, because a sender that has slowed down takes many round trips to gain more.
    pub gain: u32,
    /// Rise of a throttled rate per interval, in thousandths. Not specified in the paper. Assumed: 30.
    pub ageing: u32,
    /// Intervals between a throttle without effect and the next one; doubled after each further failure, at most three
    /// times. Not specified in the paper. Assumed: 4.
    pub rest: u32,
}

impl GoodputControl {
    /// Returns the paper's values, and our own where it has none.
    pub const fn paper() -> GoodputControl {
        GoodputControl {
            among: Among::Oncoming,
            threshold: 1_100,
            interval: Dur::from_secs(5),
            gain: 100,
            ageing: 30,
            rest: 4,
        }
    }
}

impl Config {
    /// Returns the paper's gateway, with room for 4096 flows and, as in section 4.3, 64 segments of 1460 bytes for each
    /// of 200.
    pub const fn paper() -> Config {
        Config {
            mode: Mode::Gap,
            pacing: true,
            option: true,
            goodput_control: Some(GoodputControl::paper()),
            even: None,
            sojourn: None,
            whole_segments: false,
            delayed_acks: false,
            least_round_trip: false,
            observe: false,
            pace: tcp_ap::Params::paper(),
            mtu: 1_500,
            flows: 4_096,
            nodes: 4_096,
            buffer: 200 * 64 * 1_460,
            flow_buffer: 1 << 20,
            flow_packets: 1_024,
            idle_timeout: Dur::from_secs(180),
            half_open_timeout: Dur::from_secs(30),
        }
    }
}
