//! Firefox: a fixed number of ACKs per round trip (neqo, `neqo-transport/src/ackrate.rs`).
//!
//! The peer acknowledges each fraction of the window, 2 to 256 packets. It acknowledges at the
//! latest after the same fraction of the round-trip time, at most 50 ms. A gap is reported
//! immediately.

use super::{Path, Request};
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `MIN_PACKETS` and `MAX_PACKETS`.
const PACKETS: (u64, u64) = (2, 256);
/// `MAX_DELAY`.
const MAX_DELAY: Duration = Duration::from_millis(50);

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Neqo {
    /// ACKs per round trip.
    #[schemars(range(min = 1))]
    pub acks_per_rtt: u32,
}

impl Default for Neqo {
    /// `DEFAULT_ACK_RATIO` is 4 · `ACK_RATIO_SCALE`.
    fn default() -> Self {
        Self { acks_per_rtt: 4 }
    }
}

impl Neqo {
    pub(super) fn request(self, path: &Path) -> Request {
        let acks = u64::from(self.acks_per_rtt.max(1));
        let packets = (path.packets() / acks).clamp(PACKETS.0, PACKETS.1);
        Request::after(packets, (path.srtt / acks).min(MAX_DELAY))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;

    #[test]
    fn four_in_a_round_trip_within_bounds() {
        let asked = |cwnd, rtt| {
            let request = Neqo::default().request(&path(cwnd, rtt));
            (request.threshold + 1, request.max_ack_delay)
        };
        let ms = Duration::from_millis;
        assert_eq!([asked(4, 20), asked(100, 40), asked(5000, 600)], [(2, ms(5)), (25, ms(10)), (256, ms(50))]);
    }
}
