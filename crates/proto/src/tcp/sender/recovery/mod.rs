//! The state of loss recovery, and the recovery strategies. Each strategy is a type that evaluates acknowledgements;
//! the sender acts on its result.
//!
//! ```text
//!   hear (reports) ──► on_partial_ack, on_whole_ack ──► Verdict ──┐
//!                └───► on_duplicate ────────────────► Reaction ────┴──► search (losses by time)      on_timeout
//! ```
//!
//! | file | strategy |
//! |---|---|
//! | `reno` | duplicate ACKs alone (RFC 5681), with NewReno's partial ACKs (RFC 6582) |
//! | `sack`, `scoreboard` | selective acknowledgements (RFC 6675) |
//! | `rack`, `flight`, `delivery` | a later arrival proves a loss (RFC 8985); the segments in flight; samples of the delivery rate |
//! | `fine_clock` | Vegas's fine-grained clock, which finds segments overdue (Brakmo et al. 1995) |
//! | `state` | shared state, and the results of the strategies |
//!
//! The window during fast recovery is `cwnd` plus an inflation that counts the segments known to have left the network;
//! RFC 5681 section 3.2 folds both into cwnd, which is equivalent.

mod delivery;
mod fine_clock;
mod flight;
mod rack;
mod reno;
mod sack;
mod scoreboard;
mod state;

pub(super) use rack::{Awaits, Rack, RoundTrips};
pub(super) use sack::Choice;
pub(super) use state::{Heard, Reaction, Recovery, Verdict};

use super::rtt::RttEstimator;
use super::space::SendSpace;
use crate::tcp::config::{Config, SackRecovery};
use crate::tcp::position::Pos;
use crate::tcp::timestamps::Stamps;
use crate::wire::TcpSegment;
use fine_clock::FineClock;
use fourhop_cc::{CaState, Recovery as Kind, Window};
use fourhop_units::{Dur, Time};
use rack::Report;
use reno::Reno;
use sack::Sack;

/// An acknowledgement that is not older than SND.UNA.
pub(super) struct Arrived<'a> {
    pub(super) now: Time,
    pub(super) ack: Pos,
    pub(super) segment: &'a TcpSegment,
    /// Whether data was in flight, apart from window probes.
    pub(super) outstanding: bool,
    /// Whether it changed the peer's window.
    pub(super) window_changed: bool,
}

/// A recovery strategy, dispatched without a vtable.
#[derive(Clone, Debug)]
pub(super) enum Strategy {
    Reno(Reno),
    Sack(Sack),
    Rack(Box<Rack>),
    FineClock(FineClock),
}

impl Strategy {
    /// The strategy of a transport; `sack`: both ends agreed on selective acknowledgements, else it is NewReno.
    pub(super) fn new(kind: Kind, sack: bool, config: &Config) -> Strategy {
        let by_time = config.sack_recovery == SackRecovery::RackTlp;
        match kind {
            Kind::Reno => Strategy::Reno(Reno { partial_acks: false, burst: u32::MAX }),
            Kind::NewReno => {
                Strategy::Reno(Reno { partial_acks: true, burst: config.recovery_burst.unwrap_or(u32::MAX) })
            }
            Kind::RackTlp => Strategy::Rack(Box::new(Rack::new(config.dup_ack_threshold))),
            // An ad hoc TCP sender that freezes goes back to SND.UNA, which time-based recovery never does.
            Kind::Sack if sack && by_time && config.adhoc_sender.is_none() => {
                Strategy::Rack(Box::new(Rack::new(config.dup_ack_threshold)))
            }
            Kind::Sack if sack => Strategy::Sack(Sack::new(config)),
            Kind::Sack => Strategy::Reno(Reno { partial_acks: true, burst: u32::MAX }),
            Kind::Vegas => Strategy::FineClock(FineClock::new()),
        }
    }

    /// Takes the reports of a segment before its acknowledgement takes effect.
    pub(super) fn hear(
        &mut self,
        arrived: &Arrived,
        space: &SendSpace,
        recovery: &Recovery,
        min_rtt: Option<Dur>,
        stamps: &Stamps,
    ) -> Heard {
        let &Arrived { now, ack, segment, .. } = arrived;
        let news = match self {
            Strategy::Rack(rack) => {
                let report = Report::read(ack, segment, space);
                let echo = stamps.echo(segment);
                // The timestamp clock reads the tick in which the segment left, so an equal reading is not older.
                let is_stale = |at| echo.is_some_and(|echo| stamps.answers_earlier(echo, at));
                return rack.hear(now, &report, segment, space.una, min_rtt, is_stale);
            }
            Strategy::Sack(sack) => sack.take_blocks(ack, segment, space, recovery.timeouts() > 0),
            _ => true,
        };
        Heard { news, dsack: false, repaired: false, sample: None }
    }

    /// Runs before a new ACK takes effect.
    pub(super) fn before_new_ack(&mut self, config: &Config, recovery: &Recovery, win: &mut Window) {
        if let Strategy::FineClock(clock) = self {
            clock.end_inflation(config, recovery, win);
        }
    }

    /// Whether an ACK short of the recovery point is a partial one, which does not end recovery.
    pub(super) fn knows_partial_acks(&self) -> bool {
        match self {
            Strategy::Reno(reno) => reno.partial_acks,
            Strategy::Sack(_) => true,
            // Time-based recovery judges an ACK by its reports.
            Strategy::Rack(_) | Strategy::FineClock(_) => false,
        }
    }

