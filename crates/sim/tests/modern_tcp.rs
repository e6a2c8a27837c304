//! Modern TCP in whole networks: BBR at a bottleneck, time-based recovery, queues that mark.

use crate::common::accounts::check_accounts;
use crate::common::{line, newreno};
use fourhop_cc::Transport;
use fourhop_proto::net::port;
use fourhop_proto::node;
use fourhop_proto::tcp;
use fourhop_sim::batch::Control;
use fourhop_sim::result::RunResult;
use fourhop_sim::scenario::load_toml;
use fourhop_sim::setup::{Flow, Traffic};
use fourhop_sim::wired::{Cable, Plan};
use fourhop_sim::{RunOptions, run};
use fourhop_units::{Bytes, Dur, NodeId, Rate, Time};

/// 10 Mbit/s, 20 ms in each direction, and room for `queue` packets of 1,500 bytes; the pipe holds 33.
fn wire(a: NodeId, b: NodeId, queue: usize) -> Cable {
    let (rate, delay) = (Rate::kbps(10_000), Dur::from_millis(20));
    Cable { ends: [a, b], port: port::Config { rate, delay, queue, queue_bytes: None, overhead: Bytes(0) } }
}

/// Returns the goodput from 5 s on as a share of the wire's capacity, queue lengths every 10 ms, and the number of
/// segments retransmitted within 60 s.
fn at_bottleneck(name: &str, queue: usize) -> (f64, Vec<usize>, u64) {
    let [here, there] = [0, 1].map(NodeId::wired);
    let mut setup = line(node::Config::standard(), &[0.0]);
    setup.wired = Some(Plan { gateways: Vec::new(), hosts: 2, cables: vec![wire(here, there, queue)] });
    let Flow { traffic: Traffic::Tcp { source, .. }, .. } = newreno(0, 0, 1) else { unreachable!("made so") };
    let config = Box::new(tcp::Config { timestamps: false, ..tcp::Config::standard() });
    let transport = Transport::find(name).unwrap();
    setup.flows = vec![Flow { src: here, dst: there, traffic: Traffic::Tcp { transport, config, source }, dscp: 0 }];
    let (mut world, ends) = setup.build(1, None).unwrap();
    let (mut queues, mut before) = (Vec::new(), 0);
    for n in 1..=6_000 {
        let now = Time::from_millis(n * 10);
        world.run_until(now, &Control::default());
        let received = world.endpoints(ends[0].receiver.0)[ends[0].receiver.1].received.get();
        match n {
            500 => before = received,
            501.. => queues.push(world.wired().wires()[0].port.queue_len(now)),
            _ => {}
        }
    }
    let received = world.endpoints(ends[0].receiver.0)[ends[0].receiver.1].received.get() - before;
    let share = received as f64 * 8.0 / 55.0 / (10e6 * 1460.0 / 1500.0);
    queues.sort_unstable();
    let again = world.endpoints(ends[0].sender.0)[ends[0].sender.1].stats().segments_retransmitted;
    (share, queues, again)
}

/// BBR fills the pipe and leaves the queue nearly empty; CUBIC also fills the queue.
#[test]
fn bbr_fills_the_pipe_and_not_the_queue() {
    let (share, queues, again) = at_bottleneck("bbr", 200);
    assert!((0.93..=1.0).contains(&share), "{share}");
    assert!(queues[queues.len() / 2] <= 6, "median {}", queues[queues.len() / 2]);
    assert!(queues[queues.len() * 95 / 100] <= 30, "95 per cent {}", queues[queues.len() * 95 / 100]);
    assert_eq!(again, 0);
    let (share, queues, _) = at_bottleneck("cubic", 200);
    assert!(share > 0.99 && queues[queues.len() / 2] > 60, "{share} {}", queues[queues.len() / 2]);
}

/// With a queue shorter than the pipe, losses stay small but goodput does not.
#[test]
fn bbr_keeps_losses_at_a_short_queue_small() {
    let (share, _, again) = at_bottleneck("bbr", 8);
    assert!(share > 0.85, "{share}");
    assert!(again < 1_500, "{again} of 46,000");
}

fn chain(transport: &str, hops: u32, keys: &str) -> RunResult {
    let text = format!(
        "profile = 'standard'\nduration = '60s'\nwarmup = '10s'\n[topology]\nkind = 'chain'\nhops = {hops}\n[routing]\n\
         protocol = 'static'\n[traffic]\ntransport = '{transport}'\n{keys}"
    );
    let scenario = load_toml(&text, "chain.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1, &RunOptions::default(), &Control::new()).unwrap();
    check_accounts(&result).unwrap();
    result
}

fn counted(result: &RunResult, layer: &str, name: &str) -> u64 {
    result.counters.get(layer).and_then(|counters| counters.get(name)).copied().unwrap_or(0)
}

/// Where RED on the link drops, ECN marks: TCP slows down without a retransmission. Without `tcp.ecn` there are no
/// packets that may be marked.
#[test]
fn queues_mark_instead_of_dropping() {
    let red = "[link]\nred = true\nred_low = '0'\nred_high = '0.5'\nred_max_drop = '10%'";
    let marking = format!("{red}\necn = true\n[tcp]\necn = true");
    let deaf = format!("{red}\necn = true");
    for transport in ["cubic", "newreno", "bbr"] {
        let [dropped, unheard, marked] = [red, &deaf, &marking].map(|keys| chain(transport, 4, keys));
        let drops = |result: &RunResult| result.drops["link"].get("link-red").copied().unwrap_or(0);
        assert!(drops(&dropped) > 10 && drops(&unheard) == drops(&dropped), "{transport}: {}", drops(&dropped));
        let marks = counted(&marked, "link", "marked");
        // Acknowledgements, which must not be marked, are still dropped.
        assert!(marks > 10 && drops(&marked) < drops(&dropped), "{transport}: {marks} {}", drops(&marked));
        assert!(counted(&marked, "tcp", "marks_answered") > 5, "{transport}");
        let again = |result: &RunResult| result.flows[0].retransmitted;
        assert!(again(&marked) < again(&dropped), "{transport}: {} {}", again(&marked), again(&dropped));
    }
}

/// A lost tail is found by a probe, not by a time-out; without these algorithms there are no probes.
#[test]
fn recovery_by_time_needs_fewer_timeouts() {
    let flow = |recovery: &str| {
        let keys = format!("[tcp]\nsack_recovery = '{recovery}'\nrto_min = '200ms'\n");
        let result = chain("cubic", 7, &keys);
        (result.flows[0].timeouts, result.flows[0].goodput_bps, counted(&result, "tcp", "tail_probes"))
    };
    let (scoreboard, rack) = (flow("scoreboard"), flow("rack-tlp"));
    assert!(rack.0 <= scoreboard.0, "{rack:?} {scoreboard:?}");
    assert!(rack.1 > 0.8 * scoreboard.1, "{rack:?} {scoreboard:?}");
    assert_eq!(scoreboard.2, 0);
}
