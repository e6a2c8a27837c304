//! Captures of a run: radiotap headers (link type 127) with the frames that nodes sent and received; for each end of a
//! wired link bare IPv4 packets (link type 101). One file for each of them, or one for all ([`CaptureFiles`]).
//!
//! A sent frame is stamped with the instant at which it begins, a received frame with the instant at which its last bit
//! has arrived, as in capturing hardware: at a receiver the same frame is later by its air time and the propagation
//! delay. A packet on a wire is stamped with the instant at which the queue accepts it, and at the other end with that
//! of its last bit; packets that find the queue full are not included.
//!
//! Optionally, a copy that is lost to other frames or to noise is included too, with radiotap's flag for a bad frame
//! check sequence. Its content is that of the sent frame, because bit errors are not simulated.

use super::capture_files::{CaptureFiles, Direction};
use super::radiotap;
use super::{Copy, Interest, Tap, TxId, WireEnd};
use fourhop_proto::drop::DropReason;
use fourhop_proto::wire::{Aggregate, Frame, FrameKind, Ipv4Packet, encode};
use fourhop_units::{NodeId, Time, Watt};
use pcap_file::DataLink;
use std::io;
use std::path::Path;

/// Format of captures.
#[derive(Clone, Copy, Default, Debug)]
pub struct CaptureForm {
    /// Whether to write one file for all nodes, with an interface for each, instead of one file per node.
    pub merged: bool,
    /// Whether to include frames that a receiver lost to a collision or to noise.
    pub lost: bool,
}

/// The captures of a run.
pub struct PcapFolder {
    files: Option<CaptureFiles>,
    /// Interfaces of the captured stations, and their carriers in megahertz.
    radios: Vec<Option<(u32, u16)>>,
    /// Interfaces of the ends of wires, in order.
    wires: Vec<(WireEnd, u32)>,
    lost: bool,
    /// Number of aggregates written; it identifies them.
    aggregates: u32,
    buffer: Vec<u8>,
    error: Option<io::Error>,
}

impl PcapFolder {
    /// Creates the files in `folder` for `stations`, each with its name and its carrier in megahertz if it is captured,
    /// and for the ends of `wires`, with these names.
    ///
    /// # Errors
    /// If the folder or a file cannot be created.
    pub fn create(
        folder: &Path,
        form: CaptureForm,
        stations: impl Iterator<Item = Option<(String, u16)>>,
        wires: impl Iterator<Item = (WireEnd, String)>,
    ) -> io::Result<PcapFolder> {
        let mut files = CaptureFiles::create(folder, form.merged)?;
        let mut radios = Vec::new();
        for station in stations {
            radios.push(match station {
                Some((name, carrier)) => Some((files.add(&name, DataLink::IEEE802_11_RADIOTAP)?, carrier)),
                None => None,
            });
        }
        let ends = wires.map(|(end, name)| Ok((end, files.add(&name, DataLink::RAW)?)));
        let mut wires = ends.collect::<io::Result<Vec<_>>>()?;
        wires.sort_by_key(|&(end, _)| end);
        let files = Some(files);
        Ok(PcapFolder { files, radios, wires, lost: form.lost, aggregates: 0, buffer: Vec::new(), error: None })
    }

    /// Returns the parts of a run that it records.
    pub fn interest(&self) -> Interest {
        let losses = if self.lost { is_shown } else { |_| false };
        Interest { nodes: self.radios.iter().map(Option::is_some).collect(), losses }
    }

    /// Records a frame that the station `node` sent, or received with a power, correctly or not.
    fn frame(&mut self, now: Time, node: NodeId, power: Option<Watt>, frame: &Frame, lost: Option<DropReason>) {
        self.frame_of(now, node, power, frame, u64::MAX, lost);
    }

    /// The same; for an aggregate, one frame per MPDU, with `arrived` for the intact ones.
    fn frame_of(
        &mut self,
        now: Time,
        node: NodeId,
        power: Option<Watt>,
        frame: &Frame,
        arrived: u64,
        lost: Option<DropReason>,
    ) {
        let Some(&Some((interface, carrier_mhz))) = self.radios.get(node.index()) else { return };
        if let FrameKind::Aggregate(aggregate) = &frame.kind {
            return self.aggregate(((interface, carrier_mhz), now, power, lost), frame, aggregate, arrived);
        }
        self.buffer.clear();
        radiotap::by_rate(frame.rate, carrier_mhz, (power, lost.is_some()), &mut self.buffer);
        encode::frame(frame, &mut self.buffer);
        let direction = if power.is_some() { Direction::In } else { Direction::Out };
        self.record(interface, now, direction, lost);
    }

    /// Records each MPDU separately, as capturing hardware does.
    fn aggregate(
        &mut self,
        ((interface, carrier_mhz), now, power, lost): ((u32, u16), Time, Option<Watt>, Option<DropReason>),
        frame: &Frame,
        aggregate: &Aggregate,
        arrived: u64,
    ) {
        self.aggregates += 1;
        let direction = if power.is_some() { Direction::In } else { Direction::Out };
        for (place, mpdu) in aggregate.mpdus.iter().enumerate() {
            let lost = lost.or((arrived >> place & 1 == 0).then_some(DropReason::FrameError));
            if lost.is_some() && !self.lost {
                continue;
            }
            let last = place + 1 == aggregate.mpdus.len();
            let number = (aggregate.mpdus.len() > 1).then_some((self.aggregates, last));
            self.buffer.clear();
            radiotap::by_mcs(aggregate.mcs, number, carrier_mhz, (power, lost.is_some()), &mut self.buffer);
            encode::mpdu(frame, mpdu, &mut self.buffer);
            self.record(interface, now, direction, lost);
        }
    }

