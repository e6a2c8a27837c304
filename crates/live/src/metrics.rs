//! Metrics for Prometheus: a page in its text format 0.0.4, served over HTTP.

use crate::clients::Clients;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A page of metrics under construction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page(String);

impl Page {
    /// Begins a metric: a `counter` only grows, a `gauge` also shrinks.
    pub fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a value of the metric with these labels.
    pub fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (n, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{text}\"", if n == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// Adds a metric without labels.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.begin(name, kind, help);
        self.value(name, &[], value);
    }
}

/// Serves the newest page to every client, on separate threads, as long as the process lives.
#[derive(Clone, Debug)]
pub struct Server {
    page: Arc<Mutex<Page>>,
    addr: SocketAddr,
}

/// Time limit of a client, whatever it does.
const PATIENCE: Duration = Duration::from_secs(2);

impl Server {
    /// Serves at this address; port 0 selects a free one.
    ///
    /// # Errors
    /// If the address is taken, or does not belong to this machine.
    pub fn start(addr: SocketAddr) -> Result<Server, io::Error> {
        let listener = TcpListener::bind(addr)?;
        let server = Server { page: Arc::default(), addr: listener.local_addr()? };
        let page = server.page.clone();
        let clients = Clients::default();
        std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let text = page.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
                // A client that has disconnected needs no answer.
                clients.serve(stream, move |stream| drop(answer(stream, &text)));
            }
        })?;
        Ok(server)
    }

    /// The address at which it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Replaces the page.
    pub fn publish(&self, page: Page) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

/// A request longer than this is not one for a page of metrics.
const REQUEST_MAX: usize = 8192;

/// A connection that ends at a fixed time, however slowly its client sends: reads and writes fail from then on.
struct Bounded<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Bounded<'_> {
    fn left(&self) -> Result<Option<Duration>, io::Error> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, io::Error> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, io::Error> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> Result<(), io::Error> {
        self.stream.flush()
    }
}

fn answer(stream: &TcpStream, page: &str) -> Result<(), io::Error> {
    let mut client = Bounded { stream, end: Instant::now() + PATIENCE };
    let request = head(&mut client)?;
    let (status, body) = match &request {
        Some(request) if request.starts_with(b"GET /metrics ") => ("200 OK", page),
        Some(_) => ("404 Not Found", "the metrics are at /metrics\n"),
        None => ("431 Request Header Fields Too Large", "the request is too long\n"),
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\
            \r\n{body}",
        body.len()
    )?;
    // Closing a socket with unread bytes resets the connection, and the client loses the answer.
    client.stream.shutdown(Shutdown::Write)?;
    io::copy(&mut client.take(REQUEST_MAX as u64), &mut io::sink())?;
    Ok(())
}

/// Reads the request up to its empty line; a client may send it in pieces (RFC 9112 section 2.1). `None` if it is too
/// long.
fn head(stream: &mut impl Read) -> Result<Option<Vec<u8>>, io::Error> {
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while request.len() < REQUEST_MAX {
        let len = stream.read(&mut piece)?;
        request.extend_from_slice(&piece[..len]);
        if len == 0 || request.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(request));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the pieces of a request, each in a separate segment, and reads the answer to its end.
    fn ask(server: &Server, pieces: &[&str]) -> String {
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in pieces {
            stream.write_all(piece.as_bytes()).unwrap();
        }
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_newest_page_is_served() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        let mut page = Page::default();
        page.single("fourhop_frames_total", "counter", "Frames radiated.", 3.0);
        page.begin("fourhop_lost_total", "counter", "Packets lost.");
        page.value("fourhop_lost_total", &[("layer", "mac"), ("reason", "a \"quote\"")], 2.5);
        server.publish(page);
        let text = ask(&server, &["GET /metrics HTTP/1.1\r\n\r\n"]);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(&format!("Content-Length: {}", body.len())));
        assert_eq!(
            body,
            "# HELP fourhop_frames_total Frames radiated.\n# TYPE fourhop_frames_total counter\nfourhop_frames_total \
                3\n\
             # HELP fourhop_lost_total Packets lost.\n# TYPE fourhop_lost_total counter\n\
             fourhop_lost_total{layer=\"mac\",reason=\"a \\\"quote\\\"\"} 2.5\n"
        );
        assert!(ask(&server, &["GET / HTTP/1.1\r\n\r\n"]).starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn a_request_may_come_in_pieces() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        let pieces = ["GET ", "/metrics", " HTTP/1.1\r\nHost: ", "x\r", "\n\r\n"];
        for _ in 0..100 {
            assert!(ask(&server, &pieces).starts_with("HTTP/1.1 200 OK\r\n"));
        }
    }

    /// A byte at a time keeps a connection busy, but not the server: it gives up, and the next client is served.
    #[test]
    fn a_client_that_dribbles_does_not_hold_up_the_others() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        let mut slow = TcpStream::connect(server.addr()).unwrap();
        let dribbling = std::thread::spawn(move || {
            let mut sent = 0;
            while sent < 1_000 && slow.write_all(b"x").is_ok() {
                sent += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            sent
        });
        assert!(ask(&server, &["GET /metrics HTTP/1.1\r\n\r\n"]).starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(dribbling.join().unwrap() < 1_000, "it was cut off");
    }

    #[test]
    fn connections_that_say_nothing_do_not_hold_up_the_others() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        let silent: Vec<_> = (0..100).map(|_| TcpStream::connect(server.addr()).unwrap()).collect();
        let begun = Instant::now();
        assert!(ask(&server, &["GET /metrics HTTP/1.1\r\n\r\n"]).starts_with("HTTP/1.1 200 OK\r\n"));
        // One after another, they would take a hundred times as long.
        assert!(begun.elapsed() < 20 * PATIENCE);
        drop(silent);
    }

    #[test]
    fn a_request_without_an_end_is_refused_and_the_answer_arrives() {
        let server = Server::start(([127, 0, 0, 1], 0).into()).unwrap();
        let long = "x".repeat(REQUEST_MAX + 500);
        assert!(ask(&server, &["GET /", &long]).starts_with("HTTP/1.1 431"));
    }
}
