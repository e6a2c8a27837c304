//! Detects a router's mesh devices and its routing daemon.

use fourhop_live::Error;
use fourhop_live::netlink::look::{self, Device, Listed};
use fourhop_live::netlink::stations::{Nl80211, Part};
use std::collections::BTreeSet;
use std::fs;

/// Routing in the mesh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// fourhop-aodvd, whose socket gives hop counts.
    Aodv,
    /// A daemon of this name that routes by IP: the time to live gives hop counts.
    Ip(&'static str),
    /// 802.11s, below IP: its paths give hop counts.
    Mesh80211s,
    /// batman-adv, below IP: nothing gives hop counts.
    BatmanAdv,
    /// No daemon was found: static routes, or only neighbours.
    Nothing,
}

/// Findings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Devices that lead into the mesh, each with the reason.
    pub devices: Vec<(Device, String)>,
    /// Routing in the mesh.
    pub routing: Routing,
    /// Devices whose radio carries the frames: those of `devices`, or those below batman-adv.
    pub radios: Vec<Device>,
}

/// Daemons by process name, with their protocol numbers for routes (rtnetlink.h, iproute2's rt_protos), if they have
/// any.
const DAEMONS: [(&str, &[u8], Routing); 10] = [
    ("fourhop-aodvd", &[142], Routing::Aodv),
    ("babeld", &[42], Routing::Ip("babeld")),
    ("olsrd2", &[100], Routing::Ip("olsrd2")),
    ("olsrd", &[], Routing::Ip("olsrd")),
    ("bird", &[12], Routing::Ip("bird")),
    ("bird6", &[12], Routing::Ip("bird")),
    ("zebra", &[11], Routing::Ip("FRR")),
    ("batmand", &[], Routing::Ip("batmand")),
    ("bmx7", &[], Routing::Ip("bmx7")),
    ("bmx6", &[], Routing::Ip("bmx6")),
];

/// The inspected facts: the kernel's, and running processes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct System {
    /// Devices.
    pub devices: Vec<Device>,
    /// Roles of Wi-Fi devices in their network, by index.
    pub wifi: Vec<(u32, Part)>,
    /// Routes.
    pub routes: Vec<Listed>,
    /// Names and arguments of processes in this network namespace.
    pub processes: Vec<(String, Vec<String>)>,
}

impl System {
    /// Inspects this machine, in the network namespace of this thread.
    ///
    /// # Errors
    /// If the kernel does not list its devices.
    pub fn look() -> Result<System, Error> {
        let devices = look::devices()?;
        let wifi = Nl80211::find().map_or_else(
            |_| Vec::new(),
            |nl| devices.iter().filter_map(|device| Some((device.index, nl.part(device.index).ok()?))).collect(),
        );
        Ok(System { devices, wifi, routes: look::routes()?, processes: processes() })
    }

    fn part(&self, device: &Device) -> Option<Part> {
        self.wifi.iter().find(|(index, _)| *index == device.index).map(|(_, part)| *part)
    }

    /// Routing daemons that are running, or whose number a route has.
    fn daemons(&self) -> Vec<(&'static str, &'static [u8], Routing)> {
        DAEMONS
            .into_iter()
            .filter(|(name, numbers, _)| {
                self.processes.iter().any(|(process, _)| process == name)
                    || self.routes.iter().any(|route| numbers.contains(&route.protocol) && route.via.is_some())
            })
            .collect()
    }

