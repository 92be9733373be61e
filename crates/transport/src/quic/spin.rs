//! The latency spin bit (RFC 9000, §17.4). A server copies the bit of the newest packet, and a
//! client inverts that bit. An observer of the packets detects one change per round trip.

use crate::streams::Side;

/// The spin bit of one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spin {
    side: Side,
    is_enabled: bool,
    value: bool,
}

impl Spin {
    pub(super) const fn new(side: Side, is_enabled: bool) -> Self {
        Self { side, is_enabled, value: false }
    }

    /// Handles a 1-RTT packet with the spin bit `spin`, whose number is the largest so far.
    #[inline]
    pub(super) const fn on_newest(&mut self, bit: bool) {
        if self.is_enabled {
            self.value = match self.side {
                Side::Server => bit,
                Side::Client => !bit,
            };
        }
    }

    /// Returns the spin bit of outgoing packets.
    #[inline]
    pub(super) const fn value(&self) -> bool {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_inverts_what_a_server_repeats() {
        let [mut client, mut server] = [Spin::new(Side::Client, true), Spin::new(Side::Server, true)];
        let mut seen = Vec::new();
        for _ in 0..4 {
            server.on_newest(client.value());
            client.on_newest(server.value());
            seen.push((server.value(), client.value()));
        }
        assert_eq!(seen, [(false, true), (true, false), (false, true), (true, false)]);
    }

    #[test]
    fn an_end_that_does_not_spin_stops_its_peer() {
        let [mut client, mut server] = [Spin::new(Side::Client, true), Spin::new(Side::Server, false)];
        for _ in 0..4 {
            server.on_newest(client.value());
            client.on_newest(server.value());
            assert_eq!((server.value(), client.value()), (false, true));
        }
    }
}
