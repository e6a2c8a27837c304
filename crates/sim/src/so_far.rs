//! Progress of a flow, for callers that drive a world themselves.

use crate::measure::{endpoint, received};
use crate::setup::FlowEnds;
use crate::world::World;
use core::net::Ipv4Addr;
use fourhop_proto::node::EndpointKind;
use fourhop_units::Dur;

/// Progress of a flow of the scenario in a running world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowSoFar {
    /// Addresses of the sender and the receiver.
    pub ends: (Ipv4Addr, Ipv4Addr),
    /// Ports of the sender and the receiver.
    pub ports: (u16, u16),
    /// `tcp`, `udp`, `icmp`, or the transport's own name.
    pub protocol: &'static str,
    /// Segments, datagrams or echo requests sent.
    pub sent: u64,
    /// Datagrams or echo replies that arrived; for other transports, arrived bytes in units of `mss`.
    pub arrived: u64,
    /// Payload bytes that arrived.
    pub bytes: u64,
    /// Mean round trip of TCP or ping.
    pub rtt_mean: Option<Dur>,
}

impl FlowSoFar {
    /// Returns the progress of the flow with these ends; `mss` is the scenario's.
    pub fn of(world: &World, ends: &FlowEnds, mss: u64) -> FlowSoFar {
        let (sender, receiver) = (endpoint(world, ends.sender), endpoint(world, ends.receiver));
        let (_, bytes) = received(world, ends);
        let address = sender.address;
        let segments = (sender.counts().sent, bytes.div_ceil(mss.max(1)));
        let (protocol, (sent, arrived), rtt_mean) = match &sender.kind {
            EndpointKind::UdpSender(cbr) => ("udp", (cbr.sent(), receiver.datagrams), None),
            EndpointKind::Pinger(pinger) => {
                let mean = (pinger.received() > 0).then(|| pinger.rtt_sum() / pinger.received());
                ("icmp", (pinger.sent(), pinger.received()), mean)
            }
            EndpointKind::Own(end) => (end.transport().name(), segments, sender.rtt_mean()),
            _ => ("tcp", segments, sender.rtt_mean()),
        };
        let (src, dst) = (ends.sender.0.ipv4(), address.peer);
        let ports = (address.local_port, address.remote_port);
        FlowSoFar { ends: (src, dst), ports, protocol, sent, arrived, bytes, rtt_mean }
    }
}
