//! Parameters of Babel (RFC 8966 appendix B), with the defaults of that appendix, which are babeld's.

use fourhop_units::Dur;

/// How the cost of a link follows from the Hellos of a neighbour (RFC 8966 appendix A.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkQuality {
    /// A.2.2, for wireless links: what is lost costs, in both directions.
    Etx,
    /// A.2.1 with k = 2, j = 3: the link is there or not. With equal costs of all links, paths are compared by their
    /// hops.
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
    /// The cost of a link without lost Hellos.
    pub rxcost: u16,
    /// Time in which a smoothed metric comes half-way to the metric (A.3); zero: metrics are not smoothed.
    pub smoothing_half_life: Dur,
    /// Wait before a request for a sequence number is repeated; it doubles each time.
    pub request_timeout: Dur,
    /// How often such a request is repeated.
    pub request_repeats: u8,
    /// Longest delay of what is urgent.
    pub urgent_timeout: Dur,
    /// How long a feasibility distance is kept that no update has renewed.
    pub source_lifetime: Dur,
}

impl Config {
    /// Appendix B for a wireless interface; half-life: babeld's (RFC 8966 appendix A.3 names a time constant of three
    /// Hellos).
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

    /// "I heard you" is said three times as seldom as Hello (appendix B).
    pub(super) fn ihu_interval(&self) -> Dur {
        self.hello_interval * u64::from(HELLOS_FOR_IHU)
    }

    /// Longest delay of messages that are not urgent. Section 3.1 leaves it open: a quarter of a Hello interval; babeld
    /// takes half to three eighths of two.
    pub(super) fn leisure(&self) -> Dur {
        self.hello_interval / 4
    }
}

/// If no Hello of a neighbour was lost, every third Hello comes with an IHU; otherwise every one (appendix B).
pub(super) const HELLOS_FOR_IHU: u16 = 3;
/// How often a request may be passed on, and one more (section 3.8.2.1).
pub(super) const HOP_COUNT: u8 = 64;
/// Most destinations, neighbours and requests that a node remembers, so that forged messages cannot fill its memory.
pub(super) const MOST: usize = 1 << 16;

/// Hold time of an announcement with this interval: 3.5 times as long (appendix B).
pub(super) fn hold(centiseconds: u16) -> Dur {
    Dur::from_millis(35 * u64::from(centiseconds))
}

/// On the wire: not 0, and at most what fits.
pub(super) fn centiseconds(interval: Dur) -> u16 {
    u16::try_from(interval.as_millis().div_ceil(10)).unwrap_or(u16::MAX).max(1)
}
