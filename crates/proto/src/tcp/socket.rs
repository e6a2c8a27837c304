//! One connection: the states of RFC 9293, and what the user calls (RFC 9293 section 3.10).

use super::ack_policy::ReceiverPolicy;
use super::action::Action;
use super::adhoc::Freeze;
use super::config::{Config, Release, SackRecovery};
use super::ecn::EcnState;
use super::eifel::BeforeTimeout;
use super::pacer::Pacer;
use super::position::Pos;
use super::receive::Receiver;
use super::recovery::{Recovery, Strategy};
use super::rtt::RttEstimator;
use super::send::SendSpace;
use super::send_queue::SendQueue;
use super::state::State;
use super::stats::Stats;
use super::timer::{Timer, Timers};
use crate::wire::{TcpFlags, TcpSegment};
use fourhop_cc::{CongestionControl, Controller, Hint, Recovery as Recovers, Transport, View, Window};
use fourhop_units::{Dur, Seq, Time};

/// Timestamps in use (RFC 7323).
#[derive(Clone, Copy, Debug)]
pub(super) struct TimestampState {
    /// TS.Recent: what to echo.
    pub(super) recent: u32,
    /// When it was taken.
    pub(super) taken: Time,
}

/// One end of a connection.
///
/// # Call order
/// [`open`](Socket::open) once on a socket made by [`new`](Socket::new); one made by [`listen`](Socket::listen) waits
/// for a SYN. Then, in any order and with time that never runs backwards: [`handle_segment`](Socket::handle_segment),
/// [`handle_timeout`](Socket::handle_timeout), [`write`](Socket::write), [`read`](Socket::read),
/// [`close`](Socket::close), [`abort`](Socket::abort), [`handle_hint`](Socket::handle_hint). Each may change
/// [`next_timeout`](Socket::next_timeout) and appends to `out` what the driver has to do, in order; getters change
/// nothing. An early `handle_timeout` does nothing. After [`Action::Closed`] or [`Action::Reset`] nothing more comes.
#[derive(Clone, Debug)]
pub struct Socket {
    pub(super) config: Config,
    pub(super) transport: &'static Transport,
    pub(super) state: State,
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    pub(super) snd: SendSpace,
    pub(super) rcv: Receiver,
    pub(super) recovery: Recovery,
    pub(super) strategy: Strategy,
    pub(super) rtt: RttEstimator,
    pub(super) timers: Timers,
    pub(super) cc: Controller,
    pub(super) win: Window,
    pub(super) policy: ReceiverPolicy,
    pub(super) stats: Stats,
    /// Present where both ends offered timestamps.
    pub(super) timestamps: Option<TimestampState>,
    /// Both ends offered selective acknowledgements.
    pub(super) sack: bool,
    /// The peer's SYN carried a window scale.
    pub(super) peer_scales: bool,
    pub(super) pacer: Pacer,
    /// Present under [`Release::Queue`].
    pub(super) queue: Option<SendQueue>,
    /// Window probes in a row.
    pub(super) probes: u32,
    /// An acknowledgement has to leave with this call.
    pub(super) ack_due: bool,
    /// Marks of queues.
    pub(super) ecn: EcnState,
    /// The window before the last time-out, until something new is acknowledged.
    pub(super) before_timeout: Option<BeforeTimeout>,
    /// Last.ACK.sent of RFC 7323.
    pub(super) last_ack_sent: Pos,
    /// Hops travelled by the last packet, if its driver reports them.
    pub(super) hops: Option<u8>,
    /// Round trip of the segment that the next one answers, if its driver reports it.
    round_trip: Option<Dur>,
    /// Ad hoc TCP: is the sender frozen?
    pub(super) freeze: Freeze,
}

