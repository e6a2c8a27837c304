//! Frames of another 802.11 stack, which has chosen rates, RTS and the number of attempts, and is notified of the fate
//! of each frame. Access, air times, answers and the contention window are as for any frame. A part of [`Dcf`].

use super::action::Action;
use super::dcf::Dcf;
use super::exchange::{Content, Outgoing};
use super::medium::Medium;
use crate::drop::DropReason;
use crate::wire::Payload;
use fourhop_units::Time;

impl Dcf {
    /// Whether the frame being sent is from another stack.
    #[inline]
    pub(super) fn holds_foreign(&self) -> bool {
        matches!(
            &self.functions.active().outgoing,
            Some(Outgoing { content: Content::One { msdu, .. }, .. }) if matches!(msdu.payload, Payload::Foreign(_))
        )
    }

    /// The frame being sent has been acknowledged or broadcast: notifies the stack that it came from, if any.
    #[inline]
    pub(super) fn report_sent(&self, out: &mut Vec<Action>) {
        if let Some(Outgoing { content: Content::One { msdu, .. }, .. }) = &self.functions.active().outgoing
            && let Payload::Foreign(frame) = &msdu.payload
        {
            out.push(Action::Sent(frame.clone()));
        }
    }

    /// The RTS or the frame went unanswered: makes the next attempt, or gives the frame up for `reason`.
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
