//! One capture file per node: radiotap headers (link type 127), nanosecond time stamps, frames as the node sent and
//! received them. Frames sent are stamped with their beginning, frames received with their end.

use super::Tap;
use fourhop_proto::wire::{Frame, encode};
use fourhop_units::{NodeId, Rate, Time, Watt};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

/// Capture files of a run.
pub struct PcapFolder {
    writers: Vec<Option<PcapWriter<BufWriter<File>>>>,
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
            let header = PcapHeader {
                datalink: DataLink::IEEE802_11_RADIOTAP,
                endianness: Endianness::Little,
                ts_resolution: TsResolution::NanoSecond,
                ..PcapHeader::default()
            };
            let file = File::create(folder.join(format!("node-{node}.pcap")))?;
            let writer = PcapWriter::with_header(BufWriter::new(file), header).map_err(into_io)?;
            writers[node.index()] = Some(writer);
        }
        Ok(PcapFolder { writers, frequency_mhz, buffer: Vec::new(), error: None })
    }

    fn write(&mut self, now: Time, node: NodeId, power: Option<Watt>, frame: &Frame) {
        let Some(Some(writer)) = self.writers.get_mut(node.index()) else { return };
        self.buffer.clear();
        radiotap(frame.rate, self.frequency_mhz, power, &mut self.buffer);
        encode::frame(frame, &mut self.buffer);
        let stamp = Duration::from_nanos(now.as_nanos());
        let record = PcapPacket::new(stamp, self.buffer.len() as u32, &self.buffer);
        if let Err(error) = writer.write_packet(&record) {
            self.error.get_or_insert(into_io(error));
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

    fn finish(&mut self) -> Result<(), io::Error> {
        for writer in self.writers.drain(..).flatten() {
            io::Write::flush(&mut writer.into_writer())?;
        }
        self.error.take().map_or(Ok(()), Err)
    }
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
