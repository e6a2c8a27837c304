//! Options of a gateway.

use fourhop_cc::tcp_ap;
use fourhop_units::Dur;

/// How data into the mesh is paced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// By an interval, as in the paper.
    Gap,
    /// By AP2's window, in bursts (`windowed.rs`).
    Ap2,
}

/// Options and bounds of a gateway.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// How flows from the wired to the wireless side are paced.
    pub mode: Mode,
    /// Are flows from the wired to the wireless side paced? The paper, section 4.3.
    pub pacing: bool,
    /// Is the wired part of the round trip reported to wireless senders? Section 4.2.
    pub option: bool,
    /// Are flows throttled that run ahead of the others? Section 4.4.
    pub goodput_control: Option<GoodputControl>,
    /// How often intervals of flows into the mesh are made the same (`even.rs`); `None`: each flow has its own, as in
    /// the paper.
    pub even: Option<Dur>,
    /// Longest pacing delay of a packet; the gateway reduces advertised windows in passing acknowledgements to reach it
    /// (`window.rs`). `None`: the receiver's window alone limits it, as in the paper.
    pub sojourn: Option<Dur>,
    /// Round windows to whole segments. Linux fills a window to its last byte, so that every other segment may be
    /// short, and each takes an interval.
    pub whole_segments: bool,
    /// Are receivers expected that delay acknowledgements (`delayed.rs`)? The paper's acknowledge every segment.
    pub delayed_acks: bool,
    /// Does a round trip count for at least what its bits take on the links? One of a link with a burst of its own (a
    /// token bucket, a switch that passes what it polices later) is shorter, and varies by many times its mean, which
    /// adaptive pacing multiplies by.
    pub least_round_trip: bool,
    /// Is everything measured and computed, and nothing done: no packet waits, none is changed?
    pub observe: bool,
    /// Arithmetic of the interval; the parameters of TCP-AP.
    pub pace: tcp_ap::Params,
    /// Longest packet that may leave, in bytes: a longer one would be fragmented. IEEE 802 links: 1500.
    pub mtu: u32,
    /// Flows known at the same time.
    pub flows: u32,
    /// Wireless nodes whose distance is kept at the same time.
    pub nodes: u32,
    /// Payload bytes that may wait in all flows together. The paper, section 4.3: the sum of the advertised windows.
    pub buffer: u64,
    /// Payload bytes that may wait in one flow; fewer if its receiver advertises less.
    pub flow_buffer: u32,
    /// Packets that may wait in one flow, those without payload included.
    pub flow_packets: u32,
    /// A flow that is silent for this long is forgotten. The paper: a few minutes.
    pub idle_timeout: Dur,
    /// The same for a flow with packets of one side only.
    pub half_open_timeout: Dur,
}

/// For whose sake goodput control throttles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Among {
    /// For slow flows out of the mesh, as the title of section 4.4 says: those of one direction share evenly without
    /// control, and what is taken from one of them is lost.
    Oncoming,
    /// For slow flows of either direction, as its text says.
    All,
}

/// Parameters of goodput control (section 4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoodputControl {
    /// Whose slowness counts.
    pub among: Among,
    /// S in thousandths: a flow is fast above S times the mean. The paper: 1100.
    pub threshold: u32,
    /// How often goodputs are compared. The paper: 5 s.
    pub interval: Dur,
    /// The others must gain at least this part, in thousandths, of the throttled flows' loss for throttles to stay. The
    /// paper: "an increase". Assumed: 100, because a sender that has slowed down takes many round trips to gain more.
    pub gain: u32,
    /// By how much a throttled rate rises each interval, in thousandths. Open in the paper. Assumed: 30.
    pub ageing: u32,
    /// Intervals between a throttle that was in vain and the next; doubled after each further one in vain, three times
    /// at most. Open in the paper. Assumed: 4.
    pub rest: u32,
}

impl GoodputControl {
    /// The paper's values, and ours where it has none.
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
    /// The paper's gateway, with room for 4096 flows and, as in section 4.3, 64 segments of 1460 bytes for each of 200.
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
