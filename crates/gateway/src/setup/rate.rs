//! The rate of the links of a mesh: reported by the Wi-Fi driver, or measured by round trips of packets of two sizes to
//! a neighbour.

use super::find::Found;
use fourhop_live::netlink::look::{self, Device, Listed};
use fourhop_live::netlink::stations::Nl80211;
use fourhop_live::{Error, Tried};
use fourhop_units::Rate;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, setsockopt, socket, sockopt};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

/// A rate, and how it was determined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Learned {
    /// Rate of the links.
    pub rate: Rate,
    /// Explanation in one line.
    pub how: String,
}

/// Determines the rate; `Err` contains advice.
pub fn learn(found: &Found, routes: &[Listed]) -> Result<Learned, String> {
    if let Some(learned) = driver(&found.radios) {
        return Ok(learned);
    }
    let mut tried = BTreeSet::new();
    for (device, _) in &found.devices {
        for neighbour in neighbours(device, routes).into_iter().take(NEIGHBOURS) {
            tried.insert(neighbour);
            // If one does not answer, another may.
            if let Ok(Some(rate)) = measure(&device.name, neighbour) {
                let how = format!("measured: echoes of {} and {} bytes to {neighbour}", SIZES[0], SIZES[1]);
                return Ok(Learned { rate, how });
            }
        }
    }
    let asked = tried.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let asked = if asked.is_empty() { "there is no neighbour".to_owned() } else { format!("{asked} do not answer") };
    Err(format!(
        "mesh.rate: nl80211 knows no station and {asked}; run setup again when a node of the mesh is up, or give --rate"
    ))
}

/// The median of the driver's transmit rates to its stations.
fn driver(radios: &[Device]) -> Option<Learned> {
    let nl = Nl80211::find().ok()?;
    let mut rates: Vec<u64> = Vec::new();
    for radio in radios {
        rates.extend(nl.stations(radio.index).ok()?.iter().filter_map(|station| station.rate));
    }
    let rate = median(&mut rates)?;
    let names = radios.iter().map(|radio| &radio.name[..]).collect::<Vec<_>>().join(", ");
    Some(Learned {
        rate: Rate::from_bps(rate)?,
        how: format!("nl80211: the median of {} stations of {names}", rates.len()),
    })
}

fn median(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// Neighbours of a device, next hops of routes first.
fn neighbours(device: &Device, routes: &[Listed]) -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    let routed = routes.iter().filter(|route| route.device == device.index);
    let next = routed.filter_map(|route| route.via.or((route.to.1 == 32).then_some(route.to.0)));
    let known = look::neighbours(device.index).unwrap_or_default().into_iter().filter_map(|address| match address {
        IpAddr::V4(v4) => Some(v4),
        IpAddr::V6(_) => None,
    });
    for address in next.chain(known) {
        if !found.contains(&address) && !address.is_multicast() && !address.is_broadcast() {
            found.push(address);
        }
    }
    found
}

/// Most neighbours tried, payload bytes of the two echo sizes, number of each, and the total time limit.
const NEIGHBOURS: usize = 3;
const SIZES: [usize; 2] = [16, 1216];
const ECHOES: u16 = 64;
const LONGEST: Duration = Duration::from_secs(8);
/// The fastest one of this many echoes of a size counts. Back-off before transmission is random: 31 slots of 20 us in
/// either direction make two echoes of one size differ by up to 1.2 ms, which at 5.5 Mbit/s is a third of the extra
/// time of the larger size.
const OF_WHICH_ONE: usize = 4;
/// Time limit of an echo, and how many may be lost in a row.
const PATIENCE: Duration = Duration::from_secs(1);
const LOST: u32 = 4;
/// A smaller difference of two round trips is due to the machine: 1200 bytes there and back at 190 Mbit/s.
const LEAST: Duration = Duration::from_micros(100);

/// Measures the rate of a link by echoes of two sizes to a neighbour; `None` if it does not answer.
///
/// # Errors
/// If this user may not send echoes.
fn measure(device: &str, to: Ipv4Addr) -> Result<Option<Rate>, Error> {
    let what = || format!("echo to {to}");
    let raw = socket(AddressFamily::Inet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Icmp).tried(what)?;
    setsockopt(&raw, sockopt::BindToDevice, &OsString::from(device)).tried(what)?;
    // For raw sockets the same calls are used: send_to and recv_from with a time-out.
    let socket = UdpSocket::from(raw);
    let id = std::process::id() as u16;
    let took = series(|number, size| echo(&socket, to, id, number, size)).tried(what)?;
    Ok(slope(took))
}

