//! Minstrel-HT on single links: it finds the MCS that carries most, follows a changing link, and is reproducible bit
//! for bit.

use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::{RunOptions, run};

/// Two stations; one sends all it can. `radio` and `mac` are keys of these sections, `more` further sections.
fn link([duration, warmup]: [&str; 2], radio: &str, mac: &str, more: &str) -> RunResult {
    let text = format!(
        "profile = 'standard'\nduration = '{duration}'\nwarmup = '{warmup}'\n[topology]\nkind = 'chain'\nhops = 1\n\
         spacing = '5m'\n[radio]\nmodel = 'sinr'\n{radio}\n[mac]\nrts_threshold = '64kB'\nanswer_rate = 'mandatory'\n\
         {mac}\n\
         [routing]\nprotocol = 'static'\nmetric = 'etx'\n{more}\n\
         [[flows]]\nfrom = 0\nto = 1\ntransport = 'udp'\nrate = '400Mbps'\npayload = '1472B'\n"
    );
    let scenario = load_toml(&text, "link.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    for (layer, balance) in &result.conservation {
        assert_eq!(balance.taken, balance.passed + balance.dropped + balance.held, "{layer}");
    }
    result
}

const TIMES: [&str; 2] = ["3s", "1500ms"];
const MINSTREL: &str = "rate_control = 'minstrel'";

/// Returns the goodput in Mbit/s over a link with this signal-to-noise ratio.
fn goodput(times: [&str; 2], snr: f64, radio: &str, mac: &str) -> f64 {
    let loss = format!("[[losses]]\nfrom = 0\nto = 1\nsnr = '{snr}dB'\n");
    link(times, radio, mac, &loss).flows[0].goodput_bps / 1e6
}

/// Compares Minstrel-HT with the best fixed index, one of three (docs/radios.md has all of them), at ratios where one
/// index is the best and where two are about equal.
#[test]
fn it_carries_what_the_best_fixed_mcs_does() {
    let mut sum = 0.0;
    let ratios = [(5.0, 0), (8.0, 2), (11.0, 2), (15.0, 4), (18.5, 4), (21.2, 6), (25.0, 7)];
    for (snr, index) in ratios {
        let fixed = |index: u32| goodput(TIMES, snr, &format!("phy = 'ht'\nmcs = {index}"), "");
        let best = (index.max(1) - 1..=7.min(index + 1)).map(fixed).fold(0.0, f64::max);
        let found = goodput(TIMES, snr, "phy = 'ht'", MINSTREL);
        println!("{snr} dB: {found:.2} of {best:.2} Mbit/s, {:.3}", found / best);
        assert!(found > 0.85 * best, "{snr} dB: {found} of {best}");
        // One link must not compensate for others.
        sum += (found / best).min(1.0);
    }
    let mean = sum / ratios.len() as f64;
    assert!(mean >= 0.95, "{mean}");
}

/// Node 1 walks away from where the highest index gets through to where indices 2 and 3 do, and returns. In the seconds
/// during which it does not move, except for the first after a walk, Minstrel-HT carries as much as the best fixed
/// index there.
#[test]
fn it_follows_a_link_that_becomes_worse_and_better() {
    let walk = "[mobility]\nmodel = 'waypoints'\nwaypoints = [[1, '2s', '5m', '0m'], [1, '3s', '75m', '0m'], \
                [1, '6s', '75m', '0m'], [1, '7s', '5m', '0m']]\n";
    let seconds = |radio: &str, mac: &str| link(["10s", "0s"], radio, mac, walk).flows[0].batch_goodput_bps.clone();
    let fixed = [2, 3, 4, 7].map(|index| seconds(&format!("phy = 'ht'\nmcs = {index}"), ""));
    let found = seconds("phy = 'ht'", MINSTREL);
    println!("{fixed:.0?} {found:.0?}");
    for second in [1, 4, 5, 8, 9] {
        let best = fixed.iter().map(|parts| parts[second]).fold(0.0, f64::max);
        assert!(found[second] > 0.92 * best, "second {second}: {:.0} of {best:.0}", found[second]);
    }
}

/// Streams, both guard intervals and widths: 64 choices in 802.11n, 232 in 802.11ac. The best one is known from runs
/// with every fixed MCS.
#[test]
fn it_finds_the_best_of_many() {
    let ht = "phy = 'ht'\nstreams = 2\nwidth = '40MHz'\nguard_interval = '400ns'\n";
    let vht = "phy = 'vht'\nstreams = 4\nwidth = '80MHz'\nguard_interval = '400ns'\n";
    for (radio, snr, highest, best) in [(ht, 21.0, 7, 4), (vht, 15.0, 9, 2)] {
        let found = goodput(["4s", "3s"], snr, &format!("{radio}mcs = {highest}"), MINSTREL);
        let best = goodput(["4s", "3s"], snr, &format!("{radio}mcs = {best}"), "");
        println!("{radio}: {found} of {best}");
        assert!(found > 0.93 * best, "{radio}: {found} of {best}");
    }
}
