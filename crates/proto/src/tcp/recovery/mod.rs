//! The state of loss recovery, and the recovery strategies, which decide what an acknowledgement means for it. Each
//! strategy is a type that decides; the socket acts on its answer.
//!
//! | file | strategy |
//! |---|---|
//! | `reno` | duplicate ACKs alone (RFC 5681), with NewReno's partial ones (RFC 6582) |
//! | `sack`, `scoreboard` | selective acknowledgements (RFC 6675) |
//! | `rack`, `flight`, `delivery` | what arrived later proves a loss (RFC 8985); the segments in flight; samples of the delivery rate |
//! | `fine_clock` | Vegas's fine-grained clock, which finds segments overdue (Brakmo et al. 1995) |
//! | `state` | what they share, and the answers they give |
//!
//! The window during fast recovery is `cwnd` plus an inflation that counts the segments known to have left the network;
//! RFC 5681 section 3.2 puts both into cwnd, which is equivalent.

mod delivery;
mod fine_clock;
mod flight;
mod rack;
mod reno;
mod sack;
mod scoreboard;
mod state;

pub(super) use fine_clock::FineClock;
pub(super) use rack::{Awaits, Rack, Report, RoundTrips};
pub(super) use reno::Reno;
pub(super) use sack::{Choice, Sack};
pub(super) use state::{Reaction, Recovery};

use crate::tcp::config::{Config, SackRecovery};
use crate::tcp::position::Pos;
use crate::tcp::rtt::RttEstimator;
use crate::tcp::send::SendSpace;
use crate::wire::TcpSegment;
use fourhop_cc::{Recovery as Kind, Window};
use fourhop_units::{Dur, Time};

/// A recovery strategy, dispatched without a vtable.
#[derive(Clone, Debug)]
pub(super) enum Strategy {
    Reno(Reno),
    Sack(Sack),
    Rack(Box<Rack>),
    FineClock(FineClock),
}

impl Strategy {
    /// That of a transport; `sack`: both ends agreed on selective acknowledgements. A peer without leaves NewReno.
    pub(super) fn new(kind: Kind, sack: bool, config: &Config) -> Strategy {
        let by_time = config.sack_recovery == SackRecovery::RackTlp;
        match kind {
            Kind::Reno => Strategy::Reno(Reno { partial_acks: false, burst: u32::MAX }),
            Kind::NewReno => {
                Strategy::Reno(Reno { partial_acks: true, burst: config.recovery_burst.unwrap_or(u32::MAX) })
            }
            Kind::RackTlp => Strategy::Rack(Box::new(Rack::new(config.dup_ack_threshold))),
            // A sender of ad hoc TCP that freezes goes back to SND.UNA, which recovery by time never does.
            Kind::Sack if sack && by_time && config.adhoc_sender.is_none() => {
                Strategy::Rack(Box::new(Rack::new(config.dup_ack_threshold)))
            }
            Kind::Sack if sack => Strategy::Sack(Sack::new(config)),
            Kind::Sack => Strategy::Reno(Reno { partial_acks: true, burst: u32::MAX }),
            Kind::Vegas => Strategy::FineClock(FineClock::new()),
        }
    }

    /// Takes what a segment reports before its acknowledgement takes effect. True if it tells anything, which without
    /// SACK every ACK does.
    pub(super) fn take_report(&mut self, ack: Pos, segment: &TcpSegment, snd: &SendSpace, timeouts: u32) -> bool {
        match self {
            Strategy::Sack(sack) => sack.take_blocks(ack, segment, snd, timeouts > 0),
            _ => true,
        }
    }

    /// Is a segment that acknowledges SND.UNA again a duplicate ACK (RFC 5681 section 2; RFC 6675 section 2: or one with
    /// `news`)?
    pub(super) fn is_duplicate(&self, segment: &TcpSegment, window_changed: bool, news: bool) -> bool {
        let bare = segment.payload == 0 && !window_changed;
        match self {
            Strategy::Sack(_) | Strategy::Rack(_) => news || bare,
            _ => bare && !segment.flags.fin,
        }
    }

