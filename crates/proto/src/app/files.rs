//! Short files over TCP, one after another: Pareto sizes, exponential pauses (ElRakabawy et al. 2005, section 5.2).
//!
//! A file is in transfer from the time it is written until its last byte is acknowledged; then the pause begins. The
//! papers average the goodput of files, each being its size over this time, and each file counts the same
//! ([`Files::mean_goodput`]). [`Files::active`] gives another measure, all bytes over all the time, in which a large
//! file counts for more.
//!
//! The paper does not say whether each file has its own connection. Both variants are implemented; if all files share
//! one connection, its window and estimates survive the pauses, as in ns-2, whose agents have no connections to close.

use fourhop_units::{Bytes, Dur, Stream, Time};

/// Sizes and times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// When the first file is written.
    pub start: Time,
    /// No file begins at or after this; one in transfer is completed.
    pub stop: Option<Time>,
    /// Mean size.
    pub mean_size: Bytes,
    /// Shape of the Pareto distribution in thousandths, above 1000.
    pub shape: u32,
    /// Mean pause.
    pub mean_pause: Dur,
    /// Whether each file has its own connection, rather than one for all.
    pub fresh: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Nothing to send until then.
    Pausing(Time),
    /// A file has been in transfer since then.
    Sending(Time),
    /// No file will follow.
    Ended,
}

/// The application of one flow's sender.
#[derive(Clone, Debug)]
pub struct Files {
    config: Config,
    sizes: Stream,
    pauses: Stream,
    stage: Stage,
    completed: u64,
    active: Dur,
    /// Size of the file in transfer, and the sum of the goodputs of completed files, in bit/s.
    size: u64,
    goodputs: f64,
}

/// Largest file: 1 TiB, as the tail of a Pareto distribution has no end.
const LARGEST: f64 = (1u64 << 40) as f64;

impl Files {
    /// A source that has sent nothing yet; sizes and pauses have separate streams.
    pub fn new(config: Config, sizes: Stream, pauses: Stream) -> Files {
        let stage = Stage::Pausing(config.start);
        Files { config, sizes, pauses, stage, completed: 0, active: Dur::ZERO, size: 0, goodputs: 0.0 }
    }

