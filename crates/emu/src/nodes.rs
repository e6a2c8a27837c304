//! The namespaces of the nodes and their devices.

use crate::members::{Member, hosts_file};
use crate::state::State;
use fourhop_live::device::{Device, Kind};
use fourhop_live::netlink::{Batch, LOOPBACK, Route};
use fourhop_live::{Error, Tried, namespace, user};
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

/// The device that stands for the radio of a node, or for the wires of one without.
pub const DEVICE: &str = "mesh0";

/// All addresses of an emulation: radios and what is behind gateways.
const ALL: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 0, 0, 0), 8);
/// Those of radios.
const RADIOS: (Ipv4Addr, u8) = (Ipv4Addr::new(10, 0, 0, 0), 9);

/// Threads that make namespaces at the same time: most of the time the kernel waits for other processors.
const BUILDERS: usize = 4;

/// What the kernel of a node is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What passes its device.
    pub kind: Kind,
    /// Largest packet.
    pub mtu: u32,
    /// Routes to other nodes and the neighbours they lead over, where the kernel forwards: for each node in order.
    pub routes: Vec<Vec<(Ipv4Addr, Ipv4Addr)>>,
}

/// The nodes of an emulation in the system. Dropping it removes them.
#[derive(Debug)]
pub struct Nodes {
    state: State,
    devices: Vec<Device>,
    removed: bool,
}

impl Nodes {
    /// Makes them.
    ///
    /// # Errors
    /// If the system refuses; then nothing is left of them.
    pub fn create(state: State, plan: &Plan) -> Result<Nodes, Error> {
        namespace::prepare()?;
        state.write()?;
        // From here on whatever fails is cleaned up when this is dropped.
        let mut nodes = Nodes { state, devices: Vec::new(), removed: false };
        nodes.devices = build_all(&nodes.state, plan)?;
        Ok(nodes)
    }

    /// What is written about them.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Their devices, in their order.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Removes everything.
    ///
    /// # Errors
    /// The first that cannot be removed; the others are.
    pub fn remove(mut self) -> Result<(), Error> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let done = self.state.remove();
        // A device goes when the last program and the last name of its namespace have gone; closing takes the kernel some
        // milliseconds each.
        let devices = std::mem::take(&mut self.devices);
        let share = devices.len().div_ceil(BUILDERS).max(1);
        let mut devices = devices.into_iter().peekable();
        std::thread::scope(|scope| {
            while devices.peek().is_some() {
                let part: Vec<Device> = devices.by_ref().take(share).collect();
                scope.spawn(move || drop(part));
            }
        });
        done
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if let Err(error) = self.clear() {
            eprintln!("warning: {error}");
        }
    }
}

fn build_all(state: &State, plan: &Plan) -> Result<Vec<Device>, Error> {
    let numbers: Vec<usize> = (0..state.members.len()).collect();
    let share = numbers.len().div_ceil(BUILDERS).max(1);
    let built: Vec<Result<Vec<Device>, Error>> = std::thread::scope(|scope| {
        let parts = numbers.chunks(share);
        let builders: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(|&number| build(state, plan, number)).collect()))
            .collect();
        builders
            .into_iter()
            .map(|builder| builder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut devices = Vec::with_capacity(numbers.len());
    for part in built {
        devices.extend(part?);
    }
    Ok(devices)
}

/// Makes one node, on a thread that may enter its namespace.
fn build(state: &State, plan: &Plan, number: usize) -> Result<Device, Error> {
    let member = &state.members[number];
    let name = state.namespace(member);
    write_files(&name, state, member)?;
    namespace::create(&name)?;
    let wired = member.node.wired_number().is_some();
    let kind = if wired { Kind::Tun } else { plan.kind };
    set_variables(kind)?;
    let device = Device::create(DEVICE, kind)?;
    let index = nix::net::if_::if_nametoindex(DEVICE).tried(|| format!("{DEVICE} of {name}"))?;
    let mut batch = Batch::default();
    batch.up(LOOPBACK, None);
    if kind == Kind::Tap {
        batch.mac(index, member.node.mac().0);
    }
    batch.up(index, Some(plan.mtu));
    let from = member.address;
    match kind {
        Kind::Tun => {
            batch.address(index, from, 32);
            batch.route(Route { to: ALL, device: index, via: None, from });
        }
        // The kernel asks for neighbours; what is further away has a route through one of them.
        Kind::Tap => batch.address(index, from, RADIOS.1),
    }
    for &(to, via) in plan.routes.get(number).into_iter().flatten() {
        batch.route(Route { to: (to, 32), device: index, via: Some(via), from });
    }
    batch.send()?;
    Ok(device)
}

fn write_files(name: &str, state: &State, member: &Member) -> Result<(), Error> {
    let folder = namespace::etc().join(name);
    let failed = || format!("cannot write {}/hosts", folder.display());
    fs::create_dir_all(&folder).tried(failed)?;
    fs::write(folder.join("hosts"), hosts_file(&state.members, member)).tried(failed)
}

/// How the kernel of the present namespace behaves.
fn set_variables(kind: Kind) -> Result<(), Error> {
    // What one connection has learned of a path must not decide about the next (tcp_metrics of RFC 2140).
    namespace::set_variable("net/ipv4/tcp_no_metrics_save", "1")?;
    // Everybody may ping (icmp(7)). In a user namespace there is nobody but root, who may in any case.
    if user::outside().is_none() {
        namespace::set_variable("net/ipv4/ping_group_range", "0 2147483647")?;
    }
    for place in ["all", "default"] {
        // A mesh is no place where an address tells the way: a neighbour's packets may come over any path (RFC 3704).
        namespace::set_variable(&format!("net/ipv4/conf/{place}/rp_filter"), "0")?;
        // What the network below says of a packet of this node comes with the address of this node.
        namespace::set_variable(&format!("net/ipv4/conf/{place}/accept_local"), "1")?;
    }
    match kind {
        // Only IPv4 is routed here, and what hosts announce to routers of IPv6 would only take up the air.
        Kind::Tun if Path::new("/proc/sys/net/ipv6").exists() => {
            namespace::set_variable("net/ipv6/conf/all/disable_ipv6", "1")?;
            namespace::set_variable("net/ipv6/conf/default/disable_ipv6", "1")
        }
        Kind::Tun => Ok(()),
        Kind::Tap => {
            // A relay sends where it has received; that is no detour (RFC 1812 section 5.2.7.2 has wired networks in mind).
            for place in ["all", "default"] {
                namespace::set_variable(&format!("net/ipv4/conf/{place}/send_redirects"), "0")?;
                namespace::set_variable(&format!("net/ipv4/conf/{place}/accept_redirects"), "0")?;
            }
            if Path::new("/proc/sys/net/ipv6").exists() {
                namespace::set_variable("net/ipv6/conf/all/forwarding", "1")?;
            }
            namespace::set_variable("net/ipv4/ip_forward", "1")
        }
    }
}
