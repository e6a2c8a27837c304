//! A flow at the gateway: its observed state and its pacing queue.

use super::Side;
use super::airtime::Carried;
use super::config::{Config, Mode};
use super::delayed::Receiver;
use super::even::Shared;
use super::goodput::{Memory, Throttle};
use super::pacer::{Pacer, TIMED};
use super::rtt::RttMeter;
use super::window::{WindowInput, WindowLimit};
use crate::wire::TcpSegment;
use fourhop_units::{Bytes, Dur, Rate, Seq, Time};
use std::collections::VecDeque;

/// A queued packet, with what its release must know.
#[derive(Clone, Debug)]
pub struct Waiting<P> {
    pub packet: P,
    pub payload: u32,
    /// When it arrived.
    pub since: Time,
    seq: Seq,
    fin: bool,
}

impl<P> Waiting<P> {
    pub fn new(now: Time, packet: P, segment: &TcpSegment) -> Waiting<P> {
        Waiting { packet, payload: segment.payload, since: now, seq: segment.data_seq(), fin: segment.flags.fin }
    }
}

/// The part of a flow's queue included in the gateway's totals.
#[derive(Clone, Copy, Default, Debug)]
pub struct Accounted {
    pub queued: u32,
    pub waiting: u32,
    pub due: Option<Time>,
}

/// The direction from the wired to the wireless side, once it has carried data.
#[derive(Clone, Debug)]
pub struct Down<P> {
    /// Packets in order of arrival.
    pub queue: VecDeque<Waiting<P>>,
    /// Payload bytes in the queue.
    pub queued: u32,
    /// Payload bytes reserved for this flow in the gateway's buffer.
    pub reserved: u32,
    pub meter: RttMeter,
    /// State of the receiver with respect to delayed acknowledgements.
    pub receiver: Receiver,
    pub pacer: Pacer,
    /// Its rate, for airtime limits.
    pub carried: Carried,
    /// Interval imposed for the sake of other flows, if any.
    pub shared: Shared,
    /// Throttle set by goodput control.
    pub throttle: Option<Throttle>,
    /// Limits windows to what the path can carry.
    pub limit: WindowLimit,
    /// Largest payload seen, for which the four-hop delay is computed.
    pub mss: u32,
    /// End of the last segment that left together with its predecessor.
    second: Option<Seq>,
    /// When data last left, and its payload.
    last: Option<(Time, u32)>,
    pub accounted: Accounted,
}

/// State of a flow.
#[derive(Clone, Debug)]
pub struct Flow<P> {
    /// Data from the wireless side, and its acknowledgements from the wired side.
    pub up: Option<Box<RttMeter>>,
    pub down: Option<Box<Down<P>>>,
    /// Latest round trip on the wired side.
    pub wired_rtt: Option<Dur>,
    /// Largest window advertised by the wireless side, in bytes; 0 if none has been seen.
    pub window: u32,
    /// When it was last seen to carry data.
    pub carried: Time,
    /// Bytes acknowledged by the last comparison of goodputs: up, down.
    pub marks: (u64, u64),
    /// Its state in goodput control.
    pub memory: Memory,
    /// How long data into the mesh has been queued or in flight since the last comparison, without the current period,
    /// which started at `busy_since`.
    active: Dur,
    busy_since: Option<Time>,
    /// The side whose packet came first, and the window scales of the SYNs.
    first: Side,
    scales: [Option<u8>; 2],
    /// Sides whose SYN has been seen: without both, the scales are unknown.
    syns: [bool; 2],
    /// End of the stream by FIN, per side.
    fins: [Option<Seq>; 2],
    fins_acked: [bool; 2],
    /// Whether the flow is over: it is forgotten once its queue is empty.
    pub ended: bool,
}

impl<P> Flow<P> {
    /// Creates a flow first seen in a packet from `first`.
    pub fn new(now: Time, first: Side) -> Flow<P> {
        Flow {
            up: None,
            down: None,
            wired_rtt: None,
            window: 0,
            carried: now,
            marks: (0, 0),
            memory: Memory::default(),
            active: Dur::ZERO,
            busy_since: None,
            first,
            scales: [None; 2],
            syns: [false; 2],
            fins: [None; 2],
            fins_acked: [false; 2],
            ended: false,
        }
    }

    /// Whether `from` is not the side seen first.
    pub fn is_answered_by(&self, from: Side) -> bool {
        self.first != from
    }

