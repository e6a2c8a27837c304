//! Texts of a fixed form: addresses, networks, device names.

use core::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Required form of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// An IPv4 address.
    Ipv4,
    /// A [`Network`].
    Network,
    /// An IPv4 [`Network`].
    Ipv4Network,
    /// An address with a port.
    Socket,
    /// The name of a network device.
    Device,
}

impl Form {
    /// Returns the name of the form, with an article.
    pub const fn noun(self) -> &'static str {
        match self {
            Form::Ipv4 => "an IPv4 address",
            Form::Network => "a network such as \"10.0.0.0/8\", or an address",
            Form::Ipv4Network => "an IPv4 network such as \"10.0.0.0/8\", or an address",
            Form::Socket => "an address with a port, such as \"127.0.0.1:9100\"",
            Form::Device => "the name of a network device: at most 15 letters, digits, '.', '-', '_' or '@'",
        }
    }

    /// Whether `text` has this form.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Form::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Form::Network => Network::parse(text).is_some(),
            Form::Ipv4Network => Network::parse(text).is_some_and(|network| network.0.is_ipv4()),
            Form::Socket => text.parse::<SocketAddr>().is_ok(),
            // IFNAMSIZ minus the terminating zero (linux/if.h); a name quoted in rules must not form a rule.
            Form::Device => {
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_@".contains(&byte);
                (1..=15).contains(&text.len()) && text.bytes().all(allowed)
            }
        }
    }
}

/// A network such as "10.0.0.0/8", or a single address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Network(pub IpAddr, pub u8);

impl Network {
    /// Parses an address, alone or with a prefix length.
    pub fn parse(text: &str) -> Option<Network> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
        (bits <= most).then_some(Network(address, bits))
    }

    /// Whether the network contains the address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = u32::from(self.1);
        let same = |own: u128, other: u128, width: u32| bits == 0 || (own ^ other) >> (width - bits) == 0;
        match (self.0, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => same(u32::from(own).into(), u32::from(other).into(), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => same(own.into(), other.into(), 128),
            _ => false,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_what_has_their_bits() {
        let within = |net: &str, address: &str| Network::parse(net).unwrap().contains(address.parse().unwrap());
        assert!(within("10.0.0.0/9", "10.127.0.1") && !within("10.0.0.0/9", "10.128.0.1"));
        assert!(within("0.0.0.0/0", "1.2.3.4") && !within("0.0.0.0/0", "::1"));
        assert!(within("fd00::/8", "fdff::1") && !within("fd00::1", "fd00::2"));
        assert_eq!(Network::parse("10.0.0.0/33"), None);
        assert_eq!(Network::parse("10.0.0.1").map(|network| network.to_string()), Some("10.0.0.1/32".to_owned()));
    }

    #[test]
    fn names_of_devices_are_no_rules() {
        assert!(Form::Device.fits("wlan0.1") && !Form::Device.fits("a b") && !Form::Device.fits("0123456789abcdef"));
        assert!(!Form::Ipv4Network.fits("fd00::/8") && Form::Network.fits("fd00::/8"));
    }
}