impl Socket {
    /// A socket that will open a connection from port `local` to port `remote` with initial sequence number `iss`, which
    /// should be random: the phase of the coarse clock and of the timestamps are taken from it too.
    ///
    /// A transport that recovers by SACK offers it regardless of [`Config::sack`]; one that owns the window, and
    /// [`Config::stack_pacing`], pace by a gate.
    pub fn new(mut config: Config, transport: &'static Transport, local: u16, remote: u16, iss: Seq) -> Socket {
        config.sack |= transport.uses_sack();
        config.stack_pacing &= !transport.owns_window();
        if transport.owns_window() || config.stack_pacing {
            // A rate is kept by a gate, which the other ways, those of agents on ns-2, are not.
            config.release = Release::Gate;
        }
        let initial = Window {
            cwnd: config.initial_window.clamp(1, config.cwnd_clamp),
            cwnd_cnt: 0,
            ssthresh: config.initial_ssthresh.max(2),
            cwnd_clamp: config.cwnd_clamp,
            pacing: None,
        };
        Socket {
            transport,
            state: State::Closed,
            local_port: local,
            remote_port: remote,
            snd: SendSpace::new(iss, config.mss),
            rcv: Receiver::new(config.receive_buffer, config.mss)
                .with_dsack(transport.recovery == Recovers::RackTlp || config.sack_recovery == SackRecovery::RackTlp),
            recovery: Recovery::new(),
            strategy: Strategy::new(transport.recovery, false, &config),
            rtt: RttEstimator::new(&config, Dur::from_nanos(u64::from(iss.to_wire()))),
            timers: Timers::STOPPED,
            cc: transport.controller(&config.cc),
            win: initial,
            policy: config.receiver,
            stats: Stats::default(),
            timestamps: None,
            sack: false,
            peer_scales: false,
            pacer: Pacer::new(config.release, config.pace_retransmissions).with_clock(config.pacing_clock),
            queue: (config.release == Release::Queue).then(SendQueue::default),
            probes: 0,
            ack_due: false,
            ecn: EcnState::OFF,
            before_timeout: None,
            last_ack_sent: Pos::SYN,
            hops: None,
            round_trip: None,
            freeze: Freeze::new(config.adhoc_sender),
            config,
        }
    }

    /// A socket that waits for one connection on port `local`.
    pub fn listen(config: Config, transport: &'static Transport, local: u16, iss: Seq) -> Socket {
        Socket { state: State::Listen, ..Socket::new(config, transport, local, 0, iss) }
    }

