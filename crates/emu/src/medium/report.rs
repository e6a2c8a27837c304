//! Results of a medium, with the verdict on its timing.

use super::radios::{Radio, Radios, Shown};
use super::spectrum::Counts;
use crate::report::{Machine, Truth, write_time};
use fourhop_live::lateness::Summary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A radio of the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RadioReport {
    /// The address by which hwsim identifies it.
    pub radio: String,
    /// The node.
    pub node: String,
    /// Addresses of its interfaces.
    pub addresses: Vec<String>,
    /// The channel on which it was last heard, in MHz.
    pub frequency: Option<u32>,
    /// Frames that it has sent.
    pub sent: u64,
}

impl RadioReport {
    /// All radios, by address; `name` returns the name of a node.
    pub fn all(radios: &Radios, name: impl Fn(&Radio) -> String) -> Vec<RadioReport> {
        let of = |(address, radio): (_, &Radio)| RadioReport {
            radio: Shown(address).to_string(),
            node: name(radio),
            addresses: radio.addresses.iter().map(|&address| Shown(address).to_string()).collect(),
            frequency: radio.frequency,
            sent: radio.sent,
        };
        radios.all().map(of).collect()
    }
}

/// The report of a medium.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// The scenario.
    pub scenario: String,
    /// Seed of the simulated network.
    pub seed: u64,
    /// How long it ran.
    pub ran_s: f64,
    /// Reason why it ended.
    pub ended_by: &'static str,
    /// Radios of the kernel that are nodes.
    pub radios: Vec<RadioReport>,
    /// Radios that are not nodes of the scenario and hear nothing, with the number of their frames.
    pub strangers: BTreeMap<String, u64>,
    /// Radios that were removed, with the number of their frames.
    pub gone: BTreeMap<String, u64>,
    /// Counts of frames.
    pub frames: Counts,
    /// Frames that radios on their channel did not receive, by layer and reason; one frame may count for several
    /// radios.
    pub lost: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Frames queued or on the air at the end.
    pub in_flight: usize,
    /// Frames on the air, including RTS, responses and retransmissions, by channel in MHz.
    pub on_air: BTreeMap<u32, u64>,
    /// Messages of the kernel that were refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Messages that the kernel refused: frames for radios that are down or on another channel, statuses of frames that
    /// it has forgotten.
    pub refused_by_kernel: u64,
    /// How often frames were lost between the kernel and the medium because too many arrived at once.
    pub missed: u64,
    /// How much later than in the simulated network frames and statuses reached the kernel, in microseconds.
    pub lateness_us: Summary,
    /// Whether the timing was accurate.
    pub truth: Truth,
    /// The machine's load.
    pub machine: Machine,
    /// Other warnings.
    pub warnings: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { frames, lateness_us: late, truth, machine, .. } = self;
        writeln!(
            f,
            "{}: {} radios, {:.1} s, ended by {}",
            self.scenario,
            self.radios.len(),
            self.ran_s,
            self.ended_by
        )?;
        for radio in &self.radios {
            let channel = radio.frequency.map_or(String::new(), |frequency| format!(" on {frequency} MHz"));
            writeln!(f, "  {:<8} {}{channel}, {} frames sent", radio.node, radio.radio, radio.sent)?;
        }
        for (radio, sent) in &self.strangers {
            writeln!(f, "  {radio} has no node in the scenario: its {sent} frames were dropped; map it with --map")?;
        }
        for (radio, sent) in &self.gone {
            writeln!(f, "  {radio} has disappeared, {sent} frames sent")?;
        }
        write!(f, "frames: {} sent, {} acknowledged, ", frames.taken, frames.acknowledged)?;
        write!(f, "{} given up, {} to all, {} delivered", frames.given_up, frames.unanswered, frames.delivered)?;
        writeln!(f, ", {} in flight at the end", self.in_flight)?;
        for (layer, reasons) in &self.lost {
            let reasons: Vec<_> = reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
            writeln!(f, "not received ({layer}): {}", reasons.join(", "))?;
        }
        for (count, what) in [
            (frames.forgotten, "frames dropped because more than a hundred of their radio were waiting"),
            (frames.abandoned, "frames dropped because their radio has disappeared"),
            (frames.uncarried, "frames at rates that the scenario's radio lacks: not sent"),
            (self.refused_by_kernel, "messages refused by the kernel"),
            (self.missed, "times the kernel sent more at once than fits: some frames are lost"),
        ] {
            if count > 0 {
                writeln!(f, "{count} {what}")?;
            }
        }
        for (rate, count) in &frames.tries_uncarried {
            let rate =
                if *rate == 0 { "802.11n or later".to_owned() } else { format!("{} Mbit/s", *rate as f64 / 1e3) };
            writeln!(f, "{count} tries at {rate}, which the scenario's radio lacks: not answered")?;
        }
        for (reason, count) in &self.refused {
            writeln!(f, "{count} {reason}: refused")?;
        }
        write_time(f, "frame", late, truth, machine)?;
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}
