//! Gains as fractions, and bandwidth-delay products.

use acklab_base::{Duration, mul_div};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A factor on a rate or a volume, as a whole number of 1/25 600. It represents both the hundredths
/// of the drafts of BBR and the 256ths of the kernel (`BBR_UNIT`) exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gain(u64);

impl Gain {
    const UNITS: u64 = 25_600;
    /// A factor of one.
    pub const ONE: Self = Self(Self::UNITS);

    /// Returns a gain in units of 1/256, Linux's `BBR_UNIT`.
    #[must_use]
    pub const fn over_256(numerator: u64) -> Self {
        Self(numerator * (Self::UNITS / 256))
    }

    /// Returns a gain in percent.
    #[must_use]
    pub const fn percent(numerator: u64) -> Self {
        Self(numerator * (Self::UNITS / 100))
    }

    /// Returns the gain that is nearest to `factor`.
    #[must_use]
    pub fn nearest(factor: f64) -> Self {
        Self(libm::round(factor * Self::UNITS as f64) as u64)
    }

    /// Returns the gain as a number.
    #[must_use]
    pub const fn factor(self) -> f64 {
        self.0 as f64 / Self::UNITS as f64
    }

    /// Returns `value` times the gain, rounded down.
    #[must_use]
    pub const fn of(self, value: u64) -> u64 {
        mul_div(value, self.0, Self::UNITS)
    }

    /// Returns `true` if `part` is at least this share of `whole`.
    pub(in crate::cc) const fn is_at_most(self, part: u64, whole: u64) -> bool {
        part as u128 * Self::UNITS as u128 >= whole as u128 * self.0 as u128
    }

    /// Returns `time` times the gain, rounded down.
    pub(in crate::cc) const fn of_time(self, time: Duration) -> Duration {
        Duration::from_nanos(self.of(time.as_nanos()))
    }

    /// Returns one minus this gain.
    pub(in crate::cc) const fn rest(self) -> Self {
        Self(Self::UNITS.saturating_sub(self.0))
    }

    /// Returns `value` divided by the gain, rounded down.
    pub(in crate::cc) const fn whole_of(self, value: u64) -> u64 {
        mul_div(value, Self::UNITS, self.0)
    }

    pub(in crate::cc) const fn is_above_one(self) -> bool {
        self.0 > Self::UNITS
    }

    pub(in crate::cc) const fn is_one(self) -> bool {
        self.0 == Self::UNITS
    }

    /// Returns the bandwidth-delay product in bytes times the gain, rounded up. Rounding down would
    /// lead to ever lower estimates (`bbr_bdp`).
    pub(in crate::cc) const fn of_bdp(self, bits_per_second: u64, rtt: Duration) -> u64 {
        let volume = bits_per_second as u128 * rtt.as_nanos() as u128 * self.0 as u128;
        volume.div_ceil(8_000_000_000 * Self::UNITS as u128) as u64
    }
}

impl Serialize for Gain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.factor())
    }
}

impl<'de> Deserialize<'de> for Gain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::nearest)
    }
}

impl JsonSchema for Gain {
    fn schema_name() -> Cow<'static, str> {
        "Gain".into()
    }

    /// Each gain in the settings may have its own range.
    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1000 })
    }
}

/// Returns the bytes delivered at this rate in this time, rounded down.
pub(in crate::cc) const fn delivered_in(bits_per_second: u64, time: Duration) -> u64 {
    mul_div(bits_per_second, time.as_nanos(), 8_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_of_a_path_is_rounded_up() {
        let rtt = Duration::from_millis(10);
        assert_eq!(Gain::ONE.of_bdp(8_000_000, rtt), 10_000);
        assert_eq!(Gain::over_256(512).of_bdp(8_000_000, rtt), 20_000);
        assert_eq!(Gain::ONE.of_bdp(8_000_001, rtt), 10_001);
        assert_eq!(delivered_in(8_000_001, rtt), 10_000);
    }

    #[test]
    fn hundredths_and_256ths_are_exact() {
        for (gain, factor) in
            [(Gain::percent(277), 2.77), (Gain::over_256(739), 2.886_718_75), (Gain::percent(2), 0.02)]
        {
            assert_eq!((Gain::nearest(factor), Gain::nearest(gain.factor())), (gain, gain));
        }
        assert_eq!(Gain::percent(2).rest().whole_of(98), 100);
    }
}
