//! The sending half of a connection: data in flight, its state, and the next segment.
//!
//! | file | content |
//! |---|---|
//! | `space` | the send sequence space and the list of segments in flight |
//! | `ack` | acknowledgements and their effects |
//! | [`recovery`] | the strategies that find and repair losses: Reno and NewReno, SACK, RACK-TLP, Vegas's fine clock |
//! | `loss`, `undo` | window reductions after losses; the retransmission timer; spurious timeouts (RFC 3522) |
//! | `probes` | RACK-TLP's timer: the reordering window and the tail probe |
//! | `control` | congestion control with its window; `stack_pacing`: the pacing interval of Linux's stack |
//! | `output`, `depart` | choosing the next segment; sending it |
//! | [`pacer`](Pacer), `queue`, `release` | releasing it, if congestion control asks for an interval |
//! | `freezing` | ad hoc TCP's frozen state |
//! | `rtt` | RFC 6298 and ns-2.35's coarse clock |

mod ack;
mod control;
mod depart;
mod freezing;
mod loss;
mod output;
mod pacer;
mod probes;
mod queue;
mod recovery;
mod release;
mod rtt;
mod space;
mod stack_pacing;
mod undo;

pub use pacer::{Admission, Pacer, Tick};

use super::adhoc::Freeze;
use super::config::{Config, Release, SackRecovery};
use super::context::Context;
use super::ecn::Answer;
use super::position::Pos;
use super::stats::Stats;
use super::timers::Timer;
use crate::wire::TcpSegment;
use control::Control;
use fourhop_cc::{CaState, Hint, Recovery as Recovers, Transport, View, Window};
use fourhop_units::{Dur, Seq, Time};
use queue::SendQueue;
use recovery::{Rack, Recovery, Strategy};
use rtt::RttEstimator;
use space::SendSpace;
use undo::BeforeTimeout;

/// The sending half.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) config: Config,
    pub(super) space: SendSpace,
    pub(super) control: Control,
    pub(super) recovery: Recovery,
    strategy: Strategy,
    pub(super) rtt: RttEstimator,
    pacer: Pacer,
    /// Segments sent so far in the current burst; 0 outside one.
    in_burst: u32,
    /// Present under [`Release::Queue`].
    queue: Option<SendQueue>,
    /// Ad hoc TCP: whether the sender is frozen.
    pub(super) freeze: Freeze,
    ecn: Answer,
    /// The window before the last timeout, until new data is acknowledged.
    before_timeout: Option<BeforeTimeout>,
    /// Consecutive window probes.
    probes: u32,
    /// All counters except the receiver's.
    pub(super) stats: Stats,
}

impl Sender {
    pub(super) fn new(mut config: Config, transport: &'static Transport, iss: Seq) -> Sender {
        config.sack |= transport.uses_sack();
        config.stack_pacing &= !transport.owns_window();
        if transport.owns_window() || config.stack_pacing {
            // Only a gate keeps a rate; the other ways are those of ns-2 agents.
            config.release = Release::Gate;
        }
        let initial = Window {
            cwnd: config.initial_window.clamp(1, config.cwnd_clamp),
            cwnd_cnt: 0,
            ssthresh: config.initial_ssthresh.max(2),
            cwnd_clamp: config.cwnd_clamp,
            pacing: None,
            burst: 1,
        };
        Sender {
            space: SendSpace::new(iss, config.mss),
            control: Control::new(transport, &config.cc, initial),
            recovery: Recovery::new(),
            strategy: Strategy::new(transport.recovery, false, &config),
            rtt: RttEstimator::new(&config, Dur::from_nanos(u64::from(iss.to_wire()))),
            pacer: Pacer::new(config.release, config.pace_retransmissions).with_clock(config.pacing_clock),
            in_burst: 0,
            queue: (config.release == Release::Queue).then(SendQueue::default),
            freeze: Freeze::new(config.adhoc_sender),
            ecn: Answer::OFF,
            before_timeout: None,
            probes: 0,
            stats: Stats::default(),
            config,
        }
    }

    /// Whether its loss recovery needs reports of duplicates (RFC 2883).
    pub(super) fn wants_dsack(&self) -> bool {
        self.control.transport().recovery == Recovers::RackTlp || self.config.sack_recovery == SackRecovery::RackTlp
    }

