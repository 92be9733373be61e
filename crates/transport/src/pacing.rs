//! Pacing: determines when the next segment may be sent.
//!
//! After Linux's internal pacing (`tcp_update_skb_after_send`): each segment delays the next one by
//! its payload's time at the pacing rate. A late sender catches up by at most half of a segment's
//! time. So jitter costs no throughput, and an idle period permits no burst.
//!
//! With a [`Burst`], a token bucket determines the sending times instead (RFC 9002, §7.7), as in
//! user-space stacks.

use crate::fault::Fault;
use acklab_base::{Duration, Instant, Rate, mul_div};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of segments that Linux sends before it paces (`tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: u64 = 10;

/// The controllers that are paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacingConfig {
    /// Controllers that compute a rate are paced at it; others are not paced (Linux without `fq`).
    Controller,
    /// All controllers. A controller without a rate is paced at 2 · cwnd / SRTT in slow start and
    /// 1.2 · cwnd / SRTT after it (Linux's `tcp_update_pacing_rate`, `tcp_pacing_ss_ratio`,
    /// `tcp_pacing_ca_ratio`).
    Always,
    /// No controller, even if it computes a rate.
    Never,
}

impl PacingConfig {
    /// Returns its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// The pacing rate of a window, as a percentage of cwnd / SRTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// In slow start, while the window is below half the threshold.
    pub slow_start: u64,
    /// After slow start.
    pub avoidance: u64,
}

impl Spread {
    /// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
    pub const LINUX: Self = Self { slow_start: 200, avoidance: 120 };
    /// N of RFC 9002, §7.7.
    pub const QUIC: Self = Self { slow_start: 125, avoidance: 125 };
}

/// The maximum burst: the capacity of a token bucket (RFC 9002, §7.7).
///
/// The sender may spend a full bucket without delay. A sender that finds the bucket empty sleeps
/// until it is full again, unless another event wakes it while a packet waits (quinn-proto,
/// `connection/pacing.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// The minimum capacity in packets.
    #[schemars(range(min = 1, max = 256))]
    pub packets: u32,
    /// The capacity is at least the data that are sent in this time at the pacing rate, up to 256
    /// packets.
    #[schemars(example = "1600us")]
    pub time: Duration,
    /// `true` if a sender that wakes late catches up, by at most half of the capacity, as Linux
    /// does per segment (`tcp_update_skb_after_send`). Otherwise late timers lower the rate.
    #[serde(default)]
    pub catches_up: bool,
}

impl Burst {
    /// quinn-proto's `MIN_BURST_SIZE`, and its `BURST_INTERVAL_NANOS` of 2 ms at a rate of cwnd /
    /// SRTT, which is 4/5 of the pacing rate.
    pub const QUINN: Self = Self { packets: 10, time: Duration::from_micros(1600), catches_up: false };
    /// quinn-proto's `MAX_BURST_SIZE`.
    pub const MAX_PACKETS: u64 = 256;

    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// If the capacity is zero packets or exceeds the maximum.
    pub fn check(self) -> Result<(), Fault> {
        if (1..=Self::MAX_PACKETS).contains(&self.packets.into()) {
            return Ok(());
        }
        Err(Fault::expected("packets", format!("1 to {}", Self::MAX_PACKETS)))
    }

    /// Returns the number of bytes that are sent together at `rate`, in packets of `packet` bytes.
    /// Single packets would require too many wake-ups. The value is Linux's size of segments that
    /// the interface splits (`bbr_tso_segs_goal`), at least two packets.
    pub(crate) fn quantum(self, packet: u64, rate: Rate) -> u64 {
        octets_in(self.time, rate).clamp(2 * packet, Self::MAX_PACKETS * packet)
    }

    fn capacity(self, packet: u64, rate: Rate) -> u64 {
        octets_in(self.time, rate).clamp(u64::from(self.packets) * packet, Self::MAX_PACKETS * packet)
    }

    /// Returns the maximum burst of a sender that is late.
    fn most(self, packet: u64, rate: Rate) -> u64 {
        let capacity = self.capacity(packet, rate);
        if self.catches_up { capacity + capacity / 2 } else { capacity }
    }
}

/// Returns the number of bytes that are sent at `rate` in `time`.
fn octets_in(time: Duration, rate: Rate) -> u64 {
    mul_div(time.as_nanos(), rate.bits_per_second(), 8_000_000_000)
}

/// Returns the time of `octets` bytes at `rate`.
fn time_of(octets: u64, rate: Rate) -> Duration {
    Duration::from_nanos(mul_div(octets, 8_000_000_000, rate.bits_per_second()))
}

/// The token bucket. A token is a byte that may be sent without delay.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    burst: Burst,
    /// The bytes of a full-sized packet.
    packet: u64,
    tokens: u64,
    filled_at: Instant,
    /// The pacing rate when the last packet left.
    rate: Option<Rate>,
}

impl Bucket {
    fn content(&self, now: Instant, rate: Rate) -> u64 {
        let more = octets_in(now.since(self.filled_at), rate);
        self.tokens.saturating_add(more).min(self.burst.most(self.packet, rate))
    }

