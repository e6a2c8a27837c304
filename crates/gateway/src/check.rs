//! Checks for everything that a gateway needs, without starting one.

use crate::config::{Backend, Config};
use crate::{Error, hops, rules, selftest};
use fourhop_live::{privileges, screen};
use fourhop_proto::gateway::Mode;
use fourhop_units::Rate;
use std::path::Path;

/// A warning if links are faster than adaptive pacing is made for.
fn too_fast(config: &Config) -> Option<String> {
    if config.gap.mode == Mode::Ap2 {
        return None;
    }
    let rates = config.table.iter().filter_map(|entry| entry.rate).chain([config.rate]);
    let fastest = rates.max_by_key(|rate| rate.bps()).filter(|rate| *rate > Rate::kbps(11_000))?;
    Some(format!(
        "rate: found links of {} Mbit/s: pace.mode \"gap\" is for 802.11b, up to 11 Mbit/s; set \"ap2\", the default, \
            or measure whether it helps (fourhop measure)",
        fastest.bps() / 1_000_000
    ))
}

/// Whether this kernel setting is acceptable, and a message about it: IPv4 must be forwarded, IPv6 need not be.
fn forwarding(family: &str, value: &str) -> (bool, String) {
    let on = value.trim() == "1";
    let needed = family.starts_with("ipv4");
    let name = format!("net.{}", family.replace('/', "."));
    let advice = match (on, needed) {
        (true, _) => String::new(),
        (false, true) => format!(": sysctl -w {name}=1 enables forwarding"),
        (false, false) => ": IPv6 is not routed here".to_owned(),
    };
    (on || !needed, format!("{name} is {}{advice}", if on { "on" } else { "off" }))
}

/// Checks everything that `run` needs and prints the findings; returns the number of problems.
///
/// # Errors
/// If the file is invalid.
pub fn check(file: &Path) -> Result<u32, Error> {
    let config = Config::read(file)?;
    screen::line(format_args!("{}: sound", file.display()))?;
    let mut problems = 0;
    let mut say = |good: bool, words: String| {
        problems += u32::from(!good);
        screen::line(format_args!("{}: {words}", if good { "good" } else { "ERROR" }))
    };
    for device in &config.devices {
        let there = nix::net::if_::if_nametoindex(device.as_str()).is_ok();
        say(there, format!("device {device} {}", if there { "exists" } else { "does not exist" }))?;
    }
    if let Err(error) = privileges::known(&config.service.user) {
        say(false, error.to_string())?;
    }
    match rules::probe(&config) {
        Ok(backend) => {
            let name = if backend == Backend::Nft { "nft" } else { "iptables" };
            say(true, format!("{name} accepts the rules"))?;
            match selftest::run(backend) {
                Ok(()) => say(true, "a packet went through the kernel's queue and back".to_owned())?,
                Err(error) => say(false, format!("self-test in a separate network namespace: {error}"))?,
            }
        }
        Err(error) => say(false, error.to_string().replace('\n', "; "))?,
    }
    for family in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
        let value = std::fs::read_to_string(format!("/proc/sys/net/{family}")).unwrap_or_default();
        let (good, words) = forwarding(family, &value);
        say(good, words)?;
    }
    if let Some(rate) = too_fast(&config) {
        screen::line(format_args!("warning: {rate}"))?;
    }
    if rules::offload() {
        say(false, "flow offloading bypasses all filters, so connections are not paced: switch it off".to_owned())?;
    }
    match hops::ask(&config.source) {
        Some(Ok(entries)) => say(!entries.is_empty(), format!("hop counts of {} networks are known", entries.len()))?,
        Some(Err(error)) => say(false, error)?,
        None => {}
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_beyond_802_11b_get_a_warning_with_gap_alone() {
        let gap = |rate: &str, of_node: &str| {
            let node = format!("[[node]]\nto = '10.0.0.4'\nhops = 1\n{of_node}\n");
            let mesh = format!("[mesh]\ndevices = ['a']\nrate = '{rate}'\n");
            too_fast(&Config::parse(&format!("{mesh}{node}[pace]\nmode = 'gap'\n")).unwrap())
        };
        assert_eq!(gap("11Mbps", ""), None);
        assert!(gap("11001kbps", "").unwrap().contains("links of 11 Mbit/s"));
        assert!(gap("2Mbps", "rate = '54Mbps'").unwrap().starts_with("rate: found links of 54 Mbit/s: "));
        assert!(gap("54Mbps", "rate = '2Mbps'").is_some());
        let ap2 = Config::parse("[mesh]\ndevices = ['a']\nrate = '54Mbps'\n").unwrap();
        assert_eq!(too_fast(&ap2), None);
    }

    #[test]
    fn ipv4_has_to_be_forwarded_and_ipv6_need_not_be() {
        let (v4, v6) = ("ipv4/ip_forward", "ipv6/conf/all/forwarding");
        assert_eq!(forwarding(v4, "1\n"), (true, "net.ipv4.ip_forward is on".to_owned()));
        let off = "net.ipv4.ip_forward is off: sysctl -w net.ipv4.ip_forward=1 enables forwarding";
        assert_eq!(forwarding(v4, "0\n"), (false, off.to_owned()));
        assert_eq!(forwarding(v6, "1\n"), (true, "net.ipv6.conf.all.forwarding is on".to_owned()));
        let off = "net.ipv6.conf.all.forwarding is off: IPv6 is not routed here";
        assert_eq!(forwarding(v6, ""), (true, off.to_owned()), "a kernel without IPv6");
    }
}
