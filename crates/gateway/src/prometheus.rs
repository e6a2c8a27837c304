//! Prometheus metrics of the gateway.

use crate::status::{Class, Node, State, Status};
use fourhop_live::metrics::Page;

/// Most nodes exported: more would be too many series.
const SHOWN: usize = 256;

type Value = fn(&Class) -> Option<f64>;

/// Metrics of the flows of a node in one direction.
const CLASSES: [(&str, &str, Value); 7] = [
    ("node_flows", "Flows of a node, by the direction of most of their data.", |class| Some(class.flows as f64)),
    ("node_waiting", "Waiting packets.", |class| Some(class.waiting as f64)),
    ("node_queued_bytes", "Waiting payload in bytes.", |class| Some(class.queued_bytes as f64)),
    ("wireless_rtt_seconds", "Newest round trip over the mesh, averaged over the flows.", |class| class.wireless_rtt_s),
    ("wired_rtt_seconds", "Newest round trip beyond the gateway, averaged over the flows.", |class| class.wired_rtt_s),
    ("interval_seconds", "Time between two packets into the mesh, averaged over the flows.", |class| class.interval_s),
    ("throttled_flows", "Flows currently throttled by goodput control.", |class| Some(class.throttled as f64)),
];

type Count = fn(&Node) -> u64;

const COUNTS: [(&str, &str, &str, Count); 5] = [
    ("node_bytes_total", "into", "Payload bytes forwarded.", |node| node.into_bytes),
    ("node_bytes_total", "out", "", |node| node.out_bytes),
    ("node_packets_total", "into", "Packets forwarded.", |node| node.into_packets),
    ("node_packets_total", "out", "", |node| node.out_packets),
    (
        "node_unpaced_total",
        "into",
        "Data packets passed unpaced because the hop count of the node was unknown.",
        |node| node.unknown,
    ),
];

