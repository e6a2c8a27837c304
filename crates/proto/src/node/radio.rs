//! A radio of a node: its MAC, its link layer with the queue, and its addresses.

use crate::mac::Dcf;
use crate::net::{Addresses, Link};
use core::net::Ipv4Addr;
use fourhop_units::MacAddr;
use std::sync::Arc;

/// The IP addresses of all radios on one channel, sorted.
pub type OnChannel = Arc<[Ipv4Addr]>;

/// Index of a node's first radio, whose address is that of the node.
pub const FIRST: usize = 0;

/// A radio.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Radio {
    pub link: Link,
    pub mac: Dcf,
    pub addresses: Addresses,
    /// The addresses on its channel; `None` for the first radio, which leads to all neighbours that no other leads to.
    pub on_channel: Option<OnChannel>,
}

/// The radios of a node. The first is stored in the node itself, so that a node with one radio pays nothing for more.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Radios {
    first: Radio,
    pub further: Vec<Radio>,
}

impl Radios {
    pub fn new(first: Radio) -> Radios {
        Radios { first, further: Vec::new() }
    }

    #[inline(always)]
    pub fn at(&self, radio: usize) -> &Radio {
        if radio == FIRST { &self.first } else { &self.further[radio - 1] }
    }

    #[inline(always)]
    pub fn at_mut(&mut self, radio: usize) -> &mut Radio {
        if radio == FIRST { &mut self.first } else { &mut self.further[radio - 1] }
    }

    /// Returns the radio on whose channel this neighbour is.
    pub fn towards(&self, next_hop: Ipv4Addr) -> usize {
        let there = |radio: &Radio| radio.on_channel.as_ref().is_some_and(|all| all.binary_search(&next_hop).is_ok());
        self.further.iter().position(there).map_or(FIRST, |place| place + 1)
    }

    /// Returns the IP address of the neighbour with this MAC address, if one of the radios knows it.
    pub fn neighbour_ip(&self, mac: MacAddr) -> Option<Ipv4Addr> {
        let known = self.first.link.neighbour_ip(mac);
        if self.further.is_empty() {
            return known;
        }
        known.or_else(|| self.further.iter().find_map(|radio| radio.link.neighbour_ip(mac)))
    }
}
