//! Results of an emulation, with the verdict on its timing.

use crate::carry::Mode;
use crate::flows::FlowReport;
use fourhop_live::host::Reading;
use fourhop_live::lateness::{Lateness, Summary};
use fourhop_units::Dur;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Packets at the devices.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Packets {
    /// Packets of programs in the nodes that entered the network.
    pub taken: u64,
    /// Delivered by the network to the nodes, copies included.
    pub delivered: u64,
    /// Of those, copies of packets delivered before: of broadcasts, which several nodes get, and of packets that were
    /// retransmitted because a MAC acknowledgement was lost.
    pub copies: u64,
    /// Packets in the network at the end: in a queue, on the air, on a wire. `taken` + `from_routers` = `delivered` -
    /// `copies` + `undelivered` + `lost` + `in_flight`.
    pub in_flight: u64,
    /// Messages of relays about lost packets (ICMP) that entered the network.
    pub from_routers: u64,
    /// Delivered, but not accepted by the node's kernel: its device is down or gone.
    pub undelivered: u64,
    /// Sent by programs, but refused by the network, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Lost in the network, by layer and reason. Frames that a radio missed or the MAC gave up are not included:
    /// packets are retransmitted or return to routing, which counts those that it cannot salvage.
    pub lost: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// ICMP messages of routers about lost packets, including those to their own kernels.
    pub icmp_errors: u64,
}

/// Whether a run kept the timing of the network it represents.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Truth {
    /// Whether 99 of 100 packets were late by at most a tenth of `exchange_us`, and the network was never behind by
    /// more than a tenth of a second.
    pub holds: bool,
    /// Why not, in a sentence. If no packet passed, there is no evidence either way.
    pub because: Option<String>,
    /// Air time of one full-size packet, with its whole exchange.
    pub exchange_us: f64,
    /// The furthest that the network fell behind the clock: how late one of its events was handled, or its devices
    /// checked.
    pub behind_max_us: f64,
    /// The node that received the latest packet, and how late it was.
    pub latest: Option<(String, f64)>,
}

/// A network further behind than this was not that of the scenario, whatever the packets' lateness.
const BEHIND: Dur = Dur::from_millis(100);

impl Truth {
    /// Judges whether a network kept to the clock. `what` passed it, late by `lateness`, the latest at `latest`; a
    /// full-size one takes `exchange` on the air.
    pub(crate) fn new(
        what: &str,
        exchange: Dur,
        lateness: &Lateness,
        behind_max: Dur,
        latest: Option<(String, f64)>,
    ) -> Truth {
        let micros = |dur: Dur| dur.as_nanos() as f64 / 1e3;
        let (late, allowed) = (lateness.quantile(990), exchange / 10);
        let because = if behind_max > BEHIND {
            Some(format!("the network was up to {:.1} ms behind the clock", micros(behind_max) / 1e3))
        } else if late > allowed {
            let (late, allowed) = (micros(late), micros(allowed));
            Some(format!(
                "1 % of {what}s were more than {late:.0} us late; allowed: {allowed:.0} us, a tenth of the air time \
                    of a full-size packet"
            ))
        } else if lateness.count() == 0 {
            Some(format!("no {what} passed"))
        } else {
            None
        };
        Truth {
            holds: because.is_none(),
            because,
            exchange_us: micros(exchange),
            behind_max_us: micros(behind_max),
            latest,
        }
    }
}

/// The machine's load.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Machine {
    /// Share of one processor used by the emulation.
    pub cpu: f64,
    /// Time that a virtual machine's host gave to others (steal time), on all processors.
    pub stolen_s: f64,
    /// Whether it ran with real-time priority.
    pub real_time: bool,
    /// Simulated seconds per second with saturated air, measured before the start.
    pub saturated_speed: Option<f64>,
}

impl Machine {
    /// The load during a run of `ran_s` seconds.
    pub(crate) fn new(used: Reading, ran_s: f64, real_time: bool, saturated_speed: Option<f64>) -> Machine {
        let cpu = if ran_s > 0.0 { used.own.as_secs_f64() / ran_s } else { 0.0 };
        Machine { cpu, stolen_s: used.stolen.as_secs_f64(), real_time, saturated_speed }
    }
}

