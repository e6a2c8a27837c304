//! The channels: on each, frames are queued at their radios, contend, are lost and arrive.
//!
//! Each channel is a separate world with the radios of all nodes, created when the first frame is sent there. Channels
//! do not interfere with each other. hwsim passes on at once whatever mac80211 gives it, so the queues are here. Like
//! hwsim, a radio forgets the oldest frames when a hundred wait for their status.
//!
//! The clocks of hwsim's radios agree, so all beacons come at the same instant. Each is deferred as in an IBSS, by up
//! to twice the minimum contention window (clause 11.1.3.5 of IEEE Std 802.11-2020).

use super::captures::Captures;
use super::channel::Channel;
use super::hwsim::{ACKNOWLEDGED, Address, NO_ACK, RATES, Sent, Try, place_of};
use super::radios::Radios;
use super::series::Series;
use crate::EmulationError;
use crate::change::Request;
use crate::members::Member;
use fourhop_proto::drop::DropReason;
use fourhop_proto::mac::RateControl;
use fourhop_proto::wire::{Foreign, Msdu, Payload};
use fourhop_sim::batch::Control;
use fourhop_sim::setup::{Routing, Setup};
use fourhop_sim::world::FrameEvent;
use fourhop_units::{Bytes, Dbm, MacAddr, NodeId, Purpose, Stream, Time, Watt};
use std::collections::{BTreeMap, VecDeque};

/// Most frames of a radio that wait for their status, and how many hwsim keeps when that is reached (`MAX_QUEUE`,
/// `WARN_QUEUE`).
const MOST: usize = 100;
const KEPT: usize = 49;

/// Octets of the FCS, which hwsim leaves out.
const FCS: u64 = 4;
/// The address of no node: none has this number.
const NOBODY: NodeId = NodeId(NodeId::FIRST_WIRED - 1);
/// The signal reported if none was received, in dBm.
const SILENCE: i32 = -100;

/// News for the kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Notice {
    /// A radio receives a frame.
    Received {
        /// The radio.
        radio: Address,
        /// The frame.
        frame: Foreign,
        /// Index of its rate in the band.
        place: u32,
        /// Its signal strength, in dBm.
        signal: i32,
        /// The channel, in MHz.
        frequency: u32,
    },
    /// The status of a frame.
    Status {
        /// The radio that has sent it.
        radio: Address,
        /// The radio's identifier of the frame.
        cookie: u64,
        /// Flags for the kernel.
        flags: u32,
        /// How often each rate was tried.
        tries: [Try; RATES],
        /// Signal strength of the acknowledgement, in dBm.
        signal: i32,
    },
}

/// Counts of frames.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize)]
pub struct Counts {
    /// Frames that radios have sent.
    pub taken: u64,
    /// Of those, frames acknowledged by their receiver.
    pub acknowledged: u64,
    /// Frames given up after the last attempt.
    pub given_up: u64,
    /// Frames sent to all, or to a receiver that is not to acknowledge.
    pub unanswered: u64,
    /// Frames forgotten, as by hwsim, because a hundred were waiting.
    pub forgotten: u64,
    /// Frames forgotten because their radio was removed.
    pub abandoned: u64,
    /// Frames without any rate that the scenario's radio has.
    pub uncarried: u64,
    /// Frames delivered to radios, copies included.
    pub delivered: u64,
    /// Frames for one receiver, by the number of attempts that the kernel allows.
    pub attempts_allowed: BTreeMap<usize, u64>,
    /// Tries at rates that the scenario's radio lacks, by single frames, by rate in kbit/s; 0: of 802.11n or later.
    pub tries_uncarried: BTreeMap<u64, u64>,
}

