//! The addresses of a station.

use core::net::Ipv4Addr;
use fourhop_units::MacAddr;

/// Addresses of a radio interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// IP address.
    pub ip: Ipv4Addr,
    /// MAC address.
    pub mac: MacAddr,
}

impl Addresses {
    /// Returns the MAC address of the station `ip` in a network without ARP, where MAC addresses differ by as much as
    /// IP addresses do.
    pub(super) fn mac_beside(&self, ip: Ipv4Addr) -> MacAddr {
        let [a, b, low @ ..] = self.mac.0;
        let distance = ip.to_bits().wrapping_sub(self.ip.to_bits());
        let [c, d, e, f] = u32::from_be_bytes(low).wrapping_add(distance).to_be_bytes();
        MacAddr([a, b, c, d, e, f])
    }

    /// The inverse of [`Addresses::mac_beside`]; `None` for the MAC address of another network.
    pub(super) fn ip_beside(&self, mac: MacAddr) -> Option<Ipv4Addr> {
        let ([a, b, low @ ..], [c, d, own @ ..]) = (mac.0, self.mac.0);
        let distance = u32::from_be_bytes(low).wrapping_sub(u32::from_be_bytes(own));
        ((a, b) == (c, d)).then(|| Ipv4Addr::from_bits(self.ip.to_bits().wrapping_add(distance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_arp_addresses_lead_to_each_other() {
        let here = Addresses { ip: Ipv4Addr::new(192, 168, 1, 9), mac: MacAddr([2, 0, 0, 0, 0, 9]) };
        for (last, mac) in [(1, [2, 0, 0, 0, 0, 1]), (9, [2, 0, 0, 0, 0, 9]), (200, [2, 0, 0, 0, 0, 200])] {
            let ip = Ipv4Addr::new(192, 168, 1, last);
            assert_eq!(here.mac_beside(ip), MacAddr(mac));
            assert_eq!(here.ip_beside(MacAddr(mac)), Some(ip));
        }
        assert_eq!(here.ip_beside(MacAddr([6, 0, 0, 0, 0, 1])), None);
    }
}
