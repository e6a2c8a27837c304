//! The world: nodes, the air between them, and virtual time.
//!
//! A transmission is one entry in the event queue for as long as any copy of it is on the air. It walks its receivers in
//! the order in which the frame reaches them, first with the beginnings, then with the ends, and goes on without touching
//! the heap as long as nothing else comes first.

use crate::air::Air;
use crate::batch::Control;
use crate::event_queue::{Class, EventQueue, Key, Slot};
use crate::trace::Tap;
use fourhop_proto::node::{Drops, Layers, Node};
use fourhop_proto::phy::{Arrival, Departure, TxId, Verdict};
use fourhop_proto::wire::Frame;
use fourhop_units::{NodeId, Time};

/// A frame on the air.
#[derive(Debug)]
struct Transmission {
    src: NodeId,
    frame: Frame,
    start: Time,
    /// The neighbour it reaches, or leaves, next.
    cursor: u32,
    leaving: bool,
}

/// How many events pass between two reports of progress and looks at the stop flag.
const EVENTS_PER_CHECK: u64 = 4096;

/// A network in virtual time.
pub struct World {
    now: Time,
    nodes: Vec<Node>,
    air: Air,
    queue: EventQueue,
    transmissions: Vec<Option<Transmission>>,
    free: Vec<u32>,
    radiated: Vec<Frame>,
    events: u64,
    frames: u64,
    receptions: u64,
    tap: Option<Box<dyn Tap>>,
}

