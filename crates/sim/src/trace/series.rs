//! Time series: rows are written as they are sampled, so memory does not depend on the length of the run.
//!
//! Each run has one file of flows and one of interface queues, as comma-separated values (RFC 4180) whose first line
//! names the columns with their units. A missing value is an empty field. During a run its files end in `.part`; this
//! is removed when the last row has been written, so a file without it is complete.

use fourhop_cc::tcp_ap::variation;
use fourhop_proto::ccm::Estimate;
use fourhop_proto::gateway::FlowState;
use fourhop_proto::node::{Endpoint, EndpointKind};
use fourhop_proto::route::Signal;
use fourhop_proto::tcp::adhoc::{self, Cause};
use fourhop_units::{Dur, Time};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A flow at the end of a time step.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample<'a> {
    /// Payload delivered during the step, in bit/s.
    pub goodput_bps: f64,
    /// The sending endpoint.
    pub sender: &'a Endpoint,
    /// The receiving endpoint; for ping, the sender.
    pub receiver: &'a Endpoint,
    /// C3TCP's current estimate of the sender's path, if in use.
    pub capacity: Option<Estimate>,
    /// The window that the C3TCP module last sent to the sender, in bytes.
    pub written_window: Option<u64>,
    /// The flow at the gateway that paces it, if any knows it.
    pub gateway: Option<FlowState>,
    /// How strongly the source hears the receiver's routing messages, if routing uses that.
    pub signal: Option<Signal>,
}

/// A column of the series of flows.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name, which ends in the unit.
    pub name: &'static str,
    /// Description of the value.
    pub about: &'static str,
    /// The value, if the flow has it.
    pub value: fn(&FlowSample<'_>) -> Option<f64>,
}

