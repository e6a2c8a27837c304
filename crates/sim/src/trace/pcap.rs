//! Captures of a run: radiotap headers (link type 127) and frames as the nodes sent and received them; for each end of a wired
//! link bare IPv4 packets (link type 101). A file for each of them, or one for all ([`CaptureFiles`]).
//!
//! Frames sent are stamped with the instant at which they begin, frames received with the instant at which their last
//! bit has arrived, as capturing hardware stamps them: at a receiver the same frame is later by its air time and the
//! propagation delay. Packets on wires are stamped with the instant at which the queue takes them, and at the other end
//! with that of their last bit; packets that find the queue full are not included.
//!
//! On demand a copy that is lost to other frames or to noise is included too, with radiotap's flag for a bad frame check
//! sequence: with the content that was sent, because no bits are simulated.

use super::capture_files::{CaptureFiles, Direction};
use super::{Copy, Interest, Tap, TxId, WireEnd};
use fourhop_proto::drop::DropReason;
use fourhop_proto::phy::mcs::{Format, Guard, Mcs, Width};
use fourhop_proto::wire::{Aggregate, Frame, FrameKind, Ipv4Packet, encode};
use fourhop_units::{NodeId, Rate, Time, Watt};
use pcap_file::DataLink;
use std::io;
use std::path::Path;

/// What captures are like.
#[derive(Clone, Copy, Default, Debug)]
pub struct CaptureForm {
    /// One file for all nodes, with an interface for each of them, instead of a file each?
    pub merged: bool,
    /// Do frames show that were lost at a receiver to a collision or to noise?
    pub lost: bool,
}

/// The captures of a run.
pub struct PcapFolder {
    files: Option<CaptureFiles>,
    /// Interfaces of the stations that are captured, and their carriers in megahertz.
    radios: Vec<Option<(u32, u16)>>,
    /// Those of the ends of wires, in their order.
    wires: Vec<(WireEnd, u32)>,
    lost: bool,
    /// Aggregates written, which numbers them.
    aggregates: u32,
    buffer: Vec<u8>,
    error: Option<io::Error>,
}

impl PcapFolder {
    /// Creates the files in `folder` for `stations`, each with its name and its carrier in megahertz if it is captured, and for
    /// the ends of `wires`, named as given.
    ///
    /// # Errors
    /// If the folder or a file cannot be made.
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

    /// What of a run it looks at.
    pub fn interest(&self) -> Interest {
        let losses = if self.lost { is_shown } else { |_| false };
        Interest { nodes: self.radios.iter().map(Option::is_some).collect(), losses }
    }

    /// A frame that the station `node` sent, or received with a power, rightly or not.
    fn frame(&mut self, now: Time, node: NodeId, power: Option<Watt>, frame: &Frame, lost: Option<DropReason>) {
        self.frame_of(now, node, power, frame, u64::MAX, lost);
    }

    /// The same; of an aggregate each MPDU, of which `arrived` says whether it is right.
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
        radiotap(frame.rate, carrier_mhz, power, lost.is_some(), &mut self.buffer);
        encode::frame(frame, &mut self.buffer);
        let direction = if power.is_some() { Direction::In } else { Direction::Out };
        self.record(interface, now, direction, lost);
    }

    /// Each MPDU is a record of its own, as capturing hardware makes them.
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
            radiotap_with_mcs(aggregate.mcs, number, carrier_mhz, power, lost.is_some(), &mut self.buffer);
            encode::mpdu(frame, mpdu, &mut self.buffer);
            self.record(interface, now, direction, lost);
        }
    }

    /// Writes what stands in the buffer.
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

/// May a copy lost for this reason be included? Those that were too weak are not.
fn is_shown(reason: DropReason) -> bool {
    matches!(reason, DropReason::Collision | DropReason::FrameError)
}

