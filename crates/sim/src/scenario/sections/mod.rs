//! The keys of a scenario, one table per section. To add a key, add a row to its table; reader, writer, schema and
//! reference page follow.

mod adhoc_tcp;
mod c3tcp;
mod gateway;
mod general;
mod link;
mod mac;
mod mobility;
mod radio;
mod routing;
mod tcp;
mod tcp_ap;
mod topology;
mod traffic;
mod wired;

pub use adhoc_tcp::{AdhocTcp, ProbeBound};
pub use c3tcp::{C3tcp, UNSCALED_WINDOW, UnawareNodes};
pub use gateway::{GatewayKeys, GatewayKind};
pub use general::{General, Profile};
pub use link::{Link, Sizes};
pub use mac::{AnswerRate, BackoffDraw, Mac, RateControl, complete as complete_mac};
pub use mobility::{MobilityKeys, MobilityModel, Start};
pub use radio::{
    Environment, Errors, Fading, FrameCapture, PathLossKind, Phy, Radio, RadioModel, complete as complete_radio, needs,
};
pub use routing::{
    FirstSearch, OwnSeqno, Refresh, RepairDeadline, RepairRule, Routing, RoutingProtocol, complete as complete_routing,
};
pub use tcp::{AckPolicy, RttSampling, SackRecovery, Tcp, WindowCut};
pub use tcp_ap::{
    ApDelay, ApHops, ApProfile, ApRelease, ApSamples, ApShortPath, ApSpread, TcpAp, complete as complete_tcp_ap,
};
pub use topology::{TopologyKeys, TopologyKind};
pub use traffic::{AppKind, Connections, FlowKeys, TrafficKeys};
pub use wired::{WireKeys, WiredKeys};
