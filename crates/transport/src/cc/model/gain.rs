//! Gains as fractions, and how much a rate brings in a time.

use acklab_base::Duration;

/// A factor on a rate or a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cc) struct Gain {
    numerator: u64,
    denominator: u64,
}

impl Gain {
    pub(in crate::cc) const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// In units of 1/256, as Linux has it (`BBR_UNIT`).
    pub(in crate::cc) const fn over_256(numerator: u64) -> Self {
        Self { numerator, denominator: 256 }
    }

    /// In percent.
    pub(in crate::cc) const fn percent(numerator: u64) -> Self {
        Self { numerator, denominator: 100 }
    }

    /// `value`, multiplied and rounded down.
    pub(in crate::cc) const fn of(self, value: u64) -> u64 {
        (value as u128 * self.numerator as u128 / self.denominator as u128) as u64
    }

    pub(in crate::cc) const fn is_above_one(self) -> bool {
        self.numerator > self.denominator
    }

    pub(in crate::cc) const fn is_one(self) -> bool {
        self.numerator == self.denominator
    }

    /// Octets that a path of so many bits per second holds at this round-trip time, multiplied and rounded up: rounding
    /// down would feed back into ever lower estimates (`bbr_bdp`).
    pub(in crate::cc) const fn of_path(self, bits_per_second: u64, rtt: Duration) -> u64 {
        let volume = bits_per_second as u128 * rtt.as_nanos() as u128 * self.numerator as u128;
        volume.div_ceil(8_000_000_000 * self.denominator as u128) as u64
    }
}

/// Octets that so many bits per second bring in this time, rounded down.
pub(in crate::cc) const fn brought(bits_per_second: u64, time: Duration) -> u64 {
    (bits_per_second as u128 * time.as_nanos() as u128 / 8_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_of_a_path_is_rounded_up() {
        let rtt = Duration::from_millis(10);
        assert_eq!(Gain::ONE.of_path(8_000_000, rtt), 10_000);
        assert_eq!(Gain::over_256(512).of_path(8_000_000, rtt), 20_000);
        assert_eq!(Gain::ONE.of_path(8_000_001, rtt), 10_001);
        assert_eq!(brought(8_000_001, rtt), 10_000);
    }
}
