//! The wired side of a world: hosts, routers and the links between them and the gateways, in virtual time.
//!
//! Each direction of a link has its own event, the next arrival. Packets sent by a node are passed to the link
//! immediately.

mod plan;

pub use plan::{Cable, Plan};

use crate::event_queue::{Class, Key};
use crate::trace::{Tap, WireEnd};
use fourhop_proto::net::{Port, port};
use fourhop_proto::node::{Account, Drops, Host, Note, Output, Step, WiredSide};
use fourhop_proto::route::PortId;
use fourhop_proto::wire::Ipv4Packet;
use fourhop_units::{NodeId, Time};

/// One direction of a link.
#[derive(Debug)]
pub struct Wire {
    /// Queue, transmitter and delay.
    pub port: Port,
    /// Node that sends on it.
    pub from: NodeId,
    /// Node that receives from it.
    pub to: NodeId,
    /// Port numbers at the two nodes.
    ports: [PortId; 2],
}

/// The wired side of a world.
#[derive(Debug, Default)]
pub struct Wired {
    hosts: Vec<Host>,
    /// Both directions of each link, the one from its first end first.
    wires: Vec<Wire>,
    /// Nodes with wires in order, each with its outgoing wires in the order of its ports.
    begin: Vec<(NodeId, Vec<u32>)>,
    /// Packets that arrived over wires.
    arrivals: u64,
    drops: Drops,
    /// Reused buffer.
    actions: Vec<port::Action>,
    changed: Vec<u32>,
}

impl Wired {
    /// Creates the wired side of `plan` at time zero, and returns it with the data for its gateways. `ttl` is that of
    /// packets created by hosts; `mesh_hops` as for [`Plan::routes`].
    pub fn new(plan: &Plan, ttl: u8, mesh_hops: &[Vec<Option<u32>>]) -> (Wired, Vec<(NodeId, WiredSide)>) {
        let mut routes = plan.routes(mesh_hops).into_iter();
        let mut hosts = Vec::new();
        for (number, routes) in (0..plan.hosts).zip(&mut routes) {
            let node = NodeId::wired(number);
            // INVARIANT: scenarios have no node without a link.
            let (first, _) = plan.ports(node).next().expect("every node has a link");
            hosts.push(Host::new(node.ipv4(), ttl, plan.cables[first].port.rate, routes));
        }
        let sides = routes.map(|routes| WiredSide::new(plan.addresses(), routes));
        let gateways = plan.gateways.iter().copied().zip(sides).collect();
        let port_of = |node: NodeId, cable: usize| {
            let place = plan.ports(node).position(|(index, _)| index == cable);
            PortId(place.map_or(0, |place| place as u16))
        };
        let mut wires = Vec::new();
        let mut begin: Vec<(NodeId, Vec<u32>)> = Vec::new();
        for (index, cable) in plan.cables.iter().enumerate() {
            let [a, b] = cable.ends;
            for (from, to) in [(a, b), (b, a)] {
                let at = begin.binary_search_by_key(&from, |(node, _)| *node).unwrap_or_else(|at| {
                    begin.insert(at, (from, Vec::new()));
                    at
                });
                begin[at].1.push(wires.len() as u32);
                let ports = [port_of(from, index), port_of(to, index)];
                wires.push(Wire { port: Port::new(cable.port), from, to, ports });
            }
        }
        (Wired { hosts, wires, begin, ..Wired::default() }, gateways)
    }

    /// Returns the number of hosts and wires; each has an event.
    pub fn slots(&self) -> usize {
        self.hosts.len() + self.wires.len()
    }

    /// Returns the next event of a host or wire.
    pub fn next_event(&self, slot: usize) -> Option<Key> {
        match slot.checked_sub(self.hosts.len()) {
            None => {
                let node = NodeId::wired(slot as u32);
                self.hosts[slot].next_timeout().map(|at| Key::new(at, Class::Timer, node, node))
            }
            Some(index) => {
                let wire = &self.wires[index];
                // The number distinguishes links between the same nodes.
                wire.port.next_timeout().map(|at| Key::new(at, Class::Wire, wire.to, NodeId(index as u32)))
            }
        }
    }

    /// Whether `slot` is that of a host with something to do at `now`; its event may come up early.
    pub fn is_timer_due(&self, now: Time, slot: usize) -> bool {
        self.hosts.get(slot).and_then(Host::next_timeout).is_some_and(|at| at <= now)
    }

