//! Above IP at a node: the ends of simulated flows and, where one is attached, an outside host (a TUN device, a
//! test), which is handed every packet that no simulated flow accepts.

use super::output::Output;
use super::transports::Transports;
use crate::drop::DropReason;
use crate::wire::{Body, Ipv4Packet};
use core::net::Ipv4Addr;
use fourhop_units::Time;

/// The consumers of packets for a node's address, and what they have been given.
#[derive(Debug)]
pub(super) struct Local {
    pub transports: Transports,
    /// Is a host outside attached?
    pub attached: bool,
    /// Packets taken from it.
    pub taken: u64,
    /// Packets consumed here or handed to it.
    pub delivered: u64,
}

impl Local {
    pub fn new(transports: Transports) -> Local {
        Local { transports, attached: false, taken: 0, delivered: 0 }
    }

    /// Packets that originated here.
    pub fn originated(&self) -> u64 {
        self.transports.originated() + self.taken
    }

    /// A packet was lost here: reports it to the attached host, if a host sent it. Packets that a driver carries by
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

    /// A packet for this node, other than routing messages. Answers of flow ends go to `made`; `hops_to` gives the hops
    /// to another node along the present route.
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
