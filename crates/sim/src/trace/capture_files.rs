//! Files for captures: one pcap file per interface (a node, or the end of a wire), or one pcapng file for all of them.
//! Time stamps are in nanoseconds in both.
//!
//! Sources: draft-ietf-opsawg-pcap (magic number 0xa1b23c4d); draft-ietf-opsawg-pcapng, sections 4.2 (interfaces with
//! their names, `if_tsresol` 9) and 4.3 (packets, `epb_flags` with the direction).

use fourhop_units::Time;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

type Output = BufWriter<File>;

/// Name of the file with all interfaces.
const MERGED: &str = "capture.pcapng";
/// Bit in `epb_flags` for a bad checksum of the link layer.
const CRC_ERROR: u32 = 1 << 24;

/// The direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Received: 1 in `epb_flags`.
    In,
    /// Sent: 2 in `epb_flags`.
    Out,
    /// Not known, as for a wire.
    Unknown,
}

/// The open files of a folder.
pub enum CaptureFiles {
    /// Separate files, by the number of their interface.
    Apart(PathBuf, Vec<PcapWriter<Output>>),
    /// One file, and its number of interfaces.
    Merged(PcapNgWriter<Output>, u32),
}

impl CaptureFiles {
    /// Creates files in `folder`, and the folder if it does not exist.
    pub fn create(folder: &Path, merged: bool) -> io::Result<CaptureFiles> {
        std::fs::create_dir_all(folder)?;
        if !merged {
            return Ok(CaptureFiles::Apart(folder.to_owned(), Vec::new()));
        }
        let output = BufWriter::new(File::create(folder.join(MERGED))?);
        let writer = PcapNgWriter::with_endianness(output, Endianness::Little).map_err(into_io)?;
        Ok(CaptureFiles::Merged(writer, 0))
    }

    /// Adds an interface; returns its number.
    pub fn add(&mut self, name: &str, datalink: DataLink) -> io::Result<u32> {
        match self {
            CaptureFiles::Apart(folder, writers) => {
                let header = PcapHeader {
                    datalink,
                    endianness: Endianness::Little,
                    ts_resolution: TsResolution::NanoSecond,
                    ..PcapHeader::default()
                };
                let output = BufWriter::new(File::create(folder.join(format!("{name}.pcap")))?);
                writers.push(PcapWriter::with_header(output, header).map_err(into_io)?);
                Ok(writers.len() as u32 - 1)
            }
            CaptureFiles::Merged(writer, count) => {
                let options =
                    vec![InterfaceDescriptionOption::IfName(name.into()), InterfaceDescriptionOption::IfTsResol(9)];
                let interface = InterfaceDescriptionBlock { linktype: datalink, snaplen: 0, options };
                writer.write_pcapng_block(interface).map_err(into_io)?;
                *count += 1;
                Ok(*count - 1)
            }
        }
    }

    /// Records a packet at an interface. `lost` is the reason of its reception errors, if any, which only pcapng can
    /// express.
    pub fn record(
        &mut self,
        interface: u32,
        now: Time,
        bytes: &[u8],
        direction: Direction,
        lost: Option<&str>,
    ) -> io::Result<()> {
        let stamp = Duration::from_nanos(now.as_nanos());
        let written = match self {
            CaptureFiles::Apart(_, writers) => {
                writers[interface as usize].write_packet(&PcapPacket::new(stamp, bytes.len() as u32, bytes))
            }
            CaptureFiles::Merged(writer, _) => {
                let way = match direction {
                    Direction::Unknown => 0,
                    Direction::In => 1,
                    Direction::Out => 2,
                };
                let flags = EnhancedPacketOption::Flags(way | if lost.is_some() { CRC_ERROR } else { 0 });
                let why = lost.map(|reason| EnhancedPacketOption::Comment(format!("lost: {reason}").into()));
                writer.write_pcapng_block(EnhancedPacketBlock {
                    interface_id: interface,
                    timestamp: stamp,
                    original_len: bytes.len() as u32,
                    data: Cow::Borrowed(bytes),
                    options: [flags].into_iter().chain(why).collect(),
                })
            }
        };
        written.map(|_| ()).map_err(into_io)
    }

    /// Finishes all files.
    pub fn finish(self) -> io::Result<()> {
        match self {
            CaptureFiles::Apart(_, writers) => writers.into_iter().try_for_each(|writer| writer.into_writer().flush()),
            CaptureFiles::Merged(writer, _) => writer.into_inner().flush(),
        }
    }
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