/// The page for this state.
pub fn page(status: &Status) -> Page {
    let mut page = Page::default();
    let full = |name: &str| format!("fourhop_gateway_{name}");
    for (name, value, help) in status.totals.named() {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        page.single(&full(name), kind, help, value as f64);
    }
    page.single(&full("uptime_seconds"), "gauge", "Time since the start of the service.", status.uptime_s);
    page.single(&full("dry_run"), "gauge", "1 in a dry run, otherwise 0.", f64::from(u8::from(status.dry_run)));
    let name = full("mode");
    page.begin(&name, "gauge", "1 for the mode by which flows into the mesh are paced.");
    page.value(&name, &[("mode", &status.mode)], 1.0);
    let impaired = f64::from(u8::from(status.state == State::Impaired));
    page.single(&full("impaired"), "gauge", "1 if rules or queues are not in place.", impaired);
    page.single(&full("silent_seconds"), "gauge", "Time since a packet last arrived in a queue.", status.silent_s);
    let lost = f64::from(u8::from(status.hops_error.is_some()));
    page.single(&full("hops_failed"), "gauge", "1 if the last query of hop counts failed.", lost);
    let name = full("sojourn_seconds");
    page.begin(&name, "gauge", "Waiting time of data into the mesh in the last complete ten seconds.");
    let all = [("all".to_owned(), status.sojourn)];
    let nodes: Vec<&Node> = status.nodes.iter().take(SHOWN).collect();
    for (node, waits) in all.into_iter().chain(nodes.iter().map(|node| (node.address.to_string(), node.sojourn))) {
        for (quantile, ms) in [("0.5", waits.p50), ("0.99", waits.p99), ("1", waits.max)] {
            page.value(&name, &[("node", &node), ("quantile", quantile)], ms / 1e3);
        }
    }
    let name = full("hops");
    page.begin(&name, "gauge", "Number of hops to a node.");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Totals, Waits};

    fn node(last: u8) -> Node {
        Node {
            address: [10, 0, 0, last].into(),
            hops: Some(3),
            rate_bps: Some(2_000_000),
            into_bytes: 1,
            into_packets: 2,
            out_bytes: 3,
            out_packets: 4,
            unknown: 5,
            sojourn: Waits { count: 1, p50: 12.0, p99: 60.0, max: 61.0 },
            into: Class {
                flows: 6,
                waiting: 7,
                queued_bytes: 8,
                wireless_rtt_s: Some(0.25),
                wired_rtt_s: None,
                interval_s: Some(0.5),
                throttled: 9,
            },
            out: Class { flows: 10, ..Class::default() },
        }
    }

    /// The lines of a page, without comments and the common prefix of the names.
    fn lines(status: &Status) -> Vec<String> {
        let text = format!("{:?}", page(status)).replace("\\n", "\n").replace("\\\"", "\"");
        text.lines().filter_map(|line| line.strip_prefix("fourhop_gateway_")).map(str::to_owned).collect()
    }

    #[test]
    fn everything_that_is_known_of_a_node_is_a_metric() {
        let lines = lines(&Status { nodes: vec![node(4)], ..Status::default() });
        let of_node: Vec<_> = lines.iter().filter(|line| line.contains("node=\"10.0.0.4\"")).collect();
        let expected = [
            "sojourn_seconds{node=\"10.0.0.4\",quantile=\"0.5\"} 0.012",
            "sojourn_seconds{node=\"10.0.0.4\",quantile=\"0.99\"} 0.06",
            "sojourn_seconds{node=\"10.0.0.4\",quantile=\"1\"} 0.061",
            "hops{node=\"10.0.0.4\"} 3",
            "node_bytes_total{node=\"10.0.0.4\",class=\"into\"} 1",
            "node_bytes_total{node=\"10.0.0.4\",class=\"out\"} 3",
            "node_packets_total{node=\"10.0.0.4\",class=\"into\"} 2",
            "node_packets_total{node=\"10.0.0.4\",class=\"out\"} 4",
            "node_unpaced_total{node=\"10.0.0.4\",class=\"into\"} 5",
            "node_flows{node=\"10.0.0.4\",class=\"into\"} 6",
            "node_flows{node=\"10.0.0.4\",class=\"out\"} 10",
            "node_waiting{node=\"10.0.0.4\",class=\"into\"} 7",
            "node_waiting{node=\"10.0.0.4\",class=\"out\"} 0",
            "node_queued_bytes{node=\"10.0.0.4\",class=\"into\"} 8",
            "node_queued_bytes{node=\"10.0.0.4\",class=\"out\"} 0",
            "wireless_rtt_seconds{node=\"10.0.0.4\",class=\"into\"} 0.25",
            "interval_seconds{node=\"10.0.0.4\",class=\"into\"} 0.5",
            "throttled_flows{node=\"10.0.0.4\",class=\"into\"} 9",
            "throttled_flows{node=\"10.0.0.4\",class=\"out\"} 0",
        ];
        assert_eq!(of_node, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn the_state_of_the_service_is_in_numbers() {
        let sojourn = Waits { count: 1, p50: 1.0, p99: 2.0, max: 3.0 };
        let totals = Totals { packets: 7, flows: 2, ..Totals::default() };
        let good =
            Status { uptime_s: 12.5, silent_s: 1.5, mode: "ap2".to_owned(), sojourn, totals, ..Status::default() };
        for line in [
            "packets_total 7",
            "flows 2",
            "uptime_seconds 12.5",
            "silent_seconds 1.5",
            "dry_run 0",
            "mode{mode=\"ap2\"} 1",
            "impaired 0",
            "hops_failed 0",
            "sojourn_seconds{node=\"all\",quantile=\"0.99\"} 0.002",
        ] {
            assert!(lines(&good).iter().any(|found| found == line), "{line}: {:?}", lines(&good));
        }
        let (state, hops_error) = (State::Impaired, Some("no answer".to_owned()));
        let bad = lines(&Status { dry_run: true, state, hops_error, ..good });
        for line in ["dry_run 1", "impaired 1", "hops_failed 1"] {
            assert!(bad.iter().any(|found| found == line), "{line}: {bad:?}");
        }
    }

    #[test]
    fn what_only_grows_is_a_counter_and_each_metric_begins_once() {
        let text = format!("{:?}", page(&Status { nodes: vec![node(4), node(5)], ..Status::default() }));
        let kinds: Vec<&str> = text.split("# TYPE ").skip(1).filter_map(|rest| rest.split("\\n").next()).collect();
        for kind in &kinds {
            assert_eq!(kind.ends_with(" counter"), kind.contains("_total "), "{kind}");
        }
        let mut names = kinds.clone();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), kinds.len(), "{kinds:?}");
    }

    #[test]
    fn a_large_mesh_does_not_make_a_series_of_every_node() {
        let nodes = (0..=SHOWN).map(|n| Node { address: std::net::Ipv4Addr::from(n as u32).into(), ..node(0) });
        let status = Status { nodes: nodes.collect(), ..Status::default() };
        assert_eq!(lines(&status).iter().filter(|line| line.starts_with("hops{")).count(), SHOWN);
        let unknown = Status { nodes: vec![Node { hops: None, ..node(4) }], ..Status::default() };
        assert!(!lines(&unknown).iter().any(|line| line.starts_with("hops{")), "unknown hops are no number");
    }
}
