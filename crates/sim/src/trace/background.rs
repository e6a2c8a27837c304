//! A tap on a separate thread: the run notes events, the thread formats and writes them. The contents of files do not
//! depend on this, because the thread sees the same calls in the same order.

use super::{Copy, Tap, TxId, WireEnd};
use fourhop_proto::drop::DropReason;
use fourhop_proto::wire::{Frame, Ipv4Packet};
use fourhop_units::{NodeId, Time};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Number of calls passed on together: an exchange between threads costs as much as noting dozens of calls.
const BATCH: usize = 512;
/// Number of batches in transit, some hundred kilobytes; beyond that the run waits for the thread.
const BATCHES: usize = 4;

/// One call of a tap; frames and packets are given as indices in the batch.
enum Call {
    Sent(Time, NodeId, TxId, usize),
    Received(Time, Copy, usize),
    Lost(Time, Copy, usize, DropReason),
    Wired(Time, WireEnd, usize),
}

/// Calls in order.
#[derive(Default)]
struct Batch {
    /// Time at which the batch was passed on.
    now: Time,
    calls: Vec<Call>,
    /// A frame is stored once for consecutive receivers.
    frames: Vec<Frame>,
    packets: Vec<Ipv4Packet>,
}

impl Batch {
    fn frame(&mut self, frame: &Frame) -> usize {
        if self.frames.last() != Some(frame) {
            self.frames.push(frame.clone());
        }
        self.frames.len() - 1
    }

    /// Makes the calls and removes them.
    fn make(&mut self, tap: &mut impl Tap) {
        let Batch { calls, frames, packets, .. } = self;
        calls.drain(..).for_each(|call| match call {
            Call::Sent(now, node, tx, frame) => tap.sent(now, node, tx, &frames[frame]),
            Call::Received(now, copy, frame) => tap.received(now, copy, &frames[frame]),
            Call::Lost(now, copy, frame, reason) => tap.lost(now, copy, &frames[frame], reason),
            Call::Wired(now, end, packet) => tap.wired(now, end, &packets[packet]),
        });
        frames.clear();
        packets.clear();
    }
}

/// Passes the calls of a tap to a thread.
pub struct Background {
    batch: Batch,
    /// `None` once the run is over.
    calls: Option<SyncSender<Batch>>,
    /// Batches that the thread has processed, for reuse.
    empty: Receiver<Batch>,
    worker: Option<JoinHandle<io::Result<()>>>,
    interest: Interest,
}

/// Parts of a run that a tap sees; others are not passed on.
#[derive(Clone, Debug)]
pub struct Interest {
    /// Whether the tap sees each of the nodes with radios.
    pub nodes: Vec<bool>,
    /// Whether the tap sees copies lost for this reason. There are many.
    pub losses: fn(DropReason) -> bool,
}

impl Background {
    /// Runs `tap` on a separate thread.
    pub fn new(mut tap: impl Tap + 'static, interest: Interest) -> Background {
        let (calls, theirs) = sync_channel::<Batch>(BATCHES);
        let (back, empty) = sync_channel(BATCHES);
        let worker = std::thread::spawn(move || {
            let mut ended = Time::ZERO;
            for mut batch in theirs {
                ended = ended.max(batch.now);
                batch.make(&mut tap);
                // Batches beyond those that can be reused are dropped.
                let _ = back.try_send(batch);
            }
            tap.finish(ended)
        });
        Background { batch: Batch::default(), calls: Some(calls), empty, worker: Some(worker), interest }
    }

    fn looks_at(&self, node: NodeId) -> bool {
        self.interest.nodes.get(node.index()).is_some_and(|&looks| looks)
    }

    fn note(&mut self, now: Time, call: Call) {
        self.batch.now = now;
        self.batch.calls.push(call);
        if self.batch.calls.len() == BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let batch = std::mem::replace(&mut self.batch, self.empty.try_recv().unwrap_or_default());
        // If the thread has panicked, that shows at the end.
        let _ = self.calls.as_ref().map(|calls| calls.send(batch));
    }
}

