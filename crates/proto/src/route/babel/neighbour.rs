//! Neighbours: which of their Hellos arrived, what they report of ours, and the link cost (RFC 8966 sections 3.2.4 and
//! 3.4, appendices A.1 and A.2).

use super::config::{Config, LinkQuality, hold};
use crate::wire::BABEL_INFINITY;
use core::net::Ipv4Addr;
use fourhop_units::{Dur, Time};

/// Reception history of the last 16 Hellos of one kind (appendix A.1).
#[derive(Clone, Copy, Default, Debug)]
struct History {
    /// Bit 15 is the newest.
    received: u16,
    /// Sequence number of the next Hello.
    expected: Option<u16>,
    /// Interval announced in the last Hello.
    interval: Dur,
    /// When the next Hello counts as lost.
    late_at: Option<Time>,
}

/// A number further than this from the expected one means that the neighbour has restarted.
const REBOOTED: i16 = 16;

impl History {
    /// Handles a Hello; returns true if its sender has restarted.
    fn hear(&mut self, now: Time, seqno: u16, interval: u16) -> bool {
        let ahead = self.expected.map_or(0, |expected| seqno.wrapping_sub(expected) as i16);
        let rebooted = ahead.unsigned_abs() > REBOOTED.unsigned_abs();
        let shifted = u32::from(ahead.unsigned_abs());
        self.received = match ahead {
            _ if rebooted => 0,
            // Fewer were sent than expected: undo those counted as lost.
            ..0 => self.received.checked_shl(shifted).unwrap_or(0),
            0.. => self.received.checked_shr(shifted).unwrap_or(0),
        };
        self.received = self.received >> 1 | 0x8000;
        self.expected = Some(seqno.wrapping_add(1));
        // An unscheduled Hello (interval 0) leaves the timer alone. If no timer runs, the longest interval bounds how
        // long a neighbour is remembered that sends nothing more.
        if interval > 0 || self.late_at.is_none() {
            let interval = if interval > 0 { interval } else { u16::MAX };
            self.interval = Dur::from_millis(10 * u64::from(interval));
            self.late_at = Some(now + self.interval + self.interval / 2);
        }
        rebooted
    }

    /// Counts overdue Hellos as lost.
    fn miss(&mut self, now: Time) -> bool {
        let mut changed = false;
        while let Some(at) = self.late_at.filter(|&at| at <= now) {
            self.received >>= 1;
            self.expected = self.expected.map(|seqno| seqno.wrapping_add(1));
            self.late_at = (self.received != 0).then_some(at + self.interval);
            changed = true;
        }
        changed
    }

    /// Returns the cost of the link in this direction.
    fn rxcost(&self, config: &Config) -> u16 {
        if self.received == 0 {
            return BABEL_INFINITY;
        }
        match config.quality {
            LinkQuality::TwoOutOfThree if (self.received >> 13).count_ones() >= 2 => config.rxcost,
            LinkQuality::TwoOutOfThree => BABEL_INFINITY,
            // Beta, the share of Hellos that arrive, in 2^-15: a weighted mean in which older Hellos count ever less
            // (A.2.2 leaves the weights open). As in babeld, the three newest count a quarter each, and every older one
            // half as much as its successor.
            LinkQuality::Etx => {
                let weight = |place: u32| 0x2000 >> place.saturating_sub(2);
                let came = |place: &u32| self.received >> (15 - place) & 1 == 1;
                let beta: u32 = (0..16).filter(came).map(weight).sum();
                u16::try_from((u32::from(config.rxcost) << 15) / (beta + 1)).unwrap_or(BABEL_INFINITY)
            }
        }
    }
}

/// A neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub addr: Ipv4Addr,
    /// Multicast Hellos, and unicast Hellos to this node.
    histories: [History; 2],
    /// Cost of the link in the other direction, from the neighbour's last IHU.
    txcost: u16,
    /// When `txcost` expires.
    ihu_until: Option<Time>,
    /// Cost of the link, as of the last [`Neighbour::refresh`].
    pub cost: u16,
}

impl Neighbour {
    fn new(addr: Ipv4Addr) -> Neighbour {
        let histories = [History::default(); 2];
        Neighbour { addr, histories, txcost: BABEL_INFINITY, ihu_until: None, cost: BABEL_INFINITY }
    }

