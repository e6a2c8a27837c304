//! Packets as bytes look to a gateway like the simulator's packets.

use super::*;
use crate::wire::bytes::tests::{encoded, packets};
use proptest::prelude::*;

proptest! {
    /// The simulator's packet and its bytes show the same, and so do bytes that are cut off behind the headers.
    #[test]
    fn bytes_and_values_show_the_same(packet in packets()) {
        let mut bytes = encoded(&packet);
        for _whole_then_cut in 0..2 {
            prop_assert_eq!(bytes.tcp(), packet.tcp());
            prop_assert_eq!(bytes.five_tuple(), packet.five_tuple());
            prop_assert_eq!(Packet::len(&bytes), Packet::len(&packet));
            bytes.truncate(80);
        }
    }

    /// The option written into bytes is the encoding of the packet with the option, checksums included; and so is a
    /// second value over the first. Where it does not fit both stay as they were.
    #[test]
    fn the_option_in_bytes_is_the_option_of_the_packet(
        packet in packets(),
        millis: u16,
        again: u16,
        mtu in 1_000..1_600u32,
    ) {
        let (mut bytes, mut value) = (encoded(&packet), packet.clone());
        for millis in [millis, again] {
            let written = bytes.write_wired_rtt(millis, mtu);
            prop_assert_eq!(value.write_wired_rtt(millis, mtu), written);
            prop_assert_eq!(&bytes, &encoded(&value));
            let expected = if written { value.len() } else { packet.len() };
            prop_assert_eq!(Packet::len(&bytes), expected);
            prop_assert!(!written || Packet::len(&bytes) <= mtu);
        }
    }
}

/// Bytes that are not an IPv4 packet have a length, but no connection.
#[test]
fn garbage_has_a_length() {
    let garbage = vec![0x50; 48];
    assert_eq!((Packet::len(&garbage), garbage.five_tuple(), garbage.tcp()), (48, None, None));
}
