//! The names that a scenario can use, each with a one-line description.

use super::key::Choice;
use super::sections::{AppKind, MobilityModel, Profile, RadioModel, RoutingProtocol, TopologyKind};
use fourhop_cc::Transport;
use fourhop_proto::node::OwnTransport;

/// An option that a scenario can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CatalogEntry {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
}

/// All options that a scenario can name, by kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Catalog {
    /// Profiles.
    pub profiles: Vec<CatalogEntry>,
    /// Shapes of networks.
    pub topologies: Vec<CatalogEntry>,
    /// Models of movement.
    pub mobility: Vec<CatalogEntry>,
    /// Transports of flows.
    pub transports: Vec<CatalogEntry>,
    /// Applications of flows.
    pub apps: Vec<CatalogEntry>,
    /// Routing protocols.
    pub routings: Vec<CatalogEntry>,
    /// Models of the radio.
    pub radios: Vec<CatalogEntry>,
    /// Access categories, the most urgent first.
    pub categories: Vec<CatalogEntry>,
}

/// Prefixes of `[edca]` keys and counters, with the DSCPs that Linux maps to each category.
const CATEGORIES: &[(&str, &str)] = &[
    ("vo", "voice, with `mac.edca`: DSCP 48 to 63, including routing"),
    ("vi", "video: 32 to 47"),
    ("be", "best effort: 0 to 7 and 24 to 31"),
    ("bk", "background: 8 to 23"),
];

/// Returns all options that a scenario can name.
pub fn catalog() -> Catalog {
    let entries = |choices: &[(&'static str, &'static str)]| {
        choices.iter().map(|&(name, summary)| CatalogEntry { name, summary }).collect::<Vec<_>>()
    };
    let mut transports: Vec<_> =
        Transport::ALL.iter().map(|t| CatalogEntry { name: t.name, summary: t.summary }).collect();
    transports.extend(OwnTransport::ALL.iter().map(|t| CatalogEntry { name: t.name(), summary: t.summary() }));
    transports.push(CatalogEntry { name: "udp", summary: "datagrams without congestion control" });
    transports.push(CatalogEntry { name: "ping", summary: "ICMP echo requests and replies" });
    Catalog {
        profiles: entries(Profile::CHOICES),
        topologies: entries(TopologyKind::CHOICES),
        mobility: entries(MobilityModel::CHOICES),
        transports,
        apps: entries(AppKind::CHOICES),
        routings: entries(RoutingProtocol::CHOICES),
        radios: entries(RadioModel::CHOICES),
        categories: entries(CATEGORIES),
    }
}

impl Catalog {
    /// Returns all kinds with their headings, in the order of display.
    pub fn kinds(&self) -> [(&'static str, &[CatalogEntry]); 8] {
        [
            ("profiles", &self.profiles),
            ("topologies", &self.topologies),
            ("mobility", &self.mobility),
            ("transports", &self.transports),
            ("applications", &self.apps),
            ("routings", &self.routings),
            ("radios", &self.radios),
            ("categories", &self.categories),
        ]
    }
}
