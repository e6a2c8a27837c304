//! The wires of `[wired]` if the kernels route: each end is a separate TUN device at its node, and between the two ends
//! is the wire itself: a queue, a rate, a delay.
//!
//! Leaves out: everything but IPv4, and captures.

use fourhop_proto::drop::DropReason;
use fourhop_proto::net::{Port, port};
use fourhop_proto::route::WiredRoutes;
use fourhop_proto::wire::Ipv4Packet;
use fourhop_sim::setup::Setup;
use fourhop_sim::wired::Plan;
use fourhop_units::{NodeId, Time};
use std::net::Ipv4Addr;

/// An end of a wire, as set up in the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireEnd {
    /// The node.
    pub node: NodeId,
    /// Name of its device: `wire0`, `wire1`, ... in the order of the node's ports.
    pub device: String,
    /// Its address, unless another device of the node has it.
    pub address: Option<Ipv4Addr>,
    /// The addresses that its kernel reaches over this wire.
    pub routes: Vec<Ipv4Addr>,
}

/// The ends of all wires: both of the first wire, then both of the second, ...
pub fn ends(setup: &Setup, plan: &Plan) -> Vec<WireEnd> {
    let hosts = (0..plan.hosts).map(NodeId::wired);
    let tables = plan.routes(&setup.hops_to(&plan.gateways));
    let tables: Vec<(NodeId, WiredRoutes)> = hosts.clone().chain(plan.gateways.iter().copied()).zip(tables).collect();
    let all: Vec<Ipv4Addr> =
        (0..setup.positions.len() as u32).map(NodeId).chain(hosts).map(|node| node.ipv4()).collect();
    let mut ends = Vec::new();
    for (index, cable) in plan.cables.iter().enumerate() {
        for node in cable.ends {
            let port = plan.ports(node).position(|(other, _)| other == index).unwrap_or_default();
            let table = tables.iter().find(|(owner, _)| *owner == node).map(|(_, table)| table);
            let leads = |to: &&Ipv4Addr| {
                **to != node.ipv4()
                    && table.and_then(|table| table.port(**to)).is_some_and(|own| usize::from(own.0) == port)
            };
            ends.push(WireEnd {
                node,
                device: format!("wire{port}"),
                address: (node.wired_number().is_some() && port == 0).then(|| node.ipv4()),
                routes: all.iter().filter(leads).copied().collect(),
            });
        }
    }
    ends
}

/// The wires, in the order of [`ends`]: a packet sent at one end comes out at the other.
#[derive(Debug, Default)]
pub struct Wires {
    /// From each end to the other.
    ways: Vec<Port>,
    /// Packets that found a full queue.
    pub lost: u64,
    actions: Vec<port::Action>,
}

impl Wires {
    /// Idle wires.
    pub fn new(plan: &Plan) -> Wires {
        let ways = plan.cables.iter().flat_map(|cable| [Port::new(cable.port), Port::new(cable.port)]);
        Wires { ways: ways.collect(), ..Wires::default() }
    }

    /// Sends a packet at an end. Returns it if there was no room.
    pub fn enter(&mut self, now: Time, end: usize, packet: Ipv4Packet) -> Option<Ipv4Packet> {
        self.ways[end].handle_packet(now, packet, &mut self.actions);
        let mut dropped = None;
        for action in self.actions.drain(..) {
            if let port::Action::Drop { reason, packet } = action {
                debug_assert_eq!(reason, DropReason::WiredQueueFull);
                self.lost += 1;
                dropped = Some(packet);
            }
        }
        dropped
    }

    /// When the next packet arrives.
    pub fn next_event(&self) -> Option<Time> {
        self.ways.iter().filter_map(Port::next_timeout).min()
    }

    /// Moves packets that have arrived by `now` into `out`, each with the end where it comes out.
    pub fn leave(&mut self, now: Time, out: &mut Vec<(usize, Ipv4Packet)>) {
        for (end, way) in self.ways.iter_mut().enumerate() {
            if way.next_timeout().is_none_or(|at| at > now) {
                continue;
            }
            way.handle_timeout(now, &mut self.actions);
            for action in self.actions.drain(..) {
                if let port::Action::Arrived(packet) = action {
                    out.push((end ^ 1, packet));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_sim::batch::Control;
    use fourhop_sim::scenario::load_toml;
    use fourhop_sim::translate;
    use fourhop_units::Dur;

    /// Two gateways at the ends of a chain of three, each with a wire to the router, behind which there is a host.
    fn setup() -> Setup {
        let text = "profile = 'standard'\nduration = '9s'\n[topology]\nkind = 'chain'\nhops = 3\nspacing = '200m'\n\
            [wired]\ngateways = ['last', 'first']\nnodes = ['router', 'host']\nrate = '8Mbps'\ndelay = '5ms'\nqueue = \
            1\n\
            [[wires]]\nends = ['gateway-1', 'router']\n[[wires]]\nends = ['gateway-2', 'router']\n\
            [[wires]]\nends = ['router', 'host']\n[[flows]]\nfrom = 'first'\nto = 'host'\ntransport = 'newreno'\n";
        translate::setup(&load_toml(text, "x.toml", &[]).unwrap(), 1, &Control::new()).unwrap().0
    }

    #[test]
    fn every_end_is_a_device_with_the_addresses_behind_it() {
        let setup = setup();
        let ends = ends(&setup, setup.wired.as_ref().unwrap());
        let [router, host] = [0, 1].map(NodeId::wired);
        let radios = |numbers: &[u32]| numbers.iter().map(|&n| NodeId(n).ipv4()).collect::<Vec<_>>();
        let shown: Vec<_> = ends.iter().map(|end| (end.node, end.device.as_str(), end.address)).collect();
        let own = |node: NodeId| Some(node.ipv4());
        assert_eq!(
            shown,
            [
                (NodeId(3), "wire0", None),
                (router, "wire0", own(router)),
                (NodeId(0), "wire0", None),
                (router, "wire1", None),
                (router, "wire2", None),
                (host, "wire0", own(host)),
            ]
        );
        assert_eq!(ends[0].routes, [router.ipv4(), host.ipv4()], "the mesh is not behind the wire");
        assert_eq!((&ends[1].routes, &ends[3].routes), (&radios(&[2, 3]), &radios(&[0, 1])), "over the nearer gateway");
        assert_eq!(ends[4].routes, [host.ipv4()]);
        assert_eq!(ends[5].routes, [radios(&[0, 1, 2, 3]), vec![router.ipv4()]].concat());
    }

    #[test]
    fn a_wire_has_a_rate_a_delay_and_a_queue() {
        let mut wires = Wires::new(setup().wired.as_ref().unwrap());
        let mut bytes = Vec::new();
        let builder = etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 128, 0, 2], 9).udp(1, 2);
        builder.write(&mut bytes, &[0; 972]).unwrap();
        let packet = Ipv4Packet::from_bytes(&bytes).unwrap();
        (0..3).for_each(|_| drop(wires.enter(Time::ZERO, 4, packet.clone())));
        wires.enter(Time::ZERO, 5, packet);
        assert_eq!(wires.lost, 1, "one is sent, one waits");
        let mut arrivals = Vec::new();
        while let Some(at) = wires.next_event() {
            let mut out = Vec::new();
            wires.leave(at, &mut out);
            arrivals.extend(out.into_iter().map(|(end, _)| (at.saturating_since(Time::ZERO), end)));
        }
        // 1,000 bytes at 8 Mbit/s take 1 ms.
        assert_eq!(arrivals, [(6, 5), (6, 4), (7, 5)].map(|(ms, end)| (Dur::from_millis(ms), end)));
    }
}