    /// Handles a partial ACK that has moved SND.UNA by `segments` segments; see [`Strategy::knows_partial_acks`].
    pub(super) fn on_partial_ack(
        &mut self,
        segments: u32,
        config: &Config,
        space: &SendSpace,
        recovery: &mut Recovery,
        win: &mut Window,
        rtt: &mut RttEstimator,
    ) -> Verdict {
        let restarts = match self {
            Strategy::Reno(_) => reno::on_partial_ack(segments, config, space, recovery, win),
            Strategy::Sack(sack) => sack.on_partial_ack(rtt),
            Strategy::Rack(_) | Strategy::FineClock(_) => true,
        };
        Verdict { state: recovery.state, grows: true, restarts }
    }

    /// Handles any other ACK that has moved SND.UNA. `covered`: it reaches the recovery point.
    pub(super) fn on_whole_ack(
        &mut self,
        covered: bool,
        heard: &Heard,
        config: &Config,
        space: &SendSpace,
        recovery: &mut Recovery,
        win: &mut Window,
    ) -> Verdict {
        let (before, in_recovery) = (recovery.state, recovery.state == CaState::Recovery);
        recovery.end_duplicates();
        let grows = match self {
            Strategy::Reno(_) => !in_recovery || reno::on_full_ack(config, space, win),
            Strategy::Sack(sack) => sack.on_whole_ack(in_recovery, recovery),
            Strategy::Rack(rack) => {
                let exits = covered && recovery.is_repairing();
                rack.adapt_window(space.una, space.max, heard.dsack, exits);
                let state = if exits { CaState::Open } else { before };
                // As after any recovery, the ACK that ends it does not grow the window.
                return Verdict { state, grows: !exits, restarts: true };
            }
            Strategy::FineClock(_) => true,
        };
        let state = if before == CaState::Loss && !covered { CaState::Loss } else { CaState::Open };
        Verdict { state, grows, restarts: true }
    }

    /// Handles an ACK that leaves SND.UNA unchanged. Returns whether it counts as a duplicate (RFC 5681 section 2; RFC
    /// 6675 section 2: or one with news), and what the sender may do.
    pub(super) fn on_duplicate(
        &mut self,
        arrived: &Arrived,
        heard: &Heard,
        config: &Config,
        space: &SendSpace,
        recovery: &mut Recovery,
    ) -> (bool, Reaction) {
        let bare = arrived.segment.payload == 0 && !arrived.window_changed;
        let is_duplicate = match self {
            Strategy::Rack(rack) => {
                rack.adapt_window(space.una, space.max, heard.dsack, false);
                return (heard.news, Reaction::SEND);
            }
            Strategy::Sack(_) => heard.news || bare,
            _ => bare && !arrived.segment.flags.fin,
        };
        if !arrived.outstanding || !is_duplicate {
            return (false, Reaction::SEND);
        }
        recovery.note_duplicate(heard.news);
        let reaction = match self {
            Strategy::Reno(reno) => reno.on_duplicate(config, space, recovery),
            Strategy::Sack(sack) => sack.on_duplicate(heard.news, config, space, recovery),
            Strategy::Rack(_) => Reaction::SEND,
            Strategy::FineClock(clock) => clock.on_duplicate(arrived.now, config, space, recovery),
        };
        (heard.news, reaction)
    }

    /// After a new ACK, with its round trip if known: whether the now oldest segment must be resent at once.
    pub(super) fn finds_next_overdue(&mut self, now: Time, rtt: Option<Dur>, space: &SendSpace) -> bool {
        match self {
            Strategy::FineClock(clock) => clock.on_new_ack(now, rtt, space),
            _ => false,
        }
    }

    /// New segments that a new ACK may release: fewer once enough duplicates have arrived.
    pub(super) fn budget(&self, recovery: &Recovery, config: &Config) -> u32 {
        match self {
            Strategy::Reno(reno) if recovery.dup_acks >= config.dup_ack_threshold => reno.burst,
            _ => u32::MAX,
        }
    }

    /// Begins a recovery.
    pub(super) fn begin(&mut self, config: &Config, space: &SendSpace, recovery: &mut Recovery) {
        recovery.begin(space.max);
        let (inflation, resend) = match self {
            Strategy::Sack(sack) => {
                sack.begin(space);
                (0, Some(space.una))
            }
            Strategy::Rack(rack) => (0, rack.flight.first_lost().map(|lost| lost.start)),
            Strategy::Reno(_) | Strategy::FineClock(_) => (config.dup_ack_threshold, Some(space.una)),
        };
        (recovery.inflation, recovery.resend) = (inflation, resend);
    }

    /// Handles a timeout: the data in flight is treated as lost.
    pub(super) fn on_timeout(&mut self, now: Time) {
        match self {
            Strategy::Reno(_) => {}
            Strategy::Sack(sack) => sack.forget(),
            Strategy::Rack(rack) => rack.lose_all(),
            Strategy::FineClock(clock) => clock.on_timeout(now),
        }
    }

    /// Notes that data between two positions is sent.
    pub(super) fn note_sent(&mut self, start: Pos, end: Pos, now: Time) {
        if let Strategy::Rack(rack) = self {
            rack.note_sent(start, end, now);
        }
    }

    /// The first position from `from` on that the receiver is not known to have, and where the data it has continues.
    pub(super) fn missing_from(&self, from: Pos) -> (Pos, Option<Pos>) {
        match self {
            Strategy::Sack(sack) => sack.missing_from(from),
            _ => (from, None),
        }
    }

    /// Bytes before `place` that the receiver is known to have and that are therefore not in flight.
    pub(super) fn sacked_before(&self, place: Pos) -> u64 {
        match self {
            Strategy::Sack(sack) => sack.sacked_before(place),
            _ => 0,
        }
    }
}
