//! Retry tokens (RFC 9000, §8.1.2). A client that returns a token has shown that it receives
//! packets at the address to which the token was sent.
//!
//! A token is sealed with a key of the server, so that the server stores no state. It is bound to
//! the address, the client's connection id and the time.

use acklab_base::{Duration, Instant};
use acklab_wire::tack::ConnectionId;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::{IpAddr, SocketAddr};

/// The time for which a token is valid (RFC 9000, §8.1.3: tokens of a Retry are used immediately).
const LIFETIME: Duration = Duration::from_secs(15);
/// The time for which a key seals tokens. Afterwards, the key opens tokens for the same time.
const KEY_LIFETIME: Duration = Duration::from_secs(30 * 60);
const KEY: usize = 32;

/// Makes tokens and checks them.
#[derive(Debug)]
pub struct Tokens {
    random: SystemRandom,
    current: LessSafeKey,
    previous: Option<LessSafeKey>,
    since: Instant,
}

/// The error if the system has no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers")]
pub struct NoRandomness;

fn key(random: &SystemRandom) -> Result<LessSafeKey, NoRandomness> {
    let mut octets = [0; KEY];
    random.fill(&mut octets).map_err(|_| NoRandomness)?;
    UnboundKey::new(&AES_256_GCM, &octets).map(LessSafeKey::new).map_err(|_| NoRandomness)
}

impl Tokens {
    /// Creates the keys of a server that starts now.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new(now: Instant) -> Result<Self, NoRandomness> {
        let random = SystemRandom::new();
        let current = key(&random)?;
        Ok(Self { random, current, previous: None, since: now })
    }

    fn rotate(&mut self, now: Instant) -> Result<(), NoRandomness> {
        let age = now.since(self.since);
        if age < KEY_LIFETIME {
            return Ok(());
        }
        let last = std::mem::replace(&mut self.current, key(&self.random)?);
        self.previous = Some(last).filter(|_| age < KEY_LIFETIME * 2);
        self.since = now;
        Ok(())
    }

    /// Returns a token for the client with the connection id `source` at `address`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn make(&mut self, now: Instant, address: SocketAddr, source: ConnectionId) -> Result<Vec<u8>, NoRandomness> {
        self.rotate(now)?;
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).map_err(|_| NoRandomness)?;
        let mut sealed = now.as_nanos().to_be_bytes().to_vec();
        let bound = Aad::from(bound(address, source));
        let nonce_value = Nonce::assume_unique_for_key(nonce);
        self.current.seal_in_place_append_tag(nonce_value, bound, &mut sealed).map_err(|_| NoRandomness)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Returns `true` if this server has recently made `token` for this client and this address.
    pub fn check(&mut self, now: Instant, address: SocketAddr, source: ConnectionId, token: &[u8]) -> bool {
        if self.rotate(now).is_err() {
            return false;
        }
        let Some((nonce, sealed)) = token.split_first_chunk::<NONCE_LEN>() else { return false };
        let opened = std::iter::once(&self.current).chain(&self.previous).find_map(|key| {
            let mut sealed = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let made = key.open_in_place(nonce, Aad::from(bound(address, source)), &mut sealed).ok()?;
            made.try_into().ok().map(u64::from_be_bytes)
        });
        opened.is_some_and(|made| now.since(Instant::from_nanos(made)) <= LIFETIME)
    }
}

/// Returns the bytes to which a token is bound. An IPv4 address is represented by the IPv6 address
/// that maps it.
fn bound(address: SocketAddr, source: ConnectionId) -> [u8; 26] {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut octets = [0; 26];
    octets[..16].copy_from_slice(&ip.octets());
    octets[16..18].copy_from_slice(&address.port().to_be_bytes());
    octets[18..].copy_from_slice(&source.0.to_be_bytes());
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn a_token_is_bound_to_address_client_and_time() {
        let mut tokens = Tokens::new(at(0)).unwrap();
        let (here, there) = (SocketAddr::from(([192, 0, 2, 1], 443)), SocketAddr::from(([192, 0, 2, 1], 444)));
        let (source, other) = (ConnectionId(7), ConnectionId(8));
        let mut token = tokens.make(at(10), here, source).unwrap();
        assert!(tokens.check(at(25), here, source, &token));
        assert!(!tokens.check(at(26), here, source, &token), "too old");
        assert!(!tokens.check(at(12), there, source, &token), "another port");
        assert!(!tokens.check(at(12), here, other, &token), "another client");
        assert!(!Tokens::new(at(0)).unwrap().check(at(12), here, source, &token), "another server");
        assert!(!tokens.check(at(12), here, source, &token[..11]), "cut short");
        token[20] ^= 1;
        assert!(!tokens.check(at(12), here, source, &token), "changed");
    }

    #[test]
    fn a_token_outlives_one_change_of_the_key() {
        let mut tokens = Tokens::new(at(0)).unwrap();
        let (address, source) = (SocketAddr::from(([192, 0, 2, 1], 443)), ConnectionId(7));
        let token = tokens.make(at(1799), address, source).unwrap();
        assert!(tokens.check(at(1801), address, source, &token));
        assert!(tokens.previous.is_some());
        assert!(!tokens.check(at(9000), address, source, &token));
        assert!(tokens.previous.is_none(), "a key that is too old opens nothing");
    }
}
