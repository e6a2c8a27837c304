//! The report of a medium, and its Prometheus metrics.

use super::Medium;
use crate::medium::radios::Shown;
use crate::medium::report::{RadioReport, Report};
use crate::prometheus::{lateness, losses};
use crate::report::{Machine, Truth};
use fourhop_live::host::Reading;
use fourhop_live::metrics::Page;
use fourhop_units::NodeId;

impl Medium {
    /// Its metrics.
    pub(super) fn page(&self) -> Page {
        let mut page = Page::default();
        let frames = self.spectrum.counts();
        page.single("fourhop_medium_seconds", "gauge", "Time since its start.", self.now.as_secs_f64());
        page.begin("fourhop_frames_total", "counter", "Frames on the air, by channel in MHz.");
        for (frequency, count) in self.spectrum.frames() {
            page.value("fourhop_frames_total", &[("frequency", &frequency.to_string())], count as f64);
        }
        page.single("fourhop_frames_taken_total", "counter", "Frames sent by radios.", frames.taken as f64);
        page.begin("fourhop_frames_done_total", "counter", "Frames that have been handled, by their fate.");
        for (fate, count) in frames.fates() {
            page.value("fourhop_frames_done_total", &[("fate", fate)], count as f64);
        }
        page.single(
            "fourhop_frames_delivered_total",
            "counter",
            "Frames delivered to radios.",
            frames.delivered as f64,
        );
        page.begin("fourhop_copies_lost_total", "counter", "Copies of frames that radios did not receive.");
        losses(&mut page, "fourhop_copies_lost_total", &self.spectrum.lost());
        page.begin("fourhop_radio_frames_total", "counter", "Frames sent by each radio.");
        for (address, radio) in self.radios.all() {
            let labels = [("node", &self.name(radio.node)[..]), ("radio", &Shown(address).to_string())];
            page.value("fourhop_radio_frames_total", &labels, radio.sent as f64);
        }
        lateness(&mut page, "How late frames and statuses reached the kernel, by quantile.", &self.lateness.summary());
        page
    }

    fn name(&self, node: NodeId) -> String {
        self.members()[node.index()].name.clone()
    }

    pub(super) fn report(&self, ended_by: &'static str, machine: Reading) -> Report {
        let ran_s = self.now.as_secs_f64();
        Report {
            scenario: self.scenario.clone(),
            seed: self.seed,
            ran_s,
            ended_by,
            radios: RadioReport::all(&self.radios, |radio| self.name(radio.node)),
            strangers: self.strangers.iter().map(|(&radio, &sent)| (Shown(radio).to_string(), sent)).collect(),
            gone: self.gone.clone(),
            frames: self.spectrum.counts().clone(),
            lost: self.spectrum.lost(),
            in_flight: self.spectrum.pending(),
            on_air: self.spectrum.frames(),
            refused: self.refused.clone(),
            refused_by_kernel: self.refused_by_kernel,
            missed: self.missed,
            lateness_us: self.lateness.summary(),
            truth: self.truth(),
            machine: Machine::new(machine, ran_s, self.real_time, None),
            warnings: self.warnings.clone(),
        }
    }

    /// Whether the network kept to the clock.
    fn truth(&self) -> Truth {
        let worst = self.late_at.iter().max_by_key(|(_, late)| **late);
        let latest = worst.and_then(|(&address, late)| {
            let radio = self.radios.all().find(|(other, _)| *other == address)?.1;
            Some((self.name(radio.node), late.as_nanos() as f64 / 1e3))
        });
        let truth = Truth::new("frame", self.exchange, &self.lateness, self.behind_max, latest);
        match self.missed {
            0 => truth,
            missed => Truth {
                holds: false,
                because: Some(format!(
                    "{missed} times, the kernel sent more frames at once than the medium could take"
                )),
                ..truth
            },
        }
    }
}
