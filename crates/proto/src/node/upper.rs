//! The timers of the layers above the MAC, as of the last query.

use fourhop_units::Time;

/// When the layers above the MAC have something to do, as each reported when last queried; `NEVER` if nothing.
#[derive(Debug)]
pub(super) struct UpperTimers {
    /// The earliest.
    pub first: Time,
    pub link: Time,
    pub router: Time,
    pub transports: Time,
    /// Reordering buffers of the MAC.
    pub reordering: Time,
    /// The wired side, the C3TCP modules and the sampling of the medium, which few nodes have.
    pub rest: Time,
    /// Layers called since their last query: the first four, in this order.
    pub stale: [bool; 4],
    /// Whether any of the rest exists.
    pub has_rest: bool,
}

pub(super) const LINK: usize = 0;
pub(super) const ROUTER: usize = 1;
pub(super) const TRANSPORTS: usize = 2;
pub(super) const REORDERING: usize = 3;

impl UpperTimers {
    pub fn new(router: Option<Time>) -> UpperTimers {
        let (never, router) = (Time::NEVER, Time::or_never(router));
        UpperTimers {
            first: router,
            link: never,
            router,
            transports: never,
            reordering: never,
            rest: never,
            stale: [false; 4],
            has_rest: false,
        }
    }
}
