//! Every choice that the TCP standards leave open, as named options in two profiles.

use super::ack_policy::ReceiverPolicy;
use super::adhoc::{Clock, SenderOptions};
use fourhop_cc::{Params, rbp};
use fourhop_units::Dur;

/// Segments from which the retransmission timer takes round-trip samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RttSampling {
    /// One segment of new data at a time is timed; loss cancels it (RFC 6298 section 3, the minimum; ns-2.35).
    OneTimedSegment,
    /// Each ACK that covers only segments sent once, or carries a timestamp echo (RFC 7323 section 4).
    EveryAck,
}

/// The window that a loss reduces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowCut {
    /// The congestion window with its inflation, at most [`Config::window_limit`]; halving keeps half segments
    /// (ns-2.35).
    WindowInUse,
    /// The data in flight, in whole segments (RFC 5681 equation 4).
    FlightSize,
}

/// How SACK-based transports recover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SackRecovery {
    /// RFC 6675: the scoreboard determines what is lost and how much is in flight.
    Scoreboard,
    /// RFC 8985: a segment is lost once one sent later has arrived and a reordering window has passed; a probe asks
    /// about the last segments. Receivers report duplicates (RFC 2883). Ad hoc TCP senders use the scoreboard instead.
    RackTlp,
    /// ns-2.35's `Sack1`: recovery begins at exactly the third ACK that reports something, and not while a timeout is
    /// being repaired; the data in flight is counted (outstanding minus three, minus one per ACK, minus two per partial
    /// ACK); every hole below the highest report is retransmitted once, in ascending order, before new data; outside
    /// recovery, duplicate ACKs trigger nothing but limited transmit; the ACK that ends recovery clears the scoreboard
    /// and the recovery point.
    PipeCounter,
}

/// When segments that the window allows leave, if congestion control asks for an interval; see [`Pacer`](super::Pacer).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// As soon as the interval since the previous one has passed.
    Gate,
    /// Segments leave at once unless the timer started by the previous one is running; when it fires, one segment
    /// leaves and restarts it. The timer stops if the window is closed. Data that a timeout marks as unsent again waits
    /// like new data; fast retransmissions and limited transmit (RFC 3042) neither wait nor start the timer. The
    /// retransmission timer keeps running while only waiting data is left to send; when it expires, the window is one
    /// segment. Model: a pacing agent on ns-2.35's NewReno, whose sender always has data in flight while it may send,
    /// unless it is paced.
    Timer,
    /// At the ticks of a timer, one segment per tick.
    Slots,
    /// From a queue drained by such a timer, as in the TCP-AP authors' own ns-2 agent.
    Queue,
}

/// The clock of a pacing gate ([`Release::Gate`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacingClock {
    /// Tick length, above zero; 1 ns stands for a fine-grained clock. Linux 2.4 on a PC: 10 ms.
    pub tick: Dur,
    /// Rounding of intervals that are not a whole number of ticks.
    pub rounding: Rounding,
}

impl PacingClock {
    /// Practically no rounding.
    pub const FINE: PacingClock = PacingClock { tick: Dur::from_nanos(1), rounding: Rounding::Up };
}

/// How a ticking clock keeps an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Rounded up: at most one segment per tick.
    Up,
    /// Rounded down: an interval shorter than a tick becomes zero.
    Down,
    /// Kept on average: each tick releases all segments that have come due since the previous tick.
    Carry,
}

/// Where a sender gets its hop count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HopSource {
    /// Its own routing table.
    Routing,
    /// The time to live of received packets, counted down from the next of 30, 32, 64, 128 and 255.
    Ttl,
    /// How often the received packet was forwarded, which only a simulator counts.
    Travelled,
}

/// Round trips that a driver reports with [`fourhop_cc::Hint::RoundTrip`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundTrips {
    /// None.
    Unknown,
    /// Since the creation of the segment that the receiver echoes under RFC 7323 section 4.3: the first one that a
    /// delayed ACK covers, so that the delay counts.
    Echoed,
    /// Since the creation of the segment that the ACK answers: the last to have arrived.
    Latest,
}

