//! Sends a packet through the kernel's queue and back, in a network namespace that exists as long as the thread: it
//! shows that this kernel delivers packets and takes verdicts, and affects no other traffic.

use crate::config::Backend;
use crate::rules;
use fourhop_live::netlink::{Batch, LOOPBACK};
use fourhop_live::nfqueue::{Keep, Queues, Room};
use nix::sched::{CloneFlags, unshare};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Time limit for a packet.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs the test with the rules of this backend; returns what did not work.
pub fn run(backend: Backend) -> Result<(), String> {
    with(move || rules::queue_all(backend, QUEUE))
}

fn with(rules: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
    let tried = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("{NO_NAMESPACE}: {error}"))?;
        let mut batch = Batch::default();
        batch.up(LOOPBACK, None);
        batch.send().map_err(|error| error.to_string())?;
        rules()?;
        pass()
    });
    tried.join().unwrap_or_else(|_| Err("it panicked".to_owned()))
}

const NO_NAMESPACE: &str = "cannot create a network namespace";
const QUEUE: u16 = 1;
/// Interval between two reads of the queue.
const LOOK: Duration = Duration::from_millis(2);
/// A refused connection has two packets.
const KEEP: Keep = Keep { copied: 256, packets: 64, unseen: 64 * 1024 };

/// Opens a connection that is refused; every packet of it must arrive here, and the refusal must come back.
fn pass() -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut queues = Queues::open(&[QUEUE], KEEP).map_err(|error| error.to_string())?;
    // In the namespace of this thread, which its children inherit.
    let client = std::thread::spawn(|| TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], 9)), PATIENCE));
    let (mut room, mut came, end) = (Room::new(KEEP.copied), 0, Instant::now() + PATIENCE);
    while !client.is_finished() && Instant::now() < end {
        let mut queued = Vec::new();
        queues.receive(&mut room, |packet| queued.push((packet.queue, packet.id))).map_err(failed)?;
        if queued.is_empty() {
            std::thread::sleep(LOOK);
        }
        came += queued.len();
        queued.into_iter().for_each(|(queue, id)| queues.accept(queue, id, None));
        queues.flush().map_err(failed)?;
    }
    let refused =
        client.join().is_ok_and(|done| done.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused));
    match (came, refused) {
        (0, _) => Err("no packet reached the queue".to_owned()),
        (_, false) => Err("packets reached the queue, but none arrived after it was released".to_owned()),
        (_, true) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_kernel_that_queues_no_packets_fails_the_test() {
        let found = with(|| Ok(()));
        if let Some(error) = found.as_ref().err().filter(|error| error.starts_with(NO_NAMESPACE)) {
            // Past the capture of the test harness.
            let _ = writeln!(std::io::stderr(), "SKIPPED a_kernel_that_queues_no_packets_fails_the_test: {error}");
            return;
        }
        assert_eq!(found, Err("no packet reached the queue".to_owned()));
    }
}
