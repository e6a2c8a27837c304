//! Parameters of Babel (RFC 8966 appendix B), with the defaults of that appendix, which are babeld's.

use fourhop_units::Dur;

/// How the cost of a link is derived from a neighbour's Hellos (RFC 8966 appendix A.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkQuality {
    /// A.2.2, for wireless links: losses add to the cost, in both directions.
    Etx,
    /// A.2.1 with k = 2, j = 3: the link is either up or down. As all links cost the same, paths are compared by hops.
    TwoOutOfThree,
}

/// Parameters of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Longest time between two Hellos.
    pub hello_interval: Dur,
    /// Longest time between two updates of all routes.
    pub update_interval: Dur,
    /// How links are measured.
    pub quality: LinkQuality,
    /// Cost of a link without lost Hellos.
    pub rxcost: u16,
    /// Time in which a smoothed metric covers half the distance to the metric (A.3); zero disables smoothing.
    pub smoothing_half_life: Dur,
    /// Wait before a request for a sequence number is repeated; it doubles each time.
    pub request_timeout: Dur,
    /// How often such a request is repeated.
    pub request_repeats: u8,
    /// Longest delay of urgent messages.
    pub urgent_timeout: Dur,
    /// How long a feasibility distance is kept without an update that renews it.
    pub source_lifetime: Dur,
}

impl Config {
    /// Appendix B for a wireless interface, with babeld's half-life (RFC 8966 appendix A.3 names a time constant of
    /// three Hellos).
    pub const fn standard() -> Config {
        Config {
            hello_interval: Dur::from_secs(4),
            update_interval: Dur::from_secs(16),
            quality: LinkQuality::Etx,
            rxcost: 256,
            smoothing_half_life: Dur::from_secs(4),
            request_timeout: Dur::from_secs(2),
            request_repeats: 3,
            urgent_timeout: Dur::from_millis(200),
            source_lifetime: Dur::from_secs(180),
        }
    }

    /// Returns the interval of IHUs, three times that of Hellos (appendix B).
    pub(super) fn ihu_interval(&self) -> Dur {
        self.hello_interval * u64::from(HELLOS_FOR_IHU)
    }

    /// Returns the longest delay of messages that are not urgent. Section 3.1 leaves it open; here it is a quarter of a
    /// Hello interval.
    pub(super) fn leisure(&self) -> Dur {
        self.hello_interval / 4
    }
}

/// Every third Hello carries an IHU if none of the neighbour's Hellos was lost, and every Hello otherwise (appendix B).
pub(super) const HELLOS_FOR_IHU: u16 = 3;
/// How often a request may be forwarded, plus one (section 3.8.2.1).
pub(super) const HOP_COUNT: u8 = 64;
/// Maximum number of destinations, neighbours and requests, so that forged messages cannot exhaust memory.
pub(super) const MOST: usize = 1 << 16;

/// Returns the hold time of an announcement with this interval: 3.5 times as long (appendix B).
pub(super) fn hold(centiseconds: u16) -> Dur {
    Dur::from_millis(35 * u64::from(centiseconds))
}

/// Converts an interval for the wire: at least 1, and at most what fits.
pub(super) fn centiseconds(interval: Dur) -> u16 {
    u16::try_from(interval.as_millis().div_ceil(10)).unwrap_or(u16::MAX).max(1)
}
