//! TCP alone: one data segment arrives, its ACK goes back, and the sender answers with the next segment.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fourhop_cc::Transport;
use fourhop_proto::tcp::{Action, Config, Socket};
use fourhop_proto::wire::TcpSegment;
use fourhop_units::{Dur, Seq, Time};
use std::collections::VecDeque;

/// A connection over a path without reordering or losses.
struct Connection {
    now: Time,
    ends: [Socket; 2],
    /// Segments in transit to the end with that number.
    path: VecDeque<(usize, TcpSegment)>,
    out: Vec<Action>,
}

impl Connection {
    fn established(transport: &'static Transport) -> Connection {
        let config = Config { window_limit: Some(64), ..Config::ns2() };
        let client = Socket::new(config.clone(), transport, 1, 2, Seq::from_wire(0));
        let server = Socket::listen(config, transport, 2, Seq::from_wire(0));
        let mut connection =
            Connection { now: Time::ZERO, ends: [client, server], path: VecDeque::new(), out: Vec::new() };
        connection.ends[0].open(connection.now, &mut connection.out);
        connection.collect(0);
        connection.ends[0].write(connection.now, u64::MAX / 4, &mut connection.out);
        connection.collect(0);
        connection
    }

    /// Delivers the next segment in transit.
    fn step(&mut self) {
        self.now += Dur::from_micros(100);
        let Some((to, segment)) = self.path.pop_front() else { return };
        self.ends[to].handle_segment(self.now, &segment, &mut self.out);
        self.collect(to);
    }

    fn collect(&mut self, from: usize) {
        for action in self.out.drain(..) {
            if let Action::Send { segment, .. } = action {
                self.path.push_back((1 - from, segment));
            }
        }
    }
}

fn on_ack(c: &mut Criterion) {
    let mut group = c.benchmark_group("tcp/segment and its ACK");
    for transport in ["newreno", "reno"].into_iter().filter_map(Transport::find) {
        let mut connection = Connection::established(transport);
        (0..10_000).for_each(|_| connection.step());
        group.bench_function(BenchmarkId::from_parameter(transport.name), |b| {
            b.iter(|| {
                connection.step();
                connection.step();
            });
        });
        assert!(connection.ends[1].stats().bytes_delivered > 1_000_000, "the transfer is under way");
        assert_eq!(connection.ends[0].stats().segments_retransmitted, 0, "nothing is lost");
    }
    group.finish();
}

criterion_group!(benches, on_ack);
criterion_main!(benches);
