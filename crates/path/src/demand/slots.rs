//! The slots of a carrier.

use super::DemandConfig;
use acklab_base::{Duration, Instant, Rate, mul_div};
use std::ops::Range;

/// Units per octet; a unit is 10⁻⁹ bits. At one bit per second, one unit is sent per nanosecond.
const UNITS_PER_OCTET: u128 = 8 * 1_000_000_000;

/// Slots of one size that divide a superframe evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    superframe: Duration,
    /// Octets in a slot.
    pub(super) octets: u64,
    /// The number of slots in a superframe.
    pub(super) count: u64,
}

impl Slots {
    pub(super) fn new(config: &DemandConfig, rate: Rate) -> Self {
        let count = Self::in_superframe(config, rate).max(1);
        Self { superframe: config.superframe, octets: config.slot.get(), count }
    }

    /// Returns the number of slots of a superframe on a carrier of `rate`.
    pub(super) fn in_superframe(config: &DemandConfig, rate: Rate) -> u64 {
        let octets = product(rate, config.superframe.as_nanos()) / UNITS_PER_OCTET;
        octets as u64 / config.slot.get().max(1)
    }

    /// Returns the rate that all slots together carry, in bits per second.
    pub(super) fn bits_per_second(self) -> u64 {
        let units = u128::from(self.count * self.octets) * UNITS_PER_OCTET;
        (units / u128::from(self.superframe.as_nanos())) as u64
    }

    /// Returns when a slot begins. The slot after the last one begins with the next superframe.
    pub(super) fn start(self, superframe: u64, slot: u64) -> Instant {
        let offset = mul_div(self.superframe.as_nanos(), slot, self.count);
        Instant::ZERO + self.superframe.saturating_mul(superframe) + Duration::from_nanos(offset)
    }

    /// Returns the superframe to which an instant belongs.
    pub(super) const fn superframe_at(self, instant: Instant) -> u64 {
        instant.as_nanos() / self.superframe.as_nanos()
    }

    /// Returns the superframes that begin in `window`.
    pub(super) fn superframes_in(self, window: &Range<Instant>) -> Range<u64> {
        let from = |instant: Instant| instant.as_nanos().div_ceil(self.superframe.as_nanos());
        from(window.start)..from(window.end)
    }

    /// Returns the number of slots of `superframe` that have begun by `now`.
    pub(super) fn begun_by(self, superframe: u64, now: Instant) -> u64 {
        let passed = u128::from(now.since(self.start(superframe, 0)).as_nanos()) + 1;
        (passed * u128::from(self.count)).div_ceil(u128::from(self.superframe.as_nanos())) as u64
    }

    /// Returns the number of slots in `superframes` for capacity of `rate`: as many as the octets
    /// of all superframes before the last one fill, minus the slots in earlier superframes.
    pub(super) fn at_rate(self, rate: Option<Rate>, superframes: Range<u64>) -> u64 {
        let until = |superframe: u64| {
            let nanos = self.superframe.saturating_mul(superframe).as_nanos();
            rate.map_or(0, |rate| product(rate, nanos) / self.units())
        };
        (until(superframes.end) - until(superframes.start)) as u64
    }

    /// Returns the number of octets in a superframe at `bits_per_second`.
    pub(super) fn octets_at(self, bits_per_second: u64) -> u64 {
        (u128::from(bits_per_second) * u128::from(self.superframe.as_nanos()) / UNITS_PER_OCTET) as u64
    }

    /// Returns the rate of `octets` in a superframe, in bits per second, rounded up.
    pub(super) fn rate_of(self, octets: u64) -> u64 {
        (u128::from(octets) * UNITS_PER_OCTET).div_ceil(u128::from(self.superframe.as_nanos())) as u64
    }

    /// Returns the capacity of a slot, in bits times 10⁹.
    pub(super) fn units(self) -> u128 {
        u128::from(self.octets) * UNITS_PER_OCTET
    }

    /// Returns the capacity of `bits_per_second` in a superframe, in bits times 10⁹.
    pub(super) fn units_at(self, bits_per_second: u64) -> u128 {
        u128::from(bits_per_second) * u128::from(self.superframe.as_nanos())
    }
}

/// Returns the capacity of `rate` in `nanos` nanoseconds, in bits times 10⁹.
fn product(rate: Rate, nanos: u64) -> u128 {
    u128::from(rate.bits_per_second()) * u128::from(nanos)
}
