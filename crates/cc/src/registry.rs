//! The transports a scenario can name, and static dispatch to their algorithms.
//!
//! To add one: write `your_algorithm.rs` beside this file and add a line to the table at the bottom.

use crate::ap2::Ap2;
use crate::bbr::Bbr;
use crate::cubic::Cubic;
use crate::cwl::Cwl;
use crate::rate::{Lost, RateSample};
use crate::rbp::Rbp;
use crate::reno::Reno;
use crate::tcp_ap::TcpAp;
use crate::vegas::Vegas;
use crate::westwood::Westwood;
use crate::{Ack, CaState, Cause, CongestionControl, Hint, Measurements, Params, View, Window};

/// How the stack repairs losses found by duplicate ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// RFC 5681 section 3.2: fast recovery ends with the first new ACK.
    Reno,
    /// RFC 6582: partial ACKs retransmit the next hole.
    NewReno,
    /// RFC 6675: the SACK scoreboard says what to send.
    Sack,
    /// RFC 8985: a segment is lost if it was sent long enough before one that has arrived; a probe covers losses at the
    /// tail. With a peer that lacks SACK, the probe and time-outs remain.
    RackTlp,
    /// Brakmo et al. 1995, section 3.1: a duplicate ACK, or one of the first two new ACKs after a retransmission,
    /// resends a segment that a fine-grained clock finds overdue.
    Vegas,
}

macro_rules! transports {
    ($($name:literal, $variant:ident($type:ty) = $build:expr, $recovery:expr, $summary:literal;)+) => {
        /// An algorithm chosen at run time, dispatched without a vtable.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $(#[doc = $summary] $variant($type),)+
        }

        impl Transport {
            /// Every transport, in the order of the table.
            pub const ALL: &[Transport] = &[$(Transport {
                name: $name,
                recovery: $recovery,
                summary: $summary,
                owns_window: <$type as CongestionControl>::OWNS_WINDOW,
            },)+];

            /// A fresh algorithm of this transport.
            pub fn controller(&self, params: &Params) -> Controller {
                match self.name {
                    $($name => Controller::$variant(($build)(params)),)+
                    // INVARIANT: transports are made by the table only.
                    other => unreachable!("transport {other} is not in the table"),
                }
            }
        }

        // RACK produces the samples and losses passed to these hooks.
        $(const _: () = assert!(
            !<$type as CongestionControl>::OWNS_WINDOW || matches!($recovery, Recovery::RackTlp),
            concat!($name, ": an algorithm that owns its window needs Recovery::RackTlp")
        );)+

        /// The size of each transport's state in bytes, and whether there is more elsewhere.
        #[cfg(test)]
        const STATES: &[(&str, usize, bool)] =
            &[$(($name, size_of::<$type>(), std::mem::needs_drop::<$type>()),)+];

        impl CongestionControl for Controller {
            fn name(&self) -> &'static str {
                match self { $(Controller::$variant(c) => c.name(),)+ }
            }
            fn init(&mut self, win: &mut Window, view: &View) {
                match self { $(Controller::$variant(c) => c.init(win, view),)+ }
            }
            fn on_ack(&mut self, win: &mut Window, view: &View, ack: &Ack) {
                match self { $(Controller::$variant(c) => c.on_ack(win, view, ack),)+ }
            }
            fn ssthresh(&mut self, win: &Window, view: &View, cause: Cause) -> u32 {
                match self { $(Controller::$variant(c) => c.ssthresh(win, view, cause),)+ }
            }
            fn loss_window(&self) -> u32 {
                match self { $(Controller::$variant(c) => c.loss_window(),)+ }
            }
            fn on_state(&mut self, win: &mut Window, view: &View, state: CaState) {
                match self { $(Controller::$variant(c) => c.on_state(win, view, state),)+ }
            }
            fn on_hint(&mut self, win: &mut Window, view: &View, hint: Hint) {
                match self { $(Controller::$variant(c) => c.on_hint(win, view, hint),)+ }
            }
            fn on_rate(&mut self, win: &mut Window, view: &View, sample: &RateSample) {
                match self { $(Controller::$variant(c) => c.on_rate(win, view, sample),)+ }
            }
            fn on_lost(&mut self, win: &mut Window, view: &View, lost: &Lost) {
                match self { $(Controller::$variant(c) => c.on_lost(win, view, lost),)+ }
            }
            fn on_mark(&mut self, win: &mut Window, view: &View, mark: &Lost) {
                match self { $(Controller::$variant(c) => c.on_mark(win, view, mark),)+ }
            }
            fn on_restart(&mut self, win: &mut Window, view: &View) {
                match self { $(Controller::$variant(c) => c.on_restart(win, view),)+ }
            }
            fn marks_app_limited(&self) -> bool {
                match self { $(Controller::$variant(c) => c.marks_app_limited(),)+ }
            }
            fn measurements(&self) -> Measurements {
                match self { $(Controller::$variant(c) => c.measurements(),)+ }
            }
            fn undo(&mut self, win: &Window, prior: u32) -> u32 {
                match self { $(Controller::$variant(c) => c.undo(win, prior),)+ }
            }
        }
    };
}

