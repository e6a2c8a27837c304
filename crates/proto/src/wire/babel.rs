//! Babel messages (RFC 8966 section 4), for IPv4 routes.
//!
//! A message is a list of self-contained TLVs. On the wire, some content is in the parser's state (router-id, next hop,
//! a prefix to compress against; section 4.5): [`decode::babel`](super::decode::babel) puts it into each update, and
//! encoding removes it again. Updates are sent uncompressed. A router-id that equals the address in the prefix needs no
//! TLV of its own (flag R of section 4.6.9).

use super::{Message, Prefix};
use arrayvec::ArrayVec;
use core::net::{IpAddr, Ipv4Addr};

/// Metric and cost of unreachable destinations (section 2.1).
pub const BABEL_INFINITY: u16 = 0xffff;

/// Identity of a router (section 3.2.2): neither all zeros nor all ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RouterId([u8; 8]);

impl RouterId {
    /// Creates a router-id, unless the bytes are all zeros or all ones.
    pub const fn new(bytes: [u8; 8]) -> Option<RouterId> {
        match u64::from_be_bytes(bytes) {
            0 | u64::MAX => None,
            _ => Some(RouterId(bytes)),
        }
    }

    /// Creates the router-id that flag R derives from an IPv4 address: four zero bytes, then the address.
    pub const fn of_address(addr: Ipv4Addr) -> Option<RouterId> {
        let [a, b, c, d] = addr.octets();
        RouterId::new([0, 0, 0, 0, a, b, c, d])
    }

    /// Returns its bytes.
    pub const fn bytes(self) -> [u8; 8] {
        self.0
    }
}

/// A route that the sender advertises (section 4.6.9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BabelUpdate {
    /// Where it leads.
    pub prefix: Prefix,
    /// The router that originated the prefix.
    pub router_id: RouterId,
    /// Where packets are sent; `None` for the sender.
    pub next_hop: Option<Ipv4Addr>,
    /// Upper bound on the time to the next update, in centiseconds.
    pub interval: u16,
    /// Sequence number of the announcement.
    pub seqno: u16,
    /// The sender's metric, finite.
    pub metric: u16,
    /// Hops from the sender to the destination, in a sub-TLV of ours: RFC 8966 carries none, and transports of this
    /// project need them.
    pub hops: Option<u8>,
}

impl BabelUpdate {
    /// Type of the sub-TLV with the hops: one of those for experiments (section 5), which others skip.
    pub const HOPS: u8 = 112;
}

/// A TLV.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BabelTlv {
    /// Requests an acknowledgement within `interval` centiseconds (section 4.6.3).
    AckRequest {
        /// Value that the acknowledgement must repeat.
        opaque: u16,
        /// Centiseconds.
        interval: u16,
    },
    /// An acknowledgement (section 4.6.4).
    Ack {
        /// Opaque value of the request.
        opaque: u16,
    },
    /// A Hello: the sender is alive (section 4.6.5).
    Hello {
        /// Whether it is a unicast Hello, with its own sequence numbers.
        unicast: bool,
        /// Sequence number.
        seqno: u16,
        /// Upper bound on the time to the next one, in centiseconds; 0 if unknown.
        interval: u16,
    },
    /// "I heard you" (section 4.6.6).
    Ihu {
        /// The neighbour; `None` for every receiver.
        address: Option<IpAddr>,
        /// Cost of the link in this direction.
        rxcost: u16,
        /// Upper bound on the time to the next one, in centiseconds.
        interval: u16,
    },
    /// A route.
    Update(BabelUpdate),
    /// The end of one route or of all that the sender has advertised: an update with an infinite metric.
    Retraction {
        /// The route; `None` for all.
        prefix: Option<Prefix>,
        /// Time to the next update, in centiseconds; receivers do not use it.
        interval: u16,
    },
    /// Requests an update (section 4.6.10).
    RouteRequest {
        /// The route; `None` for all.
        prefix: Option<Prefix>,
    },
    /// Requests a route with a sequence number (section 4.6.11).
    SeqnoRequest {
        /// Where it should lead.
        prefix: Prefix,
        /// Minimum acceptable sequence number.
        seqno: u16,
        /// How often it may be forwarded, plus one.
        hop_count: u8,
        /// The router that should increase its number.
        router_id: RouterId,
    },
}

/// The TLVs of a datagram.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BabelMessage {
    /// TLVs in order.
    pub tlvs: Vec<BabelTlv>,
}

/// Parser state (section 4.5), as far as the TLVs in use need it.
#[derive(Default)]
struct State {
    router_id: Option<RouterId>,
    next_hop: Option<Ipv4Addr>,
}

/// A TLV without type and length. The longest is a seqno request with 16 bytes of prefix.
type Value = ArrayVec<u8, 32>;

impl BabelMessage {
    /// UDP port of Babel (section 4).
    pub const PORT: u16 = 6696;
    /// Its IPv4 multicast group (section 4).
    pub const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 111);
    /// Magic number and version of a packet (section 4.2).
    pub const MAGIC: [u8; 2] = [42, 2];
    /// Bytes of the packet header.
    pub const HEADER: u32 = 4;

    /// Returns the size of the packet without UDP and IP.
    pub fn len(&self) -> u32 {
        let mut len = Self::HEADER;
        self.write(&mut |bytes| len += bytes.len() as u32);
        len
    }

    /// Always false: every packet has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Appends the packet's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(Self::MAGIC);
        out.extend(((self.len() - Self::HEADER) as u16).to_be_bytes());
        self.write(&mut |bytes| out.extend(bytes));
    }

    fn write(&self, put: &mut impl FnMut(&[u8])) {
        let mut state = State::default();
        self.tlvs.iter().for_each(|tlv| tlv.write(&mut state, put));
    }
}

