//! quicly: an ACK per fraction of the window, after several losses (`quicly.c`, `do_send` and
//! `QUICLY_MAX_PACKET_TOLERANCE`).
//!
//! No request is sent before the fourth recovery, or while the fraction is less than three packets.

use super::{Path, Request};
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of recoveries before the first request.
const RECOVERIES: u64 = 4;
/// The minimum fraction of the window, in packets.
const MIN_PACKETS: u64 = 3;
/// The unit of the fraction of the window is one divided by this number.
const SHARES: u64 = 1024;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quicly {
    /// The fraction of the window, in 1024ths.
    #[schemars(range(min = 1, max = 1024))]
    pub fraction: u32,
    /// Maximum number of packets per ACK: `QUICLY_MAX_PACKET_TOLERANCE`.
    #[schemars(range(min = 2))]
    pub most_packets: u32,
    /// The requested delay. The default is quicly's delay.
    pub max_ack_delay: Duration,
}

impl Default for Quicly {
    /// The default is an eighth of the window: `QUICLY_ACK_FREQUENCY_CWND_FRACTION`.
    fn default() -> Self {
        Self { fraction: 128, most_packets: 10, max_ack_delay: Duration::from_millis(25) }
    }
}

impl Quicly {
    pub(super) fn request(self, path: &Path) -> Option<Request> {
        let packets = path.packets() * u64::from(self.fraction) / SHARES;
        let is_asked = path.recoveries >= RECOVERIES && packets >= MIN_PACKETS;
        is_asked.then(|| Request::after(packets.min(self.most_packets.into()), self.max_ack_delay))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;

    #[test]
    fn nothing_is_asked_before_the_fourth_recovery_or_of_a_small_window() {
        let asked = |cwnd, recoveries| {
            let path = Path { recoveries, ..path(cwnd, 50) };
            Quicly::default().request(&path).map(|request| request.threshold + 1)
        };
        assert_eq!([asked(40, 3), asked(23, 4), asked(24, 4), asked(400, 9)], [None, None, Some(3), Some(10)]);
    }
}
