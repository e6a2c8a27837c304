//! Messages about the link itself: Hello, IHU, requests for acknowledgements (RFC 8966 sections 3.3 and 3.4).

use super::outbox::Item;
use super::{Babel, MOST};
use crate::wire::BabelTlv;
use core::net::{IpAddr, Ipv4Addr};
use fourhop_units::{Dur, Time};

impl Babel {
    /// Handles a Hello. A new neighbour gets an IHU at once.
    pub(super) fn handle_hello(&mut self, now: Time, from: Ipv4Addr, unicast: bool, seqno: u16, interval: u16) {
        self.counters.hellos_received += 1;
        let Some((neighbour, new)) = self.neighbours.entry(from, MOST) else { return };
        neighbour.hear(now, unicast, seqno, interval);
        if new {
            self.say_soon(now, Some(from), Item::Ihu(from));
        }
    }

    /// Handles an IHU, which may be for another node.
    pub(super) fn handle_ihu(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        address: Option<IpAddr>,
        rxcost: u16,
        interval: u16,
    ) {
        if address.is_some_and(|address| !matches!(address, IpAddr::V4(address) if self.is_own(address))) {
            return;
        }
        self.counters.ihus_received += 1;
        if let Some((neighbour, _)) = self.neighbours.entry(from, MOST) {
            neighbour.be_heard(now, rxcost, interval);
        }
    }

    /// Schedules the acknowledgement within the requested time (section 3.3).
    pub(super) fn handle_ack_request(&mut self, now: Time, from: Ipv4Addr, opaque: u16, interval: u16) {
        let longest = self.config.urgent_timeout.min(Dur::from_millis(5 * u64::from(interval)));
        let delay = self.jitter.duration(longest);
        self.outbox.push(Some(from), now + delay, Item::Tlv(BabelTlv::Ack { opaque }));
    }

    /// Expires what is due at the neighbours.
    pub(super) fn neighbours_timeout(&mut self, now: Time) {
        if self.neighbours.next().is_none_or(|at| at > now) {
            return;
        }
        let mut due = Vec::new();
        for neighbour in self.neighbours.iter_mut().filter(|neighbour| neighbour.next().is_some_and(|at| at <= now)) {
            due.push((neighbour.addr, neighbour.expire(now)));
        }
        for (addr, gone) in due {
            self.refresh_neighbour(now, addr);
            if gone {
                self.neighbours.remove(addr);
            }
        }
    }
}
