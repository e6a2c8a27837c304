//! Named streams of random numbers.
//!
//! Every consumer draws from its own stream, named by (seed, node, purpose). An additional draw in one layer of one
//! node does not shift any other stream, so two variants of a scenario share their random numbers wherever they behave
//! alike.

use crate::{Dur, NodeId};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The purpose of a stream. The discriminants are part of the results: never renumber, only append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Purpose {
    /// Positions in a random topology; belongs to no node.
    Topology = 1,
    /// Choice of the endpoints of random flows; belongs to no node.
    Flows = 2,
    /// 802.11 back-off slots.
    Backoff = 3,
    /// Jitter before routing broadcasts.
    RoutingJitter = 4,
    /// Initial TCP sequence numbers and the phase of coarse TCP clocks.
    Tcp = 5,
    /// Traffic sources.
    Application = 6,
    /// Loss, duplication and delay injected by tests.
    Impairment = 7,
    /// Movement of nodes.
    Mobility = 8,
    /// Shadowing, fading and frame errors of the radio channel.
    Channel = 9,
    /// Sizes of files.
    FileSizes = 10,
    /// Pauses between files.
    Pauses = 11,
    /// Initial sequence numbers of all connections of a flow after the first.
    LaterConnections = 12,
    /// Choice of gateways and of random endpoints of single flows; belongs to no node.
    Endpoints = 13,
    /// Early drops at the link layer.
    LinkRed = 14,
    /// Early drops by the load of the medium, and the times at which that is sampled.
    NeighbourhoodRed = 15,
    /// The order in which rate control tries rates.
    RateControl = 16,
}

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `purpose` at `node` in the run with `seed`. The same three always give the same numbers.
    pub fn new(seed: u64, node: NodeId, purpose: Purpose) -> Stream {
        // The parts of the name are mixed one after another: with their sum or xor, (seed 1, node 2) could coincide
        // with (seed 2, node 1).
        let name = (u64::from(purpose as u32) << 32) | u64::from(node.0);
        Stream(Xoshiro256PlusPlus::seed_from_u64(mix(mix(seed).wrapping_add(name))))
    }

    /// A stream that belongs to the whole network rather than to one node.
    pub fn global(seed: u64, purpose: Purpose) -> Stream {
        Stream::new(seed, NodeId(u32::MAX), purpose)
    }

    /// A stream that belongs to a pair of nodes, in either order.
    pub fn of_pair(seed: u64, (a, b): (NodeId, NodeId), purpose: Purpose) -> Stream {
        let pair = (u64::from(a.0.min(b.0)) << 32) | u64::from(a.0.max(b.0));
        let name = mix(mix(seed).wrapping_add(u64::from(purpose as u32) << 32));
        Stream(Xoshiro256PlusPlus::seed_from_u64(mix(name ^ pair)))
    }

    /// Uniform over 0 .. `n`, excluding `n`; 0 if `n` is 0. The bias of the multiplication is below n / 2^32.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(n)) >> 32) as u32
    }

    /// Uniform over 0 .. `max`, excluding `max`.
    pub fn duration(&mut self, max: Dur) -> Dur {
        Dur::from_nanos(((u128::from(self.0.next_u64()) * u128::from(max.as_nanos())) >> 64) as u64)
    }

    /// Uniform over [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// 32 random bits.
    pub fn bits32(&mut self) -> u32 {
        self.0.next_u32()
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, node: u32, purpose: Purpose) -> u32 {
        Stream::new(seed, NodeId(node), purpose).bits32()
    }

    #[test]
    fn a_stream_is_a_function_of_its_name() {
        assert_eq!(first(1, 2, Purpose::Backoff), first(1, 2, Purpose::Backoff));
        assert_ne!(first(1, 2, Purpose::Backoff), first(2, 1, Purpose::Backoff));
        assert_ne!(first(1, 2, Purpose::Backoff), first(1, 3, Purpose::Backoff));
        assert_ne!(first(1, 2, Purpose::Backoff), first(1, 2, Purpose::Tcp));
    }

    #[test]
    fn a_pair_has_a_stream_of_its_own() {
        let first = |a, b| Stream::of_pair(1, (NodeId(a), NodeId(b)), Purpose::Channel).bits32();
        assert_eq!(first(2, 3), first(3, 2));
        assert!(first(2, 3) != first(2, 4) && first(2, 3) != first(3, 4));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut stream = Stream::new(7, NodeId(0), Purpose::Backoff);
        let mut counts = [0u32; 31];
        for _ in 0..31_000 {
            counts[stream.below(31) as usize] += 1;
        }
        // 31 bins with mean 1,000: five standard deviations are 158.
        assert!(counts.iter().all(|&c| (842..1158).contains(&c)), "{counts:?}");
        assert_eq!(stream.below(0), 0);
        assert!(stream.duration(Dur::from_millis(10)) < Dur::from_millis(10));
        assert!((0.0..1.0).contains(&stream.unit()));
    }
}