impl World {
    /// A world at time zero. `tap` sees the frames; `None` costs nothing.
    pub fn new(nodes: Vec<Node>, air: Air, tap: Option<Box<dyn Tap>>) -> World {
        let mut queue = EventQueue::new(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            queue.set(Slot(index as u32), timer_key(index, node));
        }
        World {
            now: Time::ZERO,
            nodes,
            air,
            queue,
            transmissions: Vec::new(),
            free: Vec::new(),
            radiated: Vec::new(),
            events: 0,
            frames: 0,
            receptions: 0,
            tap,
        }
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Events handled: timers of nodes, beginnings and ends of copies of frames.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Frames radiated.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Copies of frames that ended at a receiver.
    pub fn receptions(&self) -> u64 {
        self.receptions
    }

    /// Losses of all nodes.
    pub fn drops(&self) -> Drops {
        let mut sum = Drops::default();
        self.nodes.iter().for_each(|node| sum.add(node.drops()));
        sum
    }

    /// The balance of each layer over all nodes.
    pub fn accounts(&self) -> Layers {
        let mut sum = Layers::default();
        self.nodes.iter().for_each(|node| sum.add(&node.accounts()));
        sum
    }

    /// Ends the trace and says whether it could be written.
    pub fn finish_trace(&mut self) -> Result<(), std::io::Error> {
        self.tap.take().map_or(Ok(()), |mut tap| tap.finish())
    }

    /// Lets everything happen up to and including `end`. Returns early, and false, if `control`
    /// asks for it.
    pub fn run_until(&mut self, end: Time, control: &Control) -> bool {
        let mut next_check = self.events + EVENTS_PER_CHECK;
        while let Some((key, slot)) = self.queue.peek()
            && key.time() <= end
        {
            debug_assert!(key.time() >= self.now, "time never runs backwards");
            self.now = key.time();
            if (slot.0 as usize) < self.nodes.len() {
                self.timer(slot);
            } else {
                self.advance(slot, end);
            }
            if self.events >= next_check {
                control.report(self.now);
                if control.is_stopped() {
                    return false;
                }
                next_check = self.events + EVENTS_PER_CHECK;
            }
        }
        self.now = end;
        control.report(end);
        true
    }

    fn timer(&mut self, slot: Slot) {
        let index = slot.0 as usize;
        if self.nodes[index].handle_timeout(self.now, &mut self.radiated) {
            self.events += 1;
        }
        self.queue.set(slot, timer_key(index, &self.nodes[index]));
        if !self.radiated.is_empty() {
            self.begin_transmissions(NodeId(slot.0));
        }
    }

    /// Walks the transmission in `slot` over its receivers until something else comes first.
    fn advance(&mut self, slot: Slot, end: Time) {
        let index = slot.0 as usize - self.nodes.len();
        let Some(transmission) = &mut self.transmissions[index] else { return };
        let tx = TxId(index as u32);
        let neighbours = self.air.neighbours(index, transmission.src);
        let airtime = transmission.frame.airtime;
        let mut limit = Limit::new(self.queue.first_key_besides(slot), end);
        if !transmission.leaving {
            while let Some(neighbour) = neighbours.get(transmission.cursor as usize) {
                let now = transmission.start + neighbour.delay;
                if limit.comes_first(now, || step_key(transmission, neighbours)) {
                    return self.queue.set(slot, Some(step_key(transmission, neighbours)));
                }
                // The medium becomes busy: that puts timers off, never forward.
                let copy = Arrival { tx, power: neighbour.power, end: now + airtime };
                self.nodes[neighbour.node.index()].handle_arrival(now, copy, airtime);
                self.events += 1;
                transmission.cursor += 1;
            }
            transmission.cursor = 0;
            transmission.leaving = true;
        }
        while let Some(neighbour) = neighbours.get(transmission.cursor as usize) {
            let now = transmission.start + neighbour.delay + airtime;
            if limit.comes_first(now, || step_key(transmission, neighbours)) {
                return self.queue.set(slot, Some(step_key(transmission, neighbours)));
            }
            self.now = now;
            let node_index = neighbour.node.index();
            let node = &mut self.nodes[node_index];
            let departure = node.handle_departure(now, tx, &transmission.frame, &mut self.radiated);
            if let Some(tap) = &mut self.tap
                && departure == Departure::Judged(Verdict::Good)
            {
                tap.received(now, neighbour.node, neighbour.power, &transmission.frame);
            }
            if node.may_be_sooner(departure)
                && let Some(timer) = timer_key(node_index, node)
                && self.queue.hasten(Slot(node_index as u32), timer)
            {
                limit.tighten(timer);
            }
            self.events += 1;
            self.receptions += 1;
            transmission.cursor += 1;
        }
        self.transmissions[index] = None;
        self.free.push(index as u32);
        self.queue.set(slot, None);
    }

    fn begin_transmissions(&mut self, src: NodeId) {
        while let Some(frame) = self.radiated.pop() {
            self.frames += 1;
            if let Some(tap) = &mut self.tap {
                tap.sent(self.now, src, &frame);
            }
            let neighbours = self.air.begin(src, self.now);
            if neighbours.is_empty() {
                continue;
            }
            let transmission = Transmission { src, frame, start: self.now, cursor: 0, leaving: false };
            let key = step_key(&transmission, neighbours);
            let index = match self.free.pop() {
                Some(index) => {
                    self.transmissions[index as usize] = Some(transmission);
                    index
                }
                None => {
                    self.transmissions.push(Some(transmission));
                    self.queue.add_slot();
                    self.transmissions.len() as u32 - 1
                }
            };
            self.air.keep(index);
            self.queue.set(Slot(self.nodes.len() as u32 + index), Some(key));
        }
    }
}

/// What ends the walk of a transmission: the first event of another slot, or the end of the run.
struct Limit {
    other: Option<Key>,
    /// Nothing comes first before this.
    time: Time,
    end: Time,
}

impl Limit {
    fn new(other: Option<Key>, end: Time) -> Limit {
        let time = other.map_or(end, |key| key.time().min(end));
        Limit { other, time, end }
    }

    fn tighten(&mut self, key: Key) {
        *self = Limit::new(Some(self.other.map_or(key, |other| other.min(key))), self.end);
    }

    /// Does something else come before the step at `now` whose place is `key`? The whole key decides only between events at
    /// one instant.
    fn comes_first(&self, now: Time, key: impl FnOnce() -> Key) -> bool {
        now >= self.time && (now > self.end || self.other.is_some_and(|other| other < key()))
    }
}

fn timer_key(index: usize, node: &Node) -> Option<Key> {
    let id = NodeId(index as u32);
    node.next_timeout().map(|at| Key::new(at, Class::Timer, id, id))
}

/// Where the next step of a transmission stands in the order of events.
fn step_key(transmission: &Transmission, neighbours: &[crate::channel::Neighbour]) -> Key {
    let neighbour = &neighbours[transmission.cursor as usize];
    let arrival = transmission.start + neighbour.delay;
    if transmission.leaving {
        Key::new(arrival + transmission.frame.airtime, Class::Departure, neighbour.node, transmission.src)
    } else {
        Key::new(arrival, Class::Arrival, neighbour.node, transmission.src)
    }
}
