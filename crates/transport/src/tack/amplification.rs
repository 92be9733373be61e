//! No more than a stranger sends (RFC 9000, §8.1).
//!
//! Whoever asks may have forged the address that is answered. Until a packet comes that is
//! addressed to the connection id which the Accept has told to that address, a server sends three
//! times what it has received, and a datagram that opens a connection has 1200 octets at least
//! (§14.1). A server that may send nothing more waits: a client that is there repeats its Open.

use acklab_wire::tack::BELOW;
use acklab_wire::tack::version::{AMPLIFICATION, LEAST_OPEN};

/// Octets of an IPv4 packet whose datagram is as large as one that opens a connection.
pub(super) const MIN_PACKET: u64 = BELOW + LEAST_OPEN as u64;

/// Octets of packets, before the address is confirmed.
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

    /// Returns `true` if a packet of this size may leave.
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
