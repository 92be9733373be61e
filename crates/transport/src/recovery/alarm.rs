//! A timer.

use acklab_base::Instant;

/// A timer that may be unset.
#[derive(Clone, Copy, Debug)]
pub struct Alarm(Instant);

impl Default for Alarm {
    fn default() -> Self {
        Self::NEVER
    }
}

impl From<Option<Instant>> for Alarm {
    #[inline]
    fn from(at: Option<Instant>) -> Self {
        Self(at.unwrap_or(Instant::FAR_FUTURE))
    }
}

impl Alarm {
    /// A timer that is not set.
    pub const NEVER: Self = Self(Instant::FAR_FUTURE);

    /// Sets the timer to `at`, or clears it.
    #[inline]
    pub fn set(&mut self, at: Option<Instant>) {
        *self = at.into();
    }

    /// Returns `true` if the timer is due, and then clears it.
    pub fn expire(&mut self, now: Instant) -> bool {
        let is_due = self.0 <= now;
        if is_due {
            *self = Self::NEVER;
        }
        is_due
    }

    /// Returns the instant to which the timer is set.
    #[inline]
    #[must_use]
    pub fn at(&self) -> Option<Instant> {
        self.is_set().then_some(self.0)
    }

    /// Returns `true` if the timer is set.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0 < Instant::FAR_FUTURE
    }

    /// Returns the earlier of two timers.
    #[inline]
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_once() {
        let at = Instant::from_nanos;
        let mut alarm = Alarm::default();
        assert!(!alarm.expire(at(1 << 60)) && !alarm.is_set());
        alarm.set(Some(at(5)));
        assert_eq!(alarm.earlier(Alarm::NEVER).at(), Some(at(5)));
        assert_eq!(alarm.earlier(Some(at(3)).into()).at(), Some(at(3)));
        assert!(!alarm.expire(at(4)) && alarm.expire(at(5)) && !alarm.expire(at(5)));
        assert_eq!(alarm.at(), None);
    }
}