    /// Prepares for sending the SYN.
    pub(super) fn open(&mut self, now: Time) {
        self.space.open();
        self.rtt.start_timing(Pos::FIRST, now);
    }

    /// Handles the peer's SYN; `sack`, `timestamps` and `ecn` are what both ends want.
    pub(super) fn agree(&mut self, segment: &TcpSegment, sack: bool, timestamps: bool, ecn: bool) {
        let options = &segment.options;
        let offered = options.mss.map_or(self.config.mss_without_option, u32::from).max(1);
        let mss = offered.min(self.config.mss);
        // RFC 6691: the MSS option ignores TCP options; the sender makes room for them. 10 bytes and 2 of padding.
        let mss = if timestamps { mss.saturating_sub(12).max(1) } else { mss };
        self.space.agree(mss, options.window_scale);
        self.ecn.agree(ecn);
        self.strategy = Strategy::new(self.control.transport().recovery, sack, &self.config);
    }

    /// Starts transmission: `segment`, which begins at `seq`, acknowledges our SYN, and the peer's has arrived.
    pub(super) fn establish(&mut self, cx: &mut Context, seq: Pos, segment: &TcpSegment) {
        self.space.acknowledge(Pos::FIRST);
        self.space.update_window(seq, Pos::FIRST, segment.window, !segment.flags.syn);
        let lost_syn = self.recovery.timeouts() > 0;
        if lost_syn {
            self.rtt.syn_was_lost();
            self.control.begin_with_one();
        } else if let Some(rtt) = self.rtt.finish_timing(Pos::FIRST, cx.now) {
            self.rtt.sample(rtt, cx.now);
        }
        self.rtt.cancel_timing();
        self.recovery.end_timeouts();
        cx.timers.stop(Timer::Retransmit);
        let view = self.view(cx.now, 0);
        self.control.begin(&view);
    }

    /// Appends `bytes` to the stream.
    pub(super) fn write(&mut self, cx: &mut Context, bytes: u64) {
        self.note_application_limit();
        self.space.write(bytes);
        self.transmit(cx);
    }

    /// Takes back data that was written but never sent.
    pub(super) fn withdraw_unsent(&mut self) {
        self.withdraw_queue();
        self.space.withdraw_unsent();
    }

    /// Stops sending for good.
    pub(super) fn stop(&mut self) {
        self.space.close();
        self.freeze.thaw();
        self.pacer.stop();
    }

    /// Stops pacing in TIME-WAIT.
    pub(super) fn rest(&mut self) {
        self.pacer.stop();
    }

    /// Passes a hint from another layer to congestion control.
    pub(super) fn take_hint(&mut self, now: Time, hint: Hint) {
        let view = self.view(now, self.space.in_flight_segments());
        self.control.on_hint(&view, hint);
    }

    /// When the pacer's timer fires.
    pub(super) fn next_pacing(&self) -> Option<Time> {
        self.pacer.next_timeout()
    }

    /// Whether data segments take air time without their headers ([`Config::vegas_without_header`]).
    pub(super) fn hides_headers(&self) -> bool {
        self.config.vegas_without_header && matches!(self.strategy, Strategy::FineClock(_))
    }

    /// Segments in flight.
    fn under_way(&self) -> u32 {
        match &self.strategy {
            Strategy::Rack(rack) => rack.flight.in_flight(),
            _ => self.space.in_flight_segments(),
        }
    }

    /// RACK-TLP's state, if this connection recovers by time.
    pub(super) fn rack(&self) -> Option<&Rack> {
        match &self.strategy {
            Strategy::Rack(rack) => Some(rack),
            _ => None,
        }
    }

    fn set_ca_state(&mut self, now: Time, state: CaState) {
        self.recovery.state = state;
        let view = self.view(now, self.under_way());
        self.control.on_state(&view, state);
    }

    /// The state that congestion control sees.
    fn view(&self, now: Time, in_flight: u32) -> View {
        let window = self.control.window().cwnd + self.recovery.inflation;
        View {
            now,
            in_flight,
            window: window.min(self.config.window_limit.unwrap_or(u32::MAX)),
            snd_wnd: u32::try_from(self.space.wnd / u64::from(self.space.mss)).unwrap_or(u32::MAX),
            mss: self.space.mss,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            rto: self.rtt.base_rto(),
            state: self.recovery.state,
        }
    }
}