impl Tap for Background {
    fn sent(&mut self, now: Time, node: NodeId, tx: TxId, frame: &Frame) {
        if self.looks_at(node) {
            let frame = self.batch.frame(frame);
            self.note(now, Call::Sent(now, node, tx, frame));
        }
    }

    fn received(&mut self, now: Time, copy: Copy, frame: &Frame) {
        if self.looks_at(copy.node) {
            let frame = self.batch.frame(frame);
            self.note(now, Call::Received(now, copy, frame));
        }
    }

    fn lost(&mut self, now: Time, copy: Copy, frame: &Frame, reason: DropReason) {
        if (self.interest.losses)(reason) && self.looks_at(copy.node) {
            let frame = self.batch.frame(frame);
            self.note(now, Call::Lost(now, copy, frame, reason));
        }
    }

    fn wired(&mut self, now: Time, end: WireEnd, packet: &Ipv4Packet) {
        self.batch.packets.push(packet.clone());
        self.note(now, Call::Wired(now, end, self.batch.packets.len() - 1));
    }

    /// # Panics
    /// If the tap panicked, with its message.
    fn finish(&mut self, now: Time) -> io::Result<()> {
        self.batch.now = now;
        self.hand_over();
        self.calls = None;
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for Background {
    /// Also writes the notes of a stopped run; no file grows after this.
    fn drop(&mut self) {
        self.hand_over();
        self.calls = None;
        let _ = self.worker.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::wire::FrameKind;
    use fourhop_units::{Dur, Rate, Watt};
    use std::sync::{Arc, Mutex};

    /// Logs the calls, and fails at the end.
    struct Log(Arc<Mutex<Vec<String>>>);

    impl Tap for Log {
        fn sent(&mut self, now: Time, node: NodeId, _tx: TxId, frame: &Frame) {
            self.0.lock().unwrap().push(format!("{now:?} {node} sends {:?}", frame.kind));
        }
        fn received(&mut self, now: Time, copy: Copy, _frame: &Frame) {
            self.0.lock().unwrap().push(format!("{now:?} {} receives {:?}", copy.node, copy.power));
        }
        fn lost(&mut self, now: Time, copy: Copy, _frame: &Frame, reason: DropReason) {
            self.0.lock().unwrap().push(format!("{now:?} {} loses {reason:?}", copy.node));
        }
        fn finish(&mut self, _now: Time) -> io::Result<()> {
            Err(io::Error::other("the disk is full"))
        }
    }

    fn cts() -> Frame {
        let (dst, src) = (NodeId(1).mac(), NodeId(0).mac());
        let airtime = Dur::from_micros(304);
        Frame { dst, src, duration: airtime, rate: Rate::kbps(1_000), airtime, kind: FrameKind::Cts }
    }

    fn calls(tap: &mut dyn Tap) {
        for step in 0..3_000 {
            let (now, node) = (Time::from_millis(step), NodeId(step as u32 % 3));
            let copy = Copy { node, tx: TxId(0), power: Watt(step as f64), arrived: u64::MAX };
            tap.sent(now, node, TxId(0), &cts());
            tap.received(now, copy, &cts());
            tap.lost(now, copy, &cts(), DropReason::Collision);
        }
    }

    #[test]
    fn the_thread_sees_the_same_calls_in_the_same_order() {
        let [here, there]: [Arc<Mutex<Vec<String>>>; 2] = Default::default();
        calls(&mut Log(here.clone()));
        let mut background = Background::new(Log(there.clone()), Interest { nodes: vec![true; 3], losses: |_| true });
        calls(&mut background);
        assert_eq!(background.finish(Time::from_secs(3)).unwrap_err().to_string(), "the disk is full");
        assert_eq!(*here.lock().unwrap(), *there.lock().unwrap());
    }

    #[test]
    fn what_nobody_looks_at_is_not_noted() {
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let mut background =
            Background::new(Log(seen.clone()), Interest { nodes: vec![false, true], losses: |_| false });
        calls(&mut background);
        drop(background);
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|call| call.contains(" 1 ") && !call.contains("loses")), "{:?}", &seen[..3]);
        assert_eq!(seen.len(), 2_000, "a run that was stopped is written as far as it went");
    }
}
