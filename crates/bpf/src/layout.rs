//! A destination, byte for byte as in `c/connection.h` and `include/fourhop_pace.h`.

use fourhop_cc::tcp_ap::variation::Spread;
use fourhop_cc::tcp_ap::{self, ShortPath};
use fourhop_units::{Dur, Rate};
use std::net::{IpAddr, Ipv4Addr};

/// Largest N for which a connection's state has room; the paper's maximum (Figure 9).
pub const MAX_HISTORY: u32 = 200;
/// Links of a path that are stored individually.
const FRONT: usize = 8;
/// No limit, `FH_NONE`.
const NONE: u64 = u64::MAX;

/// The path to a destination.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Path {
    /// Wireless hops; `None`: by the time to live of received packets.
    pub hops: Option<u32>,
    /// Rate of all links.
    pub rate: Option<Rate>,
    /// The rate of each link, nearest first, if they differ; then `rate` and `hops` are ignored.
    pub links: Vec<Rate>,
    /// Wired part of round trips.
    pub wired: Dur,
}

/// How connections to a destination are paced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// Parameters of TCP-AP.
    pub params: tcp_ap::Params,
    /// V of RBP.
    pub pacing_v: u32,
    /// The path.
    pub path: Path,
    /// Rate of its first link, for AP2; `None` if unknown.
    pub link: Option<Rate>,
    /// Whether a gateway reports the wired part of round trips.
    pub gateway: bool,
    /// Window of a new connection, in segments; 0: the kernel's default.
    pub initial_window: u32,
    /// Hops behind the gateway, among those given by the time to live.
    pub wired_hops: u32,
}

/// Bytes in the machine's byte order.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn long(&mut self, value: u64) {
        self.0.extend(value.to_ne_bytes());
    }

    fn word(&mut self, value: u32) {
        self.0.extend(value.to_ne_bytes());
    }
}

/// `struct fh_params`. It omits options that a kernel cannot support: synchronised clocks, and round trips of duplicate
/// ACKs.
pub fn params(params: &tcp_ap::Params, pacing_v: u32) -> Vec<u8> {
    let mut bytes = Bytes::default();
    let nanos = |limit: Option<Dur>, none| limit.map_or(none, Dur::as_nanos);
    bytes.long(params.link_rate.map_or(0, Rate::bps));
    bytes.long(nanos(params.queue_limit, NONE));
    bytes.long(nanos(params.delay_limit, NONE));
    bytes.long(nanos(params.first_interval, 0));
    bytes.word(params.alpha);
    bytes.word(params.history);
    bytes.word(params.factor);
    bytes.word(params.queue_alpha);
    bytes.word(params.data_overhead);
    bytes.word(params.ack_bytes);
    bytes.word(match params.spread {
        Spread::DeviationOfRoundTrips => 0,
        Spread::AbsoluteDeviationOfDelays => 1,
    });
    bytes.word(match params.short_path {
        ShortPath::AllHops => 0,
        ShortPath::OneHop => 1,
    });
    bytes.word(pacing_v);
    bytes.word(0);
    bytes.0
}

/// `struct fh_path`.
pub fn path(path: &Path) -> Vec<u8> {
    let mut bytes = Bytes::default();
    // Picoseconds per bit over the first links, summed as in `fourhop_cc::PathTime`.
    let mut sums = Vec::with_capacity(path.links.len());
    for rate in &path.links {
        sums.push(sums.last().copied().unwrap_or(0) + (1_000_000_000_000 + rate.bps() / 2) / rate.bps());
    }
    bytes.long(path.wired.as_nanos());
    bytes.long(path.rate.map_or(0, Rate::bps));
    bytes.long(sums.last().copied().unwrap_or(0));
    (0..FRONT).for_each(|n| bytes.long(sums.get(n).copied().unwrap_or(0)));
    bytes.word(sums.len() as u32);
    // The links, if known, also give the number of hops.
    bytes.word(path.hops.unwrap_or(sums.len() as u32));
    bytes.0
}

impl Destination {
    /// `struct fh_destination`.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes(params(&self.params, self.pacing_v));
        bytes.0.extend(path(&self.path));
        bytes.long(self.link.map_or(0, Rate::bps));
        bytes.word(u32::from(self.path.hops.is_none() && self.path.links.is_empty()));
        bytes.word(u32::from(self.gateway));
        bytes.word(self.initial_window);
        bytes.word(self.wired_hops);
        bytes.0
    }
}

/// `struct fh_key`: a network and its prefix length; IPv4 networks follow the prefix of mapped addresses.
pub fn key(network: IpAddr, bits: u8) -> Vec<u8> {
    let (address, bits) = match network {
        IpAddr::V4(v4) => (Ipv4Addr::to_ipv6_mapped(&v4), bits + 96),
        IpAddr::V6(v6) => (v6, bits),
    };
    let mut bytes = Bytes::default();
    bytes.word(u32::from(bits));
    bytes.0.extend(address.octets());
    bytes.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ipv4_are_mapped() {
        let bytes = key(IpAddr::from([10, 0, 0, 0]), 8);
        assert_eq!(bytes[..4], 104_u32.to_ne_bytes());
        assert_eq!(bytes[4..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0]);
        assert_eq!(key("fd00::".parse().unwrap(), 8)[..4], 8_u32.to_ne_bytes());
    }
}
