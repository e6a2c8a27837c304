//! Routing.
/// Where a packet goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextHop {
    /// To one neighbour.
    Unicast(core::net::Ipv4Addr),
    /// To all neighbours.
    Broadcast,
}
