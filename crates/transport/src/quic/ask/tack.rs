//! TACK's law, the formula for the frequency of ACKs: f = min{bw/(L·MSS), β/RTTmin} (Li et al.,
//! SIGCOMM 2020, §4.1, eq. 3). The sender of data requests this frequency.
//!
//! A request contains a number of packets and a time. The peer sends an ACK when either limit is
//! reached, but in TACK's law both limits must be reached. While the path contains fewer than β·L
//! packets, L packets and a delay of one smoothed round-trip time are therefore requested. That
//! delay bounds the delay of a single packet, because the draft requires an ACK per round trip.
//! Otherwise, a delay of RTTmin/β and the whole window are requested, so that the delay always ends
//! first.

use super::{Path, Request};
use crate::ack::tack::Law;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tack {
    /// L: full-sized packets per ACK, if the number of bytes determines the frequency.
    #[schemars(range(min = 1))]
    pub packets: u32,
    /// β: ACKs per minimum round-trip time, if time determines the frequency.
    #[schemars(range(min = 2))]
    pub beta: u32,
}

impl Default for Tack {
    fn default() -> Self {
        let Law { packets, beta } = Law::default();
        Self { packets, beta }
    }
}

impl Tack {
    pub(super) fn request(self, path: &Path) -> Request {
        let law = Law { packets: self.packets, beta: self.beta };
        let held = path.rate.map_or(0, |rate| rate as u128 * u128::from(path.min_rtt.as_nanos()) / 1_000_000_000);
        if held < u128::from(u64::from(law.beta) * law.octets(path.mss)) {
            return Request::after(law.packets.into(), path.srtt);
        }
        Request::after(path.packets(), law.period(Some(path.min_rtt)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;
    use acklab_base::Duration;

    #[test]
    fn packets_are_counted_below_eight_in_a_round_trip_and_time_beyond() {
        let ms = Duration::from_millis;
        let asked = |cwnd| Tack::default().request(&path(cwnd, 40));
        assert_eq!((asked(7).threshold + 1, asked(7).max_ack_delay), (2, ms(40)));
        assert_eq!((asked(100).threshold + 1, asked(100).max_ack_delay), (100, ms(10)));
    }
}
