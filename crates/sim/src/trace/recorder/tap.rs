//! Passes the events of a run to the recorder.

use super::super::{Copy, Tap, TxId, tables};
use super::{About, OnAir, QUEUES, Recorder, keep_first, nanos, number_in, number_of, push_interval};
use fourhop_proto::drop::{DropReason, Layer};
use fourhop_proto::mac;
use fourhop_proto::node::{Ear, Host, Node, Note, Step};
use fourhop_proto::route::Protocol;
use fourhop_proto::wire::{Frame, FrameKind};
use fourhop_units::{NodeId, Time};
use std::io;
use std::net::Ipv4Addr;

impl Tap for Recorder {
    fn looks_closely(&self) -> bool {
        true
    }

    fn sent(&mut self, now: Time, node: NodeId, tx: TxId, frame: &Frame) {
        self.write_due(now);
        let seen = &self.nodes[self.seen_at(node)];
        let of = |packet: Option<u32>| match seen.in_hand.iter().find(|note| packet.is_none_or(|it| it == note.number))
        {
            Some(note) => About {
                packet: Some(note.number),
                flow: self.flows.of(note).map(|(flow, _)| flow),
                content: Some(note.kind.name()),
            },
            None => About { content: Some("arp"), ..About::default() },
        };
        let (kind, bytes, about) = match &frame.kind {
            FrameKind::Rts => ("rts", mac::RTS.get(), of(None)),
            FrameKind::Cts => ("cts", mac::CTS_OR_ACK.get(), seen.answers),
            FrameKind::Ack => ("ack", mac::CTS_OR_ACK.get(), seen.answers),
            FrameKind::Data { msdu, .. } => {
                ("data", msdu.len.get() + self.data_overhead, of(self.several.then(|| number_in(msdu))))
            }
            // An aggregate is represented by its first packet.
            FrameKind::Aggregate(aggregate) => {
                let first = aggregate.mpdus.first().map_or(0, |mpdu| number_in(&mpdu.first));
                ("data", aggregate.len().get(), of(Some(first)))
            }
            FrameKind::BlockAck { .. } => ("block-ack", mac::BLOCK_ACK.get(), seen.answers),
            FrameKind::BlockAckRequest { .. } => ("block-ack-request", mac::BLOCK_ACK_REQUEST.get(), About::default()),
        };
        let mpdus = match &frame.kind {
            FrameKind::Aggregate(aggregate) => Some(aggregate.mpdus.len() as u16),
            _ => None,
        };
        let (seq, retry) = match &frame.kind {
            FrameKind::Aggregate(aggregate) => {
                (aggregate.mpdus.first().map(|mpdu| mpdu.seq), Some(aggregate.mpdus.iter().any(|mpdu| mpdu.retry)))
            }
            FrameKind::BlockAck { start, .. } | FrameKind::BlockAckRequest { start, .. } => (Some(*start), None),
            FrameKind::Data { seq, retry, .. } => (Some(*seq), Some(*retry)),
            _ => (None, None),
        };
        let index = tx.0 as usize;
        if self.on_air.len() <= index {
            self.on_air.resize(index + 1, OnAir::default());
        }
        self.on_air[index] = OnAir { frame: self.frames, about };
        let end = now + frame.airtime;
        let (filter, number) = (&self.filter, self.number(node));
        if filter.takes_time(now, end) && filter.takes_node(number) && filter.takes_flow(about.flow) {
            self.tables.frames.push(tables::Frame {
                frame: self.frames,
                node: number,
                start_ns: nanos(now),
                end_ns: nanos(end),
                kind,
                dst: frame.dst.node().map(|dst| self.stations.node(dst).0),
                rate_bps: frame.rate.bps() as i64,
                bytes: bytes as u32,
                nav_ns: frame.duration.as_nanos() as i64,
                seq,
                retry,
                mpdus,
                packet: about.packet,
                flow: about.flow,
                content: about.content,
            });
        }
        self.frames += 1;
    }

    fn received(&mut self, now: Time, copy: Copy, frame: &Frame) {
        let for_us = frame.dst == copy.node.mac();
        let is_answered = matches!(
            frame.kind,
            FrameKind::Rts | FrameKind::Data { .. } | FrameKind::Aggregate(_) | FrameKind::BlockAckRequest { .. }
        );
        if for_us && is_answered {
            let seen_at = self.seen_at(copy.node);
            self.nodes[seen_at].answers = self.on_air[copy.tx.0 as usize].about;
        }
        let fate = if for_us || frame.dst.is_broadcast() { "received" } else { "overheard" };
        self.reception(now, copy, frame, fate);
    }

    fn lost(&mut self, now: Time, copy: Copy, frame: &Frame, reason: DropReason) {
        self.reception(now, copy, frame, reason.name());
    }

    fn ear(&mut self, now: Time, node: NodeId, ear: &Ear, receiving: bool) {
        let sifs_ends = self.nodes[self.seen_at(node)].timeline.sifs_ends();
        self.sight(now, node, ear, receiving, sifs_ends);
    }

