//! The world: nodes, the air between them, and virtual time.
//!
//! A transmission is one entry in the event queue. It visits its receivers in the order in which the frame reaches
//! them, without returning to the queue as long as no other event comes first. Then it waits for the end of the frame
//! at receivers that may need it: its destination, or for a broadcast all that can decode it. Elsewhere the end is
//! evaluated when something else happens there ([`Ear`]).
//!
//! A station is one radio of a node: it transmits and receives. Stations and their slots in the event queue are
//! numbered; the first radios come first and have the numbers of their nodes ([`Stations`]).

mod limit;
mod radios;
mod sight;

use crate::air::Air;
use crate::batch::Control;
use crate::event_queue::{EventQueue, Key, Slot};
pub use crate::outside::FrameEvent;
use crate::outside::Outside;
use crate::stations::Stations;
use crate::trace::{Copy, Tap, TxId};
use crate::wired::Wired;
use fourhop_proto::drop::DropReason;
use fourhop_proto::mac::Due;
use fourhop_proto::node::{Begun, Buffers, Ear, FIRST, Heard, Known, Node, Rules};
use fourhop_proto::phy::{Radiated, sinr};
use fourhop_proto::preset::{Configured, Ns2, Preset, Standard};
use fourhop_proto::wire::{Category, Frame, Ipv4Packet, Msdu};
use fourhop_units::{NodeId, Time, Watt};
use limit::{Limit, arrival_key, departure_key, timer_key};
use radios::hasten_layers;

/// A frame that is, or was, on the air.
#[derive(Debug, Default)]
struct Transmission {
    src: NodeId,
    /// Written by the nodes; kept until the next frame.
    frame: Option<Frame>,
    start: Time,
    /// Index of the neighbour that it reaches, or leaves, next.
    cursor: u32,
    leaving: bool,
    /// The receivers to be notified of the end are among the neighbours from here
    first: u32,
    /// to here.
    beyond: u32,
}

/// A number that no node has.
const NOBODY: NodeId = NodeId(u32::MAX);

/// Number of queue entries handled between two checks of the stop flag, which also report progress.
const STEPS_PER_CHECK: u32 = 1024;

/// A network in virtual time.
pub struct World {
    now: Time,
    nodes: Vec<Node>,
    stations: Stations,
    /// The ears of the stations, contiguous in memory: a frame touches dozens of them and wakes one or two nodes.
    ears: Vec<Ear>,
    /// With the `sinr` radio the receivers of the stations, otherwise empty.
    receivers: Vec<sinr::Receiver>,
    rules: Rules,
    air: Air,
    /// Everything but the radios; the slots of the wired side follow those of the stations.
    outside: Outside,
    /// Packets that arrived at gateways by wire; a reused buffer.
    up: Vec<(NodeId, Ipv4Packet)>,
    queue: EventQueue,
    /// Slot of the first event of the wired side.
    first_wired: u32,
    /// Slot of the first transmission.
    first_air: u32,
    transmissions: Vec<Transmission>,
    /// Indices in `transmissions` whose frame has left the air.
    free: Vec<u32>,
    /// Number of timers that had something to do.
    timers: u64,
    frames: u64,
    /// Copies of frames that have begun to arrive.
    copies: u64,
}

impl World {
    /// Creates a world at time zero. `tap` sees the frames; `None` costs nothing.
    pub fn new(
        nodes: Vec<Node>,
        stations: Stations,
        rules: Rules,
        air: Air,
        wired: Wired,
        tap: Option<Box<dyn Tap>>,
    ) -> World {
        let count = stations.count();
        let first_air = count + wired.slots();
        let mut queue = EventQueue::new(first_air);
        let numbered = |(index, node): (usize, &Node)| node.mac_addr() == NodeId(index as u32).mac();
        debug_assert!(nodes.iter().enumerate().all(numbered), "each node has the MAC address of its number");
        debug_assert_eq!(nodes.iter().map(Node::radios).sum::<usize>(), count, "each station is a radio of a node");
        let ears = vec![Ear::new(); count];
        for (index, (node, ear)) in nodes.iter().zip(&ears).enumerate() {
            if let Some(at) = node.next_timeout(FIRST, ear) {
                queue.push(Slot(index as u32), timer_key(index as u32, at));
            }
        }
        for slot in 0..wired.slots() {
            queue.set(Slot((count + slot) as u32), wired.next_event(slot));
        }
        let mut tap = tap;
        tap.iter_mut().for_each(|tap| tap.begun(&nodes));
        World {
            now: Time::ZERO,
            nodes,
            stations,
            ears,
            receivers: Vec::new(),
            rules,
            air,
            outside: Outside::new(wired, tap),
            up: Vec::new(),
            queue,
            first_wired: count as u32,
            first_air: first_air as u32,
            transmissions: Vec::new(),
            free: Vec::new(),
            timers: 0,
            frames: 0,
            copies: 0,
        }
    }