/// Alternates echoes of both sizes and returns their times, until there are enough, several are lost in a row, or it
/// takes too long.
fn series(
    mut echo: impl FnMut(u16, usize) -> std::io::Result<Option<Duration>>,
) -> std::io::Result<[Vec<Duration>; 2]> {
    let mut took: [Vec<Duration>; 2] = Default::default();
    let (begun, mut lost) = (Instant::now(), 0);
    for number in 0..2 * ECHOES {
        let kind = usize::from(number % 2);
        match echo(number, SIZES[kind])? {
            Some(time) => {
                took[kind].push(time);
                lost = 0;
            }
            None => lost += 1,
        }
        if lost >= LOST || begun.elapsed() > LONGEST {
            break;
        }
    }
    Ok(took)
}

/// The time per additional byte, there and back. Headers, interframe spaces and link acknowledgements cost both sizes
/// the same, and random back-offs have the same mean; the slow three quarters, which waited for other traffic, are left
/// out.
fn slope(took: [Vec<Duration>; 2]) -> Option<Rate> {
    let [short, long] = took.map(quick);
    let took = long?.saturating_sub(short?).max(LEAST);
    let bits = 2 * 8 * (SIZES[1] - SIZES[0]) as u64;
    Rate::from_bps(bits * 1_000_000_000 / took.as_nanos() as u64)
}

/// The mean of the fast ones.
fn quick(mut took: Vec<Duration>) -> Option<Duration> {
    took.sort_unstable();
    took.truncate(took.len().div_ceil(OF_WHICH_ONE));
    Some(took.iter().sum::<Duration>() / u32::try_from(took.len()).ok().filter(|&count| count > 0)?)
}

/// Sends one echo (RFC 792); returns its round trip, or `None` after the time limit.
fn echo(socket: &UdpSocket, to: Ipv4Addr, id: u16, number: u16, size: usize) -> std::io::Result<Option<Duration>> {
    let packet = request(id, number, size);
    let start = Instant::now();
    socket.send_to(&packet, (to, 0))?;
    let mut buffer = [0; 2048];
    while let Some(left) = PATIENCE.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        socket.set_read_timeout(Some(left))?;
        let (len, from) = match socket.recv_from(&mut buffer) {
            Ok(got) => got,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => return Err(error),
        };
        if from.ip() == to && is_answer(&buffer[..len], &packet) {
            return Ok(Some(start.elapsed()));
        }
    }
    Ok(None)
}