    /// Handles a Hello (section 3.4.1).
    pub fn hear(&mut self, now: Time, unicast: bool, seqno: u16, interval: u16) {
        let mut history = self.histories[usize::from(unicast)];
        if history.hear(now, seqno, interval) {
            // The entry is flushed and created again (appendix A.1).
            *self = Neighbour { cost: self.cost, ..Neighbour::new(self.addr) };
        }
        self.histories[usize::from(unicast)] = history;
    }

    /// Handles an IHU (section 3.4.2).
    pub fn be_heard(&mut self, now: Time, rxcost: u16, interval: u16) {
        (self.txcost, self.ihu_until) = (rxcost, Some(now + hold(interval)));
    }

    /// Expires old data; returns true if none is left.
    pub fn expire(&mut self, now: Time) -> bool {
        self.histories.iter_mut().for_each(|history| {
            history.miss(now);
        });
        if self.ihu_until.is_some_and(|at| at <= now) {
            (self.txcost, self.ihu_until) = (BABEL_INFINITY, None);
        }
        self.histories.iter().all(|history| history.received == 0) && self.ihu_until.is_none()
    }

    /// Returns when [`Neighbour::expire`] is due.
    pub fn next(&self) -> Option<Time> {
        let hellos = self.histories.iter().filter_map(|history| history.late_at).min();
        Time::earlier_of(hellos, self.ihu_until)
    }

    /// Returns the cost to report in an IHU.
    pub fn rxcost(&self, config: &Config) -> u16 {
        self.histories.iter().map(|history| history.rxcost(config)).min().unwrap_or(BABEL_INFINITY)
    }

    /// Returns whether one of its last 16 Hellos was lost.
    pub fn loses(&self) -> bool {
        self.histories[0].received != u16::MAX
    }

    /// Recomputes the cost (section 3.4.3): by A.2.1, or by A.2.2 with 256 / alpha = max(txcost, 256), 256 / beta =
    /// rxcost. Returns the previous one.
    pub fn refresh(&mut self, config: &Config) -> u16 {
        let (rxcost, before) = (self.rxcost(config), self.cost);
        self.cost = match config.quality {
            _ if rxcost == BABEL_INFINITY || self.txcost == BABEL_INFINITY => BABEL_INFINITY,
            LinkQuality::TwoOutOfThree => self.txcost.max(1),
            LinkQuality::Etx => {
                let both = u32::from(self.txcost.max(256)) * u32::from(rxcost);
                u16::try_from((both + 128) / 256).unwrap_or(BABEL_INFINITY).max(1)
            }
        };
        before
    }
}

/// All neighbours, by address.
#[derive(Clone, Default, Debug)]
pub(super) struct Neighbours(Vec<Neighbour>);

impl Neighbours {
    fn place(&self, addr: Ipv4Addr) -> Result<usize, usize> {
        self.0.binary_search_by_key(&addr, |neighbour| neighbour.addr)
    }

    pub fn get(&self, addr: Ipv4Addr) -> Option<&Neighbour> {
        self.place(addr).ok().map(|at| &self.0[at])
    }

    /// Returns the entry for `addr` and whether it is new, or `None` if there is no room for it.
    pub fn entry(&mut self, addr: Ipv4Addr, most: usize) -> Option<(&mut Neighbour, bool)> {
        match self.place(addr) {
            Ok(at) => Some((&mut self.0[at], false)),
            Err(_) if self.0.len() >= most => None,
            Err(at) => {
                self.0.insert(at, Neighbour::new(addr));
                Some((&mut self.0[at], true))
            }
        }
    }

    pub fn remove(&mut self, addr: Ipv4Addr) {
        self.0.retain(|neighbour| neighbour.addr != addr);
    }

