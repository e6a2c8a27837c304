//! The table on a terminal while an emulation runs.

use fourhop_emu::Running;
use fourhop_emu::flows::{FlowReport, Key};
use fourhop_units::{Dur, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Most flows shown.
const ROWS: usize = 12;

/// Shows flows, frames, losses and lateness on standard error. It is written on a thread: a slow terminal delays
/// nothing else.
pub struct Table {
    lines: SyncSender<String>,
    /// Bytes of each flow at the last update, and its time.
    before: RefCell<(Time, BTreeMap<Key, u64>)>,
}

impl Table {
    /// Starts with an empty table.
    pub fn start() -> Table {
        let (lines, shown) = sync_channel::<String>(1);
        std::thread::spawn(move || {
            let mut height = 0;
            for text in shown {
                // Overwrite the previous text: cursor up, and clear to the end of the screen (ECMA-48).
                let up = if height > 0 { format!("\x1b[{height}A") } else { String::new() };
                // A closed terminal does not end the emulation.
                let _ = write!(std::io::stderr(), "{up}\r\x1b[J{text}");
                height = text.lines().count();
            }
        });
        Table { lines, before: RefCell::default() }
    }

    /// Updates the table, unless the terminal has not yet taken the previous update.
    pub fn show(&self, running: &Running) {
        let _ = self.lines.try_send(self.text(running));
    }

    fn text(&self, running: &Running) -> String {
        let (now, packets) = (running.now(), running.packets());
        let late = running.lateness().summary();
        let lost: u64 = packets.lost.values().flat_map(BTreeMap::values).sum();
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{:.0} s   {} frames   {} packets taken, {} delivered, {lost} lost   late by {:.0} us (median), {:.0} us \
                (99 %)",
            now.as_secs_f64(),
            running.emulation().frames(),
            packets.taken,
            packets.delivered,
            late.p50,
            late.p99
        );
        let mut before = self.before.borrow_mut();
        let over = now.saturating_since(before.0).as_secs_f64();
        let mut rows = Vec::new();
        for (key, flow) in running.flows().iter() {
            let then = before.1.insert(*key, flow.arrived.1).unwrap_or(0);
            rows.push((flow.arrived.1 - then, key, flow));
        }
        before.0 = now;
        rows.retain(|(new, ..)| *new > 0);
        rows.sort_by_key(|&(new, ..)| std::cmp::Reverse(new));
        let rest = rows.len().saturating_sub(ROWS);
        for (new, key, flow) in rows.into_iter().take(ROWS) {
            let FlowReport { src, dst, protocol, .. } = FlowReport::new(key, flow, |address| running.name_of(address));
            let rtt =
                flow.rtt_newest().map_or(String::new(), |rtt: Dur| format!("   RTT {:.1} ms", rtt.as_secs_f64() * 1e3));
            let rate = new as f64 * 8.0 / over / 1e3;
            let _ = writeln!(
                text,
                "  {protocol:<5}{:<24}{:<24}{rate:>9.1} kbit/s{rtt}",
                format!("{src}:{}", key.src.1),
                format!("{dst}:{}", key.dst.1)
            );
        }
        if rest > 0 {
            let _ = writeln!(text, "  and {rest} more");
        }
        text
    }
}
