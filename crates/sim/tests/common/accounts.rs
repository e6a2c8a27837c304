//! Checks of the accounts of any run, for tests of whole networks.

use fourhop_sim::result::RunResult;
use proptest::prelude::*;

pub fn sum(result: &RunResult, layer: &str, reasons: &[&str]) -> u64 {
    let of = result.drops.get(layer);
    let named = |reason: &&str| of.and_then(|of| of.get(reason)).copied().unwrap_or(0);
    if reasons.is_empty() { of.map_or(0, |of| of.values().sum()) } else { reasons.iter().map(named).sum() }
}

/// Checks that every layer accounts for its input.
pub fn check_accounts(result: &RunResult) -> Result<(), TestCaseError> {
    for (layer, balance) in &result.conservation {
        prop_assert_eq!(balance.taken, balance.passed + balance.dropped + balance.held, "{} {:?}", layer, balance);
    }
    // Every loss in a layer's account has a named reason.
    for layer in ["radio", "link", "network"] {
        prop_assert_eq!(result.conservation[layer].dropped, sum(result, layer, &[]), "{}", layer);
    }
    let given_up = sum(result, "mac", &["rts-retry-limit", "data-retry-limit"]);
    prop_assert_eq!(result.conservation["mac"].dropped, given_up);

    let mac = &result.counters["mac"];
    // Requests for block acknowledgements are answered, or not, like data.
    let asked = mac["data_sent"] + mac["requests_sent"];
    prop_assert!(mac["rts_timeouts"] <= mac["rts_sent"] && mac["data_timeouts"] <= asked, "{:?}", mac);
    // With A-MSDUs of at most 11,454 bytes an ACK is for up to 8 packets of these sizes, a block acknowledgement for 64
    // times as many.
    let packets = if mac["mpdus_sent"] > 0 { 8 } else { 1 };
    let answered = packets * (mac["acks_sent"] + 64 * mac["block_acks_sent"]);
    prop_assert!(mac["acknowledged"] <= answered, "an ACK is received at most once: {:?}", mac);
    prop_assert!(mac["acknowledged"] <= packets * (mac["data_sent"] + mac["mpdus_sent"]));
    prop_assert_eq!(mac["accepted"], result.conservation["mac"].taken);
    prop_assert!(result.conservation["radio"].passed <= result.receptions);

    let up: u64 = result.link_drops.values().flat_map(|kinds| kinds.values()).sum();
    prop_assert_eq!(up, given_up, "{:?}", result.link_drops);
    let wires = |name: &str| result.wires.values().map(|wire| wire[name]).sum::<u64>();
    if let Some(balance) = result.conservation.get("wire") {
        prop_assert_eq!(balance.dropped, sum(result, "wire", &[]));
        let counted = ["packets", "arrived", "dropped", "held"].map(wires);
        prop_assert_eq!([balance.taken, balance.passed, balance.dropped, balance.held], counted);
    }
    Ok(())
}
