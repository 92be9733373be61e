//! The MTU of a link.

use crate::server::{ScheduleError, check_times};
use acklab_base::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of a link's MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtuStep {
    /// Time since the start of the run.
    #[schemars(example = "0s")]
    pub at: Duration,
    /// The maximum size of an IP packet from that time on.
    #[schemars(example = "1400B")]
    pub mtu: Bytes,
}

/// The MTU of a link over time.
#[derive(Clone, Debug)]
pub(crate) struct Mtu {
    steps: Vec<MtuStep>,
    current: usize,
}

impl Mtu {
    /// Returns the MTU of a link with these settings. Returns `None` if there is no limit.
    pub(crate) fn new(mtu: Option<Bytes>, steps: Option<&[MtuStep]>) -> Option<Self> {
        let constant = mtu.map(|mtu| vec![MtuStep { at: Duration::ZERO, mtu }]);
        let steps = steps.map(<[MtuStep]>::to_vec).or(constant).filter(|steps| !steps.is_empty())?;
        Some(Self { steps, current: 0 })
    }

    /// Returns `true` if a packet of `size` octets is too large at `now`. Time must not decrease.
    pub(crate) fn excludes(&mut self, now: Instant, size: Bytes) -> bool {
        while self.steps.get(self.current + 1).is_some_and(|next| Instant::ZERO + next.at <= now) {
            self.current += 1;
        }
        size > self.steps[self.current].mtu
    }
}

/// Checks the times of `steps`.
///
/// # Errors
/// If they do not begin at zero or are out of order.
pub fn check(steps: &[MtuStep]) -> Result<(), ScheduleError> {
    check_times(steps.iter().map(|step| step.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_changes_at_its_instant() {
        let step = |ms, mtu| MtuStep { at: Duration::from_millis(ms), mtu: Bytes(mtu) };
        let mut mtu = Mtu::new(None, Some(&[step(0, 1500), step(10, 1400), step(20, 1500)])).unwrap();
        let mut excludes = |nanos, size| mtu.excludes(Instant::from_nanos(nanos), Bytes(size));
        assert_eq!([excludes(0, 1500), excludes(0, 1501), excludes(9_999_999, 1500)], [false, true, false]);
        assert_eq!([excludes(10_000_000, 1401), excludes(10_000_000, 1400)], [true, false]);
        assert!(!excludes(25_000_000, 1500));
        assert!(Mtu::new(None, None).is_none());
    }
}