    /// Finds interfaces into the mesh: by the type of the device, otherwise by the routing daemons.
    pub fn mesh(&self, named: &[String]) -> Result<Found, String> {
        let daemons = self.daemons();
        let mut devices: Vec<(Device, String)> = Vec::new();
        let mut take = |device: &Device, why: String| {
            if !devices.iter().any(|(known, _)| known.index == device.index) {
                devices.push((device.clone(), why));
            }
        };
        for name in named {
            let device = self.devices.iter().find(|device| device.name == *name);
            take(device.ok_or_else(|| self.unknown(name))?, "named on the command line".to_owned());
        }
        let batman = |device: &Device| device.kind.as_deref() == Some("batadv");
        let part_of_batman =
            |device: &Device| self.devices.iter().any(|mesh| batman(mesh) && device.master == Some(mesh.index));
        if named.is_empty() {
            for device in self.devices.iter().filter(|device| !part_of_batman(device)) {
                match (batman(device), self.part(device)) {
                    (true, _) => take(device, "a mesh of batman-adv".to_owned()),
                    (_, Some(Part::Mesh)) => take(device, "an 802.11s mesh".to_owned()),
                    (_, Some(Part::AdHoc)) => take(device, "an ad hoc network (IBSS)".to_owned()),
                    _ => {}
                }
            }
            for (daemon, numbers, _) in &daemons {
                for device in self.devices.iter().filter(|device| !part_of_batman(device)) {
                    let said =
                        self.processes.iter().any(|(process, words)| process == daemon && words.contains(&device.name));
                    let routed = |route: &&Listed| {
                        route.device == device.index && route.via.is_some() && numbers.contains(&route.protocol)
                    };
                    if said || self.routes.iter().any(|route| routed(&route)) {
                        take(device, format!("{daemon} uses it"));
                    }
                }
            }
        }
        if devices.is_empty() {
            return Err(self.unknown(""));
        }
        let is = |what: &dyn Fn(&Device) -> bool| devices.iter().any(|(device, _)| what(device));
        let routing = if is(&|device| batman(device)) {
            Routing::BatmanAdv
        } else if let Some((_, _, routing)) = daemons.first() {
            *routing
        } else if is(&|device| self.part(device) == Some(Part::Mesh)) {
            Routing::Mesh80211s
        } else {
            Routing::Nothing
        };
        let carries = |radio: &&Device| {
            devices.iter().any(|(device, _)| {
                if batman(device) { radio.master == Some(device.index) } else { radio.index == device.index }
            })
        };
        let radios = self.devices.iter().filter(carries).cloned().collect();
        Ok(Found { devices, routing, radios })
    }

    fn unknown(&self, name: &str) -> String {
        let names: BTreeSet<&str> = self.devices.iter().map(|device| &device.name[..]).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let found = if name.is_empty() {
            "found no 802.11s, ad hoc or batman-adv device, and no routing daemon with a device".to_owned()
        } else {
            format!("found {name:?}, which is not a device of this machine")
        };
        format!("mesh device: {found}; name one with --device: {names}")
    }
}

