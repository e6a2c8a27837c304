//! The report at the end of an emulation, and whether its network kept to the clock.

use super::{Ending, Running};
use crate::carry::Carry;
use crate::emulation::Emulation;
use crate::flows::FlowReport;
use crate::report::{Machine, Report, Truth};
use fourhop_live::host::Reading;
use fourhop_units::Dur;

impl Running {
    pub(super) fn report(&self, ended: Ending, machine: Reading, exit_status: Option<i32>) -> Report {
        let Emulation { mode, seed, setup_s, speed, .. } = self.emulation;
        let state = self.emulation.state();
        let ran_s = self.now().as_secs_f64();
        let mut counters = fourhop_sim::counters(&self.emulation.world, &[]);
        if let Carry::Receivers(receivers) = &self.emulation.carry {
            counters.insert("adhoc_receivers".into(), receivers.counters());
        }
        let flows = self.flows.iter().map(|(key, flow)| FlowReport::new(key, flow, |address| self.name_of(address)));
        let flows = flows.chain(self.simulated_flows());
        Report {
            id: state.id.clone(),
            scenario: state.scenario.clone(),
            mode,
            seed,
            nodes: state.members.len(),
            ran_s,
            ended_by: ended.name(),
            exit_status,
            setup_s,
            lateness_us: self.lateness.summary(),
            kernel_us: self.kernel.summary(),
            entering_us: self.entering.summary(),
            truth: self.truth(),
            machine: Machine::new(machine, ran_s, self.real_time, speed),
            packets: self.packets(),
            counters,
            events: self.emulation.world.events(),
            frames: self.emulation.world.frames(),
            flows: flows.collect(),
            warnings: self.warnings.clone(),
        }
    }

    /// The flows of the scenario, which ran beside the programs. Their packets pass no device.
    fn simulated_flows(&self) -> impl Iterator<Item = FlowReport> {
        let Emulation { world, simulated, .. } = &self.emulation;
        simulated.iter().map(|(name, start, ends)| {
            let flow = fourhop_sim::FlowSoFar::of(world, ends, self.emulation.mss);
            let active_s = self.now().saturating_since(*start).as_secs_f64();
            FlowReport {
                src: self.name(flow.ends.0),
                src_port: flow.ports.0,
                dst: self.name(flow.ends.1),
                dst_port: flow.ports.1,
                protocol: flow.protocol.to_owned(),
                sent: flow.sent,
                arrived: flow.arrived,
                arrived_bytes: flow.bytes,
                active_s,
                rate_bps: if active_s > 0.0 { flow.bytes as f64 * 8.0 / active_s } else { 0.0 },
                rtt_mean_s: flow.rtt_mean.map(Dur::as_secs_f64),
                simulated: Some(name.clone()),
            }
        })
    }

    /// Whether the network kept to the clock.
    fn truth(&self) -> Truth {
        let worst = (0..self.late_at.len()).max_by_key(|&number| self.late_at[number]);
        let latest = worst.filter(|&number| !self.late_at[number].is_zero());
        let latest = latest.map(|number| {
            let name = self.emulation.state().members[number].name.clone();
            (name, self.late_at[number].as_nanos() as f64 / 1e3)
        });
        Truth::new("packet", self.emulation.exchange, &self.lateness, self.behind_max, latest)
    }
}
