//! The medium as seen by one station: physical carrier sense, NAV, EIFS, and the back-off that runs while it is idle
//! (IEEE 802.11-2020 clauses 10.3.2 to 10.3.4).
//!
//! For most stations, most frames only make the medium busy for a while. The medium is therefore a small state machine
//! separate from the exchange of frames ([`Dcf`](super::Dcf)). It has no timers: the end of a reservation, or of a
//! back-off without a packet, is noticed at the next query.

use super::backoff::Backoff;
use super::config::Config;
use crate::drop::DropReason;
use crate::phy::Verdict;
use crate::preset::{Configured, Preset};
use fourhop_units::{Dur, Time};

/// The MAC options that a medium needs, with derived times computed once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    difs: Dur,
    slot: Dur,
    /// With EDCA: how far ahead a slot boundary may be and still count (aRxTxTurnaroundTime).
    turnaround: Option<Dur>,
    eifs_before_difs: Dur,
    nav_reset_timeout: Option<Dur>,
    eifs_on_undecodable: bool,
    eifs_ended_by_good_frame: bool,
    capture_nav: bool,
}

impl Rules {
    /// Extracts the rules from `config`.
    pub fn new(config: &Config) -> Rules {
        Rules {
            difs: config.difs(),
            slot: config.slot,
            // Tables 17-21 (OFDM) and 15-5 (DSSS): less than 2 us, at most 5 us.
            turnaround: config
                .edca
                .map(|_| Dur::from_micros(if config.phy.is_ofdm() { 2 } else { 5 }).min(config.slot / 2)),
            eifs_before_difs: config.eifs_before_difs(),
            nav_reset_timeout: config.nav_reset.then(|| config.nav_reset_timeout()),
            eifs_on_undecodable: config.eifs_on_undecodable,
            eifs_ended_by_good_frame: config.eifs_ended_by_good_frame,
            capture_nav: config.capture_nav,
        }
    }
}

impl Rules {
    /// Returns when a back-off ends if the medium, idle since `idle_since`, stays idle.
    #[inline(always)]
    pub(super) fn backoff_ends(&self, backoff: &Backoff, idle_since: Time) -> Time {
        backoff.ends(idle_since, self.difs, self.slot)
    }

    /// The medium, idle since `idle_since`, becomes busy at `now`.
    #[inline(always)]
    pub(super) fn stop_backoff(&self, backoff: &mut Backoff, idle_since: Time, now: Time) {
        match self.turnaround {
            None => backoff.pause(idle_since, now, self.difs, self.slot),
            Some(turnaround) => backoff.pause_at_boundaries(idle_since, now, self.difs, self.slot, turnaround),
        }
    }

    /// Whether its boolean options are those of the preset.
    pub(crate) fn fit<P: Preset>(&self) -> bool {
        self.eifs_on_undecodable::<P>() == self.eifs_on_undecodable
            && self.eifs_ended_by_good_frame::<P>() == self.eifs_ended_by_good_frame
            && self.nav_reset_timeout::<P>() == self.nav_reset_timeout
            && self.nav_may_be_reset::<P>() == self.nav_reset_timeout.is_some()
    }

    #[inline(always)]
    fn eifs_on_undecodable<P: Preset>(&self) -> bool {
        P::MAC.map_or(self.eifs_on_undecodable, |known| known.eifs_on_undecodable)
    }

    #[inline(always)]
    fn eifs_ended_by_good_frame<P: Preset>(&self) -> bool {
        P::MAC.map_or(self.eifs_ended_by_good_frame, |known| known.eifs_ended_by_good_frame)
    }

    #[inline(always)]
    fn nav_may_be_reset<P: Preset>(&self) -> bool {
        P::MAC.map_or(self.nav_reset_timeout.is_some(), |known| known.nav_reset)
    }

    #[inline(always)]
    fn nav_reset_timeout<P: Preset>(&self) -> Option<Dur> {
        if self.nav_may_be_reset::<P>() { self.nav_reset_timeout } else { None }
    }

