//! Requests for BBR, by its phase (draft-ietf-ccwg-bbr, section "Impact of changing ACK frequency",
//! editors' copy of August 2026).
//!
//! While BBR probes for bandwidth, four ACKs per round trip are requested. The same applies to
//! controllers without phases. While BBR cruises, an ACK is requested per quarter of the window or
//! after half a round trip. In `ProbeRTT`, the last packet that fits into the window carries
//! `IMMEDIATE_ACK`.
//!
//! More ACKs, if the window is often exhausted before the next ACK, are not modelled. The draft
//! gives no number.

use super::round_trip::RoundTrip;
use super::{Path, Request};
use crate::cc::Phase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr {
    /// ACKs per round trip while the controller probes.
    #[schemars(range(min = 1))]
    pub acks: u32,
    /// The number of bytes per ACK is the window divided by this number, while the controller
    /// cruises.
    #[schemars(range(min = 1))]
    pub window_divisor: u32,
    /// The maximum delay of an ACK is the smoothed round-trip time divided by this number, while
    /// the controller cruises.
    #[schemars(range(min = 1))]
    pub rtt_divisor: u32,
}

impl Default for Bbr {
    /// The values of the draft: "at least 4 acknowledgments per round trip"; "up to 0.5 * C.srtt"
    /// and "roughly a quarter of the current congestion window".
    fn default() -> Self {
        Self { acks: 4, window_divisor: 4, rtt_divisor: 2 }
    }
}

impl Bbr {
    pub(super) fn request(self, path: &Path) -> Request {
        if path.phase != Some(Phase::Cruises) {
            return RoundTrip { acks: self.acks }.request(path);
        }
        let (window, rtt) = (u64::from(self.window_divisor.max(1)), u64::from(self.rtt_divisor.max(1)));
        Request::after((path.packets() / window).max(1), path.srtt / rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;
    use acklab_base::Duration;

    #[test]
    fn fewer_are_asked_for_while_it_cruises() {
        let asked = |phase| {
            let request = Bbr::default().request(&Path { phase, ..path(100, 40) });
            (request.threshold + 1, request.max_ack_delay)
        };
        let ms = Duration::from_millis;
        assert_eq!(asked(None), (25, ms(10)));
        assert_eq!(asked(Some(Phase::Probes)), (25, ms(10)));
        assert_eq!(asked(Some(Phase::Cruises)), (25, ms(20)));
        assert_eq!(asked(Some(Phase::ProbesRtt)), (25, ms(10)));
    }
}
