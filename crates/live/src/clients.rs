//! Concurrent clients, each served on a separate thread: one that is slow or silent does not block the others.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of clients. A further one ends the oldest.
const MOST: usize = 16;
/// Stack size of a client's thread.
const STACK: usize = 128 * 1024;

/// A connection that another thread can close.
pub(crate) trait Stream: Send + Sync + 'static {
    /// Closes the connection: its readers and writers get an end or an error.
    fn end(&self);
}

impl Stream for TcpStream {
    fn end(&self) {
        // It may have been closed already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

#[cfg(unix)]
impl Stream for std::os::unix::net::UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// The clients being served, oldest first.
#[derive(Debug)]
pub(crate) struct Clients<S>(Arc<Mutex<VecDeque<Arc<S>>>>);

impl<S> Default for Clients<S> {
    fn default() -> Self {
        Clients(Arc::default())
    }
}

impl<S: Stream> Clients<S> {
    fn locked(all: &Mutex<VecDeque<Arc<S>>>) -> MutexGuard<'_, VecDeque<Arc<S>>> {
        all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` for a client, on a thread.
    pub fn serve(&self, stream: S, work: impl FnOnce(&S) + Send + 'static) {
        let stream = Arc::new(stream);
        {
            let mut all = Self::locked(&self.0);
            if all.len() >= MOST
                && let Some(oldest) = all.pop_front()
            {
                oldest.end();
            }
            all.push_back(stream.clone());
        }
        let (served, all) = (stream.clone(), self.0.clone());
        let forget =
            |all: &Mutex<VecDeque<Arc<S>>>, gone: &Arc<S>| Self::locked(all).retain(|one| !Arc::ptr_eq(one, gone));
        let serve = move || {
            work(&served);
            forget(&all, &served);
        };
        if std::thread::Builder::new().name("client".to_owned()).stack_size(STACK).spawn(serve).is_err() {
            forget(&self.0, &stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    /// The remote end of a silent client, which is served as long as it lives.
    fn silent(clients: &Clients<UnixStream>) -> UnixStream {
        let (served, client) = UnixStream::pair().unwrap();
        clients.serve(served, |mut stream| drop(stream.read(&mut [0])));
        client.set_nonblocking(true).unwrap();
        client
    }

    #[test]
    fn one_client_too_many_ends_the_oldest() {
        let clients = Clients::default();
        let mut all: Vec<_> = (0..MOST).map(|_| silent(&clients)).collect();
        let ended =
            |all: &mut [UnixStream]| all.iter_mut().map(|client| client.read(&mut [0]).is_ok()).collect::<Vec<_>>();
        assert_eq!(ended(&mut all), [false; MOST]);
        all.push(silent(&clients));
        let mut expected = [false; MOST + 1];
        expected[0] = true;
        assert_eq!(ended(&mut all), expected);
    }
}
