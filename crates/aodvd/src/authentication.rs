//! Authentication of messages by a key shared by all nodes of a mesh: a block after each message, in the form of RFC
//! 3561's extensions (section 9), which is skipped by nodes that do not know its type.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | type, 70: unassigned, ours |
//! | 1 | length, 25 |
//! | 1 | id of the key |
//! | 8 | microseconds since 1970, increasing with every message of a sender |
//! | 16 | HMAC-SHA-256 (RFC 2104, FIPS 180-4) truncated to its first 128 bits, as RFC 4868 section 2.3 does |
//!
//! The code covers the source and destination address of the packet, its time to live, the message, and the block up to
//! the code. Every relay rewrites a message with its own address and hop count, so each hop is authenticated
//! separately: the receiver knows that a holder of the key has sent exactly this from this address to it. It does not
//! know which holder, nor that the relays before were honest.
//!
//! Replay: a receiver accepts a message only if its time is later than the sender's last. Until it has heard a sender,
//! it has nothing to compare with. If clocks agree ([`Keys::within`]), it also refuses messages older than that. It
//! cannot detect a message that is replayed immediately elsewhere, unchanged (a wormhole).

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

/// Type of the block, and length of its content.
const KIND: u8 = 70;
const CONTENT: usize = 25;
/// Length of the block.
pub const BLOCK: usize = 2 + CONTENT;
const TAG: usize = 16;
/// Shortest key: one shorter than the hash's output would weaken the code (RFC 2104 section 3).
const LEAST: usize = 32;

/// Fields that the code covers in addition to the bytes of the datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// Source address of the packet.
    pub src: Ipv4Addr,
    /// Its destination.
    pub dst: Ipv4Addr,
    /// Time to live, as sent and as received.
    pub ttl: u8,
}

/// Why a message counts as not authenticated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It has no block.
    Missing,
    /// Its code does not match, or its key is unknown.
    BadCode,
    /// Its time is not after that of the sender's last message, or too far from the clock.
    Replayed,
}

/// Keys by id.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    keys: Vec<(u8, Hmac<Sha256>)>,
    sign_with: u8,
    /// Maximum difference between clocks, in microseconds.
    pub within: Option<u64>,
    /// The last timestamp signed.
    pub last: u64,
}

impl Keys {
    /// Reads the keys of a configuration from their files.
    ///
    /// # Errors
    /// If a file cannot be read or is too short: with its name, what was found and what is allowed.
    pub fn read(config: &crate::config::Authenticated) -> Result<Keys, String> {
        let within = config.clocks_within.map(|most| most.as_nanos() / 1_000);
        let mut keys = Keys { keys: Vec::new(), sign_with: config.sign_with, within, last: 0 };
        for key in &config.keys {
            keys.add(key.id, &secret(&key.file)?);
        }
        Ok(keys)
    }

    /// A single key, for tests and their other side.
    pub fn one(id: u8, secret: &[u8]) -> Keys {
        let mut keys = Keys { sign_with: id, ..Keys::default() };
        keys.add(id, secret);
        keys
    }

    fn add(&mut self, id: u8, secret: &[u8]) {
        // INVARIANT: HMAC accepts keys of any length (RFC 2104 section 2).
        self.keys.push((id, Hmac::new_from_slice(secret).expect("any length")));
    }

    fn code(&self, id: u8, envelope: Envelope, bytes: &[u8]) -> Option<Hmac<Sha256>> {
        let mut code = self.keys.iter().find(|(other, _)| *other == id)?.1.clone();
        code.update(&envelope.src.octets());
        code.update(&envelope.dst.octets());
        code.update(&[envelope.ttl]);
        code.update(bytes);
        Some(code)
    }