    /// Whether the end of a received frame may bring an access forward.
    #[inline(always)]
    pub(crate) fn ends_bring_access_forward<P: Preset>(&self) -> bool {
        self.eifs_ended_by_good_frame::<P>() || self.nav_may_be_reset::<P>()
    }
}

/// A snapshot of a station's medium, for recorders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sight {
    /// Whether the receiver senses anything.
    pub busy: bool,
    /// Whether the station has an exchange in progress.
    pub exchange: bool,
    /// End of the station's own transmission.
    pub radiates_until: Time,
    /// End of the reservation by others.
    pub nav: Time,
    /// Since when the medium has been idle, or from when it will be if nothing else happens; `None` if it will not
    /// become idle by itself.
    pub idle_since: Option<Time>,
    /// When the current back-off was drawn, and how many slots are left.
    pub backoff: Option<(Time, u32)>,
}

/// The medium around one station.
///
/// Call [`Medium::handle_arrival`] when a copy occupies the receiver, then [`Medium::handle_good_frame`] or
/// [`Medium::handle_error`] once the receiver has decided, and [`Medium::handle_quiet`] when it no longer senses
/// anything. The rest is for the station's own [`Dcf`](super::Dcf). Time never runs backwards.
#[derive(Clone, Debug)]
pub struct Medium {
    /// Whether the receiver senses anything.
    busy: bool,
    /// Whether the station has an exchange in progress.
    exchange: bool,
    /// Whether a packet is waiting for access.
    wanted: bool,
    /// Since when there has been neither energy nor an exchange, if both are absent now; in the future while an ACK is
    /// being sent.
    quiet_since: Time,
    /// End of the reservation by duration fields of others.
    nav: Time,
    /// End of the busy time after errors and captured frames.
    eifs_until: Time,
    /// When the NAV ends if nothing follows the RTS that set it; `NEVER` once something has.
    nav_reset: Time,
    backoff: Option<Backoff>,
    /// End of the station's own transmission.
    radiates_until: Time,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium {
            busy: false,
            exchange: false,
            wanted: false,
            quiet_since: Time::ZERO,
            nav: Time::ZERO,
            eifs_until: Time::ZERO,
            nav_reset: Time::NEVER,
            backoff: None,
            radiates_until: Time::ZERO,
        }
    }
}

impl Medium {
    /// Whether the receiver senses anything, as far as the medium knows.
    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Whether the station has an exchange in progress.
    pub fn has_exchange(&self) -> bool {
        self.exchange
    }

    /// As [`Medium::handle_arrival`], for when no back-off runs. Does nothing and returns false if an RTS may have to
    /// be forgotten.
    #[inline(always)]
    pub fn occupy<P: Preset>(&mut self, rules: &Rules) -> bool {
        let simple = !rules.nav_may_be_reset::<P>() || self.nav_reset == Time::NEVER;
        self.busy |= simple;
        simple
    }

    /// Whether the station radiates at `now`.
    #[inline(always)]
    pub fn is_transmitting(&self, now: Time) -> bool {
        now < self.radiates_until
    }

    /// Returns the end of the station's current or last transmission.
    pub(super) fn radiates_until(&self) -> Time {
        self.radiates_until
    }

    /// Returns the end of the current reservation by others (virtual carrier sense).
    #[inline(always)]
    pub fn nav(&self) -> Time {
        self.nav.min(self.nav_reset)
    }

    /// Returns since when the medium has been idle, or from when it will be if nothing else happens; `None` while the
    /// receiver is busy or an exchange is in progress.
    #[inline(always)]
    pub(super) fn idle_since(&self) -> Option<Time> {
        (!self.busy && !self.exchange).then(|| self.last_idle_since())
    }

    /// As [`Medium::idle_since`], for the idle period before the medium became busy.
    #[inline(always)]
    pub(super) fn last_idle_since(&self) -> Time {
        self.quiet_since.max(self.nav()).max(self.eifs_until)
    }