const fn column(name: &'static str, about: &'static str, value: fn(&FlowSample<'_>) -> Option<f64>) -> Column {
    Column { name, about, value }
}

/// The columns of the series of flows, after `flow` and `time_s`. To record another value, add a row: files, tables in
/// Python and the list of columns follow.
pub const FLOW_COLUMNS: &[Column] = &[
    column("goodput_bps", "goodput over the time step", |flow| Some(flow.goodput_bps)),
    column("cwnd_segments", "congestion window", |flow| Some(f64::from(flow.sender.socket()?.cwnd()))),
    column("srtt_s", "smoothed round trip of TCP, newest round trip of ping", |flow| match &flow.sender.kind {
        EndpointKind::Pinger(pinger) => pinger.last_rtt().map(Dur::as_secs_f64),
        _ => flow.sender.socket()?.srtt().map(Dur::as_secs_f64),
    }),
    column("rtt_s", "newest round trip that congestion control used, if it measures", |flow| {
        match flow.sender.own() {
            Some(end) => end.path_seen().rtt,
            None => flow.sender.socket()?.measurements().rtt,
        }
        .map(Dur::as_secs_f64)
    }),
    column("delay_s", "smoothed n-hop delay of congestion control, if it measures", |flow| {
        flow.sender.socket()?.measurements().delay.map(Dur::as_secs_f64)
    }),
    column("variation", "variation of its delay samples, as a share of their mean", |flow| {
        let units = flow.sender.socket()?.measurements().variation?;
        Some(f64::from(units) / f64::from(variation::ONE))
    }),
    column("pacing_interval_s", "minimum time between segments, if paced", |flow| {
        match flow.sender.own() {
            Some(end) => end.path_seen().interval,
            None => flow.sender.socket()?.pacing_interval(),
        }
        .map(Dur::as_secs_f64)
    }),
    column("c3_bandwidth_bps", "C3TCP: bandwidth of the path, as measured by its links", |flow| {
        flow.capacity.map(|capacity| capacity.bandwidth as f64)
    }),
    column(
        "c3_delay_s",
        "C3TCP: forward delay without queueing plus backward delay, as measured by the links",
        |flow| flow.capacity.map(|capacity| capacity.delay.as_secs_f64()),
    ),
    column(
        "c3_true_delay_s",
        "C3TCP: the true value of this delay in the simulator, averaged in the same way: from end to end, without the \
            waits in queues in the forward direction",
        |flow| Some(flow.capacity?.truth?.as_secs_f64()),
    ),
    column("c3_window_bytes", "C3TCP: newest window that the module has set", |flow| {
        flow.written_window.map(|window| window as f64)
    }),
    column("ssthresh_segments", "slow-start threshold, if one is set", |flow| {
        Some(flow.sender.socket()?.ssthresh()).filter(|&segments| segments < u32::MAX).map(f64::from)
    }),
    column("adwin_segments", "latest advertised window of the receiver, as known to the sender", |flow| {
        let socket = flow.sender.socket()?;
        Some((socket.peer_window() / u64::from(socket.mss().max(1))) as f64)
    }),
    column("timeouts", "number of expirations of the retransmission timer so far", |flow| {
        flow.sender.socket().map(|_| flow.sender.stats().timeouts as f64)
    }),
    column("fast_retransmits", "number of fast retransmits so far", |flow| {
        flow.sender.socket().map(|_| flow.sender.stats().fast_retransmits as f64)
    }),
    column("hops", "ad hoc receiver: number of hops of the newest segment", |flow| {
        receiver(flow)?.hops().map(f64::from)
    }),
    column("sfld_s", "ad hoc receiver: smoothed forward link delay", |flow| {
        receiver(flow)?.freezer().sfld().map(Dur::as_secs_f64)
    }),
    column("freezing_timer_s", "ad hoc receiver: maximum delay that it tolerates", |flow| {
        receiver(flow)?.freezer().limit_now().map(Dur::as_secs_f64)
    }),
    column("rater_bps", "ad hoc receiver: throughput per hop that the rater measures", |flow| {
        receiver(flow)?.rater().average().map(|bytes| 8.0 * bytes as f64)
    }),
    column("delimiter_segments", "ad hoc receiver: window that the delimiter computes", |flow| {
        receiver(flow)?.window().map(f64::from)
    }),
    column("zwas", "ad hoc receiver: number of packets for which it has closed the window so far", |flow| {
        Some(receiver(flow)?.stats().freezes as f64)
    }),
    column("hop_changes", "ad hoc receiver: number of hop-count changes that it has seen so far", |flow| {
        Some(receiver(flow)?.stats().hop_changes as f64)
    }),
    column(
        "frozen",
        "ad hoc sender: 0 sending, 1 frozen by a closed window, 2 provisionally frozen, 3 frozen by a timeout",
        |flow| {
            let freeze = sender(flow)?;
            Some(match (freeze.is_frozen(), freeze.cause()) {
                (false, _) => 0.0,
                (true, Cause::ZeroWindow) => 1.0,
                (true, Cause::Provisional) => 2.0,
                (true, Cause::Timeout) => 3.0,
            })
        },
    ),
    column("freezes_closed", "ad hoc sender: number of freezes by a closed window so far", |flow| {
        Some(sender(flow)?.stats().by_zero_window as f64)
    }),
    column("freezes_provisional", "ad hoc sender: number of provisional freezes so far", |flow| {
        Some(sender(flow)?.stats().provisional as f64)
    }),
    column("freezes_timeout", "ad hoc sender: number of freezes by a timeout so far", |flow| {
        Some(sender(flow)?.stats().by_timeout as f64)
    }),
    column("probes", "ad hoc sender: number of probes sent so far", |flow| Some(sender(flow)?.stats().probes as f64)),
    column(
        "gateway_interval_s",
        "minimum time between segments that adaptive pacing at the gateway requires",
        |flow| flow.gateway?.interval.map(Dur::as_secs_f64),
    ),
    column("gateway_throttle_bps", "rate that goodput control allows, if it throttles the flow", |flow| {
        flow.gateway?.throttle.map(|throttle| throttle.rate as f64)
    }),
    column("gateway_wireless_rtt_s", "newest round trip between gateway and wireless receiver", |flow| {
        flow.gateway?.measured.rtt.map(Dur::as_secs_f64)
    }),
    column("gateway_wired_rtt_s", "newest round trip between gateway and wired receiver", |flow| {
        flow.gateway?.wired_rtt.map(Dur::as_secs_f64)
    }),
    column("gateway_held_bytes", "payload that waits at the gateway", |flow| {
        flow.gateway.map(|gateway| f64::from(gateway.queued))
    }),
    column("signal_dbm", "strength of the receiver's newest routing message at the source, with ssa-aodv", |flow| {
        Some(flow.signal?.latest.0)
    }),
    column(
        "signal_smoothed_dbm",
        "smoothed strength of the receiver's routing messages at the source, with ssa-aodv",
        |flow| Some(flow.signal?.smoothed.0),
    ),
    column("atp_delay_s", "ATP: the latest delay that the receiver has fed back", |flow| {
        flow.sender.own()?.path_seen().offered.map(Dur::as_secs_f64)
    }),
];

/// Returns the ad hoc TCP state of the receiving endpoint, if any.
fn receiver<'a>(flow: &FlowSample<'a>) -> Option<&'a adhoc::Receiver> {
    flow.receiver.socket()?.adhoc_receiver()
}

