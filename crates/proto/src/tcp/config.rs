//! Every choice that the TCP standards leave open, as named options in two bundles.

use super::ack_policy::ReceiverPolicy;
use super::adhoc::{Clock, SenderOptions};
use fourhop_cc::{Params, rbp};
use fourhop_units::Dur;

/// Segments that give round-trip samples to the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RttSampling {
    /// One segment of fresh data at a time is timed; loss cancels it (RFC 6298 section 3, the minimum; ns-2.35).
    OneTimedSegment,
    /// Each ACK that acknowledges only segments sent once, or carries a timestamp echo (RFC 7323 section 4).
    EveryAck,
}

/// From which window a loss cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowCut {
    /// The congestion window with its inflation, at most [`Config::window_limit`]; half a segment survives the halving
    /// (ns-2.35).
    WindowInUse,
    /// The data in flight, in whole segments (RFC 5681 equation 4).
    FlightSize,
}

/// How transports that recover by SACK do it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SackRecovery {
    /// RFC 6675: the scoreboard says what is lost and how much is in flight.
    Scoreboard,
    /// RFC 8985: what left before something that arrived is lost after a reordering window; a probe asks about the last
    /// segments. Receivers report what came twice (RFC 2883). Senders of ad hoc TCP take the scoreboard instead.
    RackTlp,
    /// ns-2.35's `Sack1`: recovery begins with exactly the third ACK that reports something and not while a time-out is
    /// repaired; the data in flight is counted (outstanding less three, one less per ACK, two less per partial ACK);
    /// every hole below the highest report goes once, upwards, before fresh data; nothing is sent on duplicate ACKs
    /// outside recovery but by limited transmit; the ACK that ends recovery forgets the scoreboard and the recovery
    /// point.
    PipeCounter,
}

/// When segments that the window allows leave, if congestion control asks for an interval; see [`Pacer`](super::Pacer).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// As soon as the interval since the last one has passed.
    Gate,
    /// Segments leave at once unless the timer of the segment before runs; when it fires, one leaves and restarts it.
    /// The timer stops if the window is closed. Data put back by a timeout waits like fresh data; fast retransmissions
    /// and limited transmit (RFC 3042) neither wait nor start the timer. The retransmission timer runs on while only
    /// waiting data is left to send; when it expires, the window is one segment. Model: a pacing agent on ns-2.35's
    /// NewReno; its sender always has data under way while it may send, unless it is paced.
    Timer,
    /// At the ticks of a timer, one a tick.
    Slots,
    /// From a queue that such a timer empties, as in the TCP-AP authors' own ns-2 agent.
    Queue,
}

/// The clock that a gate waits by ([`Release::Gate`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacingClock {
    /// Its tick, above zero; 1 ns represents a fine-grained clock. Linux 2.4 on a PC: 10 ms.
    pub tick: Dur,
    /// Rounding of an interval that is not a whole number of ticks.
    pub rounding: Rounding,
}

impl PacingClock {
    /// No rounding to speak of.
    pub const FINE: PacingClock = PacingClock { tick: Dur::from_nanos(1), rounding: Rounding::Up };
}

/// How an interval is kept by a clock that ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// It is rounded up: at most one segment a tick.
    Up,
    /// It is rounded down: one shorter than a tick is none.
    Down,
    /// It is kept on average: at a tick all segments leave whose time has come since the one before.
    Carry,
}

/// Where a sender has its number of hops from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HopSource {
    /// Its own routing table.
    Routing,
    /// The time to live of packets received, from the next of 30, 32, 64, 128 and 255 on.
    Ttl,
    /// How often the packet received was forwarded, which only a simulator counts.
    Travelled,
}

/// Round trips that a driver reports with [`fourhop_cc::Hint::RoundTrip`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundTrips {
    /// None.
    Unknown,
    /// Since the segment was made that RFC 7323 section 4.3 has the receiver echo: of those that one delayed ACK covers
    /// the first, so that the delay counts.
    Echoed,
    /// Since the segment was made that the ACK answers: the last to have arrived.
    Latest,
}

