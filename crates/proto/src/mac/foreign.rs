//! Frames of another 802.11 stack: it has chosen rates, RTS and the number of attempts, and learns the fate of each.
//! Access, air times, answers and the contention window are those of any frame. A part of [`Dcf`].

use super::action::Action;
use super::dcf::Dcf;
use super::exchange::{Content, Outgoing};
use super::medium::Medium;
use crate::drop::DropReason;
use crate::wire::Payload;
use fourhop_units::Time;

impl Dcf {
    /// Is a frame of another stack in hand?
    #[inline]
    pub(super) fn holds_foreign(&self) -> bool {
        matches!(
            &self.functions.active().outgoing,
            Some(Outgoing { content: Content::One { msdu, .. }, .. }) if matches!(msdu.payload, Payload::Foreign(_))
        )
    }

    /// The frame in hand has been acknowledged, or has been sent to all: its stack learns of it, if it has one.
    #[inline]
    pub(super) fn report_sent(&self, out: &mut Vec<Action>) {
        if let Some(Outgoing { content: Content::One { msdu, .. }, .. }) = &self.functions.active().outgoing
            && let Payload::Foreign(frame) = &msdu.payload
        {
            out.push(Action::Sent(frame.clone()));
        }
    }

    /// No answer has come to the RTS, or to the frame: the next attempt, or it is given up for `reason`.
    pub(super) fn foreign_unanswered(
        &mut self,
        now: Time,
        reason: DropReason,
        medium: &mut Medium,
        out: &mut Vec<Action>,
    ) {
        let function = self.functions.active_mut();
        let Some(Outgoing { content: Content::One { msdu, retry, .. }, rate, airtime, rts }) = &mut function.outgoing
        else {
            return;
        };
        let Payload::Foreign(frame) = &mut msdu.payload else { return };
        let was_sent = reason == DropReason::DataRetryLimit;
        if frame.try_again(was_sent) {
            *retry |= was_sent;
            (*rate, *rts) = (frame.present().rate, frame.present().rts);
            *airtime = self.config.data_airtime(msdu.len, *rate);
            return self.failed(now, medium);
        }
        match was_sent {
            true => function.counters.data_limit_drops += 1,
            false => function.counters.rts_limit_drops += 1,
        }
        self.give_up(now, reason, medium, out);
    }
}
