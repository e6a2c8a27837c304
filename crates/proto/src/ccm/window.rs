//! The sender side: the bandwidth-delay product, written into the window field of arriving segments.
//!
//! Equation (6) of docs/c3tcp.md: W = B (D_forward + D_backward), where B and D_forward come from the echo, and
//! D_backward from the path of the acknowledgement itself.
//!
//! The written window is never above the peer's, and never below one segment unless the peer's own window is. Duplicate
//! acknowledgements keep the window of the acknowledgement they repeat, because TCP recognises them by it (RFC 5681
//! section 2). Without the handshake, the scale of the field is unknown, and the segment stays unchanged.

use crate::wire::TcpSegment;
use crate::wire::options::{Back, Echo};
use fourhop_units::{Dur, Seq, Time};

/// Options of the sender side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How long a measurement is valid if none follows; after that the window is the peer's again.
    pub hold: Dur,
    /// Weight of the old average of bandwidth and delay in thousandths; 0: only the newest measurement.
    pub smoothing: u32,
    /// Whether the module acknowledges to the local TCP, for full control of the window.
    pub local_acks: bool,
    /// Whether the module reads the simulator's notes on a packet ([`PacketMeta`](crate::wire::PacketMeta)): how many
    /// links it has travelled, and since when. Only the simulator sets this. Otherwise links are counted by the time to
    /// live, and [`Estimate::truth`] is unknown.
    pub simulated: bool,
}

impl Options {
    /// Only the newest measurement, for three seconds, on a real device.
    pub const NEWEST: Options = Options { hold: Dur::from_secs(3), smoothing: 0, local_acks: false, simulated: false };
}

/// The path as the sender knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// When it was measured last.
    pub at: Time,
    /// Bandwidth in bit/s.
    pub bandwidth: u64,
    /// Delay of the forward path, without queueing, and of the way back.
    pub delay: Dur,
    /// The true time of packets and their acknowledgements, there and back, without waits in queues, averaged like
    /// `delay`, if the simulator reports it.
    pub truth: Option<Dur>,
}

impl Estimate {
    /// Bandwidth times delay, in bytes.
    pub fn window(&self) -> u64 {
        let bits = u128::from(self.bandwidth) * u128::from(self.delay.as_nanos()) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

/// Window scale of one side of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scale {
    /// No SYN seen.
    Unknown,
    /// The SYN had no such option.
    None,
    /// This shift.
    Shift(u8),
}

impl Scale {
    fn of(syn: &TcpSegment) -> Scale {
        // RFC 7323 section 2.3: at most 14.
        syn.options.window_scale.map_or(Scale::None, |shift| Scale::Shift(shift.min(14)))
    }
}

/// The last acknowledgement passed on.
#[derive(Clone, Copy, Debug)]
struct Passed {
    ack: Seq,
    /// Window field on arrival.
    advertised: u16,
    /// Window field as passed on.
    written: u16,
}

/// The window of one direction of a connection.
#[derive(Clone, Debug)]
pub struct SenderWindow {
    options: Options,
    ours: Scale,
    peers: Scale,
    /// Largest payload that the local TCP has sent, or may send: the size of one segment.
    segment: u32,
    estimate: Option<Estimate>,
    last: Option<Passed>,
}

/// RFC 9293 section 3.7.1: the MSS without the option.
const DEFAULT_MSS: u16 = 536;

impl SenderWindow {
    /// The window of a connection not seen yet.
    pub fn new(options: Options) -> SenderWindow {
        let unknown = Scale::Unknown;
        SenderWindow { options, ours: unknown, peers: unknown, segment: 0, estimate: None, last: None }
    }

    /// The estimate in force at `now`.
    pub fn current(&self, now: Time) -> Option<Estimate> {
        self.estimate.filter(|estimate| now.saturating_since(estimate.at) <= self.options.hold)
    }

    /// The window last sent to the local TCP, in bytes.
    pub fn written(&self) -> Option<u64> {
        Some(u64::from(self.last?.written) << self.shifts()?.0)
    }

