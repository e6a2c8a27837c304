//! Options in the header of a data frame (Kliazovich, Granelli 2005, "Options" integration and figure 2).
//!
//! ```text
//!   Header Length | Type | Length | value ... | Type | Length | value ...
//!     1 octet        1       1      Length
//! ```
//!
//! Header Length counts the whole MAC header in octets, the 24 of IEEE 802.11-2020 clause 9.3.2.1 plus this field, so
//! that a station that knows no option still finds the packet behind them. Length counts only the value; an option of
//! unknown type is skipped by its length and forwarded unchanged.
//!
//! Types, units and widths are our choice: the paper names "bandwidth" and "delay" but specifies neither. IEEE 802.11
//! has no bit to announce a longer header either. On the wire, the field therefore follows LLC/SNAP under an EtherType
//! that IEEE 802 reserves for experiments, followed by the EtherType of the packet.

use fourhop_units::{Bytes, Dur, Time};
use thiserror::Error;

/// EtherType of the field: IEEE Std 802-2014 clause 9.2.4, local experimental EtherType 1.
pub const ETHERTYPE: u16 = 0x88b5;
/// Octets of the MAC header without options: three addresses, no QoS.
const MAC_HEADER: usize = 24;
/// Maximum size of the field, as Header Length has one octet.
const FIELD_MAX: usize = 255 - MAC_HEADER;
/// Octets of an option before its value.
const OPTION_HEAD: usize = 2;

const PATH: u8 = 1;
const BACK: u8 = 2;
const ECHO: u8 = 3;

/// Bandwidth and delay of the path so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// Lowest bandwidth of any link, bit/s.
    pub bandwidth: u32,
    /// Sum of the links' delays without queueing, in microseconds.
    pub delay: u32,
    /// Number of links measured. Our addition: it shows whether a node on the path has not measured.
    pub links: u8,
}

/// The delay of an acknowledgement so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Back {
    /// Sum of the links' delays, in microseconds.
    pub delay: u32,
    /// Number of links measured.
    pub links: u8,
}

/// The values that a packet delivered to its receiver, sent back to its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// [`Path::bandwidth`] of the whole path.
    pub bandwidth: u32,
    /// [`Path::delay`] of the whole path.
    pub delay: u32,
}

/// The options of a header.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Measured on the path of this packet.
    pub path: Option<Path>,
    /// The same for an acknowledgement.
    pub back: Option<Back>,
    /// Measured on the path of the packet that this one acknowledges.
    pub echo: Option<Echo>,
    /// Unknown options, concatenated as received.
    pub unknown: Vec<u8>,
}

/// Why a header cannot be parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Malformed {
    /// The field is shorter than Header Length says, or empty.
    #[error("the options end before the header does")]
    Truncated,
    /// Header Length is less than that of a header with this field.
    #[error("header length {0}, at least {min} expected", min = MAC_HEADER + 1)]
    HeaderLength(u8),
    /// The option at this octet of the field does not end within it.
    #[error("the option at octet {0} is longer than the header")]
    Option(usize),
}

impl Path {
    /// Value before the first link.
    pub const START: Path = Path { bandwidth: u32::MAX, delay: 0, links: 0 };

    /// Adds a link: the lower bandwidth, the sum of the delays.
    #[must_use]
    pub fn over(self, bandwidth: u64, delay: Dur) -> Path {
        Path {
            bandwidth: self.bandwidth.min(u32::try_from(bandwidth).unwrap_or(u32::MAX)),
            delay: self.delay.saturating_add(micros(delay)),
            links: self.links.saturating_add(1),
        }
    }
}

impl Back {
    /// Adds a link.
    #[must_use]
    pub fn over(self, delay: Dur) -> Back {
        Back { delay: self.delay.saturating_add(micros(delay)), links: self.links.saturating_add(1) }
    }
}

fn micros(delay: Dur) -> u32 {
    u32::try_from(delay.as_micros_rounded()).unwrap_or(u32::MAX)
}