    /// Returns a snapshot of the whole state.
    pub fn sight(&self) -> Sight {
        Sight {
            busy: self.busy,
            exchange: self.exchange,
            radiates_until: self.radiates_until,
            nav: self.nav(),
            idle_since: self.idle_since(),
            backoff: self.backoff.map(|backoff| (backoff.drawn_at(), backoff.slots())),
        }
    }

    /// Whether it is idle at `now`.
    pub fn is_idle(&self, now: Time) -> bool {
        self.idle_since().is_some_and(|since| since <= now)
    }

    /// Whether a packet is waiting for access. If not, no change of the medium brings a timer forward.
    #[inline(always)]
    pub fn awaits_access(&self) -> bool {
        self.wanted && self.backoff.is_some()
    }

    /// Returns when the wait for access ends if nothing else happens.
    #[inline(always)]
    pub fn access_timeout(&self, rules: &Rules) -> Option<Time> {
        if self.wanted { self.backoff_ends(rules) } else { None }
    }

    #[inline(always)]
    fn backoff_ends(&self, rules: &Rules) -> Option<Time> {
        let backoff = self.backoff.as_ref()?;
        Some(rules.backoff_ends(backoff, self.idle_since()?))
    }

    /// A copy of a frame occupies the receiver. Returns whether the station must be called: an immediate access was
    /// prevented or, with EDCA, back-offs have stopped.
    #[must_use]
    #[inline(always)]
    pub fn handle_arrival(&mut self, now: Time, rules: &Rules) -> bool {
        let must_draw = self.backoff.is_some() && self.pause_backoff(now, rules);
        self.busy = true;
        if self.nav_reset <= now {
            self.nav = self.nav();
        }
        self.nav_reset = Time::NEVER;
        must_draw
    }

    /// Counts the slots that have passed up to `now`; returns true if the station must be called.
    #[inline(never)]
    fn pause_backoff(&mut self, now: Time, rules: &Rules) -> bool {
        self.expire_backoff(now, rules);
        let (Some(idle_since), Some(backoff)) = (self.idle_since(), &mut self.backoff) else { return false };
        if let Some(turnaround) = rules.turnaround {
            backoff.pause_at_boundaries(idle_since, now, rules.difs, rules.slot, turnaround);
            return backoff.is_immediate() || idle_since < now;
        }
        backoff.pause(idle_since, now, rules.difs, rules.slot);
        backoff.is_immediate()
    }

    /// Clears a back-off that has expired with nothing to send.
    pub(crate) fn expire_backoff(&mut self, now: Time, rules: &Rules) {
        if !self.wanted && self.backoff_ends(rules).is_some_and(|at| at <= now) {
            self.backoff = None;
        }
    }

    /// A copy of `airtime` was lost under a stronger frame.
    pub fn handle_captured_away(&mut self, now: Time, airtime: Dur, rules: &Rules) {
        if rules.capture_nav {
            self.eifs_until = self.eifs_until.max(now + airtime + rules.eifs_before_difs);
        }
    }

    /// The receiver lost the frame it was receiving.
    #[inline(always)]
    pub fn handle_error(&mut self, now: Time, verdict: Verdict, rules: &Rules) {
        self.handle_error_by::<Configured>(now, verdict, rules);
    }

    /// As [`Medium::handle_error`], with the options of a preset.
    #[inline(always)]
    pub(crate) fn handle_error_by<P: Preset>(&mut self, now: Time, verdict: Verdict, rules: &Rules) {
        let eifs = match verdict {
            Verdict::Good | Verdict::Missed => false,
            Verdict::Bad(DropReason::Undecodable) => rules.eifs_on_undecodable::<P>(),
            Verdict::Bad(_) => true,
        };
        if eifs {
            self.eifs_until = self.eifs_until.max(now + rules.eifs_before_difs);
        }
    }