    /// Handles the event due in `slot`. Packets for gateways go to `up`, the outputs of a host to `out`; that host is
    /// then returned. Slots whose events may have changed go to [`Wired::take_changed`].
    pub fn handle_event(
        &mut self,
        now: Time,
        slot: usize,
        up: &mut Vec<(NodeId, Ipv4Packet)>,
        out: &mut Vec<Output>,
        tap: &mut Option<Box<dyn Tap>>,
    ) -> Option<NodeId> {
        self.changed.push(slot as u32);
        let Some(index) = slot.checked_sub(self.hosts.len()) else {
            self.hosts[slot].handle_timeout(now, out);
            return Some(NodeId::wired(slot as u32));
        };
        let Wire { port, from, to, ports } = &mut self.wires[index];
        let (from, to, end) = (*from, *to, ports[1]);
        port.handle_timeout(now, &mut self.actions);
        for action in self.actions.drain(..) {
            // INVARIANT: a queue drops packets only on arrival.
            let port::Action::Arrived(packet) = action else { unreachable!("nothing is lost on a wire") };
            self.arrivals += 1;
            if let Some(tap) = tap {
                tap.wired(now, WireEnd { node: to, port: end }, &packet);
                if tap.looks_closely() {
                    tap.noted(now, to, &Note::of(&packet, Step::WireIn(from.ipv4())));
                    tap.wire_queue(now, from, to, port.queue_len(now));
                }
            }
            match to.wired_number() {
                Some(host) => {
                    self.hosts[host].handle_packet(now, packet, end, out);
                    self.changed.push(host as u32);
                }
                None => up.push((to, packet)),
            }
        }
        to.wired_number().map(|_| to)
    }

    /// Sends a packet of `node` on the wire at its port.
    pub fn send(&mut self, now: Time, node: NodeId, port: PortId, packet: Ipv4Packet, tap: &mut Option<Box<dyn Tap>>) {
        let Ok(at) = self.begin.binary_search_by_key(&node, |(node, _)| *node) else {
            debug_assert!(false, "routes lead over ports only");
            return;
        };
        let index = self.begin[at].1[usize::from(port.0)];
        let wire = &mut self.wires[index as usize];
        // Packets dropped at a full queue never reach the line, so they are not captured there.
        let copy = tap.as_ref().map(|_| packet.clone());
        wire.port.handle_packet(now, packet, &mut self.actions);
        let lost = match self.actions.pop() {
            Some(port::Action::Drop { reason, .. }) => Some(reason),
            _ => None,
        };
        lost.into_iter().for_each(|reason| self.drops.count(reason));
        if let (Some(tap), Some(copy)) = (tap, copy) {
            if lost.is_none() {
                tap.wired(now, WireEnd { node, port }, &copy);
            }
            if tap.looks_closely() {
                let step = lost.map_or(Step::WireOut(wire.to.ipv4()), Step::Dropped);
                tap.noted(now, node, &Note::of(&copy, step));
                tap.wire_queue(now, node, wire.to, wire.port.queue_len(now));
            }
        }
        self.changed.push(self.hosts.len() as u32 + index);
    }

    /// Returns a slot whose event may have changed; to be called until none is left.
    pub fn take_changed(&mut self) -> Option<u32> {
        self.changed.pop()
    }

    /// Returns the nodes without radios.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns a node without a radio, for setup or to pass it a packet.
    pub fn host_mut(&mut self, host: usize) -> &mut Host {
        &mut self.hosts[host]
    }

    /// Makes the hosts record what their packets do ([`Host::record`]), host `n` with numbers from `first + n`.
    pub fn record(&mut self, first: u32, step: u32) {
        (first..).zip(&mut self.hosts).for_each(|(first, host)| host.record(first, step));
    }

    /// Returns both directions of each link.
    pub fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// Returns the number of packets that arrived over wires.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Returns the losses at hosts and on wires.
    pub fn drops(&self) -> Drops {
        let mut sum = self.drops;
        self.hosts.iter().for_each(|host| sum.add(host.drops()));
        sum
    }

    /// Returns the balance of the wires.
    pub fn wire_account(&self) -> Account {
        let mut sum = Account::default();
        for Wire { port, .. } in &self.wires {
            let counters = port.counters();
            sum.add(&Account {
                taken: counters.packets,
                passed: counters.arrived,
                dropped: counters.dropped,
                held: port.queued() as u64,
            });
        }
        sum
    }

    /// Returns the balance of IP at the hosts.
    pub fn network_account(&self) -> Account {
        let mut sum = Account::default();
        self.hosts.iter().for_each(|host| sum.add(&host.account()));
        sum
    }
}
