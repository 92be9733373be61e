//! Rates, and transmission times without rounding drift.

use crate::{Bytes, Duration, decimal};
use std::fmt;

/// A rate in bits per second, above zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Returns `bits` per second, or `None` if `bits` is zero.
    #[must_use]
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// Returns `megabits` per second.
    ///
    /// # Panics
    /// If `megabits` is zero.
    #[must_use]
    pub const fn from_mbps(megabits: u64) -> Self {
        assert!(megabits > 0, "a rate is above zero");
        Self(megabits * 1_000_000)
    }

    /// Returns bits per second.
    #[must_use]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.0, &[("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)])
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Converts sizes to transmission times whose rounding errors do not accumulate.
///
/// At 866.7 Mbps, transmission times are not whole nanoseconds. The remainder of each division is
/// carried over to the next. So a busy serializer deviates from the exact rate by at most a
/// nanosecond, in runs of any length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serializer {
    /// The remainder of the divisions so far, in bits times 10⁹. It is less than the rate.
    remainder: u64,
    /// The last division, which is reused because most packets have the size of the previous one.
    last: Division,
}

#[derive(Clone, Copy, Debug, Default)]
struct Division {
    size: u64,
    rate: u64,
    quotient: u64,
    remainder: u64,
}

impl Division {
    #[cold]
    const fn of(size: u64, rate: u64) -> Self {
        let dividend = size * 8 * 1_000_000_000;
        Self { size, rate, quotient: dividend / rate, remainder: dividend % rate }
    }
}

impl Serializer {
    /// Returns the transmission time of `size` at `rate`, immediately after the previous packet.
    #[must_use]
    #[inline]
    pub fn transmit(&mut self, size: Bytes, rate: Rate) -> Duration {
        if self.last.size != size.0 || self.last.rate != rate.0 {
            self.last = Division::of(size.0, rate.0);
        }
        self.remainder += self.last.remainder;
        let carry = u64::from(self.remainder >= rate.0);
        self.remainder -= carry * rate.0;
        Duration::from_nanos(self.last.quotient + carry)
    }

    /// Discards the remainder. Call when the link was idle or its rate has changed.
    pub fn reset(&mut self) {
        self.remainder = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_serializer_does_not_drift() {
        let rate = Rate::from_bits_per_second(866_700_001).unwrap();
        let mut serializer = Serializer::default();
        let total: u64 = (0..1_000_000).map(|_| serializer.transmit(Bytes(1500), rate).as_nanos()).sum();
        let exact = 1_000_000.0 * 12_000.0 / 866_700_001.0 * 1e9;
        assert!((total as f64 - exact).abs() <= 1.0, "{total} against {exact}");
    }

    #[test]
    fn a_round_rate_is_exact() {
        assert_eq!(Serializer::default().transmit(Bytes(1502), Rate::from_mbps(16)), Duration::from_micros(751));
    }
}