    /// Tracks the start and the end of the connection, and the advertised window.
    pub fn note(&mut self, from: Side, segment: &TcpSegment) {
        if segment.flags.syn {
            if !segment.flags.ack && (self.ended || self.fins.iter().any(Option::is_some)) {
                // Another connection between the same ports.
                self.restart();
            }
            self.scales[from as usize] = segment.options.window_scale;
            self.syns[from as usize] = true;
        }
        // If the SYNs of a connection went elsewhere, before a handover or a restart, its windows say nothing: their
        // unit is unknown.
        if from == Side::Wireless && segment.flags.ack && self.syns == [true; 2] {
            // The window of a SYN is never scaled (RFC 7323 section 2.2).
            let shift = if segment.flags.syn { 0 } else { self.shift(from) };
            self.window = self.window.max(u32::from(segment.window) << shift);
        }
        if segment.flags.fin {
            self.fins[from as usize] = Some(segment.data_seq() + segment.payload + 1);
        }
        if segment.flags.ack
            && let Some(end) = self.fins[from.other() as usize]
            && !segment.ack.before(end)
        {
            self.fins_acked[from.other() as usize] = true;
        }
        self.ended |= segment.flags.rst || self.fins_acked == [true, true];
    }

    /// Returns the scale of the windows that a side advertises; 0 unless both SYNs had one (RFC 7323 section 1.3).
    fn shift(&self, from: Side) -> u8 {
        let both = self.scales[0].and(self.scales[1]);
        both.and(self.scales[from as usize]).unwrap_or(0)
    }

    /// Returns the window that an acknowledgement from the wireless side must carry so that packets wait at most
    /// `target`; `None` if it need not change. With `whole`, its edge moves by whole segments.
    pub fn reduced_window(&mut self, now: Time, segment: &TcpSegment, target: Dur, whole: bool) -> Option<u16> {
        let shift = self.shift(Side::Wireless);
        let down = self.down.as_deref_mut().filter(|_| self.syns == [true; 2] && !segment.flags.rst)?;
        let (interval, sent) = (down.mean_spacing(down.mss)?, down.meter.newest()?);
        let (ack, window, mss, assumed) = (segment.ack, segment.window, down.mss, down.pacer.assumed());
        let target = down.pacer.least_wait(interval).max(target);
        let written = down
            .limit
            .handle_ack(now, &WindowInput { ack, window, shift, sent, interval, mss, target, whole, assumed });
        (written != window).then_some(written)
    }

    fn restart(&mut self) {
        (self.fins, self.fins_acked, self.ended) = ([None; 2], [false; 2], false);
        if let Some(up) = &mut self.up {
            up.restart();
        }
        if let Some(down) = &mut self.down {
            down.meter.restart();
            down.limit.restart();
        }
    }

    /// A segment passes towards the wired side.
    pub fn handle_data_up(&mut self, now: Time, segment: &TcpSegment) {
        if segment.payload > 0 {
            self.carried = now;
            self.up.get_or_insert_default();
        }
        if let Some(up) = &mut self.up {
            up.handle_data(now, segment.data_seq(), segment.payload, segment.flags.fin);
        }
    }

    /// The wired side sends an acknowledgement.
    pub fn handle_ack_up(&mut self, now: Time, segment: &TcpSegment) {
        if let Some(up) = &mut self.up {
            self.wired_rtt = up.handle_ack(now, segment.ack, &segment.options.sack).or(self.wired_rtt);
        }
    }

    /// Returns the bytes acknowledged in both directions.
    pub fn acked(&self) -> (u64, u64) {
        (self.up.as_ref().map_or(0, |up| up.acked()), self.down.as_ref().map_or(0, |down| down.meter.acked()))
    }

    /// Tracks when data into the mesh is queued or in flight; called after anything that may have changed that.
    pub fn note_activity(&mut self, now: Time) {
        let busy = self.down.as_ref().is_some_and(|down| down.is_busy());
        if busy && self.busy_since.is_none() {
            self.busy_since = Some(now);
        } else if !busy && let Some(since) = self.busy_since.take() {
            self.active += now.saturating_since(since);
        }
    }

    /// Returns how long data into the mesh was queued or in flight since the last call.
    pub fn take_activity(&mut self, now: Time) -> Dur {
        let busy = self.busy_since.replace(now).map(|since| now.saturating_since(since));
        if busy.is_none() {
            self.busy_since = None;
        }
        std::mem::take(&mut self.active) + busy.unwrap_or(Dur::ZERO)
    }

    /// Returns the bytes it occupies outside the table, not counting queued packets.
    pub fn memory(&self) -> usize {
        self.up.as_ref().map_or(0, |up| size_of::<RttMeter>() + up.memory())
            + self.down.as_ref().map_or(0, |down| {
                size_of::<Down<P>>()
                    + down.queue.capacity() * size_of::<Waiting<P>>()
                    + down.meter.memory()
                    + down.pacer.memory()
            })
    }
}

impl<P> Down<P> {
    /// Creates the state before the first data.
    pub fn new(now: Time, config: &Config) -> Down<P> {
        Down {
            queue: VecDeque::new(),
            queued: 0,
            reserved: 0,
            meter: if config.mode == Mode::Ap2 { RttMeter::of(TIMED) } else { RttMeter::default() },
            receiver: Receiver::default(),
            pacer: Pacer::first(now, config),
            carried: Carried::new(now),
            shared: Shared::Own,
            throttle: None,
            limit: WindowLimit::default(),
            mss: 0,
            second: None,
            last: None,
            accounted: Accounted::default(),
        }
    }

