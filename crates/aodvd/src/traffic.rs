//! Routes in use by the kernel, as packets at the interfaces show them, and MAC addresses of neighbours.
//!
//! IPv4 routes have no counters, so the daemon reads the first bytes of every IPv4 packet (packet(7)), on any kernel.
//! It reads the socket at most ten times a second, so that a thousand packets wake it once. If the socket overflows, it
//! misses packets; a route expires only if it misses all of them for the route's lifetime.

use crate::engine::Interface;
use crate::port::Port;
use fourhop_live::Error;
use fourhop_live::capture::{Capture, KEPT, What};
use fourhop_live::poll::Poller;
use fourhop_proto::wire::AodvMessage;
use fourhop_proto::wire::bytes::Ipv4Head;
use fourhop_units::{Dur, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// Bytes that wait, as the kernel counts them: some 2 kB for each packet.
const BUFFER: usize = 4 << 20;
/// Time between two looks.
const PAUSE: Dur = Dur::from_millis(100);
/// UDP (IANA).
const UDP: u8 = 17;
/// Of one device between two looks; more would keep the daemon from its own messages.
const TURN: usize = 20_000;

/// A MAC address.
pub type Mac = [u8; 6];

/// A packet used routes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Used {
    /// Its destination.
    pub dst: Ipv4Addr,
    /// Its source.
    pub src: Ipv4Addr,
    /// The neighbour that brought it, if one did.
    pub from: Option<Ipv4Addr>,
}

/// The interfaces, looked at.
#[derive(Debug)]
pub struct Traffic {
    captures: Vec<Capture>,
    /// When it is time to look again; until then nobody waits for these sockets.
    due: Vec<Option<Time>>,
    /// Address of the neighbour with a MAC address, as its own messages say.
    by_mac: BTreeMap<Mac, Ipv4Addr>,
    /// Most of them.
    most: usize,
    /// Packets seen.
    pub seen: u64,
    /// Reused.
    used: BTreeSet<Used>,
}

impl Traffic {
    /// Begins to look; what can be read from the nth interface has the number `first + n` at the poller.
    ///
    /// # Errors
    /// If this process may not.
    pub fn start(ports: &[Port], most: usize, poller: &Poller, first: u32) -> Result<Traffic, Error> {
        let captures = ports.iter().map(|port| Capture::open(port.device, What::Ipv4, BUFFER));
        let captures = captures.collect::<Result<Vec<_>, _>>()?;
        for (number, capture) in (first..).zip(&captures) {
            poller.add(capture, number)?;
        }
        let due = vec![None; captures.len()];
        let (by_mac, used) = (BTreeMap::new(), BTreeSet::new());
        Ok(Traffic { captures, due, by_mac, most, seen: 0, used })
    }

    /// Something has passed: it is read after a pause, together with what passes until then.
    pub fn passed(&mut self, now: Time, interface: Interface, poller: &Poller) {
        if self.due[interface].is_none() {
            poller.remove(&self.captures[interface]);
            self.due[interface] = Some(now + PAUSE);
        }
    }

    /// When [`Traffic::look`] has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        self.due.iter().flatten().min().copied()
    }

    /// Reads what is due, or everything that is there; the routes that were used, each once.
    ///
    /// # Errors
    /// If the system has no memory left.
    pub fn look(&mut self, now: Time, all: bool, poller: &Poller, first: u32) -> Result<Vec<Used>, Error> {
        for n in 0..self.captures.len() {
            let due = self.due[n].is_some_and(|due| due <= now);
            if due || all {
                self.read(n);
            }
            if due {
                self.due[n] = None;
                poller.add(&self.captures[n], first + n as u32)?;
            }
        }
        Ok(std::mem::take(&mut self.used).into_iter().collect())
    }

    fn read(&mut self, interface: Interface) {
        let mut buffer = [0; KEPT];
        for _ in 0..TURN {
            let Some(passed) = self.captures[interface].next(&mut buffer) else { return };
            self.seen += 1;
            let bytes = &buffer[..passed.len.min(KEPT)];
            let Ok(head) = Ipv4Head::read(bytes) else { continue };
            let ports = bytes.get(head.header_len..head.header_len + 4);
            let aodv = head.protocol == UDP && ports.is_some_and(|ports| ports[2..] == AodvMessage::PORT.to_be_bytes());
            if aodv {
                if !passed.outgoing {
                    self.learn(passed.from, head.src);
                }
                continue;
            }
            let from = self.by_mac.get(&passed.from).copied().filter(|_| !passed.outgoing);
            self.used.insert(Used { dst: head.dst, src: head.src, from });
        }
    }

    /// Notes that this MAC address sends AODV. Forgets another one if the table is full.
    fn learn(&mut self, mac: Mac, address: Ipv4Addr) {
        if self.by_mac.len() >= self.most && !self.by_mac.contains_key(&mac) {
            self.by_mac.pop_first();
        }
        self.by_mac.insert(mac, address);
    }

    /// The neighbour with this MAC address.
    pub fn neighbour(&self, mac: Mac) -> Option<Ipv4Addr> {
        self.by_mac.get(&mac).copied()
    }

    /// The MAC address of a neighbour.
    pub fn mac(&self, neighbour: Ipv4Addr) -> Option<Mac> {
        self.by_mac.iter().find(|(_, address)| **address == neighbour).map(|(&mac, _)| mac)
    }
}
