//! The packet of a transport that wants no answer.

use super::TransportPacket;

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TricklePacket {
    /// Of sender and receiver.
    pub ports: (u16, u16),
    /// Counts those of a flow.
    pub number: u32,
}

impl TricklePacket {
    /// Bytes of payload.
    pub const fn payload(&self) -> u32 {
        500
    }
}

impl TransportPacket for TricklePacket {
    const PROTOCOL: u8 = 254;

    fn ports(&self) -> (u16, u16) {
        self.ports
    }

    fn size(&self) -> u32 {
        8 + self.payload()
    }

    fn encode(&self, _src: [u8; 4], _dst: [u8; 4], out: &mut Vec<u8>) {
        let end = out.len() + self.size() as usize;
        out.extend(self.ports.0.to_be_bytes());
        out.extend(self.ports.1.to_be_bytes());
        out.extend(self.number.to_be_bytes());
        out.resize(end, 0);
    }
}