/// Reports from a sender's driver, besides its own route and interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathHints {
    /// Source of the hop count.
    pub hops: HopSource,
    /// The round trip reported with each ACK, as if every packet had a timestamp.
    pub round_trips: RoundTrips,
    /// The delay to the node this many hops away, or to the receiver if closer, measured with synchronised clocks.
    pub forward_delay_over: Option<u8>,
}

impl PathHints {
    /// Only the route.
    pub const PLAIN: PathHints =
        PathHints { hops: HopSource::Routing, round_trips: RoundTrips::Unknown, forward_delay_over: None };
}

/// Options of a connection. Plain data: start from a profile and change fields.
#[derive(Clone, Debug)]
pub struct Config {
    /// Largest segment payload in bytes, and the value of the MSS option. ns-2.35 scenarios here: 1460. Standard: 1460
    /// over Ethernet-sized links.
    pub mss: u32,
    /// RFC 6691: peers that send no MSS option get 536 bytes. 536 in both profiles.
    pub mss_without_option: u32,
    /// Initial congestion window in segments. ns-2.35: 2 (after a "SYN" under window 1). RFC 6928: 10.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments. ns-2.35: the class's `window_`, 64 in the reference scenarios. RFC
    /// 5681: arbitrarily high.
    pub initial_ssthresh: u32,
    /// Upper limit of data in flight, in segments (`window_` of ns-2.35: 64 in the reference scenarios); `None` leaves
    /// it to the peer's window. Unlike [`Config::cwnd_clamp`] it does not stop the window from growing.
    pub window_limit: Option<u32>,
    /// Upper limit of the congestion window in segments.
    pub cwnd_clamp: u32,
    /// Whether the window grows only while it limits the sender. ns-2.35: no. RFC 9293 and Linux: yes.
    pub grow_only_when_limited: bool,
    /// Most segments that one ACK contributes to growth, however many it acknowledges. ns-2.35 and RFC 5681: 1; RFC
    /// 3465: 2, which keeps pace with delayed ACKs.
    pub growth_limit: u32,
    /// Duplicate ACKs that signal a loss (RFC 5681: 3).
    pub dup_ack_threshold: u32,
    /// RFC 3042: one new segment for each of the first two duplicate ACKs. On in both profiles.
    pub limited_transmit: bool,
    /// The window that a loss reduces.
    pub window_cut: WindowCut,
    /// Whether a repeated timeout of the same segment cuts the threshold again (ns-2.35); RFC 5681 section 3.1 keeps
    /// it.
    pub cut_on_each_timeout: bool,
    /// New segments that one ACK may release during NewReno's fast recovery. ns-2.35: 2.
    pub recovery_burst: Option<u32>,
    /// Whether the retransmission timer restarts only at the first partial ACK (RFC 6582's "impatient" variant;
    /// ns-2.35). The "slow but steady" variant restarts it at each.
    pub impatient: bool,
    /// Whether the full ACK that ends recovery also grows the window (ns-2.35). The window then stays as reduced,
    /// however little is in flight. RFC 6582 section 3.2 step 3: no growth, and at most the data in flight plus one
    /// segment.
    pub grow_on_full_ack: bool,
    /// Tick of the clock that measures round trips. ns-2.35: 10 ms; 1 ns stands for a fine-grained clock.
    pub rtt_tick: Dur,
    /// Segments whose round trips are measured.
    pub rtt_sampling: RttSampling,
    /// Timeout before the first sample. ns-2.35: 3 s. RFC 6298 section 2.1: 1 s.
    pub rto_initial: Dur,
    /// Minimum timeout. ns-2.35: 0.2 s. RFC 6298 section 2.4: 1 s. Affects chains by at most 2 %.
    pub rto_min: Dur,
    /// Maximum timeout, with back-off. 60 s in both profiles (RFC 6298 section 2.5).
    pub rto_max: Dur,
    /// Clock granularity G of RFC 6298 equation 2.3. ns-2.35 has no such term.
    pub rto_granularity: Dur,
    /// Minimum wait before the first probe of a closed window. RFC 9293 section 3.8.6.1 recommends one timeout, which
    /// is zero here; 4.4BSD: 5 s (`TCPTV_PERSMIN`). ns-2.35 has no persist timer.
    pub persist_min: Dur,
    /// Back-off factor beyond which the smoothed round trip is discarded. ns-2.35: 8. RFC 6298 section 5.7 allows it.
    pub forget_srtt_beyond_backoff: Option<u32>,
    /// Consecutive timeouts after which the connection is abandoned; `None`: never (ns-2.35). RFC 9293 section 3.8.3
    /// asks for at least 100 s; 15 take about 9 minutes.
    pub max_timeouts: Option<u32>,
    /// Whether retransmissions also wait for the pacing interval.
    pub pace_retransmissions: bool,
    /// Whether the stack paces segments by itself, as Linux does with `fq`; see `stack_pacing`. No effect if the
    /// algorithm asks for its own interval.
    pub stack_pacing: bool,
    /// When paced segments leave. A pacing agent on ns-2.35's NewReno: by its single timer.
    pub release: Release,
    /// The clock of a gate.
    pub pacing_clock: PacingClock,
    /// Whether the timeout doubles each time (RFC 6298 section 5.5). The TCP-AP authors' agent: no.
    pub rto_backoff: bool,
    /// Hints that the driver gives the sender.
    pub path_hints: PathHints,
    /// Whether the driver records when segments could first leave, and when their bytes are delivered. Nothing else
    /// changes.
    pub delivery_ages: bool,
    /// RFC 9293 section 3.7.4: hold back small segments while data is in flight. Off in both profiles.
    pub nagle: bool,
    /// Offer timestamps (RFC 7323). ns-2.35: off (they cost 1 to 7 % there: 12 bytes more on each ACK and segment).
    pub timestamps: bool,
    /// The timestamp clock.
    pub clock: Clock,
    /// The sender side of ad hoc TCP; inactive until the peer shows that it is an ad hoc receiver.
    pub adhoc_sender: Option<SenderOptions>,
    /// Offer ECN (RFC 3168). Off in both profiles.
    pub ecn: bool,
    /// Offer selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Most SACK blocks in an ACK; four fit, or three with timestamps. ns-2.35's sink: 3.
    pub sack_blocks: u32,
    /// How SACK-based transports recover.
    pub sack_recovery: SackRecovery,
    /// Whether congestion control samples the round trip of the newest segment that an ACK covers, even if it waited at
    /// the receiver for a retransmission (ns-2.35's Vegas). Karn's rule in its wide sense: no.
    pub sample_behind_holes: bool,
    /// Vegas: whether a retransmission by the fine clock also doubles the coarse timeout (ns-2.35). Brakmo et al.: no.
    pub vegas_backs_off: bool,
    /// Vegas: whether the window stays inflated by duplicate ACKs unless more than the threshold of them arrived
    /// (ns-2.35). Otherwise the next new ACK deflates it.
    pub vegas_keeps_inflation: bool,
    /// Vegas: whether data segments take air time without their TCP and IP headers (ns-2.35, whose Vegas forgets to add
    /// them: 1.7 % more goodput over one hop, nothing measurable from 4).
    pub vegas_without_header: bool,
    /// Parameters of congestion control.
    pub cc: Params,
    /// Receive buffer in bytes. ns-2.35's sink has no limit: 1 GiB, the most that window scaling can express.
    pub receive_buffer: u32,
    /// Whether the application reads with [`Socket::read`](super::Socket::read) rather than at once; the window can
    /// then close.
    pub explicit_read: bool,
    /// When the receiver acknowledges. ns-2.35's sink: every segment. RFC 9293 section 3.8.6.3: delayed.
    pub receiver: ReceiverPolicy,
    /// Time in TIME-WAIT, two maximum segment lifetimes. RFC 9293: 4 minutes; 60 s in both profiles, as in Linux.
    pub time_wait: Dur,
}