    /// Returns the cost of the link to a neighbour.
    pub fn cost(&self, addr: Ipv4Addr) -> u16 {
        self.get(addr).map_or(BABEL_INFINITY, |neighbour| neighbour.cost)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Neighbour> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Neighbour> {
        self.0.iter_mut()
    }

    pub fn next(&self) -> Option<Time> {
        self.0.iter().filter_map(Neighbour::next).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETX: Config = Config::standard();
    const HOPS: Config = Config { quality: LinkQuality::TwoOutOfThree, ..ETX };

    fn heard(numbers: &[u16]) -> History {
        let mut history = History::default();
        numbers.iter().for_each(|&number| {
            history.hear(Time::ZERO, number, 400);
        });
        history
    }

    /// Appendix A.1, case by case.
    #[test]
    fn the_history_follows_the_numbers() {
        assert_eq!(heard(&[7, 8, 9]).received, 0b111 << 13);
        assert_eq!(heard(&[7, 10]).received, 0b1001 << 12, "two were lost");
        assert_eq!(heard(&[0xffff, 0]).received, 0b11 << 14, "past the largest number");
        let mut late = heard(&[7]);
        assert!(late.miss(Time::from_secs(6)) && !late.miss(Time::from_millis(9_999)));
        assert_eq!((late.received, late.expected), (0b01 << 14, Some(9)), "1.5 intervals, then one");
        assert!(!late.hear(Time::from_secs(7), 8, 400));
        assert_eq!((late.received, late.expected), (0b11 << 14, Some(9)), "none was lost: the interval has grown");
        assert!(late.hear(Time::from_secs(8), 26, 400), "17 away: begun anew");
        assert_eq!(late.received, 1 << 15);
        let mut silent = heard(&[1]);
        assert!(silent.miss(Time::from_secs(100)));
        assert_eq!((silent.received, silent.late_at), (0, None));
    }

    #[test]
    fn a_hello_without_interval_leaves_the_timer_alone() {
        let mut history = heard(&[4]);
        history.hear(Time::from_secs(1), 5, 0);
        assert_eq!((history.received, history.late_at), (0b11 << 14, Some(Time::from_secs(6))));
        let mut history = History::default();
        history.hear(Time::ZERO, 5, 0);
        assert_eq!((history.received, history.late_at), (1 << 15, Some(Time::from_millis(983_025))), "the longest");
    }

    /// Appendix A.2.1.
    #[test]
    fn of_three_hellos_two_must_have_come() {
        for (numbers, up) in [(&[1u16][..], false), (&[1, 2], true), (&[1, 2, 4], true), (&[1, 2, 5], false)] {
            assert_eq!(heard(numbers).rxcost(&HOPS), if up { 256 } else { BABEL_INFINITY }, "{numbers:?}");
        }
    }

    /// Appendix A.2.2.
    #[test]
    fn losses_cost_in_both_directions() {
        let all: Vec<u16> = (0..16).collect();
        assert_eq!(heard(&all).rxcost(&ETX), 256);
        assert_eq!(heard(&[0]).rxcost(&ETX), 1023, "one of the three newest: a quarter");
        assert_eq!(heard(&[0, 1]).rxcost(&ETX), 511);
        let of = |history, txcost| {
            let mut neighbour = Neighbour::new(Ipv4Addr::LOCALHOST);
            neighbour.histories[0] = history;
            neighbour.txcost = txcost;
            neighbour.refresh(&ETX);
            neighbour.cost
        };
        assert_eq!([256, 512, 96, BABEL_INFINITY].map(|tx| of(heard(&all), tx)), [256, 512, 256, BABEL_INFINITY]);
        assert_eq!(of(heard(&[0, 1]), 512), 1022, "1 / (1/2 x 1/2) transmissions");
        assert_eq!(of(History::default(), 256), BABEL_INFINITY);
        assert_eq!(of(heard(&[0]), 40_000), BABEL_INFINITY, "more than fits");
    }

    #[test]
    fn what_is_not_renewed_is_forgotten() {
        let mut neighbour = Neighbour::new(Ipv4Addr::LOCALHOST);
        neighbour.be_heard(Time::ZERO, 300, 1_200);
        assert_eq!(neighbour.next(), Some(Time::from_secs(42)), "3.5 times 12 s");
        assert!(!neighbour.expire(Time::from_millis(41_999)));
        assert_eq!(neighbour.txcost, 300);
        assert!(neighbour.expire(Time::from_secs(42)));
        assert_eq!(neighbour.txcost, BABEL_INFINITY);
    }
}