    /// Switches a world in which nothing has happened yet to the `sinr` radio; `receivers` are those of all stations in
    /// order.
    #[must_use]
    pub fn with_receivers(mut self, receivers: Vec<sinr::Receiver>) -> World {
        debug_assert_eq!(receivers.len(), self.ears.len(), "each station has one");
        self.receivers = receivers;
        self.ears = vec![Ear::without_receiver(); self.ears.len()];
        self
    }

    /// Returns the current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Tells the tap that nothing else has happened up to now.
    pub fn touch_trace(&mut self) {
        if let Some(tap) = &mut self.outside.tap {
            tap.passed(self.now);
        }
    }

    /// Ends the trace; fails if it could not be written.
    pub fn finish_trace(&mut self) -> Result<(), std::io::Error> {
        self.outside.tap.take().map_or(Ok(()), |mut tap| tap.finish(self.now))
    }

    /// Attaches an outside host to a node: from now on packets for its address that belong to no simulated flow are
    /// available from [`World::drain_delivered`], and it sends with [`World::inject`].
    pub fn attach(&mut self, node: NodeId) {
        match node.wired_number() {
            Some(host) => self.outside.wired.host_mut(host).attach(),
            None => {
                self.nodes[node.index()].attach();
                let count = self.outside.heard.len().max(node.index() + 1);
                self.outside.heard.resize(count, Watt(0.0));
            }
        }
    }

    /// Changes the positions of fixed nodes to those of `air`; frames already on the air are not affected. Returns
    /// false if nodes move.
    pub fn change_air(&mut self, air: Air) -> bool {
        self.air.change(air, self.transmissions.iter().map(|transmission| transmission.src))
    }

    /// Sends a packet from the host attached to `node`, now.
    pub fn inject(&mut self, node: NodeId, packet: Ipv4Packet) {
        match node.wired_number() {
            Some(host) => {
                self.outside.wired.host_mut(host).handle_local(packet, &mut self.outside.buffers.outputs);
                self.take_outputs(node);
            }
            None => self.enter(node, |node, now, ear, out| node.handle_local(now, packet, ear, out)),
        }
    }

    /// Whether the radio of a node can take a frame of another stack; see [`World::inject_frame`].
    pub fn takes_frame(&self, node: NodeId, category: Category) -> bool {
        self.nodes[node.index()].takes_frame(category)
    }

    /// Passes a frame of another 802.11 stack to the first radio of a node, which must be able to take it, now.
    pub fn inject_frame(&mut self, node: NodeId, category: Category, frame: Msdu) {
        self.enter(node, |node, now, ear, _| node.handle_frame(now, category, frame, ear));
    }

    /// Takes the events of frames of other stacks, in order of time, each with its node.
    pub fn drain_frames(&mut self) -> impl Iterator<Item = (NodeId, FrameEvent)> {
        self.outside.frames.drain(..)
    }

    /// Takes the packets for attached hosts, in order of arrival, each with the node at which it arrived.
    pub fn drain_delivered(&mut self) -> impl Iterator<Item = (NodeId, Ipv4Packet)> {
        self.outside.powers.clear();
        self.outside.delivered.drain(..)
    }

    /// Returns, for each packet of the next [`World::drain_delivered`], the power at which its frame was received. The
    /// value is meaningless for a packet that did not arrive by radio.
    pub fn delivered_powers(&self) -> &[Watt] {
        &self.outside.powers
    }

