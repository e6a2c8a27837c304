//! Packets from devices into the network.

use super::{PAUSE, Running, TURN, with_head};
use crate::carry::{Mode, Refused, routed};
use crate::fragments::fragments;
use crate::icmp;
use crate::segments::split;
use fourhop_live::device::Form;
use fourhop_proto::drop::DropReason;
use fourhop_units::NodeId;

impl Running {
    /// Takes packets from a device, until its turn is over.
    pub(super) fn take(&mut self, number: usize) {
        let (mut buffer, mut segment) = (std::mem::take(&mut self.buffer), std::mem::take(&mut self.segment));
        let wire = self.emulation.nodes.wire_end(number);
        let link = if wire.is_some() { 0 } else { self.emulation.carry.header() };
        let mut taken = 0;
        while taken < TURN {
            let begun = self.clock.now();
            let received = self.emulation.nodes.devices()[number].receive(&mut buffer);
            let read = self.clock.now();
            self.spent.record(begun, read);
            match received {
                Ok(Some((form, len))) => split::split(&mut buffer[..len], form, link, &mut segment, |packet| {
                    self.entering.record(self.now().saturating_since(read));
                    match wire {
                        Some(end) => self.enter_wire(end, packet),
                        None => self.enter(self.node(number), packet),
                    }
                    taken += 1;
                    if taken.is_multiple_of(PAUSE) {
                        self.advance(self.clock.now());
                    }
                }),
                Ok(None) => break,
                Err(error) => {
                    self.give_up(number, &error);
                    break;
                }
            }
        }
        (self.buffer, self.segment) = (buffer, segment);
    }

    fn enter(&mut self, node: NodeId, bytes: &[u8]) {
        // The kernel behind a hosted node's device has no part in the network.
        if !self.is_hosted(node) {
            self.enter_frame(node, bytes);
        }
    }

    pub(super) fn enter_frame(&mut self, node: NodeId, bytes: &[u8]) {
        if bytes.len() > self.emulation.carry.header() + self.emulation.options.mtu as usize {
            return self.enter_long(node, bytes);
        }
        let now = self.now();
        match self.emulation.carry.enter(now, node, bytes) {
            Err(reason) => *self.refused.entry(reason).or_default() += 1,
            Ok(mut packet) => {
                if let Some((bytes, head)) = self.emulation.carry.ip(bytes).and_then(with_head)
                    && self.sends_from(node, head.src)
                {
                    self.flows.sent(now, bytes, &head);
                }
                self.packets.taken += 1;
                self.underway.enter(now, &mut packet);
                self.emulation.world.inject(node, packet);
                self.hand_over();
            }
        }
    }

    /// A kernel sends over a wire, which has the same MTU as all devices.
    fn enter_wire(&mut self, end: usize, bytes: &[u8]) {
        let address = self.emulation.state().members[self.emulation.nodes.wire(end)].address;
        let long = bytes.len() > self.emulation.options.mtu as usize;
        let packet = if long { Err(Refused::TooLong) } else { routed::enter(bytes) };
        match packet {
            Err(reason) => *self.refused.entry(reason).or_default() += 1,
            Ok(mut packet) => {
                let now = self.now();
                if let Some((bytes, head)) = with_head(bytes).filter(|(_, head)| head.src == address) {
                    self.flows.sent(now, bytes, &head);
                }
                self.packets.taken += 1;
                self.underway.enter(now, &mut packet);
                if let Some(packet) = self.emulation.wires.enter(now, end, packet) {
                    self.count_lost(&packet, DropReason::WiredQueueFull);
                }
            }
        }
    }

    /// Takes a packet that is too long for a frame, in fragments. If it must not be fragmented, its sender learns the
    /// MTU.
    fn enter_long(&mut self, node: NodeId, bytes: &[u8]) {
        let routed = self.emulation.mode == Mode::Routed;
        let mtu = self.emulation.options.mtu;
        if let Some(pieces) = fragments(bytes, mtu as usize).filter(|_| routed) {
            return pieces.iter().for_each(|piece| self.enter(node, piece));
        }
        *self.refused.entry(Refused::TooLong).or_default() += 1;
        let Some(number) = self.number(node).filter(|_| routed) else { return };
        let now = self.now();
        let error = icmp::too_long(node.ipv4(), bytes, mtu);
        if let Some(error) = error.filter(|_| self.allowances[number].take(now)) {
            self.packets.icmp_errors += 1;
            self.packets.undelivered +=
                u64::from(self.emulation.nodes.devices()[number].deliver(Form::Whole, &error).is_err());
        }
    }
}
