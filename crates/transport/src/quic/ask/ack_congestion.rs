//! Congestion control of ACKs after RFC 5690: each ACK covers more packets while the return path
//! loses ACKs.
//!
//! The sender of data detects lost ACKs as gaps in the peer's packet numbers. In a round trip with
//! a lost ACK, the sender doubles the number of packets per ACK. In a round trip without a loss, it
//! decreases the number by one (RFC 5690, §4.3). At least two ACKs per window are requested (§4.2).

use super::{Path, Request};
use acklab_base::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Minimum number of ACKs per window of data.
const MIN_ACKS: u64 = 2;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AckCongestion {
    /// Packets per ACK while no ACK is lost.
    #[schemars(range(min = 1))]
    pub packets: u32,
}

impl Default for AckCongestion {
    /// The default is two packets per ACK (RFC 9000, §13.2.2).
    fn default() -> Self {
        Self { packets: 2 }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    least: u64,
    /// Packets per ACK.
    ratio: u64,
    /// The end of the present round trip, and the number of ACKs that were lost before the round
    /// trip.
    round: Option<(Instant, u64)>,
}

impl State {
    pub(super) const fn new(settings: AckCongestion) -> Self {
        Self { least: settings.packets as u64, ratio: settings.packets as u64, round: None }
    }

    pub(super) fn request(&mut self, now: Instant, path: &Path) -> Request {
        match self.round {
            Some((ends, _)) if now < ends => {}
            round => {
                if let Some((_, before)) = round {
                    let loses = path.lost_acks > before;
                    self.ratio = if loses { 2 * self.ratio } else { self.ratio - 1 };
                }
                self.round = Some((now + path.srtt, path.lost_acks));
            }
        }
        let most = (path.packets() / MIN_ACKS).max(self.least);
        self.ratio = self.ratio.clamp(self.least, most);
        Request::after(self.ratio, path.srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;
    use acklab_base::Duration;

    #[test]
    fn the_ratio_doubles_with_lost_acks_and_falls_by_one_without() {
        let mut state = State::new(AckCongestion::default());
        let mut ratio = |ms: u64, lost_acks| {
            let path = Path { lost_acks, ..path(20, 50) };
            state.request(Instant::ZERO + Duration::from_millis(ms), &path).threshold + 1
        };
        assert_eq!([ratio(0, 0), ratio(40, 3), ratio(50, 3), ratio(60, 9)], [2, 2, 4, 4]);
        assert_eq!([ratio(100, 9), ratio(150, 10)], [8, 10], "two ACKs in a window of 20");
        assert_eq!([ratio(200, 10), ratio(250, 10)], [9, 8]);
    }
}
