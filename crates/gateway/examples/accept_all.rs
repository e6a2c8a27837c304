//! Lets every packet of two queues pass, to measure the cost of a queue without a gateway behind it.
//! `benches/gateway.py speed` runs it.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use fourhop_live::clock::Clock;
    use fourhop_live::nfqueue::{Keep, Queues, Room};
    use fourhop_live::poll::Poller;
    use fourhop_units::Dur;

    let mut queues = Queues::open(&[7100, 7101], Keep { copied: 256, packets: 16_384, unseen: 4 << 20 })?;
    let mut poller = Poller::without_signals()?;
    poller.add(&queues, 0)?;
    let (clock, mut room, mut ready) = (Clock::start(), Room::new(256), Vec::new());
    eprintln!("started: accepts all");
    loop {
        ready.clear();
        poller.wait(&clock, clock.now() + Dur::from_secs(3_600), &mut ready)?;
        loop {
            let mut came = Vec::new();
            let count = queues.receive(&mut room, |queued| came.push((queued.queue, queued.id)))?;
            came.into_iter().for_each(|(queue, id)| queues.accept(queue, id, None));
            queues.flush()?;
            if count == 0 {
                break;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