    /// A duplicate ACK, counted already if there is news in it.
    pub(super) fn on_duplicate(
        &mut self,
        now: Time,
        news: bool,
        config: &Config,
        snd: &SendSpace,
        recovery: &mut Recovery,
    ) -> Reaction {
        match self {
            Strategy::Reno(reno) => reno.on_duplicate(config, snd, recovery),
            Strategy::Sack(sack) => sack.on_duplicate(news, config, snd, recovery),
            // Its acknowledgements take another way.
            Strategy::Rack(_) => Reaction::Nothing,
            Strategy::FineClock(clock) => clock.on_duplicate(now, config, snd, recovery),
        }
    }

    /// Recovery has begun.
    pub(super) fn begin(&mut self, config: &Config, snd: &SendSpace, recovery: &mut Recovery) {
        recovery.inflation = config.dup_ack_threshold;
        recovery.resend = Some(snd.una);
        if let Strategy::Sack(sack) = self {
            recovery.inflation = 0;
            sack.begin(snd);
        }
        if let Strategy::Rack(rack) = self {
            recovery.inflation = 0;
            recovery.resend = rack.flight.first_lost().map(|lost| lost.start);
        }
    }

    /// Before a new ACK takes effect.
    pub(super) fn before_new_ack(&mut self, config: &Config, recovery: &Recovery, win: &mut Window) {
        if let Strategy::FineClock(clock) = self {
            clock.end_inflation(config, recovery, win);
        }
    }

    /// Does an ACK in recovery short of the recovery point leave it in flight, as a partial one?
    pub(super) fn knows_partial_acks(&self) -> bool {
        match self {
            Strategy::Reno(reno) => reno.partial_acks,
            Strategy::Sack(_) | Strategy::Rack(_) => true,
            Strategy::FineClock(_) => false,
        }
    }

    /// A partial ACK of this number of segments. True if it restarts the retransmission timer.
    pub(super) fn on_partial_ack(
        &mut self,
        segments: u32,
        config: &Config,
        snd: &SendSpace,
        recovery: &mut Recovery,
        win: &mut Window,
        rtt: &mut RttEstimator,
    ) -> bool {
        match self {
            Strategy::Reno(_) => reno::on_partial_ack(segments, config, snd, recovery, win),
            Strategy::Sack(sack) => sack.on_partial_ack(rtt),
            Strategy::Rack(_) | Strategy::FineClock(_) => true,
        }
    }

    /// A new ACK outside recovery, or one that ends it. True if the window may grow by it.
    pub(super) fn on_whole_ack(
        &mut self,
        ends_recovery: bool,
        config: &Config,
        snd: &SendSpace,
        recovery: &mut Recovery,
        win: &mut Window,
    ) -> bool {
        match self {
            Strategy::Reno(_) => !ends_recovery || reno::on_full_ack(config, snd, win),
            Strategy::Sack(sack) => sack.on_whole_ack(ends_recovery, recovery),
            Strategy::Rack(_) | Strategy::FineClock(_) => true,
        }
    }

    /// After a new ACK, which gave a round trip or not: is the segment that is the oldest now to go again at once?
    pub(super) fn finds_next_overdue(&mut self, now: Time, rtt: Option<Dur>, snd: &SendSpace) -> bool {
        match self {
            Strategy::FineClock(clock) => clock.on_new_ack(now, rtt, snd),
            _ => false,
        }
    }

    /// Fresh segments that an ACK may release once enough duplicates have come.
    pub(super) fn burst(&self) -> u32 {
        match self {
            Strategy::Reno(reno) => reno.burst,
            _ => u32::MAX,
        }
    }

    /// The data in flight is taken for lost.
    pub(super) fn on_timeout(&mut self, now: Time) {
        match self {
            Strategy::Reno(_) => {}
            Strategy::Sack(sack) => sack.forget(),
            Strategy::Rack(rack) => rack.lose_all(),
            Strategy::FineClock(clock) => clock.on_timeout(now),
        }
    }

    /// The first place from `from` on that the receiver is not known to hold, and where what it holds goes on.
    pub(super) fn missing_from(&self, from: Pos) -> (Pos, Option<Pos>) {
        match self {
            Strategy::Sack(sack) => sack.missing_from(from),
            _ => (from, None),
        }
    }

    /// Bytes before `place` that the receiver is known to hold and that for this reason are not in flight.
    pub(super) fn held_before(&self, place: Pos) -> u64 {
        match self {
            Strategy::Sack(sack) => sack.held_before(place),
            _ => 0,
        }
    }
}