impl Config {
    /// ns-2.35's `Agent/TCP/Newreno` with a `TCPSink`, as closely as a TCP with a handshake and bytes can match it.
    pub const fn ns2() -> Config {
        Config {
            mss: 1460,
            mss_without_option: 536,
            initial_window: 2,
            initial_ssthresh: 64,
            window_limit: Some(64),
            cwnd_clamp: u32::MAX,
            grow_only_when_limited: false,
            growth_limit: 1,
            dup_ack_threshold: 3,
            limited_transmit: true,
            window_cut: WindowCut::WindowInUse,
            cut_on_each_timeout: true,
            recovery_burst: Some(2),
            impatient: true,
            grow_on_full_ack: true,
            rtt_tick: Dur::from_millis(10),
            rtt_sampling: RttSampling::OneTimedSegment,
            rto_initial: Dur::from_secs(3),
            rto_min: Dur::from_millis(200),
            rto_max: Dur::from_secs(60),
            rto_granularity: Dur::ZERO,
            persist_min: Dur::ZERO,
            forget_srtt_beyond_backoff: Some(8),
            max_timeouts: None,
            pace_retransmissions: false,
            stack_pacing: false,
            release: Release::Timer,
            pacing_clock: PacingClock::FINE,
            rto_backoff: true,
            path_hints: PathHints::PLAIN,
            delivery_ages: false,
            nagle: false,
            timestamps: false,
            clock: Clock::OWN,
            adhoc_sender: None,
            ecn: false,
            sack: false,
            sack_blocks: 3,
            sack_recovery: SackRecovery::PipeCounter,
            sample_behind_holes: true,
            vegas_backs_off: true,
            vegas_keeps_inflation: true,
            vegas_without_header: true,
            cc: Params { pacing_samples: rbp::Samples::EveryAck, ..Params::new() },
            receive_buffer: 1 << 30,
            explicit_read: false,
            receiver: ReceiverPolicy::EVERY_SEGMENT,
            time_wait: Dur::from_secs(60),
        }
    }

