//! The state as a table.

use crate::status::{Node, State, Status, Waits};
use fourhop_live::screen::table;

fn millis(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{:.1}", seconds * 1e3))
}

/// A quantile of waiting times, if a packet has waited.
fn quantile(waits: &Waits, millis: f64) -> String {
    if waits.count > 0 { format!("{millis:.1}") } else { "-".to_owned() }
}

/// Whether it works, in a few words.
fn state(status: &Status) -> String {
    match status.state {
        State::Idle if status.totals.packets == 0 => "idle: no packet has reached the queue yet".to_owned(),
        State::Idle => format!("idle: no packet has reached the queue for {:.0} s", status.silent_s),
        state => state.name().to_owned(),
    }
}

/// Totals, then nodes, then flows. `before` is the state at the previous update, used to compute rates.
pub fn text(status: &Status, before: Option<&Status>) -> String {
    let totals = &status.totals;
    let elapsed = before.map_or(0.0, |before| status.uptime_s - before.uptime_s);
    let rate = |now: u64, then: u64| {
        if elapsed > 0.0 {
            format!("{:.1}", now.saturating_sub(then) as f64 * 8.0 / elapsed / 1e3)
        } else {
            "-".to_owned()
        }
    };
    let mut text = format!(
        "fourhop-gateway {}  {}  {}  {}  up {:.0} s  {}{}\n\
         flows {}  waiting {} packets ({} kB)  waited p50 {} ms, p99 {} ms\n\
         packets {}  early {}  windows {}  options {}  unknown {}  overload {}\n",
        status.version,
        status.devices.join(","),
        status.rules,
        status.mode,
        status.uptime_s,
        state(status),
        if status.dry_run { "  DRY RUN: nothing is paced" } else { "" },
        totals.flows,
        totals.waiting,
        totals.queued_bytes / 1_000,
        quantile(&status.sojourn, status.sojourn.p50),
        quantile(&status.sojourn, status.sojourn.p99),
        totals.packets,
        totals.early,
        totals.windows_reduced,
        totals.options,
        totals.unknown,
        totals.overload,
    );
    for problem in &status.problems {
        text += &format!("impaired: {problem}\n");
    }
    if let Some(error) = &status.hops_error {
        text += &format!("hops: {error}\n");
    }
    let head = [
        "node",
        "hops",
        "into kbit/s",
        "out kbit/s",
        "flows",
        "waiting",
        "p50 ms",
        "p99 ms",
        "rtt ms",
        "wired ms",
        "interval ms",
    ];
    let right = [false, true, true, true, true, true, true, true, true, true, true];
    let row = |node: &Node| {
        let then = before.and_then(|before| before.nodes.iter().find(|then| then.address == node.address));
        let then = then.map_or((node.into_bytes, node.out_bytes), |then| (then.into_bytes, then.out_bytes));
        vec![
            node.address.to_string(),
            node.hops.map_or_else(|| "unknown".to_owned(), |hops| hops.to_string()),
            rate(node.into_bytes, then.0),
            rate(node.out_bytes, then.1),
            (node.into.flows + node.out.flows).to_string(),
            node.into.waiting.to_string(),
            quantile(&node.sojourn, node.sojourn.p50),
            quantile(&node.sojourn, node.sojourn.p99),
            millis(node.into.wireless_rtt_s),
            millis(node.out.wired_rtt_s.or(node.into.wired_rtt_s)),
            millis(node.into.interval_s),
        ]
    };
    let rows: Vec<_> = status.nodes.iter().take(30).map(row).collect();
    text += "\n";
    text += &table(&head, &right, &rows);
    let head = [
        "flow",
        "host",
        "into kB",
        "out kB",
        "waiting",
        "rtt ms",
        "wired ms",
        "var %",
        "interval ms",
        "throttle kbit/s",
    ];
    let rows = status.flows.iter().take(15).map(|flow| {
        vec![
            flow.node.clone(),
            flow.host.clone(),
            (flow.into_bytes / 1_000).to_string(),
            (flow.out_bytes / 1_000).to_string(),
            flow.waiting.to_string(),
            millis(flow.wireless_rtt_s),
            millis(flow.wired_rtt_s),
            format!("{:.0}", flow.variation * 100.0),
            millis(flow.interval_s),
            flow.throttle_bps.map_or_else(|| "-".to_owned(), |bps| format!("{:.0}", bps as f64 / 1e3)),
        ]
    });
    let rows: Vec<_> = rows.collect();
    text += "\n";
    text += &table(&head, &[false, false, true, true, true, true, true, true, true, true], &rows);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{Class, Flow, Totals};

    #[test]
    fn rates_are_those_between_two_looks() {
        let node = |bytes| Node {
            address: [10, 0, 0, 4].into(),
            hops: Some(3),
            rate_bps: Some(2_000_000),
            into_bytes: bytes,
            into_packets: 0,
            out_bytes: 0,
            out_packets: 0,
            unknown: 0,
            sojourn: Waits { count: 1, p50: 12.0, p99: 60.0, max: 61.0 },
            into: Class { flows: 2, waiting: 5, interval_s: Some(0.0261), ..Class::default() },
            out: Class::default(),
        };
        let status = |uptime_s, bytes| Status {
            uptime_s,
            nodes: vec![node(bytes)],
            totals: Totals { waiting: 7, ..Totals::default() },
            ..Status::default()
        };
        let said = text(&status(3.0, 50_000), Some(&status(1.0, 25_000)));
        let row = said.lines().find(|line| line.starts_with("10.0.0.4")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["10.0.0.4", "3", "100.0", "0.0", "2", "5", "12.0", "60.0", "-", "-", "26.1"]);
        assert!(said.contains("waiting 7 packets"), "{said}");
        assert!(said.contains("waited p50 - ms, p99 - ms"), "those that wait have not waited zero: {said}");
        assert!(text(&status(3.0, 50_000), None).contains("unknown 0"));
    }

    #[test]
    fn it_is_not_called_healthy_when_nothing_comes_or_something_fails() {
        let status = |packets, silent_s, problems: &[&str]| {
            let totals = Totals { packets, ..Totals::default() };
            let problems = problems.iter().map(|&words| words.to_owned()).collect();
            let status = Status { totals, silent_s, problems, ..Status::default() };
            text(&Status { state: State::of(&status), ..status }, None)
        };
        assert!(status(7, 3.0, &[]).contains("healthy"));
        for (said, expected) in [
            (status(0, 3.0, &[]), "idle: no packet has reached the queue yet"),
            (status(7, 30.0, &[]), "idle: no packet has reached the queue for 30 s"),
            (status(7, 0.0, &["no rules"]), "impaired: no rules"),
        ] {
            assert!(said.contains(expected) && !said.contains("healthy"), "{said}");
        }
    }

    fn node(last: u8) -> Node {
        Node {
            address: [10, 0, 0, last].into(),
            hops: None,
            rate_bps: None,
            into_bytes: 0,
            into_packets: 0,
            out_bytes: 40_000,
            out_packets: 0,
            unknown: 0,
            sojourn: Waits::default(),
            into: Class { flows: 1, wireless_rtt_s: Some(0.05), wired_rtt_s: Some(0.02), ..Class::default() },
            out: Class { flows: 2, ..Class::default() },
        }
    }

    fn flow(n: u64) -> Flow {
        Flow {
            node: format!("10.0.0.4:{n}"),
            host: "192.0.2.1:80".to_owned(),
            into_bytes: 12_999,
            out_bytes: 3_000,
            waiting: 6,
            queued_bytes: 9_000,
            wireless_rtt_s: Some(0.0305),
            wired_rtt_s: None,
            variation: 0.256,
            interval_s: Some(0.0061),
            own_interval_s: None,
            throttle_bps: Some(81_000),
        }
    }

    /// The cells of the first row with this beginning.
    fn cells(text: &str, begin: &str) -> Vec<String> {
        let row = text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{text}"));
        row.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_first_look_has_no_rates_and_says_what_is_unknown() {
        let status = Status { nodes: vec![node(4)], ..Status::default() };
        let first = cells(&text(&status, None), "10.0.0.4");
        assert_eq!(first, ["10.0.0.4", "unknown", "-", "-", "3", "0", "-", "-", "50.0", "20.0", "-"]);
        let later = Status { uptime_s: 2.0, ..status.clone() };
        let new = Status { uptime_s: 1.0, ..Status::default() };
        assert_eq!(cells(&text(&later, Some(&new)), "10.0.0.4")[2..4], ["0.0", "0.0"], "a node that was not there");
        let restarted = Status { uptime_s: 2.0, nodes: vec![Node { out_bytes: 1, ..node(4) }], ..Status::default() };
        let before = Status { uptime_s: 1.0, ..status };
        assert_eq!(cells(&text(&restarted, Some(&before)), "10.0.0.4")[2..4], ["0.0", "0.0"], "never below zero");
    }

    #[test]
    fn rates_are_those_of_the_node_itself() {
        let with = |uptime_s, bytes| {
            let node =
                |last, factor: u64| Node { into_bytes: factor * bytes, out_bytes: 2 * factor * bytes, ..node(last) };
            Status { uptime_s, nodes: vec![node(4, 1), node(5, 10)], ..Status::default() }
        };
        let said = text(&with(3.0, 3_000), Some(&with(1.0, 1_000)));
        assert_eq!(cells(&said, "10.0.0.4")[2..4], ["8.0", "16.0"]);
        assert_eq!(cells(&said, "10.0.0.5")[2..4], ["80.0", "160.0"]);
        assert_eq!(cells(&text(&with(3.0, 3_000), Some(&with(3.0, 1_000))), "10.0.0.4")[2..4], ["-", "-"]);
    }

    #[test]
    fn a_flow_is_shown_in_kilobytes_milliseconds_and_per_cent() {
        let said = text(&Status { flows: vec![flow(5)], ..Status::default() }, None);
        let expected = ["10.0.0.4:5", "192.0.2.1:80", "12", "3", "6", "30.5", "-", "26", "6.1", "81"];
        assert_eq!(cells(&said, "10.0.0.4:5"), expected);
        let free = Flow { throttle_bps: None, ..flow(5) };
        let said = text(&Status { flows: vec![free], ..Status::default() }, None);
        assert_eq!(cells(&said, "10.0.0.4:5").last().map(String::as_str), Some("-"));
    }

    #[test]
    fn a_terminal_has_room_for_some_nodes_and_flows() {
        let (nodes, flows) = ((1..=40).map(node).collect(), (1..=40).map(flow).collect());
        let said = text(&Status { nodes, flows, ..Status::default() }, None);
        let count = |begin: &str| said.lines().filter(|line| line.starts_with(begin)).count();
        assert_eq!((count("10.0.0.4:"), count("10.0.0.") - count("10.0.0.4:")), (15, 30));
    }

    #[test]
    fn the_head_says_what_the_gateway_does() {
        let totals = Totals {
            flows: 1,
            waiting: 2,
            queued_bytes: 3_999,
            packets: 4,
            early: 5,
            windows_reduced: 6,
            options: 7,
            unknown: 8,
            overload: 9,
            ..Totals::default()
        };
        let status = Status {
            version: "1.2".to_owned(),
            devices: vec!["mesh0".to_owned(), "mesh1".to_owned()],
            rules: "nft".to_owned(),
            mode: "ap2".to_owned(),
            uptime_s: 61.4,
            state: State::Impaired,
            problems: vec!["no rules".to_owned(), "no guard".to_owned()],
            hops_error: Some("no answer".to_owned()),
            sojourn: Waits { count: 1, p50: 12.34, p99: 60.0, max: 61.0 },
            totals,
            dry_run: true,
            ..Status::default()
        };
        let expected = "fourhop-gateway 1.2  mesh0,mesh1  nft  ap2  up 61 s  impaired  DRY RUN: nothing is paced\n\
                        flows 1  waiting 2 packets (3 kB)  waited p50 12.3 ms, p99 60.0 ms\n\
                        packets 4  early 5  windows 6  options 7  unknown 8  overload 9\n\
                        impaired: no rules\nimpaired: no guard\nhops: no answer\n\n";
        let said = text(&status, None);
        assert!(said.starts_with(expected), "{said}");
        let paced = text(&Status { dry_run: false, ..status }, None);
        assert!(paced.lines().next().unwrap().ends_with("up 61 s  impaired"), "{paced}");
    }
}