    /// Follows quinn-proto, which reads the clock only if the bucket contains less than a packet.
    fn on_sent(&mut self, now: Instant, octets: u64, rate: Rate) {
        self.tokens = self.tokens.min(self.burst.most(self.packet, rate));
        if self.tokens < self.packet {
            (self.tokens, self.filled_at) = (self.content(now, rate), now);
        }
        (self.tokens, self.rate) = (self.tokens.saturating_sub(octets), Some(rate));
    }

    fn holds_until(&self, now: Instant) -> Option<Instant> {
        let rate = self.rate?;
        if self.tokens >= self.packet || self.content(now, rate) >= self.packet {
            return None;
        }
        let missing = self.burst.capacity(self.packet, rate) - self.tokens;
        // At that instant, the content may be rounded to a byte less than the capacity, which is
        // more than a packet.
        Some((self.filled_at + time_of(missing, rate)).max(now + Duration::from_nanos(1)))
    }
}

/// Spaces transmissions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    /// The time at which the next segment may be sent.
    next: Instant,
    segments: u64,
    bucket: Option<Bucket>,
}

impl Pacer {
    /// Creates a pacer with bursts; a full-sized packet has `packet` bytes.
    #[must_use]
    pub fn bursting(burst: Burst, packet: u64) -> Self {
        let tokens = u64::from(burst.packets) * packet;
        let bucket = Bucket { burst, packet, tokens, filled_at: Instant::ZERO, rate: None };
        Self { bucket: Some(bucket), ..Self::default() }
    }

    /// Returns when the next segment may be sent, if that is later than now.
    #[must_use]
    #[inline]
    pub fn holds_until(&self, now: Instant) -> Option<Instant> {
        match &self.bucket {
            Some(bucket) => bucket.holds_until(now),
            None => (self.next > now).then_some(self.next),
        }
    }

    /// Records that `octets` bytes were sent before there was a rate, or regardless of the rate.
    pub const fn on_unpaced(&mut self, octets: u64) {
        if let Some(bucket) = &mut self.bucket {
            bucket.tokens = bucket.tokens.saturating_sub(octets);
        }
    }

    /// Records that a segment with this payload was sent.
    pub fn on_sent(&mut self, now: Instant, payload: u64, rate: Rate) {
        if let Some(bucket) = &mut self.bucket {
            return bucket.on_sent(now, payload, rate);
        }
        self.segments += 1;
        if self.segments <= UNPACED_SEGMENTS {
            return;
        }
        let length = time_of(payload, rate).as_nanos();
        let late = if now > self.next { now.since(self.next).as_nanos() } else { 0 };
        self.next = self.next.max(now) + Duration::from_nanos(length - late.min(length / 2));
    }
}

/// Returns the pacing rate of a window of `cwnd` bytes, for controllers that compute none.
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
    fn a_bucket_empties_at_once_and_then_fills() {
        let rate = Rate::from_mbps(8);
        let burst = Burst { packets: 3, time: Duration::ZERO, catches_up: false };
        let mut pacer = Pacer::bursting(burst, 1000);
        for _ in 0..3 {
            assert_eq!(pacer.holds_until(at(0)), None);
            pacer.on_sent(at(0), 1000, rate);
        }
        // 1000 bytes take 1 ms. A waiting caller waits until the bucket is full.
        assert_eq!(pacer.holds_until(at(0)), Some(at(3000)));
        assert_eq!(pacer.holds_until(at(999)), Some(at(3000)));
        assert_eq!(pacer.holds_until(at(1000)), None, "a caller that wakes earlier takes what there is");
        pacer.on_sent(at(1000), 1000, rate);
        assert_eq!(pacer.holds_until(at(1000)), Some(at(4000)));
        (0..3).for_each(|_| pacer.on_sent(at(20_000), 1000, rate));
        assert_eq!(pacer.holds_until(at(20_000)), Some(at(23_000)), "a silence earns no more than a burst");
    }

    #[test]
    fn a_sender_whose_timers_are_late_keeps_the_rate() {
        let rate = Rate::from_mbps(8);
        let burst = |catches_up| Burst { packets: 4, time: Duration::ZERO, catches_up };
        // Each timer is late by a quarter of a packet's time.
        let sent = |burst| {
            let mut pacer = Pacer::bursting(burst, 1000);
            let (mut now, mut packets) = (at(0), 0);
            while now < at(1_000_000) {
                match pacer.holds_until(now) {
                    Some(until) => now = until + Duration::from_micros(250),
                    None => {
                        pacer.on_sent(now, 1000, rate);
                        packets += 1;
                    }
                }
            }
            packets
        };
        assert_eq!(sent(burst(true)), 1000);
        assert_eq!(sent(burst(false)), 944, "four packets in 4.25 ms");
        let mut pacer = Pacer::bursting(burst(true), 1000);
        (0..4).for_each(|_| pacer.on_sent(at(0), 1000, rate));
        (0..6).for_each(|_| pacer.on_sent(at(50_000), 1000, rate));
        assert_eq!(pacer.holds_until(at(50_000)), Some(at(54_000)), "a silence earns half a burst more");
    }

    #[test]
    fn a_bucket_holds_what_the_rate_sends_in_its_time() {
        let burst = Burst { packets: 10, time: Duration::from_millis(2), catches_up: false };
        let capacity = |mbps| burst.capacity(1000, Rate::from_mbps(mbps));
        assert_eq!((capacity(8), capacity(80), capacity(8000)), (10_000, 20_000, 256_000));
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
