//! Recovery by duplicate ACKs: fast retransmit and fast recovery (RFC 5681 section 3.2), with or without NewReno's
//! partial ACKs (RFC 6582).

use super::state::{Reaction, Recovery};
use crate::tcp::config::Config;
use crate::tcp::sender::space::SendSpace;
use fourhop_cc::{CaState, Window};

/// The differences between Reno and NewReno; all state is [`Recovery`]'s.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Reno {
    /// RFC 6582: an ACK short of the recovery point is partial. RFC 5681: it ends recovery.
    pub(super) partial_acks: bool,
    /// Most new segments that an ACK in recovery releases.
    pub(super) burst: u32,
}

impl Reno {
    pub(super) fn on_duplicate(self, config: &Config, snd: &SendSpace, recovery: &mut Recovery) -> Reaction {
        let (threshold, budget) = (config.dup_ack_threshold, self.burst);
        if recovery.state == CaState::Recovery {
            recovery.inflation += 1;
            Reaction::Send { budget }
        } else if recovery.dup_acks == threshold && snd.una > recovery.recover {
            Reaction::Recover { budget }
        } else if recovery.dup_acks >= threshold {
            Reaction::Send { budget }
        } else {
            // RFC 3042: one new segment, at most two beyond the congestion window.
            Reaction::Early { extra: recovery.dup_acks, budget: u32::from(config.limited_transmit) }
        }
    }
}

/// RFC 6582 section 3.2 step 3, partial acknowledgement: the next hole is lost as well. The window deflates by the
/// acknowledged data, less one segment for the retransmission. Returns whether the retransmission timer restarts.
pub(super) fn on_partial_ack(
    segments: u32,
    config: &Config,
    snd: &SendSpace,
    recovery: &mut Recovery,
    win: &mut Window,
) -> bool {
    let inflation = recovery.inflation;
    if inflation > segments {
        recovery.inflation = inflation + 1 - segments.max(1);
    } else {
        win.set_fixed(win.fixed().saturating_sub(u64::from(segments - inflation) << 16));
        recovery.inflation = 1;
    }
    let restarts_timer = !recovery.partial_seen || !config.impatient;
    recovery.partial_seen = true;
    recovery.resend = Some(snd.una);
    restarts_timer
}

/// RFC 6582 section 3.2 step 3, full acknowledgement, first option; ns-2.35 leaves the window and lets it grow. Returns
/// whether the window may grow.
pub(super) fn on_full_ack(config: &Config, snd: &SendSpace, win: &mut Window) -> bool {
    if !config.grow_on_full_ack {
        let under_way = snd.in_flight_segments().max(1) + 1;
        win.set_cwnd(win.ssthresh.min(under_way));
    }
    config.grow_on_full_ack
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::position::Pos;
    use fourhop_units::{Seq, Time};

    const MSS: u64 = 1_000;

    fn at(segment: u64) -> Pos {
        Pos::FIRST + segment * MSS
    }

    /// Segments `una` to `max` in flight.
    fn under_way(una: u64, max: u64) -> SendSpace {
        let mut snd = SendSpace::new(Seq::from_wire(1), MSS as u32);
        (snd.una, snd.nxt, snd.max, snd.end) = (at(una), at(una), at(una), at(1_000));
        (una..max).for_each(|n| {
            snd.note_sent(at(n), at(n + 1), Time::ZERO);
        });
        snd.nxt = snd.max;
        snd
    }

    fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, cwnd_cnt: 0, ssthresh, cwnd_clamp: u32::MAX, pacing: None, burst: 1 }
    }

    /// RFC 3042 for the first two, RFC 5681 section 3.2 for the third, inflation for each further one.
    #[test]
    fn duplicates_count_up_to_recovery() {
        let (config, snd) = (Config::standard(), under_way(4, 14));
        let (reno, mut recovery) = (Reno { partial_acks: true, burst: 2 }, Recovery::new());
        let duplicate = |recovery: &mut Recovery| {
            recovery.dup_acks += 1;
            reno.on_duplicate(&config, &snd, recovery)
        };
        assert_eq!(duplicate(&mut recovery), Reaction::Early { extra: 1, budget: 1 });
        assert_eq!(duplicate(&mut recovery), Reaction::Early { extra: 2, budget: 1 });
        assert_eq!(duplicate(&mut recovery), Reaction::Recover { budget: 2 });
        (recovery.state, recovery.inflation) = (CaState::Recovery, 3);
        assert_eq!(duplicate(&mut recovery), Reaction::Send { budget: 2 });
        assert_eq!(recovery.inflation, 4);
    }

    /// RFC 6582 section 3.2 step 2: SND.UNA must be beyond the recovery point, by at least one byte.
    #[test]
    fn no_recovery_begins_before_the_recovery_point_is_passed() {
        let config = Config::standard();
        let mut recovery = Recovery { dup_acks: 3, recover: at(4), ..Recovery::new() };
        let reno = Reno { partial_acks: false, burst: u32::MAX };
        assert_eq!(reno.on_duplicate(&config, &under_way(4, 9), &mut recovery), Reaction::Send { budget: u32::MAX });
        let beyond = reno.on_duplicate(&config, &under_way(5, 9), &mut recovery);
        assert_eq!(beyond, Reaction::Recover { budget: u32::MAX });
        // Recovery begins at the third duplicate or not at all.
        recovery.dup_acks = 4;
        assert_eq!(reno.on_duplicate(&config, &under_way(5, 9), &mut recovery), Reaction::Send { budget: u32::MAX });
    }

    /// RFC 6582 section 3.2 step 3: deflate by the acknowledged data, add back a segment; once the inflation is used
    /// up, the window itself shrinks. In sums of window and inflation: 10 + 8 - 3 + 1, 10 + 3 - 3 + 1, 10 + 3 - 6 + 1.
    #[test]
    fn a_partial_ack_deflates() {
        for (inflation, segments, sum) in [(8, 3, 16), (3, 3, 11), (3, 6, 8), (4, 1, 14), (4, 0, 14)] {
            let (mut recovery, mut win) = (Recovery { inflation, ..Recovery::new() }, window(10, 10));
            let restarts = on_partial_ack(segments, &Config::standard(), &under_way(4, 9), &mut recovery, &mut win);
            assert_eq!(win.cwnd + recovery.inflation, sum, "{inflation} {segments}");
            assert_eq!((restarts, recovery.resend), (true, Some(at(4))));
            let again = on_partial_ack(1, &Config::standard(), &under_way(5, 9), &mut recovery, &mut win);
            assert!(!again, "impatient: only the first");
        }
    }

    /// RFC 6582 section 3.2 step 3, full acknowledgement, option 1: min(ssthresh, max(FlightSize, SMSS) + SMSS).
    #[test]
    fn a_full_ack_leaves_no_burst() {
        for (flight, ssthresh, cwnd) in [(0, 8, 2), (1, 8, 2), (5, 8, 6), (20, 8, 8)] {
            let mut win = window(30, ssthresh);
            assert!(!on_full_ack(&Config::standard(), &under_way(4, 4 + flight), &mut win));
            assert_eq!(win.cwnd, cwnd, "{flight} under way");
        }
        let mut win = window(30, 8);
        assert!(on_full_ack(&Config::ns2(), &under_way(4, 4), &mut win) && win.cwnd == 30, "ns-2.35");
    }
}
