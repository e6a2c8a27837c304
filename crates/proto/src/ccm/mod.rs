//! C3TCP's congestion control module: it sits below TCP and sets TCP's window from measurements of the links on the
//! path (Kliazovich, Granelli 2005, section IV and figure 4). The TCP above it is unchanged and can be any.
//!
//! ```text
//!           TCP                                        TCP
//!            │ ▲ window = min(advertised, B x RTT)      ▲ │
//!     ┌──────▼─┴──────┐                          ┌──────┴─▼──────┐
//!     │ SenderWindow  │                          │ Coverage      │  which measurement belongs to which ACK
//!     └──────┬─▲──────┘                          └──────▲─┬──────┘
//!   path:    │ │ echo, back                      path:  │ │ echo, back
//!   start    ▼ │                                 min, sum ▼
//!          link layer  ── mac::measure at each node ──  link layer
//! ```
//!
//! | file | content |
//! |---|---|
//! | [`coverage`] | receiver: the measurement of the last packet that an acknowledgement covers |
//! | [`window`] | sender: the bandwidth-delay product, written into the window field |
//! | [`local_acks`] | optional: acknowledgements generated here, for full control |
//! | [`table`] | the connections of a node; packets in, packets out |
//!
//! A device reads the segment and writes the window with [`crate::wire::bytes`].
//!
//! For the open points of the paper and our assumptions about them, see docs/c3tcp.md.

pub mod coverage;
pub mod local_acks;
mod rto;
pub mod table;
pub mod window;

pub use table::{FlowKey, Modules};
pub use window::{Estimate, Options};

use crate::wire::TcpSegment;
use crate::wire::options::{self, Back, Carried, Path};
use coverage::Coverage;
use fourhop_units::Time;
use window::SenderWindow;

/// The module of one connection, for both of its directions. Call [`Ccm::handle_outgoing`] for each segment that TCP
/// sends, and [`Ccm::handle_incoming`] for each that arrives, before TCP sees it. It has no timers;
/// [`local_acks`] have.
#[derive(Clone, Debug)]
pub struct Ccm {
    coverage: Coverage,
    window: SenderWindow,
}

impl Ccm {
    /// A module that has seen nothing of its connection.
    pub fn new(options: Options) -> Ccm {
        Ccm { coverage: Coverage::default(), window: SenderWindow::new(options) }
    }

    /// Handles a segment of the local TCP. Returns the fields for its MAC header, if any.
    pub fn handle_outgoing(&mut self, segment: &TcpSegment) -> Option<Carried> {
        self.window.note_outgoing(segment);
        if segment.flags.syn || segment.flags.rst {
            return None;
        }
        let covered = segment.flags.ack.then(|| self.coverage.take(segment)).flatten();
        let options = options::Options {
            path: (segment.payload > 0).then_some(Path::START),
            back: covered.map(|_| Back::default()),
            echo: covered.map(|covered| covered.echo),
            unknown: Vec::new(),
        };
        let forward = covered.and_then(|covered| covered.forward);
        (!options.is_empty()).then(|| Carried { options, forward, ..Carried::default() })
    }

    /// Handles a segment for the local TCP, which has travelled `hops` links (0: unknown), since `created` if the
    /// simulator reports it. Lowers its window field, or leaves the segment unchanged.
    pub fn handle_incoming(
        &mut self,
        now: Time,
        segment: &mut TcpSegment,
        carried: Option<&Carried>,
        hops: u8,
        created: Option<Time>,
    ) {
        if let Some(carried) = carried {
            let on_way = created.map(|created| now.saturating_since(created));
            let options = &carried.options;
            // If a node on the path has measured nothing, the sum is too small and the minimum too large.
            if let Some(path) = options.path.filter(|path| complete(path.links, hops)) {
                let forward = on_way.map(|on_way| on_way.saturating_sub(carried.waited));
                self.coverage.note(segment, path, forward);
            }
            if let (Some(echo), Some(back)) = (options.echo, options.back)
                && complete(back.links, hops)
            {
                let truth = carried.forward.zip(on_way).map(|(forward, back)| forward + back);
                self.window.estimate(now, echo, back, truth);
            }
        }
        self.window.handle_incoming(now, segment);
    }

    /// The limits for [`local_acks`].
    pub fn limits(&self, now: Time) -> local_acks::Limits {
        let window = &self.window;
        let segment = window.segment_size();
        let (shift, own_shift) = window.shifts().unwrap_or_default();
        let measured = window.current(now).map(|estimate| estimate.window().max(u64::from(segment)));
        local_acks::Limits { window: measured, shift, own_shift, segment }
    }

    /// State of the sender side, for inspection.
    pub fn window(&self) -> &SenderWindow {
        &self.window
    }
}

/// Whether every link has measured.
fn complete(links: u8, hops: u8) -> bool {
    links > 0 && (hops == 0 || links == hops)
}

#[cfg(test)]
mod tests;
