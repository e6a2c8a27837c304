//! Packet scripts of a sender.

use super::{CONFIG, FIRST, feedback, ms};
use crate::atp::scoreboard::{Scoreboard, WINDOW};
use crate::atp::{Sender, Stats};
use crate::wire::AtpFeedback;
use fourhop_units::{Dur, Time};

/// A sender with a clock.
struct Script {
    sender: Sender,
    now: Time,
}

impl Script {
    fn open(packets: u64) -> Script {
        let mut sender = Sender::new(CONFIG, FIRST);
        sender.open(ms(0), packets * 1_000);
        Script { sender, now: ms(0) }
    }

    /// A sender whose probe was answered at once: one packet per 100 ms.
    fn started(packets: u64) -> Script {
        let mut script = Script::open(packets);
        assert_eq!(script.left(0), [(0, 0, true)]);
        script.feedback(0, &feedback(0, 100, 1, &[], 0));
        script
    }

    /// Packets that leave up to `until`, as (millisecond, position in the stream in packets, whether it is a probe).
    fn left(&mut self, until: u64) -> Vec<(u64, u64, bool)> {
        let mut left = Vec::new();
        while let Some(at) = self.sender.next_timeout().filter(|&at| at <= ms(until)) {
            self.now = self.now.max(at);
            if let Some(data) = self.sender.handle_timeout(self.now) {
                left.push((self.now.saturating_since(ms(0)).as_millis(), data.offset / 1_000, data.asks));
            }
        }
        left
    }

    fn feedback(&mut self, at: u64, feedback: &AtpFeedback) {
        self.now = ms(at);
        self.sender.handle_feedback(self.now, feedback);
    }

    fn interval(&self) -> Option<u64> {
        self.sender.interval().map(|interval| interval.as_nanos() / 1_000)
    }

    fn stats(&self) -> &Stats {
        self.sender.stats()
    }
}

#[test]
fn a_probe_goes_out_in_each_epoch_until_it_is_answered_and_the_answer_is_the_rate() {
    let mut script = Script::open(100);
    assert_eq!(script.left(2_500), [(0, 0, true), (1_000, 0, true), (2_000, 0, true)]);
    assert_eq!((script.interval(), script.stats().packets_retransmitted), (None, 2));
    script.feedback(2_600, &feedback(0, 250, 1, &[], 2));
    assert_eq!(script.interval(), Some(250_000));
    assert_eq!(script.left(3_200), [(2_600, 1, false), (2_850, 2, false), (3_100, 3, false)]);
    assert_eq!(script.sender.rtt(), Some(Dur::from_millis(600)));
}

#[test]
fn feedback_changes_the_interval_that_runs() {
    let mut script = Script::started(100);
    assert_eq!(script.left(250), [(100, 1, false), (200, 2, false)]);
    script.feedback(250, &feedback(1, 400, 3, &[], 2));
    assert_eq!(script.left(1_000), [(600, 3, false), (1_000, 4, false)]);
    // Offered 100 packets per second: 2.5 + (100 - 2.5) / 5 = 22 per second.
    script.feedback(1_000, &feedback(2, 10, 5, &[], 4));
    assert_eq!(script.interval(), Some(45_454));
}

#[test]
fn what_is_lost_goes_first_and_within_the_rate() {
    let mut script = Script::started(100);
    script.left(650);
    // Of 1 to 6, 2 and 4 are missing; 6 is still in flight.
    script.feedback(690, &feedback(1, 100, 2, &[(1, 2), (3, 4)], 5));
    assert_eq!(script.left(1_000), [(700, 2, false), (800, 4, false), (900, 7, false), (1_000, 8, false)]);
    assert_eq!(script.stats().packets_retransmitted, 2);
    // 2 arrived the second time, 4 was lost again, and so was 6.
    script.feedback(1_001, &feedback(2, 100, 4, &[(1, 2), (3, 4)], 9));
    assert_eq!(script.left(1_300), [(1_100, 4, false), (1_200, 6, false), (1_300, 9, false)]);
}

#[test]
fn data_sent_behind_the_newest_received_is_lost_after_two_epochs() {
    let mut script = Script::started(4);
    assert_eq!(script.left(1_000), [(100, 1, false), (200, 2, false), (300, 3, false)]);
    script.feedback(1_000, &feedback(1, 100, 2, &[], 1));
    assert_eq!(script.left(1_999), []);
    script.feedback(2_000, &feedback(2, 100, 2, &[], 1));
    assert_eq!(script.left(2_200), [], "under way for 1.8 s");
    script.feedback(2_250, &feedback(3, 100, 2, &[], 1));
    assert_eq!(script.left(2_300), [(2_250, 2, false)]);
    script.feedback(2_400, &feedback(4, 100, 2, &[], 1));
    assert_eq!(script.left(2_500), [(2_400, 3, false)]);
}

