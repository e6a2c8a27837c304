//! Bursts: the segments that leave together, and when the next may.

use super::script::{Script, plain};
use crate::tcp::Config;
use fourhop_units::{Dur, Time};

/// A sender at 100 ms whose window releases `cwnd` segments in bursts of `burst`, at 10 ms per segment.
fn sending(cwnd: u32, burst: u32, bytes: u64) -> Script {
    let config = Config { initial_window: 1, ..plain() };
    let mut s = Script::sending_with("ap2", config, 0);
    let win = s.socket.tx.control.window_mut();
    win.set_cwnd(cwnd);
    (win.burst, win.pacing) = (burst, Some(Dur::from_millis(10)));
    s.out.clear();
    s.socket.write(Time::from_millis(100), bytes, &mut s.out);
    s
}

/// ```text
/// ms    100      130      160
/// sent  1 2 3    4 5 6    7 8 9
/// ```
#[test]
fn a_burst_leaves_at_once_and_takes_the_time_of_its_segments() {
    let mut s = sending(9, 3, 1_000_000);
    for (ms, sent) in [(100, 3), (129, 3), (130, 6), (159, 6), (160, 9), (250, 9)] {
        s.wait(ms);
        assert_eq!(s.out.len(), sent, "{ms} ms");
    }
}

/// The rest of the stream is a shorter burst, followed by a shorter interval.
#[test]
fn a_short_burst_takes_less_time() {
    let mut s = sending(9, 3, 4_000);
    s.wait(131);
    assert_eq!(s.out.len(), 4);
    s.socket.write(Time::from_millis(132), 3_000, &mut s.out);
    assert_eq!(s.out.len(), 4);
    s.wait(140);
    assert_eq!(s.out.len(), 7);
}

/// With a window of 4 and bursts of 3, there is room for one segment after the first burst: it waits until there is
/// room for three.
#[test]
fn a_burst_waits_until_the_window_has_room_for_all_of_it() {
    let mut s = sending(4, 3, 1_000_000);
    s.wait(190);
    assert_eq!(s.out.len(), 3);
    s.socket.tx.control.window_mut().set_cwnd(6);
    s.socket.write(Time::from_millis(191), 1_000, &mut s.out);
    assert_eq!(s.out.len(), 6);
}
