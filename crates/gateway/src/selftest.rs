//! A packet through the kernel's queue and back, in a network namespace that goes with the thread: it shows that this
//! kernel hands packets over and takes verdicts, and no other traffic is touched.

use crate::config::Backend;
use crate::rules;
use fourhop_live::netlink::{Batch, LOOPBACK};
use fourhop_live::nfqueue::{Keep, Queues, Room};
use nix::sched::{CloneFlags, unshare};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// So long a packet has.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tries it with the rules of this backend; what did not work.
pub fn run(backend: Backend) -> Result<(), String> {
    let tried = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no network namespace can be made: {error}"))?;
        let mut batch = Batch::default();
        batch.up(LOOPBACK, None);
        batch.send().map_err(|error| error.to_string())?;
        rules::queue_all(backend, QUEUE)?;
        pass()
    });
    tried.join().unwrap_or_else(|_| Err("it panicked".to_owned()))
}

const QUEUE: u16 = 1;
/// Between two looks into the queue.
const LOOK: Duration = Duration::from_millis(2);
/// A connection that is refused has two packets.
const KEEP: Keep = Keep { copied: 256, packets: 64, unseen: 64 * 1024 };

/// Begins a connection that nobody answers; every packet of it must come here, and its refusal must come back.
fn pass() -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut queues = Queues::open(&[QUEUE], KEEP).map_err(|error| error.to_string())?;
    // In the namespace of this thread, as what it starts.
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
        (0, _) => Err("no packet came to the queue".to_owned()),
        (_, false) => Err("packets came to the queue, and none that was let go arrived".to_owned()),
        (_, true) => Ok(()),
    }
}
