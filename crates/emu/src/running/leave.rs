//! Packets out of the network, to devices.

use super::{Running, with_head};
use crate::carry::Mode;
use crate::icmp;
use fourhop_live::device::Form;
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::wire::{Ipv4Packet, encode};
use fourhop_units::{Dbm, NodeId, Time};

impl Running {
    /// Takes over packets that have left the air for the nodes' kernels, and handles lost packets.
    pub(super) fn hand_over(&mut self) {
        let mut delivered = std::mem::take(&mut self.delivered);
        let mut lost = std::mem::take(&mut self.lost);
        let mut powers = std::mem::take(&mut self.powers);
        powers.extend(self.emulation.world.delivered_powers());
        delivered.extend(self.emulation.world.drain_delivered());
        lost.extend(self.emulation.world.drain_lost());
        for ((node, packet), power) in delivered.drain(..).zip(powers.drain(..)) {
            if self.is_hosted(node) {
                self.hand_to_host(node, &packet, power.to_dbm());
                continue;
            }
            if let (Some(radio), Some(from)) = (&mut self.emulation.radio, NodeId::from_ipv4(packet.src)) {
                radio.heard(node, from, power.to_dbm());
            }
            self.deliver(node, &packet);
        }
        self.outgoing.close(self.now());
        for (node, packet, reason) in lost.drain(..) {
            self.count_lost(&packet, reason);
            self.answer(node, &packet, reason);
        }
        (self.delivered, self.powers, self.lost) = (delivered, powers, lost);
    }

    pub(super) fn is_hosted(&self, node: NodeId) -> bool {
        self.emulation.hosted.iter().any(|host| host.node() == node)
    }

    /// Hands a packet to the simulator's routing, as the frame that a device would have received.
    fn hand_to_host(&mut self, node: NodeId, packet: &Ipv4Packet, strength: Dbm) {
        let (now, mut frame, mut frames) = (self.now(), Vec::new(), Vec::new());
        if self.emulation.carry.leave(now, node, packet, &mut frame)
            && let Some(host) = self.emulation.hosted.iter_mut().find(|host| host.node() == node)
        {
            host.handle_frame(now, &frame, strength, &mut frames);
        }
        let first = self.underway.leave(packet);
        self.count_delivered(1, first.into(), true);
        self.send_of_host(node, frames);
    }

    /// Handles the hosts' timeouts that are due.
    pub(super) fn wake_hosts(&mut self, now: Time) {
        for n in 0..self.emulation.hosted.len() {
            let host = &mut self.emulation.hosted[n];
            if host.next_timeout().is_some_and(|at| at <= now) {
                let mut frames = Vec::new();
                host.handle_timeout(now, &mut frames);
                let node = host.node();
                self.send_of_host(node, frames);
            }
        }
    }

    fn send_of_host(&mut self, node: NodeId, frames: Vec<Vec<u8>>) {
        for frame in frames {
            self.enter_frame(node, &frame);
        }
    }

    /// Takes over packets that have come out of wires.
    pub(super) fn hand_over_wired(&mut self, now: Time) {
        let mut wired = std::mem::take(&mut self.wired);
        self.emulation.wires.leave(now, &mut wired);
        for (end, packet) in wired.drain(..) {
            let mut bytes = self.outgoing.memory();
            encode::packet(&packet, &mut bytes);
            let owner = self.emulation.nodes.wire(end);
            if let Some((ip, head)) = with_head(&bytes)
                && head.dst == self.emulation.state().members[owner].address
            {
                self.flows.arrived(now, ip, &head);
            }
            let first = self.underway.leave(&packet);
            self.outgoing.push(self.emulation.nodes.wire_device(end), bytes, 0, None, false, first);
        }
        self.outgoing.close(now);
        self.wired = wired;
    }

    /// Delivers a packet from the network to a device.
    fn deliver(&mut self, node: NodeId, packet: &Ipv4Packet) {
        let Some(number) = self.number(node) else { return };
        let now = self.emulation.world.now();
        let mut bytes = self.outgoing.memory();
        let first = self.underway.leave(packet);
        if !self.emulation.carry.leave(now, node, packet, &mut bytes) {
            // Its earlier state is lost.
            self.count_delivered(1, first.into(), false);
            return self.outgoing.keep(bytes);
        }
        let head = self.emulation.carry.ip(&bytes).and_then(with_head);
        if let Some((ip, head)) = &head
            && self.ends_at(node, head.dst, first)
        {
            self.flows.arrived(now, ip, head);
        }
        let (head, link) = (head.map(|(_, head)| head), self.emulation.carry.header());
        self.outgoing.push(number, bytes, link, head.as_ref(), self.emulation.options.gro, first);
    }

    /// Hands over the packets that are due to the kernels. Packets joined into one are equally late.
    pub(super) fn write(&mut self) {
        while let Some(due) = self.outgoing.next_due().filter(|&due| due <= self.clock.now()) {
            self.write_next(due);
        }
    }

    /// At the end, hands over everything that has left the network to the kernels.
    pub(super) fn write_all(&mut self) {
        while let Some(due) = self.outgoing.next_due() {
            self.write_next(due);
        }
    }

    fn write_next(&mut self, due: Time) {
        let Some((_, mut joined)) = self.outgoing.take() else { return };
        let given = self.clock.now();
        let late = given.saturating_since(due);
        let kernel = self.spent.since(due).min(late);
        (0..joined.packets).for_each(|_| {
            self.lateness.record(late);
            self.kernel.record(kernel);
        });
        let device = joined.device;
        let owner = self.emulation.nodes.owner(device);
        self.late_at[owner] = self.late_at[owner].max(late);
        let (form, bytes) = joined.finish();
        let taken = self.emulation.nodes.devices()[device].deliver(form, bytes).is_ok();
        self.spent.record(given, self.clock.now());
        self.count_delivered(joined.packets, joined.firsts, taken);
        self.outgoing.keep(joined.into_memory());
    }

    /// The node at which a packet was lost notifies the sender, as far as a router may.
    fn answer(&mut self, node: NodeId, packet: &Ipv4Packet, reason: DropReason) {
        let Some(number) = self.number(node) else { return };
        // Between kernels that route, the network below loses frames silently.
        let routed = self.emulation.mode == Mode::Routed;
        let now = self.now();
        // A full queue is not a broken link.
        let broken = reason.layer() != Layer::Link || reason == DropReason::ArpUnresolved;
        if let Some(host) = self.emulation.hosted.iter_mut().find(|host| broken && host.node() == node) {
            let mut frames = Vec::new();
            host.handle_failure(now, packet.dst, &mut frames);
            self.send_of_host(node, frames);
        }
        if let (Some(radio), Some(to)) = (&mut self.emulation.radio, NodeId::from_ipv4(packet.dst).filter(|_| broken)) {
            radio.failed(node, to);
        }
        let now = self.now();
        let address = node.ipv4();
        if !routed || !self.allowances[number].take(now) {
            return;
        }
        let Some(bytes) = icmp::message(address, packet, reason) else { return };
        self.packets.icmp_errors += 1;
        if packet.src == address {
            // The sender is this node: its own kernel gets the error.
            self.packets.undelivered +=
                u64::from(self.emulation.nodes.devices()[number].deliver(Form::Whole, &bytes).is_err());
        } else if let Ok(mut message) = Ipv4Packet::from_bytes(&bytes) {
            self.packets.from_routers += 1;
            self.underway.enter(now, &mut message);
            self.emulation.world.inject(node, message);
        }
    }
}