    /// Takes the lost packets of attached hosts, each with the node of that host and the reason, so that the host can
    /// answer with ICMP.
    pub fn drain_lost(&mut self) -> impl Iterator<Item = (NodeId, Ipv4Packet, DropReason)> {
        self.outside.lost.drain(..)
    }

    /// Returns the time of the next event. A driver on a real clock sleeps until then, or until it has something to
    /// [inject](World::inject), and before that calls [`World::run_until`] with its clock's time.
    pub fn next_event(&mut self) -> Option<Time> {
        self.queue.peek().map(|(key, _)| key.time())
    }

    /// Runs all events up to and including `end`. Returns early, and false, if `control` asks for it.
    pub fn run_until(&mut self, end: Time, control: &Control) -> bool {
        let mut steps = 0;
        while let Some((key, slot)) = self.queue.take_next(end) {
            debug_assert!(key.time() >= self.now, "time never runs backwards");
            self.now = key.time();
            if (slot.0 as usize) < self.nodes.len() {
                self.timer(slot, end);
            } else if slot.0 >= self.first_air {
                self.advance(slot, end);
            } else if slot.0 < self.first_wired {
                self.radio_timer(slot, end);
            } else {
                self.wired_event(slot);
            }
            steps += 1;
            if steps == STEPS_PER_CHECK {
                steps = 0;
                control.report(self.now);
                if control.is_stopped() {
                    self.queue.file_next();
                    return false;
                }
            }
        }
        self.now = end;
        control.report(end);
        true
    }

    // Called in one place, as `advance` is in two: left alone, the compiler inlines neither.
    #[inline(always)]
    fn timer(&mut self, slot: Slot, end: Time) {
        let index = slot.0 as usize;
        let air = self.free_air();
        let (node, ear) = (&mut self.nodes[index], &mut self.ears[index]);
        let frame = &mut self.transmissions[air as usize].frame;
        if let Some(receiver) = self.receivers.get_mut(index) {
            ear.catch_up(self.now, Some(receiver), &self.rules.medium);
        } else if node.is_called_in_vain(self.now, ear) && self.outside.tap.is_none() {
            ear.catch_up(self.now, None, &self.rules.medium);
            let at = node.next_timeout(FIRST, ear);
            self.queue.set_again(slot, at.map(|at| timer_key(slot.0, at)));
            if cfg!(debug_assertions) {
                let due = node.handle_timeout(self.now, FIRST, ear, frame, &mut self.outside.buffers);
                assert!(
                    due == Due::Nothing
                        && node.next_timeout(FIRST, ear) == at
                        && self.outside.buffers.outputs.is_empty()
                );
            }
            return;
        }
        let due = node.handle_timeout(self.now, FIRST, ear, frame, &mut self.outside.buffers);
        self.timers += u64::from(due != Due::Nothing);
        self.queue.set_again(slot, node.next_timeout(FIRST, ear).map(|at| timer_key(slot.0, at)));
        if self.stations.are_several() {
            hasten_layers(&self.stations, &self.nodes, NodeId(slot.0), &mut self.queue);
        }
        self.take_outputs(NodeId(slot.0));
        if self.outside.tap.is_some() {
            self.show(self.now, NodeId(slot.0), 0);
        }
        if due == Due::Frame {
            self.begin_transmission(NodeId(slot.0), air, end);
        }
    }

    /// Returns a free index among the transmissions, which stays free.
    #[inline(always)]
    fn free_air(&mut self) -> u32 {
        self.free.last().copied().unwrap_or_else(|| {
            let air = self.transmissions.len() as u32;
            self.queue.add_slot();
            self.transmissions.push(Transmission::default());
            self.free.push(air);
            air
        })
    }

    /// Handles a timer of a node without a radio, or the arrival of a packet over a wire.
    fn wired_event(&mut self, slot: Slot) {
        let slot = (slot.0 - self.first_wired) as usize;
        self.timers += u64::from(self.outside.wired.is_timer_due(self.now, slot));
        let mut up = std::mem::take(&mut self.up);
        self.outside.handle_wired_event(self.now, slot, &mut up);
        for (gateway, packet) in up.drain(..) {
            self.enter(gateway, |node, now, ear, out| node.handle_wired(now, packet, ear, out));
        }
        self.up = up;
        plan_wired(&mut self.outside.wired, &mut self.queue, self.first_wired);
    }

