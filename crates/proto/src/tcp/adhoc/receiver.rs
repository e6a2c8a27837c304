//! The window that an ad hoc receiver advertises: rater, delimiter and freezer, fed with every packet (figure 4).
//!
//! All three start anew whenever the hop count changes. Packets with less than half a segment of payload are not
//! measured, because they are faster than others; such a packet counts as a probe and is answered with W_max (footnote
//! 6). A packet that triggers a freeze is answered with a closed window at once, the next one that does not with an
//! open window.
//!
//! Left out: the SYN-ACK advertises the whole buffer; the limits apply from the first data on.

use super::clock::Skew;
use super::delimiter::{Delimiter, Gate, Rounding};
use super::freezer::Freezer;
use super::rater::Rater;
use fourhop_units::{Dur, Rate, Time};

/// Options of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverOptions {
    /// Whether the window is limited to what the path holds.
    pub delimiter: bool,
    /// Whether that limit follows the rate found by the rater. Otherwise it is just W_max, whoever the sender is.
    pub rater: bool,
    /// Rounding of fractional segments.
    pub rounding: Rounding,
    /// Whether senders are frozen.
    pub freezer: bool,
    /// Deviations tolerated; the paper uses 5.
    pub beta: u32,
    /// Smoothed delays after which an estimate is stale. Our choice; the paper says "equal, or close".
    pub fresh_for: u32,
    /// Marks of the buffer occupancy.
    pub gate: Gate,
    /// Bit rate of our own interface, for S_max.
    pub link_rate: Rate,
    /// Least time that a hop spends on a packet besides its payload, for S_max.
    pub overhead: Dur,
    /// How far our own clock is off.
    pub skew: Skew,
}

/// An arriving packet and how it fared on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Payload bytes.
    pub bytes: u32,
    /// Largest payload of a segment.
    pub mss: u32,
    /// Hops it travelled, according to its time to live.
    pub hops: Option<u8>,
    /// Its forward link delay, if the clocks can give it.
    pub delay: Option<Dur>,
    /// Whether it only asks for an answer.
    pub probe: bool,
}

/// Counters of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ReceiverStats {
    /// Packets that froze the sender.
    pub freezes: u64,
    /// Changes of the hop count.
    pub hop_changes: u64,
    /// Probes, or packets too small to be measured.
    pub probes: u64,
}

/// The receiver side of ad hoc TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receiver {
    options: ReceiverOptions,
    hops: Option<u8>,
    rater: Rater,
    delimiter: Delimiter,
    freezer: Freezer,
    /// Largest payload of a segment, according to the last packet.
    mss: u32,
    /// Segments to offer; `None` before anything is known.
    window: Option<u32>,
    frozen: bool,
    /// Whether the next acknowledgement must not be delayed.
    urgent: bool,
    stats: ReceiverStats,
}

impl Receiver {
    /// A receiver that has seen nothing.
    pub fn new(options: ReceiverOptions) -> Receiver {
        Receiver {
            options,
            hops: None,
            rater: Rater::new(options.link_rate, options.overhead),
            delimiter: Delimiter::new(options.gate),
            freezer: Freezer::new(options.beta, options.fresh_for),
            mss: 0,
            window: None,
            frozen: false,
            urgent: false,
            stats: ReceiverStats::default(),
        }
    }

    /// How far our own clock is off.
    pub fn skew(&self) -> Skew {
        self.options.skew
    }