    /// The receiver received a frame; `rts` says whether it was an RTS. It reserves the medium for others until
    /// `reserved`, which is in the past if the frame is addressed to this station alone.
    #[inline(always)]
    pub fn handle_good_frame(&mut self, now: Time, reserved: Time, rts: bool, rules: &Rules) {
        self.handle_good_frame_by::<Configured>(now, reserved, rts, rules);
    }

    /// As [`Medium::handle_good_frame`], with the options of a preset.
    #[inline(always)]
    pub(crate) fn handle_good_frame_by<P: Preset>(&mut self, now: Time, reserved: Time, rts: bool, rules: &Rules) {
        if rules.eifs_ended_by_good_frame::<P>() {
            self.eifs_until = self.eifs_until.min(now);
        }
        if reserved > self.nav {
            self.nav = reserved;
            if let Some(timeout) = rules.nav_reset_timeout::<P>()
                && rts
            {
                self.nav_reset = now + timeout;
            }
        }
    }

    /// The receiver no longer senses anything.
    #[inline(always)]
    pub fn handle_quiet(&mut self, now: Time) {
        if self.busy {
            self.busy = false;
            self.quiet_since = self.quiet_since.max(now);
        }
    }

    /// Starts a wait for access for a packet to be sent, unless one is in progress: immediate if `immediate` and the
    /// medium allow it, after an AIFS that is `later` slots longer than DIFS. Returns whether a back-off must be drawn.
    pub(crate) fn request_access(&mut self, now: Time, immediate: bool, later: u32, rules: &Rules) -> bool {
        self.expire_backoff(now, rules);
        if self.backoff.is_some() {
            return false;
        }
        if let Some(since) = self.idle_since().filter(|&since| immediate && since <= now) {
            self.backoff = Some(match later {
                0 => Backoff::immediate(since, now, rules.difs),
                later => Backoff::immediate_later(since, now, (rules.difs, rules.slot), later),
            });
        }
        self.backoff.is_none()
    }

    /// Replaces the running back-off by `other`, and returns it.
    pub(crate) fn replace_backoff(&mut self, other: Option<Backoff>) -> Option<Backoff> {
        core::mem::replace(&mut self.backoff, other)
    }

    /// Returns the current back-off.
    pub(super) fn backoff(&self) -> Option<&Backoff> {
        self.backoff.as_ref()
    }

    /// Whether there is a back-off.
    #[inline(always)]
    pub(crate) fn has_backoff(&self) -> bool {
        self.backoff.is_some()
    }

    /// Whether a back-off must be notified that the receiver, so far quiet, senses something from `now` on. It does not
    /// run during the station's own exchange, nor while the medium is reserved beyond `now`: then no slot has passed,
    /// and it has not expired.
    #[inline(always)]
    pub(crate) fn has_running_backoff(&self, now: Time) -> bool {
        !self.exchange
            && self.backoff.as_ref().is_some_and(|backoff| backoff.is_immediate() || self.last_idle_since() <= now)
    }

    /// Whether the wait for access has ended; if so, clears it. A back-off that expires with nothing to send is no
    /// event: when it is noticed depends on when the station is queried.
    pub(super) fn take_access(&mut self, now: Time, rules: &Rules) -> bool {
        let granted = self.access_timeout(rules).is_some_and(|at| at <= now);
        if granted {
            self.backoff = None;
        }
        granted
    }

    /// Sets whether a packet is waiting for access.
    pub(crate) fn want_access(&mut self, wanted: bool) {
        self.wanted = wanted;
    }

    /// The station starts to radiate for `airtime`, which starts an exchange.
    pub(super) fn begin_exchange(&mut self, now: Time, airtime: Dur, rules: &Rules) {
        if self.backoff.is_some() {
            self.pause_backoff(now, rules);
        }
        self.exchange = true;
        self.radiates_until = now + airtime;
    }

    /// The station's exchange ends at `now`, which may be in the future.
    pub(super) fn end_exchange(&mut self, now: Time) {
        self.exchange = false;
        self.quiet_since = now;
    }
}
