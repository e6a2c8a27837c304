//! Messages of the kernel's simulated Wi-Fi radios: frames that they send, the status of these, and frames that they
//! receive (drivers/net/wireless/virtual/mac80211_hwsim.h).

use fourhop_live::netlink::{attribute, attributes};
use fourhop_units::Rate;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Its name in generic netlink.
pub const FAMILY: &str = "MAC80211_HWSIM";
/// Its multicast group, which announces radios that appear and disappear.
pub const GROUP: &str = "config";

/// Requests the frames of all radios.
pub const REGISTER: u8 = 1;
/// A frame, in both directions.
pub const FRAME: u8 = 2;
/// The status of a frame.
pub const STATUS: u8 = 3;
const NEW_RADIO: u8 = 4;
const DEL_RADIO: u8 = 5;
const ADD_ADDRESS: u8 = 7;
const DEL_ADDRESS: u8 = 8;

const RECEIVER: u16 = 1;
const TRANSMITTER: u16 = 2;
const CONTENT: u16 = 3;
const FLAGS: u16 = 4;
const RX_RATE: u16 = 5;
const SIGNAL: u16 = 6;
const TRIES: u16 = 7;
const COOKIE: u16 = 8;
const RADIO_ID: u16 = 10;
const FREQUENCY: u16 = 19;
const TRY_FLAGS: u16 = 21;

/// Flags of a frame: no acknowledgement is expected; it was acknowledged.
pub const NO_ACK: u32 = 2;
/// See [`NO_ACK`].
pub const ACKNOWLEDGED: u32 = 4;

/// Flags of a rate: an RTS comes first; the rate is one of 802.11n, or of 802.11ac.
const RTS: u16 = 1;
const HT: u16 = 1 << 3;
const VHT: u16 = 1 << 8;

/// Number of rates at which a frame may be tried, one after another (`IEEE80211_TX_MAX_RATES`).
pub const RATES: usize = 4;
/// Length of a header with three addresses, which the kernel expects in frames that radios receive. Control frames are
/// shorter.
pub const SHORTEST: usize = 24;
/// `IEEE80211_MAX_DATA_LEN`: the kernel refuses longer frames.
pub const LONGEST: usize = 2304;

/// Bands in which hwsim has channels with these rates, in MHz.
const BANDS: [RangeInclusive<u32>; 2] = [2_400..=2_500, 4_900..=7_125];

/// A hardware address.
pub type Address = [u8; 6];

/// A rate of a frame and its number of tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Try {
    /// Its index among the rates of the band, or the number of an MCS; negative: no more rates.
    pub index: i8,
    /// The number of tries.
    pub count: u8,
    /// Its flags (`enum hwsim_tx_rate_flags`).
    pub flags: u16,
}

impl Try {
    /// Marks the end of the rates.
    pub const NONE: Try = Try { index: -1, count: 0, flags: 0 };

    /// Whether an RTS comes first.
    pub fn has_rts(self) -> bool {
        self.flags & RTS != 0
    }

    /// The rate, unless it is one of 802.11n or later.
    pub fn rate(self, frequency: u32) -> Option<Rate> {
        let legacy = self.flags & (HT | VHT) == 0;
        let place = usize::try_from(self.index).ok().filter(|_| legacy)?;
        rates(frequency).get(place).map(|&units| Rate::kbps(100 * u64::from(units)))
    }
}

/// The rates of a hwsim radio in units of 100 kbit/s, in its order.
fn rates(frequency: u32) -> &'static [u16] {
    const ALL: [u16; 12] = [10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540];
    if frequency < 3_000 { &ALL } else { &ALL[4..] }
}

/// The index of a rate among those of the band.
pub fn place_of(rate: Rate, frequency: u32) -> Option<u32> {
    let at = rates(frequency).iter().position(|&units| Rate::kbps(100 * u64::from(units)) == rate)?;
    Some(at as u32)
}

/// A frame that a radio sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent<'a> {
    /// The radio.
    pub radio: Address,
    /// The frame, without FCS.
    pub bytes: &'a [u8],
    /// Its flags.
    pub flags: u32,
    /// Its rates.
    pub tries: [Try; RATES],
    /// The radio's identifier of the frame.
    pub cookie: u64,
    /// Its channel, in MHz.
    pub frequency: u32,
}

impl Sent<'_> {
    /// The receiver's address.
    pub fn receiver(&self) -> Address {
        self.address_at(4)
    }

    /// The transmitter's address: that of an interface of the radio.
    pub fn transmitter(&self) -> Address {
        self.address_at(10)
    }

    fn address_at(&self, at: usize) -> Address {
        // INVARIANT: a frame has a header of `SHORTEST` bytes.
        std::array::from_fn(|n| self.bytes[at + n])
    }

    /// Whether it is a group frame.
    pub fn is_for_all(&self) -> bool {
        self.bytes[4] & 1 != 0
    }

    /// Whether it is a beacon.
    pub fn is_beacon(&self) -> bool {
        const TYPE_AND_SUBTYPE: u8 = 0xfc;
        self.bytes[0] & TYPE_AND_SUBTYPE == 0x80
    }

    /// Its IEEE 802.1D priority: 6 or 7 for management.
    pub fn priority(&self) -> u8 {
        const TYPE: u8 = 0x0c;
        const QOS_DATA: u8 = 0x88;
        let (kind, ways) = (self.bytes[0], self.bytes[1] & 3);
        let control = if ways == 3 { SHORTEST + 6 } else { SHORTEST };
        match kind & TYPE {
            0 => 7,
            _ if kind & (TYPE | 0x80) == QOS_DATA => self.bytes.get(control).map_or(0, |tid| tid & 7),
            _ => 0,
        }
    }
}

