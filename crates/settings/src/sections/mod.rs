//! The keys of a scenario, one table per section. To add a key, add a row to its table; reader, writer, schema and
//! reference page follow. A row that names a field of its layer's configuration sets that field, and takes its default
//! from there; `convert.rs` handles the exceptions. The section of an individual protocol is a row of
//! [`own_sections!`](crate::own_sections).

mod adhoc_tcp;
pub mod atp;
pub mod babel;
mod c3tcp;
mod edca;
mod gateway;
mod general;
mod link;
mod mac;
mod mobility;
mod radio;
mod radios;
mod routing;
mod site;
mod tcp;
mod tcp_ap;
mod topology;
mod traffic;
mod wired;

pub use crate::profile::Profile;
pub use adhoc_tcp::{AdhocTcp, ProbeBound};
pub use c3tcp::{C3tcp, UNSCALED_WINDOW, UnawareNodes};
pub use edca::{Edca, complete as complete_edca};
pub use gateway::{GatewayKeys, GatewayKind};
pub use general::General;
pub use link::Link;
pub use mac::{BackoffDraw, Mac, RateControl, complete as complete_mac};
pub use mobility::{MobilityKeys, MobilityModel, Start};
pub use radio::{CONDITIONS, Errors, Fading, PathLossKind, Phy, Radio, RadioModel, complete as complete_radio, needs};
pub use radios::RadioKeys;
pub use routing::{RouteMetric, Routing, RoutingProtocol, complete as complete_routing};
pub use site::{LossKeys, NodeKeys, RouteKeys, Unmeasured, WallKeys};
pub use tcp::{AckPolicy, Tcp, complete as complete_tcp};
pub use tcp_ap::{ApDelay, ApProfile, ApSamples, TcpAp, complete as complete_tcp_ap};
pub use topology::{TopologyKeys, TopologyKind};
pub use traffic::{AppKind, Connections, FlowKeys, TrafficKeys};
pub use wired::{WireKeys, WiredKeys};

/// Calls a macro with the sections that only one protocol reads and that depend on no others: the field of the
/// scenario, and its type.
#[macro_export]
macro_rules! own_sections {
    ($then:ident) => {
        $then! {
            babel: babel::Babel;
            atp: atp::Atp;
        }
    };
}