    /// Writes the contents of the buffer.
    fn record(&mut self, interface: u32, now: Time, direction: Direction, lost: Option<DropReason>) {
        let Some(files) = &mut self.files else { return };
        if let Err(error) = files.record(interface, now, &self.buffer, direction, lost.map(DropReason::name)) {
            self.error.get_or_insert(error);
        }
    }
}

impl Tap for PcapFolder {
    fn sent(&mut self, now: Time, node: NodeId, _tx: TxId, frame: &Frame) {
        self.frame(now, node, None, frame, None);
    }

    fn received(&mut self, now: Time, copy: Copy, frame: &Frame) {
        self.frame_of(now, copy.node, Some(copy.power), frame, copy.arrived, None);
    }

    fn lost(&mut self, now: Time, copy: Copy, frame: &Frame, reason: DropReason) {
        if self.lost && is_shown(reason) {
            self.frame(now, copy.node, Some(copy.power), frame, Some(reason));
        }
    }

    fn wired(&mut self, now: Time, end: WireEnd, packet: &Ipv4Packet) {
        let Ok(at) = self.wires.binary_search_by_key(&end, |&(end, _)| end) else { return };
        self.buffer.clear();
        encode::packet(packet, &mut self.buffer);
        self.record(self.wires[at].1, now, Direction::Unknown, None);
    }

    fn finish(&mut self, _now: Time) -> Result<(), io::Error> {
        self.files.take().map_or(Ok(()), CaptureFiles::finish)?;
        self.error.take().map_or(Ok(()), Err)
    }
}

/// Whether a copy lost for this reason may be included; a copy that was too weak is not.
fn is_shown(reason: DropReason) -> bool {
    matches!(reason, DropReason::Collision | DropReason::FrameError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
    use fourhop_proto::wire::{ArpMessage, ArpOperation, Category, Mpdu, Msdu, Payload};
    use fourhop_units::{Bytes, Dur};

    /// Returns the packets that a node's capture of one aggregate of two contains.
    fn recorded(arrived: u64, lost: bool) -> Vec<Vec<u8>> {
        let name = format!("fourhop-pcap-{}-{arrived}-{lost}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let form = CaptureForm { merged: false, lost };
        let station = [Some(("n1".to_owned(), 5180))].into_iter();
        let mut captures = PcapFolder::create(&folder, form, station, [].into_iter()).unwrap();
        let mcs = Mcs::new(Format::Ht, 7, 1, Width::Mhz20, Guard::Ns800).unwrap();
        let (sender_mac, sender_ip, target_ip) = (NodeId(1).mac(), NodeId(1).ipv4(), NodeId(0).ipv4());
        let operation = ArpOperation::Request;
        let arp = ArpMessage { operation, sender_mac, sender_ip, target_mac: None, target_ip };
        let first = Msdu { dst: NodeId(0).mac(), len: Bytes(40), payload: Payload::Arp(arp) };
        let mpdu = |seq| Mpdu { seq, retry: false, len: Bytes(78), first: first.clone(), more: Vec::new() };
        let aggregate = Aggregate { mcs, category: Category::Be, mpdus: vec![mpdu(1), mpdu(2)] };
        let kind = FrameKind::Aggregate(Box::new(aggregate));
        let (dst, src) = (NodeId(0).mac(), NodeId(1).mac());
        let frame = Frame { dst, src, duration: Dur::ZERO, rate: mcs.rate(), airtime: Dur::ZERO, kind };
        let copy = Copy { node: NodeId(0), tx: TxId(0), power: Watt(1e-9), arrived };
        captures.received(Time::ZERO, copy, &frame);
        captures.finish(Time::ZERO).unwrap();
        let bytes = std::fs::read(folder.join("n1.pcap")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        // A header of 24 bytes; 16 bytes before each packet, whose third number is its length.
        let mut rest = &bytes[24..];
        std::iter::from_fn(|| {
            let len = u32::from_le_bytes(rest.get(8..12)?.try_into().ok()?) as usize;
            let packet = rest[16..16 + len].to_vec();
            rest = &rest[16 + len..];
            Some(packet)
        })
        .collect()
    }

    #[test]
    fn of_an_aggregate_only_intact_packets_are_captured() {
        let count = |arrived, lost| recorded(arrived, lost).len();
        assert_eq!([0b11, 0b01, 0b10, 0].map(|arrived| count(arrived, false)), [2, 1, 1, 0]);
        assert_eq!([0b11, 0b01, 0b10, 0].map(|arrived| count(arrived, true)), [2, 2, 2, 2]);
    }

    /// In radiotap's A-MPDU status, which follows 15 bytes of common fields, three of the MCS and two of padding.
    #[test]
    fn the_packets_of_an_aggregate_have_its_number_and_the_last_says_so() {
        let status = |packet: &Vec<u8>| packet[20..26].to_vec();
        let statuses: Vec<_> = recorded(0b10, true).iter().map(status).collect();
        assert_eq!(statuses, [[1, 0, 0, 0, 0x04, 0], [1, 0, 0, 0, 0x0C, 0]]);
    }
}