    /// When the next file is due.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.stage {
            Stage::Pausing(until) => Some(until).filter(|&at| self.config.stop.is_none_or(|stop| at < stop)),
            Stage::Sending(_) | Stage::Ended => None,
        }
    }

    /// The bytes of the file due at `now`, if any.
    pub fn handle_timeout(&mut self, now: Time) -> Option<u64> {
        self.next_timeout().filter(|&at| at <= now)?;
        self.stage = Stage::Sending(now);
        // Pareto by inversion: k / u^(1/a) with u in (0, 1], and mean k a / (a - 1).
        let shape = f64::from(self.config.shape) / 1e3;
        let least = self.config.mean_size.get() as f64 * (shape - 1.0) / shape;
        let size = least * libm::pow(1.0 - self.sizes.unit(), -1.0 / shape);
        self.size = size.round().clamp(1.0, LARGEST) as u64;
        Some(self.size)
    }

    /// Notes that everything written is acknowledged. Returns whether that completes a file.
    pub fn handle_acknowledged(&mut self, now: Time) -> bool {
        let Stage::Sending(since) = self.stage else { return false };
        self.completed += 1;
        self.active += now - since;
        self.goodputs += self.size as f64 * 8.0 / (now - since).as_secs_f64();
        let pause = -self.config.mean_pause.as_secs_f64() * libm::log(1.0 - self.pauses.unit());
        let until = now + Dur::from_secs_f64(pause);
        self.stage =
            if self.config.stop.is_some_and(|stop| until >= stop) { Stage::Ended } else { Stage::Pausing(until) };
        true
    }

    /// Whether a file is in transfer.
    pub fn is_sending(&self) -> bool {
        matches!(self.stage, Stage::Sending(_))
    }

    /// Whether each file has its own connection.
    pub fn is_fresh(&self) -> bool {
        self.config.fresh
    }

    /// Whether this is the first file.
    pub fn is_first(&self) -> bool {
        self.completed == 0
    }

    /// Files completed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Mean over the completed files of size over time, in bit/s; `None` if there are none.
    pub fn mean_goodput(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.goodputs / self.completed as f64)
    }

    /// Total time for which files were in transfer until `now`.
    pub fn active(&self, now: Time) -> Dur {
        match self.stage {
            Stage::Sending(since) => self.active + now.saturating_since(since),
            Stage::Pausing(_) | Stage::Ended => self.active,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_units::{NodeId, Purpose};

    fn files(shape: u32, pause: Dur) -> Files {
        let config = Config {
            start: Time::from_secs(1),
            stop: None,
            mean_size: Bytes(30_000),
            shape,
            mean_pause: pause,
            fresh: false,
        };
        let stream = |purpose| Stream::new(7, NodeId(0), purpose);
        Files::new(config, stream(Purpose::FileSizes), stream(Purpose::Pauses))
    }

    /// Mean and tail of the sizes against the distribution: P(X > x) = (k/x)^a. With shape 3 the mean converges.
    #[test]
    fn sizes_are_pareto() {
        for (shape, exponent) in [(1_500, 1.5f64), (3_000, 3.0)] {
            let mut files = files(shape, Dur::ZERO);
            let mut sizes = Vec::new();
            let mut now = Time::from_secs(1);
            for _ in 0..40_000 {
                sizes.push(files.handle_timeout(now).expect("no pause") as f64);
                now += Dur::from_millis(1);
                assert!(files.handle_acknowledged(now));
            }
            let least = 30_000.0 * (exponent - 1.0) / exponent;
            assert!(sizes.iter().all(|&size| size >= least.floor()));
            for times in [2.0, 5.0, 10.0f64] {
                let share = sizes.iter().filter(|&&size| size > times * least).count() as f64 / sizes.len() as f64;
                let expected = times.powf(-exponent);
                assert!((share / expected - 1.0).abs() < 0.15, "{shape}: {share} {expected}");
            }
            if shape == 3_000 {
                let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
                assert!((mean / 30_000.0 - 1.0).abs() < 0.03, "{mean}");
            }
        }
    }

    #[test]
    fn pauses_are_exponential_and_do_not_count() {
        let mut files = files(1_500, Dur::from_millis(400));
        let (mut now, mut pauses) = (Time::from_secs(1), Vec::new());
        for _ in 0..20_000 {
            assert!(files.handle_timeout(now).is_some());
            assert_eq!(files.handle_timeout(now), None, "one at a time");
            now += Dur::from_millis(10);
            files.handle_acknowledged(now);
            let next = files.next_timeout().expect("endless");
            pauses.push((next - now).as_secs_f64());
            now = next;
        }
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        let long = pauses.iter().filter(|&&pause| pause > 0.8).count() as f64 / pauses.len() as f64;
        assert!((mean / 0.4 - 1.0).abs() < 0.03 && (long / (-2f64).exp() - 1.0).abs() < 0.05, "{mean} {long}");
        assert_eq!((files.active(now), files.completed()), (Dur::from_secs(200), 20_000));
    }

    /// A large file and a small one count the same, however long they take.
    #[test]
    fn the_mean_goodput_is_that_of_files() {
        let mut files = files(1_500, Dur::ZERO);
        assert_eq!(files.mean_goodput(), None);
        let (mut now, mut goodputs) = (Time::from_secs(1), 0.0);
        for seconds in [1, 4, 2] {
            let size = files.handle_timeout(now).expect("no pause") as f64;
            assert_eq!(files.mean_goodput().is_some(), goodputs > 0.0);
            now += Dur::from_secs(seconds);
            files.handle_acknowledged(now);
            goodputs += 8.0 * size / seconds as f64;
        }
        assert!((files.mean_goodput().unwrap_or(0.0) / (goodputs / 3.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_file_begins_after_the_stop() {
        let mut files = files(1_500, Dur::from_secs(1));
        files.config.stop = Some(Time::from_secs(2));
        let mut now = Time::from_secs(1);
        while let Some(at) = files.next_timeout() {
            assert!(at < Time::from_secs(2) && files.handle_timeout(at).is_some());
            now = at + Dur::from_millis(1);
            files.handle_acknowledged(now);
        }
        assert_eq!(files.handle_timeout(now + Dur::from_secs(9)), None);
    }
}