impl Options {
    /// Returns whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.path.is_none() && self.back.is_none() && self.echo.is_none() && self.unknown.is_empty()
    }

    /// Returns the size of the field in octets, Header Length included.
    pub fn len(&self) -> usize {
        let known = |present: bool, value: usize| if present { OPTION_HEAD + value } else { 0 };
        1 + known(self.path.is_some(), 9)
            + known(self.back.is_some(), 5)
            + known(self.echo.is_some(), 8)
            + self.unknown.len()
    }

    /// Returns the bytes added to the frame on the air: the field and the EtherType behind it.
    pub fn on_air(&self) -> Bytes {
        Bytes(self.len() as u64 + 2)
    }

    /// Appends the field. Unknown options that no longer fit Header Length are left out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.push(0);
        if let Some(path) = self.path {
            out.extend([PATH, 9]);
            out.extend(path.bandwidth.to_be_bytes());
            out.extend(path.delay.to_be_bytes());
            out.push(path.links);
        }
        if let Some(back) = self.back {
            out.extend([BACK, 5]);
            out.extend(back.delay.to_be_bytes());
            out.push(back.links);
        }
        if let Some(echo) = self.echo {
            out.extend([ECHO, 8]);
            out.extend(echo.bandwidth.to_be_bytes());
            out.extend(echo.delay.to_be_bytes());
        }
        let mut rest = self.unknown.as_slice();
        while let [_, len, ..] = *rest {
            let whole = OPTION_HEAD + usize::from(len);
            if whole > rest.len() || out.len() - begin + whole > FIELD_MAX {
                break;
            }
            out.extend(&rest[..whole]);
            rest = &rest[whole..];
        }
        out[begin] = (MAC_HEADER + out.len() - begin) as u8;
    }

    /// Parses the field at the start of `bytes`; also returns its size in octets. Never reads beyond Header Length or
    /// `bytes`. An option of known type counts as unknown if its length differs or it occurs a second time.
    ///
    /// # Errors
    /// If Header Length or the length of an option does not fit the bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Options, usize), Malformed> {
        let &header_length = bytes.first().ok_or(Malformed::Truncated)?;
        let len = usize::from(header_length)
            .checked_sub(MAC_HEADER)
            .filter(|&len| len > 0)
            .ok_or(Malformed::HeaderLength(header_length))?;
        let field = bytes.get(..len).ok_or(Malformed::Truncated)?;
        let mut options = Options::default();
        let mut at = 1;
        while at < len {
            let option = &field[at..];
            let [kind, length, ..] = *option else { return Err(Malformed::Option(at)) };
            let whole = OPTION_HEAD + usize::from(length);
            let option = option.get(..whole).ok_or(Malformed::Option(at))?;
            if !options.take(kind, &option[OPTION_HEAD..]) {
                options.unknown.extend(option);
            }
            at += whole;
        }
        Ok((options, len))
    }

    /// Stores the value of a known option; returns false if it is unknown.
    fn take(&mut self, kind: u8, value: &[u8]) -> bool {
        let word = |at: usize| u32::from_be_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]]);
        match (kind, value.len()) {
            (PATH, 9) if self.path.is_none() => {
                self.path = Some(Path { bandwidth: word(0), delay: word(4), links: value[8] });
            }
            (BACK, 5) if self.back.is_none() => self.back = Some(Back { delay: word(0), links: value[4] }),
            (ECHO, 8) if self.echo.is_none() => self.echo = Some(Echo { bandwidth: word(0), delay: word(4) }),
            _ => return false,
        }
        true
    }
}

