//! The settings of a built-in policy.

use super::AckPolicy;
use acklab_base::Duration;

/// The settings of a built-in policy in a scenario.
pub trait Settings: Copy + Default {
    /// The policy that decides.
    type Policy: AckPolicy;

    /// Creates the policy with these settings, for one connection.
    fn policy(self) -> Self::Policy;

    /// Returns the maximum delay of an ACK while data are unacknowledged, if the settings limit it.
    fn longest_delay(&self) -> Option<Duration> {
        None
    }

    /// Returns the timers among the settings.
    fn timers(&self) -> Vec<Timer> {
        Vec::new()
    }
}

/// A timer among the settings of a policy. It must be above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its name.
    pub key: &'static str,
    /// Its length.
    pub value: Duration,
    /// Its maximum.
    pub most: Option<Duration>,
}

impl Timer {
    /// Creates a time without an upper bound.
    pub(super) const fn new(key: &'static str, value: Duration) -> Self {
        Self { key, value, most: None }
    }
}
