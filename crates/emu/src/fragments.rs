//! Fragmentation, for a device whose MTU is larger than what the network carries (RFC 791 section 3.2).
//!
//! Leaves out: that some options belong in the first fragment only. All fragments have them.

use etherparse::{IpFragOffset, Ipv4Header, Ipv4HeaderSlice};

/// The unit of a fragment's offset, in bytes.
const UNIT: usize = 8;

/// Splits an IPv4 packet into fragments no longer than `mtu`. `None` if it is not a whole packet or must not be
/// fragmented.
pub fn fragments(packet: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let slice = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let header = slice.to_header();
    let start = header.header_len();
    let content = packet.get(start..usize::from(header.total_len))?;
    let step = mtu.checked_sub(start)? / UNIT * UNIT;
    if header.dont_fragment || step == 0 {
        return None;
    }
    let first = usize::from(header.fragment_offset.value());
    let mut made = Vec::new();
    for (number, piece) in content.chunks(step).enumerate() {
        let offset = u16::try_from(first + number * step / UNIT).ok()?;
        let mut own = Ipv4Header {
            total_len: u16::try_from(start + piece.len()).ok()?,
            fragment_offset: IpFragOffset::try_new(offset).ok()?,
            more_fragments: header.more_fragments || (number + 1) * step < content.len(),
            ..header.clone()
        };
        own.header_checksum = own.calc_header_checksum();
        made.push([&own.to_bytes()[..], piece].concat());
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn packet(payload: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let content: Vec<u8> = (0..payload).map(|n| n as u8).collect();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9).udp(1, 2).write(&mut bytes, &content).unwrap();
        bytes[6] = 0;
        let sum = Ipv4HeaderSlice::from_slice(&bytes).unwrap().to_header().calc_header_checksum();
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn the_fragments_of_fragments_make_up_the_packet() {
        let whole = packet(4_000);
        let pieces: Vec<_> =
            fragments(&whole, 1_500).unwrap().iter().flat_map(|piece| fragments(piece, 700).unwrap()).collect();
        let mut content: Vec<u8> = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            let header = Ipv4HeaderSlice::from_slice(piece).unwrap().to_header();
            assert!(piece.len() <= 700 && piece.len() == usize::from(header.total_len));
            assert_eq!(usize::from(header.fragment_offset.value()) * UNIT, content.len());
            assert_eq!(header.more_fragments, number + 1 < pieces.len());
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            content.extend(&piece[20..]);
        }
        assert_eq!(content, whole[20..]);
    }

    #[test]
    fn what_forbids_it_and_what_is_no_packet_stays_whole() {
        let mut whole = packet(4_000);
        assert_eq!(fragments(&whole[..3_000], 1_500), None);
        assert_eq!(fragments(&whole, 27), None, "not a unit fits");
        whole[6] = 0x40;
        assert_eq!(fragments(&whole, 1_500), None);
        assert_eq!(fragments(&[0x45; 19], 1_500), None);
    }
}
