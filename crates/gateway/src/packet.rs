//! A packet that the kernel holds, as the state machine sees it.

use fourhop_live::nfqueue::QueuedPacket;
use fourhop_proto::gateway::{FiveTuple, Packet, TcpView};
use fourhop_proto::wire::bytes;
use fourhop_units::Time;

/// A packet that the kernel holds. Of one with payload nothing is kept but what its headers say: about 250 bytes a
/// packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Queued {
    /// Queue and number of the verdict.
    pub queue: u16,
    /// Its number in the queue.
    pub id: u32,
    /// When it came.
    pub came: Time,
    /// The node of the mesh it goes to or comes from, by the worker's numbers.
    pub node: u32,
    len: u32,
    view: Option<TcpView>,
    tuple: Option<FiveTuple>,
    /// All of its bytes, if the kernel has copied them all: then they can be changed, since the kernel takes whole
    /// packets alone.
    whole: Option<Vec<u8>>,
    changed: bool,
}

impl Queued {
    /// A packet that has come.
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

    /// Its replacement, if it was changed.
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

    /// An acknowledgement over IPv4, and data of 1,000 bytes; the kernel has copied 60.
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

    /// `docs/gateway.md` says so.
    #[test]
    fn a_queued_packet_takes_little_memory() {
        assert!(size_of::<Queued>() <= 256, "{}", size_of::<Queued>());
    }
}