    /// Passes something to a node other than over the air.
    fn enter(&mut self, id: NodeId, call: impl FnOnce(&mut Node, Time, &mut Ear, &mut Buffers)) {
        let (node, ear) = (&mut self.nodes[id.index()], &mut self.ears[id.index()]);
        if let Some(receiver) = self.receivers.get_mut(id.index()) {
            ear.catch_up(self.now, Some(receiver), &self.rules.medium);
        }
        call(node, self.now, ear, &mut self.outside.buffers);
        self.queue.set(Slot(id.0), node.next_timeout(FIRST, ear).map(|at| timer_key(id.0, at)));
        if self.stations.are_several() {
            hasten_layers(&self.stations, &self.nodes, id, &mut self.queue);
        }
        self.take_outputs(id);
        if self.outside.tap.is_some() {
            self.show(self.now, id, 0);
        }
    }

    /// Shows a node and one of its radios to the tap.
    #[cold]
    fn show(&mut self, now: Time, node: NodeId, radio: usize) {
        let Some(station) = self.stations.of(node).nth(radio) else { return };
        let ear = &self.ears[station.index()];
        if let Some(tap) = &mut self.outside.tap {
            let receiving = receiving(ear, self.receivers.get(station.index()));
            tap.node(now, station, &self.nodes[node.index()], ear, receiving);
        }
    }

    /// Passes on the outputs of `node`.
    fn take_outputs(&mut self, node: NodeId) {
        if !self.outside.buffers.outputs.is_empty() {
            self.outside.take_outputs(self.now, node);
            plan_wired(&mut self.outside.wired, &mut self.queue, self.first_wired);
        }
    }

    /// Walks the transmission in `slot` over its receivers until another event comes first.
    #[inline(always)]
    fn advance(&mut self, slot: Slot, end: Time) {
        let index = (slot.0 - self.first_air) as usize;
        let limit = Limit::new(self.queue.first_key(), end);
        let leaving = self.transmissions[index].leaving;
        let next = if self.receivers.is_empty() {
            let next = match (leaving, self.outside.tap.is_some()) {
                (true, _) => None,
                (false, false) => match self.rules.known() {
                    Known::Ns2 => self.arrivals::<Ns2, false, false>(index, limit),
                    Known::Standard => self.arrivals::<Standard, false, false>(index, limit),
                    Known::Nothing => self.arrivals::<Configured, false, false>(index, limit),
                },
                (false, true) => self.arrivals::<Configured, false, true>(index, limit),
            };
            next.or_else(|| self.departures::<false>(index, limit))
        } else {
            let next = match (leaving, self.outside.tap.is_some()) {
                (true, _) => None,
                (false, false) => self.arrivals::<Configured, true, false>(index, limit),
                (false, true) => self.arrivals::<Configured, true, true>(index, limit),
            };
            next.or_else(|| self.departures::<true>(index, limit))
        };
        match next {
            Some(key) => self.queue.push(slot, key),
            None => {
                self.free.push(index as u32);
            }
        }
    }

