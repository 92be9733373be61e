//! Randomness for TLS and QUIC from a named stream of the run's seed.
//!
//! rustls refers to its random number generator and its key exchanges by `&'static` reference, so
//! they cannot belong to a connection. They read the stream of the active connection, which
//! [`Entropy::lend`] makes available during one call.

use acklab_base::random::{Seed, Stream};
use rustls::crypto::{ActiveKeyExchange, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup};
use rustls::{NamedGroup, PeerMisbehaved};
use std::cell::RefCell;
use x25519_dalek::{PublicKey, StaticSecret};

thread_local! {
    /// The stream of the active connection on this thread.
    static LENT: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// The random stream of one endpoint.
#[derive(Debug)]
pub(crate) struct Entropy(Option<Stream>);

impl Entropy {
    pub(crate) const fn new(stream: Stream) -> Self {
        Self(Some(stream))
    }

    /// Runs `work`, during which TLS draws from this stream.
    pub(crate) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> T {
        LENT.set(self.0.take());
        let result = work();
        self.0 = LENT.take();
        result
    }

    /// Returns a separate stream that is derived from this one.
    pub(crate) fn branch(&mut self) -> Stream {
        Seed(u64::from_le_bytes(self.array())).stream("branch")
    }

    /// Returns an array of random bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut octets = [0; N];
        if let Some(stream) = &mut self.0 {
            fill(stream, &mut octets);
        }
        octets
    }
}

/// Fills `octets` with eight bytes per draw.
pub(crate) fn fill(stream: &mut Stream, octets: &mut [u8]) {
    for chunk in octets.chunks_mut(8) {
        let draw = stream.octets();
        chunk.copy_from_slice(&draw[..chunk.len()]);
    }
}

/// Random bytes from the lent stream. Fails if none is lent.
#[derive(Debug)]
pub(crate) struct LentRandom;

impl SecureRandom for LentRandom {
    fn fill(&self, octets: &mut [u8]) -> Result<(), GetRandomFailed> {
        LENT.with_borrow_mut(|stream| stream.as_mut().map(|stream| fill(stream, octets))).ok_or(GetRandomFailed)
    }
}

/// X25519 (RFC 7748) with secrets from the lent stream.
#[derive(Debug)]
pub(crate) struct X25519;

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        let mut octets = [0; 32];
        LentRandom.fill(&mut octets)?;
        let secret = StaticSecret::from(octets);
        Ok(Box::new(Exchange { public: PublicKey::from(&secret), secret }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// A key exchange whose public key has been sent.
struct Exchange {
    secret: StaticSecret,
    public: PublicKey,
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, rustls::Error> {
        let peer: [u8; 32] = peer.try_into().map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let shared = self.secret.diffie_hellman(&PublicKey::from(peer));
        Ok(SharedSecret::from(shared.as_bytes().as_slice()))
    }

    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64) -> [u8; 12] {
        let mut octets = [0; 12];
        Entropy::new(Seed(seed).stream("tls")).lend(|| LentRandom.fill(&mut octets)).unwrap();
        octets
    }

    #[test]
    fn octets_follow_from_the_seed() {
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn nothing_is_drawn_without_a_stream() {
        assert!(LentRandom.fill(&mut [0; 4]).is_err());
    }

    #[test]
    fn both_ends_share_a_secret() {
        let mut entropy = Entropy::new(Seed(1).stream("tls"));
        let secrets = entropy.lend(|| {
            let (one, other) = (X25519.start().unwrap(), X25519.start().unwrap());
            let (of_one, of_other) = (one.pub_key().to_vec(), other.pub_key().to_vec());
            [one.complete(&of_other).unwrap(), other.complete(&of_one).unwrap()]
        });
        assert_eq!(secrets[0].secret_bytes(), secrets[1].secret_bytes());
    }
}
