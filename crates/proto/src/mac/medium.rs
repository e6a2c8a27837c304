//! When the station may send: physical and virtual carrier sense, back-off, contention window (IEEE 802.11-2020 clauses
//! 10.3.2 to 10.3.4). The second part of [`Dcf`].

use super::backoff::Backoff;
use super::dcf::{Dcf, TxState};
use fourhop_units::Time;

impl Dcf {
    /// When the wait for access ends, or the medium becomes idle by itself.
    pub(super) fn access_timeout(&self) -> Option<Time> {
        let backoff = self.backoff.as_ref()?;
        if !backoff.is_frozen() {
            return backoff.ends(self.difs, self.config.slot);
        }
        // Only the end of the NAV can then set the station free; every other change is an event of its own.
        (!self.receiver_busy && self.state == TxState::Idle).then(|| self.nav.max(self.eifs_until))
    }

    pub(super) fn is_idle(&self, now: Time) -> bool {
        !self.receiver_busy && self.state == TxState::Idle && self.nav <= now && self.eifs_until <= now
    }

    /// What has happened since the last event without one of its own, because nothing waited for it: a reservation has run
    /// out, so that the medium has been idle since then (the receiver and the station's own exchanges end with an event),
    /// and a post-back-off has ended.
    pub(super) fn catch_up(&mut self, now: Time) {
        if self.idle_since.is_none() && self.is_idle(now) {
            let since = self.nav.max(self.eifs_until);
            self.idle_since = Some(since);
            if let Some(backoff) = &mut self.backoff {
                backoff.resume(since);
            }
        }
        let ends = self.backoff.and_then(|backoff| backoff.ends(self.difs, self.config.slot));
        if self.outgoing.is_none() && ends.is_some_and(|at| at <= now) {
            self.backoff = None;
        }
    }

    /// Freezes or resumes the back-off to match the medium.
    pub(super) fn update_access(&mut self, now: Time) {
        if self.is_idle(now) {
            if self.idle_since.is_none() {
                self.idle_since = Some(now);
            }
            if let Some(backoff) = &mut self.backoff {
                backoff.resume(now);
            }
        } else {
            self.idle_since = None;
            if let Some(backoff) = &mut self.backoff
                && !backoff.is_frozen()
            {
                if backoff.is_immediate() {
                    self.draw_backoff();
                } else {
                    backoff.freeze(now, self.difs, self.config.slot);
                }
            }
        }
    }

    /// A fresh, frozen back-off; [`Dcf::update_access`] sets it going.
    pub(super) fn draw_backoff(&mut self) {
        let slots = self.random.below(self.config.backoff_values(self.cw));
        self.backoff = Some(Backoff::frozen(slots));
    }

    /// Access for a new MSDU when no back-off is pending.
    pub(super) fn request_access(&mut self, now: Time) {
        match self.idle_since {
            Some(since) if self.config.immediate_access && self.sifs_ends.is_none() && self.is_idle(now) => {
                self.backoff = Some(Backoff::immediate(since, now, self.difs));
            }
            _ => self.draw_backoff(),
        }
    }

    pub(super) fn failed(&mut self) {
        self.cw = self.config.next_cw(self.cw);
        self.draw_backoff();
    }

    /// After an MSDU was given up, acknowledged or broadcast.
    pub(super) fn succeeded_or_gave_up(&mut self, post_backoff: bool) {
        self.cw = self.config.cw_min;
        if post_backoff || self.config.immediate_access {
            self.draw_backoff();
        }
    }
}
