//! Prometheus metrics of the daemon.

use crate::report::Report;
use fourhop_live::metrics::Page;

/// The page for a report.
pub fn page(report: &Report) -> Page {
    let mut page = Page::default();
    let valid = report.routes.iter().filter(|route| route.state == "valid").count();
    page.single("fourhop_aodv_routes", "gauge", "Valid routes.", valid as f64);
    page.single("fourhop_aodv_neighbours", "gauge", "Neighbours that were heard.", report.neighbours.len() as f64);
    let problems = report.problems.len() as f64;
    page.single(
        "fourhop_aodv_problems",
        "gauge",
        "Number of problems: interfaces down or gone, state not \
        written.",
        problems,
    );
    page.single("fourhop_aodv_uptime_seconds", "gauge", "Time since the start of the daemon.", report.uptime_s);
    page.single("fourhop_aodv_processor_seconds_total", "counter", "Processor time.", report.processor_s);
    page.single("fourhop_aodv_sequence_number", "gauge", "Own sequence number.", f64::from(report.seqno));
    for (name, label, help, counts) in [
        ("fourhop_aodv_events_total", "event", "AODV events.", &report.counters),
        ("fourhop_aodv_refused_total", "reason", "Messages refused by the guard.", &report.refused),
        ("fourhop_aodv_lost_total", "reason", "Packets lost without a route.", &report.lost),
        ("fourhop_aodv_daemon_total", "event", "Changes of kernel routes and variables.", &report.daemon),
    ] {
        page.begin(name, "counter", help);
        for (what, &count) in counts {
            page.value(name, &[(label, what)], count as f64);
        }
    }
    page.begin("fourhop_aodv_signal_dbm", "gauge", "Signal strength of a neighbour's newest message.");
    for neighbour in &report.neighbours {
        if let Some(dbm) = neighbour.signal_dbm {
            page.value("fourhop_aodv_signal_dbm", &[("neighbour", &neighbour.address)], dbm);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Neighbour, Route};
    use fourhop_live::metrics::Server;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn scraped(report: &Report) -> String {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        server.publish(page(report));
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_scrape_has_the_state_of_the_daemon() {
        let route = |state: &str| Route { state: state.to_owned(), ..Route::default() };
        let neighbour =
            |n: u8, signal_dbm| Neighbour { address: format!("10.0.0.{n}"), signal_dbm, ..Neighbour::default() };
        let count = |name: &str, count: u64| [(name.to_owned(), count)].into();
        let report = Report {
            uptime_s: 61.5,
            processor_s: 0.25,
            seqno: 12,
            problems: vec!["mesh1 is down".to_owned()],
            routes: vec![route("valid"), route("invalid"), route("valid"), route("repair"), route("valid")],
            neighbours: vec![neighbour(2, Some(-71.5)), neighbour(3, None)],
            counters: count("rreq_relayed", 5),
            refused: count("flood", 6),
            lost: count("no_route", 7),
            daemon: count("restored", 8),
            ..Report::default()
        };
        let text = scraped(&report);
        for line in [
            "fourhop_aodv_routes 3",
            "fourhop_aodv_neighbours 2",
            "fourhop_aodv_problems 1",
            "fourhop_aodv_uptime_seconds 61.5",
            "fourhop_aodv_processor_seconds_total 0.25",
            "fourhop_aodv_sequence_number 12",
            "fourhop_aodv_events_total{event=\"rreq_relayed\"} 5",
            "fourhop_aodv_refused_total{reason=\"flood\"} 6",
            "fourhop_aodv_lost_total{reason=\"no_route\"} 7",
            "fourhop_aodv_daemon_total{event=\"restored\"} 8",
            "fourhop_aodv_signal_dbm{neighbour=\"10.0.0.2\"} -71.5",
            "# TYPE fourhop_aodv_events_total counter",
            "# TYPE fourhop_aodv_signal_dbm gauge",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("10.0.0.3"), "a strength that nobody knows is no value");
    }
}
