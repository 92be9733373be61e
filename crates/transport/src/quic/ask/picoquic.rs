//! picoquic: four ACKs per round trip, with bounds that depend on rate and round-trip time
//! (`frames.c`, `picoquic_compute_ack_gap` and `picoquic_compute_ack_delay_max`).
//!
//! If the smoothed round-trip time is above 1.5 times the minimum, picoquic corrects its request.
//! The correction is not modelled. It needs the rate of the return path, which a receiver that
//! sends no data cannot measure.

use super::{Path, Request};
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ACKs per round trip.
const ACKS: u64 = 4;
/// `PICOQUIC_ACK_DELAY_MAX`.
const MAX_DELAY: Duration = Duration::from_millis(10);
/// `PICOQUIC_BANDWIDTH_MEDIUM`, in bytes per second: 16 Mbps.
const MEDIUM_RATE: u64 = 2_000_000;
/// `PICOQUIC_TARGET_RENO_RTT`.
const RENO_RTT: Duration = Duration::from_millis(100);
/// `PICOQUIC_ACK_DELAY_MIN`. On short paths, four ACKs per round trip would be more frequent than
/// this delay permits, so the window is enlarged in the computation.
const MIN_DELAY: Duration = Duration::from_millis(1);
/// Maximum number of packets per ACK, for Reno and on short paths.
const MAX_PACKETS: u64 = 32;
/// Maximum number of packets per ACK for other controllers. Their limit is [`MAX_PACKETS`] plus an
/// eighth of the packets beyond four times [`MAX_PACKETS`].
const MAX_PACKETS_OTHERS: u64 = 64;

/// The rule has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Picoquic {}

/// The state of the rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Maximum number of packets per ACK so far, which never decreases
    /// (`picoquic_format_ack_frequency_frame`).
    gap: u64,
}

impl State {
    pub(super) const fn new() -> Self {
        Self { gap: 0 }
    }

    pub(super) fn request(&mut self, path: &Path) -> Request {
        self.gap = self.gap.max(gap(path));
        Request::after(self.gap, (path.min_rtt / ACKS).min(MAX_DELAY))
    }
}

/// `picoquic_compute_ack_gap`.
fn gap(path: &Path) -> u64 {
    // In slow start, picoquic computes with half of the window.
    let packets = if path.in_slow_start { path.packets() / 2 } else { path.packets() };
    let packets = packets * times_larger(path.min_rtt);
    let least = match path.rate {
        Some(rate) if rate > MEDIUM_RATE && path.min_rtt > RENO_RTT => 10,
        Some(rate) if rate > MEDIUM_RATE => 4,
        _ => 2,
    };
    // On such a short path, the minimum delay exceeds a quarter of the round trip.
    let is_short = path.min_rtt < MIN_DELAY * ACKS;
    let most = if path.is_reno || is_short {
        MAX_PACKETS
    } else {
        (MAX_PACKETS + packets.saturating_sub(ACKS * MAX_PACKETS) / 8).min(MAX_PACKETS_OTHERS)
    };
    packets.div_ceil(ACKS).clamp(least, most)
}

/// Returns the factor by which the window is enlarged, if the round-trip time is less than four
/// times the minimum delay.
fn times_larger(min_rtt: Duration) -> u64 {
    let four = MIN_DELAY * ACKS;
    if min_rtt >= four {
        1
    } else if min_rtt > MIN_DELAY {
        four.as_nanos() / min_rtt.as_nanos()
    } else {
        ACKS
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::path;
    use super::*;

    #[test]
    fn the_window_of_a_short_path_counts_as_larger() {
        let gap = |cwnd, rtt| gap(&path(cwnd, rtt));
        // A quarter of 30, of 2 · 30, and of 4 · 30.
        assert_eq!([gap(30, 4), gap(30, 2), gap(30, 1)], [8, 15, 30]);
    }

    /// 256 packets yield 32 plus an eighth of 128. 512 packets yield 64, not 80. On a path of 3 ms,
    /// the limit is the limit for Reno.
    #[test]
    fn other_controllers_than_reno_get_more_packets_an_ack() {
        let gap = |cwnd, rtt| {
            let path = Path { is_reno: false, ..path(cwnd, rtt) };
            super::gap(&path)
        };
        assert_eq!([gap(120, 50), gap(128, 50), gap(256, 50), gap(512, 50), gap(512, 3)], [30, 32, 48, 64, 32]);
    }

    #[test]
    fn fewer_packets_are_never_asked_for() {
        let mut state = State::new();
        let asked = [40, 100, 20].map(|cwnd| state.request(&path(cwnd, 50)).threshold + 1);
        assert_eq!(asked, [10, 25, 25]);
    }

    #[test]
    fn the_least_number_of_packets_depends_on_rate_and_round_trip() {
        let gap = |cwnd, rtt| gap(&path(cwnd, rtt));
        // 10 packets of 1000 bytes in 100 ms are 0.8 Mbps. 12 packets in 5 ms are 19 Mbps.
        assert_eq!([gap(4, 100), gap(12, 5), gap(30, 5), gap(4000, 600)], [2, 4, 8, 32]);
        assert_eq!(gap(30, 14), 8);
        assert_eq!(State::new().request(&path(10, 600)).max_ack_delay, MAX_DELAY);
    }
}