impl Counts {
    /// Number of frames with each fate.
    pub fn fates(&self) -> [(&'static str, u64); 5] {
        let Counts { acknowledged, given_up, unanswered, forgotten, abandoned, .. } = *self;
        [
            ("acknowledged", acknowledged),
            ("given-up", given_up),
            ("to-all", unanswered),
            ("forgotten", forgotten),
            ("abandoned", abandoned),
        ]
    }
}

/// A frame that has no status yet.
#[derive(Clone, Debug)]
struct Pending {
    radio: Address,
    cookie: u64,
    flags: u32,
    series: Series,
    for_all: bool,
}

/// All channels.
pub struct Spectrum {
    setup: Setup,
    seed: u64,
    control: Control,
    now: Time,
    channels: BTreeMap<u32, Channel>,
    captures: Option<Captures>,
    beacons: Stream,
    pending: BTreeMap<u64, Pending>,
    /// The frames of each radio that wait for their status, the oldest first.
    of_radio: BTreeMap<Address, VecDeque<u64>>,
    next_number: u64,
    counts: Counts,
}

impl Spectrum {
    /// An idle spectrum in the network of a scenario. Its flows, routing and rate control are ignored.
    pub fn new(mut setup: Setup, seed: u64, captures: Option<Captures>) -> Spectrum {
        setup.flows.clear();
        (setup.wired, setup.discipline, setup.c3tcp) = (None, None, None);
        // Radios are on the channels that the kernel chooses.
        setup.radios = None;
        (setup.routing, setup.node.link.arp) = (Routing::Outside, false);
        setup.node.mac.rate_control = RateControl::Fixed;
        // Frames include their headers.
        setup.node.mac.data_overhead = Bytes(0);
        Spectrum {
            setup,
            seed,
            control: Control::new(),
            now: Time::ZERO,
            channels: BTreeMap::new(),
            captures,
            beacons: Stream::global(seed, Purpose::Application),
            pending: BTreeMap::new(),
            of_radio: BTreeMap::new(),
            next_number: 0,
            counts: Counts::default(),
        }
    }

    /// Counts so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Frames queued or on the air.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Frames on the air so far, including RTS, responses and retransmissions, by channel.
    pub fn frames(&self) -> BTreeMap<u32, u64> {
        self.channels.iter().map(|(&frequency, channel)| (frequency, channel.world.frames())).collect()
    }

    /// Losses so far, including copies that receivers missed, by layer and reason.
    pub fn lost(&self) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
        let mut lost: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for channel in self.channels.values() {
            let drops = channel.world.drops();
            for &reason in DropReason::ALL.iter().filter(|&&reason| drops.of(reason) > 0) {
                *lost.entry(reason.layer().name()).or_default().entry(reason.name()).or_default() += drops.of(reason);
            }
        }
        lost
    }

    /// When something happens next.
    pub fn next_event(&mut self) -> Option<Time> {
        self.channels.values_mut().filter_map(Channel::next_event).min()
    }

    /// A radio, known to `radios`, sends a frame at the current time.
    ///
    /// # Errors
    /// If the receivers of a frame are too far apart for the shortest frame.
    pub fn enter(
        &mut self,
        node: NodeId,
        sent: &Sent,
        radios: &Radios,
        notices: &mut Vec<(Time, Notice)>,
    ) -> Result<(), EmulationError> {
        self.counts.taken += 1;
        let for_all = sent.is_for_all() || sent.flags & NO_ACK != 0;
        let series = Series::new(sent.tries, sent.frequency, self.setup.node.mac.phy);
        for one in series.uncarried() {
            let kbps = one.rate(sent.frequency).map_or(0, |rate| rate.bps() / 1_000);
            *self.counts.tries_uncarried.entry(kbps).or_default() += u64::from(one.count);
        }
        let number = self.next_number;
        self.next_number += 1;
        self.make_room(sent.radio);
        let Sent { radio, cookie, flags, .. } = *sent;
        self.of_radio.entry(radio).or_default().push_back(number);
        self.pending.insert(number, Pending { radio, cookie, flags, series, for_all });
        let attempts = series.attempts(sent.frequency, for_all);
        if !for_all {
            *self.counts.attempts_allowed.entry(attempts.len()).or_default() += 1;
        }
        let Some(frame) = Foreign::new(number, sent.bytes, &attempts) else {
            self.counts.uncarried += 1;
            self.resolve(number, self.now, (0, true), SILENCE, notices);
            return Ok(());
        };
        let to = match for_all {
            true => MacAddr::BROADCAST,
            false => radios.find(sent.receiver(), sent.frequency).unwrap_or(NOBODY).mac(),
        };
        // The frame already includes what the MAC adds to the length.
        let beside = self.setup.node.mac.data_len(Bytes(0));
        let len = Bytes(sent.bytes.len() as u64 + FCS) - beside;
        let msdu = Msdu { dst: to, len, payload: Payload::Foreign(frame) };
        if let Some(captures) = &self.captures {
            captures.learn((node.mac(), sent.transmitter()), (to, sent.receiver()));
        }
        let slots = self.beacons.below(2 * self.setup.node.mac.cw_min + 1);
        let at = self.now + self.setup.node.mac.slot * u64::from(slots);
        let channel = self.channel(sent.frequency)?;
        match sent.is_beacon() {
            true => channel.put_off(at, node, msdu),
            false => channel.take(node, sent.priority(), msdu),
        }
        Ok(())
    }

