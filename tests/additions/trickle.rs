//! A transport that sends a packet now and then and wants no answer.

use crate::app::end::{Counts, FlowEnd, Shared};
use crate::app::transfer::{Step, Transfer};
use crate::wire::trickle::TricklePacket;
use fourhop_units::{Bytes, Dur, Seq, Time};

/// Options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time between two packets.
    pub interval: Dur,
}

impl Config {
    /// A packet a second.
    pub const fn usual() -> Config {
        Config { interval: Dur::from_secs(1) }
    }
}

/// One end.
#[derive(Debug)]
pub enum End {
    /// Its transfer, the time between packets, when the next one leaves, and how many have left.
    Sender(Transfer, Dur, Option<Time>, u64),
    /// The other.
    Receiver,
}

impl FlowEnd for End {
    type Config = Config;
    type Packet = TricklePacket;

    fn pair(config: &Config, transfer: Transfer, _first: Seq) -> (End, End) {
        (End::Sender(transfer, config.interval, None, 0), End::Receiver)
    }

    fn next_timeout(&self) -> Option<Time> {
        match self {
            End::Sender(transfer, _, next, _) => Time::earlier_of(transfer.next_timeout(), *next),
            End::Receiver => None,
        }
    }

    fn handle_timeout(&mut self, now: Time, shared: Shared<'_>) {
        let End::Sender(transfer, interval, next, sent) = self else { return };
        match transfer.handle_timeout(now) {
            Some(Step::Begin { .. }) => *next = Some(now),
            Some(Step::End) => *next = None,
            Some(Step::Go { .. }) | None => {}
        }
        if next.is_some_and(|at| at <= now) {
            *next = Some(now + *interval);
            *sent += 1;
            let ports = (shared.address.local_port, shared.address.remote_port);
            shared.out.push(TricklePacket { ports, number: *sent as u32 }.into());
        }
    }

    fn handle_packet(&mut self, _now: Time, packet: &TricklePacket, shared: Shared<'_>) {
        *shared.arrived += Bytes(packet.payload().into());
        *shared.received += Bytes(packet.payload().into());
    }

    fn counts(&self) -> Counts {
        match self {
            End::Sender(.., sent) => Counts { sent: *sent, ..Counts::default() },
            End::Receiver => Counts::default(),
        }
    }
}
