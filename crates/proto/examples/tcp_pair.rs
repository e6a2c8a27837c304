//! Two ends of TCP without a network between them: each action of one is an event of the other, and time goes from
//! timer to timer.
//!
//! ```text
//! cargo run -p fourhop-proto --example tcp_pair
//! ```

use fourhop_cc::Transport;
use fourhop_proto::tcp::{Action, Config, Socket};
use fourhop_proto::wire::TcpSegment;
use fourhop_units::{Dur, Seq, Time};
use std::collections::VecDeque;

const BYTES: u64 = 1_000_000;
/// One way.
const DELAY: Dur = Dur::from_millis(10);

fn main() {
    let transport = Transport::find("newreno").expect("one of Transport::ALL");
    let config = Config::standard();
    let client = Socket::new(config.clone(), transport, 49_152, 80, Seq::from_wire(1));
    let server = Socket::listen(config, transport, 80, Seq::from_wire(2));
    let mut ends = [client, server];
    // Segments under way: arrival time, end, content. The delay is constant, so that they stay in order.
    let mut path: VecDeque<(Time, usize, TcpSegment)> = VecDeque::new();
    let (mut now, mut received, mut sent) = (Time::ZERO, 0, 0);

    let mut out = Vec::new();
    ends[0].open(now, &mut out);
    ends[0].write(now, BYTES, &mut out);
    let mut actor = 0;
    while received < BYTES {
        for action in out.drain(..) {
            match action {
                Action::Send { segment, .. } => {
                    sent += 1;
                    // Every hundredth is lost.
                    if sent % 100 != 0 {
                        path.push_back((now + DELAY, 1 - actor, segment));
                    }
                }
                Action::Delivered { bytes } => received += bytes,
                _ => {}
            }
        }
        let arrival = path.front().map(|&(at, ..)| at);
        let timer = (0..2).filter_map(|end| Some((ends[end].next_timeout()?, end))).min();
        match (arrival, timer) {
            (Some(at), timer) if timer.is_none_or(|(due, _)| at <= due) => {
                let (at, to, segment) = path.pop_front().expect("it arrives");
                (now, actor) = (at, to);
                ends[to].handle_segment(now, &segment, &mut out);
            }
            (_, Some((due, end))) => {
                (now, actor) = (due, end);
                ends[end].handle_timeout(now, &mut out);
            }
            _ => unreachable!("a transfer waits for a segment or a timer"),
        }
    }
    let stats = ends[0].stats();
    println!("{received} bytes in {} s, {} segments sent again", now.as_secs_f64(), stats.segments_retransmitted);
    assert!(stats.segments_retransmitted > 0, "some were lost");
}

#[test]
fn it_runs() {
    main();
}
