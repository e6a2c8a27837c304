//! Prometheus metrics of paced connections.

use crate::connections::Connection;
use fourhop_live::metrics::Page;

/// Most connections exported, those with the most bytes first: each is a separate time series at the collector.
const SHOWN: usize = 64;

/// The page for these connections.
pub fn page(connections: &[Connection]) -> Page {
    let mut page = Page::default();
    let count = connections.len() as f64;
    page.single("fourhop_cc_connections", "gauge", "Paced connections.", count);
    let mut most: Vec<&Connection> = connections.iter().collect();
    most.sort_by_key(|connection| std::cmp::Reverse(connection.acked_bytes));
    most.truncate(SHOWN);
    type Value = fn(&Connection) -> Option<f64>;
    let gauges: [(&str, &str, &str, Value); 8] = [
        ("fourhop_cc_interval_seconds", "gauge", "Time between two segments.", |c| c.interval_s),
        ("fourhop_cc_rtt_seconds", "gauge", "Newest round trip.", |c| c.rtt_s),
        ("fourhop_cc_wired_rtt_seconds", "gauge", "Wired part of the newest round trip.", |c| Some(c.wired_rtt_s)),
        ("fourhop_cc_delay_seconds", "gauge", "Smoothed delay over n hops.", |c| c.delay_s),
        ("fourhop_cc_variation", "gauge", "Variation of round trips over their mean.", |c| Some(c.variation)),
        ("fourhop_cc_hops", "gauge", "Wireless hops.", |c| c.hops.map(f64::from)),
        ("fourhop_cc_retransmissions_total", "counter", "Retransmitted segments.", |c| {
            Some(f64::from(c.retransmissions))
        }),
        ("fourhop_cc_acked_bytes_total", "counter", "Bytes acknowledged.", |c| Some(c.acked_bytes as f64)),
    ];
    for (name, kind, help, value) in gauges {
        page.begin(name, kind, help);
        for connection in &most {
            let netns = connection.namespace.clone().unwrap_or_else(|| connection.netns.to_string());
            let (local, remote) = (connection.local.to_string(), connection.remote.to_string());
            let labels =
                [("netns", &netns[..]), ("local", &local), ("remote", &remote), ("algorithm", connection.algorithm)];
            if let Some(value) = value(connection) {
                page.value(name, &labels, value);
            }
        }
    }
    page
}
