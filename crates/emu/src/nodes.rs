//! The namespaces of the nodes and their devices.

use crate::members::{Member, hosts_file};
use crate::state::State;
use crate::wires::WireEnd;
use fourhop_live::device::{Kind, SegmentDevice};
use fourhop_live::netlink::{Batch, LOOPBACK, Owner, Route};
use fourhop_live::screen::note;
use fourhop_live::{Error, Tried, namespace, open_files, user};
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

/// Open files other than those of nodes: sockets, namespaces, traces, metrics.
const OTHER_FILES: u64 = 128;

/// The device that represents a node's radio, or all wires of a node without one.
pub const DEVICE: &str = "mesh0";

/// All addresses of an emulation: radios and hosts behind gateways.
const ALL: Network = (Ipv4Addr::new(10, 0, 0, 0), 8);
/// Addresses of radios.
const RADIOS: Network = (Ipv4Addr::new(10, 0, 0, 0), 9);

/// Whether this address belongs to several nodes: multicast or broadcast, including that of the radios' network.
pub(crate) fn is_group(address: Ipv4Addr) -> bool {
    let (network, bits) = RADIOS;
    address.is_multicast() || address.is_broadcast() || address.to_bits() == network.to_bits() | u32::MAX >> bits
}

/// Threads that create namespaces in parallel: most of the time the kernel waits for other processors.
const BUILDERS: usize = 4;

/// Set-up of a node's kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Packets on its device.
    pub kind: Kind,
    /// MTU.
    pub mtu: u32,
    /// If the kernels forward: for each node, routes to networks with their next hops.
    pub routes: Vec<Vec<(Network, Ipv4Addr)>>,
    /// If the kernels route: the ends of wires. Nodes without radios then have no other devices.
    pub wires: Vec<WireEnd>,
}

/// An address and its prefix length.
pub type Network = (Ipv4Addr, u8);

impl Plan {
    /// Whether this node has a device for its radio, or for all its wires.
    fn has_own(&self, member: &Member) -> bool {
        self.kind == Kind::Tun || member.node.wired_number().is_none()
    }
}

/// The nodes of an emulation as the system sees them. Dropping it removes them.
#[derive(Debug)]
pub struct Nodes {
    state: State,
    devices: Vec<SegmentDevice>,
    /// For each end of a wire, the index of its node.
    ends: Vec<usize>,
    removed: bool,
}

impl Nodes {
    /// Creates the nodes.
    ///
    /// # Errors
    /// If the system refuses; then nothing is left of them.
    pub fn create(state: State, plan: &Plan) -> Result<Nodes, Error> {
        namespace::prepare()?;
        // A device and a capture for each node and each end of a wire, plus the files of the process and its builders.
        open_files::allow(2 * (state.members.len() + plan.wires.len()) as u64 + OTHER_FILES)?;
        state.write()?;
        // From here on, dropping this cleans up after a failure.
        let place = |end: &WireEnd| state.members.iter().position(|member| member.node == end.node).unwrap_or_default();
        let ends = plan.wires.iter().map(place).collect();
        let mut nodes = Nodes { state, devices: Vec::new(), ends, removed: false };
        nodes.devices = build_all(&nodes.state, plan)?;
        Ok(nodes)
    }

    /// Their record.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Devices of the nodes that have one, in order of the nodes; then those of the ends of wires, in their order.
    pub fn devices(&self) -> &[SegmentDevice] {
        &self.devices
    }

    /// The index of the node at an end of a wire.
    pub fn wire(&self, end: usize) -> usize {
        self.ends[end]
    }

    /// The index of the device of an end of a wire.
    pub fn wire_device(&self, end: usize) -> usize {
        self.devices.len() - self.ends.len() + end
    }

    /// The end of a wire to which a device belongs, if any.
    pub fn wire_end(&self, device: usize) -> Option<usize> {
        device.checked_sub(self.devices.len() - self.ends.len())
    }

    /// The index of the node that owns a device.
    pub fn owner(&self, device: usize) -> usize {
        self.wire_end(device).map_or(device, |end| self.ends[end])
    }

    /// Removes everything.
    ///
    /// # Errors
    /// The first failure; the rest is still removed.
    pub fn remove(mut self) -> Result<(), Error> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let done = self.state.remove();
        // A device is removed once the last program and the last name of its namespace are gone; closing takes the
        // kernel some milliseconds each.
        let devices = std::mem::take(&mut self.devices);
        let share = devices.len().div_ceil(BUILDERS).max(1);
        let mut devices = devices.into_iter().peekable();
        std::thread::scope(|scope| {
            while devices.peek().is_some() {
                let part: Vec<SegmentDevice> = devices.by_ref().take(share).collect();
                scope.spawn(move || drop(part));
            }
        });
        done
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if let Err(error) = self.clear() {
            note(format_args!("warning: {error}"));
        }
    }
}

fn build_all(state: &State, plan: &Plan) -> Result<Vec<SegmentDevice>, Error> {
    let numbers: Vec<usize> = (0..state.members.len()).collect();
    let share = numbers.len().div_ceil(BUILDERS).max(1);
    let built: Vec<Result<Vec<Vec<Placed>>, Error>> = std::thread::scope(|scope| {
        let parts = numbers.chunks(share);
        let builders: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(|&number| build(state, plan, number)).collect()))
            .collect();
        builders
            .into_iter()
            .map(|builder| builder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut devices = Vec::with_capacity(numbers.len() + plan.wires.len());
    for part in built {
        devices.extend(part?.into_iter().flatten());
    }
    devices.sort_by_key(|&(place, _): &Placed| place);
    Ok(devices.into_iter().map(|(_, device)| device).collect())
}

/// Position of a device among all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Node(usize),
    Wire(usize),
}