/// A transport a scenario can name: an algorithm together with the loss recovery it is defined for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transport {
    /// Name in scenarios.
    pub name: &'static str,
    /// Loss recovery the stack uses for it.
    pub recovery: Recovery,
    /// One line for `fourhop list`.
    pub summary: &'static str,
    owns_window: bool,
}

impl Transport {
    /// Finds the transport of that name.
    pub fn find(name: &str) -> Option<&'static Transport> {
        Transport::ALL.iter().find(|t| t.name == name)
    }

    /// Whether its algorithm declares [`CongestionControl::OWNS_WINDOW`].
    pub fn owns_window(&self) -> bool {
        self.owns_window
    }

    /// Whether it recovers by selective acknowledgements, so that both ends have to negotiate them.
    pub fn uses_sack(&self) -> bool {
        matches!(self.recovery, Recovery::Sack | Recovery::RackTlp)
    }

    /// Whether [`crate::tcp_ap`] paces it.
    pub fn is_tcp_ap(&self) -> bool {
        matches!(self.name, "tcp-ap" | "tcp-ap-sack")
    }

    /// Whether [`crate::rbp`] paces it.
    pub fn is_rbp(&self) -> bool {
        matches!(self.name, "rbp" | "rbp-reno")
    }

    /// Whether its sender is that of ad hoc TCP, which freezes and probes.
    pub fn has_adhoc_sender(&self) -> bool {
        matches!(self.name, "adhoc-tcp" | "adhoc-sender")
    }

    /// Whether its receiver is that of ad hoc TCP, which advertises the capacity of the path.
    pub fn has_adhoc_receiver(&self) -> bool {
        matches!(self.name, "adhoc-tcp" | "adhoc-receiver")
    }
}