    /// Whether data is queued or in flight.
    pub fn is_busy(&self) -> bool {
        self.meter.is_outstanding() || !self.queue.is_empty()
    }

    /// Returns this flow's own interval.
    pub fn own_interval(&self) -> Option<Dur> {
        let link = self.pacer.measurements().delay.filter(|_| self.shared == Shared::Links);
        link.or(self.pacer.interval())
    }

    /// Returns the common interval, if all flows share one.
    pub fn even_interval(&self) -> Option<Dur> {
        match self.shared {
            Shared::Same(interval) => self.pacer.interval().map(|_| interval),
            Shared::Own | Shared::Links => None,
        }
    }

    /// Returns the interval from data of this payload to the next; `None` if there is none.
    fn spacing(&self, payload: u32) -> Option<Dur> {
        self.throttled(payload, self.even_interval().or_else(|| self.own_interval()))
    }

    /// Returns the same interval in the long run.
    fn mean_spacing(&self, payload: u32) -> Option<Dur> {
        let mean = self.pacer.mean_interval();
        self.throttled(payload, mean.or_else(|| self.even_interval()).or_else(|| self.own_interval()))
    }

    fn throttled(&self, payload: u32, interval: Option<Dur>) -> Option<Dur> {
        let throttled =
            self.throttle.and_then(|throttle| Some(Rate::from_bps(throttle.rate)?.time_for(Bytes(u64::from(payload)))));
        match (interval, throttled) {
            (Some(interval), Some(throttled)) => Some(interval.max(throttled)),
            (interval, throttled) => interval.or(throttled),
        }
    }

    /// Returns when the next data may leave if nothing is acknowledged before; `None`: at once.
    pub fn due(&self) -> Option<Time> {
        let spaced = self.last.and_then(|(last, payload)| self.spacing(payload).map(|distance| last + distance));
        let windowed = match &self.pacer {
            Pacer::Ap2(windowed) => windowed.due(self.meter.outstanding(), self.queue.len(), self.mss),
            Pacer::Gap(..) => None,
        };
        spaced.max(windowed)
    }

    /// Sets the minimum time between segments for the sake of other nodes.
    pub fn take_spacing(&mut self, spacing: Option<Dur>) {
        if let Pacer::Ap2(windowed) = &mut self.pacer {
            windowed.take_spacing(spacing);
        }
    }

    /// Whether the packet at the head of the queue, which may wait for `target`, must be marked.
    pub fn marks(&mut self, now: Time, target: Dur) -> bool {
        match (&mut self.pacer, self.queue.front()) {
            (Pacer::Ap2(windowed), Some(head)) => windowed.marks(now, now.saturating_since(head.since), target),
            _ => false,
        }
    }

    /// Whether `waiting` may leave if nothing is ahead of it. Packets without payload need no interval.
    pub fn may_leave(&self, now: Time, waiting: &Waiting<P>) -> bool {
        waiting.payload == 0 || self.due().is_none_or(|due| due <= now)
    }

    /// Appends a packet to the queue.
    pub fn queue_up(&mut self, waiting: Waiting<P>) {
        self.queued += waiting.payload;
        self.queue.push_back(waiting);
    }

    /// Removes the packet at the head, which leaves.
    pub fn pop(&mut self, now: Time) -> Option<P> {
        let waiting = self.queue.pop_front()?;
        self.queued -= waiting.payload;
        self.note_departure(now, &waiting);
        Some(waiting.packet)
    }

    /// Removes the packet at the head to leave together with its predecessor, if both have full payload. The next
    /// packet then waits for two intervals.
    pub fn pop_second(&mut self, now: Time) -> Option<P> {
        let (_, before) = self.last.filter(|&(at, payload)| at == now && payload == self.mss)?;
        let second = self.queue.front().filter(|second| second.payload == self.mss)?;
        self.second = Some(second.seq + second.payload);
        let distance = self.spacing(before).unwrap_or(Dur::ZERO);
        let packet = self.pop(now);
        self.last = self.last.map(|(_, payload)| (now + distance, payload));
        packet
    }

    /// Whether the segment that ends here left right after another, and so had to wait for it on the first link.
    pub fn left_second(&self, end: Seq) -> bool {
        self.second == Some(end)
    }

    /// Records that a packet leaves.
    pub fn note_departure(&mut self, now: Time, waiting: &Waiting<P>) {
        if let Pacer::Ap2(windowed) = &mut self.pacer
            && waiting.payload > 0
        {
            let again = self.meter.newest().is_some_and(|newest| waiting.seq.before(newest));
            let end = waiting.seq + waiting.payload;
            windowed.handle_departure(now, end, self.meter.outstanding(), again, self.mss);
        }
        self.meter.handle_data(now, waiting.seq, waiting.payload, waiting.fin);
        if waiting.payload > 0 {
            self.last = Some((now, waiting.payload));
        }
    }
}