/// Appends a radiotap header (radiotap.org): flags, rate, channel and, for received frames, the signal.
fn radiotap(rate: Rate, frequency_mhz: u16, power: Option<Watt>, bad_fcs: bool, out: &mut Vec<u8>) {
    const FLAGS: u32 = 1 << 1;
    const RATE: u32 = 1 << 2;
    const CHANNEL: u32 = 1 << 3;
    const SIGNAL: u32 = 1 << 5;
    /// In the flags: the frame check sequence, which is not there, was wrong.
    const BAD_FCS: u8 = 0x40;
    /// Channel flags: complementary code keying, OFDM.
    const CCK: u16 = 0x0020;
    const OFDM: u16 = 0x0040;
    let present = FLAGS | RATE | CHANNEL | if power.is_some() { SIGNAL } else { 0 };
    let len: u16 = if power.is_some() { 15 } else { 14 };
    // Rates are in steps of 500 kbit/s.
    let rate_code = (rate.bps() / 500_000).clamp(1, 255) as u8;
    let modulation = if rate.bps() > 11_000_000 { OFDM } else { CCK };
    out.extend([0, 0]);
    out.extend(len.to_le_bytes());
    out.extend(present.to_le_bytes());
    out.extend([if bad_fcs { BAD_FCS } else { 0 }, rate_code]);
    out.extend(frequency_mhz.to_le_bytes());
    out.extend(modulation.to_le_bytes());
    out.extend(power.map(|power| power.to_dbm().0.round().clamp(-128.0, 127.0) as i8 as u8));
}

/// The same for an MPDU sent by an MCS: the field MCS with HT, VHT with later formats (HE has a field of its own, which is left out), and
/// the number of the A-MPDU it is from.
fn radiotap_with_mcs(
    mcs: Mcs,
    aggregate: Option<(u32, bool)>,
    frequency_mhz: u16,
    power: Option<Watt>,
    bad_fcs: bool,
    out: &mut Vec<u8>,
) {
    const FLAGS: u32 = 1 << 1;
    const CHANNEL: u32 = 1 << 3;
    const SIGNAL: u32 = 1 << 5;
    const MCS: u32 = 1 << 19;
    const AMPDU: u32 = 1 << 20;
    const VHT: u32 = 1 << 21;
    const BAD_FCS: u8 = 0x40;
    const OFDM: u16 = 0x0040;
    /// A-MPDU status: it is known which subframe is the last; this is it.
    const LAST_KNOWN: u16 = 0x0004;
    const IS_LAST: u16 = 0x0008;
    let begins = out.len();
    let ht = mcs.format() == Format::Ht;
    let present = FLAGS
        | CHANNEL
        | if power.is_some() { SIGNAL } else { 0 }
        | if aggregate.is_some() { AMPDU } else { 0 }
        | match mcs.format() {
            Format::Ht => MCS,
            Format::Vht => VHT,
            Format::He => 0,
        };
    out.extend([0, 0, 0, 0]);
    out.extend(present.to_le_bytes());
    // Fields are aligned to their size.
    out.extend([if bad_fcs { BAD_FCS } else { 0 }, 0]);
    out.extend(frequency_mhz.to_le_bytes());
    out.extend(OFDM.to_le_bytes());
    out.extend(power.map(|power| power.to_dbm().0.round().clamp(-128.0, 127.0) as i8 as u8));
    let short = mcs.guard() == Guard::Ns400;
    if ht {
        // Known: bandwidth, index, guard interval.
        let flags = u8::from(mcs.width() == Width::Mhz40) | u8::from(short) << 2;
        out.extend([0x07, flags, mcs.index() + 8 * (mcs.streams() - 1)]);
    }
    if let Some((number, last)) = aggregate {
        out.resize(begins + (out.len() - begins).next_multiple_of(4), 0);
        out.extend(number.to_le_bytes());
        out.extend((LAST_KNOWN | if last { IS_LAST } else { 0 }).to_le_bytes());
        out.extend([0, 0]);
    }
    if mcs.format() == Format::Vht {
        out.resize(begins + (out.len() - begins).next_multiple_of(2), 0);
        // Known: guard interval and bandwidth.
        out.extend(0x0044u16.to_le_bytes());
        let width = match mcs.width() {
            Width::Mhz20 => 0,
            Width::Mhz40 => 1,
            Width::Mhz80 => 4,
        };
        out.extend([u8::from(short) << 2, width, mcs.index() << 4 | mcs.streams(), 0, 0, 0, 0, 0]);
        out.extend([0, 0]);
    }
    let len = (out.len() - begins) as u16;
    out[begins + 2..begins + 4].copy_from_slice(&len.to_le_bytes());
}
