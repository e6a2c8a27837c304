//! Prometheus metrics of the daemon.

use crate::report::Report;
use fourhop_live::metrics::Page;

/// The page of a state.
pub fn page(report: &Report) -> Page {
    let mut page = Page::default();
    let valid = report.routes.iter().filter(|route| route.state == "valid").count();
    page.single("fourhop_aodv_routes", "gauge", "Valid routes.", valid as f64);
    page.single("fourhop_aodv_neighbours", "gauge", "Neighbours that were heard.", report.neighbours.len() as f64);
    let problems = report.problems.len() as f64;
    page.single("fourhop_aodv_problems", "gauge", "Interfaces that are down or gone, state not written.", problems);
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
