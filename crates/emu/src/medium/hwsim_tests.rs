//! Bytes as laid out by the kernel's header, on a little-endian machine.
#![cfg(target_endian = "little")]

use super::*;

/// A beacon of radio 1 on channel 1, tried once at 1 Mbit/s.
fn sent() -> Vec<u8> {
    let mut bytes = vec![
        10, 0, 2, 0, 0x42, 0, 0, 0, 1, 0, 0, 0, // HWSIM_ATTR_ADDR_TRANSMITTER, filled to a word
        30, 0, 3, 0, 0x80, 0, 0, 0, 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 1, 0, // HWSIM_ATTR_FRAME
        9, 9, 9, 9, 9, 9, 0x10, 0, 7, 7, 0, 0, // its BSSID, sequence control, two bytes
        8, 0, 4, 0, 3, 0, 0, 0, // HWSIM_ATTR_FLAGS
        12, 0, 7, 0, 0, 1, 255, 0, 255, 0, 255, 0, // HWSIM_ATTR_TX_INFO
        16, 0, 21, 0, 0, 1, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, // HWSIM_ATTR_TX_INFO_FLAGS
        12, 0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0, // HWSIM_ATTR_COOKIE
    ];
    bytes.extend([8, 0, 19, 0, 0x6c, 0x09, 0, 0]); // HWSIM_ATTR_FREQ: 2412
    bytes
}

#[test]
fn a_frame_is_read() {
    let bytes = sent();
    let Ok(Message::Sent(frame)) = read(FRAME, &bytes) else { panic!("{:?}", read(FRAME, &bytes)) };
    assert_eq!((frame.radio, frame.cookie, frame.frequency), ([0x42, 0, 0, 0, 1, 0], 5, 2412));
    assert_eq!((frame.transmitter(), frame.receiver()), ([2, 0, 0, 0, 1, 0], [255; 6]));
    assert_eq!((frame.bytes.len(), frame.flags, frame.is_for_all(), frame.priority()), (26, 3, true, 7));
    assert!(frame.is_beacon());
    let [first, second, ..] = frame.tries;
    assert_eq!((first.index, first.count, first.has_rts(), second), (0, 1, true, Try::NONE));
    assert_eq!(first.rate(2412), Some(Rate::kbps(1_000)));
    assert_eq!(first.rate(5180), Some(Rate::kbps(6_000)), "at 5 GHz there is no DSSS");
}

#[test]
fn what_is_cut_off_or_lacks_something_is_refused() {
    let bytes = sent();
    for end in 0..bytes.len() {
        assert_eq!(read(FRAME, &bytes[..end]), Err(Refused::Incomplete), "{end}");
    }
    assert_eq!(read(99, &bytes), Err(Refused::Incomplete));
    // The same attributes with other frames.
    let of = |content: &[u8], frequency: u32| {
        let mut cut = bytes[..12].to_vec();
        attribute(&mut cut, CONTENT, content);
        cut.extend(&bytes[44..bytes.len() - 8]);
        attribute(&mut cut, FREQUENCY, &frequency.to_ne_bytes());
        read(FRAME, &cut).map(drop)
    };
    assert_eq!((of(&[0; 24], 2412), of(&[0; LONGEST], 5180)), (Ok(()), Ok(())));
    assert_eq!(of(&[0; 16], 2412), Err(Refused::Short), "an acknowledgement has one address");
    assert_eq!(of(&[0; LONGEST + 1], 2412), Err(Refused::Long));
    assert_eq!(of(&[0; 24], 920), Err(Refused::Band), "802.11ah has other rates");
}

#[test]
fn rates_of_802_11n_are_not_taken_for_others() {
    let ht = Try { index: 3, count: 2, flags: HT };
    assert_eq!((ht.rate(2412), Try { flags: 0, ..ht }.rate(2412)), (None, Some(Rate::kbps(11_000))));
    assert_eq!(Try { flags: VHT, ..ht }.rate(5180), None);
    assert_eq!(Try { index: 12, count: 1, flags: 0 }.rate(2412), None, "there are twelve");
    assert_eq!(Try::NONE.rate(2412), None);
    for frequency in [2412, 5180] {
        for place in 0..8 {
            let rate = Try { index: place, count: 1, flags: 0 }.rate(frequency).unwrap();
            assert_eq!(place_of(rate, frequency), Some(place as u32));
        }
    }
    assert_eq!(place_of(Rate::kbps(11_000), 5180), None);
}

#[test]
fn the_priority_stands_behind_three_or_four_addresses() {
    let mut content = [0_u8; 34];
    let priority = |content: &[u8]| {
        let frame = Sent { radio: [0; 6], bytes: content, flags: 0, tries: [Try::NONE; 4], cookie: 0, frequency: 1 };
        frame.priority()
    };
    assert_eq!(priority(&content), 7, "management");
    (content[0], content[24], content[30]) = (0x88, 0x15, 0x06);
    assert_eq!(priority(&content), 5);
    content[1] = 3;
    assert_eq!(priority(&content), 6, "a mesh has four");
    content[0] = 0x08;
    assert_eq!(priority(&content), 0, "without QoS");
    content[0] = 0x88;
    assert_eq!(priority(&content[..28]), 0, "cut off");
}

#[test]
fn a_status_and_a_received_frame_have_what_the_kernel_asks_for() {
    let mut out = Vec::new();
    let tries = [Try { index: 3, count: 2, flags: RTS }, Try { index: 0, count: 1, flags: 0 }, Try::NONE, Try::NONE];
    write_status([0x42, 0, 0, 0, 1, 0], 5, ACKNOWLEDGED, (&tries, -50), &mut out);
    let expected = [
        &[10, 0, 2, 0, 0x42, 0, 0, 0, 1, 0, 0, 0][..],
        &[8, 0, 4, 0, 4, 0, 0, 0],
        &[8, 0, 6, 0, 206, 255, 255, 255],
        &[12, 0, 7, 0, 3, 2, 0, 1, 255, 0, 255, 0],
        &[16, 0, 21, 0, 3, 1, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0],
        &[12, 0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(out, expected.concat());
    out.clear();
    write_received([0x42, 0, 0, 0, 0, 0], &[1; 24], 2, (-71, 2412), &mut out);
    let kinds: Vec<_> = attributes(&out).map(|(kind, content)| (kind, content.len())).collect();
    assert_eq!(kinds, [(1, 6), (3, 24), (5, 4), (6, 4), (19, 4)]);
}

#[test]
fn radios_come_and_go() {
    let mut bytes = Vec::new();
    attribute(&mut bytes, RADIO_ID, &7_u32.to_ne_bytes());
    attribute(&mut bytes, 17, b"phy7\0"); // HWSIM_ATTR_RADIO_NAME
    assert_eq!((read(NEW_RADIO, &bytes), read(DEL_RADIO, &bytes)), (Ok(Message::New), Ok(Message::Gone(7))));
    assert_eq!(read(DEL_RADIO, &bytes[8..]), Err(Refused::Incomplete));
}

#[test]
fn addresses_of_interfaces_come_and_go() {
    let mut bytes = Vec::new();
    attribute(&mut bytes, TRANSMITTER, &[1; 6]);
    attribute(&mut bytes, RECEIVER, &[2; 6]);
    for (command, gone) in [(ADD_ADDRESS, false), (DEL_ADDRESS, true)] {
        assert_eq!(read(command, &bytes), Ok(Message::Address { radio: [1; 6], address: [2; 6], gone }));
    }
    assert_eq!(read(ADD_ADDRESS, &bytes[..12]), Err(Refused::Incomplete));
}
