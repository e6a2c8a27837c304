//! The ends of ATP's flows.

use super::endpoint::{Endpoint, EndpointKind};
use crate::app::transfer::Step;
use crate::wire::{AtpContent, AtpPacket, Body};
use crate::{atp, tcp};
use fourhop_units::{Bytes, Time};

impl Endpoint {
    /// The sender, if it is one of ATP.
    pub fn atp_sender(&self) -> Option<&atp::Sender> {
        match &self.kind {
            EndpointKind::AtpSender(_, sender) => Some(sender),
            _ => None,
        }
    }

    /// Does what is due at `now` at an end of ATP; bodies of packets for the peer go to `out`.
    pub(super) fn handle_atp_timeout(&mut self, now: Time, out: &mut Vec<Body>) {
        let address = self.address;
        let packet =
            |content| Body::Atp(AtpPacket { src_port: address.local_port, dst_port: address.remote_port, content });
        match &mut self.kind {
            EndpointKind::AtpSender(transfer, sender) => {
                match transfer.handle_timeout(now) {
                    Some(Step::Begin { bytes }) => {
                        if let Some(ages) = &mut self.ages {
                            ages.note_written(now);
                        }
                        sender.open(now, bytes);
                    }
                    // The reader of scenarios gives a transfer over ATP no rate.
                    Some(Step::Go { .. }) => {}
                    Some(Step::End) => sender.withdraw_unsent(),
                    None => {}
                }
                while let Some(data) = sender.handle_timeout(now) {
                    if let Some(ages) = &mut self.ages {
                        ages.note_sent(data.offset + u64::from(data.payload), now);
                    }
                    out.push(packet(AtpContent::Data(data)));
                }
            }
            EndpointKind::AtpReceiver(receiver) => {
                out.extend(receiver.handle_timeout(now).feedback.map(|told| packet(AtpContent::Feedback(told))));
            }
            _ => {}
        }
    }

    /// A packet of ATP for this end.
    pub(super) fn handle_atp(&mut self, now: Time, content: &AtpContent, out: &mut Vec<Body>) {
        match (&mut self.kind, content) {
            (EndpointKind::AtpSender(_, sender), AtpContent::Feedback(told)) => sender.handle_feedback(now, told),
            (EndpointKind::AtpReceiver(receiver), AtpContent::Data(data)) => {
                let outcome = receiver.handle_data(now, data);
                self.arrived += Bytes(u64::from(data.payload));
                if outcome.delivered > 0 {
                    self.received += Bytes(outcome.delivered);
                    if let Some(ages) = &mut self.ages {
                        ages.note_delivered(self.received.get(), now);
                    }
                }
                out.extend(outcome.feedback.map(|told| {
                    let (src_port, dst_port) = (self.address.local_port, self.address.remote_port);
                    Body::Atp(AtpPacket { src_port, dst_port, content: AtpContent::Feedback(told) })
                }));
            }
            // Neither end sends what the other is.
            _ => {}
        }
    }
}

/// What a sender of ATP counts, in the columns of TCP. It has no retransmission timer: what comes nearest to its expiry is that
/// feedback fails to come until the path is probed anew.
pub(super) fn in_terms_of_tcp(stats: &atp::Stats) -> tcp::Stats {
    tcp::Stats {
        segments_sent: stats.packets_sent,
        segments_retransmitted: stats.packets_retransmitted,
        segments_acked: stats.packets_acked,
        timeouts: stats.restarts,
        ..tcp::Stats::default()
    }
}
