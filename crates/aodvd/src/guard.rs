//! Limits and checks that a message passes before AODV sees it.

use fourhop_proto::route::Aodv;
use fourhop_proto::route::aodv::{Route, is_newer};
use fourhop_proto::wire::AodvMessage;
use fourhop_units::{Dur, Time};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

macro_rules! refusals {
    ($($variant:ident, $name:literal, $doc:literal;)+) => {
        /// Why a datagram is not handed to AODV.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Refusal { $(#[doc = $doc] $variant,)+ }

        impl Refusal {
            /// Name in what is shown.
            pub const fn name(self) -> &'static str {
                match self { $(Refusal::$variant => $name,)+ }
            }
        }
    };
}

refusals! {
    Malformed, "malformed", "Not an AODV message.";
    Stranger, "stranger", "The address of its sender is not in the mesh.";
    OwnAddress, "own-address", "Another node sends from this node's address.";
    Impostor, "impostor", "A request that names this node as its originator, with a sequence number that this node has \
        not reached.";
    ForeignTarget, "foreign-target", "About an address that is neither in the mesh nor behind gateways.";
    NumberJump, "number-jump", "A sequence number that is farther from the known one than any node can count.";
    TooFast, "too-fast", "Its sender has sent too many messages.";
    Flood, "flood", "Its originator has sent too many requests.";
    Unauthenticated, "unauthenticated", "The message has no valid authentication code.";
    Replayed, "replayed", "Its authentication code was used before.";
}

/// A rate limit: a burst, and a rate per second afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// Fill level, in thousandths of a message.
    level: u64,
    filled: Time,
}

impl Bucket {
    /// A full bucket: twice the rate per second.
    pub fn full(now: Time, rate: u32) -> Bucket {
        Bucket { level: u64::from(rate) * 2_000, filled: now }
    }

    /// Takes one message, if there is one.
    pub fn take(&mut self, now: Time, rate: u32) -> bool {
        let millis = now.saturating_since(self.filled).as_millis();
        self.level = (self.level + millis.saturating_mul(u64::from(rate))).min(u64::from(rate) * 2_000);
        self.filled += Dur::from_millis(millis);
        let has = self.level >= 1_000;
        self.level -= if has { 1_000 } else { 0 };
        has
    }
}

/// Rate limits of requests by originator. Anybody can invent originators, so their number is limited.
#[derive(Clone, Debug, Default)]
pub struct Originators {
    buckets: BTreeMap<Ipv4Addr, Bucket>,
}

impl Originators {
    /// Whether a request of this originator is within its rate. If there is no room for another originator, those whose
    /// buckets are full again are forgotten; if there are none, the request is refused.
    pub fn take(&mut self, now: Time, originator: Ipv4Addr, rate: u32, most: usize) -> bool {
        if self.buckets.len() >= most && !self.buckets.contains_key(&originator) {
            self.buckets.retain(|_, bucket| now.saturating_since(bucket.filled) < Dur::from_secs(2));
            if self.buckets.len() >= most {
                return false;
            }
        }
        self.buckets.entry(originator).or_insert_with(|| Bucket::full(now, rate)).take(now, rate)
    }

    /// Number of originators.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether there are no originators.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }
}

/// Checks that a message is possible, given what AODV knows. `routed` says for which addresses routes are searched,
/// `step` how far sequence numbers may be ahead.
///
/// # Errors
/// The first implausible item.
pub fn plausible(
    aodv: &Aodv,
    message: &AodvMessage,
    routed: impl Fn(Ipv4Addr) -> bool,
    step: u32,
) -> Result<(), Refusal> {
    let about = |address, seqno: Option<u32>| match seqno {
        _ if !routed(address) => Err(Refusal::ForeignTarget),
        Some(seqno) if leaps(aodv, address, seqno, step) => Err(Refusal::NumberJump),
        _ => Ok(()),
    };
    match message {
        AodvMessage::Rreq(rreq) => {
            if rreq.originator == aodv.addr() && is_newer(rreq.originator_seqno, aodv.seqno()) {
                return Err(Refusal::Impostor);
            }
            about(rreq.originator, Some(rreq.originator_seqno))?;
            // `correct` handles its number.
            about(rreq.destination, None)
        }
        AodvMessage::Rrep(rrep) => {
            about(rrep.originator, None)?;
            about(rrep.destination, Some(rrep.destination_seqno))
        }
        AodvMessage::Rerr(rerr) => rerr.unreachable.iter().try_for_each(|lost| about(lost.addr, Some(lost.seqno))),
        AodvMessage::RrepAck | AodvMessage::Probe(_) => Ok(()),
    }
}