    /// Notes a segment of the local TCP.
    pub fn note_outgoing(&mut self, segment: &TcpSegment) {
        if segment.flags.syn {
            if !segment.flags.ack {
                // A connection begins.
                *self = SenderWindow::new(self.options);
            }
            self.ours = Scale::of(segment);
        } else {
            self.segment = self.segment.max(segment.payload);
        }
    }

    /// Takes the link-layer measurements in an acknowledgement; `truth` is the true time of the newest packet, see
    /// [`Estimate`].
    pub fn estimate(&mut self, now: Time, echo: Echo, back: Back, truth: Option<Dur>) {
        let bandwidth = u64::from(echo.bandwidth);
        let delay = Dur::from_micros(u64::from(echo.delay) + u64::from(back.delay));
        let weight = u64::from(self.options.smoothing.min(999));
        let mixed = |old: u64, new: u64| {
            let sum = u128::from(old) * u128::from(weight) + u128::from(new) * u128::from(1000 - weight);
            (sum / 1000) as u64
        };
        let mixed_delay = |old: Dur, new: Dur| Dur::from_nanos(mixed(old.as_nanos(), new.as_nanos()));
        self.estimate = Some(match self.current(now) {
            Some(old) => Estimate {
                at: now,
                bandwidth: mixed(old.bandwidth, bandwidth),
                delay: mixed_delay(old.delay, delay),
                truth: truth.map(|truth| old.truth.map_or(truth, |old| mixed_delay(old, truth))),
            },
            None => Estimate { at: now, bandwidth, delay, truth },
        });
    }

    /// Handles a segment for the local TCP: lowers its window field to the estimate.
    pub fn handle_incoming(&mut self, now: Time, segment: &mut TcpSegment) {
        if segment.flags.syn {
            if !segment.flags.ack && self.peers != Scale::Unknown {
                *self = SenderWindow::new(self.options);
            }
            self.peers = Scale::of(segment);
            let mss = segment.options.mss.unwrap_or(DEFAULT_MSS);
            self.segment = self.segment.max(u32::from(mss));
            return;
        }
        let Some((shift, _)) = self.shifts().filter(|_| segment.flags.ack && !segment.flags.rst) else { return };
        let advertised = segment.window;
        let again = |last: &Passed| last.ack == segment.ack && segment.payload == 0 && !segment.flags.fin;
        let repeated = self.last.filter(again);
        let written = match repeated {
            // The peer repeats itself: so does the module.
            Some(last) if last.advertised == advertised => last.written.min(advertised),
            _ => {
                let written = self.limited(now, advertised, shift);
                match repeated {
                    // The peer's window has changed: that must not look like a duplicate.
                    Some(last) if last.written == written && written < advertised => written + 1,
                    _ => written,
                }
            }
        };
        segment.window = written;
        // An old acknowledgement that arrives late says nothing about the window.
        if self.last.is_none_or(|last| !segment.ack.before(last.ack)) {
            self.last = Some(Passed { ack: segment.ack, advertised, written });
        }
    }

    /// The window field, limited to the estimate.
    fn limited(&self, now: Time, advertised: u16, shift: u8) -> u16 {
        let Some(estimate) = self.current(now) else { return advertised };
        let unit = |bytes: u64| u16::try_from(bytes >> shift).unwrap_or(u16::MAX);
        // One segment, rounded up to the unit of the field.
        let least = unit(u64::from(self.segment) + (1 << shift) - 1);
        advertised.min(unit(estimate.window()).max(least))
    }

    /// Size of a segment, in bytes.
    pub fn segment_size(&self) -> u32 {
        self.segment
    }

    /// Shifts of the window field in arriving segments and in those of the local TCP, once they are known.
    pub fn shifts(&self) -> Option<(u8, u8)> {
        match (self.ours, self.peers) {
            (Scale::Unknown, _) | (_, Scale::Unknown) => None,
            (Scale::Shift(ours), Scale::Shift(peers)) => Some((peers, ours)),
            _ => Some((0, 0)),
        }
    }
}
