//! The n-hop delay: the time a segment needs from the sender to the node n hops away.
//!
//! Section 4.3 of the paper: a round trip over h hops consists of the transmission times over all links and of a
//! queueing delay t_q, the same at every node and in both directions. With T the sum of all links' times to send one
//! bit,
//!
//! ```text
//! RTT = 2 h t_q + (s_data + s_ACK) T      so      t_q = (RTT - (s_data + s_ACK) T) / 2h
//! delay over n hops = n t_q + s_data T_n  with    T_n the same sum over the first n links
//! ```
//!
//! which for equal rates is the paper's (n/2) (RTT/h + (s_data - s_ACK)/b).

use super::{MAX_SAMPLE, Params, ShortPath};
use crate::{Hint, PathTime};
use fourhop_units::{Dur, Rate};

/// Facts about the path.
#[derive(Clone, Debug)]
pub struct Estimator {
    hops: Option<u32>,
    rate: Option<Rate>,
    path: Option<PathTime>,
    /// Delay measured by synchronized clocks, and the number of hops it covers.
    forward: Option<(Dur, u32)>,
    /// Average of the queueing delay per hop in ns.
    queueing: i64,
}

/// Longest transmission time over the links for one segment in this arithmetic, in ns: 2^46, about 20 hours.
const MAX_TRANSMISSION: u64 = 1 << 46;

impl Estimator {
    /// An estimator that knows nothing yet.
    pub const fn new() -> Estimator {
        Estimator { hops: None, rate: None, path: None, forward: None, queueing: 0 }
    }

    /// Takes hints about the path.
    pub fn take_hint(&mut self, hint: Hint) {
        match hint {
            Hint::HopCount(hops) => self.hops = Some(hops),
            Hint::LinkRate(rate) | Hint::WireRate(rate) => self.rate = Some(rate),
            Hint::PathTime(path) => self.path = Some(path),
            Hint::ForwardDelay { delay, hops } => self.forward = Some((delay, hops)),
            Hint::WiredRtt(_) | Hint::PathCapacity(_) | Hint::RoundTrip(_) => {}
        }
    }

    /// Derives the delay over n hops from a round trip; `None` until hops and rates are known, or if the links alone
    /// would take longer than the round trip by more than the delay.
    pub fn n_hop_delay(&mut self, params: &Params, mss: u32, rtt: Dur) -> Option<Dur> {
        // A path given as individual links also gives the number of hops.
        let path = self.path.filter(|_| params.link_rate.is_none());
        let h = u64::from(path.map_or(self.hops?, PathTime::hops).clamp(1, MAX_HOPS));
        let n = match params.short_path {
            _ if h >= u64::from(params.factor) => u64::from(params.factor.max(1)),
            ShortPath::AllHops => h,
            ShortPath::OneHop => 1,
        };
        let rate = params.link_rate.or(self.rate);
        let time = |bytes: u32, links: u64| match path {
            Some(path) => path.time_for(bytes, links as u32),
            None => Some(over_links(bytes, links, rate?)),
        };
        let data = mss.saturating_add(params.data_overhead);
        let both = data.saturating_add(params.ack_bytes);
        // 2h t_q and, of that, n t_q; signed, because the paper's formula has no floor.
        let twice_h = 2 * h;
        let mut queued = rtt.as_nanos() as i64 - time(both, h)? as i64;
        if let Some(limit) = params.queue_limit {
            let per_hop = rounded(queued, twice_h);
            if per_hop > limit.as_nanos() as i64 {
                queued = self.queueing * twice_h as i64;
            }
            let (old, new) = (i64::from(params.queue_alpha.min(1_000)), rounded(queued, twice_h));
            self.queueing = rounded(old * self.queueing + (1_000 - old) * new, 1_000);
        }
        let delay = rounded(n as i64 * queued, twice_h) + time(data, n)? as i64;
        let delay = u64::try_from(delay).ok().filter(|&delay| delay > 0)?;
        Some(Dur::from_nanos(delay).min(MAX_SAMPLE))
    }

    /// The delay over n hops measured by clocks.
    pub fn measured_delay(&self, params: &Params) -> Option<Dur> {
        let (delay, over) = self.forward?;
        let over = u64::from(over.clamp(1, MAX_HOPS));
        let n = match params.short_path {
            ShortPath::OneHop if over < u64::from(params.factor) => 1,
            _ => over.min(u64::from(params.factor)),
        };
        let nanos = delay.min(MAX_SAMPLE).as_nanos() * n / over;
        (nanos > 0).then(|| Dur::from_nanos(nanos))
    }
}

impl Default for Estimator {
    fn default() -> Estimator {
        Estimator::new()
    }
}

/// Longest path: limited by the time to live of an IPv4 packet.
const MAX_HOPS: u32 = 255;

/// Nanoseconds that `links` links of one rate take for `bytes`, rounded.
fn over_links(bytes: u32, links: u64, rate: Rate) -> u64 {
    // 2^32 bytes times 255 links times 8 x 10^9 would need 73 bits.
    let bits = u64::from(bytes.min(1 << 20)) * 8 * links;
    let bps = rate.bps();
    ((bits * 1_000_000_000).saturating_add(bps / 2) / bps).min(MAX_TRANSMISSION)
}

/// a / b to the nearest, for b > 0; the division is unsigned, the only kind in the kernel's virtual machine.
fn rounded(a: i64, b: u64) -> i64 {
    let size = ((a.unsigned_abs() + b / 2) / b) as i64;
    if a < 0 { -size } else { size }
}

/// Exponentially weighted average: `weight` thousandths of the old value and the rest of the new one.
pub fn average(old: u64, new: u64, weight: u32) -> u64 {
    let weight = u64::from(weight.min(1_000));
    (weight * old + (1_000 - weight) * new + 500) / 1_000
}