/// The options of a packet on its way through a node, with the link layer's notes for the measurement.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Carried {
    /// As received, or as set by the source.
    pub options: Options,
    /// When the packet entered the queue of this link.
    pub entered_queue: Time,
    /// When it left the queue.
    pub left_queue: Time,
    /// How long it has waited in queues so far. Not on the wire; only the simulator uses it.
    pub waited: Dur,
    /// On an acknowledgement: the travel time of the echoed packet without such waits, if the simulator reports it.
    pub forward: Option<Dur>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(options: &Options) -> Vec<u8> {
        let mut bytes = Vec::new();
        options.encode(&mut bytes);
        bytes
    }

    #[test]
    fn the_field_is_laid_out_as_drawn() {
        let path = Path { bandwidth: 1_000_000, delay: 0x0102, links: 3 };
        let options = Options { path: Some(path), ..Options::default() };
        let bytes = encoded(&options);
        // Header Length: 24 octets of MAC header, 1 of itself, 2 + 9 of the option.
        assert_eq!(bytes, [36, 1, 9, 0x00, 0x0f, 0x42, 0x40, 0, 0, 1, 2, 3]);
        assert_eq!((options.len(), options.on_air()), (12, Bytes(14)));
    }

    /// The field is appended to the buffer and contains its own length. A Header Length of 255 leaves 231 octets for
    /// it.
    #[test]
    fn the_field_is_appended_and_bounded() {
        let path = Some(Path { bandwidth: 7, delay: 8, links: 9 });
        for (unknown, len) in [(0, 0), (217, 219), (218, 0)] {
            let mut options = Options { path, ..Options::default() };
            if unknown > 0 {
                options.unknown = [&[77, unknown][..], &[1; 218][..usize::from(unknown)]].concat();
            }
            let mut bytes = vec![0xee; 40];
            options.encode(&mut bytes);
            assert_eq!(bytes[..40], [0xee; 40]);
            assert_eq!(
                (bytes.len() - 40, usize::from(bytes[40])),
                (12 + len, 24 + 12 + len),
                "{unknown} unknown octets"
            );
            assert_eq!(Options::parse(&bytes[40..]).map(|(read, _)| (read.path, read.unknown.len())), Ok((path, len)));
        }
    }

    #[test]
    fn a_link_lowers_the_bandwidth_and_adds_to_the_delay() {
        let us = Dur::from_micros;
        let path = Path::START.over(700_000, us(900)).over(u64::MAX, us(100)).over(900_000, us(50));
        assert_eq!(path, Path { bandwidth: 700_000, delay: 1050, links: 3 });
        assert_eq!(Path::START.over(1, Dur::from_secs(10_000_000)).delay, u32::MAX);
    }

    #[test]
    fn malformed_headers_are_named() {
        assert_eq!(Options::parse(&[]), Err(Malformed::Truncated));
        assert_eq!(Options::parse(&[24]), Err(Malformed::HeaderLength(24)));
        assert_eq!(Options::parse(&[36, 1, 9]), Err(Malformed::Truncated));
        // The option claims three octets, but the header ends after one.
        assert_eq!(Options::parse(&[28, 77, 3, 0, 0, 0, 0]), Err(Malformed::Option(1)));
        assert_eq!(Options::parse(&[26, 77]), Err(Malformed::Option(1)));
    }

    #[test]
    fn an_option_of_another_length_is_unknown() {
        let bytes = [24 + 1 + 5, 1, 3, 9, 9, 9];
        let (options, len) = Options::parse(&bytes).unwrap();
        assert_eq!((options.path, len), (None, 6));
        assert_eq!(options.unknown.as_slice(), &bytes[1..]);
        assert_eq!(encoded(&options), bytes);
    }

    /// The first option of a type counts; another one is forwarded unchanged.
    #[test]
    fn an_option_that_comes_twice_is_unknown_the_second_time() {
        let first = [1, 9, 0, 0, 0, 7, 0, 0, 0, 8, 9, 2, 5, 0, 0, 0, 4, 3, 3, 8, 0, 0, 0, 5, 0, 0, 0, 6];
        let second = first.map(|octet| if octet == 0 { 1 } else { octet });
        let field = [&[24 + 1 + 56], &first[..], &second[..]].concat();
        let (options, len) = Options::parse(&field).unwrap();
        assert_eq!(options.path, Some(Path { bandwidth: 7, delay: 8, links: 9 }));
        assert_eq!(options.back, Some(Back { delay: 4, links: 3 }));
        assert_eq!(options.echo, Some(Echo { bandwidth: 5, delay: 6 }));
        assert_eq!((options.unknown.as_slice(), len), (&second[..], 57));
        assert!(!options.is_empty() && Options::default().is_empty());
        for one in [
            Options { path: options.path, ..Options::default() },
            Options { back: options.back, ..Options::default() },
            Options { echo: options.echo, ..Options::default() },
            Options { unknown: options.unknown, ..Options::default() },
        ] {
            assert!(!one.is_empty(), "{one:?}");
        }
    }

    fn known() -> impl Strategy<Value = Options> {
        let path = any::<(u32, u32, u8)>().prop_map(|(bandwidth, delay, links)| Path { bandwidth, delay, links });
        let back = any::<(u32, u8)>().prop_map(|(delay, links)| Back { delay, links });
        let echo = any::<(u32, u32)>().prop_map(|(bandwidth, delay)| Echo { bandwidth, delay });
        use proptest::option::of;
        (of(path), of(back), of(echo)).prop_map(|(path, back, echo)| Options { path, back, echo, ..Options::default() })
    }

    /// Options of foreign types.
    fn foreign() -> impl Strategy<Value = Vec<u8>> {
        let one = (4u8.., proptest::collection::vec(any::<u8>(), 0..30));
        proptest::collection::vec(one, 0..5).prop_map(|options| {
            options.into_iter().flat_map(|(kind, value)| [vec![kind, value.len() as u8], value].concat()).collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut options in known(), unknown in foreign()) {
            options.unknown = unknown;
            let bytes = encoded(&options);
            prop_assert_eq!(bytes.len(), options.len());
            prop_assert_eq!(Options::parse(&bytes), Ok((options, bytes.len())));
        }

        /// Any octets are parsed or refused, and forwarding loses nothing that was parsed.
        #[test]
        fn any_content_parses_or_is_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), len: u8) {
            if let Some(first) = bytes.first_mut() {
                *first = len;
            }
            if let Ok((options, len)) = Options::parse(&bytes) {
                let again = encoded(&options);
                prop_assert_eq!(again.len(), len);
                let mut options_in = bytes[1..len].to_vec();
                let mut options_out = again[1..].to_vec();
                options_in.sort_unstable();
                options_out.sort_unstable();
                prop_assert_eq!(options_in, options_out);
                prop_assert_eq!(Options::parse(&again), Ok((options, len)));
            }
        }

        /// Truncated anywhere, it is refused rather than misread.
        #[test]
        fn truncation_is_seen(mut options in known(), unknown in foreign(), cut in 0usize..231) {
            options.unknown = unknown;
            let bytes = encoded(&options);
            let cut = cut.min(bytes.len() - 1);
            prop_assert_eq!(Options::parse(&bytes[..cut]), Err(Malformed::Truncated));
        }
    }
}
