//! Options of a node, and their shared form.

use crate::mac::{self, Dcf};
use crate::net::{self, Addresses, Link};
use crate::phy;
use fourhop_units::Stream;
use std::sync::Arc;

/// Options of a node's layers below the transports.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The receiver.
    pub phy: phy::Config,
    /// The MAC.
    pub mac: mac::Config,
    /// ARP, delays and queue.
    pub link: net::Config,
    /// Time to live of packets that originate here. ns-2's AODV: 30; RFC 1700: 64.
    pub ttl: u8,
}

impl Config {
    /// The options of ns-2.35.
    pub const fn ns2() -> Config {
        Config { phy: phy::Config::ns2(), mac: mac::Config::ns2(), link: net::Config::ns2(), ttl: 30 }
    }

    /// The standards as written.
    pub const fn standard() -> Config {
        Config { phy: phy::Config::standard(), mac: mac::Config::standard(), link: net::Config::standard(), ttl: 64 }
    }
}

/// [`Config`] as nodes store it: nodes created from one `SharedConfig` share its memory.
#[derive(Clone, Debug)]
pub struct SharedConfig {
    pub(super) mac: Arc<mac::Config>,
    link: Arc<net::Config>,
    pub(super) ttl: u8,
}

impl SharedConfig {
    /// Creates the layers of one radio.
    pub(super) fn layers(self, addresses: Addresses, backoff: Stream) -> (Dcf, Link) {
        (Dcf::new(addresses.mac, self.mac, backoff), Link::new(addresses, self.link))
    }
}

impl From<&Config> for SharedConfig {
    fn from(config: &Config) -> SharedConfig {
        SharedConfig { mac: Arc::new(config.mac), link: Arc::new(config.link), ttl: config.ttl }
    }
}
