//! The stations around a Wi-Fi device: nl80211, over generic netlink.

use super::Batch;
use super::ask::attributes;
use super::generic::{self, HEAD};
use super::own::all_answers;
use crate::Error;
use nix::sys::socket::SockProtocol;
use std::io;

/// nl80211 commands and attributes (linux/nl80211.h).
const GET_INTERFACE: u8 = 5;
const GET_STATION: u8 = 17;
const DEVICE: u16 = 3;
const TYPE: u16 = 5;
const MAC: u16 = 6;
const STATION: u16 = 21;
const INACTIVE: u16 = 1;
const SIGNAL: u16 = 7;
const TX_RATE: u16 = 8;
/// Attributes of a rate: in units of 100 kbit/s, with 16 bits and, since Linux 3.12, with 32.
const RATE_16: u16 = 1;
const RATE_32: u16 = 5;
const TX_PACKETS: u16 = 10;
const TX_FAILED: u16 = 12;

/// A station as seen by a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Station {
    /// Its MAC address.
    pub mac: [u8; 6],
    /// Signal strength of the last frame from it, in dBm.
    pub signal: Option<i8>,
    /// Time since then, in ms.
    pub inactive: u32,
    /// Total frames sent to it.
    pub sent: u32,
    /// Of those, frames given up after the last attempt.
    pub failed: u32,
    /// Rate of the last frame sent to it, in bit/s.
    pub rate: Option<u64>,
}

/// The role of a Wi-Fi device in its network (`enum nl80211_iftype`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Ad hoc: an IBSS.
    AdHoc,
    /// An 802.11s mesh.
    Mesh,
    /// A station of an access point, or the access point itself.
    Infrastructure,
    /// Anything else: a monitor, a device without a network.
    Other,
}

/// nl80211 in this kernel.
#[derive(Clone, Copy, Debug)]
pub struct Nl80211 {
    family: u16,
}

impl Nl80211 {
    /// Finds it.
    ///
    /// # Errors
    /// If this kernel has no Wi-Fi.
    pub fn find() -> Result<Nl80211, Error> {
        let what = "nl80211, the kernel's interface to Wi-Fi";
        let found = generic::family("nl80211", what)?;
        let missing = || Error { what: what.to_owned(), source: io::ErrorKind::NotFound.into() };
        found.map(|family| Nl80211 { family }).ok_or_else(missing)
    }

    /// The role of a device in its network.
    ///
    /// # Errors
    /// If it is not a Wi-Fi device.
    pub fn part(&self, device: u32) -> Result<Part, Error> {
        let what = format!("type of device {device}");
        let mut batch = Batch::default();
        batch.begin(self.family, (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16, || what.clone());
        batch.bytes.extend([GET_INTERFACE, 0, 0, 0]);
        batch.attribute(DEVICE, &device.to_ne_bytes());
        batch.end();
        let answers = all_answers(SockProtocol::NetlinkGeneric, &batch.bytes, &what)?;
        let found = answers.iter().find_map(|answer| {
            let (_, kind) = attributes(answer.get(HEAD..)?).find(|(kind, _)| *kind == TYPE)?;
            Some(u32::from_ne_bytes(kind.try_into().ok()?))
        });
        Ok(match found {
            Some(1) => Part::AdHoc,
            Some(7) => Part::Mesh,
            Some(2..=4) => Part::Infrastructure,
            _ => Part::Other,
        })
    }

    /// The stations known to a device.
    ///
    /// # Errors
    /// If it is not a Wi-Fi device.
    pub fn stations(&self, device: u32) -> Result<Vec<Station>, Error> {
        let what = format!("stations of device {device}");
        let mut batch = Batch::default();
        batch.begin(self.family, (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16, || what.clone());
        batch.bytes.extend([GET_STATION, 0, 0, 0]);
        batch.attribute(DEVICE, &device.to_ne_bytes());
        batch.end();
        let answers = all_answers(SockProtocol::NetlinkGeneric, &batch.bytes, &what)?;
        Ok(answers.iter().filter_map(|answer| station(answer.get(HEAD..)?)).collect())
    }
}

fn station(answer: &[u8]) -> Option<Station> {
    let find = |bytes, wanted| attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
    let info = find(answer, STATION)?;
    let number = |wanted| find(info, wanted).and_then(|n| n.try_into().ok()).map_or(0, u32::from_ne_bytes);
    Some(Station {
        mac: find(answer, MAC)?.try_into().ok()?,
        signal: find(info, SIGNAL).and_then(|signal| signal.first()).map(|&signal| signal as i8),
        inactive: number(INACTIVE),
        sent: number(TX_PACKETS),
        failed: number(TX_FAILED),
        rate: find(info, TX_RATE).and_then(rate),
    })
}

fn rate(nested: &[u8]) -> Option<u64> {
    let find = |wanted| attributes(nested).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
    let wide = find(RATE_32).and_then(|content| content.try_into().ok()).map(u32::from_ne_bytes);
    let narrow = || find(RATE_16).and_then(|content| content.try_into().ok()).map(u16::from_ne_bytes).map(u32::from);
    wide.or_else(narrow).filter(|&units| units > 0).map(|units| u64::from(units) * 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_is_read_from_nested_attributes() {
        let mut info = Batch::default();
        info.attribute(SIGNAL, &[(-71_i8) as u8]);
        info.attribute(TX_FAILED, &3_u32.to_ne_bytes());
        let mut tx = Batch::default();
        tx.attribute(RATE_16, &540_u16.to_ne_bytes());
        info.attribute(TX_RATE | 0x8000, &tx.bytes);
        let mut answer = Batch::default();
        answer.attribute(DEVICE, &4_u32.to_ne_bytes());
        answer.attribute(MAC, &[2, 0, 0, 0, 1, 0]);
        answer.attribute(STATION | 0x8000, &info.bytes);
        let found = station(&answer.bytes).unwrap();
        assert_eq!((found.mac, found.signal, found.failed, found.sent), ([2, 0, 0, 0, 1, 0], Some(-71), 3, 0));
        assert_eq!(found.rate, Some(54_000_000));
        tx.attribute(RATE_32, &8_667_u32.to_ne_bytes());
        assert_eq!(rate(&tx.bytes), Some(866_700_000), "the wide one counts");
        for end in 0..answer.bytes.len() {
            if let Some(found) = station(&answer.bytes[..end]) {
                assert_eq!(found.mac, [2, 0, 0, 0, 1, 0]);
            }
        }
    }

    #[test]
    fn a_kernel_without_wifi_says_so() {
        // Either outcome is fine: a device without Wi-Fi has no stations in both.
        if let Ok(wifi) = Nl80211::find() {
            assert!(wifi.stations(super::super::LOOPBACK).map_or(true, |all| all.is_empty()));
        }
    }
}
