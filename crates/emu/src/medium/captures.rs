//! Captures of the air: a folder for each channel, with a file that has an interface for each node.
//!
//! They contain the kernel's frames unchanged, at every attempt. RTS, CTS and acknowledgements are the medium's own and
//! name nodes: here they get the addresses of the kernel's interfaces.

use super::hwsim::Address;
use crate::EmulationError;
use fourhop_live::Tried;
use fourhop_proto::drop::DropReason;
use fourhop_proto::wire::Frame;
use fourhop_sim::trace::{CaptureForm, Copy, PcapFolder, Tap, TxId};
use fourhop_units::{MacAddr, NodeId, Time};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Addresses of interfaces, keyed by those of their nodes in the simulated network.
type Addresses = Arc<Mutex<HashMap<MacAddr, MacAddr>>>;

/// Where captures go.
#[derive(Debug)]
pub struct Captures {
    folder: PathBuf,
    nodes: Vec<String>,
    addresses: Addresses,
}

impl Captures {
    /// Writes captures of these nodes into a folder.
    pub fn new(folder: PathBuf, nodes: Vec<String>) -> Captures {
        Captures { folder, nodes, addresses: Addresses::default() }
    }

    /// Records the two addresses of a frame's sender and receiver: in the simulated network, and the kernel's.
    pub fn learn(&self, from: (MacAddr, Address), to: (MacAddr, Address)) {
        let mut known = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend([from, to].map(|(node, address)| (node, MacAddr(address))));
    }

    /// Begins the capture of a channel.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn tap(&self, frequency: u32) -> Result<Box<dyn Tap>, EmulationError> {
        let folder = self.folder.join(frequency.to_string());
        let form = CaptureForm { merged: true, lost: false };
        let nodes = self.nodes.iter().map(|name| Some((name.clone(), frequency as u16)));
        let files = PcapFolder::create(&folder, form, nodes, std::iter::empty())
            .tried(|| format!("cannot write captures to {}", folder.display()))?;
        Ok(Box::new(Named { files, addresses: self.addresses.clone() }))
    }
}

/// Captures with the addresses of interfaces.
struct Named {
    files: PcapFolder,
    addresses: Addresses,
}

impl Named {
    fn named(&self, frame: &Frame) -> Frame {
        let known = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |address: MacAddr| known.get(&address).copied().unwrap_or(address);
        Frame { src: of(frame.src), dst: of(frame.dst), ..frame.clone() }
    }
}

impl Tap for Named {
    fn sent(&mut self, now: Time, node: NodeId, tx: TxId, frame: &Frame) {
        let frame = self.named(frame);
        self.files.sent(now, node, tx, &frame);
    }

    fn received(&mut self, now: Time, copy: Copy, frame: &Frame) {
        let frame = self.named(frame);
        self.files.received(now, copy, &frame);
    }

    fn lost(&mut self, now: Time, copy: Copy, frame: &Frame, reason: DropReason) {
        let frame = self.named(frame);
        self.files.lost(now, copy, &frame, reason);
    }

    fn finish(&mut self, now: Time) -> io::Result<()> {
        self.files.finish(now)
    }
}
