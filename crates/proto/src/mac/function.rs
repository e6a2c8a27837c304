//! Access functions, with which a station contends for the medium: one with DCF, one per access category with EDCA.

use super::aggregate::Sessions;
use super::backoff::Backoff;
use super::config::Config;
use super::counters::Counters;
use super::edca::{Access, Txop};
use super::exchange::{Content, Outgoing};
use crate::wire::{Category, Msdu};
use fourhop_units::{Dur, MacAddr, Stream, Time};

/// State of an access function.
// Field order is memory order: fields touched by every event come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Function {
    /// Set only with an MCS.
    pub sessions: Option<Box<Sessions>>,
    pub cw: u32,
    pub short_retries: u32,
    pub long_retries: u32,
    pub outgoing: Option<Outgoing>,
    pub access: Access,
    pub counters: Counters,
    /// Last sequence number accepted from each transmitter.
    last_seq: Vec<(MacAddr, u16)>,
    /// Receiver of the last frames, and the air time they took that has not been collected yet.
    pub sent_for: MacAddr,
    pub air_used: Dur,
    /// Stored here while another function is active; the medium keeps that of the active one.
    pub backoff: Option<Backoff>,
    /// Set only with EDCA.
    pub txop: Option<Box<Txop>>,
}

impl Function {
    fn new(config: &Config, category: Category) -> Function {
        let access = Access::new(config, category);
        Function {
            sessions: config.mcs.map(|mcs| Box::new(Sessions::new(config, mcs))),
            cw: access.cw_min,
            short_retries: 0,
            long_retries: 0,
            outgoing: None,
            access,
            counters: Counters::default(),
            last_seq: Vec::new(),
            sent_for: MacAddr::BROADCAST,
            air_used: Dur::ZERO,
            backoff: None,
            txop: config.edca.map(|_| Box::default()),
        }
    }

    /// Returns the MSDUs that it has accepted and neither completed nor given up.
    pub fn msdus(&self) -> impl Iterator<Item = &Msdu> {
        let in_hand = self.outgoing.iter().filter_map(|outgoing| match &outgoing.content {
            Content::One { msdu, .. } => Some(msdu),
            Content::Session(_) => None,
        });
        in_hand
            .chain(self.sessions.iter().flat_map(|sessions| sessions.packets()))
            .chain(self.txop.iter().flat_map(|txop| &txop.next))
    }

    /// Draws a back-off from its contention window.
    #[inline]
    pub fn draw(&self, now: Time, config: &Config, random: &mut Stream) -> Backoff {
        Backoff::drawn(now, random.below(config.backoff_values(self.cw)), self.access.later)
    }

    /// Whether its sessions still have frames to send but no exchange has begun.
    pub fn has_unsent(&self) -> bool {
        self.outgoing.is_none() && self.sessions.as_ref().is_some_and(|sessions| sessions.has_work())
    }

    /// Returns whether `seq` equals the last number from this transmitter, and remembers it.
    #[inline]
    pub fn is_duplicate(&mut self, from: MacAddr, seq: u16) -> bool {
        match self.last_seq.iter_mut().find(|(addr, _)| *addr == from) {
            Some((_, last)) => core::mem::replace(last, seq) == seq,
            None => {
                self.last_seq.push((from, seq));
                false
            }
        }
    }
}

/// The access functions of a station.
// The tag is a byte at the front. Left to itself, the compiler would encode it in the capacity of a vector: two more
// instructions, some cache lines further on.
#[derive(Clone, Debug)]
#[repr(u8)]
#[expect(
    clippy::large_enum_variant,
    reason = "most stations have one: without a pointer to follow, and without bounds"
)]
pub(super) enum Functions {
    One(Function),
    Four(Box<Four>),
}

/// Access functions of a station with EDCA.
#[derive(Clone, Debug)]
pub(super) struct Four {
    /// The one in an exchange or, if none is, the next to gain the medium.
    pub active: Category,
    pub list: [Function; 4],
}

impl Four {
    pub fn active(&self) -> &Function {
        &self.list[self.active as usize]
    }

    pub fn active_mut(&mut self) -> &mut Function {
        &mut self.list[self.active as usize]
    }
}

impl Functions {
    /// Creates functions without anything to send.
    pub fn new(config: &Config) -> Functions {
        match config.edca {
            None => Functions::One(Function::new(config, Category::default())),
            Some(_) => Functions::Four(Box::new(Four {
                active: Category::default(),
                list: Category::ALL.map(|category| Function::new(config, category)),
            })),
        }
    }

    #[inline(always)]
    pub fn active(&self) -> &Function {
        match self {
            Functions::One(function) => function,
            Functions::Four(four) => four.active(),
        }
    }

    #[inline(always)]
    pub fn active_mut(&mut self) -> &mut Function {
        match self {
            Functions::One(function) => function,
            Functions::Four(four) => four.active_mut(),
        }
    }

    /// Returns the function of a category; a single one serves all.
    #[inline]
    pub fn of(&self, category: Category) -> &Function {
        match self {
            Functions::One(function) => function,
            Functions::Four(four) => &four.list[category as usize],
        }
    }

    #[inline]
    pub fn of_mut(&mut self, category: Category) -> &mut Function {
        match self {
            Functions::One(function) => function,
            Functions::Four(four) => &mut four.list[category as usize],
        }
    }

    pub fn all(&self) -> &[Function] {
        match self {
            Functions::One(function) => core::slice::from_ref(function),
            Functions::Four(four) => &four.list,
        }
    }

    pub fn all_mut(&mut self) -> &mut [Function] {
        match self {
            Functions::One(function) => core::slice::from_mut(function),
            Functions::Four(four) => &mut four.list,
        }
    }
}