    fn node(&mut self, now: Time, id: NodeId, node: &Node, ear: &Ear, receiving: bool) {
        let (station, (id, radio)) = (id, self.stations.owner(id));
        self.sight(now, station, ear, receiving, node.mac_at(radio).sifs_ends());
        let holds = |note: &Note| node.mac_at(radio).msdus().any(|msdu| number_in(msdu) == note.number);
        self.sent_from_hand(now, station, holds);
        // With several radios, this reveals which one has taken a packet.
        if !self.nodes[id.index()].heads.is_empty() {
            let taken: Vec<Note> = self.nodes[id.index()].heads.extract_if(.., |note| holds(note)).collect();
            let seen_at = self.seen_at(station);
            self.nodes[seen_at].in_hand.extend(taken);
        }
        let discipline = node.wired_side().and_then(|wired| wired.discipline());
        let waiting = [
            (0..node.radios()).map(|radio| node.link_at(radio).queue_len() as u32).sum(),
            node.router().buffered() as u32,
            discipline.map_or(0, |discipline| discipline.queued() as u32),
        ];
        let before = std::mem::replace(&mut self.nodes[id.index()].waiting, waiting);
        for (queue, (was, is)) in QUEUES.into_iter().zip(before.into_iter().zip(waiting)) {
            if was != is {
                self.queue(now, id.0, queue, None, is);
            }
        }
        self.ends(now, id.0, node.endpoints());
    }

    fn host(&mut self, now: Time, id: NodeId, host: &Host) {
        self.ends(now, self.number(id), host.endpoints());
    }

    fn noted(&mut self, now: Time, node: NodeId, note: &Note) {
        self.write_due(now);
        let number = self.number(node);
        let flow = match note.step {
            Step::Created => {
                let (stations, radios, count) = (&self.stations, self.radios, self.nodes.len());
                self.flows.of_new(note, |address| number_of(address, stations, radios, count))
            }
            _ => self.flows.of(note),
        };
        let seen = &mut self.nodes[number as usize];
        if let (6, Some((flow, _)), Step::Created | Step::Delivered) = (note.protocol, flow, note.step) {
            seen.segments.push((flow, note.step == Step::Created, *note));
        }
        match note.step {
            Step::Head if self.stations.of(node).nth(1).is_some() => seen.heads.push(*note),
            Step::Head => {
                if !self.several {
                    self.sent_from_hand(now, node, |_| false);
                }
                self.nodes[number as usize].in_hand.push(*note);
            }
            Step::Failed(reason) | Step::Dropped(reason) if reason.layer() == Layer::Mac => {
                for station in self.stations.of(node) {
                    let seen_at = self.seen_at(station);
                    self.nodes[seen_at].in_hand.retain(|one| one.number != note.number);
                }
            }
            _ => {}
        }
        let flow = flow.map(|(flow, _)| flow);
        let done = match note.step {
            Step::Created | Step::Emitted => ("created", None, None),
            Step::Queued(peer) => ("queued", None, peer),
            Step::Head => ("head", None, None),
            Step::Failed(reason) => ("failed", Some(reason), None),
            Step::Received(peer) => ("received", None, peer),
            Step::WireOut(peer) => ("wire-out", None, Some(peer)),
            Step::WireIn(peer) => ("wire-in", None, Some(peer)),
            Step::Delivered => ("delivered", None, None),
            Step::Absorbed => ("absorbed", None, None),
            Step::Dropped(reason) => ("dropped", Some(reason), None),
        };
        self.step(now, number, note, flow, done);
    }

    fn route(&mut self, now: Time, node: NodeId, destination: Ipv4Addr, way: Option<(Ipv4Addr, u8)>) {
        let number = self.number(node);
        let Some(destination) = self.number_of(destination) else { return };
        if self.filter.takes_node(number) && self.filter.takes_time(now, now) {
            self.tables.routes.push(tables::Route {
                node: number,
                time_ns: nanos(now),
                destination,
                next_hop: way.and_then(|(next_hop, _)| self.number_of(next_hop)),
                hops: way.map(|(_, hops)| hops.into()),
                up: way.is_some(),
            });
        }
    }

    fn wire_queue(&mut self, now: Time, node: NodeId, to: NodeId, packets: usize) {
        let (node, to, packets) = (self.number(node), self.number(to), packets as u32);
        let before = self.wires.insert((node, to), packets).unwrap_or(0);
        if before != packets {
            self.queue(now, node, "wire", Some(to), packets);
        }
    }

    fn begun(&mut self, nodes: &[Node]) {
        self.note_static_routes(nodes);
    }

    fn passed(&mut self, now: Time) {
        self.write_due(now);
    }

    fn finish(&mut self, now: Time) -> Result<(), io::Error> {
        self.note_places(now);
        let Recorder { nodes, tables, filter, clock, radios, .. } = self;
        for (node, seen) in (0..*radios).zip(nodes) {
            let takes_node = filter.takes_node(node);
            let mut out = |interval| push_interval(tables, filter, takes_node, node, interval);
            seen.timeline.finish(now, *clock, &mut out);
        }
        self.flush();
        let meta = self.meta.by_now(now, true, &self.flows.about, &self.tables.counts());
        let done = self.sink.finish(&meta);
        keep_first(&mut self.error, done);
        self.error.take().map_or(Ok(()), Err)
    }
}

impl Recorder {
    fn reception(&mut self, now: Time, copy: Copy, frame: &Frame, fate: &'static str) {
        let OnAir { frame: number, about } = self.on_air[copy.tx.0 as usize];
        let start = Time::from_nanos(now.as_nanos() - frame.airtime.as_nanos());
        let (filter, node) = (&self.filter, self.number(copy.node));
        if filter.takes_time(start, now) && filter.takes_node(node) && filter.takes_flow(about.flow) {
            self.tables.receptions.push(tables::Reception {
                frame: number,
                node,
                start_ns: nanos(start),
                end_ns: nanos(now),
                power_dbm: copy.power.to_dbm().0 as f32,
                fate,
            });
        }
    }
}
