//! Converts between virtual time and quinn-proto's time.

use acklab_base::{Duration, Instant};

/// An arbitrary `std::time::Instant` that represents the start of the run. quinn-proto only
/// compares and subtracts instants, so its value does not matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch(std::time::Instant);

impl Epoch {
    /// Returns an epoch. The clock is the only source of a `std::time::Instant`.
    #[expect(clippy::disallowed_methods, reason = "the value is arbitrary")]
    pub(crate) fn new() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn to_std(self, at: Instant) -> std::time::Instant {
        self.0 + std::time::Duration::from_nanos(at.as_nanos())
    }

    /// Converts an instant. An instant before the start of the run becomes the start.
    pub(crate) fn of_std(self, at: std::time::Instant) -> Instant {
        Instant::ZERO + duration(at.saturating_duration_since(self.0))
    }
}

/// Returns a duration in whole nanoseconds.
pub(crate) fn duration(std: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(std.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns a duration of quinn-proto.
pub(crate) const fn std_duration(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_the_boundary() {
        let epoch = Epoch::new();
        for nanos in [0, 1, 999_999_999, 86_400_000_000_001] {
            let at = Instant::from_nanos(nanos);
            assert_eq!(epoch.of_std(epoch.to_std(at)), at);
        }
    }
}
