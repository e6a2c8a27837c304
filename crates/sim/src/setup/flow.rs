//! The flows of a run: applications, ports, and the two endpoints of each.

use super::Setup;
use fourhop_cc::Transport;
use fourhop_proto::app::end::FlowAddress;
use fourhop_proto::app::{
    cbr, cbr::Cbr, files, files::Files, ping, ping::Pinger, sink::Sink, transfer, transfer::Transfer,
};
use fourhop_proto::node::{Endpoint, EndpointKind, OwnOptions, Renewal, TcpSource};
use fourhop_proto::tcp::{self, Socket};
use fourhop_units::{NodeId, Purpose, Seq, Stream};

/// Traffic of a flow.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// TCP.
    Tcp {
        /// Congestion control and recovery.
        transport: &'static Transport,
        /// Options of both sockets.
        config: Box<tcp::Config>,
        /// Application.
        source: Source,
    },
    /// A transfer over another transport. All flows of those that ask nodes to report delays have the same options.
    Own(OwnOptions, transfer::Config),
    /// Constant bit rate UDP.
    Udp(cbr::Config),
    /// Echo requests.
    Ping(ping::Config),
}

/// Application of a TCP flow.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A transfer.
    Transfer(transfer::Config),
    /// Short files with pauses between them.
    Files(files::Config),
}

/// A flow from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Sender.
    pub src: NodeId,
    /// Receiver.
    pub dst: NodeId,
    /// Application and transport.
    pub traffic: Traffic,
    /// DSCP of its packets, in both directions.
    pub dscp: u8,
}

/// Position of the two endpoints of a flow in the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowEnds {
    /// Node and endpoint of the sender.
    pub sender: (NodeId, usize),
    /// Node and endpoint of the receiver; for ping, those of the sender.
    pub receiver: (NodeId, usize),
}

/// First sender port (the dynamic range of RFC 6335) and number of sender ports.
const SENDER_PORTS: (u16, u16) = (49_152, 16_384);
/// First receiver port.
const RECEIVER_PORT: u16 = 5_001;
/// First port and number of ports of receivers with a connection per file; no other flow uses them.
const FILE_PORTS: (u16, u16) = (10_000, 39_000);

impl Setup {
    /// Returns the ports of the flow with this index: the first of its sender, that of its receiver, and whether the
    /// sender uses a new port for each connection.
    pub fn ports(index: usize, flow: &Flow) -> (u16, u16, bool) {
        let fresh = matches!(&flow.traffic, Traffic::Tcp { source: Source::Files(files), .. } if files.fresh);
        let remote = match fresh {
            true => FILE_PORTS.0 + (index % usize::from(FILE_PORTS.1)) as u16,
            false => RECEIVER_PORT + (index / usize::from(SENDER_PORTS.1)) as u16,
        };
        (SENDER_PORTS.0 + (index % usize::from(SENDER_PORTS.1)) as u16, remote, fresh)
    }
}

/// Adds the two endpoints of a flow to their nodes with `place`.
pub(super) fn connect(
    place: &mut impl FnMut(NodeId, Endpoint) -> (NodeId, usize),
    seed: u64,
    index: usize,
    flow: &Flow,
) -> FlowEnds {
    let (local, remote, fresh) = Setup::ports(index, flow);
    let mut place = |node, endpoint: Endpoint| place(node, endpoint.with_dscp(flow.dscp));
    let at_src = FlowAddress { peer: flow.dst.ipv4(), local_port: local, remote_port: remote };
    let at_dst = FlowAddress { peer: flow.src.ipv4(), local_port: remote, remote_port: local };
    match &flow.traffic {
        Traffic::Tcp { transport, config, source } => {
            // One stream per flow and side, so that flows do not affect each other's numbers.
            let mut iss = Stream::new(seed, NodeId(index as u32), Purpose::Tcp);
            let (iss_src, iss_dst) = (Seq::from_wire(iss.bits32()), Seq::from_wire(iss.bits32()));
            let client = Socket::new((**config).clone(), transport, local, remote, iss_src);
            let server = Socket::listen((**config).clone(), transport, remote, iss_dst);
            let stream = |purpose| Stream::new(seed, NodeId(index as u32), purpose);
            let source = match source {
                Source::Transfer(transfer) => TcpSource::Transfer(Transfer::new(*transfer)),
                Source::Files(files) => {
                    TcpSource::Files(Files::new(*files, stream(Purpose::FileSizes), stream(Purpose::Pauses)))
                }
            };
            let sender = Endpoint::new(at_src, EndpointKind::TcpSender(source, Box::new(client)));
            let receiver = Endpoint::new(at_dst, EndpointKind::TcpReceiver(Box::new(server)));
            let renewed = |endpoint: Endpoint, side: u32| match fresh {
                true => endpoint.with_renewal(Renewal {
                    config: (**config).clone(),
                    transport,
                    iss: Stream::new(seed, NodeId(2 * index as u32 + side), Purpose::LaterConnections),
                }),
                false => endpoint,
            };
            FlowEnds { sender: place(flow.src, renewed(sender, 0)), receiver: place(flow.dst, renewed(receiver, 1)) }
        }
        Traffic::Own(options, transfer) => {
            let first = Stream::new(seed, NodeId(index as u32), Purpose::Tcp).bits32();
            let (sender, receiver) = options.pair(Transfer::new(*transfer), Seq::from_wire(first));
            FlowEnds {
                sender: place(flow.src, Endpoint::new(at_src, EndpointKind::Own(sender))),
                receiver: place(flow.dst, Endpoint::new(at_dst, EndpointKind::Own(receiver))),
            }
        }
        Traffic::Udp(config) => FlowEnds {
            sender: place(flow.src, Endpoint::new(at_src, EndpointKind::UdpSender(Cbr::new(*config)))),
            receiver: place(flow.dst, Endpoint::new(at_dst, EndpointKind::UdpReceiver(Sink::default()))),
        },
        Traffic::Ping(config) => {
            let sender = place(flow.src, Endpoint::new(at_src, EndpointKind::Pinger(Pinger::new(*config))));
            FlowEnds { sender, receiver: sender }
        }
    }
}
