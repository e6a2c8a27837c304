//! The layer above IP at a node: the ends of simulated flows and, where one is attached, an outside host (a TUN device,
//! a test), which gets every packet that no simulated flow accepts.

use super::output::Output;
use super::transports::Transports;
use crate::drop::DropReason;
use crate::wire::{Body, Ipv4Packet};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// The consumers of packets for a node's address, and their packet counts.
#[derive(Debug)]
pub(super) struct Local {
    pub transports: Transports,
    /// Whether an outside host is attached.
    pub attached: bool,
    /// Packets accepted from it.
    pub taken: u64,
    /// Packets consumed here or delivered to it.
    pub delivered: u64,
}

impl Local {
    pub fn new(transports: Transports) -> Local {
        Local { transports, attached: false, taken: 0, delivered: 0 }
    }

    /// Returns the number of packets that originated here.
    pub fn originated(&self) -> u64 {
        self.transports.originated() + self.taken
    }

    /// Reports a packet lost here to the attached host, if it came from a host. Packets that a driver carries by
    /// number, such as frames other than IPv4, have no ports.
    pub fn report_lost(&self, packet: Ipv4Packet, reason: DropReason, out: &mut Vec<Output>) {
        let of_host = match &packet.body {
            Body::Opaque(_) => true,
            Body::Udp(datagram) => datagram.src_port == 0 && datagram.dst_port == 0,
            _ => false,
        };
        if self.attached && of_host {
            out.push(Output::Lost { packet, reason });
        }
    }

    /// Delivers a packet for this node, other than a routing message. Answers of flow ends go to `made`; `hops_to`
    /// returns the hops of the current route to another node.
    ///
    /// # Errors
    /// If no application here listens for it.
    pub fn deliver(
        &mut self,
        now: Time,
        packet: Ipv4Packet,
        hops_to: impl FnOnce(Ipv4Addr) -> Option<u8>,
        made: &mut Vec<Ipv4Packet>,
        out: &mut Vec<Output>,
    ) -> Result<(), DropReason> {
        match self.transports.handle_packet(now, &packet, hops_to, made) {
            Err(DropReason::NoListener) if self.attached => out.push(Output::Deliver(packet)),
            known => known?,
        }
        self.delivered += 1;
        Ok(())
    }
}
