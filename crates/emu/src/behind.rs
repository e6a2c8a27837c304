//! Writes a trace on a separate thread: the emulation's loop hands over rows and continues.

use fourhop_sim::trace::{Rows, Sink};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Tables' rows that may wait for the disk; beyond that the loop waits too, which its report counts as lateness.
const WAITING: usize = 64;

enum Job {
    Rows(Box<dyn Rows>),
    NextPart(String),
    Finish(String),
}

/// A sink that writes on a thread.
pub struct Behind {
    jobs: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl Behind {
    /// Starts a thread that writes to `sink`.
    pub fn new(sink: impl Sink + 'static) -> Behind {
        let (jobs, coming) = sync_channel(WAITING);
        Behind { jobs: Some(jobs), writer: Some(std::thread::spawn(move || write(sink, &coming))) }
    }

    fn hand_over(&mut self, job: Job) -> io::Result<()> {
        match self.jobs.as_ref().map(|jobs| jobs.send(job)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended, which it does early only if it could not write.
            _ => self.end(),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.jobs = None;
        let done = self.writer.take().map_or(Ok(Ok(())), JoinHandle::join);
        done.unwrap_or_else(|_| Err(io::Error::other("the thread that writes the trace has failed")))
    }
}

impl Sink for Behind {
    fn write(&mut self, rows: &mut dyn Rows) -> io::Result<()> {
        self.hand_over(Job::Rows(rows.take()))
    }

    fn next_part(&mut self, meta: &str) -> io::Result<()> {
        self.hand_over(Job::NextPart(meta.to_owned()))
    }

    fn finish(&mut self, meta: &str) -> io::Result<()> {
        self.hand_over(Job::Finish(meta.to_owned()))?;
        self.end()
    }
}

fn write(mut sink: impl Sink, coming: &Receiver<Job>) -> io::Result<()> {
    for job in coming {
        match job {
            Job::Rows(mut rows) => sink.write(&mut *rows)?,
            Job::NextPart(meta) => sink.next_part(&meta)?,
            Job::Finish(meta) => return sink.finish(&meta),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cannot write from the second part on.
    struct Full(u32);

    impl Sink for Full {
        fn write(&mut self, _: &mut dyn Rows) -> io::Result<()> {
            Ok(())
        }

        fn next_part(&mut self, _: &str) -> io::Result<()> {
            self.0 += 1;
            if self.0 < 2 { Ok(()) } else { Err(io::Error::other("no room")) }
        }

        fn finish(&mut self, _: &str) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_the_disk_says_comes_back_and_nobody_waits_for_it() {
        let mut behind = Behind::new(Full(0));
        assert!(behind.next_part("").is_ok());
        let failed = (0..10_000).map(|_| behind.next_part("")).find(Result::is_err);
        assert_eq!(failed.map(|error| error.unwrap_err().to_string()).as_deref(), Some("no room"));
        assert!(behind.finish("").is_ok(), "it was asked to end");
        assert!(Behind::new(Full(0)).finish("").is_ok());
    }
}
