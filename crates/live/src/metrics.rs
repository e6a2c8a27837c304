//! Figures for Prometheus: a page in its text format 0.0.4, served over HTTP.

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A page of figures that is being written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page(String);

impl Page {
    /// Begins a figure: `counter` only grows, `gauge` goes up and down.
    pub fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A value of the figure with these labels.
    pub fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (n, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{text}\"", if n == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// A figure without labels.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.begin(name, kind, help);
        self.value(name, &[], value);
    }
}

/// Serves the newest page to everybody who asks, on a thread of its own, as long as the process lives.
#[derive(Clone, Debug)]
pub struct Server {
    page: Arc<Mutex<Page>>,
    addr: SocketAddr,
}

/// An answer to a client that neither asks nor goes is given up after this.
const PATIENCE: Duration = Duration::from_secs(2);

impl Server {
    /// Serves at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// If the address is taken, or not of this machine.
    pub fn start(addr: SocketAddr) -> Result<Server, io::Error> {
        let listener = TcpListener::bind(addr)?;
        let server = Server { page: Arc::default(), addr: listener.local_addr()? };
        let page = server.page.clone();
        std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            // One client after another: a page is a few kilobytes.
            for stream in listener.incoming().flatten() {
                let text = page.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
                // A client that has gone needs no answer.
                let _ = answer(stream, &text);
            }
        })?;
        Ok(server)
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// From now on this page is served.
    pub fn publish(&self, page: Page) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

fn answer(mut stream: TcpStream, page: &str) -> Result<(), io::Error> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = [0; 2048];
    let len = stream.read(&mut request)?;
    let found = request[..len].starts_with(b"GET /metrics ");
    let (status, body) = if found { ("200 OK", page) } else { ("404 Not Found", "the figures are at /metrics\n") };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &Server, path: &str) -> String {
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
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
        let text = ask(&server, "/metrics");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(&format!("Content-Length: {}", body.len())));
        assert_eq!(
            body,
            "# HELP fourhop_frames_total Frames radiated.\n# TYPE fourhop_frames_total counter\nfourhop_frames_total 3\n\
             # HELP fourhop_lost_total Packets lost.\n# TYPE fourhop_lost_total counter\n\
             fourhop_lost_total{layer=\"mac\",reason=\"a \\\"quote\\\"\"} 2.5\n"
        );
        assert!(ask(&server, "/").starts_with("HTTP/1.1 404"));
    }
}