/// With twenty blocks, the state of packets beyond the last one is unknown.
#[test]
fn feedback_without_room_for_more_condemns_nothing_behind_its_last_block() {
    let mut script = Script::started(100);
    script.feedback(0, &feedback(1, 10, 1, &[], 0));
    script.feedback(0, &feedback(2, 10, 1, &[], 0));
    assert!(script.left(1_400).len() > 46);
    let blocks: Vec<_> = (0..20).map(|n| (2 * n + 1, 2 * n + 2)).collect();
    script.feedback(1_400, &feedback(3, 10, 1, &blocks, 46));
    assert_eq!(script.stats().packets_acked, 21);
    let again: Vec<_> =
        script.left(2_800).into_iter().map(|(_, place, _)| place).filter(|&place| place <= 46).collect();
    assert_eq!(again, (0..20).map(|n| 2 * n + 1).collect::<Vec<_>>());
}

/// The first packet after the answer leaves after 100 ms: from then on feedback is awaited.
#[test]
fn missing_feedback_is_borne_once_halves_the_rate_and_then_starts_anew() {
    let mut script = Script::started(10_000);
    assert_eq!(script.left(1_599).len(), 15);
    assert_eq!((script.interval(), script.stats().missed), (Some(100_000), 0));
    script.left(2_599);
    assert_eq!((script.interval(), script.stats().missed), (Some(100_000), 1));
    script.left(2_600);
    assert_eq!((script.interval(), script.stats().missed), (Some(200_000), 2));
    script.left(3_599);
    assert_eq!(script.left(5_599), [(3_600, 1, true), (4_600, 1, true)]);
    assert_eq!((script.stats().missed, script.stats().restarts), (3, 1));
    script.feedback(5_599, &feedback(9, 50, 25, &[], 25));
    assert_eq!(script.interval(), Some(50_000), "the path's rate at once");
}

#[test]
fn old_feedback_counts_for_nothing() {
    let mut script = Script::started(100);
    script.left(400);
    script.feedback(400, &feedback(5, 200, 3, &[], 2));
    script.feedback(401, &feedback(4, 900, 2, &[], 1));
    script.feedback(401, &feedback(5, 900, 2, &[], 1));
    assert_eq!((script.interval(), script.stats().packets_acked), (Some(200_000), 3));
}

#[test]
fn a_stream_ends_with_a_short_packet_and_then_there_is_nothing_to_do() {
    let mut sender = Sender::new(CONFIG, FIRST);
    sender.open(ms(0), 1_700);
    let probe = sender.handle_timeout(ms(0)).expect("a probe");
    assert_eq!((probe.offset, probe.payload), (0, 1_000));
    sender.handle_feedback(ms(0), &feedback(0, 100, 1, &[], 0));
    let last = sender.handle_timeout(ms(100)).expect("the rest");
    assert_eq!((last.offset, last.payload), (1_000, 700));
    let all = feedback(1, 100, 1, &[], 1);
    sender.handle_feedback(ms(900), &AtpFeedback { complete: all.complete + 700, ..all });
    assert_eq!((sender.next_timeout(), sender.stats().packets_acked), (None, 2));
}

#[test]
fn what_is_taken_back_is_not_sent_but_what_was_sent_is_still_seen_through() {
    let mut script = Script::started(100);
    script.left(300);
    script.sender.withdraw_unsent();
    assert_eq!(script.left(1_000), []);
    script.feedback(1_000, &feedback(1, 100, 1, &[(1, 3)], 3));
    assert_eq!(script.left(1_400), [(1_000, 1, false)]);
    script.feedback(2_000, &feedback(2, 100, 4, &[], 4));
    assert_eq!(script.sender.next_timeout(), None);
}

#[test]
fn a_call_too_early_changes_nothing() {
    let mut script = Script::started(100);
    assert_eq!((script.sender.handle_timeout(ms(99)), script.sender.next_timeout()), (None, Some(ms(100))));
}

/// As many as a receiver keeps beyond the first that has not arrived, and not one more.
#[test]
fn the_window_bounds_what_is_under_way() {
    let mut board = Scoreboard::new(1, FIRST);
    board.write(WINDOW as u64 + 5);
    let mut sent = 0;
    while board.next(ms(0)).is_some() {
        sent += 1;
    }
    assert_eq!((sent, board.has_next()), (WINDOW, false));
    let mut board = Scoreboard::new(1_000, FIRST);
    board.write(2_000);
    assert!(board.next(ms(0)).is_some() && board.has_next());
    assert!(board.next(ms(0)).is_some() && !board.has_next(), "the stream ends there");
}
