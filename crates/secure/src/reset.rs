//! Stateless resets (RFC 9000, §10.3): a host without state of a connection notifies the peer.
//!
//! The token of a connection is derived from the connection id and a key that the host keeps across
//! restarts. The peer received the token in the handshake.

use acklab_wire::tack::ConnectionId;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

/// The size of a token in octets.
pub const TOKEN: usize = 16;
/// The minimum size of a reset in octets. It equals the size of the shortest packet that elicits no
/// answer. A reset is shorter than the packet that it answers, so that two hosts do not reset each
/// other without end (RFC 9000, §10.3.3).
const LEAST: usize = 43;

/// The key of a host.
#[derive(Clone, Debug)]
pub struct ResetKey(hmac::Key);

impl ResetKey {
    /// Derives the key from these bytes, which must be secret.
    #[must_use]
    pub fn new(octets: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, octets))
    }

    /// Returns the token of the connection `id` at this host.
    #[must_use]
    pub fn token(&self, id: ConnectionId) -> [u8; TOKEN] {
        let mut token = [0; TOKEN];
        token.copy_from_slice(&hmac::sign(&self.0, &id.0.to_be_bytes()).as_ref()[..TOKEN]);
        token
    }

    /// Returns the answer to a datagram of `length` bytes for an unknown connection. Returns `None`
    /// if the datagram is too short to be answered.
    #[must_use]
    pub fn answer(&self, id: ConnectionId, length: usize) -> Option<Vec<u8>> {
        let size = (length.checked_sub(1)?).min(LEAST);
        if size < LEAST {
            return None;
        }
        let mut octets = vec![0; size - TOKEN];
        SystemRandom::new().fill(&mut octets).ok()?;
        octets[0] = acklab_wire::tack::VERSION << 4 | (octets[0] & 0b11);
        octets.extend_from_slice(&self.token(id));
        Some(octets)
    }
}

/// Returns the token at the end of a datagram of an unknown connection, if the datagram can be a
/// reset.
#[must_use]
pub fn token_of(datagram: &[u8]) -> Option<&[u8; TOKEN]> {
    datagram.last_chunk().filter(|_| datagram.len() >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_with_the_key_can_reset() {
        let (key, other) = (ResetKey::new(&[1; 32]), ResetKey::new(&[2; 32]));
        let token = key.token(ConnectionId(7));
        let answer = key.answer(ConnectionId(7), 1200).unwrap();
        assert_eq!(token_of(&answer), Some(&token));
        assert_ne!(token_of(&other.answer(ConnectionId(7), 1200).unwrap()), Some(&token));
        assert_ne!(token_of(&key.answer(ConnectionId(8), 1200).unwrap()), Some(&token), "another connection");
        assert_ne!(answer, key.answer(ConnectionId(7), 1200).unwrap(), "all but the token is random");
    }

    #[test]
    fn a_reset_does_not_answer_a_reset() {
        let key = ResetKey::new(&[1; 32]);
        let answer = key.answer(ConnectionId(7), 44).unwrap();
        assert_eq!(key.answer(ConnectionId(7), answer.len()), None);
    }
}
