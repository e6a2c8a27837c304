//! Prometheus metrics of the gateway.

use crate::status::{Class, Node, State, Status};
use fourhop_live::metrics::Page;

/// Nodes that are shown: more would be too many series.
const SHOWN: usize = 256;

type Value = fn(&Class) -> Option<f64>;

/// Metrics of the flows of a node in one direction.
const CLASSES: [(&str, &str, Value); 7] = [
    ("node_flows", "Flows of a node, by the direction of most data.", |class| Some(class.flows as f64)),
    ("node_waiting", "Waiting packets.", |class| Some(class.waiting as f64)),
    ("node_queued_bytes", "Waiting payload.", |class| Some(class.queued_bytes as f64)),
    ("wireless_rtt_seconds", "Newest round trip over the mesh, mean of the flows.", |class| class.wireless_rtt_s),
    ("wired_rtt_seconds", "Newest round trip beyond the gateway, mean of the flows.", |class| class.wired_rtt_s),
    ("interval_seconds", "Time between two packets into the mesh, mean of the flows.", |class| class.interval_s),
    ("throttled_flows", "Flows that goodput control throttles.", |class| Some(class.throttled as f64)),
];

type Count = fn(&Node) -> u64;

const COUNTS: [(&str, &str, &str, Count); 5] = [
    ("node_bytes_total", "into", "Payload forwarded.", |node| node.into_bytes),
    ("node_bytes_total", "out", "", |node| node.out_bytes),
    ("node_packets_total", "into", "Packets forwarded.", |node| node.into_packets),
    ("node_packets_total", "out", "", |node| node.out_packets),
    ("node_unpaced_total", "into", "Data passed unpaced: hop count of the node unknown.", |node| node.unknown),
];

/// The page of this state.
pub fn page(status: &Status) -> Page {
    let mut page = Page::default();
    let full = |name: &str| format!("fourhop_gateway_{name}");
    for (name, value, help) in status.totals.named() {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        page.single(&full(name), kind, help, value as f64);
    }
    page.single(&full("uptime_seconds"), "gauge", "Time since the start of the service.", status.uptime_s);
    page.single(&full("dry_run"), "gauge", "1: dry run.", f64::from(u8::from(status.dry_run)));
    let name = full("mode");
    page.begin(&name, "gauge", "1: what flows into the mesh are paced by.");
    page.value(&name, &[("mode", &status.mode)], 1.0);
    let impaired = f64::from(u8::from(status.state == State::Impaired));
    page.single(&full("impaired"), "gauge", "1: rules or queues are not in place.", impaired);
    page.single(&full("silent_seconds"), "gauge", "Time since the last packet in a queue.", status.silent_s);
    let lost = f64::from(u8::from(status.hops_error.is_some()));
    page.single(&full("hops_failed"), "gauge", "1: the last query of hop counts failed.", lost);
    let name = full("sojourn_seconds");
    page.begin(&name, "gauge", "How long data into the mesh waited, of the last ten seconds that are over.");
    let all = [("all".to_owned(), status.sojourn)];
    let nodes: Vec<&Node> = status.nodes.iter().take(SHOWN).collect();
    for (node, waits) in all.into_iter().chain(nodes.iter().map(|node| (node.address.to_string(), node.sojourn))) {
        for (quantile, ms) in [("0.5", waits.p50), ("0.99", waits.p99), ("1", waits.max)] {
            page.value(&name, &[("node", &node), ("quantile", quantile)], ms / 1e3);
        }
    }
    let name = full("hops");
    page.begin(&name, "gauge", "Links to a node.");
    for node in &nodes {
        if let Some(hops) = node.hops {
            page.value(&name, &[("node", &node.address.to_string())], f64::from(hops));
        }
    }
    for (name, class, help, count) in COUNTS {
        let name = full(name);
        if !help.is_empty() {
            page.begin(&name, "counter", help);
        }
        for node in &nodes {
            page.value(&name, &[("node", &node.address.to_string()), ("class", class)], count(node) as f64);
        }
    }
    for (name, help, value) in CLASSES {
        let name = full(name);
        page.begin(&name, "gauge", help);
        for node in &nodes {
            for (class, flows) in [("into", &node.into), ("out", &node.out)] {
                if let Some(value) = value(flows) {
                    page.value(&name, &[("node", &node.address.to_string()), ("class", class)], value);
                }
            }
        }
    }
    page
}
