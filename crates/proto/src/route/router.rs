//! The available protocols and static dispatch to them. To add one, put its [`Protocol`] in a folder beside this file
//! and add a row to the list at the end.

use super::action::{Action, Signal};
use super::aodv::Aodv;
use super::babel::Babel;
use super::protocol::{CounterVisitor, Distributed, Place, Protocol};
use super::static_routes::StaticRoutes;
use super::usage::Usage;
use crate::drop::DropReason;
use crate::wire::Ipv4Packet;
use core::net::Ipv4Addr;
use fourhop_units::{Dbm, Rate, Time};
use std::sync::Arc;

/// Generates, from a list of protocols, the enum that dispatches over them without a vtable.
macro_rules! protocols {
    (
        given { $($(#[$given_doc:meta])* $given:ident($given_type:ty);)+ }
        finding { $($(#[$doc:meta])* $variant:ident($type:ty);)+ }
    ) => {
        protocols! { @router $($(#[$given_doc])* $given($given_type);)+ $($(#[$doc])* $variant($type);)+ }

        /// A protocol whose nodes find routes by themselves, with its options.
        #[derive(Clone, Debug)]
        pub enum Finding {
            $($(#[$doc])* $variant(Arc<<$type as Distributed>::Config>),)+
        }

        $(impl From<<$type as Distributed>::Config> for Finding {
            fn from(config: <$type as Distributed>::Config) -> Finding {
                Finding::$variant(Arc::new(config))
            }
        })+

        impl Finding {
            /// Creates the router of the node at `place`.
            pub fn router(&self, place: Place) -> Router {
                match self { $(Finding::$variant(config) => <$type>::at(place, config).into(),)+ }
            }
        }
    };
    (@router $($(#[$doc:meta])* $variant:ident($type:ty);)+) => {
        /// The routing layer of a node.
        #[derive(Clone, Debug)]
        pub enum Router {
            $($(#[$doc])* $variant(Box<$type>),)+
        }

        $(impl From<$type> for Router {
            fn from(protocol: $type) -> Router {
                Router::$variant(Box::new(protocol))
            }
        })+

        impl Protocol for Router {
            fn with_route_changes(self) -> Router {
                match self { $(Router::$variant(r) => Protocol::with_route_changes(*r).into(),)+ }
            }
            fn add_interface(&mut self, addr: Ipv4Addr) {
                match self { $(Router::$variant(r) => Protocol::add_interface(&mut **r, addr),)+ }
            }
            fn handle_outgoing(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
                match self { $(Router::$variant(r) => Protocol::handle_outgoing(&mut **r, now, packet, out),)+ }
            }
            fn handle_transit(
                &mut self,
                now: Time,
                packet: Ipv4Packet,
                from: Option<Ipv4Addr>,
                out: &mut Vec<Action>,
            ) {
                match self { $(Router::$variant(r) => Protocol::handle_transit(&mut **r, now, packet, from, out),)+ }
            }
            fn handle_entering(&mut self, now: Time, packet: Ipv4Packet, out: &mut Vec<Action>) {
                match self { $(Router::$variant(r) => Protocol::handle_entering(&mut **r, now, packet, out),)+ }
            }
            #[inline]
            fn watches_links(&self) -> bool {
                match self { $(Router::$variant(r) => Protocol::watches_links(&**r),)+ }
            }
            fn handle_signal(&mut self, neighbour: Ipv4Addr, strength: Dbm) {
                match self { $(Router::$variant(r) => Protocol::handle_signal(&mut **r, neighbour, strength),)+ }
            }
            fn handle_rate(&mut self, now: Time, neighbour: Ipv4Addr, rate: Rate) {
                match self { $(Router::$variant(r) => Protocol::handle_rate(&mut **r, now, neighbour, rate),)+ }
            }
            fn handle_used(&mut self, now: Time, dst: Ipv4Addr, src: Option<Ipv4Addr>, from: Option<Ipv4Addr>) {
                match self { $(Router::$variant(r) => Protocol::handle_used(&mut **r, now, dst, src, from),)+ }
            }
            fn handle_message(&mut self, now: Time, packet: Ipv4Packet, from: Ipv4Addr, out: &mut Vec<Action>) {
                match self { $(Router::$variant(r) => Protocol::handle_message(&mut **r, now, packet, from, out),)+ }
            }
            fn handle_link_failure(
                &mut self,
                now: Time,
                packet: Option<Ipv4Packet>,
                next_hop: Ipv4Addr,
                reason: DropReason,
                out: &mut Vec<Action>,
            ) {
                match self {
                    $(Router::$variant(r) => {
                        Protocol::handle_link_failure(&mut **r, now, packet, next_hop, reason, out)
                    })+
                }
            }
            fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
                match self { $(Router::$variant(r) => Protocol::handle_timeout(&mut **r, now, out),)+ }
            }
            fn next_timeout(&self) -> Option<Time> {
                match self { $(Router::$variant(r) => Protocol::next_timeout(&**r),)+ }
            }
            fn buffered(&self) -> usize {
                match self { $(Router::$variant(r) => Protocol::buffered(&**r),)+ }
            }
            fn count(&self, visit: &mut CounterVisitor) {
                match self { $(Router::$variant(r) => Protocol::count(&**r, visit),)+ }
            }
            fn signal(&self, neighbour: Ipv4Addr) -> Option<Signal> {
                match self { $(Router::$variant(r) => Protocol::signal(&**r, neighbour),)+ }
            }
            fn usage(&self, dst: Ipv4Addr) -> Usage {
                match self { $(Router::$variant(r) => Protocol::usage(&**r, dst),)+ }
            }
            fn next_hop(&self, dst: Ipv4Addr) -> Option<Ipv4Addr> {
                match self { $(Router::$variant(r) => Protocol::next_hop(&**r, dst),)+ }
            }
            fn hops(&self, dst: Ipv4Addr) -> Option<u8> {
                match self { $(Router::$variant(r) => Protocol::hops(&**r, dst),)+ }
            }
        }
    };
}

protocols! {
    given {
        /// Routes given from outside.
        Static(StaticRoutes);
    }
    finding {
        /// RFC 3561.
        Aodv(Aodv);
        /// RFC 8966.
        Babel(Babel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::action::NextHop;
    use crate::route::aodv::Config;
    use crate::wire::{Body, EchoMessage, PacketMeta};
    use fourhop_units::{NodeId, Purpose, Stream};

    #[test]
    fn both_kinds_of_router_answer_for_the_packets_they_are_given() {
        let [here, neighbour, far] = [0, 1, 2].map(|n| NodeId(n).ipv4());
        let body = Body::Echo(EchoMessage { reply: false, ident: 0, number: 0, payload: 8 });
        let packet = Ipv4Packet { src: here, dst: far, ttl: 9, ident: 0, dscp: 0, body, meta: PacketMeta::default() };
        let mut out = Vec::new();
        let mut fixed = Router::from(StaticRoutes::new(here, [(far, neighbour, 2)]));
        fixed.handle_outgoing(Time::ZERO, packet.clone(), &mut out);
        let next_hop = NextHop::Unicast(neighbour);
        assert_eq!(out, [Action::Send { packet: packet.clone(), next_hop }]);
        assert_eq!((fixed.next_hop(far), fixed.buffered(), fixed.next_timeout()), (Some(neighbour), 0, None));
        out.clear();
        fixed.handle_link_failure(Time::ZERO, Some(packet.clone()), neighbour, DropReason::RtsRetryLimit, &mut out);
        assert_eq!(out, [Action::Drop { packet: packet.clone(), reason: DropReason::LinkBroken }]);
        out.clear();
        let jitter = Stream::new(1, NodeId(0), Purpose::RoutingJitter);
        let mut aodv = Router::from(Aodv::new(here, Config::standard(), jitter));
        aodv.handle_outgoing(Time::ZERO, packet, &mut out);
        assert!(matches!(&out[..], [Action::Send { packet, next_hop: NextHop::Broadcast }] if packet.is_routing()));
        assert_eq!((aodv.next_hop(far), aodv.buffered()), (None, 1));
        assert!(aodv.next_timeout().is_some());
    }
}
