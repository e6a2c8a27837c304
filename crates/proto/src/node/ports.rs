//! The wired interfaces of a node: chooses the port by which a packet leaves.

use super::journal::{Journal, Step};
use super::output::Output;
use crate::drop::DropReason;
use crate::route::WiredRoutes;
use crate::wire::Ipv4Packet;

/// Ports with their routing table and packet counts.
#[derive(Debug)]
pub(super) struct Ports {
    pub routes: WiredRoutes,
    /// Packets received.
    pub received: u64,
    /// Packets sent.
    pub sent: u64,
}

impl Ports {
    pub fn new(routes: WiredRoutes) -> Ports {
        Ports { routes, received: 0, sent: 0 }
    }

    /// Sends the packet by the port that leads to its destination.
    ///
    /// # Errors
    /// If no port leads there.
    pub fn send(
        &mut self,
        mut packet: Ipv4Packet,
        journal: &mut Journal,
        out: &mut Vec<Output>,
    ) -> Result<(), DropReason> {
        let Some(port) = self.routes.port(packet.dst) else {
            journal.note(&mut packet, Step::Dropped(DropReason::NoRoute), out);
            return Err(DropReason::NoRoute);
        };
        self.sent += 1;
        out.push(Output::Wire { port, packet });
        Ok(())
    }
}
