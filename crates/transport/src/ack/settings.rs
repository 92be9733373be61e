//! The settings of a built-in policy.

use super::AckPolicy;
use acklab_base::Duration;

/// The settings of a built-in policy in a scenario.
pub trait Settings: Copy + Default {
    /// The type of the policy that these settings configure.
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

/// A timer among the settings of a policy. Its value must be above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The name of the setting.
    pub key: &'static str,
    /// The duration of the timer.
    pub value: Duration,
    /// The maximum duration, if there is one.
    pub most: Option<Duration>,
}

impl Timer {
    /// Creates a timer without a maximum.
    pub(super) const fn new(key: &'static str, value: Duration) -> Self {
        Self { key, value, most: None }
    }
}