    /// Like hwsim, forgets the oldest frames of a radio when too many wait.
    fn make_room(&mut self, radio: Address) {
        let Some(list) = self.of_radio.get_mut(&radio).filter(|list| list.len() >= MOST) else { return };
        while list.len() > KEPT {
            let Some(number) = list.pop_front() else { break };
            self.pending.remove(&number);
            self.counts.forgotten += 1;
        }
        self.keep_pending();
    }

    /// Forgets the frames of a removed radio: nobody waits for their status.
    pub fn forget(&mut self, radio: Address) {
        for number in self.of_radio.remove(&radio).unwrap_or_default() {
            self.pending.remove(&number);
            self.counts.abandoned += 1;
        }
        self.keep_pending();
    }

    fn keep_pending(&mut self) {
        let pending = &self.pending;
        self.channels.values_mut().for_each(|channel| channel.keep(|number| pending.contains_key(&number)));
    }

    /// Changes the air among these nodes on all channels, including those not yet used.
    ///
    /// # Errors
    /// If the change is impossible.
    pub fn change(&mut self, request: &Request, members: &[Member]) -> Result<(), String> {
        let air = request.apply(members, &mut self.setup, self.seed)?;
        for channel in self.channels.values_mut() {
            channel.world.change_air(air.clone());
        }
        Ok(())
    }

    /// Ends the captures.
    ///
    /// # Errors
    /// The first error while they were written.
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.channels.values_mut().try_for_each(|channel| channel.world.finish_trace())
    }

    fn channel(&mut self, frequency: u32) -> Result<&mut Channel, EmulationError> {
        if !self.channels.contains_key(&frequency) {
            let tap = self.captures.as_ref().map(|captures| captures.tap(frequency)).transpose()?;
            let built = self.setup.build(self.seed, tap);
            let (mut world, _) = built.map_err(|too_wide| EmulationError::Unsuited(too_wide.to_string()))?;
            world.run_until(self.now, &self.control);
            self.channels.insert(frequency, Channel::new(world, self.setup.positions.len()));
        }
        // INVARIANT: it has been created.
        Ok(self.channels.get_mut(&frequency).expect("the channel is there"))
    }

    /// Brings all channels up to `end`. Appends notices for the kernel, each with its time.
    pub fn advance(&mut self, end: Time, radios: &Radios, notices: &mut Vec<(Time, Notice)>) {
        let mut happened = Vec::new();
        for (&frequency, channel) in &mut self.channels {
            channel.advance(end, &self.control, |at, node, event| happened.push((at, frequency, node, event)));
        }
        self.now = self.now.max(end);
        happened.sort_by_key(|&(at, ..)| at);
        for (at, frequency, node, event) in happened {
            match event {
                FrameEvent::Received { frame, power } => {
                    let place = place_of(frame.present().rate, frequency);
                    if let (Some(radio), Some(place)) = (radios.of(node), place) {
                        self.counts.delivered += 1;
                        let signal = dbm(power);
                        notices.push((at, Notice::Received { radio, frame, place, signal, frequency }));
                    }
                }
                FrameEvent::Done { frame, lost, power } => {
                    self.resolve(frame.number(), at, (frame.begun(), lost), dbm(power), notices);
                }
            }
        }
    }

    /// Completes a frame.
    fn resolve(
        &mut self,
        number: u64,
        at: Time,
        (begun, lost): (usize, bool),
        signal: i32,
        notices: &mut Vec<(Time, Notice)>,
    ) {
        let Some(Pending { radio, cookie, flags, series, for_all }) = self.pending.remove(&number) else { return };
        if let Some(list) = self.of_radio.get_mut(&radio) {
            list.retain(|&other| other != number);
        }
        let acknowledged = !lost && !for_all;
        match (lost, for_all) {
            (true, _) => self.counts.given_up += 1,
            (false, true) => self.counts.unanswered += 1,
            (false, false) => self.counts.acknowledged += 1,
        }
        let flags = if acknowledged { flags | ACKNOWLEDGED } else { flags & !ACKNOWLEDGED };
        let signal = if acknowledged { signal } else { SILENCE };
        notices.push((at, Notice::Status { radio, cookie, flags, tries: series.tried(begun, lost), signal }));
    }
}

fn dbm(power: Watt) -> i32 {
    let Dbm(dbm) = power.to_dbm();
    if dbm.is_finite() { dbm.round() as i32 } else { SILENCE }
}

#[cfg(test)]
#[path = "spectrum_tests.rs"]
mod tests;
