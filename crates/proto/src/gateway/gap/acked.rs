//! Acknowledgements from the wireless side: what they reveal about a path, and their effect on pacing.

use super::super::Action;
use super::super::delayed::Sample;
use super::super::flow::Down;
use super::super::pacer::Pacer;
use super::super::packet::Packet;
use super::super::windowed::Acked;
use super::{Gateway, Path};
use crate::wire::TcpSegment;
use core::net::IpAddr;
use fourhop_cc::Hint;
use fourhop_cc::tcp_ap::{self, Pace};
use fourhop_units::{Bytes, Dur, Time};

/// Air time of a segment of `mss` bytes and its acknowledgement on the links of a path, without queueing.
fn on_the_air(path: &Path, mss: u32, pace: &tcp_ap::Params) -> Dur {
    let bytes = u64::from(mss) + u64::from(pace.data_overhead) + u64::from(pace.ack_bytes);
    path.rate.time_for(Bytes(bytes * u64::from(path.hops)))
}

impl<P: Packet> Gateway<P> {
    /// `node` on the wireless side sends an acknowledgement, which may give a round trip over the radio.
    pub(super) fn acknowledged_down(
        &mut self,
        now: Time,
        slot: u32,
        node: IpAddr,
        segment: &TcpSegment,
        out: &mut Vec<Action<P>>,
    ) {
        let path = self.paths.get(&node).copied();
        let Some(down) = self.table.get_mut(slot).and_then(|flow| flow.down.as_deref_mut()) else { return };
        let before = down.meter.acked();
        let duplicate = segment.payload == 0 && down.meter.is_outstanding() && down.meter.is_last(segment.ack);
        let rtt = down.meter.handle_ack(now, segment.ack, &segment.options.sack);
        let changed = match &mut down.pacer {
            Pacer::Gap(..) => rtt.is_some_and(|rtt| self.config.adapt(down, segment, rtt, path)),
            Pacer::Ap2(windowed) => {
                if let Some(path) = path.filter(|_| self.config.pacing) {
                    windowed.take_path(now, path.hops, path.rate);
                }
                let bytes = u32::try_from(down.meter.acked() - before).unwrap_or(u32::MAX);
                let (ack, outstanding, limited) = (segment.ack, down.meter.outstanding(), !down.queue.is_empty());
                let ends = segment.options.sack.iter().filter(|(_, right)| right.after(ack));
                let reach = ends.map(|(_, right)| right.offset_from(ack)).max().unwrap_or(0);
                let mss = down.mss;
                windowed.handle_ack(now, &Acked { ack, bytes, duplicate, reach, rtt, outstanding, mss, limited });
                true
            }
        };
        if changed {
            self.release(now, slot, out);
        }
    }
}

impl super::Config {
    /// Updates TCP-AP's interval from another round trip. Returns whether it was used.
    fn adapt<P>(&self, down: &mut Down<P>, segment: &TcpSegment, rtt: Dur, path: Option<Path>) -> bool {
        let left_second = down.left_second(segment.ack);
        let Pacer::Gap(pace, interval) = &mut down.pacer else { return false };
        if self.delayed_acks {
            match down.receiver.handle_ack(down.meter.covered()) {
                Sample::Counts => {}
                Sample::CountsAlone => *pace = Pace::new(&self.pace),
                Sample::Waited => return false,
            }
        }
        if !self.pacing {
            return false;
        }
        let mut rtt = rtt;
        if let Some(path) = path {
            pace.take_hint(Hint::HopCount(u32::from(path.hops)));
            pace.take_hint(Hint::LinkRate(path.rate));
            if left_second {
                rtt = rtt.saturating_sub(path.rate.time_for(Bytes(u64::from(down.mss + self.pace.data_overhead))));
            }
            if self.least_round_trip {
                rtt = rtt.max(on_the_air(&path, down.mss, &self.pace));
            }
        }
        *interval = pace.sample(&self.pace, down.mss, rtt).or(*interval);
        true
    }
}