/// A device with its position.
type Placed = (Place, SegmentDevice);

/// Creates one node, on a thread that may enter its namespace.
fn build(state: &State, plan: &Plan, number: usize) -> Result<Vec<Placed>, Error> {
    let member = &state.members[number];
    let name = state.namespace(member);
    write_files(&name, state, member)?;
    namespace::create(&name)?;
    set_variables(plan.kind)?;
    let mut batch = Batch::default();
    batch.up(LOOPBACK, None);
    let mut devices = Vec::new();
    if plan.has_own(member) {
        let kind = if member.node.wired_number().is_some() { Kind::Tun } else { plan.kind };
        let (device, index) = create(DEVICE, kind, &name)?;
        devices.push((Place::Node(number), device));
        if kind == Kind::Tap {
            batch.mac(index, member.node.mac().0);
        }
        batch.up(index, Some(plan.mtu));
        let from = member.address;
        match kind {
            Kind::Tun => {
                batch.address(index, from, 32);
                batch.route(Owner::STATIC, Route { to: ALL, device: index, via: None, from, priority: 0 });
            }
            // The kernel resolves neighbours; more distant addresses have a route through one of them.
            Kind::Tap => batch.address(index, from, RADIOS.1),
        }
        for &(to, via) in plan.routes.get(number).into_iter().flatten() {
            batch.route(Owner::STATIC, Route { to, device: index, via: Some(via), from, priority: 0 });
        }
    }
    for (place, end) in plan.wires.iter().enumerate().filter(|(_, end)| end.node == member.node) {
        let (device, index) = create(&end.device, Kind::Tun, &name)?;
        devices.push((Place::Wire(place), device));
        if Path::new("/proc/sys/net/ipv6").exists() {
            // A wire carries only IPv4.
            namespace::set_variable(&format!("net/ipv6/conf/{}/disable_ipv6", end.device), "1")?;
        }
        batch.up(index, Some(plan.mtu));
        if let Some(address) = end.address {
            batch.address(index, address, 32);
        }
        for &to in &end.routes {
            let (to, from) = ((to, 32), member.address);
            batch.route(Owner::STATIC, Route { to, device: index, via: None, from, priority: 0 });
        }
    }
    batch.send()?;
    Ok(devices)
}

/// Creates a device in the current namespace; returns it with its interface index.
fn create(device: &str, kind: Kind, namespace: &str) -> Result<(SegmentDevice, u32), Error> {
    let made = SegmentDevice::create(device, kind)?;
    let index = nix::net::if_::if_nametoindex(device).tried(|| format!("{device} of {namespace}"))?;
    Ok((made, index))
}

fn write_files(name: &str, state: &State, member: &Member) -> Result<(), Error> {
    let folder = namespace::etc().join(name);
    let failed = || format!("cannot write the files of {}", folder.display());
    fs::create_dir_all(&folder).tried(failed)?;
    fs::write(folder.join("hosts"), hosts_file(&state.members, member)).tried(failed)?;
    // It overrides the host's file if there is one. Without the file a resolver asks the node itself anyway.
    if Path::new("/etc/resolv.conf").exists() {
        fs::write(folder.join("resolv.conf"), RESOLVER).tried(failed)?;
    }
    Ok(())
}

/// The servers of the host's file are not in the network: names that are not in `hosts` are refused at once by the node
/// itself, where a name server can be started.
const RESOLVER: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";

/// Sets the kernel variables of the current namespace.
fn set_variables(kind: Kind) -> Result<(), Error> {
    // Keep one connection's path metrics from the next (tcp_metrics of RFC 2140).
    namespace::set_variable("net/ipv4/tcp_no_metrics_save", "1")?;
    // Everyone may ping (icmp(7)). A user namespace has only root, who may in any case.
    if user::outside().is_none() {
        namespace::set_variable("net/ipv4/ping_group_range", "0 2147483647")?;
    }
    for place in ["all", "default"] {
        // In a mesh an address does not determine the path: a neighbour's packets may arrive over any path (RFC 3704).
        namespace::set_variable(&format!("net/ipv4/conf/{place}/rp_filter"), "0")?;
        // ICMP messages of the network below arrive with the address of this node.
        namespace::set_variable(&format!("net/ipv4/conf/{place}/accept_local"), "1")?;
    }
    match kind {
        // Only IPv4 is routed here, and what hosts announce to IPv6 routers would only take up air time.
        Kind::Tun if Path::new("/proc/sys/net/ipv6").exists() => {
            namespace::set_variable("net/ipv6/conf/all/disable_ipv6", "1")?;
            namespace::set_variable("net/ipv6/conf/default/disable_ipv6", "1")
        }
        Kind::Tun => Ok(()),
        Kind::Tap => {
            // A relay sends on the interface on which it received; that is no detour (RFC 1812 section 5.2.7.2 has
            // wired networks in mind).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_nodes_have_the_addresses_of_groups() {
        for group in ["255.255.255.255", "10.127.255.255", "224.0.0.251"] {
            assert!(is_group(group.parse().unwrap()), "{group}");
        }
        for one in ["10.0.0.1", "10.127.255.254", "10.255.255.255", "192.0.2.255"] {
            assert!(!is_group(one.parse().unwrap()), "{one}");
        }
    }
}