/// A request with this many bytes of data.
fn request(id: u16, number: u16, size: usize) -> Vec<u8> {
    let mut packet = vec![8, 0, 0, 0];
    packet.extend(id.to_be_bytes());
    packet.extend(number.to_be_bytes());
    packet.resize(8 + size, 0x5a);
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// Whether a received packet, with its IP header, is the answer to this request.
fn is_answer(came: &[u8], request: &[u8]) -> bool {
    let head = came.first().map_or(0, |first| usize::from(first & 15) * 4);
    let answer = came.get(head..).unwrap_or_default();
    answer.first() == Some(&0) && answer.get(4..8) == request.get(4..8)
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_free_of_what_both_sizes_pay() {
        // 1200 bytes at 2 Mbit/s are 4.8 ms, twice; 3 ms are overhead.
        let [short, long] = [3_000, 12_600].map(|us| vec![Duration::from_micros(us)]);
        assert_eq!(slope([short.clone(), long]), Some(Rate::kbps(2_000)));
        assert_eq!(slope([short.clone(), short.clone()]), Rate::from_bps(192_000_000), "too quick to tell");
        assert_eq!(slope([short, vec![]]), None);
    }

    /// Echoes under DCF: a back-off of up to 31 slots in either direction, a machine that is late by 1 ms on average in
    /// two thirds of the cases, and every third echo behind packets of others.
    fn echoes(state: &mut u64, bits_per_us: f64) -> [Vec<Duration>; 2] {
        let mut chance = || {
            // xorshift64* (Vigna 2016).
            *state ^= *state >> 12;
            *state ^= *state << 25;
            *state ^= *state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
        };
        SIZES.map(|size| {
            let mut took = |_| {
                let waits = 20.0 * ((32.0 * chance()).floor() + (32.0 * chance()).floor());
                let late = if chance() < 2.0 / 3.0 { -1_000.0 * chance().ln() } else { 0.0 };
                let others = if chance() < 1.0 / 3.0 { -6_000.0 * chance().ln() } else { 0.0 };
                Duration::from_nanos(
                    ((2_000.0 + 16.0 * size as f64 / bits_per_us + waits + late + others) * 1e3) as u64,
                )
            };
            (0..ECHOES).map(&mut took).collect()
        })
    }

    #[test]
    fn random_waits_late_machines_and_other_traffic_change_the_rate_little() {
        let mut state = 1;
        for (mbps, most) in [(1.0, 1.03), (2.0, 1.06), (5.5, 1.15), (11.0, 1.3)] {
            let mut rates: Vec<f64> =
                (0..200).map(|_| slope(echoes(&mut state, mbps)).unwrap().bps() as f64 / 1e6 / mbps).collect();
            rates.sort_unstable_by(f64::total_cmp);
            assert!(rates[0] > 1.0 / most && rates[199] < most, "{mbps}: {} to {}", rates[0], rates[199]);
            assert!((rates[100] - 1.0).abs() < 0.03, "{mbps}: {}", rates[100]);
        }
    }

    #[test]
    fn the_median_is_one_of_them() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [54, 6]), Some(6), "of two the slower");
        assert_eq!(median(&mut [1, 54, 6]), Some(6));
    }

    #[test]
    fn a_checksum_makes_the_sum_all_ones() {
        let mut packet = vec![8, 0, 0, 0, 1, 2, 3, 4, 5];
        let sum = checksum(&packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(checksum(&packet), 0);
    }

    #[test]
    fn neighbours_that_routes_lead_over_are_tried_each_once() {
        // The kernel has no neighbours for a device that does not exist.
        let device = Device { index: u32::MAX >> 1, ..Device::default() };
        let route = |to: [u8; 4], bits, via: Option<[u8; 4]>| {
            let via = via.map(Ipv4Addr::from);
            Listed { to: (to.into(), bits), protocol: 42, device: device.index, via }
        };
        let elsewhere = Listed { device: 1, ..route([10, 0, 9, 0], 24, Some([10, 0, 0, 9])) };
        let routes = [
            elsewhere,
            route([10, 0, 1, 0], 24, Some([10, 0, 0, 2])),
            route([10, 0, 2, 0], 24, Some([10, 0, 0, 2])),
            route([10, 0, 0, 3], 32, None),
            route([10, 0, 0, 0], 24, None),
            route([224, 0, 0, 1], 32, None),
            route([255, 255, 255, 255], 32, None),
            route([10, 0, 0, 4], 32, Some([10, 0, 0, 5])),
        ];
        let expected = [2, 3, 5].map(|last| Ipv4Addr::from([10, 0, 0, last]));
        assert_eq!(neighbours(&device, &routes), expected);
        assert_eq!(neighbours(&device, &[]), [] as [Ipv4Addr; 0]);
    }

    #[test]
    fn without_anybody_to_ask_it_says_what_to_do() {
        let nobody = Found { devices: vec![], routing: super::super::find::Routing::Nothing, radios: vec![] };
        let said = "mesh.rate: nl80211 knows no station and there is no neighbour; run setup again when a node of the \
                    mesh is up, or give --rate";
        assert_eq!(learn(&nobody, &[]), Err(said.to_owned()));
        // Nothing is sent by a device that does not exist.
        let device = Device { index: u32::MAX >> 1, name: "no-mesh0".to_owned(), ..Device::default() };
        let route = |last| {
            let (to, via) = (([10, 0, 1, last].into(), 32), Some([10, 0, 0, last].into()));
            Listed { to, protocol: 42, device: device.index, via }
        };
        let found = Found { devices: vec![(device.clone(), String::new())], ..nobody };
        let said = learn(&found, &[5, 4, 3, 2].map(route)).unwrap_err();
        assert!(said.contains("10.0.0.3, 10.0.0.4, 10.0.0.5 do not answer"), "three of them are tried: {said}");
        assert!(measure("no-mesh0", [10, 0, 0, 2].into()).is_err());
    }

    #[test]
    fn the_quick_quarter_counts() {
        let us = |times: &[u64]| times.iter().map(|&us| Duration::from_micros(us)).collect::<Vec<_>>();
        assert_eq!(quick(vec![]), None);
        assert_eq!(quick(us(&[70])), Some(Duration::from_micros(70)));
        assert_eq!(quick(us(&[90, 10, 80, 70])), Some(Duration::from_micros(10)));
        assert_eq!(quick(us(&[90, 30, 80, 70, 10])), Some(Duration::from_micros(20)), "two of five");
    }

    #[test]
    fn a_time_that_is_too_short_to_tell_is_the_least() {
        let slope = |more: u64| slope([1_000, 1_000 + more].map(|us| vec![Duration::from_micros(us)])).map(Rate::bps);
        assert_eq!([99, 100, 200].map(slope), [192_000_000, 192_000_000, 96_000_000].map(Some));
    }

    #[test]
    fn checksums_are_those_of_rfc_1071() {
        // The example in its section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff, 0xff, 0xff, 0xff, 0x00, 0x01]), !0x0001, "carries of carries count");
        assert_eq!(checksum(&[0x12]), !0x1200, "a last byte is the upper half of a word");
        assert_eq!(checksum(&[]), 0xffff);
    }

    #[test]
    fn a_request_is_an_echo_with_its_number() {
        let packet = request(0x1234, 0x0506, 16);
        assert_eq!((&packet[..2], &packet[4..8], packet.len()), (&[8, 0][..], &[0x12, 0x34, 5, 6][..], 24));
        assert_eq!(checksum(&packet), 0, "with its checksum the sum is all ones");
    }

    #[test]
    fn only_the_reply_to_a_request_answers_it() {
        let sent = request(0x1234, 0x0506, 16);
        let reply = |words: u8, kind, id, number| {
            let mut came = vec![0; usize::from(words) * 4];
            came[0] = 0x40 | words;
            came.extend(request(id, number, 16));
            came[usize::from(words) * 4] = kind;
            came
        };
        assert!(is_answer(&reply(5, 0, 0x1234, 0x0506), &sent));
        assert!(is_answer(&reply(15, 0, 0x1234, 0x0506), &sent), "its IP header may have options");
        for other in [reply(5, 8, 0x1234, 0x0506), reply(5, 0, 0x1235, 0x0506), reply(5, 0, 0x1234, 0x0507)] {
            assert!(!is_answer(&other, &sent), "{other:?}");
        }
        let whole = reply(5, 0, 0x1234, 0x0506);
        for end in 0..28 {
            assert!(!is_answer(&whole[..end], &sent), "cut off after {end}");
        }
    }

    #[test]
    fn echoes_of_both_sizes_take_turns_until_there_are_enough() {
        let mut asked = Vec::new();
        let took = series(|number, size| {
            asked.push((number, size));
            Ok(Some(Duration::from_micros(size as u64)))
        });
        let expected = SIZES.map(|size| vec![Duration::from_micros(size as u64); usize::from(ECHOES)]);
        assert_eq!(took.unwrap(), expected);
        assert_eq!(asked[..3], [(0, SIZES[0]), (1, SIZES[1]), (2, SIZES[0])]);
    }

    #[test]
    fn a_neighbour_that_is_gone_is_asked_a_few_times_and_one_that_loses_some_goes_on() {
        let count = |answers: fn(u16) -> bool| {
            let mut asked = 0;
            let took = series(|number, _| {
                asked += 1;
                Ok(answers(number).then_some(LEAST))
            });
            (asked, took.unwrap().map(|times| times.len()))
        };
        assert_eq!(count(|_| false), (4, [0, 0]));
        assert_eq!(count(|number| number < 3), (7, [2, 1]));
        assert_eq!(count(|number| number % 4 == 3), (2 * ECHOES, [0, usize::from(ECHOES) / 2]));
        assert!(series(|_, _| Err(std::io::ErrorKind::PermissionDenied.into())).is_err());
    }
}
