//! Pacing: when the next segment may leave.
//!
//! After Linux's internal pacing (`tcp_update_skb_after_send`): each segment delays the next one by its payload's time at the
//! pacing rate. A late sender makes up at most half of a segment's time, so jitter costs no throughput and a silence earns no burst.

use acklab_base::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Linux paces nothing before this many segments have left (`tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: u64 = 10;

/// Who asks for pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Config {
    /// The controller: those that compute a rate are paced at it, others not (Linux without `fq`).
    Controller,
    /// Everyone: a controller that has no rate of its own is paced at 2 · cwnd / SRTT in slow start and 1.2 · cwnd / SRTT after it
    /// (Linux's `tcp_update_pacing_rate`, `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
    Always,
    /// Nobody, not even a controller that computes a rate.
    Never,
}

impl Config {
    /// Its name, as scenarios spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// How fast a window is spread over a round trip, as a percentage of cwnd / SRTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// In slow start, while the window is below half the threshold.
    pub slow_start: u64,
    /// After it.
    pub avoidance: u64,
}

impl Spread {
    /// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
    pub const LINUX: Self = Self { slow_start: 200, avoidance: 120 };
    /// N of RFC 9002, §7.7.
    pub const QUIC: Self = Self { slow_start: 125, avoidance: 125 };
}

/// Spaces transmissions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    /// When the next segment may leave.
    next: Instant,
    segments: u64,
}

impl Pacer {
    /// When the next segment may leave, if that is not yet.
    #[must_use]
    pub fn holds_until(&self, now: Instant) -> Option<Instant> {
        (self.next > now).then_some(self.next)
    }

    /// A segment with this payload has left.
    pub fn on_sent(&mut self, now: Instant, payload: u64, rate: Rate) {
        self.segments += 1;
        if self.segments <= UNPACED_SEGMENTS {
            return;
        }
        let bits_per_second = u128::from(rate.bits_per_second());
        let length = (u128::from(payload) * 8_000_000_000 / bits_per_second).min(u128::from(u64::MAX)) as u64;
        let late = if now > self.next { now.since(self.next).as_nanos() } else { 0 };
        self.next = self.next.max(now) + Duration::from_nanos(length - late.min(length / 2));
    }
}

/// The pacing rate of a window of `cwnd` octets, for controllers that compute none.
#[must_use]
pub fn rate_of_window(spread: Spread, cwnd: u64, ssthresh: u64, srtt: Duration) -> Option<Rate> {
    let percent = if cwnd < ssthresh / 2 { spread.slow_start } else { spread.avoidance };
    let bits = u128::from(cwnd) * 8 * u128::from(percent) / 100 * 1_000_000_000 / u128::from(srtt.as_nanos().max(1));
    Rate::from_bits_per_second(bits as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn segments_are_spaced_by_their_time_at_the_rate() {
        let (mut pacer, rate) = (Pacer::default(), Rate::from_mbps(8));
        (0..UNPACED_SEGMENTS).for_each(|_| pacer.on_sent(at(5000), 1000, rate));
        assert_eq!(pacer.holds_until(at(5000)), None, "the initial window leaves at once");
        pacer.on_sent(at(5000), 1000, rate);
        assert_eq!(pacer.holds_until(at(5000)), Some(at(5500)), "after silence, half a segment's time");
        pacer.on_sent(at(5500), 1000, rate);
        assert_eq!(pacer.holds_until(at(5500)), Some(at(6500)));
        pacer.on_sent(at(6600), 1000, rate);
        assert_eq!(pacer.holds_until(at(6600)), Some(at(7500)), "0.1 ms late is made up");
    }

    #[test]
    fn a_window_is_spread_over_less_than_a_round_trip() {
        let srtt = Duration::from_millis(100);
        assert_eq!(rate_of_window(Spread::LINUX, 100_000, u64::MAX, srtt), Some(Rate::from_mbps(16)));
        assert_eq!(
            rate_of_window(Spread::LINUX, 100_000, 100_000, srtt),
            Some(Rate::from_bits_per_second(9_600_000).unwrap())
        );
        assert_eq!(rate_of_window(Spread::QUIC, 100_000, u64::MAX, srtt), Some(Rate::from_mbps(10)));
    }
}
