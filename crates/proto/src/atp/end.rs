//! The ends of a transfer as their nodes see them.

use super::{Config, Receiver, Sender};
use crate::app::end::{Counts, FlowEnd, PathSeen, Shared};
use crate::app::transfer::{Step, Transfer};

use crate::wire::{AtpContent, AtpPacket};
use fourhop_units::{Bytes, Dur, Seq, Time};

/// One end.
#[derive(Debug)]
pub enum End {
    /// The sending end, with its traffic source.
    Sender(Transfer, Box<Sender>),
    /// The receiving end.
    Receiver(Box<Receiver>),
}

impl FlowEnd for End {
    type Config = Config;
    type Packet = AtpPacket;

    fn pair(config: &Config, transfer: Transfer, first: Seq) -> (End, End) {
        let sender = End::Sender(transfer, Box::new(Sender::new(*config, first)));
        (sender, End::Receiver(Box::new(Receiver::new(*config))))
    }

    fn records_ages(&self) -> bool {
        match self {
            End::Sender(_, sender) => sender.records_ages(),
            End::Receiver(receiver) => receiver.records_ages(),
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        match self {
            End::Sender(transfer, sender) => Time::earlier_of(transfer.next_timeout(), sender.next_timeout()),
            End::Receiver(receiver) => receiver.next_timeout(),
        }
    }

    fn handle_timeout(&mut self, now: Time, mut shared: Shared<'_>) {
        match self {
            End::Sender(transfer, sender) => {
                match transfer.handle_timeout(now) {
                    Some(Step::Begin { bytes }) => {
                        if let Some(ages) = &mut shared.ages {
                            ages.note_written(now);
                        }
                        sender.open(now, bytes);
                    }
                    Some(Step::End) => sender.withdraw_unsent(),
                    // The scenario reader gives an ATP transfer no rate.
                    Some(Step::Go { .. }) | None => {}
                }
                while let Some(data) = sender.handle_timeout(now) {
                    if let Some(ages) = &mut shared.ages {
                        ages.note_sent(data.offset + u64::from(data.payload), now);
                    }
                    send(&mut shared, AtpContent::Data(data));
                }
            }
            End::Receiver(receiver) => {
                if let Some(feedback) = receiver.handle_timeout(now).feedback {
                    send(&mut shared, AtpContent::Feedback(feedback));
                }
            }
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &AtpPacket, mut shared: Shared<'_>) {
        match (self, &packet.content) {
            (End::Sender(_, sender), AtpContent::Feedback(feedback)) => sender.handle_feedback(now, feedback),
            (End::Receiver(receiver), AtpContent::Data(data)) => {
                let outcome = receiver.handle_data(now, data);
                *shared.arrived += Bytes(u64::from(data.payload));
                if outcome.delivered > 0 {
                    *shared.received += Bytes(outcome.delivered);
                    if let Some(ages) = &mut shared.ages {
                        ages.note_delivered(shared.received.get(), now);
                    }
                }
                if let Some(feedback) = outcome.feedback {
                    send(&mut shared, AtpContent::Feedback(feedback));
                }
            }
            // A sender gets no data, and a receiver no feedback.
            _ => {}
        }
    }

    /// ATP has no retransmission timer: the nearest equivalent of an expiry is feedback that is missing until the path
    /// is probed anew.
    fn counts(&self) -> Counts {
        let End::Sender(_, sender) = self else { return Counts::default() };
        let stats = sender.stats();
        Counts {
            sent: stats.packets_sent,
            retransmitted: stats.packets_retransmitted,
            timeouts: stats.restarts,
            fast_retransmits: 0,
        }
    }

    fn rtt_samples(&self) -> (u64, Dur) {
        match self {
            End::Sender(_, sender) => sender.rtt_samples(),
            End::Receiver(_) => (0, Dur::ZERO),
        }
    }

    fn path_seen(&self) -> PathSeen {
        match self {
            End::Sender(_, sender) => {
                PathSeen { rtt: sender.rtt(), interval: sender.interval(), offered: sender.offered() }
            }
            End::Receiver(_) => PathSeen::default(),
        }
    }
}

fn send(shared: &mut Shared<'_>, content: AtpContent) {
    let (src_port, dst_port) = (shared.address.local_port, shared.address.remote_port);
    shared.out.push(AtpPacket { src_port, dst_port, content }.into());
}
