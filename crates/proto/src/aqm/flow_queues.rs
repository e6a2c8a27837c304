//! The queues of FQ-CoDel (RFC 8290): flows hashed into queues, served by deficit round robin with new flows first,
//! each queue under CoDel.
//!
//! The owner decides how many packets the queues may contain, and when the next one leaves.

use super::codel::{self, Codel, Verdict};
use fourhop_units::Time;
use std::collections::VecDeque;

/// Parameters common to a set of queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Bytes that a queue may send per round. Section 5.2.4: the MTU with the link's header, 1514.
    pub quantum: u32,
    /// Parameters of CoDel.
    pub codel: codel::Config,
    /// CoDel does not drop a packet with at most this many bytes behind it.
    pub mtu: u32,
}

/// A queued packet, with its arrival time and length.
#[derive(Clone, Debug)]
struct Waiting<P> {
    since: Time,
    len: u32,
    packet: P,
}

#[derive(Clone, Debug)]
struct Queue<P> {
    packets: VecDeque<Waiting<P>>,
    bytes: u64,
    deficit: i64,
    codel: Codel,
    listed: bool,
}

impl<P> Queue<P> {
    fn new() -> Queue<P> {
        Queue { packets: VecDeque::new(), bytes: 0, deficit: 0, codel: Codel::default(), listed: false }
    }
}

/// Queues of flows. There are no timers.
#[derive(Clone, Debug)]
pub struct FlowQueues<P> {
    /// Hash values seen so far, in order, each with the index of its queue; few of thousands of possible ones occur.
    places: Vec<(u32, u32)>,
    queues: Vec<Queue<P>>,
    /// Lists of section 4.2: new and old flows.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    count: usize,
}

impl<P> Default for FlowQueues<P> {
    fn default() -> FlowQueues<P> {
        FlowQueues { places: Vec::new(), queues: Vec::new(), new: VecDeque::new(), old: VecDeque::new(), count: 0 }
    }
}

impl<P> FlowQueues<P> {
    /// Packets queued.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a packet of `len` bytes to the queue of the hash value `bucket`.
    pub fn enqueue(&mut self, config: &Config, now: Time, bucket: u32, len: u32, packet: P) {
        let place = match self.places.binary_search_by_key(&bucket, |&(bucket, _)| bucket) {
            Ok(at) => self.places[at].1,
            Err(at) => {
                let place = self.queues.len() as u32;
                self.queues.push(Queue::new());
                self.places.insert(at, (bucket, place));
                place
            }
        };
        let queue = &mut self.queues[place as usize];
        queue.bytes += u64::from(len);
        queue.packets.push_back(Waiting { since: now, len, packet });
        self.count += 1;
        if !queue.listed {
            // Section 4.1.3: a queue that was empty is new, with a quantum to spend.
            (queue.listed, queue.deficit) = (true, i64::from(config.quantum));
            self.new.push_back(place);
        }
    }

    /// Bytes in the longest queue.
    pub fn longest(&self) -> u64 {
        self.queues.iter().map(|queue| queue.bytes).max().unwrap_or(0)
    }

    /// Section 4.1.1: on overflow, drops a packet from the head of the longest queue; of equally long ones, that of the
    /// largest hash value.
    pub fn drop_from_longest(&mut self) -> Option<P> {
        let by_bytes = |&place: &u32| self.queues[place as usize].bytes;
        let longest = self.places.iter().map(|&(_, place)| place).max_by_key(by_bytes)?;
        let queue = &mut self.queues[longest as usize];
        let head = queue.packets.pop_front()?;
        queue.bytes -= u64::from(head.len);
        self.count -= 1;
        Some(head.packet)
    }

    /// Section 4.2: takes the next packet by deficit round robin, new flows before old ones. CoDel's drops go to
    /// `lost`, which returns packets that should pass after all.
    pub fn dequeue(&mut self, config: &Config, now: Time, mut lost: impl FnMut(P) -> Option<P>) -> Option<P> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let queue = &mut self.queues[place as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(config.quantum.max(1));
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            while let Some(head) = queue.packets.pop_front() {
                self.count -= 1;
                queue.bytes -= u64::from(head.len);
                let waited = now.saturating_since(head.since);
                let passes = match queue.codel.handle_head(&config.codel, now, waited, queue.bytes, config.mtu) {
                    Verdict::Pass => Some(head.packet),
                    Verdict::Drop => lost(head.packet),
                };
                if passes.is_some() {
                    queue.deficit -= i64::from(head.len);
                    return passes;
                }
            }
            queue.codel.handle_empty();
            list.pop_front();
            if from_new && !self.old.is_empty() {
                // An empty new queue waits for a round among the old ones, so that it cannot come back as new at once.
                self.old.push_back(place);
            } else {
                queue.listed = false;
            }
        }
    }

    /// Removes every packet and hands it to `lost`, flow by flow.
    pub fn clear(&mut self, mut lost: impl FnMut(P)) {
        for queue in &mut self.queues {
            queue.packets.drain(..).for_each(|waiting| lost(waiting.packet));
            queue.bytes = 0;
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::Dur;

    /// RFC 8290, section 4.2: a queue sends until its deficit is used up, not one packet more.
    #[test]
    fn a_flow_sends_a_quantum_per_round() {
        let codel = codel::Config { target: Dur::from_millis(5), interval: Dur::from_millis(100) };
        let config = Config { quantum: 300, codel, mtu: 1_514 };
        let mut queues = FlowQueues::default();
        for number in 0..6 {
            queues.enqueue(&config, Time::ZERO, 1, 100, ('a', number));
            queues.enqueue(&config, Time::ZERO, 2, 150, ('b', number));
        }
        let sent: Vec<char> =
            std::iter::from_fn(|| queues.dequeue(&config, Time::ZERO, |_| None)).map(|(flow, _)| flow).collect();
        assert_eq!(sent.iter().collect::<String>(), "aaabbaaabbbb");
    }
}