    /// Appends the block; `clock` is the time in microseconds since 1970.
    pub fn sign(&mut self, clock: u64, envelope: Envelope, bytes: &mut Vec<u8>) {
        self.last = clock.max(self.last + 1);
        bytes.extend([KIND, CONTENT as u8, self.sign_with]);
        bytes.extend(self.last.to_be_bytes());
        let Some(code) = self.code(self.sign_with, envelope, bytes) else { return };
        bytes.extend(&code.finalize().into_bytes()[..TAG]);
    }

    /// Verifies a message and returns its timestamp.
    ///
    /// # Errors
    /// If there is no block, its code does not match, or its time is not after `last`, the sender's last.
    pub fn verify(&self, clock: u64, last: Option<u64>, envelope: Envelope, bytes: &[u8]) -> Result<u64, Fault> {
        let (_, block) = bytes.split_at_checked(bytes.len().wrapping_sub(BLOCK)).ok_or(Fault::Missing)?;
        if block[..2] != [KIND, CONTENT as u8] {
            return Err(Fault::Missing);
        }
        let (signed, tag) = bytes.split_at(bytes.len() - TAG);
        let code = self.code(block[2], envelope, signed).ok_or(Fault::BadCode)?;
        code.verify_truncated_left(tag).map_err(|_| Fault::BadCode)?;
        let time = u64::from_be_bytes(block[3..11].try_into().unwrap_or_default());
        let late = last.is_some_and(|last| time <= last);
        let foreign = self.within.is_some_and(|within| time.abs_diff(clock) > within);
        if late || foreign { Err(Fault::Replayed) } else { Ok(time) }
    }
}

