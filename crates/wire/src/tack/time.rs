//! Times in the form in which packets carry them.

use acklab_base::Duration;
use std::fmt;

/// A point in time in microseconds of some clock, modulo 2³² (71 minutes).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Timestamp(pub u32);

impl Timestamp {
    /// Returns the time since `earlier`, modulo 2³²; negative if `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn micros_since(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0).cast_signed()
    }

    /// Returns the time since `earlier`, or `None` if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Option<Duration> {
        u64::try_from(self.micros_since(earlier)).ok().map(Duration::from_micros)
    }
}

/// Returns `time` in whole microseconds, the unit of frames, limited to 71 minutes.
#[must_use]
pub fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_nanos() / 1000).unwrap_or(u32::MAX)
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} µs", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_modular() {
        assert_eq!(Timestamp(3).since(Timestamp(u32::MAX)), Some(Duration::from_micros(4)));
        assert_eq!(Timestamp(u32::MAX).since(Timestamp(3)), None);
        assert_eq!(micros(Duration::from_secs(5000)), u32::MAX);
    }
}
