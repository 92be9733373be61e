//! Receiver-based rates (Li et al., SIGCOMM 2020, §5.3; ToN 2021, §VI-D).
//!
//! The delivery rate in a TACK covers the last two TACK intervals: the bytes that arrived, divided
//! by the duration. A single interval may contain only the end of a burst. An interval lasts at
//! least RTTmin/β, even if TACKs are more frequent. Otherwise, per-packet ACKs would report rates
//! of single packets.

use super::refusal::Refusal;
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The end that measures the delivery rate for congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateSource {
    /// The receiver, over two TACK intervals.
    Receiver,
    /// The sender, from the data sent and acknowledged (draft-ietf-ccwg-bbr, §4.1).
    Sender,
}

/// The start of an interval, and the total of bytes that had arrived by then.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Instant,
    octets: u64,
}

/// The receiver's state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeter {
    /// The starts of the last two intervals.
    marks: [Option<Mark>; 2],
    measured: (u32, u32),
}

impl RateMeter {
    /// Handles the departure of a TACK. `octets` is the total of bytes that have arrived, `newest`
    /// the arrival time of the last. An interval lasts at least `least`. Returns the bytes of the
    /// last two intervals and the duration in microseconds, or zeros without a measurement.
    pub(super) fn on_tack(&mut self, newest: Instant, octets: u64, least: Duration) -> (u32, u32) {
        let mark = Mark { at: newest, octets };
        let [before, last] = self.marks;
        let Some(begun) = last else {
            self.marks[1] = Some(mark);
            return self.measured;
        };
        let elapsed = newest.since(begun.at);
        if elapsed.is_zero() || elapsed < least {
            return self.measured;
        }
        let from = before.unwrap_or(begun);
        self.marks = [Some(begun), Some(mark)];
        let micros = newest.since(from.at).as_nanos() / 1000;
        if let (Ok(delivered), Ok(micros)) = (u32::try_from(octets - from.octets), u32::try_from(micros))
            && delivered > 0
            && micros > 0
        {
            self.measured = (delivered, micros);
        }
        self.measured
    }
}

/// Returns the delivery rate in a TACK, if the TACK contains a rate: bytes, and the time in which
/// they arrived. `sent` is the total of bytes sent.
pub(super) fn check(delivered: u32, micros: u32, sent: u64) -> Result<Option<(u64, Duration)>, Refusal> {
    match (delivered, micros) {
        (0, 0) => Ok(None),
        (0, _) | (_, 0) => Err(Refusal::Rate),
        (delivered, _) if u64::from(delivered) > sent => Err(Refusal::Rate),
        (delivered, micros) => Ok(Some((delivered.into(), super::clock::of_micros(micros)))),
    }
}

/// The fraction of expected packets that were lost recently. Each interval has 7/8 of the weight of
/// the next interval, as in the moving averages of RFC 6298.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRate {
    expected: f64,
    lost: f64,
    /// The counts of expected and lost packets at the end of the last interval.
    counted: (u64, u64),
}

impl LossRate {
    const KEPT: f64 = 7.0 / 8.0;

    /// Ends an interval. The arguments are total numbers of expected and lost packets.
    pub(super) fn on_interval(&mut self, expected: u64, lost: u64) {
        let (expected_before, lost_before) = std::mem::replace(&mut self.counted, (expected, lost));
        self.expected = self.expected * Self::KEPT + expected.saturating_sub(expected_before) as f64;
        self.lost = self.lost * Self::KEPT + lost.saturating_sub(lost_before) as f64;
    }

    /// Returns the fraction ρ or ρ′, between zero and one.
    pub(super) fn share(&self) -> f64 {
        if self.expected > 0.0 { (self.lost / self.expected).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    #[test]
    fn a_rate_covers_two_intervals() {
        let mut meter = RateMeter::default();
        let tacks = [(0, 1000), (10, 3000), (20, 5000), (30, 9000), (32, 9500), (40, 12_000)];
        let rates = tacks.map(|(ms, octets)| meter.on_tack(at(ms), octets, MS * 10));
        let expected = [(0, 0), (2000, 10_000), (4000, 20_000), (6000, 20_000), (6000, 20_000), (7000, 20_000)];
        assert_eq!(rates, expected, "the fifth TACK comes too soon after the fourth to end an interval");
    }

    #[test]
    fn a_rate_of_zero_or_infinity_is_none() {
        assert_eq!(check(0, 0, 10), Ok(None));
        assert_eq!(check(10, 5, 10), Ok(Some((10, Duration::from_micros(5)))));
        assert_eq!(check(11, 5, 10), Err(Refusal::Rate), "more than was ever sent");
        assert_eq!([check(0, 5, 10), check(5, 0, 10)], [Err(Refusal::Rate), Err(Refusal::Rate)]);
    }

    #[test]
    fn a_loss_rate_follows_what_is_lost() {
        let mut rate = LossRate::default();
        assert!(rate.share() < 1e-9);
        for interval in 1..100 {
            rate.on_interval(100 * interval, 10 * interval);
        }
        assert!((rate.share() - 0.1).abs() < 1e-9);
        for interval in 100..140 {
            rate.on_interval(100 * interval, 1000);
        }
        assert!(rate.share() < 0.01);
    }
}