    /// Handles a packet anywhere in the stream.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) {
        if let Some(hops) = packet.hops.filter(|&hops| self.hops != Some(hops)) {
            self.handle_hops(hops);
        }
        let Some(hops) = self.hops else { return };
        self.mss = packet.mss;
        if packet.probe || (packet.bytes > 0 && packet.bytes < packet.mss.div_ceil(2)) {
            self.stats.probes += 1;
            self.decide(false, Some(Delimiter::w_upper(hops)));
        } else if let Some(delay) = packet.delay.filter(|_| packet.bytes > 0) {
            self.measure(now, hops, packet.bytes, delay);
        }
    }

    fn measure(&mut self, now: Time, hops: u8, bytes: u32, delay: Dur) {
        let departed = Time::from_nanos(now.as_nanos().saturating_sub(delay.as_nanos()));
        let late = self.freezer.sample(now, departed, delay);
        let sfld = self.freezer.sfld().unwrap_or(delay);
        self.rater.sample(hops, bytes, delay);
        self.delimiter.sample(hops, delay, sfld);
        let freezes = late && self.options.freezer;
        self.stats.freezes += u64::from(freezes);
        let window = match self.options.rater {
            true => self.delimiter.practical(hops, delay, self.options.rounding),
            false => Delimiter::w_upper(hops),
        };
        self.decide(freezes, Some(window));
    }

    /// Handles a new route length: measurements belong to the old route.
    fn handle_hops(&mut self, hops: u8) {
        self.stats.hop_changes += u64::from(self.hops.is_some());
        self.hops = Some(hops);
        self.rater.reset();
        self.delimiter.reset();
        self.freezer.reset();
    }

    fn decide(&mut self, frozen: bool, window: Option<u32>) {
        self.urgent |= frozen || self.frozen;
        (self.frozen, self.window) = (frozen, window);
    }

    /// Whether the next acknowledgement must be sent at once.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Notes that an acknowledgement has been sent.
    pub fn handle_ack_sent(&mut self) {
        self.urgent = false;
    }

    /// Largest window to offer, in bytes; `None`: no limit.
    pub fn limit(&self) -> Option<u64> {
        if self.frozen {
            return Some(0);
        }
        let free = self.options.rater && self.rater.suspects_faster_link() && !self.delimiter.is_crowded();
        self.window.filter(|_| self.options.delimiter && !free).map(|window| u64::from(window) * u64::from(self.mss))
    }

    /// Segments that the delimiter allows, whether or not this is what is offered.
    pub fn window(&self) -> Option<u32> {
        self.window
    }

    /// Hop count of the path.
    pub fn hops(&self) -> Option<u8> {
        self.hops
    }

    /// The rater.
    pub fn rater(&self) -> &Rater {
        &self.rater
    }

    /// The delimiter.
    pub fn delimiter(&self) -> &Delimiter {
        &self.delimiter
    }

    /// The freezer.
    pub fn freezer(&self) -> &Freezer {
        &self.freezer
    }

    /// Events so far.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: ReceiverOptions = ReceiverOptions {
        delimiter: true,
        rater: true,
        rounding: Rounding::Floor,
        freezer: true,
        beta: 5,
        fresh_for: 4,
        gate: Gate::QUARTERS,
        link_rate: Rate::kbps(2_000),
        overhead: Dur::from_millis(1),
        skew: Skew { offset_ns: 0, drift_ppb: 0 },
    };

    /// A full packet that leaves at `at` ms and takes `delay` ms over `hops`.
    fn full(receiver: &mut Receiver, hops: u8, at: u64, delay: u64) -> Option<u64> {
        let packet =
            Packet { bytes: 1_000, mss: 1_000, hops: Some(hops), delay: Some(Dur::from_millis(delay)), probe: false };
        receiver.handle_packet(Time::from_millis(at + delay), &packet);
        receiver.limit()
    }

    #[test]
    fn the_window_is_what_the_path_holds() {
        let mut receiver = Receiver::new(OPTIONS);
        assert_eq!(receiver.limit(), None);
        assert_eq!(full(&mut receiver, 16, 0, 200), Some(4_000));
        assert_eq!(full(&mut receiver, 16, 200, 300), Some(2_000));
        assert_eq!((receiver.hops(), receiver.stats().hop_changes), (Some(16), 0));
        assert_eq!(full(&mut receiver, 5, 600, 90), Some(2_000));
        assert_eq!((receiver.hops(), receiver.stats().hop_changes), (Some(5), 1));
    }

    /// A packet beyond SFLD + 5 FLDD closes the window at once; the next one in time opens it.
    #[test]
    fn a_late_packet_freezes_and_the_next_opens() {
        let mut receiver = Receiver::new(OPTIONS);
        full(&mut receiver, 8, 0, 100);
        assert!(!receiver.is_urgent());
        // SFLD = 100, FLDD = 50.
        assert_eq!(full(&mut receiver, 8, 110, 351), Some(0));
        assert!(receiver.is_urgent());
        receiver.handle_ack_sent();
        assert_eq!(full(&mut receiver, 8, 470, 130), Some(2_000));
        assert!(receiver.is_urgent());
        assert_eq!(receiver.stats().freezes, 1);
    }

    /// Another hop count: i of equation 5 is 0 again and FLD_min is new, so nothing freezes.
    #[test]
    fn another_number_of_hops_begins_anew() {
        let mut receiver = Receiver::new(OPTIONS);
        full(&mut receiver, 12, 0, 100);
        assert_eq!(full(&mut receiver, 16, 110, 2_000), Some(4_000));
        assert_eq!(receiver.delimiter().fld_min(), Some(Dur::from_secs(2)));
    }

    /// Footnote 6: a probe is not measured; its answer offers W_max and opens a closed window.
    #[test]
    fn a_probe_is_answered_with_w_max() {
        let mut receiver = Receiver::new(OPTIONS);
        full(&mut receiver, 16, 0, 100);
        assert_eq!(full(&mut receiver, 16, 110, 900), Some(0));
        let sfld = receiver.freezer().sfld();
        let probe = Packet { bytes: 0, mss: 1_000, hops: Some(16), delay: Some(Dur::from_millis(9)), probe: true };
        assert_eq!(receiver.stats().probes, 0);
        receiver.handle_packet(Time::from_secs(2), &probe);
        assert_eq!((receiver.limit(), receiver.freezer().sfld()), (Some(4_000), sfld));
        // A packet of less than half a segment is not measured either; one of half is.
        receiver.handle_packet(Time::from_secs(3), &Packet { bytes: 499, probe: false, ..probe });
        assert_eq!((receiver.stats().probes, receiver.freezer().sfld()), (2, sfld));
        receiver.handle_packet(Time::from_secs(4), &Packet { bytes: 500, probe: false, ..probe });
        assert!(receiver.stats().probes == 2 && receiver.freezer().sfld() < sfld);
        // A pure acknowledgement asks for nothing and changes nothing.
        full(&mut receiver, 16, 2_000, 9_000);
        receiver.handle_packet(Time::from_secs(20), &Packet { probe: false, ..probe });
        assert_eq!(receiver.limit(), Some(2_000));
    }

    /// Each mechanism alone.
    #[test]
    fn mechanisms_can_be_off() {
        let mut receiver = Receiver::new(ReceiverOptions { delimiter: false, ..OPTIONS });
        assert_eq!(full(&mut receiver, 8, 0, 100), None);
        assert_eq!(full(&mut receiver, 8, 110, 351), Some(0));
        let mut receiver = Receiver::new(ReceiverOptions { freezer: false, ..OPTIONS });
        full(&mut receiver, 8, 0, 100);
        assert_eq!(full(&mut receiver, 8, 110, 351), Some(2_000));
        // Without the rater it is W_max, however long packets take, and also for a sender behind a wire.
        let mut receiver = Receiver::new(ReceiverOptions { rater: false, freezer: false, ..OPTIONS });
        assert_eq!([70, 100, 900].map(|delay| full(&mut receiver, 16, 1_000, delay)), [Some(4_000); 3]);
    }

    /// The fraction of a segment left by equation 4 over 12 hops, 3 times 100 / 110.
    #[test]
    fn the_window_is_rounded_as_configured() {
        for (rounding, window) in [(Rounding::Floor, 2_000), (Rounding::Nearest, 3_000), (Rounding::Ceiling, 3_000)] {
            let mut receiver = Receiver::new(ReceiverOptions { rounding, ..OPTIONS });
            full(&mut receiver, 12, 0, 100);
            assert_eq!(full(&mut receiver, 12, 200, 110), Some(window), "{rounding:?}");
        }
    }

    /// A packet faster than radio: the sender is behind a wire, and is limited only while the path is crowded.
    #[test]
    fn a_wired_sender_is_limited_while_buffers_are_full() {
        let mut receiver = Receiver::new(ReceiverOptions { freezer: false, ..OPTIONS });
        // 16 hops of 1,000 bytes at 2 Mbit/s take at least 80 ms.
        assert_eq!(full(&mut receiver, 16, 0, 70), None);
        for n in 0..30 {
            full(&mut receiver, 16, 1_000 * n, 900);
        }
        assert_eq!(receiver.limit(), Some(2_000));
        for n in 0..60 {
            full(&mut receiver, 16, 40_000 + 1_000 * n, 71);
        }
        assert_eq!(receiver.limit(), None);
    }

    /// Without a clock or a hop count nothing is known, and nothing is limited.
    #[test]
    fn what_cannot_be_measured_is_not_limited() {
        let mut receiver = Receiver::new(OPTIONS);
        let packet = Packet { bytes: 1_000, mss: 1_000, hops: None, delay: Some(Dur::from_millis(50)), probe: false };
        receiver.handle_packet(Time::from_secs(1), &packet);
        assert_eq!(receiver.limit(), None);
        receiver.handle_packet(Time::from_secs(2), &Packet { hops: Some(5), delay: None, ..packet });
        assert_eq!(receiver.limit(), None);
    }
}
