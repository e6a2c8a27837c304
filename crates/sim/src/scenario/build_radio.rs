//! Checks of `[radio]` that involve several keys. Part of the scenario builder.

use super::build::Builder;
use super::key::{Choice, Section};
use super::resolve::Resolved;
use super::sections::{CONDITIONS, Radio, RadioModel, complete_radio, needs};
use super::site::is_overridden;
use super::tree::Data;
use fourhop_proto::phy::kind::{LONG_PLCP, OFDM_PLCP, SHORT_PLCP};
use fourhop_proto::phy::mcs::{Mcs, STREAMS_MAX};
use fourhop_units::Dur;

impl Builder {
    /// Resolves `[radio]`, whose keys depend on its model and on each other.
    pub(super) fn radio(&mut self) -> Option<(Resolved, Radio)> {
        self.drop_meaningless();
        let node = self.root.entry("radio").map(|e| &e.value);
        // With an unknown model, the keys of either are accepted.
        let model = match node.and_then(|n| n.entry("model")) {
            None => Some("threshold"),
            Some(_) => node.and_then(|n| n.text("model")).filter(|model| RadioModel::find(model).is_some()),
        }
        .map(str::to_owned);
        let (resolved, radio) =
            self.completed::<Radio>(model.as_deref(), |values, given| complete_radio(values, given))?;
        let conditions =
            Radio::KEYS.iter().filter(|key| resolved.is_given(key.name) && resolved.values.contains_key(key.name));
        for (key, (other, allowed)) in conditions.filter_map(|key| Some((key.name, needs(key.name, &resolved.values)?)))
        {
            let values: Vec<_> = allowed.iter().map(|value| format!("{value:?}")).collect();
            let allowed = format!("only with `{other}` {}", values.join(" or "));
            self.problems.push(resolved.problem(key, resolved.show(key), allowed));
        }
        self.rates(&resolved, &radio);
        if radio.basic_rate > radio.rate {
            let allowed = format!("at most `rate`, {}", resolved.show("rate"));
            self.problems.push(resolved.problem("basic_rate", resolved.show("basic_rate"), allowed));
        }
        if radio.cs_threshold.zip(radio.rx_threshold).is_some_and(|(sensed, decoded)| sensed > decoded) {
            let allowed = format!("at most `rx_threshold`, {}", resolved.show("rx_threshold"));
            self.problems.push(resolved.problem("cs_threshold", resolved.show("cs_threshold"), allowed));
        }
        Some((resolved, radio))
    }

    /// Drops keys that mean nothing any more because `--set` or its like has changed another key: to turn fading off,
    /// nobody should have to remove its Doppler spread from the file.
    fn drop_meaningless(&mut self) {
        let Data::Table(entries) = &mut self.root.data else { return };
        let Some(radio) = entries.iter_mut().find(|entry| entry.key == "radio").map(|entry| &mut entry.value) else {
            return;
        };
        let gone = |(key, other, allowed): &&(&str, &str, &[&str])| {
            let fits = radio.text(other).is_some_and(|found| allowed.contains(&found));
            is_overridden(radio, other) && !is_overridden(radio, key) && !fits
        };
        let gone: Vec<&str> = CONDITIONS.iter().filter(gone).map(|&(key, ..)| key).collect();
        if let Data::Table(keys) = &mut radio.data {
            keys.retain(|entry| !gone.contains(&entry.key.as_str()));
        }
    }

    /// Checks the rates: OFDM has eight, with a whole number of bits per symbol; error rates and rate control are
    /// defined for the standard's rates only.
    fn rates(&mut self, resolved: &Resolved, radio: &Radio) {
        let kind = radio.phy.kind();
        self.mcs(resolved, radio);
        let is_sinr = radio.model == RadioModel::Sinr;
        let names = |mbps: &mut dyn Iterator<Item = String>| mbps.collect::<Vec<_>>().join(" or ");
        for (key, rate) in [("rate", radio.rate), ("basic_rate", radio.basic_rate)] {
            let by_mcs = key == "rate" && radio.phy.format().is_some();
            if (kind.is_ofdm() || is_sinr) && !by_mcs && !kind.rates().contains(&rate) {
                let rates = names(&mut kind.rates().iter().map(|rate| format!("\"{}Mbps\"", rate.bps() as f64 / 1e6)));
                let allowed = format!("{rates} with `phy` {:?}", radio.phy.name());
                self.problems.push(resolved.problem(key, resolved.show(key), allowed));
            }
        }
        let headers: &[Dur] = if kind.is_ofdm() { &[OFDM_PLCP] } else { &[LONG_PLCP, SHORT_PLCP] };
        if is_sinr && !headers.contains(&radio.plcp) {
            let times = names(&mut headers.iter().map(|plcp| format!("\"{}us\"", plcp.as_micros_rounded())));
            let allowed = format!("{times} with `model` \"sinr\" and `phy` {:?}", radio.phy.name());
            self.problems.push(resolved.problem("plcp", resolved.show("plcp"), allowed));
        }
    }

    /// Checks from 802.11n on that the MCS is in the standard, and that `rate` matches it.
    fn mcs(&mut self, resolved: &Resolved, radio: &Radio) {
        let Some(format) = radio.phy.format() else { return };
        let listed = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(" or ");
        let named = format!("with `phy` {:?}", radio.phy.name());
        let widths = || format.widths().iter().map(|width| format!("\"{}MHz\"", width.mhz()));
        let guards = || format.guards().iter().map(|guard| format!("\"{}ns\"", guard.duration().as_nanos()));
        let width =
            format.widths().iter().find(|it| radio.width.is_some_and(|w| w.0 == it.mhz() as f64 * 1e6)).copied();
        let guard = format.guards().iter().find(|it| radio.guard_interval == Some(it.duration())).copied();
        let mut refuse = |key, allowed: String| {
            self.problems.push(resolved.problem(key, resolved.show(key), format!("{allowed} {named}")));
        };
        match (width, guard, radio.mcs()) {
            (None, ..) => refuse("width", listed(&mut widths())),
            (_, None, _) => refuse("guard_interval", listed(&mut guards())),
            (Some(width), Some(guard), None) => {
                let all = Mcs::all(format, STREAMS_MAX, width, guard);
                let indices = all.filter(|mcs| Some(u32::from(mcs.streams())) == radio.streams);
                let indices: Vec<_> = indices.map(|mcs| mcs.index().to_string()).collect();
                let around = format!("`streams` {} and `width` \"{}MHz\"", resolved.show("streams"), width.mhz());
                refuse("mcs", format!("{} with {around}", indices.join(", ")));
            }
            (.., Some(mcs)) if radio.rate != mcs.rate() => {
                refuse("rate", format!("no value, or \"{}Mbps\" as given by `mcs`,", mcs.rate().bps() as f64 / 1e6));
            }
            _ => {}
        }
    }
}
