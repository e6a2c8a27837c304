//! Routes in use by the kernel, as shown by packets at the interfaces, and MAC addresses of neighbours.
//!
//! IPv4 routes have no counters, so the daemon reads the first bytes of every IPv4 packet (packet(7)), on any kernel.
//! It reads the socket at most ten times per second, so that a thousand packets wake it once. If the socket overflows,
//! it misses packets; a route expires only if it misses all of them for the route's lifetime.

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

/// Receive buffer in bytes, as the kernel counts them: some 2 kB per packet.
const BUFFER: usize = 4 << 20;
/// Interval between two reads.
const PAUSE: Dur = Dur::from_millis(100);
/// UDP (IANA).
const UDP: u8 = 17;
/// Packets of one device per read; more would keep the daemon from its own messages.
const TURN: usize = 20_000;

/// A MAC address.
pub type Mac = [u8; 6];

/// Routes used by a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Used {
    /// Its destination.
    pub dst: Ipv4Addr,
    /// Its source.
    pub src: Ipv4Addr,
    /// The neighbour from which it arrived, if any.
    pub from: Option<Ipv4Addr>,
}

/// Captures on the interfaces.
#[derive(Debug)]
pub struct Traffic {
    captures: Vec<Capture>,
    /// When to read again; until then the poller does not wait for the socket.
    due: Vec<Option<Time>>,
    /// Addresses of neighbours by MAC address, learned from their own messages.
    by_mac: BTreeMap<Mac, Ipv4Addr>,
    /// Maximum size of `by_mac`.
    most: usize,
    /// Number of packets seen.
    pub seen: u64,
    /// Reused buffer.
    used: BTreeSet<Used>,
}

impl Traffic {
    /// Starts capturing; the socket of the nth interface has the id `first + n` at the poller.
    ///
    /// # Errors
    /// If this process has no permission.
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

    /// A packet has passed: it is read after a pause, together with those that pass until then.
    pub fn passed(&mut self, now: Time, interface: Interface, poller: &Poller) {
        if self.due[interface].is_none() {
            poller.remove(&self.captures[interface]);
            self.due[interface] = Some(now + PAUSE);
        }
    }

    /// When [`Traffic::look`] is next due.
    pub fn next_timeout(&self) -> Option<Time> {
        self.due.iter().flatten().min().copied()
    }

    /// Reads the sockets that are due, or all of them; returns the routes used, without duplicates.
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

    /// Records that this MAC address sends AODV. Forgets another one if the table is full.
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

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_live::poll::Ready;
    use std::net::UdpSocket;

    fn traffic(captures: Vec<Capture>, most: usize) -> Traffic {
        let due = vec![None; captures.len()];
        Traffic { captures, due, by_mac: BTreeMap::new(), most, seen: 0, used: BTreeSet::new() }
    }

    fn mac(n: u8) -> Mac {
        [2, 0, 0, 0, 0, n]
    }

    fn ip(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(127, 77, 0, n)
    }

    #[test]
    fn a_neighbour_is_known_by_its_newest_address_and_of_too_many_one_is_forgotten() {
        let mut traffic = traffic(vec![], 2);
        assert_eq!((traffic.neighbour(mac(1)), traffic.mac(ip(1))), (None, None));
        traffic.learn(mac(1), ip(1));
        traffic.learn(mac(2), ip(2));
        traffic.learn(mac(1), ip(9));
        let known = |traffic: &Traffic| [1, 2, 3].map(|n| traffic.neighbour(mac(n)));
        assert_eq!(known(&traffic), [Some(ip(9)), Some(ip(2)), None], "one that is known displaces nobody");
        assert_eq!((traffic.mac(ip(9)), traffic.mac(ip(1))), (Some(mac(1)), None));
        traffic.learn(mac(3), ip(3));
        assert_eq!(known(&traffic), [None, Some(ip(2)), Some(ip(3))]);
    }

    #[test]
    fn the_interface_that_is_due_first_decides_when_to_look() {
        let mut traffic = traffic(vec![], 2);
        assert_eq!(traffic.next_timeout(), None);
        traffic.due = vec![Some(Time::from_secs(3)), None, Some(Time::from_secs(2))];
        assert_eq!(traffic.next_timeout(), Some(Time::from_secs(2)));
    }

    /// The loopback device of a namespace as an interface: each packet passes it twice, when sent and when received.
    #[test]
    fn packets_use_routes_and_messages_tell_whose_a_mac_address_is() {
        crate::test_network::in_namespace(|| {
            let (mut poller, at) = (Poller::without_signals().unwrap(), Time::from_millis);
            let mut ready = Vec::new();
            let capture = Capture::open(fourhop_live::netlink::LOOPBACK, What::Ipv4, BUFFER).unwrap();
            poller.add(&capture, 7).unwrap();
            let mut traffic = traffic(vec![capture], 4);
            let [data, aodv] = [0, AodvMessage::PORT].map(|port| UdpSocket::bind((ip(2), port)).unwrap());
            let sender = UdpSocket::bind((ip(1), 0)).unwrap();
            let send = |to: &UdpSocket| {
                sender.send_to(&[4, 0], to.local_addr().unwrap()).unwrap();
                // The packet has passed once it has arrived.
                to.recv(&mut [0; 2]).unwrap();
            };
            send(&data);
            traffic.passed(at(1_000), 0, &poller);
            traffic.passed(at(1_050), 0, &poller);
            assert_eq!(traffic.next_timeout(), Some(at(1_100)), "what passes meanwhile puts nothing off");
            assert_eq!(traffic.look(at(1_099), false, &poller, 7).unwrap(), [], "not yet");
            poller.look(&mut ready).unwrap();
            assert_eq!(ready, [], "nobody waits for it meanwhile");
            let used = Used { dst: ip(2), src: ip(1), from: None };
            assert_eq!(traffic.look(at(1_100), false, &poller, 7).unwrap(), [used], "each once");
            assert_eq!((traffic.seen, traffic.next_timeout()), (2, None));
            // An AODV message uses no route; it can be read at once on request.
            send(&aodv);
            poller.look(&mut ready).unwrap();
            assert_eq!(ready, [Ready::Readable(7)], "somebody waits for it again");
            assert_eq!(traffic.look(at(1_200), true, &poller, 7).unwrap(), []);
            assert_eq!((traffic.neighbour([0; 6]), traffic.mac(ip(1))), (Some(ip(1)), Some([0; 6])));
            send(&data);
            let brought = Used { from: Some(ip(1)), ..used };
            assert_eq!(traffic.look(at(1_200), true, &poller, 7).unwrap(), [used, brought], "sent, and received");
            assert_eq!(traffic.seen, 6);
        });
    }
}
