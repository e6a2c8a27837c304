//! A packet queued in the kernel, as seen by the state machine.

use fourhop_live::nfqueue::QueuedPacket;
use fourhop_proto::gateway::{FiveTuple, Packet, TcpView};
use fourhop_proto::wire::bytes;
use fourhop_units::Time;

/// A packet queued in the kernel. Of a packet with payload only information from its headers is kept: about 250 bytes
/// per packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Queued {
    /// Its queue, needed for the verdict.
    pub queue: u16,
    /// Its number in the queue.
    pub id: u32,
    /// Arrival time.
    pub came: Time,
    /// The node of the mesh that it is for or from, by the worker's index.
    pub node: u32,
    len: u32,
    view: Option<TcpView>,
    tuple: Option<FiveTuple>,
    /// All of its bytes, if the kernel has copied them all. Only then can they be changed, because the kernel accepts
    /// only whole packets.
    whole: Option<Vec<u8>>,
    changed: bool,
}

impl Queued {
    /// A packet that has just arrived.
    pub fn new(now: Time, queued: &QueuedPacket<'_>) -> Queued {
        let view = TcpView::of(queued.bytes);
        let whole =
            queued.bytes.len() == queued.len as usize && view.as_ref().is_some_and(|view| view.segment.flags.ack);
        Queued {
            queue: queued.queue,
            id: queued.id,
            came: now,
            node: u32::MAX,
            len: queued.len,
            tuple: FiveTuple::of(queued.bytes),
            whole: whole.then(|| queued.bytes.to_vec()),
            view,
            changed: false,
        }
    }

    /// The replacement bytes, if it was changed.
    pub fn instead(&self) -> Option<&[u8]> {
        self.whole.as_deref().filter(|_| self.changed)
    }

    /// Its payload in bytes, if it is a TCP segment.
    pub fn payload(&self) -> Option<u32> {
        self.view.as_ref().map(|view| view.segment.payload)
    }

    fn change(&mut self, edit: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let Some(whole) = &mut self.whole else { return false };
        let changed = edit(whole);
        self.changed |= changed;
        self.len = whole.len() as u32;
        changed
    }
}

impl Packet for Queued {
    fn len(&self) -> u32 {
        self.len
    }

    fn tcp(&self) -> Option<TcpView> {
        self.view.clone()
    }

    fn five_tuple(&self) -> Option<FiveTuple> {
        self.tuple
    }

    fn write_wired_rtt(&mut self, millis: u16, mtu: u32) -> bool {
        self.change(|bytes| bytes::write_wired_rtt(bytes, millis, mtu))
    }

    fn mark_congestion(&mut self) -> bool {
        self.change(|bytes| bytes::mark_congestion(bytes))
    }

    fn write_window(&mut self, window: u16) -> bool {
        self.change(|bytes| bytes::set_window(bytes, window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement over IPv4, or data of 1,000 bytes; the kernel has copied 60.
    fn bytes(payload: u16) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes[2..4].copy_from_slice(&(40 + payload).to_be_bytes());
        bytes.extend([0, 80, 1, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        bytes.extend(vec![7; usize::from(payload.min(20))]);
        bytes
    }

    #[test]
    fn what_is_there_as_a_whole_can_be_changed_and_the_rest_cannot() {
        let (ack, data) = (bytes(0), bytes(1_000));
        let mut ack = Queued::new(Time::ZERO, &QueuedPacket { queue: 1, id: 2, bytes: &ack, len: 40 });
        assert_eq!((ack.instead(), ack.payload()), (None, Some(0)));
        assert!(ack.write_window(9) && ack.write_wired_rtt(7, 1_500));
        assert_eq!((ack.len(), ack.instead().map(<[u8]>::len)), (48, Some(48)));
        let mut data = Queued::new(Time::ZERO, &QueuedPacket { queue: 1, id: 2, bytes: &data, len: 1_040 });
        assert_eq!((data.len(), data.payload()), (1_040, Some(1_000)));
        assert!(!data.write_window(9) && !data.write_wired_rtt(7, 1_500));
        assert_eq!(data.instead(), None);
    }

    /// As stated in `docs/gateway.md`.
    #[test]
    fn a_queued_packet_takes_little_memory() {
        assert!(size_of::<Queued>() <= 256, "{}", size_of::<Queued>());
    }

    #[test]
    fn what_the_headers_say_is_kept() {
        let data = bytes(1_000);
        let queued = Queued::new(Time::from_secs(3), &QueuedPacket { queue: 1, id: 2, bytes: &data, len: 1_040 });
        assert_eq!((queued.queue, queued.id, queued.came, queued.node), (1, 2, Time::from_secs(3), u32::MAX));
        let view = queued.tcp().unwrap();
        assert_eq!((view.src, view.dst), ([10, 0, 0, 1].into(), [10, 0, 0, 2].into()));
        assert_eq!((view.segment.src_port, view.segment.payload), (80, 1_000));
        let tuple = queued.five_tuple().unwrap();
        assert_eq!((tuple.protocol, tuple.src_port, tuple.dst_port), (6, 80, 256));
        assert_eq!((tuple.src, tuple.dst), (view.src, view.dst));
        let nothing = Queued::new(Time::ZERO, &QueuedPacket { queue: 1, id: 2, bytes: &[], len: 0 });
        assert_eq!((nothing.tcp(), nothing.five_tuple(), nothing.payload()), (None, None, None));
    }

    #[test]
    fn a_segment_that_acknowledges_nothing_is_not_copied() {
        let mut syn = bytes(0);
        syn[33] = 0x02;
        let mut syn = Queued::new(Time::ZERO, &QueuedPacket { queue: 1, id: 2, bytes: &syn, len: 40 });
        assert_eq!((syn.write_window(9), syn.instead(), syn.len()), (false, None, 40));
    }

    #[test]
    fn only_what_has_been_changed_is_sent_instead() {
        let ack = bytes(0);
        let mut ack = Queued::new(Time::ZERO, &QueuedPacket { queue: 1, id: 2, bytes: &ack, len: 40 });
        assert!(!ack.mark_congestion(), "its transport does not listen to marks");
        assert!(!ack.write_wired_rtt(7, 41), "it would be too long for the link");
        assert_eq!(ack.instead(), None);
        assert!(ack.write_window(9));
        assert!(!ack.mark_congestion());
        assert_eq!(ack.instead().map(|bytes| [bytes[34], bytes[35]]), Some([0, 9]), "the first change holds");
        let mut able = bytes(0);
        able[1] = 0b10;
        let mut able = Queued::new(Time::ZERO, &QueuedPacket { queue: 1, id: 2, bytes: &able, len: 40 });
        assert!(able.mark_congestion());
        assert_eq!(able.instead().map(|bytes| bytes[1]), Some(0b11));
    }
}
