//! Limits the octets that a server sends to an unvalidated address (RFC 9000, §8.1).
//!
//! The source address of an Open may be forged. The server sends the Accept, with its connection
//! ID, to that address. The address is validated when a packet with that ID arrives. Until then,
//! the server sends at most three times the bytes that it has received. A datagram that opens a
//! connection has at least 1200 bytes (§14.1). A server at its limit waits until the client repeats
//! its Open.

use acklab_wire::tack::BELOW;
use acklab_wire::tack::version::{AMPLIFICATION, MIN_OPEN};

/// Size of an IPv4 packet, in bytes, whose datagram has the minimum size to open a connection.
pub(super) const MIN_PACKET: u64 = BELOW + MIN_OPEN as u64;

/// Bytes of the packets received and sent before the address is validated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amplification {
    received: u64,
    sent: u64,
}

impl Amplification {
    pub(super) const fn on_arrival(&mut self, octets: u64) {
        self.received = self.received.saturating_add(octets);
    }

    pub(super) const fn on_sent(&mut self, octets: u64) {
        self.sent += octets;
    }

    /// Returns `true` if a packet of `octets` bytes may be sent.
    pub(super) const fn lets(&self, octets: u64) -> bool {
        self.sent + octets <= self.received.saturating_mul(AMPLIFICATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_answers_for_each_packet_of_the_same_size() {
        let mut amplification = Amplification::default();
        assert!(!amplification.lets(1));
        amplification.on_arrival(MIN_PACKET);
        for _ in 0..3 {
            assert!(amplification.lets(MIN_PACKET));
            amplification.on_sent(MIN_PACKET);
        }
        assert!(!amplification.lets(1));
    }
}