/// Whether `seqno` is more than `step` ahead of this node's own number, or of that of a valid route to `address`. One
/// that is older is AODV's business.
fn leaps(aodv: &Aodv, address: Ipv4Addr, seqno: u32, step: u32) -> bool {
    let known = match address == aodv.addr() {
        true => Some(aodv.seqno()),
        false => aodv.route(address).filter(|route| route.is_valid()).and_then(Route::known_seqno),
    };
    known.is_some_and(|known| is_farther(seqno, known, step))
}

fn is_farther(seqno: u32, known: u32, step: u32) -> bool {
    is_newer(seqno, known) && seqno.wrapping_sub(known) > step
}

/// Keeps a forged number that was believed from outlasting its route. A node that has believed one asks for it in its
/// requests: the number is taken out of them. It would discard the true number as an old one: once its route is gone,
/// it forgets the forged one. Of two numbers so far apart nobody knows which is true, so without a route the one heard
/// last counts.
pub fn correct(aodv: &mut Aodv, message: &mut AodvMessage, step: u32) {
    let (address, seqno) = match message {
        AodvMessage::Rreq(rreq) => (rreq.originator, rreq.originator_seqno),
        AodvMessage::Rrep(rrep) => (rrep.destination, rrep.destination_seqno),
        AodvMessage::Rerr(_) | AodvMessage::RrepAck | AodvMessage::Probe(_) => return,
    };
    let gone = aodv.route(address).filter(|route| !route.is_valid()).and_then(Route::known_seqno);
    if gone.is_some_and(|known| is_farther(known, seqno, step)) {
        aodv.forget_seqno(address);
    }
    if let AodvMessage::Rreq(rreq) = message {
        rreq.destination_seqno = rreq.destination_seqno.filter(|&seqno| !leaps(aodv, rreq.destination, seqno, step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_two_seconds_worth_at_once_and_then_its_rate() {
        let mut bucket = Bucket::full(Time::ZERO, 10);
        assert_eq!((0..100).filter(|_| bucket.take(Time::ZERO, 10)).count(), 20);
        let taken: usize = (1..=1_000).map(|ms| usize::from(bucket.take(Time::from_millis(ms), 10))).sum();
        assert_eq!(taken, 10);
        assert_eq!((0..100).filter(|_| bucket.take(Time::from_secs(1_000), 10)).count(), 20, "and keeps no more");
    }

    #[test]
    fn originators_are_bounded_and_forgotten() {
        let mut all = Originators::default();
        let from = |n: u32| Ipv4Addr::from_bits(0x0a00_0000 + n);
        assert!((0..8).all(|n| all.take(Time::ZERO, from(n), 5, 8)));
        assert!(!all.take(Time::ZERO, from(8), 5, 8), "there is no room");
        assert!(all.take(Time::ZERO, from(7), 5, 8), "those that are known go on");
        assert!(all.take(Time::from_secs(3), from(8), 5, 8), "silence makes room");
        assert!(all.len() <= 8 && !all.is_empty());
    }

    #[test]
    fn a_bucket_keeps_the_part_of_a_message_that_has_come_in() {
        // Three per second: one after 334 ms, the second after 667 ms, the third after a full second.
        let mut bucket = Bucket::full(Time::ZERO, 3);
        assert_eq!((0..10).filter(|_| bucket.take(Time::ZERO, 3)).count(), 6);
        let taken: Vec<u64> = (1..=1_000).filter(|&ms| bucket.take(Time::from_millis(ms), 3)).collect();
        assert_eq!(taken, [334, 667, 1_000]);
        // Fractions of a millisecond are not lost.
        let mut bucket = Bucket::full(Time::ZERO, 1);
        assert_eq!((0..10).filter(|_| bucket.take(Time::ZERO, 1)).count(), 2);
        let taken = (1..=1_500).filter(|&n| bucket.take(Time::from_micros(n * 700), 1)).count();
        assert_eq!(taken, 1, "in 1.05 s");
    }

    #[test]
    fn an_originator_is_forgotten_when_its_bucket_is_full_again() {
        let from = |n: u32| Ipv4Addr::from_bits(0x0a00_0000 + n);
        let mut all = Originators::default();
        assert!(all.is_empty());
        assert!(all.take(Time::ZERO, from(1), 5, 2) && all.take(Time::from_secs(1), from(2), 5, 2));
        assert!(!all.take(Time::from_millis(1_999), from(3), 5, 2));
        assert!(all.take(Time::from_secs(2), from(3), 5, 2), "the first was silent for two seconds");
        assert_eq!(all.len(), 2);
        assert!(!all.take(Time::from_secs(2), from(1), 5, 2), "and is unknown now");
    }

    #[test]
    fn refusals_are_named_alike_in_tables_and_in_json() {
        for refusal in [Refusal::Malformed, Refusal::OwnAddress, Refusal::NumberJump, Refusal::Replayed] {
            assert_eq!(serde_json::to_value(refusal).unwrap(), refusal.name());
        }
    }
}