    /// Sends the SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.state == State::Closed && self.snd.max == Pos::SYN {
            self.start_handshake(now, State::SynSent, out);
        }
    }

    /// Appends `bytes` to the outgoing stream; a transfer without end is a very large number. Ignored after `close`.
    pub fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Action>) {
        if !self.snd.fin {
            self.note_application_limit();
            self.snd.end = self.snd.end.advance(bytes);
            self.transmit(now, out);
        }
    }

    /// The application has read `bytes`; only with [`Config::explicit_read`]. Returns how many there were.
    pub fn read(&mut self, now: Time, bytes: u64, out: &mut Vec<Action>) -> u64 {
        let read = self.rcv.read(bytes);
        let worthwhile = u64::from(self.config.receive_buffer / 2).min(2 * u64::from(self.config.mss));
        if self.state.may_receive() && self.rcv.could_open() >= worthwhile {
            self.send_ack(now, out);
        }
        read
    }

    /// Takes back what was written but never sent, so that a [`close`](Socket::close) comes soon.
    pub fn withdraw_unsent(&mut self) {
        if !self.snd.fin {
            self.withdraw_queue();
            self.snd.end = self.snd.end.min(self.snd.max.max(Pos::FIRST));
        }
    }

    /// The user will write no more: a FIN follows the last byte. Arriving data is still delivered.
    pub fn close(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.snd.fin {
            return;
        }
        match self.state {
            State::Closed | State::Listen | State::SynSent => {
                return self.end(Action::Closed, out);
            }
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            _ => {}
        }
        self.snd.fin = true;
        self.transmit(now, out);
    }

    /// Ends the connection at once with a reset.
    pub fn abort(&mut self, out: &mut Vec<Action>) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            self.send_reset(self.snd.max, out);
        }
        self.end(Action::Closed, out);
    }

    /// Another layer has something to tell congestion control.
    pub fn handle_hint(&mut self, now: Time, hint: Hint, out: &mut Vec<Action>) {
        let view = self.view(now, self.snd.in_flight_segments());
        self.cc.on_hint(&mut self.win, &view, hint);
        self.transmit(now, out);
    }

    /// The packet of the segment that is handled next travelled this number of hops, according to its time to live.
    pub fn note_hops(&mut self, hops: u8) {
        self.hops = Some(hops);
    }

    /// The segment that is handled next answers one that left so long ago, as a driver knows that stamps every packet.
    pub fn note_round_trip(&mut self, rtt: Dur) {
        self.round_trip = Some(rtt);
    }

    /// What comes with a segment about its path, before what the segment does: first the wired part of the round trip, which
    /// a gateway wrote into it, then the round trip that this is a part of.
    fn take_path_news(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if let Some(millis) = segment.options.wired_rtt {
            let view = self.view(now, self.snd.in_flight_segments());
            self.cc.on_hint(&mut self.win, &view, Hint::WiredRtt(Dur::from_millis(millis.into())));
        }
        if let Some(rtt) = self.round_trip.take() {
            self.handle_hint(now, Hint::RoundTrip(rtt), out);
        }
    }

    /// The earliest instant at which `handle_timeout` has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        Time::earlier_of(self.timers.next(), self.pacer.next_timeout())
    }

    /// Handles all timers that have expired.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        for timer in Timer::ALL {
            if self.timers.take_expired(timer, now) {
                match timer {
                    Timer::Rack => self.on_rack_timeout(now, out),
                    Timer::Retransmit => self.on_retransmit_timeout(now, out),
                    Timer::Persist => self.probe_window(now, out),
                    Timer::DelayedAck => self.send_ack(now, out),
                    Timer::Probe => self.on_probe_timeout(now, out),
                    Timer::TimeWait => self.end(Action::Closed, out),
                }
            }
        }
        self.handle_pacing_timeout(now, out);
    }

    /// A segment for this connection has arrived.
    pub fn handle_segment(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        self.take_path_news(now, segment, out);
        match self.state {
            State::Closed => {}
            State::Listen => self.on_segment_in_listen(now, segment, out),
            State::SynSent => self.on_segment_in_syn_sent(now, segment, out),
            _ => {
                self.on_segment(now, segment, out);
                if self.ack_due && self.state != State::Closed {
                    self.send_ack(now, out);
                }
            }
        }
    }

    /// RFC 9293 section 3.10.7.1: the reset for a segment that no socket takes; `None` if it is a reset itself.
    pub fn refuse(segment: &TcpSegment) -> Option<TcpSegment> {
        if segment.flags.rst {
            return None;
        }
        let (seq, ack) = match segment.flags.ack {
            true => (segment.ack, Seq::default()),
            false => (Seq::default(), segment.seq + segment.seq_len()),
        };
        Some(TcpSegment {
            src_port: segment.dst_port,
            dst_port: segment.src_port,
            seq,
            ack,
            flags: TcpFlags { rst: true, ack: !segment.flags.ack, ..TcpFlags::default() },
            ..TcpSegment::default()
        })
    }

    pub(super) fn start_handshake(&mut self, now: Time, state: State, out: &mut Vec<Action>) {
        self.state = state;
        (self.snd.nxt, self.snd.max) = (Pos::FIRST, Pos::FIRST);
        self.rtt.start_timing(Pos::FIRST, now);
        self.timers.set(Timer::Retransmit, now + self.rtt.rto());
        self.send_syn(now, out);
    }

    /// Is the handshake under way?
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.state, State::SynSent | State::SynReceived)
    }

    /// The answer to a SYN or SYN-ACK is overdue.
    pub(super) fn resend_syn(&mut self, now: Time, out: &mut Vec<Action>) {
        self.timers.set(Timer::Retransmit, now + self.rtt.rto());
        self.send_syn(now, out);
    }

    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.stop_timers();
        self.timers.set(Timer::TimeWait, now + self.config.time_wait);
    }

    fn stop_timers(&mut self) {
        self.timers.stop_all();
        self.pacer.stop();
    }

    /// Nothing more happens here; `how` tells the driver how it ended.
    pub(super) fn end(&mut self, how: Action, out: &mut Vec<Action>) {
        self.state = State::Closed;
        self.snd.fin = true;
        self.freeze.thaw();
        self.stop_timers();
        out.push(how);
    }

    /// The clock of timestamps, from an arbitrary start unless clocks are to agree (RFC 7323 section 5.4).
    pub(super) fn timestamp(&self, now: Time) -> u32 {
        self.config.clock.reading(now).wrapping_add(self.timestamp_start())
    }

    pub(super) fn timestamp_start(&self) -> u32 {
        if self.config.clock.synchronised { 0 } else { self.snd.iss.to_wire() }
    }

    /// What congestion control may see.
    pub(super) fn view(&self, now: Time, in_flight: u32) -> View {
        View {
            now,
            in_flight,
            window: (self.win.cwnd + self.recovery.inflation).min(self.config.window_limit.unwrap_or(u32::MAX)),
            snd_wnd: u32::try_from(self.snd.wnd / u64::from(self.snd.mss)).unwrap_or(u32::MAX),
            mss: self.snd.mss,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            rto: self.rtt.base_rto(),
            state: self.recovery.state,
        }
    }
}
