//! The sender's view of its connection during one call: the current time, the receiver, which fills in the other half
//! of every header, the timers and the driver's buffer.

use super::action::Action;
use super::receiver::Receiver;
use super::state::State;
use super::timers::{Timer, Timers};
use crate::wire::{TcpFlags, TcpOptions, TcpSegment};
use fourhop_units::{Seq, Time};

/// The rest of the connection, for one call.
pub(super) struct Context<'a> {
    pub(super) now: Time,
    pub(super) state: State,
    pub(super) ports: (u16, u16),
    pub(super) rx: &'a mut Receiver,
    pub(super) timers: &'a mut Timers,
    pub(super) out: &'a mut Vec<Action>,
}

impl Context<'_> {
    /// Builds a segment numbered `seq`, with the receiver's current acknowledgement and window.
    pub(super) fn segment(&mut self, seq: Seq, flags: TcpFlags, options: TcpOptions, payload: u32) -> TcpSegment {
        TcpSegment {
            src_port: self.ports.0,
            dst_port: self.ports.1,
            seq,
            ack: if flags.ack { self.rx.space.ack() } else { Seq::default() },
            flags,
            window: if flags.syn { self.rx.space.syn_window() } else { self.rx.advertise() },
            options,
            payload,
            ..TcpSegment::default()
        }
    }

    /// Sends a segment that acknowledges everything received so far.
    pub(super) fn send(&mut self, segment: TcpSegment, stream_offset: u64) {
        self.out.push(Action::Send { segment, stream_offset });
        self.timers.stop(Timer::DelayedAck);
        self.rx.note_ack_sent();
    }
}
