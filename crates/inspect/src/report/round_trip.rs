//! Round-trip times of a direction.

use super::Position;
use crate::quantiles::Quantiles;
use crate::quic::spin::Spins;
use crate::way;
use serde::Serialize;

/// A side with less than this share of the round trip is that of an end.
const AT_END: f64 = 0.1;

/// Round-trip times in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RoundTrip {
    /// The least, of both sides of the point; `None` if one of them was not seen.
    pub base: Option<f64>,
    /// The part between the point and the receiver.
    pub ahead: Option<f64>,
    /// The part between the point and the sender.
    pub behind: Option<f64>,
    /// Median, mean and 95th percentile of all samples of data, with the least of the other side.
    pub median: Option<f64>,
    /// See `median`.
    pub mean: Option<f64>,
    /// The interval of the mean.
    pub mean_interval: Option<[f64; 2]>,
    /// See `median`.
    pub p95: Option<f64>,
    /// Samples of data.
    pub samples: u64,
    /// The sides are known by the spin bit.
    pub by_spin_bit: bool,
}

impl RoundTrip {
    /// Those of a direction. `spins` are the spin bits, if they tell something, and the end that sends in this direction.
    pub(super) fn of(way: &way::Way, spins: Option<(&Spins, usize)>) -> Self {
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let by_spin_bit = spins.is_some();
        let (ahead, behind) = way.round_trip.least();
        let ahead = least(ahead, spins.and_then(|(spins, from)| spins.least_to(1 - from)));
        let behind = least(behind, spins.and_then(|(spins, from)| spins.least_to(from)));
        let both = ahead.zip(behind).map(|(one, other)| one + other);
        let base = least(both, spins.and_then(|(spins, _)| spins.least_whole()));
        let (samples, other, side) = if by_spin_bit {
            (&way.round_trip.whole, 0.0, 2)
        } else {
            // Samples of the two sides do not belong together: those of the side that varies count with the median of the other.
            let sides = [&way.round_trip.ahead, &way.round_trip.behind];
            let spread = |side: &Quantiles| Some(side.quantile(0.95)? - side.quantile(0.05)?);
            let [varies, steady] = if spread(sides[1]) > spread(sides[0]) { [sides[1], sides[0]] } else { sides };
            let (least_of_other, side) = if std::ptr::eq(steady, sides[0]) { (ahead, 1) } else { (behind, 0) };
            (varies, steady.quantile(0.5).or(least_of_other.map(|nanos| nanos as f64)).unwrap_or(0.0), side)
        };
        let of_samples = |nanos: Option<f64>| Some((nanos? + other) / 1e6);
        Self {
            base: base.map(millis),
            ahead: ahead.map(millis),
            behind: behind.map(millis),
            median: of_samples(samples.quantile(0.5)),
            mean: of_samples(samples.mean()),
            mean_interval: way
                .interval(|taken| (taken.times[side].0, taken.times[side].1 as f64))
                .map(|both| both.map(|nanos| (nanos + other) / 1e6)),
            p95: of_samples(samples.quantile(0.95)),
            samples: samples.count(),
            by_spin_bit,
        }
    }

    /// Returns `true` if packets wait: one round trip of twenty takes so many milliseconds longer than the least. Returns `None` if that cannot be seen.
    pub(super) fn waits(&self, millis: f64) -> Option<bool> {
        self.p95.zip(self.base).map(|(late, base)| late - base >= millis)
    }

    pub(super) fn position(&self) -> Position {
        match (self.ahead, self.behind) {
            (Some(ahead), Some(behind)) if behind < AT_END * (ahead + behind) => Position::Sender,
            (Some(ahead), Some(behind)) if ahead < AT_END * (ahead + behind) => Position::Receiver,
            (Some(_), Some(_)) => Position::Middle,
            // The log of a receiver that sends nothing whose round trip could be told.
            (Some(0.0), None) => Position::Receiver,
            _ => Position::Unknown,
        }
    }
}