/// A message from the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// A radio sends a frame.
    Sent(Sent<'a>),
    /// A radio has an interface with this address.
    Address {
        /// The radio.
        radio: Address,
        /// The address.
        address: Address,
        /// Whether it has been removed.
        gone: bool,
    },
    /// The radio with this number has been removed.
    Gone(u32),
    /// A radio has been added.
    New,
}

/// Why a message is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Refused {
    /// An attribute is missing or too short.
    #[error("incomplete messages")]
    Incomplete,
    /// The frame has no header with three addresses.
    #[error("control frames and truncated frames")]
    Short,
    /// The frame is longer than the kernel itself allows.
    #[error("frames that are too long")]
    Long,
    /// The channel is not in a band with known rates.
    #[error("frames outside the bands at 2.4, 5 and 6 GHz")]
    Band,
}

/// Reads a message.
///
/// # Errors
/// If it is malformed, or a frame that cannot be carried.
pub fn read(command: u8, bytes: &[u8]) -> Result<Message<'_>, Refused> {
    let find = |wanted| attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
    let address = |wanted| find(wanted).and_then(|content| Address::try_from(content).ok()).ok_or(Refused::Incomplete);
    let word = |wanted| find(wanted).and_then(|content| content.try_into().ok()).map(u32::from_ne_bytes);
    match command {
        FRAME => {
            let cookie = find(COOKIE).and_then(|content| content.try_into().ok()).map(u64::from_ne_bytes);
            let content = find(CONTENT).ok_or(Refused::Incomplete)?;
            let sent = Sent {
                radio: address(TRANSMITTER)?,
                bytes: content,
                flags: word(FLAGS).ok_or(Refused::Incomplete)?,
                tries: tries(find(TRIES).ok_or(Refused::Incomplete)?, find(TRY_FLAGS).unwrap_or_default()),
                cookie: cookie.ok_or(Refused::Incomplete)?,
                frequency: word(FREQUENCY).ok_or(Refused::Incomplete)?,
            };
            match content.len() {
                ..SHORTEST => Err(Refused::Short),
                SHORTEST..=LONGEST if BANDS.iter().any(|band| band.contains(&sent.frequency)) => {
                    Ok(Message::Sent(sent))
                }
                SHORTEST..=LONGEST => Err(Refused::Band),
                _ => Err(Refused::Long),
            }
        }
        ADD_ADDRESS | DEL_ADDRESS => {
            let (radio, gone) = (address(TRANSMITTER)?, command == DEL_ADDRESS);
            Ok(Message::Address { radio, address: address(RECEIVER)?, gone })
        }
        NEW_RADIO => Ok(Message::New),
        DEL_RADIO => word(RADIO_ID).map(Message::Gone).ok_or(Refused::Incomplete),
        _ => Err(Refused::Incomplete),
    }
}

/// `struct hwsim_tx_rate` and `struct hwsim_tx_rate_flag`, of two and three bytes.
fn tries(rates: &[u8], flags: &[u8]) -> [Try; RATES] {
    let of = |n: usize| {
        let [index, count] = *rates.get(2 * n..2 * n + 2)?.first_chunk()?;
        let flags = flags.get(3 * n + 1..3 * n + 3).and_then(|bytes| bytes.first_chunk());
        Some(Try { index: index as i8, count, flags: flags.map_or(0, |bytes| u16::from_ne_bytes(*bytes)) })
    };
    std::array::from_fn(|n| of(n).unwrap_or(Try::NONE))
}

/// Appends the attributes of a frame that a radio receives.
pub fn write_received(radio: Address, bytes: &[u8], place: u32, (signal, frequency): (i32, u32), out: &mut Vec<u8>) {
    attribute(out, RECEIVER, &radio);
    attribute(out, CONTENT, bytes);
    attribute(out, RX_RATE, &place.to_ne_bytes());
    attribute(out, SIGNAL, &signal.to_ne_bytes());
    attribute(out, FREQUENCY, &frequency.to_ne_bytes());
}

/// Appends the attributes of a frame's status: how often each rate was tried.
pub fn write_status(radio: Address, cookie: u64, flags: u32, (tries, signal): (&[Try; RATES], i32), out: &mut Vec<u8>) {
    attribute(out, TRANSMITTER, &radio);
    attribute(out, FLAGS, &flags.to_ne_bytes());
    attribute(out, SIGNAL, &signal.to_ne_bytes());
    let tried: [[u8; 2]; RATES] = tries.map(|one| [one.index as u8, one.count]);
    attribute(out, TRIES, tried.as_flattened());
    let flags = tries.map(|one| [one.index as u8, one.flags.to_ne_bytes()[0], one.flags.to_ne_bytes()[1]]);
    attribute(out, TRY_FLAGS, flags.as_flattened());
    attribute(out, COOKIE, &cookie.to_ne_bytes());
}

#[cfg(test)]
#[path = "hwsim_tests.rs"]
mod tests;
