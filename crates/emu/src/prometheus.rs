//! Prometheus metrics of a running emulation, and the part that a medium shares.

use crate::flows::FlowReport;
use crate::running::Running;
use fourhop_live::lateness::Summary;
use fourhop_live::metrics::Page;
use std::collections::BTreeMap;

/// Most flows exported, those with the most bytes first: every flow is a separate time series at the collector.
const FLOWS: usize = 64;

impl Running {
    pub(crate) fn page(&self) -> Page {
        let mut page = Page::default();
        let packets = self.packets();
        let late = self.lateness().summary();
        let world = &self.emulation().world;
        page.single("fourhop_emulation_seconds", "gauge", "Time since its start.", self.now().as_secs_f64());
        page.single("fourhop_frames_total", "counter", "Frames on the air.", world.frames() as f64);
        page.single("fourhop_events_total", "counter", "Events of the simulated network.", world.events() as f64);
        page.single("fourhop_packets_taken_total", "counter", "Packets sent by programs.", packets.taken as f64);
        page.single(
            "fourhop_packets_delivered_total",
            "counter",
            "Packets delivered to nodes.",
            packets.delivered as f64,
        );
        page.begin("fourhop_packets_lost_total", "counter", "Packets lost in the network.");
        losses(&mut page, "fourhop_packets_lost_total", &packets.lost);
        lateness(&mut page, "How late packets were delivered, by quantile.", &late);
        let mut flows: Vec<_> = self.flows().iter().collect();
        flows.sort_by_key(|(_, flow)| std::cmp::Reverse(flow.arrived.1));
        page.begin("fourhop_flow_bytes_total", "counter", "Bytes of a flow that arrived, headers included.");
        for (key, flow) in flows.into_iter().take(FLOWS) {
            let FlowReport { src, dst, protocol, .. } = FlowReport::new(key, flow, |address| self.name_of(address));
            let ports = [key.src.1.to_string(), key.dst.1.to_string()];
            let labels = [
                ("src", &src[..]),
                ("src_port", &ports[0]),
                ("dst", &dst),
                ("dst_port", &ports[1]),
                ("protocol", &protocol),
            ];
            page.value("fourhop_flow_bytes_total", &labels, flow.arrived.1 as f64);
        }
        page
    }
}

/// Writes losses by layer and reason, as values of the metric `name`.
pub(crate) fn losses(page: &mut Page, name: &str, lost: &BTreeMap<&str, BTreeMap<&str, u64>>) {
    for (layer, reasons) in lost {
        for (reason, &count) in reasons {
            page.value(name, &[("layer", layer), ("reason", reason)], count as f64);
        }
    }
}

/// Writes a lateness, described by `help`.
pub(crate) fn lateness(page: &mut Page, help: &str, late: &Summary) {
    page.begin("fourhop_lateness_seconds", "gauge", help);
    for (quantile, micros) in [("0.5", late.p50), ("0.99", late.p99), ("0.999", late.p999), ("1", late.max)] {
        page.value("fourhop_lateness_seconds", &[("quantile", quantile)], micros / 1e6);
    }
}
