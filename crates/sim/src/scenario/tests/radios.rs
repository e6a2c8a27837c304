//! Radios: the carriers of channels, thresholds, and the values that ad hoc TCP's receivers derive from them.

use super::*;

#[test]
fn captures_state_the_carrier_of_each_channel() {
    // IEEE 802.11-2020 clauses 15.4.4.3 and 17.3.8.4; without a channel, 914 MHz, that of WaveLAN.
    let mhz = |assignments: &[&str]| -> Vec<u16> {
        let scenario = with(assignments).unwrap();
        scenario.captured(&scenario.stations(), None).into_iter().map(|radio| radio.unwrap().1).collect()
    };
    let plan = "radios=[{channel=1},{channel=13,nodes=[0]},{channel=14,nodes=[1]},{channel=36,nodes=[2]}]";
    // The first radios of all five nodes, then the further ones.
    assert_eq!(mhz(&[plan]), [2412, 2412, 2412, 2412, 2412, 2472, 2484, 5180]);
    assert!(mhz(&[]).iter().all(|&carrier| carrier == 914));
}

#[test]
fn a_radio_may_decode_everything_that_it_senses() {
    assert!(with(&["radio.cs_threshold=1e-9W", "radio.rx_threshold=1e-9W"]).is_ok());
}

#[test]
fn the_least_time_of_a_hop_has_rts_and_cts_if_segments_are_longer_than_the_threshold() {
    let overhead = |threshold: &str| {
        let scenario = with(&[&format!("mac.rts_threshold={threshold}"), "tcp.mss=1000B"]).unwrap();
        (scenario.adhoc_receiver().overhead, scenario.mac_config())
    };
    let (reserved, mac) = overhead("0B");
    let (plain, _) = overhead("3000B");
    let rates = mac.rates_around(mac.reference_rate());
    assert_eq!(reserved, plain + mac.rts_airtime(rates.rts) + mac.answer_airtime(rates.cts) + mac.sifs * 2);
    // 1000 bytes of payload, 52 of headers, and those of the MAC.
    let longest = (1052 + mac.data_overhead.0).to_string() + "B";
    assert_eq!(overhead(&longest).0, plain);
    assert_eq!(overhead(&((1051 + mac.data_overhead.0).to_string() + "B")).0, reserved);
}