// The table: name in scenarios, variant(type) = constructor from the parameters, recovery, one-line summary.
transports! {
    "newreno", NewReno(Reno) = Reno::new, Recovery::NewReno, "NewReno: RFC 5681 window, RFC 6582 recovery";
    "sack", Sack(Reno) = Reno::new, Recovery::Sack, "SACK: RFC 5681 window, RFC 6675 recovery";
    "reno", Reno(Reno) = Reno::new, Recovery::Reno, "Reno: RFC 5681 window and fast recovery";
    "vegas", Vegas(Vegas) = Vegas::new, Recovery::Vegas, "Vegas: the window follows the backlog (Brakmo et al. 1995)";
    "westwood", Westwood(Westwood) = Westwood::new, Recovery::NewReno,
        "Westwood+: NewReno that cuts the window to the bandwidth estimated from ACKs (Grieco, Mascolo 2004)";
    "cubic", Cubic(Cubic) = Cubic::new, Recovery::Sack, "CUBIC: RFC 9438 on SACK recovery";
    "bbr", Bbr(Bbr) = Bbr::new, Recovery::RackTlp, "BBR version 3: rate and window from a model of the path \
        (draft-ietf-ccwg-bbr-05)";
    "ap2", Ap2(Ap2) = Ap2::new, Recovery::RackTlp, "AP2: a window from rate and hops, sent in paced bursts, for radios \
        with and without aggregation";
    "cwl", Cwl(Cwl) = Cwl::new, Recovery::NewReno, "NewReno with a window limit, fixed or a quarter of the hops";
    "rbp", Rbp(Rbp) = Rbp::new, Recovery::NewReno, "rate-based pacing on NewReno: RTT / (cwnd + V) between segments";
    "rbp-reno", RbpReno(Rbp) = Rbp::new, Recovery::Reno, "rate-based pacing on Reno";
    "tcp-ap", TcpAp(TcpAp) = TcpAp::new, Recovery::NewReno,
        "TCP-AP: NewReno paced by the four-hop delay and its variation (ElRakabawy et al. 2005)";
    "tcp-ap-sack", TcpApSack(TcpAp) = TcpAp::on_sack, Recovery::Sack, "TCP-AP on SACK recovery";
    "adhoc-tcp", AdhocTcp(Reno) = Reno::new, Recovery::Sack,
        "ad hoc TCP: SACK with receiver and sender of Cho, Sirisena, Pawlikowski 2004";
    "adhoc-receiver", AdhocReceiver(Reno) = Reno::new, Recovery::Sack, "SACK with only the receiver of ad hoc TCP";
    "adhoc-sender", AdhocSender(Reno) = Reno::new, Recovery::Sack, "SACK with only the sender of ad hoc TCP";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Private area of a Linux congestion control, `icsk_ca_priv` of `struct inet_connection_sock`: 13 words of 64
    /// bits.
    const PRIVATE_AREA: usize = 104;

    /// Transports whose state needs the socket's storage, with its size in bytes. TCP-AP's includes its parameters, but
    /// not its samples of 8 bytes each.
    const SOCKET_STORAGE: &[(&str, usize)] = &[("ap2", 440), ("bbr", 248), ("tcp-ap", 360), ("tcp-ap-sack", 360)];

    /// Linux limits an algorithm's name to 15 characters (`TCP_CA_NAME_MAX`). It is the transport's name, except for
    /// those that differ only in recovery or receiver.
    #[test]
    fn algorithms_have_the_names_of_their_transports() {
        for transport in Transport::ALL {
            let expected = match transport.name {
                "newreno" | "sack" | "adhoc-tcp" | "adhoc-receiver" | "adhoc-sender" => "reno",
                "rbp-reno" => "rbp",
                own => own,
            };
            let name = transport.controller(&Params::new()).name();
            assert!(name == expected && name.len() <= 15, "{}: {name}", transport.name);
        }
    }

    /// Cho, Sirisena, Pawlikowski 2004: the receiver's and the sender's half work alone and together.
    #[test]
    fn the_halves_of_adhoc_tcp() {
        let halves = |name| {
            let transport = Transport::find(name).expect("in the table");
            (transport.has_adhoc_sender(), transport.has_adhoc_receiver())
        };
        for (name, expected) in
            [("adhoc-tcp", (true, true)), ("adhoc-sender", (true, false)), ("adhoc-receiver", (false, true))]
        {
            assert_eq!(halves(name), expected, "{name}");
        }
        assert_eq!(halves("sack"), (false, false));
    }

    #[test]
    fn an_algorithm_declares_that_it_owns_its_window() {
        let owners: Vec<_> = Transport::ALL.iter().filter(|each| each.owns_window()).map(|each| each.name).collect();
        assert_eq!(owners, ["bbr", "ap2"]);
    }

    #[test]
    fn states_fit_the_kernels_private_area_or_are_listed() {
        for &(name, bytes, more) in STATES {
            match SOCKET_STORAGE.iter().find(|(listed, _)| *listed == name) {
                Some((_, listed)) => assert_eq!(bytes, *listed, "{name}"),
                None => {
                    assert!(bytes <= PRIVATE_AREA && !more, "{name} takes {bytes} bytes, and more elsewhere: {more}")
                }
            }
        }
        assert!(SOCKET_STORAGE.iter().all(|(name, _)| Transport::find(name).is_some()));
    }
}
