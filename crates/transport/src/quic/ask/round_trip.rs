//! Requests n ACKs per round trip: an ACK for each 1/n of the congestion window, at the latest
//! after 1/n of the round-trip time. Neither quantity has a bound.

use super::{Path, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoundTrip {
    /// ACKs per round trip.
    #[schemars(range(min = 1))]
    pub acks: u32,
}

impl Default for RoundTrip {
    /// With four ACKs per round trip, a window protocol keeps a link busy if the queue has room for
    /// a third of the bandwidth-delay product (Landström and Larzon, CCR 37(3), 2007).
    fn default() -> Self {
        Self { acks: 4 }
    }
}

impl RoundTrip {
    pub(super) fn request(self, path: &Path) -> Request {
        let acks = u64::from(self.acks.max(1));
        Request::after((path.packets() / acks).max(1), path.srtt / acks)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;
    use acklab_base::Duration;

    #[test]
    fn window_and_round_trip_are_divided() {
        let asked = |acks, cwnd, rtt| {
            let request = RoundTrip { acks }.request(&path(cwnd, rtt));
            (request.threshold + 1, request.max_ack_delay)
        };
        let ms = Duration::from_millis;
        assert_eq!(
            [asked(1, 1000, 600), asked(24, 48, 240), asked(24, 12, 24)],
            [(1000, ms(600)), (2, ms(10)), (1, ms(1))]
        );
    }
}
