//! Sets up the kernel, and restores it: the device that catches packets without a route, the routing table, and the
//! variables for forwarding.
//!
//! Routes are in a separate table, which a rule puts before the main one. The main table stays as it is, with the
//! networks of its devices. In our table the networks of the mesh lead to a TUN device; each destination with a route
//! has a more specific /32 entry. Networks behind gateways lead to the device from the main table, after wired routes.

use crate::Error;
use crate::config::Config;
use crate::kept::Variable;
use crate::port::Port;
use fourhop_live::device::{Device, Kind};
use fourhop_live::netlink::{Batch, Owner, Route, mtu};
use fourhop_live::screen::note;
use fourhop_live::{Tried, namespace};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;

/// The least preferred of all routes.
const LAST: u32 = u32::MAX;
/// `RT_TABLE_MAIN`.
const MAIN: u32 = 254;

/// The kernel as used by this daemon.
#[derive(Debug)]
pub struct Kernel {
    /// The device that receives packets without a route.
    pub caught: Device,
    owner: Owner,
    address: Ipv4Addr,
    /// Routes with their tables that exist as long as the daemon runs, besides the rule.
    fixed: Vec<(u32, Route)>,
    rule: u32,
    device: u32,
    mtu: Option<u32>,
    /// Route changes not yet sent.
    batch: Batch,
    waiting: bool,
    /// Number of changes that the kernel has refused.
    pub refused: u64,
}

/// Removes what a killed process has left under this protocol number. Returns the number of entries.
///
/// # Errors
/// If the kernel refuses.
pub fn clean(owner: Owner) -> Result<usize, Error> {
    Ok(Batch::remove_all_of(owner.protocol)?)
}

impl Kernel {
    /// Sets up the kernel.
    ///
    /// # Errors
    /// If the node does not have its address, or the kernel refuses something.
    pub fn start(config: &Config, ports: &[Port]) -> Result<Kernel, Error> {
        let address = config.address;
        if !is_local(address) {
            return Err(Error::Refused(absent(config)));
        }
        let name = &config.system.device;
        let caught = Device::create(name, Kind::Tun)?;
        if Path::new("/proc/sys/net/ipv6").exists() {
            namespace::set_variable(&format!("net/ipv6/conf/{name}/disable_ipv6"), "1")?;
        }
        let device = if_nametoindex(name.as_str()).tried(|| name.clone())?;
        let owner = config.system.owner();
        let mut batch = Batch::default();
        // Packets that return from the device leave over one of the interfaces, unfragmented.
        let mtu = ports.iter().filter_map(|port| mtu(port.device).ok()).min();
        batch.up(device, mtu);
        let mut fixed = Vec::new();
        for (table, networks) in [(owner.table, &config.mesh), (MAIN, &config.outside)] {
            for network in networks {
                let to = (network.addr(), network.bits());
                let route = Route { to, device, via: None, from: address, priority: LAST };
                batch.route(Owner { table, ..owner }, route);
                fixed.push((table, route));
            }
        }
        let rule = config.system.rule;
        batch.own_rule(owner, rule);
        batch.send()?;
        let batch = Batch::default();
        Ok(Kernel { caught, owner, address, fixed, rule, device, mtu, batch, waiting: false, refused: 0 })
    }

    /// Compares the kernel's entries with what it should have: these destinations, each with its next hop and device,
    /// in addition to the fixed entries. Restores those missing, and returns their number.
    ///
    /// # Errors
    /// If the kernel does not list its entries, or refuses the restored ones.
    pub fn restore_routes(&mut self, routes: impl Iterator<Item = (Ipv4Addr, Ipv4Addr, u32)>) -> Result<usize, Error> {
        self.flush();
        let present = Batch::all_of(self.owner.protocol)?;
        let found = routes.map(|(to, next_hop, device)| (self.owner.table, self.own(to, next_hop, device)));
        let found: Vec<_> = found.collect();
        let is_missing = |(table, route): &&(u32, Route)| !present.routes.contains(&route.written(*table));
        let missing: Vec<_> = self.fixed.iter().chain(&found).filter(is_missing).collect();
        let lacks_rule = !present.rules.contains(&(self.owner.table, self.rule));
        if missing.is_empty() && !lacks_rule {
            return Ok(0);
        }
        let mut batch = Batch::default();
        // A device that is down accepts no routes, and has lost those it had.
        batch.up(self.device, self.mtu);
        missing.iter().for_each(|(table, route)| batch.route(Owner { table: *table, ..self.owner }, *route));
        if lacks_rule {
            batch.own_rule(self.owner, self.rule);
        }
        batch.send_but(&[Errno::EEXIST])?;
        Ok(missing.len() + usize::from(lacks_rule))
    }

    fn own(&self, destination: Ipv4Addr, next_hop: Ipv4Addr, device: u32) -> Route {
        let via = Some(next_hop).filter(|&next_hop| next_hop != destination);
        Route { to: (destination, 32), device, via, from: self.address, priority: 0 }
    }

    /// Adds a route, with the next [`Kernel::flush`].
    pub fn up(&mut self, destination: Ipv4Addr, next_hop: Ipv4Addr, device: u32) {
        self.waiting = true;
        let route = self.own(destination, next_hop, device);
        self.batch.route(self.owner, route);
    }