    /// The standards as written. Fields not listed here keep their ns-2.35 values.
    pub const fn standard() -> Config {
        Config {
            initial_window: 10,
            initial_ssthresh: u32::MAX,
            window_limit: None,
            grow_only_when_limited: true,
            growth_limit: 2,
            window_cut: WindowCut::FlightSize,
            cut_on_each_timeout: false,
            recovery_burst: None,
            grow_on_full_ack: false,
            rtt_tick: Dur::from_nanos(1),
            rtt_sampling: RttSampling::EveryAck,
            rto_initial: Dur::from_secs(1),
            rto_min: Dur::from_secs(1),
            rto_granularity: Dur::from_millis(1),
            forget_srtt_beyond_backoff: None,
            max_timeouts: Some(15),
            release: Release::Gate,
            timestamps: true,
            sack: true,
            sack_blocks: 4,
            sack_recovery: SackRecovery::Scoreboard,
            sample_behind_holes: false,
            vegas_backs_off: false,
            vegas_keeps_inflation: false,
            vegas_without_header: false,
            cc: Params::new(),
            receive_buffer: 1 << 20,
            receiver: ReceiverPolicy::delayed(Dur::from_millis(40)),
            ..Config::ns2()
        }
    }

    /// The same with the timers of ns-2 before October 2004, when they became finer: the round-trip clock ticks every
    /// 0.1 s, no timeout is below 1 s, and the first is 6 s (the defaults that ns-2.35's own test suites restore, with
    /// the dates); the window starts at 1 segment (ns Manual of 2003, chapter on TCP agents).
    pub const fn with_timers_of_2003(mut self) -> Config {
        self.rtt_tick = Dur::from_millis(100);
        self.rto_min = Dur::from_secs(1);
        self.rto_initial = Dur::from_secs(6);
        self.initial_window = 1;
        self
    }

    /// RFC 7323 section 2.2: the shift needed to express the receive buffer in 16 bits.
    pub const fn window_scale(&self) -> u8 {
        let mut shift = 0;
        while shift < 14 && (self.receive_buffer >> shift) > u16::MAX as u32 {
            shift += 1;
        }
        shift
    }
}
