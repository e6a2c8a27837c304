//! Transports besides TCP, UDP and ICMP, with static dispatch to their ends. To add one: a folder beside
//! [`atp`](crate::atp) with its [`FlowEnd`], its packets in `wire`, and a row in the list at the end.

use crate::app::end::{Counts, FlowEnd, PathSeen, Shared};
use crate::app::transfer::Transfer;
use crate::atp;
use crate::wire::{Segment, TransportPacket};
use fourhop_units::{Dur, Seq, Time};

macro_rules! transports {
    ($($(#[doc = $doc:literal])+ $transport:ident = $name:literal, $summary:literal, $end:ty;)+) => {
        /// A transport beside TCP, UDP and ICMP.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum OwnTransport { $($(#[doc = $doc])+ $transport,)+ }

        impl OwnTransport {
            /// Every one.
            pub const ALL: &[OwnTransport] = &[$(OwnTransport::$transport,)+];

            /// Its name in scenarios.
            pub const fn name(self) -> &'static str {
                match self { $(OwnTransport::$transport => $name,)+ }
            }

            /// Its kind.
            pub const fn summary(self) -> &'static str {
                match self { $(OwnTransport::$transport => $summary,)+ }
            }

            /// The transport of that name.
            pub fn find(name: &str) -> Option<OwnTransport> {
                Self::ALL.iter().copied().find(|transport| transport.name() == name)
            }
        }

        /// Options of a transport.
        #[derive(Clone, Copy, Debug)]
        pub enum OwnOptions { $($(#[doc = $doc])+ $transport(<$end as FlowEnd>::Config),)+ }

        $(impl From<<$end as FlowEnd>::Config> for OwnOptions {
            fn from(config: <$end as FlowEnd>::Config) -> OwnOptions {
                OwnOptions::$transport(config)
            }
        })+

        impl OwnOptions {
            /// IP protocol of its packets.
            pub const fn protocol(&self) -> u8 {
                match self {
                    $(OwnOptions::$transport(_) => <<$end as FlowEnd>::Packet as TransportPacket>::PROTOCOL,)+
                }
            }

            /// Configuration of path nodes that report their delays, if they do.
            #[allow(unreachable_patterns, reason = "there may be one transport alone")]
            pub const fn meter(&self) -> Option<atp::Config> {
                match self {
                    OwnOptions::Atp(config) => Some(*config),
                    _ => None,
                }
            }

            /// Sender and receiver of a transfer; `first` is the sender's first number.
            pub fn pair(&self, transfer: Transfer, first: Seq) -> (OwnEnd, OwnEnd) {
                match self {
                    $(OwnOptions::$transport(config) => {
                        let (sender, receiver) = <$end as FlowEnd>::pair(config, transfer, first);
                        (OwnEnd::$transport(sender), OwnEnd::$transport(receiver))
                    })+
                }
            }
        }

        /// One end of a flow over such a transport.
        #[derive(Debug)]
        pub enum OwnEnd { $($(#[doc = $doc])+ $transport($end),)+ }

        impl OwnEnd {
            /// Its transport.
            pub const fn transport(&self) -> OwnTransport {
                match self { $(OwnEnd::$transport(_) => OwnTransport::$transport,)+ }
            }

            /// Whether this is a packet of its transport.
            #[allow(unreachable_patterns, reason = "there may be one transport alone")]
            pub(super) fn speaks(&self, packet: &Segment) -> bool {
                match (self, packet) {
                    $((OwnEnd::$transport(_), Segment::$transport(_)) => true,)+
                    _ => false,
                }
            }

            pub(super) fn records_ages(&self) -> bool {
                match self { $(OwnEnd::$transport(end) => end.records_ages(),)+ }
            }

            pub(super) fn next_timeout(&self) -> Option<Time> {
                match self { $(OwnEnd::$transport(end) => end.next_timeout(),)+ }
            }

            pub(super) fn handle_timeout(&mut self, now: Time, shared: Shared<'_>) {
                match self { $(OwnEnd::$transport(end) => end.handle_timeout(now, shared),)+ }
            }

            /// A packet that it speaks.
            #[allow(unreachable_patterns, reason = "there may be one transport alone")]
            pub(super) fn handle_packet(&mut self, now: Time, packet: &Segment, shared: Shared<'_>) {
                match (self, packet) {
                    $((OwnEnd::$transport(end), Segment::$transport(packet)) => {
                        end.handle_packet(now, packet, shared);
                    })+
                    _ => {}
                }
            }

            /// Its counters.
            pub fn counts(&self) -> Counts {
                match self { $(OwnEnd::$transport(end) => end.counts(),)+ }
            }

            pub(super) fn rtt_samples(&self) -> (u64, Dur) {
                match self { $(OwnEnd::$transport(end) => end.rtt_samples(),)+ }
            }

            /// Its knowledge of the path.
            pub fn path_seen(&self) -> PathSeen {
                match self { $(OwnEnd::$transport(end) => end.path_seen(),)+ }
            }
        }
    };
}

transports! {
    /// ATP.
    Atp = "atp", "ATP: a rate reported by the nodes of the path; not TCP (Sundaresan et al. 2003)", atp::end::End;
}