fn secret(file: &Path) -> Result<Vec<u8>, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if bytes.len() < LEAST {
        return Err(format!("{}: found {} bytes, allowed: a key of at least {LEAST}", file.display(), bytes.len()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourhop_proto::wire::decode;

    const ENVELOPE: Envelope =
        Envelope { src: Ipv4Addr::new(10, 0, 0, 1), dst: Ipv4Addr::new(255, 255, 255, 255), ttl: 3 };
    /// A request of RFC 3561 section 5.1.
    const RREQ: [u8; 24] = [1, 0x28, 0, 2, 0, 0, 0, 77, 10, 0, 0, 9, 0, 0, 0, 5, 10, 0, 0, 1, 0, 0, 0, 8];

    fn signed(keys: &mut Keys, clock: u64) -> Vec<u8> {
        let mut bytes = RREQ.to_vec();
        keys.sign(clock, ENVELOPE, &mut bytes);
        bytes
    }

    #[test]
    fn the_code_is_rfc_4868s_of_what_the_table_says() {
        // Test case AUTH256-1 of RFC 4868 section 2.7.2.2, whose data are "Hi There", under the same construction.
        let keys = Keys::one(1, &[0x0b; 32]);
        let mut code = keys.keys[0].1.clone();
        code.update(b"Hi There");
        let expected = 0x198a_607e_b44b_fbc6_9903_a0f1_cf2b_bdc5_u128.to_be_bytes();
        assert_eq!(code.finalize().into_bytes()[..TAG], expected);
    }

    #[test]
    fn what_is_signed_is_accepted_once_and_skipped_by_others() {
        let mut keys = Keys::one(7, b"a shared secret of thirty-two by");
        let bytes = signed(&mut keys, 1_000);
        assert_eq!(bytes.len(), RREQ.len() + BLOCK);
        assert_eq!(keys.verify(0, None, ENVELOPE, &bytes), Ok(1_000));
        assert_eq!(keys.verify(0, Some(1_000), ENVELOPE, &bytes), Err(Fault::Replayed));
        assert_eq!(decode::aodv(&bytes), decode::aodv(&RREQ), "an extension that may be skipped");
        // The timestamp increases even if the clock does not.
        assert_eq!(keys.verify(0, Some(1_000), ENVELOPE, &signed(&mut keys.clone(), 10)), Ok(1_001));
    }

    #[test]
    fn whatever_is_changed_is_noticed() {
        let mut keys = Keys::one(7, b"a shared secret of thirty-two by");
        let bytes = signed(&mut keys, 1_000);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(keys.verify(0, None, ENVELOPE, &changed).is_err(), "byte {at}");
        }
        let others = [
            Envelope { src: Ipv4Addr::new(10, 0, 0, 2), ..ENVELOPE },
            Envelope { dst: Ipv4Addr::new(10, 0, 0, 2), ..ENVELOPE },
            Envelope { ttl: 4, ..ENVELOPE },
        ];
        for envelope in others {
            assert_eq!(keys.verify(0, None, envelope, &bytes), Err(Fault::BadCode));
        }
        assert_eq!(keys.verify(0, None, ENVELOPE, &RREQ), Err(Fault::Missing));
        assert_eq!(Keys::one(7, &[1; 32]).verify(0, None, ENVELOPE, &bytes), Err(Fault::BadCode));
        assert_eq!(Keys::one(8, &[1; 32]).verify(0, None, ENVELOPE, &bytes), Err(Fault::BadCode));
    }

    #[test]
    fn clocks_that_agree_refuse_what_is_old() {
        let mut keys = Keys { within: Some(50), ..Keys::one(1, &[5; 32]) };
        let bytes = signed(&mut keys, 1_000);
        assert_eq!(keys.verify(1_050, None, ENVELOPE, &bytes), Ok(1_000));
        assert_eq!(keys.verify(1_051, None, ENVELOPE, &bytes), Err(Fault::Replayed));
        assert_eq!(keys.verify(949, None, ENVELOPE, &bytes), Err(Fault::Replayed));
    }

    #[test]
    fn keys_are_read_from_files_of_thirty_two_bytes_or_more() {
        let folder = std::env::temp_dir().join(format!("fourhop-aodvd-keys-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |id: u8, bytes: usize| {
            let file = folder.join(id.to_string());
            fs::write(&file, vec![id; bytes]).unwrap();
            crate::config::KeyFile { id, file }
        };
        let mut config = crate::config::Authenticated {
            sign_with: 2,
            keys: vec![file(1, 33), file(2, 32)],
            require: true,
            clocks_within: Some(fourhop_units::Dur::from_millis(5)),
        };
        let mut keys = Keys::read(&config).unwrap();
        assert_eq!((keys.within, keys.last), (Some(5_000), 0), "in microseconds");
        let bytes = signed(&mut keys, 1_000);
        assert_eq!(Keys::one(2, &[2; 32]).verify(0, None, ENVELOPE, &bytes), Ok(1_000));
        let others = signed(&mut Keys::one(1, &[1; 33]), 1_000);
        assert_eq!(keys.verify(1_000, None, ENVELOPE, &others), Ok(1_000), "all keys are accepted");
        config.clocks_within = None;
        assert_eq!(Keys::read(&config).unwrap().within, None);
        config.keys.push(file(3, 31));
        let error = Keys::read(&config).unwrap_err();
        assert!(error.ends_with("/3: found 31 bytes, allowed: a key of at least 32"), "{error}");
        config.keys[2].file = folder.join("none");
        let error = Keys::read(&config).unwrap_err();
        assert!(error.starts_with(&format!("{}: ", folder.join("none").display())), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_message_shorter_than_a_block_has_none() {
        let keys = Keys::one(7, &[1; 32]);
        let mut block = signed(&mut keys.clone(), 1_000).split_off(RREQ.len());
        assert_eq!(keys.verify(0, None, ENVELOPE, &[]), Err(Fault::Missing));
        assert_eq!(keys.verify(0, None, ENVELOPE, &block[1..]), Err(Fault::Missing));
        assert_eq!(keys.verify(0, None, ENVELOPE, &block), Err(Fault::BadCode), "a block, but of another message");
        block[1] += 1;
        assert_eq!(keys.verify(0, None, ENVELOPE, &block), Err(Fault::Missing), "of another length");
    }
}
