//! The receiving half of a connection: received data, and acknowledgements with their timing.
//!
//! `space` is the sequence space: reassembly, the window, SACK blocks. [`ReceiverPolicy`] decides when to acknowledge
//! and how large a window to offer.

mod space;

use super::ack_policy::{AckDecision, AckPolicy, Arrival, ReceiverPolicy};
use super::action::Action;
use super::adhoc::Packet;
use super::config::Config;
use super::ecn::Echo;
use super::timers::{Timer, Timers};
use super::timestamps::Stamps;
use crate::wire::{TcpOptions, TcpSegment};
use fourhop_units::{Seq, Time};
use space::ReceiveSpace;

/// The receiving half.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) space: ReceiveSpace,
    pub(super) policy: ReceiverPolicy,
    pub(super) stamps: Stamps,
    pub(super) ecn: Echo,
    /// Most SACK blocks in an ACK, if both ends offered selective acknowledgements.
    sack_blocks: Option<u32>,
    /// Whether the application reads when it likes, rather than at once.
    explicit_read: bool,
    /// Whether an acknowledgement must be sent during this call.
    ack_due: bool,
    /// Hops travelled by the last packet, if the driver reports them.
    hops: Option<u8>,
    bytes_delivered: u64,
}

impl Receiver {
    /// `dsack`: whether to report duplicates (RFC 2883). `iss` is our own initial sequence number.
    pub(super) fn new(config: &Config, dsack: bool, iss: Seq) -> Receiver {
        Receiver {
            space: ReceiveSpace::new(config.receive_buffer, config.mss, dsack),
            policy: config.receiver,
            stamps: Stamps::new(config.clock, iss),
            ecn: Echo::OFF,
            sack_blocks: None,
            explicit_read: config.explicit_read,
            ack_due: false,
            hops: None,
            bytes_delivered: 0,
        }
    }

    /// Handles the peer's SYN and agrees on the options that `config` wants, too.
    pub(super) fn agree(&mut self, now: Time, segment: &TcpSegment, config: &Config, ecn: bool) {
        let options = &segment.options;
        let scale = options.window_scale.map(|_| config.window_scale());
        self.space.synchronise(segment.seq, scale);
        self.sack_blocks = (config.sack && options.sack_permitted).then_some(config.sack_blocks);
        self.ecn.agree(ecn);
        self.stamps.agree(now, options.timestamps.filter(|_| config.timestamps));
        self.stamps.note_ack_sent(self.space.nxt());
    }

    /// Whether both ends understand selective acknowledgements.
    pub(super) fn reports(&self) -> bool {
        self.sack_blocks.is_some()
    }

    /// Notes how many hops the packet of the next segment travelled.
    pub(super) fn note_hops(&mut self, hops: u8) {
        self.hops = Some(hops);
    }

    pub(super) fn hops(&self) -> Option<u8> {
        self.hops
    }

    pub(super) fn bytes_delivered(&self) -> u64 {
        self.bytes_delivered
    }

    /// Requests an acknowledgement during this call.
    pub(super) fn owe_ack(&mut self) {
        self.ack_due = true;
    }

    pub(super) fn owes_ack(&self) -> bool {
        self.ack_due
    }

    /// Handles an unacceptable or outdated segment.
    pub(super) fn take_unacceptable(&mut self, segment: &TcpSegment) {
        self.ack_due |= !segment.flags.rst;
        self.space.note_duplicate(self.space.locate(segment.seq), segment.payload.into());
    }

    /// Takes the payload of a segment; the peer sends at most `mss` bytes in each.
    pub(super) fn take_payload(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        mss: u32,
        timers: &mut Timers,
        out: &mut Vec<Action>,
    ) {
        if segment.payload == 0 {
            return;
        }
        let stored = self.space.store(self.space.locate(segment.seq), u64::from(segment.payload));
        if stored.bytes == 0 {
            self.ack_due = true;
            return;
        }
        out.push(Action::Stored {
            skip: stored.skip as u32,
            stream_offset: stored.start.offset(),
            bytes: stored.bytes as u32,
        });
        if stored.delivered > 0 {
            self.bytes_delivered += stored.delivered;
            if !self.explicit_read {
                self.space.read(stored.delivered);
            }
            out.push(Action::Delivered { bytes: stored.delivered });
        }
        let arrival = Arrival {
            in_order: stored.in_order,
            filled_gap: stored.filled_gap,
            bytes: segment.payload,
            mss,
            received: self.space.nxt().offset(),
        };
        match self.policy.on_segment(&arrival) {
            AckDecision::Now => self.ack_due = true,
            AckDecision::Within(time) if !timers.is_set(Timer::DelayedAck) => {
                timers.set(Timer::DelayedAck, now + time);
            }
            AckDecision::Within(_) => {}
        }
    }

    /// Notes the FIN of a segment; returns whether the peer has closed and everything before the FIN has arrived.
    pub(super) fn take_fin(&mut self, segment: &TcpSegment) -> bool {
        if segment.flags.fin {
            self.space.note_fin(self.space.locate(segment.seq) + u64::from(segment.payload));
            self.ack_due = true;
        }
        let closed = self.space.take_fin();
        self.ack_due |= closed;
        closed
    }

    /// Informs the policy, if it wants to know, how the packet of `segment` fared on the path.
    pub(super) fn inform_policy(&mut self, now: Time, segment: &TcpSegment, mss: u32) {
        if !self.policy.wants_packets() {
            return;
        }
        let skew = self.policy.adhoc.map(|adhoc| adhoc.skew()).unwrap_or_default();
        let packet = Packet {
            bytes: segment.payload,
            mss,
            hops: self.hops,
            delay: self.stamps.forward_delay(now, segment, skew),
            probe: segment.seq_len() == 0 && self.space.locate(segment.seq) < self.space.nxt(),
        };
        self.policy.on_packet(now, &packet);
    }

    /// Window field of the next segment.
    pub(super) fn advertise(&mut self) -> u16 {
        self.space.advertise(&self.policy)
    }

    /// The options of a segment with `payload` bytes, out of at most `mss`.
    pub(super) fn options(&mut self, now: Time, payload: u64, mss: u32) -> TcpOptions {
        let timestamps = self.stamps.option(now);
        let mut options = TcpOptions { timestamps, ..TcpOptions::default() };
        if let Some(most) = self.sack_blocks.filter(|_| self.space.has_report()) {
            // RFC 2018 section 3: three blocks fit beside timestamps, four without. Data has priority: a segment
            // carries as many blocks as fit below the maximum size, so a full one carries none.
            let most = u64::from(most.min(if timestamps.is_some() { 3 } else { 4 }));
            let room = u64::from(mss).saturating_sub(payload) / 8;
            let blocks = if payload == 0 { most } else { room.saturating_sub(1).min(most) };
            options.sack = self.space.sack_blocks(blocks as usize);
        }
        options
    }

    /// Notes that an ACK for everything that arrived has been sent.
    pub(super) fn note_ack_sent(&mut self) {
        self.ack_due = false;
        self.policy.on_ack_sent();
        self.stamps.note_ack_sent(self.space.nxt());
    }
}
