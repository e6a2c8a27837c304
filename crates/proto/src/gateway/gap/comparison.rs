//! Periodic work of a gateway on its flows: equalising intervals, and goodput control.

use super::super::Action;
use super::super::airtime::Loads;
use super::super::config::Mode;
use super::super::even::{Pool, Shared};
use super::super::flow::Flow;
use super::super::goodput::{Memory, Observed, Throttle};
use super::super::packet::Packet;
use super::{Gateway, STARVING};
use fourhop_units::{Dur, Time};

/// A flow without data for this long has none; a shorter gap is a wait for its window, or a round trip of a congested
/// mesh.
const PAUSE: Dur = Dur::from_secs(2);

impl<P: Packet> Gateway<P> {
    pub(super) fn unthrottle(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        let throttled = |flow: &Flow<P>| flow.down.as_ref().is_some_and(|down| down.throttle.is_some());
        let slots: Vec<u32> = self.table.iter().filter(|(_, _, flow)| throttled(flow)).map(|(slot, ..)| slot).collect();
        for slot in slots {
            self.throttle(now, slot, None, out);
        }
    }

    fn throttle(&mut self, now: Time, slot: u32, throttle: Option<Throttle>, out: &mut Vec<Action<P>>) {
        if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
            down.throttle = throttle;
        }
        self.release(now, slot, out);
    }

    /// Equalises the intervals of all flows that have data to carry.
    pub(super) fn even(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        self.evening = self.config.even.filter(|_| !self.table.is_empty()).map(|every| now + every);
        if self.config.mode == Mode::Ap2 {
            return self.share_airtime(now, out);
        }
        let mut pool = Pool::default();
        for (_, key, flow) in self.table.iter() {
            let Some(path) = self.paths.get(&key.wireless.0) else { continue };
            let down = flow.down.as_deref().filter(|down| down.is_busy());
            match down.and_then(|down| down.pacer.interval()) {
                Some(interval) => pool.add(path.hops, interval),
                None if now.saturating_since(flow.carried) < PAUSE => pool.add_other(path.hops),
                None => {}
            }
        }
        let shared = if self.evening.is_some() { pool.shared() } else { Shared::Own };
        let mut waiting = Vec::new();
        for (slot, flow) in self.table.iter_mut() {
            if let Some(down) = flow.down.as_deref_mut() {
                down.shared = shared;
                waiting.extend((!down.queue.is_empty()).then_some(slot));
            }
        }
        waiting.into_iter().for_each(|slot| self.release(now, slot, out));
    }

    /// Sets airtime limits for flows with AP2's windows.
    fn share_airtime(&mut self, now: Time, out: &mut Vec<Action<P>>) {
        let (mut loads, mut limited) = (Loads::default(), Vec::new());
        for (_, flow) in self.table.iter_mut() {
            if let Some(down) = flow.down.as_deref_mut() {
                down.carried.update(now, down.meter.acked());
            }
        }
        for (slot, key, flow) in self.table.iter() {
            let Some(down) = flow.down.as_deref() else { continue };
            let loading = self.evening.is_some() && down.is_busy() && !down.carried.is_silent(now);
            let path = self.paths.get(&key.wireless.0).copied().filter(|_| loading);
            if let Some(path) = path {
                loads.add(key.wireless.0, down.carried.airtime(path.hops, path.rate));
            }
            limited.push((slot, key.wireless.0, path));
        }
        self.airtime.note(now, &loads);
        for (slot, node, path) in limited {
            if let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) {
                let airtime = &self.airtime;
                down.take_spacing(path.and_then(|path| airtime.spacing(&loads, node, down.mss, path.hops, path.rate)));
            }
            self.release(now, slot, out);
        }
    }

    /// Passes the goodputs since the last comparison to goodput control, and applies its decisions.
    pub(super) fn compare(&mut self, now: Time, since: Time, out: &mut Vec<Action<P>>) {
        let Some(control) = &mut self.control else { return };
        let interval = control.config().interval;
        let mut observed = Vec::new();
        let mut paused = Vec::new();
        for (slot, flow) in self.table.iter_mut() {
            let acked = flow.acked();
            let (up, down) = (acked.0 - flow.marks.0, acked.1 - flow.marks.1);
            flow.marks = acked;
            let active = flow.take_activity(now);
            let down_first = flow.down.is_some() && down >= up;
            // Whether a sender in the mesh has data to send is not visible from here: it counts as active until it must
            // be dead.
            let active = if down_first { active } else { now.saturating_since(since) };
            if now.saturating_since(flow.carried) > STARVING || active * 2 < interval {
                paused.push(slot);
                continue;
            }
            observed.push(Observed {
                slot,
                goodput: bit_rate(up + down, active),
                down: down_first,
                memory: flow.memory,
                throttle: flow.down.as_ref().and_then(|down| down.throttle),
            });
        }
        control.handle_interval(&mut observed);
        self.comparison = Some((now + interval, now));
        let seen = observed.into_iter().map(|seen| (seen.slot, seen.memory, seen.throttle));
        for (slot, memory, throttle) in seen.chain(paused.into_iter().map(|slot| (slot, Memory::default(), None))) {
            if let Some(flow) = self.table.get_mut(slot) {
                flow.memory = memory;
                if flow.down.as_ref().is_some_and(|down| down.throttle != throttle) {
                    self.throttle(now, slot, throttle, out);
                }
            }
        }
    }
}

/// Payload rate in bit/s.
fn bit_rate(bytes: u64, over: Dur) -> u64 {
    (u128::from(bytes) * 8_000_000_000 / u128::from(over.as_nanos().max(1))) as u64
}
