//! One capture file per node: radiotap headers (link type 127), nanosecond time stamps, frames as the node sent and
//! received them. Frames sent are stamped with their beginning, frames received with their end.
//!
//! One more for each end of a wired link: bare IPv4 packets (link type 101). Packets sent are stamped with the instant
//! at which the queue takes them, packets received with their end; packets that find the queue full are not included.

use super::{Tap, WireEnd};
use fourhop_proto::wire::{Frame, Ipv4Packet, encode};
use fourhop_units::{NodeId, Rate, Time, Watt};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

type Writer = PcapWriter<BufWriter<File>>;

/// Capture files of a run.
pub struct PcapFolder {
    writers: Vec<Option<Writer>>,
    wires: Vec<(WireEnd, Writer)>,
    frequency_mhz: u16,
    buffer: Vec<u8>,
    error: Option<io::Error>,
}

impl PcapFolder {
    /// Creates `folder`/node-N.pcap for each of `nodes` of a network of `count` nodes on a carrier of `frequency_mhz`.
    ///
    /// # Errors
    /// If the folder or a file cannot be made.
    pub fn create(
        folder: &Path,
        count: usize,
        nodes: impl Iterator<Item = NodeId>,
        frequency_mhz: u16,
    ) -> io::Result<PcapFolder> {
        std::fs::create_dir_all(folder)?;
        let mut writers: Vec<_> = (0..count).map(|_| None).collect();
        for node in nodes {
            let path = folder.join(format!("node-{node}.pcap"));
            writers[node.index()] = Some(begin(&path, DataLink::IEEE802_11_RADIOTAP)?);
        }
        Ok(PcapFolder { writers, wires: Vec::new(), frequency_mhz, buffer: Vec::new(), error: None })
    }

    /// Creates a file for each of these ends of wired links as well, named as given.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn with_wires(
        mut self,
        folder: &Path,
        ends: impl Iterator<Item = (WireEnd, String)>,
    ) -> io::Result<PcapFolder> {
        for (end, name) in ends {
            self.wires.push((end, begin(&folder.join(format!("{name}.pcap")), DataLink::RAW)?));
        }
        self.wires.sort_by_key(|&(end, _)| end);
        Ok(self)
    }

    fn write(&mut self, now: Time, node: NodeId, power: Option<Watt>, frame: &Frame) {
        let Some(Some(writer)) = self.writers.get_mut(node.index()) else { return };
        self.buffer.clear();
        radiotap(frame.rate, self.frequency_mhz, power, &mut self.buffer);
        encode::frame(frame, &mut self.buffer);
        if let Err(error) = record(writer, now, &self.buffer) {
            self.error.get_or_insert(error);
        }
    }
}

impl Tap for PcapFolder {
    fn sent(&mut self, now: Time, node: NodeId, frame: &Frame) {
        self.write(now, node, None, frame);
    }

    fn received(&mut self, now: Time, node: NodeId, power: Watt, frame: &Frame) {
        self.write(now, node, Some(power), frame);
    }

    fn wired(&mut self, now: Time, end: WireEnd, packet: &Ipv4Packet) {
        let Ok(at) = self.wires.binary_search_by_key(&end, |&(end, _)| end) else { return };
        self.buffer.clear();
        encode::packet(packet, &mut self.buffer);
        if let Err(error) = record(&mut self.wires[at].1, now, &self.buffer) {
            self.error.get_or_insert(error);
        }
    }

    fn finish(&mut self) -> Result<(), io::Error> {
        let wires = self.wires.drain(..).map(|(_, writer)| writer);
        for writer in self.writers.drain(..).flatten().chain(wires) {
            io::Write::flush(&mut writer.into_writer())?;
        }
        self.error.take().map_or(Ok(()), Err)
    }
}

fn begin(path: &Path, datalink: DataLink) -> io::Result<Writer> {
    let header = PcapHeader {
        datalink,
        endianness: Endianness::Little,
        ts_resolution: TsResolution::NanoSecond,
        ..PcapHeader::default()
    };
    PcapWriter::with_header(BufWriter::new(File::create(path)?), header).map_err(into_io)
}

fn record(writer: &mut Writer, now: Time, bytes: &[u8]) -> io::Result<()> {
    let stamp = Duration::from_nanos(now.as_nanos());
    writer.write_packet(&PcapPacket::new(stamp, bytes.len() as u32, bytes)).map(|_| ()).map_err(into_io)
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// Appends a radiotap header (radiotap.org): flags, rate, channel and, for received frames, the signal.
fn radiotap(rate: Rate, frequency_mhz: u16, power: Option<Watt>, out: &mut Vec<u8>) {
    const FLAGS: u32 = 1 << 1;
    const RATE: u32 = 1 << 2;
    const CHANNEL: u32 = 1 << 3;
    const SIGNAL: u32 = 1 << 5;
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
    out.extend([0, rate_code]);
    out.extend(frequency_mhz.to_le_bytes());
    out.extend(modulation.to_le_bytes());
    out.extend(power.map(|power| power.to_dbm().0.round().clamp(-128.0, 127.0) as i8 as u8));
}