    /// Begins the copies of a transmission until another event comes first; returns the key at which to continue.
    #[inline(never)]
    fn arrivals<P: Preset, const SINR: bool, const TAPPED: bool>(
        &mut self,
        index: usize,
        mut limit: Limit,
    ) -> Option<Key> {
        let transmission = &mut self.transmissions[index];
        let (src, start) = (transmission.src, transmission.start);
        let frame = transmission.frame.as_ref()?;
        let radiated = Radiated::new(src, frame);
        let broadcast = frame.dst.is_broadcast();
        let to = frame.dst.node().unwrap_or(NOBODY);
        let cursor = transmission.cursor as usize;
        let neighbours = &self.air.neighbours(index, src)[cursor..];
        let (ears, rules) = (self.ears.as_mut_slice(), &self.rules);
        let mut rest = neighbours.iter();
        let mut destination = None;
        while let Some(neighbour) = rest.next() {
            let now = start + neighbour.delay();
            if limit.comes_first(now, || arrival_key(now, neighbour.node, src)) {
                let begun = neighbours.len() - rest.len() - 1;
                transmission.cursor = (cursor + begun) as u32;
                self.copies += begun as u64;
                return Some(arrival_key(now, neighbour.node, src));
            }
            let ear = &mut ears[neighbour.node.index()];
            let for_us = neighbour.node == to;
            if for_us {
                transmission.first = (cursor + neighbours.len() - rest.len() - 1) as u32;
                transmission.beyond = transmission.first + 1;
                destination = Some(neighbour);
            }
            if !SINR && ear.arrives_alone::<P>(now, neighbour.power, for_us, &radiated, rules) {
                if TAPPED && let Some(tap) = &mut self.outside.tap {
                    tap.ear(now, neighbour.node, ear, receiving(ear, None));
                }
                continue;
            }
            let copy = radiated.copy(now, neighbour.power, for_us);
            let beside = SINR.then(|| &mut self.receivers[neighbour.node.index()]);
            match ear.handle_arrival::<P>(now, copy, frame, beside, rules) {
                Begun::Unnoticed => {}
                Begun::AccessLost => match self.nodes.get_mut(neighbour.node.index()) {
                    Some(node) => node.handle_access_lost(now, FIRST, ear),
                    None => {
                        let (owner, radio) = self.stations.owner(neighbour.node);
                        self.nodes[owner.index()].handle_access_lost(now, radio, ear);
                    }
                },
                Begun::Sooner => {
                    if let Some(at) = ear.access_timeout(&rules.medium) {
                        let (slot, timer) = (Slot(neighbour.node.0), timer_key(neighbour.node.0, at));
                        if self.queue.hasten(slot, timer) {
                            limit.tighten(timer);
                        }
                    }
                }
            }
            if TAPPED && let Some(tap) = &mut self.outside.tap {
                tap.ear(now, neighbour.node, ear, receiving(ear, self.receivers.get(neighbour.node.index())));
            }
        }
        self.copies += neighbours.len() as u64;
        if broadcast || self.outside.tap.is_some() {
            (transmission.first, transmission.beyond) = (0, (cursor + neighbours.len()) as u32);
        }
        transmission.cursor = transmission.first;
        transmission.leaving = true;
        // Usually another event comes before the end at the destination.
        let neighbour =
            destination.filter(|neighbour| !TAPPED && (SINR || neighbour.power >= rules.phy.rx_threshold))?;
        let ends = start + radiated.airtime + neighbour.delay();
        let key = departure_key(ends, neighbour.node, src);
        limit.comes_first(ends, || key).then_some(key)
    }