impl Message for BabelMessage {
    const PORT: u16 = BabelMessage::PORT;

    fn size(&self) -> u32 {
        BabelMessage::len(self)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        BabelMessage::encode(self, out);
    }

    fn trace_fields(&self, _to_all: bool) -> (&'static str, u32) {
        ("babel", 0)
    }
}

impl BabelTlv {
    fn write(&self, state: &mut State, put: &mut impl FnMut(&[u8])) {
        let mut value = Value::new();
        let kind = match self {
            BabelTlv::AckRequest { opaque, interval } => {
                extend(&mut value, [[0, 0], opaque.to_be_bytes(), interval.to_be_bytes()].as_flattened());
                2
            }
            BabelTlv::Ack { opaque } => {
                extend(&mut value, &opaque.to_be_bytes());
                3
            }
            BabelTlv::Hello { unicast, seqno, interval } => {
                let flags = [if *unicast { 0x80 } else { 0 }, 0];
                extend(&mut value, [flags, seqno.to_be_bytes(), interval.to_be_bytes()].as_flattened());
                4
            }
            BabelTlv::Ihu { address, rxcost, interval } => {
                let encoding = match address {
                    None => 0,
                    Some(IpAddr::V4(_)) => 1,
                    Some(IpAddr::V6(addr)) if addr.segments()[..4] == [0xfe80, 0, 0, 0] => 3,
                    Some(IpAddr::V6(_)) => 2,
                };
                extend(&mut value, [[encoding, 0], rxcost.to_be_bytes(), interval.to_be_bytes()].as_flattened());
                match address {
                    None => {}
                    Some(IpAddr::V4(addr)) => extend(&mut value, &addr.octets()),
                    Some(IpAddr::V6(addr)) => extend(&mut value, &addr.octets()[if encoding == 3 { 8 } else { 0 }..]),
                }
                5
            }
            BabelTlv::Update(update) => {
                update.introduce(state, put);
                let flags = if update.names_its_router() { ROUTER_ID_FLAG } else { 0 };
                update_value(&mut value, flags, Some(update.prefix), update.interval, update.seqno, update.metric);
                if let Some(hops) = update.hops {
                    extend(&mut value, &[BabelUpdate::HOPS, 1, hops]);
                }
                8
            }
            BabelTlv::Retraction { prefix, interval } => {
                // Router-id and sequence number are ignored.
                update_value(&mut value, 0, *prefix, *interval, 0, BABEL_INFINITY);
                8
            }
            BabelTlv::RouteRequest { prefix } => {
                extend(&mut value, &prefix.map_or([0, 0], |prefix| [1, prefix.bits()]));
                prefix.iter().for_each(|prefix| extend_prefix(&mut value, *prefix));
                9
            }
            BabelTlv::SeqnoRequest { prefix, seqno, hop_count, router_id } => {
                let [high, low] = seqno.to_be_bytes();
                extend(&mut value, &[1, prefix.bits(), high, low, *hop_count, 0]);
                extend(&mut value, &router_id.bytes());
                extend_prefix(&mut value, *prefix);
                10
            }
        };
        put_tlv(kind, &value, put);
    }
}

/// Flag R: the router-id is in the prefix.
pub(super) const ROUTER_ID_FLAG: u8 = 0x40;
/// Flag P: later prefixes are compressed against this one.
pub(super) const PREFIX_FLAG: u8 = 0x80;

impl BabelUpdate {
    /// Returns whether flag R derives the router-id from the prefix.
    fn names_its_router(&self) -> bool {
        RouterId::of_address(self.prefix.addr()) == Some(self.router_id)
    }

    /// Brings a parser into the state that the update needs (sections 4.6.7 and 4.6.8).
    fn introduce(&self, state: &mut State, put: &mut impl FnMut(&[u8])) {
        if !self.names_its_router() && state.router_id != Some(self.router_id) {
            let [a, b, c, d, e, f, g, h] = self.router_id.bytes();
            put_tlv(6, &[0, 0, a, b, c, d, e, f, g, h], put);
        }
        state.router_id = Some(self.router_id);
        if let Some(next_hop) = self.next_hop.filter(|next_hop| state.next_hop != Some(*next_hop)) {
            let [a, b, c, d] = next_hop.octets();
            put_tlv(7, &[1, 0, a, b, c, d], put);
            state.next_hop = Some(next_hop);
        }
    }
}

fn update_value(value: &mut Value, flags: u8, prefix: Option<Prefix>, interval: u16, seqno: u16, metric: u16) {
    let [encoding, bits] = prefix.map_or([0, 0], |prefix| [1, prefix.bits()]);
    extend(value, &[encoding, flags, bits, 0]);
    extend(value, [interval.to_be_bytes(), seqno.to_be_bytes(), metric.to_be_bytes()].as_flattened());
    prefix.iter().for_each(|prefix| extend_prefix(value, *prefix));
}

/// Appends the bytes that contain bits of the prefix.
fn extend_prefix(value: &mut Value, prefix: Prefix) {
    extend(value, &prefix.addr().octets()[..usize::from(prefix.bits().div_ceil(8))]);
}

fn extend(value: &mut Value, bytes: &[u8]) {
    // INVARIANT: no TLV that is sent is longer than a `Value`.
    value.try_extend_from_slice(bytes).expect("a TLV fits");
}

fn put_tlv(kind: u8, value: &[u8], put: &mut impl FnMut(&[u8])) {
    put(&[kind, value.len() as u8]);
    put(value);
}

#[cfg(test)]
#[path = "babel_tests.rs"]
mod tests;
