//! Sends TCP segments at a rate, or receives them and prints how many arrived and how late: `load send ADDRESS PPS
//! SECONDS`, `load receive SECONDS`. There are no connections. `benches/gateway.py speed` runs it.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use fourhop_live::lateness::Lateness;
    use fourhop_units::Dur;
    use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimeout};
    use nix::sys::socket::{
        AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto, setsockopt, socket,
    };
    use nix::sys::time::{TimeVal, TimeValLike};
    use nix::time::{ClockId, clock_gettime};
    use std::net::{Ipv4Addr, SocketAddrV4};
    use std::os::fd::AsRawFd;
    use std::time::{Duration, Instant};

    /// Length of a segment: the TCP header and the time when it was sent.
    const SEGMENT: usize = 200;
    const PORT: u16 = 9_999;
    let now = || clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let raw = socket(AddressFamily::Inet, SockType::Raw, SockFlag::empty(), SockProtocol::Tcp)?;
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["send", address, rate, seconds] => {
            let to = SockaddrIn::from(SocketAddrV4::new(address.parse::<Ipv4Addr>()?, 0));
            let (rate, end) = (rate.parse::<f64>()?, Duration::from_secs_f64(seconds.parse()?));
            let mut segment = [0; SEGMENT];
            segment[..2].copy_from_slice(&PORT.to_be_bytes());
            segment[2..4].copy_from_slice(&PORT.to_be_bytes());
            (segment[12], segment[13]) = (0x50, 0x10);
            let begun = Instant::now();
            let mut sent = 0_u32;
            while begun.elapsed() < end {
                let due = f64::from(sent) / rate;
                let wait = due - begun.elapsed().as_secs_f64();
                if wait > 0.0 {
                    // Short waits are busy waits: a sleep would send bursts.
                    if wait > 2e-4 {
                        std::thread::sleep(Duration::from_secs_f64(wait - 1e-4));
                    }
                    continue;
                }
                segment[4..8].copy_from_slice(&(sent.wrapping_mul(180)).to_be_bytes());
                segment[20..36].copy_from_slice(&now()?.as_nanos().to_be_bytes());
                // Skip packets that the device refuses.
                let _ = sendto(raw.as_raw_fd(), &segment, &to, MsgFlags::empty());
                sent += 1;
            }
            println!("{{\"sent\": {sent}, \"seconds\": {}}}", begun.elapsed().as_secs_f64());
        }
        ["receive", seconds] => {
            let _ = setsockopt(&raw, RcvBufForce, &(64 << 20));
            setsockopt(&raw, ReceiveTimeout, &TimeVal::milliseconds(100))?;
            let end = Instant::now() + Duration::from_secs_f64(seconds.parse()?);
            let (mut late, mut first, mut last) = (Lateness::default(), None, Duration::ZERO);
            let mut packet = [0; 2_048];
            println!("ready");
            while Instant::now() < end {
                let Ok(len) = recv(raw.as_raw_fd(), &mut packet, MsgFlags::empty()) else { continue };
                let segment = &packet[..len][20..];
                if segment.len() != SEGMENT || segment[..2] != PORT.to_be_bytes() {
                    continue;
                }
                let sent = u128::from_be_bytes(segment[20..36].try_into()?) as u64;
                let came = now()?;
                late.record(Dur::from_nanos((came.as_nanos() as u64).saturating_sub(sent)));
                first.get_or_insert(came);
                last = came;
            }
            let span = first.map_or(0.0, |first| (last - first).as_secs_f64());
            let said = late.summary();
            println!(
                "{{\"received\": {}, \"seconds\": {span}, \"p50_us\": {}, \"p99_us\": {}}}",
                said.count, said.p50, said.p99
            );
        }
        _ => return Err("load send ADDRESS PPS SECONDS, load receive SECONDS".into()),
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