/// Names and arguments of all processes in this thread's network namespace.
fn processes() -> Vec<(String, Vec<String>)> {
    let Ok(own) = fs::read_link("/proc/thread-self/ns/net") else { return Vec::new() };
    let one = |entry: fs::DirEntry| {
        let folder = entry.path();
        if fs::read_link(folder.join("ns/net")).ok()? != own {
            return None;
        }
        let name = fs::read_to_string(folder.join("comm")).ok()?.trim_end().to_owned();
        let words = fs::read(folder.join("cmdline")).ok()?;
        let words = words.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        Some((name, words))
    };
    fs::read_dir("/proc").map_or_else(|_| Vec::new(), |all| all.flatten().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: u32, name: &str) -> Device {
        Device { index, name: name.to_owned(), up: true, ..Device::default() }
    }

    fn names(found: &[Device]) -> Vec<&str> {
        found.iter().map(|device| &device.name[..]).collect()
    }

    fn mesh_of(found: &Found) -> Vec<&str> {
        found.devices.iter().map(|(device, _)| &device.name[..]).collect()
    }

    #[test]
    fn wifi_says_what_is_a_mesh() {
        let (wired, mesh, ap) = (device(2, "eth0"), device(3, "mesh0"), device(4, "wlan0"));
        let wifi = vec![(3, Part::Mesh), (4, Part::Infrastructure)];
        let mut system = System { devices: vec![wired, mesh, ap], wifi, ..System::default() };
        let found = system.mesh(&[]).unwrap();
        assert_eq!((mesh_of(&found), found.routing), (vec!["mesh0"], Routing::Mesh80211s));
        system.wifi = vec![(3, Part::AdHoc)];
        system.processes = vec![("babeld".to_owned(), vec![])];
        assert_eq!(system.mesh(&[]).unwrap().routing, Routing::Ip("babeld"), "on an ad hoc network IP routes");
    }

    #[test]
    fn batman_is_the_mesh_and_its_radios_tell_rates() {
        let bat = Device { kind: Some("batadv".to_owned()), ..device(5, "bat0") };
        let radio = Device { master: Some(5), ..device(3, "mesh0") };
        let wifi = vec![(3, Part::Mesh)];
        let system = System { devices: vec![device(2, "eth0"), radio, bat], wifi, ..System::default() };
        let found = system.mesh(&[]).unwrap();
        assert_eq!((mesh_of(&found), found.routing), (vec!["bat0"], Routing::BatmanAdv));
        assert_eq!(names(&found.radios), ["mesh0"]);
    }

    #[test]
    fn without_wifi_the_daemon_says_which_device_it_uses() {
        let mut system = System { devices: vec![device(2, "eth0"), device(3, "eth1")], ..System::default() };
        assert!(system.mesh(&[]).unwrap_err().contains("name one with --device: eth0, eth1"));
        system.processes = vec![("babeld".to_owned(), vec!["babeld".to_owned(), "eth1".to_owned()])];
        let found = system.mesh(&[]).unwrap();
        assert_eq!((mesh_of(&found), found.routing), (vec!["eth1"], Routing::Ip("babeld")));
        system.processes = vec![];
        let via = Some([10, 0, 0, 2].into());
        system.routes = vec![Listed { to: ([10, 0, 0, 3].into(), 32), protocol: 142, device: 2, via }];
        assert_eq!(system.mesh(&[]).unwrap().routing, Routing::Aodv);
        system.routes[0].protocol = 4;
        assert!(system.mesh(&[]).is_err(), "a static route says nothing of a mesh");
        let found = system.mesh(&["eth0".to_owned()]).unwrap();
        assert_eq!((mesh_of(&found), found.routing), (vec!["eth0"], Routing::Nothing));
        assert!(system.mesh(&["eth7".to_owned()]).unwrap_err().contains("found \"eth7\""));
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        System::look().unwrap();
    }

    fn route(protocol: u8, device: u32, via: bool) -> Listed {
        Listed { to: ([10, 0, 0, 3].into(), 32), protocol, device, via: via.then(|| [10, 0, 0, 2].into()) }
    }

    #[test]
    fn a_daemon_that_left_a_route_to_a_neighbour_is_known_by_its_number() {
        let devices = vec![device(2, "eth0"), device(3, "eth1")];
        let of = |routes: Vec<Listed>| System { devices: devices.clone(), routes, ..System::default() };
        let found = of(vec![route(42, 3, true)]).mesh(&[]).unwrap();
        assert_eq!((mesh_of(&found), found.routing), (vec!["eth1"], Routing::Ip("babeld")));
        assert_eq!((&found.devices[0].1[..], names(&found.radios)), ("babeld uses it", vec!["eth1"]));
        assert!(of(vec![route(42, 3, false)]).mesh(&[]).is_err(), "the route of a device leads to no neighbour");
        assert!(of(vec![route(42, 9, true)]).mesh(&[]).is_err(), "over none of these devices");
        let both = of(vec![route(42, 3, true), route(4, 2, true), route(100, 3, true)]).mesh(&[]).unwrap();
        assert_eq!((mesh_of(&both), both.routing), (vec!["eth1"], Routing::Ip("babeld")), "each device once");
    }

    #[test]
    fn a_device_that_another_process_names_is_none_of_a_mesh() {
        let system = |process: &str, word: &str| System {
            devices: vec![device(2, "eth0"), device(3, "eth1")],
            processes: vec![("olsrd".to_owned(), vec![]), (process.to_owned(), vec![word.to_owned()])],
            ..System::default()
        };
        assert!(system("tcpdump", "eth1").mesh(&[]).is_err());
        assert!(system("olsrd", "eth7").mesh(&[]).is_err());
        assert_eq!(mesh_of(&system("olsrd", "eth1").mesh(&[]).unwrap()), ["eth1"]);
    }

    #[test]
    fn named_devices_are_taken_instead_of_those_that_look_like_a_mesh() {
        let devices = vec![device(2, "eth0"), device(3, "mesh0")];
        let processes = vec![("babeld".to_owned(), vec!["mesh0".to_owned()])];
        let system = System { devices, wifi: vec![(3, Part::Mesh)], processes, ..System::default() };
        let found = system.mesh(&["eth0".to_owned(), "eth0".to_owned()]).unwrap();
        assert_eq!(found.devices, [(device(2, "eth0"), "named on the command line".to_owned())]);
        assert_eq!(names(&found.radios), ["eth0"]);
        let all = system.mesh(&[]).unwrap();
        assert_eq!(all.devices, [(device(3, "mesh0"), "an 802.11s mesh".to_owned())], "the daemon adds nothing");
    }

    #[test]
    fn each_kind_of_mesh_is_taken_for_its_reason() {
        let bat = Device { kind: Some("batadv".to_owned()), ..device(5, "bat0") };
        let bridge = Device { kind: Some("bridge".to_owned()), ..device(6, "br0") };
        let port = Device { master: Some(6), ..device(7, "adhoc0") };
        let wifi = vec![(7, Part::AdHoc), (8, Part::Other)];
        let devices = vec![bat, bridge, port, device(8, "mon0")];
        let found = System { devices, wifi, ..System::default() }.mesh(&[]).unwrap();
        let why: Vec<_> = found.devices.iter().map(|(device, why)| (&device.name[..], &why[..])).collect();
        assert_eq!(why, [("bat0", "a mesh of batman-adv"), ("adhoc0", "an ad hoc network (IBSS)")]);
        assert_eq!(names(&found.radios), ["adhoc0"], "nothing carries the frames of bat0");
    }

    #[test]
    fn radios_of_batman_are_no_mesh_even_if_a_daemon_uses_them() {
        let bat = Device { kind: Some("batadv".to_owned()), ..device(5, "bat0") };
        let radio = Device { master: Some(5), ..device(3, "mesh0") };
        let processes = vec![("babeld".to_owned(), vec!["mesh0".to_owned()])];
        let system = System { devices: vec![radio, bat], processes, ..System::default() };
        assert_eq!(mesh_of(&system.mesh(&[]).unwrap()), ["bat0"]);
    }

    #[test]
    fn errors_list_the_devices_in_their_order() {
        let system = System { devices: vec![device(3, "b"), device(2, "a")], ..System::default() };
        let none = "mesh device: found no 802.11s, ad hoc or batman-adv device, and no routing daemon with a device; \
                    name one with --device: a, b";
        assert_eq!(system.mesh(&[]), Err(none.to_owned()));
        let other = "mesh device: found \"c\", which is not a device of this machine; name one with --device: a, b";
        assert_eq!(system.mesh(&["a".to_owned(), "c".to_owned()]), Err(other.to_owned()));
    }

    #[test]
    fn this_process_is_one_of_those_that_run() {
        let words: Vec<String> = std::env::args().collect();
        let name = fs::read_to_string("/proc/self/comm").unwrap();
        let found = processes();
        let own = found.iter().find(|(process, said)| process == name.trim_end() && said.starts_with(&words));
        assert!(own.is_some(), "{words:?}: {found:?}");
    }
}