/// Writes how late packets or frames (`what`) were, whether the timing was accurate, and the machine's load.
pub(crate) fn write_time(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    late: &Summary,
    truth: &Truth,
    machine: &Machine,
) -> fmt::Result {
    writeln!(
        f,
        "late by: median {:.0} us, 99 % {:.0} us, at most {:.0} us (a full packet takes {:.0} us on the air)",
        late.p50, late.p99, late.max, truth.exchange_us
    )?;
    match &truth.because {
        _ if late.count == 0 => writeln!(f, "timing: unknown, because no {what} passed")?,
        None => writeln!(f, "timing: accurate")?,
        Some(why) => writeln!(f, "timing: NOT ACCURATE: {why}")?,
    }
    writeln!(f, "machine: {:.0} % of a processor, {:.2} s stolen", machine.cpu * 100.0, machine.stolen_s)
}

/// The report of an emulation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Its name.
    pub id: String,
    /// The scenario.
    pub scenario: String,
    /// Whether the network or the kernels route.
    pub mode: Mode,
    /// Seed of the simulated network.
    pub seed: u64,
    /// Number of nodes.
    pub nodes: usize,
    /// How long it ran.
    pub ran_s: f64,
    /// Reason why it ended.
    pub ended_by: &'static str,
    /// Exit status of the command, if there was one and it ended.
    pub exit_status: Option<i32>,
    /// How long it took to create the nodes.
    pub setup_s: f64,
    /// How long after leaving the simulated network packets were handed to kernels, in microseconds.
    pub lateness_us: Summary,
    /// The kernel's part of this: late wake-ups, and accepting the packets before, including its TCP's replies.
    pub kernel_us: Summary,
    /// How long after being read by the emulator packets entered the network, which is ahead of the clock.
    pub entering_us: Summary,
    /// Whether the timing was accurate.
    pub truth: Truth,
    /// The machine's load.
    pub machine: Machine,
    /// Packets at the devices.
    pub packets: Packets,
    /// Counters of all nodes, by layer and name, as in the results of a run.
    pub counters: fourhop_sim::result::Named,
    /// Events of the simulated network.
    pub events: u64,
    /// Frames on the air.
    pub frames: u64,
    /// The flows of programs in the nodes, then the simulated ones.
    pub flows: Vec<FlowReport>,
    /// Other warnings.
    pub warnings: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { lateness_us: late, packets, truth, machine, .. } = self;
        writeln!(f, "{}: {} nodes, {:.1} s, ended by {}", self.scenario, self.nodes, self.ran_s, self.ended_by)?;
        let lost: u64 = packets.lost.values().flat_map(BTreeMap::values).sum();
        let refused: u64 = packets.refused.values().sum();
        write!(f, "packets: {} taken, {} delivered", packets.taken, packets.delivered)?;
        if packets.copies > 0 {
            write!(f, " ({} of them copies)", packets.copies)?;
        }
        write!(f, ", {} in flight at the end, {lost} lost", packets.in_flight)?;
        for (reason, count) in packets.lost.values().flatten() {
            write!(f, ", {reason} {count}")?;
        }
        writeln!(f, "{}", if refused > 0 { format!("; {refused} refused") } else { String::new() })?;
        write_time(f, "packet", late, truth, machine)?;
        for flow in &self.flows {
            write!(f, "  {:<4} {}:{} -> ", flow.protocol, flow.src, flow.src_port)?;
            write!(f, "{}:{}  {}/{} packets", flow.dst, flow.dst_port, flow.arrived, flow.sent)?;
            if let Some(name) = &flow.simulated {
                write!(f, "  (simulated: {name})")?;
            }
            write!(f, "  {:.1} kbit/s", flow.rate_bps / 1e3)?;
            writeln!(f, "{}", flow.rtt_mean_s.map_or(String::new(), |rtt| format!("  RTT {:.1} ms", rtt * 1e3)))?;
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Time(Lateness);

    impl fmt::Display for Time {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let truth = Truth::new("packet", Dur::from_micros(1_000), &self.0, Dur::ZERO, None);
            let machine = Machine { cpu: 0.1, stolen_s: 0.0, real_time: true, saturated_speed: None };
            write_time(f, "packet", &self.0.summary(), &truth, &machine)
        }
    }

    #[test]
    fn time_is_true_only_if_packets_passed_and_were_in_time() {
        let said = |late_us: &[u64]| {
            let mut lateness = Lateness::default();
            late_us.iter().for_each(|&us| lateness.record(Dur::from_micros(us)));
            Time(lateness).to_string()
        };
        assert!(said(&[]).contains("timing: unknown, because no packet passed\n"), "{}", said(&[]));
        assert!(said(&[50, 60]).contains("timing: accurate\n"), "{}", said(&[50, 60]));
        let late = said(&[50, 150]);
        assert!(late.contains("timing: NOT ACCURATE: 1 % of packets were more than 1"), "{late}");
        assert!(!said(&[]).contains("timing: accurate"));
    }
}
