//! Messages from and to the kernel.

use super::Medium;
use crate::EmulationError;
use crate::medium::hwsim::{self, FAMILY, Message};
use crate::medium::radios::Shown;
use crate::medium::spectrum::Notice;
use fourhop_live::netlink::generic::{Family, Received};
use nix::errno::Errno;

/// Bytes sent to the kernel together.
const TOGETHER: usize = 32 * 1024;
/// Datagrams read before time advances.
const AT_ONCE: usize = 64;

/// Whether the radios exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Module {
    /// Yes, as far as is known.
    There,
    /// A radio was removed, and the module may be gone as well.
    Doubtful,
    /// The module was unloaded.
    Gone,
}

/// Opens the socket for the radios.
pub(super) fn open() -> Result<Family, EmulationError> {
    let family = Family::open(FAMILY, "simulated radios").map_err(|error| match error.source.kind() {
        std::io::ErrorKind::NotFound => EmulationError::Unsuited(
            "this kernel has no simulated radios. Try: modprobe mac80211_hwsim radios=2".to_owned(),
        ),
        _ => EmulationError::System(error),
    })?;
    family.join(hwsim::GROUP)?;
    Ok(family)
}

impl Medium {
    /// Requests the frames of the kernel's radios.
    pub(super) fn register(&mut self) -> Result<(), EmulationError> {
        self.ask_for_frames()?;
        let mut answer = None;
        self.family.receive(|received| {
            if let Received::Answer(code) = received {
                answer = Some(code);
            }
        });
        // The kernel answers before `send` returns.
        let refused = |what: String| Err(EmulationError::Unsuited(what));
        match Errno::from_raw(answer.map_or(0, |code| -code)) {
            Errno::UnknownErrno => Ok(()), // 0: it agrees
            Errno::EBUSY => refused("another program is the medium of the simulated radios: stop it first".to_owned()),
            Errno::EPERM => refused("only root may run the radios' medium. Try: sudo fourhop medium".to_owned()),
            Errno::EOPNOTSUPP => refused(
                "radios: found radios on several channels at once, allowed: one channel each. Try: \
                 modprobe -r mac80211_hwsim, then modprobe mac80211_hwsim channels=1"
                    .to_owned(),
            ),
            errno => refused(format!("the kernel refuses a medium for the radios: {}", errno.desc())),
        }
    }

    fn ask_for_frames(&self) -> Result<(), EmulationError> {
        let mut message = Vec::new();
        self.family.message(hwsim::REGISTER, true, &mut message, |_| ());
        Ok(self.family.send(&message)?)
    }

    /// Once radios were removed: finds out whether the module is gone, and becomes the medium of a module loaded again.
    pub(super) fn look_for_module(&mut self) -> Result<(), EmulationError> {
        match self.module {
            Module::There => Ok(()),
            // One of two answers comes back: this is the medium already, or there is no such family.
            Module::Doubtful => self.ask_for_frames(),
            Module::Gone => {
                let Ok(family) = open() else { return Ok(()) };
                self.poller.remove(&self.family);
                self.poller.add(&family, super::KERNEL)?;
                (self.family, self.module) = (family, Module::There);
                self.register()
            }
        }
    }

    /// The kernel has answered one of our messages.
    fn answered(&mut self, code: i32) {
        match Errno::from_raw(-code) {
            Errno::UnknownErrno | Errno::EBUSY => {}
            Errno::ENOENT if self.module != Module::Gone => {
                self.module = Module::Gone;
                for (address, radio) in self.radios.clear() {
                    self.spectrum.forget(address);
                    self.gone.insert(Shown(address).to_string(), radio.sent);
                }
                let at = self.now.as_secs_f64();
                self.warnings.push(format!("the kernel module of the radios was unloaded at {at:.3} s"));
            }
            _ => self.refused_by_kernel += 1,
        }
    }

    /// Sends all notices to the kernel.
    pub(super) fn notify(&mut self) -> Result<(), EmulationError> {
        let mut notices = std::mem::take(&mut self.notices);
        for (at, one) in notices.drain(..) {
            let to = match &one {
                Notice::Received { radio, .. } | Notice::Status { radio, .. } => *radio,
            };
            self.write(&one);
            let late = self.clock.now().saturating_since(at);
            self.lateness.record(late);
            let worst = self.late_at.entry(to).or_default();
            *worst = late.max(*worst);
            if self.messages.len() > TOGETHER {
                self.family.send(&self.messages)?;
                self.messages.clear();
            }
        }
        self.notices = notices;
        if !self.messages.is_empty() {
            self.family.send(&self.messages)?;
            self.messages.clear();
        }
        Ok(())
    }

    fn write(&mut self, notice: &Notice) {
        match notice {
            Notice::Received { radio, frame, place, signal, frequency } => {
                let how = (*signal, *frequency);
                // The retry flag.
                const RETRY: u8 = 0x08;
                let mut bytes = [0; hwsim::LONGEST];
                let bytes = &mut bytes[..frame.bytes().len()];
                bytes.copy_from_slice(frame.bytes());
                if frame.is_repeat() {
                    bytes[1] |= RETRY;
                }
                let write = |out: &mut Vec<u8>| hwsim::write_received(*radio, bytes, *place, how, out);
                self.family.message(hwsim::FRAME, false, &mut self.messages, write);
            }
            Notice::Status { radio, cookie, flags, tries, signal } => {
                let write = |out: &mut Vec<u8>| hwsim::write_status(*radio, *cookie, *flags, (tries, *signal), out);
                self.family.message(hwsim::STATUS, false, &mut self.messages, write);
            }
        }
    }

    /// Handles the kernel's messages.
    pub(super) fn listen(&mut self) -> Result<(), EmulationError> {
        let Medium { family, spectrum, radios, notices, strangers, refused, missed, module, gone, .. } = self;
        let (mut failed, mut answers) = (Ok(()), Vec::new());
        for _ in 0..AT_ONCE {
            let some = family.receive(|received| match received {
                Received::Message(command, bytes) => match hwsim::read(command, bytes) {
                    Ok(Message::Sent(sent)) => {
                        radios.learn(sent.radio, sent.transmitter());
                        match radios.meet(sent.radio) {
                            Some(radio) => {
                                (radio.frequency, radio.sent) = (Some(sent.frequency), radio.sent + 1);
                                let node = radio.node;
                                if let Err(error) = spectrum.enter(node, &sent, radios, notices) {
                                    failed = Err(error);
                                }
                            }
                            None => *strangers.entry(sent.radio).or_default() += 1,
                        }
                    }
                    Ok(Message::Address { radio, address, gone: false }) => radios.learn(radio, address),
                    Ok(Message::Address { radio, address, gone: true }) => radios.forget(radio, address),
                    Ok(Message::Gone(number)) => {
                        if let Some((address, radio)) = radios.remove(number) {
                            spectrum.forget(address);
                            gone.insert(Shown(address).to_string(), radio.sent);
                        }
                        if *module == Module::There {
                            *module = Module::Doubtful;
                        }
                    }
                    Ok(Message::New) => {}
                    Err(reason) => *refused.entry(reason.to_string()).or_default() += 1,
                },
                Received::Answer(code) => answers.push(code),
                Received::Missed => *missed += 1,
                Received::Garbage => *refused.entry(hwsim::Refused::Incomplete.to_string()).or_default() += 1,
            });
            if !some {
                break;
            }
        }
        failed?;
        answers.into_iter().for_each(|code| self.answered(code));
        self.notify()
    }
}