    /// Removes a route.
    pub fn down(&mut self, destination: Ipv4Addr) {
        self.waiting = true;
        self.batch.remove_route(self.owner, (destination, 32), 0);
    }

    /// Sends the changes to the kernel.
    pub fn flush(&mut self) {
        if std::mem::take(&mut self.waiting) {
            let batch = std::mem::take(&mut self.batch);
            // The kernel itself removes routes over a device that goes down.
            if let Err(error) = batch.send_but(&[Errno::ESRCH]) {
                self.refused += 1;
                if self.refused.is_power_of_two() {
                    note(format_args!("warning: the kernel refuses a route: {error} ({} so far)", self.refused));
                }
            }
        }
    }
}

/// Whether this machine has a device of that name, in the namespace of this thread.
pub fn has_device(name: &str) -> bool {
    if_nametoindex(name).is_ok()
}

/// Whether this machine has the address.
pub fn is_local(address: Ipv4Addr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// The message for a machine that lacks its address.
pub fn absent(config: &Config) -> String {
    let (address, first) = (config.address, &config.interfaces[0]);
    format!(
        "address: found {address}, which is not an address of this machine; add it (ip addr add \
            {address}/32 \
         dev {first})"
    )
}

/// Kernel settings for forwarding over a mesh.
fn wanted(config: &Config) -> Vec<(String, &'static str)> {
    let mut all = vec![("net/ipv4/ip_forward".to_owned(), "1"), ("net/ipv4/conf/all/send_redirects".to_owned(), "0")];
    for name in config.interfaces.iter().chain([&config.system.device]) {
        // A relay sends on the interface on which it received; that is no detour.
        all.push((format!("net/ipv4/conf/{name}/send_redirects"), "0"));
        all.push((format!("net/ipv4/conf/{name}/accept_redirects"), "0"));
        // Packets arrive over whichever neighbour has a route, not always the one that replies take (RFC 3704 section
        // 2.4: loose).
        all.push((format!("net/ipv4/conf/{name}/rp_filter"), "2"));
    }
    all
}

/// The variables to set, with their current values, except those that already have the right value.
pub fn changes(config: &Config) -> Vec<(Variable, &'static str)> {
    let differs = |(name, value): (String, &'static str)| {
        let before = fs::read_to_string(Path::new("/proc/sys").join(&name)).ok()?.trim().to_owned();
        // 0 is looser than loose.
        let suffices = before == value || (name.ends_with("rp_filter") && before == "0");
        (!suffices).then_some((Variable { name, before }, value))
    };
    wanted(config).into_iter().filter_map(differs).collect()
}

/// Restores variables. Those of a removed device are gone with it.
pub fn restore(variables: &[Variable]) {
    for variable in variables.iter().rev() {
        if Path::new("/proc/sys").join(&variable.name).exists()
            && let Err(error) = namespace::set_variable(&variable.name, &variable.before)
        {
            note(format_args!("warning: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::parse("address = '192.0.2.1'\ninterfaces = ['lo', 'mesh-none']\nmesh = ['192.0.2.0/24']").unwrap()
    }

    #[test]
    fn an_address_and_a_device_are_of_this_machine_or_not() {
        assert!(is_local(Ipv4Addr::LOCALHOST) && has_device("lo"));
        // TEST-NET-1 (RFC 5737) belongs to nobody.
        assert!(!is_local([192, 0, 2, 1].into()) && !has_device("mesh-none"));
        let said = "address: found 192.0.2.1, which is not an address of this machine; \
                    add it (ip addr add 192.0.2.1/32 dev lo)";
        assert_eq!(absent(&config()), said);
    }

    #[test]
    fn forwarding_over_a_mesh_needs_no_redirects_and_a_loose_filter_on_each_device() {
        let wanted = wanted(&config());
        let all = wanted.iter().map(|(name, value)| (name.as_str(), *value)).collect::<Vec<_>>();
        assert_eq!(all[..2], [("net/ipv4/ip_forward", "1"), ("net/ipv4/conf/all/send_redirects", "0")]);
        for device in ["lo", "mesh-none", "aodv0"] {
            for (what, value) in [("send_redirects", "0"), ("accept_redirects", "0"), ("rp_filter", "2")] {
                assert!(all.contains(&(&format!("net/ipv4/conf/{device}/{what}"), value)), "{device}, {what}: {all:?}");
            }
        }
        assert_eq!(all.len(), 2 + 3 * 3);
    }

    #[test]
    fn variables_that_are_right_already_are_not_touched() {
        let changes = changes(&config());
        for (name, value) in wanted(&config()) {
            let now = fs::read_to_string(Path::new("/proc/sys").join(&name)).map(|text| text.trim().to_owned());
            let loose_enough = name == "net/ipv4/conf/lo/rp_filter" && matches!(now.as_deref(), Ok("0"));
            let found = changes.iter().find(|(variable, _)| variable.name == name);
            match now {
                // The device does not exist.
                Err(_) => assert_eq!(found, None),
                Ok(now) if now == value || loose_enough => assert_eq!(found, None, "{name} is {now}"),
                Ok(before) => assert_eq!(found, Some(&(Variable { name, before }, value))),
            }
        }
    }
}