    /// Notifies receivers of the end of their copies until another event comes first; returns the key at which to
    /// continue.
    #[inline(never)]
    fn departures<const SINR: bool>(&mut self, air: usize, mut limit: Limit) -> Option<Key> {
        let transmission = &mut self.transmissions[air];
        let frame = transmission.frame.as_ref()?;
        let to = frame.dst.node().unwrap_or(NOBODY);
        let (src, ends) = (transmission.src, transmission.start + frame.airtime);
        let (cursor, beyond) = (transmission.cursor as usize, transmission.beyond as usize);
        let neighbours = &self.air.neighbours(air, src)[cursor..beyond];
        let seen = self.outside.tap.is_some();
        for (step, neighbour) in neighbours.iter().enumerate() {
            if !SINR && !seen && neighbour.power < self.rules.phy.rx_threshold {
                continue;
            }
            let now = ends + neighbour.delay();
            if limit.comes_first(now, || departure_key(now, neighbour.node, src)) {
                transmission.cursor = (cursor + step) as u32;
                return Some(departure_key(now, neighbour.node, src));
            }
            let (node, for_us) = (neighbour.node.index(), neighbour.node == to);
            let ear = &mut self.ears[node];
            let beside = SINR.then(|| &mut self.receivers[node]);
            let heard = ear.handle_departure(now, src, frame, for_us, beside, &self.rules);
            if let Some(tap) = &mut self.outside.tap {
                let (tx, power) = (TxId(air as u32), neighbour.power);
                let copy = Copy { node: neighbour.node, tx, power, arrived: ear.arrived() };
                match heard {
                    Heard::Lost(reason) => tap.lost(now, copy, frame, reason),
                    Heard::Overheard | Heard::ForUs => tap.received(now, copy, frame),
                }
                // The ear evaluates the end of a copy later; show the tap the result now.
                let mut shown = ear.clone();
                if !SINR {
                    shown.catch_up(now, None, &self.rules.medium);
                }
                tap.ear(now, neighbour.node, &shown, receiving(&shown, self.receivers.get(node)));
            }
            if heard != Heard::ForUs {
                continue;
            }
            if let Some(power) = self.outside.heard.get_mut(node) {
                *power = neighbour.power;
            }
            let (slot, index) = (Slot(neighbour.node.0), node);
            let Some(node) = self.nodes.get_mut(index) else {
                transmission.cursor = (cursor + step + 1) as u32;
                return self.radio_reception(now, air, *neighbour);
            };
            node.handle_reception(now, FIRST, (frame, neighbour.power), ear, &mut self.outside.buffers);
            // The event that the node waited for has happened or begun, so its next timer is rarely the previous one.
            let timer = node.next_timeout(FIRST, ear).map(|at| timer_key(slot.0, at));
            if let (Some(timer), 1) = (timer, neighbours.len())
                && self.outside.buffers.outputs.is_empty()
                && !self.stations.are_several()
            {
                // Usually its answer after SIFS, before which nothing else happens. The walk ends here, so the queue is
                // not queried before the main loop does so.
                self.queue.set_next(slot, timer);
                if let Some(tap) = &mut self.outside.tap {
                    let receiving = receiving(ear, self.receivers.get(index));
                    tap.node(now, neighbour.node, node, ear, receiving);
                }
                return None;
            }
            self.queue.set(slot, timer);
            if self.stations.are_several() {
                // A MAC that is idle again may have let a gateway send by another radio.
                hasten_layers(&self.stations, &self.nodes, neighbour.node, &mut self.queue);
                limit = Limit::new(self.queue.first_key(), limit.end);
            }
            if !self.outside.buffers.outputs.is_empty() {
                self.outside.take_outputs(now, neighbour.node);
                plan_wired(&mut self.outside.wired, &mut self.queue, self.first_wired);
                limit = Limit::new(self.queue.first_key(), limit.end);
            }
            if let Some(tap) = &mut self.outside.tap {
                let receiving = receiving(ear, self.receivers.get(index));
                tap.node(now, neighbour.node, &self.nodes[index], ear, receiving);
            }
            if let Some(timer) = timer {
                limit.tighten(timer);
            }
        }
        None
    }

    // The timers of further radios call it too; left alone, the compiler then inlines it in neither place.
    /// Begins the transmission of the frame that `src` has put into the free index `air`. Its first copies usually
    /// begin before any other event.
    #[inline(always)]
    fn begin_transmission(&mut self, src: NodeId, air: u32, end: Time) {
        self.frames += 1;
        if let Some(receiver) = self.receivers.get_mut(src.index()) {
            receiver.transmit_started();
        }
        let transmission = &mut self.transmissions[air as usize];
        if let (Some(tap), Some(frame)) = (&mut self.outside.tap, &transmission.frame) {
            tap.sent(self.now, src, TxId(air), frame);
        }
        self.air.begin(air as usize, src, self.now);
        (transmission.src, transmission.start) = (src, self.now);
        (transmission.cursor, transmission.leaving) = (0, false);
        (transmission.first, transmission.beyond) = (0, 0);
        self.free.pop();
        self.advance(Slot(self.first_air + air), end);
    }
}

/// Reschedules the events of hosts and wires that may have changed. Their slots begin at `first`.
fn plan_wired(wired: &mut Wired, queue: &mut EventQueue, first: u32) {
    while let Some(slot) = wired.take_changed() {
        queue.set(Slot(first + slot), wired.next_event(slot as usize));
    }
}

/// Whether the receiver of a node, in the ear or separate, is on a frame that it can decode so far.
fn receiving(ear: &Ear, beside: Option<&sinr::Receiver>) -> bool {
    beside.map_or_else(|| ear.is_receiving(), sinr::Receiver::is_receiving)
}
