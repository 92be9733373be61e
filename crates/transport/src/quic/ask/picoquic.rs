//! picoquic: four ACKs in a round trip, with bounds that depend on rate and round trip (`frames.c`,
//! `picoquic_compute_ack_gap` and `picoquic_compute_ack_delay_max`).
//!
//! The correction for a smoothed round trip above 1.5 times the shortest one is left out: it needs
//! the rate of the return path, which a receiver without data of its own to acknowledge does not
//! show.

use super::{Path, Request};
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ACKs in a round trip.
const ACKS: u64 = 4;
/// `PICOQUIC_ACK_DELAY_MAX`.
const MOST_DELAY: Duration = Duration::from_millis(10);
/// `PICOQUIC_BANDWIDTH_MEDIUM`, in octets a second: 16 Mbps.
const MEDIUM_RATE: u64 = 2_000_000;
/// `PICOQUIC_TARGET_RENO_RTT`.
const RENO_RTT: Duration = Duration::from_millis(100);
/// `PICOQUIC_ACK_DELAY_MIN`: an ACK is not worth more than four a millisecond, so on shorter paths
/// the window counts as larger.
const LEAST_DELAY: Duration = Duration::from_millis(1);
/// The most packets an ACK, for Reno and on short paths.
const MOST_PACKETS: u64 = 32;
/// The most packets an ACK for other controllers, where an eighth of what is above four times
/// [`MOST_PACKETS`] is added.
const MOST_PACKETS_OTHERS: u64 = 64;

/// The settings: there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Picoquic {}

/// The rule at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// The most packets an ACK so far: it never asks for fewer
    /// (`picoquic_format_ack_frequency_frame`).
    gap: u64,
}

impl State {
    pub(super) const fn new() -> Self {
        Self { gap: 0 }
    }

    pub(super) fn request(&mut self, path: &Path) -> Request {
        self.gap = self.gap.max(gap(path));
        Request::after(self.gap, (path.min_rtt / ACKS).min(MOST_DELAY))
    }
}

/// `picoquic_compute_ack_gap`.
fn gap(path: &Path) -> u64 {
    // A window in slow start is half as large as it will be.
    let packets = if path.in_slow_start { path.packets() / 2 } else { path.packets() };
    let packets = packets * times_larger(path.min_rtt);
    let least = match path.rate {
        Some(rate) if rate > MEDIUM_RATE && path.min_rtt > RENO_RTT => 10,
        Some(rate) if rate > MEDIUM_RATE => 4,
        _ => 2,
    };
    // On a path so short, the delay is longer than a quarter of the round trip.
    let is_short = path.min_rtt < LEAST_DELAY * ACKS;
    let most = if path.is_reno || is_short {
        MOST_PACKETS
    } else {
        (MOST_PACKETS + packets.saturating_sub(ACKS * MOST_PACKETS) / 8).min(MOST_PACKETS_OTHERS)
    };
    packets.div_ceil(ACKS).clamp(least, most)
}

/// By how much the window of a path with less than four delays in its round trip counts as larger.
fn times_larger(min_rtt: Duration) -> u64 {
    let four = LEAST_DELAY * ACKS;
    if min_rtt >= four {
        1
    } else if min_rtt > LEAST_DELAY {
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
        // A quarter of 30, of twice 30, of four times 30.
        assert_eq!([gap(30, 4), gap(30, 2), gap(30, 1)], [8, 15, 30]);
    }

    /// 256 packets: 32 and an eighth of 128. 512: 64 and not 80; on a path of 3 ms no more than
    /// Reno.
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
        // 10 packets of 1000 octets in 100 ms are 0.8 Mbps; 12 in 5 ms 19 Mbps.
        assert_eq!([gap(4, 100), gap(12, 5), gap(30, 5), gap(4000, 600)], [2, 4, 8, 32]);
        assert_eq!(gap(30, 14), 8);
        assert_eq!(State::new().request(&path(10, 600)).max_ack_delay, MOST_DELAY);
    }
}
