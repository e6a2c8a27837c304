//! One connection: the states of RFC 9293, and the user calls (RFC 9293 section 3.10).

use super::action::Action;
use super::config::Config;
use super::context::Context;
use super::ecn;
use super::position::Pos;
use super::receiver::Receiver;
use super::sender::Sender;
use super::state::State;
use super::timers::{Timer, Timers};
use crate::wire::{TcpFlags, TcpOptions, TcpSegment};
use fourhop_cc::{Hint, Transport};
use fourhop_units::{Dur, Seq, Time};

/// One end of a connection.
///
/// # Call order
/// [`open`](Socket::open) once on a socket made by [`new`](Socket::new); one made by [`listen`](Socket::listen) waits
/// for a SYN. Then, in any order and with time that never runs backwards: [`handle_segment`](Socket::handle_segment),
/// [`handle_timeout`](Socket::handle_timeout), [`write`](Socket::write), [`read`](Socket::read),
/// [`close`](Socket::close), [`abort`](Socket::abort), [`handle_hint`](Socket::handle_hint). Each may change
/// [`next_timeout`](Socket::next_timeout) and appends actions for the driver to `out`, in order; getters change
/// nothing. An early `handle_timeout` does nothing. Nothing follows [`Action::Closed`] or [`Action::Reset`].
#[derive(Clone, Debug)]
pub struct Socket {
    pub(super) state: State,
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    pub(super) timers: Timers,
    pub(super) tx: Sender,
    pub(super) rx: Receiver,
    /// Round trip that the next segment completes, if the driver reports it.
    round_trip: Option<Dur>,
}

impl Socket {
    /// A socket that will open a connection from port `local` to port `remote` with initial sequence number `iss`,
    /// which should be random: it also sets the phase of the coarse clock and of the timestamps.
    ///
    /// A SACK-based transport offers SACK regardless of [`Config::sack`]; a transport that owns the window, and
    /// [`Config::stack_pacing`], pace by a gate.
    pub fn new(config: Config, transport: &'static Transport, local: u16, remote: u16, iss: Seq) -> Socket {
        let tx = Sender::new(config, transport, iss);
        let rx = Receiver::new(&tx.config, tx.wants_dsack(), iss);
        Socket {
            state: State::Closed,
            local_port: local,
            remote_port: remote,
            timers: Timers::STOPPED,
            tx,
            rx,
            round_trip: None,
        }
    }

    /// A socket that waits for one connection on port `local`.
    pub fn listen(config: Config, transport: &'static Transport, local: u16, iss: Seq) -> Socket {
        Socket { state: State::Listen, ..Socket::new(config, transport, local, 0, iss) }
    }

