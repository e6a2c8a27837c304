//! Access categories of IEEE 802.11 (EDCA), and the mapping of packets to them.
//!
//! Sources: IEEE Std 802.11-2020 table 10-1 (categories of user priorities); RFC 2474 (DSCP); RFC 8325 section 4
//! (recommended priorities). Linux uses the upper three bits of the DSCP as the user priority
//! (`cfg80211_classify8021d`).

use super::{Ipv4Packet, Msdu, Payload};

/// An access category, in ascending order of urgency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(u8)]
pub enum Category {
    /// AC_BK: background.
    Bk,
    /// AC_BE: best effort.
    #[default]
    Be,
    /// AC_VI: video.
    Vi,
    /// AC_VO: voice.
    Vo,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 4] = [Category::Bk, Category::Be, Category::Vi, Category::Vo];

    /// Name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Category::Bk => "bk",
            Category::Be => "be",
            Category::Vi => "vi",
            Category::Vo => "vo",
        }
    }

    /// Returns the category of a user priority (table 10-1).
    pub const fn of_priority(priority: u8) -> Category {
        match priority & 7 {
            1 | 2 => Category::Bk,
            0 | 3 => Category::Be,
            4 | 5 => Category::Vi,
            _ => Category::Vo,
        }
    }

    /// Returns its TID on the air. A category has two user priorities; all its frames here use this one, and hence one
    /// sequence number space.
    pub const fn tid(self) -> u8 {
        match self {
            Category::Bk => 1,
            Category::Be => 0,
            Category::Vi => 5,
            Category::Vo => 6,
        }
    }
}

/// Mapping from a packet's DSCP to its user priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriorityMap {
    /// The upper three bits, as in Linux unless an access point says otherwise: EF (46) is video.
    ClassSelector,
    /// The table of RFC 8325 section 4.3: EF and CS6 are voice, AF2x, AF1x and CS2 best effort.
    Rfc8325,
}

impl PriorityMap {
    /// Returns the user priority of a packet with this DSCP.
    pub const fn priority(self, dscp: u8) -> u8 {
        match (self, dscp) {
            (PriorityMap::ClassSelector, _) => dscp >> 3 & 7,
            // Network control: 7. Telephony and VOICE-ADMIT: 6. Signalling: 5.
            (_, 48) => 7,
            (_, 44 | 46) => 6,
            (_, 40) => 5,
            // Conferencing, real-time interactive, streaming, broadcast video.
            (_, 24 | 26 | 28 | 30 | 32 | 34 | 36 | 38) => 4,
            // Low-latency data.
            (_, 18 | 20 | 22) => 3,
            // Low-priority data.
            (_, 8) => 1,
            _ => 0,
        }
    }

    /// Returns the category of a packet with this DSCP.
    pub const fn category(self, dscp: u8) -> Category {
        Category::of_priority(self.priority(dscp))
    }
}

impl Ipv4Packet {
    /// The DSCP of network control, CS6 (RFC 4594 section 3.1), used by routing daemons.
    pub const CS6: u8 = 48;
}

impl Msdu {
    /// Returns its category. ARP, which has no DSCP, is best effort, as in Linux.
    pub fn category(&self, map: PriorityMap) -> Category {
        match &self.payload {
            Payload::Ipv4(packet) => map.category(packet.dscp),
            Payload::Arp(_) | Payload::Foreign(_) => Category::Be,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of RFC 8325 figure 1, and their categories in Linux.
    #[test]
    fn dscps_have_categories() {
        use Category::{Be, Bk, Vi, Vo};
        for (dscp, linux, rfc8325) in [
            (48, Vo, Vo), // CS6
            (46, Vi, Vo), // EF
            (44, Vi, Vo), // VOICE-ADMIT
            (40, Vi, Vi), // CS5
            (34, Vi, Vi), // AF41
            (32, Vi, Vi), // CS4
            (26, Be, Vi), // AF31
            (24, Be, Vi), // CS3
            (18, Bk, Be), // AF21
            (16, Bk, Be), // CS2
            (10, Bk, Be), // AF11
            (0, Be, Be),
            (8, Bk, Bk), // CS1
        ] {
            let found = [PriorityMap::ClassSelector, PriorityMap::Rfc8325].map(|map| map.category(dscp));
            assert_eq!(found, [linux, rfc8325], "DSCP {dscp}");
        }
    }

    #[test]
    fn a_tid_is_a_priority_of_its_category() {
        for category in Category::ALL {
            assert_eq!(Category::of_priority(category.tid()), category);
        }
    }
}
