//! Notifications to the service manager (sd_notify(3)), if there is one: ready, alive, reloading, stopping.

use std::env;
use std::ffi::OsString;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The service manager, if any.
#[derive(Debug)]
pub struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Manager {
    /// Finds the manager named by the environment.
    pub fn find() -> Manager {
        let watchdog = env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok()).map(Duration::from_micros);
        Manager { socket: env::var_os("NOTIFY_SOCKET").and_then(connect), watchdog }
    }

    fn notify(&self, what: &str) {
        if let Some((socket, to)) = &self.socket {
            // A manager that no longer listens needs no notification.
            let _ = socket.send_to_addr(what.as_bytes(), to);
        }
    }

    /// The service is ready; `status` is one line for people.
    pub fn ready(&self, status: &str) {
        self.notify(&format!("READY=1\nSTATUS={status}"));
    }

    /// The service reloads its configuration, and reports `ready` afterwards.
    pub fn reloading(&self) {
        let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Into::into);
        self.notify(&format!("RELOADING=1\nMONOTONIC_USEC={}", now.as_micros()));
    }

    /// The service is stopping.
    pub fn stopping(&self) {
        self.notify("STOPPING=1");
    }

    /// The service is alive: must be sent more often than every [`watchdog`](Manager::watchdog).
    pub fn alive(&self) {
        self.notify("WATCHDOG=1");
    }

    /// The silence after which the manager considers the service dead; `None` if it does not check.
    pub fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }
}

fn connect(name: OsString) -> Option<(UnixDatagram, SocketAddr)> {
    // A name that begins with @ is abstract, not a file.
    let to = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, to.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_hears_and_nobody_is_no_trouble() {
        let name = format!("@fourhop-test-{}", std::process::id());
        let addr = SocketAddr::from_abstract_name(&name[1..]).unwrap();
        let heard = UnixDatagram::bind_addr(&addr).unwrap();
        heard.set_nonblocking(true).unwrap();
        let manager = Manager { socket: connect(name.into()), watchdog: None };
        manager.ready("three flows");
        manager.alive();
        let mut buffer = [0; 100];
        let len = heard.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], b"READY=1\nSTATUS=three flows");
        let len = heard.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], b"WATCHDOG=1");
        Manager { socket: None, watchdog: None }.stopping();
    }

    #[test]
    fn a_manager_hears_of_a_change_and_of_the_end() {
        let path = env::temp_dir().join(format!("fourhop-service-{}", std::process::id()));
        let heard = UnixDatagram::bind(&path).unwrap();
        heard.set_nonblocking(true).unwrap();
        let manager = Manager { socket: connect(path.clone().into()), watchdog: Some(Duration::from_secs(3)) };
        assert_eq!(manager.watchdog(), Some(Duration::from_secs(3)));
        manager.reloading();
        manager.stopping();
        let mut buffer = [0; 100];
        let len = heard.recv(&mut buffer).unwrap();
        let text = std::str::from_utf8(&buffer[..len]).unwrap();
        let at: u64 = text.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap().parse().unwrap();
        assert!(at > 0, "{text}");
        let len = heard.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], b"STOPPING=1");
        std::fs::remove_file(path).unwrap();
    }
}