    /// Splits off the sender, with access to the parts of the rest that it may use.
    pub(super) fn halves<'a>(&'a mut self, now: Time, out: &'a mut Vec<Action>) -> (&'a mut Sender, Context<'a>) {
        let Socket { state, local_port, remote_port, timers, tx, rx, .. } = self;
        (tx, Context { now, state: *state, ports: (*local_port, *remote_port), rx, timers, out })
    }

    /// Sends whatever the windows allow.
    pub(super) fn transmit(&mut self, now: Time, out: &mut Vec<Action>) {
        let (tx, mut cx) = self.halves(now, out);
        tx.transmit(&mut cx);
    }

    /// Sends an acknowledgement without data.
    pub(super) fn send_ack(&mut self, now: Time, out: &mut Vec<Action>) {
        let (tx, mut cx) = self.halves(now, out);
        tx.send_ack(&mut cx);
    }

    /// Sends the SYN.
    pub fn open(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.state == State::Closed && self.tx.space.max == Pos::SYN {
            self.start_handshake(now, State::SynSent, out);
        }
    }

    /// Appends `bytes` to the outgoing stream; an endless transfer writes a very large number. Ignored after `close`.
    pub fn write(&mut self, now: Time, bytes: u64, out: &mut Vec<Action>) {
        if !self.tx.space.fin {
            let (tx, mut cx) = self.halves(now, out);
            tx.write(&mut cx, bytes);
        }
    }

    /// Reads up to `bytes` for the application; only with [`Config::explicit_read`]. Returns how many there were.
    pub fn read(&mut self, now: Time, bytes: u64, out: &mut Vec<Action>) -> u64 {
        let read = self.rx.space.read(bytes);
        let config = &self.tx.config;
        let worthwhile = u64::from(config.receive_buffer / 2).min(2 * u64::from(config.mss));
        if self.state.may_receive() && self.rx.space.could_open() >= worthwhile {
            self.send_ack(now, out);
        }
        read
    }

    /// Takes back data that was written but never sent, so that a [`close`](Socket::close) takes effect soon.
    pub fn withdraw_unsent(&mut self) {
        if !self.tx.space.fin {
            self.tx.withdraw_unsent();
        }
    }

    /// Closes the sending direction: a FIN follows the last byte. Arriving data is still delivered.
    pub fn close(&mut self, now: Time, out: &mut Vec<Action>) {
        if self.tx.space.fin {
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
        self.tx.space.close();
        self.transmit(now, out);
    }

    /// Ends the connection at once with a reset.
    pub fn abort(&mut self, out: &mut Vec<Action>) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            self.send_reset(out);
        }
        self.end(Action::Closed, out);
    }

    /// Passes a hint from another layer to congestion control.
    pub fn handle_hint(&mut self, now: Time, hint: Hint, out: &mut Vec<Action>) {
        self.tx.take_hint(now, hint);
        self.transmit(now, out);
    }

    /// Notes how many hops the packet of the next segment travelled, according to its time to live.
    pub fn note_hops(&mut self, hops: u8) {
        self.rx.note_hops(hops);
    }

    /// Notes the round trip that the next segment completes, for drivers that timestamp every packet.
    pub fn note_round_trip(&mut self, rtt: Dur) {
        self.round_trip = Some(rtt);
    }

    /// Takes the path information of a segment before its other effects: first the wired part of the round trip,
    /// written into it by a gateway, then the whole round trip.
    fn take_path_news(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        if let Some(millis) = segment.options.wired_rtt {
            self.tx.take_hint(now, Hint::WiredRtt(Dur::from_millis(millis.into())));
        }
        if let Some(rtt) = self.round_trip.take() {
            self.handle_hint(now, Hint::RoundTrip(rtt), out);
        }
    }

    /// The earliest instant at which `handle_timeout` has something to do.
    pub fn next_timeout(&self) -> Option<Time> {
        Time::earlier_of(self.timers.next(), self.tx.next_pacing())
    }

    /// Handles all expired timers.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Action>) {
        for timer in Timer::ALL {
            if self.timers.take_expired(timer, now) {
                self.on_timer(now, timer, out);
            }
        }
        let (tx, mut cx) = self.halves(now, out);
        tx.handle_pacing_timeout(&mut cx);
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Vec<Action>) {
        let opening = self.state.is_opening();
        let (tx, mut cx) = self.halves(now, out);
        let gives_up = match timer {
            Timer::Retransmit if opening => tx.on_handshake_timeout(),
            Timer::Retransmit => tx.on_retransmit_timeout(&mut cx),
            Timer::Probe => tx.on_probe_timeout(&mut cx),
            Timer::Rack => return tx.on_rack_timeout(&mut cx),
            Timer::Persist => return tx.probe_window(&mut cx),
            Timer::DelayedAck => return tx.send_ack(&mut cx),
            Timer::TimeWait => return self.end(Action::Closed, out),
        };
        if gives_up {
            self.end(Action::Reset, out);
        } else if opening && timer == Timer::Retransmit {
            self.resend_syn(now, out);
        }
    }

    /// Handles a segment for this connection.
    pub fn handle_segment(&mut self, now: Time, segment: &TcpSegment, out: &mut Vec<Action>) {
        self.take_path_news(now, segment, out);
        match self.state {
            State::Closed => {}
            State::Listen => self.on_segment_in_listen(now, segment, out),
            State::SynSent => self.on_segment_in_syn_sent(now, segment, out),
            _ => {
                self.on_segment(now, segment, out);
                if self.rx.owes_ack() && self.state != State::Closed {
                    self.send_ack(now, out);
                }
            }
        }
    }

    /// RFC 9293 section 3.10.7.1: the reset for a segment that no socket accepts; `None` if it is a reset itself.
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
        self.tx.open(now);
        self.resend_syn(now, out);
    }

    /// Sends the SYN or SYN-ACK and arms the timer that resends it.
    fn resend_syn(&mut self, now: Time, out: &mut Vec<Action>) {
        self.timers.set(Timer::Retransmit, now + self.tx.rtt.rto());
        self.send_syn(now, out);
    }

    /// Sends the SYN or, in SYN-RECEIVED, the SYN-ACK.
    pub(super) fn send_syn(&mut self, now: Time, out: &mut Vec<Action>) {
        let answer = self.state == State::SynReceived;
        let (tx, mut cx) = self.halves(now, out);
        let (config, rx) = (&tx.config, &*cx.rx);
        let offers_ecn = if answer { rx.ecn.is_active() } else { config.ecn };
        let flags = TcpFlags { syn: true, ack: answer, ..ecn::offer(offers_ecn, answer) };
        let options = TcpOptions {
            mss: Some(config.mss.min(u32::from(u16::MAX)) as u16),
            window_scale: if answer { rx.space.scale() } else { Some(config.window_scale()) },
            sack_permitted: config.sack && (!answer || rx.reports()),
            timestamps: (config.timestamps && (!answer || rx.stamps.are_agreed())).then(|| rx.stamps.offer(now)),
            ..TcpOptions::default()
        };
        let segment = cx.segment(Pos::SYN.seq(tx.space.iss), flags, options, 0);
        cx.send(segment, 0);
    }

    /// Resets the connection on the user's behalf (RFC 9293 section 3.10.5); the reset follows all that was sent.
    fn send_reset(&mut self, out: &mut Vec<Action>) {
        let (tx, mut cx) = self.halves(Time::ZERO, out);
        let at = tx.space.max;
        let flags = TcpFlags { rst: true, ack: true, ..TcpFlags::default() };
        let segment = cx.segment(at.seq(tx.space.iss), flags, TcpOptions::default(), 0);
        cx.out.push(Action::Send { segment, stream_offset: at.offset() });
    }

    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.timers.stop_all();
        self.tx.rest();
        self.timers.set(Timer::TimeWait, now + self.tx.config.time_wait);
    }

    /// Ends the connection; `how` reports the outcome to the driver.
    pub(super) fn end(&mut self, how: Action, out: &mut Vec<Action>) {
        self.state = State::Closed;
        self.timers.stop_all();
        self.tx.stop();
        out.push(how);
    }
}