/// Reports of a sender's driver besides its own route and interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathHints {
    /// Where the number of hops comes from.
    pub hops: HopSource,
    /// The round trip reported with each ACK, as if every packet had a timestamp.
    pub round_trips: RoundTrips,
    /// The time to the node this many hops away, or to the receiver if it is nearer, with synchronised clocks.
    pub forward_delay_over: Option<u8>,
}

impl PathHints {
    /// The route alone.
    pub const PLAIN: PathHints =
        PathHints { hops: HopSource::Routing, round_trips: RoundTrips::Unknown, forward_delay_over: None };
}

/// Options of a connection. Plain data: start from a profile and change fields.
#[derive(Clone, Debug)]
pub struct Config {
    /// Largest segment payload in bytes, and what the MSS option says. ns-2.35 scenarios here: 1460. Standard: 1460
    /// over Ethernet-sized links.
    pub mss: u32,
    /// RFC 6691: peers that send no MSS option get 536 bytes. Standard and ns2 alike 536.
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
    /// Does the window grow only while it is what limits the sender? ns-2.35: no. RFC 9293 and Linux: yes.
    pub grow_only_when_limited: bool,
    /// Segments one ACK may add to growth, however many it acknowledges. ns-2.35 and RFC 5681: 1; RFC 3465: 2, which
    /// keeps pace with delayed ACKs.
    pub growth_limit: u32,
    /// Duplicate ACKs that mean a loss (RFC 5681: 3).
    pub dup_ack_threshold: u32,
    /// RFC 3042: one fresh segment for each of the first two duplicate ACKs. On in both.
    pub limited_transmit: bool,
    /// From which window a loss cuts.
    pub window_cut: WindowCut,
    /// A repeated time-out of the same segment cuts the threshold again (ns-2.35); RFC 5681 section 3.1 holds it.
    pub cut_on_each_timeout: bool,
    /// Fresh segments one ACK may release during NewReno's fast recovery. ns-2.35: 2.
    pub recovery_burst: Option<u32>,
    /// The retransmission timer restarts only at the first partial ACK (RFC 6582's "impatient" variant; ns-2.35). The
    /// "slow but steady" one restarts it at each.
    pub impatient: bool,
    /// The full ACK that ends recovery also grows the window (ns-2.35), and the window stays what it was cut to,
    /// however little is in flight. RFC 6582 section 3.2 step 3: no growth, and no more than in flight plus one
    /// segment.
    pub grow_on_full_ack: bool,
    /// Tick of the clock that measures round trips. ns-2.35: 10 ms; 1 ns represents a fine-grained clock.
    pub rtt_tick: Dur,
    /// Measured segments.
    pub rtt_sampling: RttSampling,
    /// Time-out before the first sample. ns-2.35: 3 s. RFC 6298 section 2.1: 1 s.
    pub rto_initial: Dur,
    /// Least time-out. ns-2.35: 0.2 s. RFC 6298 section 2.4: 1 s. Within 2 % of no effect on chains.
    pub rto_min: Dur,
    /// Largest time-out, with back-off. 60 s in both (RFC 6298 section 2.5).
    pub rto_max: Dur,
    /// Clock granularity G of RFC 6298 equation 2.3. ns-2.35 has no such term.
    pub rto_granularity: Dur,
    /// Least wait before a closed window is asked for the first time. RFC 9293 section 3.8.6.1 recommends one time-out,
    /// which is zero here; 4.4BSD: 5 s (`TCPTV_PERSMIN`). ns-2.35 has no persist timer.
    pub persist_min: Dur,
    /// Beyond this back-off factor the smoothed round trip is forgotten. ns-2.35: 8. RFC 6298 section 5.7 allows it.
    pub forget_srtt_beyond_backoff: Option<u32>,
    /// Time-outs in a row after which the connection is given up; `None`: never (ns-2.35). RFC 9293 section 3.8.3 asks
    /// for at least 100 s; 15 is about 9 minutes.
    pub max_timeouts: Option<u32>,
    /// Do retransmissions wait for the pacing interval too?
    pub pace_retransmissions: bool,
    /// Does the stack space segments by itself, as Linux does behind `fq`? See `stack_pacing`. Not where the algorithm
    /// asks for an interval of its own.
    pub stack_pacing: bool,
    /// When paced segments leave. A pacing agent on ns-2.35's NewReno: by its one timer.
    pub release: Release,
    /// By which clock, at a gate.
    pub pacing_clock: PacingClock,
    /// Does the time-out double each time (RFC 6298 section 5.5)? The TCP-AP authors' agent: no.
    pub rto_backoff: bool,
    /// Hints that the driver gives the sender.
    pub path_hints: PathHints,
    /// Is the driver to record when segments could first leave, and when their bytes are delivered? It changes nothing
    /// else.
    pub delivery_ages: bool,
    /// RFC 9293 section 3.7.4: hold back small segments while data is in flight. Off in both.
    pub nagle: bool,
    /// Offer timestamps (RFC 7323). ns-2.35: off (on costs 1 to 7 % there: 12 bytes more on each ACK and segment).
    pub timestamps: bool,
    /// Their clock.
    pub clock: Clock,
    /// The sender's side of ad hoc TCP; it does nothing until the peer shows that it is an ad hoc receiver.
    pub adhoc_sender: Option<SenderOptions>,
    /// Offer to listen to marks of queues (RFC 3168). Off in both.
    pub ecn: bool,
    /// Offer selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// SACK blocks an ACK carries at most; four fit, or three with timestamps. ns-2.35's sink: 3.
    pub sack_blocks: u32,
    /// How transports that recover by SACK do it.
    pub sack_recovery: SackRecovery,
    /// The round trip of the newest segment that an ACK covers counts for congestion control even where it waited at
    /// the receiver for a retransmission (ns-2.35's Vegas). Karn's rule in its wide sense: no.
    pub sample_behind_holes: bool,
    /// Vegas: a retransmission by the fine clock also doubles the coarse time-out (ns-2.35). Brakmo et al.: no.
    pub vegas_backs_off: bool,
    /// Vegas: the inflation that duplicate ACKs gave the window stays unless more than the threshold of them came
    /// (ns-2.35). Otherwise the next new ACK ends it.
    pub vegas_keeps_inflation: bool,
    /// Vegas: segments with data count without TCP and IP header on the air (ns-2.35, whose Vegas forgets to add them:
    /// 1.7 % more goodput over one hop, nothing measurable from 4).
    pub vegas_without_header: bool,
    /// Parameters of congestion control.
    pub cc: Params,
    /// Bytes of receive buffer. ns-2.35's sink has no limit: 1 GiB, the most window scaling can say.
    pub receive_buffer: u32,
    /// The application reads with [`Socket::read`](super::Socket::read) instead of at once, so that the window can
    /// close.
    pub explicit_read: bool,
    /// When the receiver acknowledges. ns-2.35's sink: every segment. RFC 9293 section 3.8.6.3: delayed.
    pub receiver: ReceiverPolicy,
    /// Two maximum segment lifetimes in TIME-WAIT. RFC 9293: 4 minutes; 60 s as in Linux in both.
    pub time_wait: Dur,
}

impl Config {
    /// ns-2.35's `Agent/TCP/Newreno` with a `TCPSink`, as far as a TCP with a handshake and bytes can be that.
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

    /// The standards as written. Fields not named here are as in ns-2.35.
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

    /// The same with the timers of ns-2 before October 2004, when they became finer: the clock of round trips ticks
    /// every 0.1 s, no time-out is below 1 s and the first one is 6 s (the defaults that ns-2.35's own test suites set
    /// back, with the dates); the window starts with 1 segment (ns Manual, chapter on TCP agents, of 2003).
    pub const fn with_timers_of_2003(mut self) -> Config {
        self.rtt_tick = Dur::from_millis(100);
        self.rto_min = Dur::from_secs(1);
        self.rto_initial = Dur::from_secs(6);
        self.initial_window = 1;
        self
    }

    /// RFC 7323 section 2.2: the shift with which 16 bits can state the receive buffer.
    pub const fn window_scale(&self) -> u8 {
        let mut shift = 0;
        while shift < 14 && (self.receive_buffer >> shift) > u16::MAX as u32 {
            shift += 1;
        }
        shift
    }
}
