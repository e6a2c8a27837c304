//! The route to a destination: the congestion control of its connections, their initial window in segments, and whether
//! every segment received from there is acknowledged at once.

use crate::Error;
use crate::settings::inside;
use fourhop_live::netlink::{Entry, Metric};
use nix::net::if_::if_indextoname;
use serde::Serialize;
use std::fmt;
use std::io::ErrorKind::{InvalidInput, PermissionDenied};
use std::net::IpAddr;

/// A route with its parameters for connections.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Route {
    /// The network, as "10.0.0.0/8", or "default".
    pub to: String,
    /// The next hop.
    pub via: Option<IpAddr>,
    /// The output device.
    pub device: Option<String>,
    /// Congestion control; `None`: the namespace's default.
    pub congestion_control: Option<String>,
    /// Window of a new connection in segments; `None`: the kernel's default of 10.
    pub initial_window: Option<u32>,
    /// Whether every segment is acknowledged at once.
    pub quick_ack: bool,
}

/// A change to a route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Set congestion control, window and quick acknowledgements.
    Set {
        /// Name of the congestion control.
        congestion_control: String,
        /// In segments; 0: the kernel's default.
        initial_window: u32,
        /// Whether to acknowledge every segment at once.
        quick_ack: bool,
    },
    /// Remove all three.
    Reset,
}

impl Route {
    fn of(entry: &Entry) -> Route {
        Route {
            to: entry.network().map_or_else(|| "default".to_owned(), |(address, bits)| format!("{address}/{bits}")),
            via: entry.via(),
            device: entry.device().and_then(|device| if_indextoname(device).ok()?.into_string().ok()),
            congestion_control: entry.name(Metric::CongestionControl),
            initial_window: entry.number(Metric::InitialWindow).filter(|&segments| segments > 0),
            quick_ack: entry.number(Metric::QuickAck).is_some_and(|quick| quick != 0),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to)?;
        self.via.map_or(Ok(()), |via| write!(f, " via {via}"))?;
        self.device.as_ref().map_or(Ok(()), |device| write!(f, " dev {device}"))?;
        self.congestion_control.as_ref().map_or(Ok(()), |name| write!(f, " congctl {name}"))?;
        self.initial_window.map_or(Ok(()), |segments| write!(f, " initcwnd {segments}"))?;
        if self.quick_ack { write!(f, " quickack 1") } else { Ok(()) }
    }
}

/// Whether the kernel has this congestion control.
fn is_available(name: &str) -> bool {
    let all = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    all.is_ok_and(|all| all.split_ascii_whitespace().any(|available| available == name))
}

/// The route to an address, in a namespace, after an optional change.
///
/// # Errors
/// If there is no route, no such namespace, or no congestion control of that name.
pub fn route(namespace: Option<&str>, to: IpAddr, change: Option<&Change>) -> Result<Route, Error> {
    let done = inside(namespace, || {
        let mut entry = Entry::to(to)?;
        if let Some(change) = change {
            let (name, window, quick) = match change {
                Change::Set { congestion_control, initial_window, quick_ack } => {
                    // The kernel expects the name with its terminating zero.
                    let name = format!("{congestion_control}\0").into_bytes();
                    (Some(name), Some(*initial_window).filter(|&window| window > 0), quick_ack.then_some(1_u32))
                }
                Change::Reset => (None, None, None),
            };
            let number = |value: u32| value.to_ne_bytes().to_vec();
            entry.set(Metric::CongestionControl, name);
            entry.set(Metric::InitialWindow, window.map(number));
            entry.set(Metric::QuickAck, quick.map(number));
            entry.replace().map_err(|error| match (error.source.kind(), change) {
                (InvalidInput, Change::Set { congestion_control, .. }) if !is_available(congestion_control) => {
                    fourhop_live::Error {
                        what: format!("no congestion control {congestion_control}: load it first (fourhop-cc load)"),
                        ..error
                    }
                }
                (PermissionDenied, _) => {
                    fourhop_live::Error { what: error.what + " needs root, or CAP_NET_ADMIN", ..error }
                }
                _ => error,
            })?;
            entry = Entry::to(to)?;
        }
        Ok(Route::of(&entry))
    });
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_reads_as_ip_writes_it() {
        let mut route = Route {
            to: "10.0.0.0/8".to_owned(),
            via: Some([10, 1, 2, 3].into()),
            device: Some("mesh0".to_owned()),
            congestion_control: Some("fh_tcp_ap".to_owned()),
            initial_window: Some(2),
            quick_ack: true,
        };
        let text = "10.0.0.0/8 via 10.1.2.3 dev mesh0 congctl fh_tcp_ap initcwnd 2 quickack 1";
        assert_eq!(route.to_string(), text);
        route = Route { via: None, congestion_control: None, initial_window: None, quick_ack: false, ..route };
        assert_eq!(route.to_string(), "10.0.0.0/8 dev mesh0");
    }

    #[test]
    fn the_loopback_is_reached_over_itself() {
        let route = route(None, [127, 0, 0, 1].into(), None).unwrap();
        assert_eq!(route.device.as_deref(), Some("lo"));
    }
}
