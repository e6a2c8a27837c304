//! One process of a service in a network namespace.
//!
//! The lock is an abstract socket (unix(7)): its name belongs to the network namespace, needs no folder, and goes with the process
//! however that ends.

use crate::{Error, Tried};
use nix::sys::socket::{getsockopt, sockopt};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

/// The right to be the only process of a service in this network namespace. Children do not inherit it.
#[derive(Debug)]
pub struct Instance {
    _socket: UnixListener,
}

impl Instance {
    /// Takes the right of the service of this name, before anything is changed that belongs to it.
    ///
    /// # Errors
    /// If another process has it: the error names that process.
    pub fn take(service: &str) -> Result<Instance, Error> {
        let failed = || format!("cannot be the only {service} of this network namespace");
        let address = SocketAddr::from_abstract_name(service).tried(failed)?;
        match UnixListener::bind_addr(&address) {
            Ok(socket) => Ok(Instance { _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let process = holder(&address).map_or_else(String::new, |pid| format!(" (process {pid})"));
                Err(Error {
                    what: format!("{service} already runs in this network namespace{process}"),
                    source: io::Error::new(error.kind(), "stop it first"),
                })
            }
            Err(error) => Err(error).tried(failed),
        }
    }
}

/// The process that listens there.
fn holder(address: &SocketAddr) -> Option<i32> {
    let stream = UnixStream::connect_addr(address).ok()?;
    // Zero: of another namespace of processes.
    getsockopt(&stream, sockopt::PeerCredentials).ok().map(|peer| peer.pid()).filter(|&pid| pid != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_is_refused_until_the_first_has_gone() {
        let name = format!("fourhop-test-instance-{}", std::process::id());
        let first = Instance::take(&name).unwrap();
        let refused = Instance::take(&name).unwrap_err().to_string();
        assert!(refused.contains(&format!("already runs in this network namespace (process {})", std::process::id())));
        drop(first);
        Instance::take(&name).unwrap();
    }
}