/// Returns the frozen state of the sending endpoint, if any.
fn sender<'a>(flow: &FlowSample<'a>) -> Option<&'a adhoc::Freeze> {
    Some(flow.sender.socket()?.freeze()).filter(|freeze| freeze.is_built_in())
}

/// Receives the samples of a run.
pub trait SeriesSink: Send {
    /// Takes a sample of the flow with that name at the end of a step.
    fn flow(&mut self, now: Time, name: &str, sample: &FlowSample<'_>);

    /// Takes the number of packets in a queue of node `node` at the end of a step: that of its radio, or of its link
    /// `to` another node.
    fn queue(&mut self, now: Time, node: u32, to: Option<u32>, packets: usize);

    /// Ends the series.
    ///
    /// # Errors
    /// The first error met while writing.
    fn finish(&mut self) -> io::Result<()>;
}

/// Files of the series of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesPaths {
    /// Flows: `flow`, `time_s` and [`FLOW_COLUMNS`].
    pub flows: PathBuf,
    /// Interface queues: `node`, `to`, `time_s`, `queue_packets`.
    pub queues: PathBuf,
}

impl SeriesPaths {
    /// Returns the files in `folder` for the run with `seed`.
    pub fn new(folder: &Path, seed: u64) -> SeriesPaths {
        let file = |table: &str| folder.join(format!("seed-{seed}.{table}.csv"));
        SeriesPaths { flows: file("flows"), queues: file("queues") }
    }
}

/// Series written to files.
pub struct SeriesFiles {
    flows: Table,
    queues: Table,
    error: Option<io::Error>,
}

impl SeriesFiles {
    /// Creates the files and their folders.
    ///
    /// # Errors
    /// If a folder or a file cannot be created.
    pub fn create(paths: &SeriesPaths) -> io::Result<SeriesFiles> {
        let columns: String = FLOW_COLUMNS.iter().flat_map(|column| [",", column.name]).collect();
        Ok(SeriesFiles {
            flows: Table::create(&paths.flows, &format!("flow,time_s{columns}"))?,
            queues: Table::create(&paths.queues, "node,to,time_s,queue_packets")?,
            error: None,
        })
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }
}

impl SeriesSink for SeriesFiles {
    fn flow(&mut self, now: Time, name: &str, sample: &FlowSample<'_>) {
        let row = self.flows.row();
        // Quotes inside a quoted field are doubled (RFC 4180, 2.7).
        for (index, part) in name.split('"').enumerate() {
            row.push_str(if index == 0 { "\"" } else { "\"\"" });
            row.push_str(part);
        }
        row.push('"');
        number(row, Some(now.as_secs_f64()));
        FLOW_COLUMNS.iter().for_each(|column| number(row, (column.value)(sample)));
        let written = self.flows.write();
        self.note(written);
    }

    fn queue(&mut self, now: Time, node: u32, to: Option<u32>, packets: usize) {
        let row = self.queues.row();
        write!(row, "{node}").expect("INVARIANT: writing to a text succeeds");
        number(row, to.map(f64::from));
        number(row, Some(now.as_secs_f64()));
        number(row, Some(packets as f64));
        let written = self.queues.write();
        self.note(written);
    }

    fn finish(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)?;
        self.flows.finish()?;
        self.queues.finish()
    }
}

/// Appends a field with the shortest digits that read back as the same number.
fn number(row: &mut String, value: Option<f64>) {
    row.push(',');
    if let Some(value) = value {
        write!(row, "{value}").expect("INVARIANT: writing to a text succeeds");
    }
}

/// A file of rows.
struct Table {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    row: String,
}

impl Table {
    fn create(path: &Path, header: &str) -> io::Result<Table> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let mut file = BufWriter::new(File::create(&part)?);
        writeln!(file, "{header}")?;
        Ok(Table { path: path.to_owned(), part, file, row: String::new() })
    }

    fn row(&mut self) -> &mut String {
        self.row.clear();
        &mut self.row
    }

    fn write(&mut self) -> io::Result<()> {
        self.row.push('\n');
        self.file.write_all(self.row.as_bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.flush()?;
        std::fs::rename(&self.part, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux has a device whose disk is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let folder = std::env::temp_dir().join(format!("fourhop-series-{}", std::process::id()));
        let mut files = SeriesFiles::create(&SeriesPaths::new(&folder, 1)).unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        files.queues.file = BufWriter::with_capacity(0, full);
        files.queue(Time::ZERO, 0, None, 1);
        files.queue(Time::ZERO, 0, None, 2);
        assert_eq!(files.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
