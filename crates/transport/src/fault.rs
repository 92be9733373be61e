//! Errors in settings that a schema cannot express.

use acklab_base::Duration;

/// The maximum duration in settings: ten years. It prevents overflow in sums of durations.
pub const LONGEST_TIME: Duration = Duration::from_secs(10 * 365 * 86_400);

/// An invalid setting, alone or in combination with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path of keys from the checked table to the setting, separated by dots.
    pub path: String,
    /// The error in the value.
    pub complaint: Complaint,
}

/// The error in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The expected value.
    Expected(String),
    /// The value is valid by itself, but not in this place, for this reason.
    Misplaced(String),
}

impl Fault {
    /// Creates the fault of a value at `path` that should be `expected`.
    #[must_use]
    pub fn expected(path: &str, expected: impl Into<String>) -> Self {
        Self { path: path.to_owned(), complaint: Complaint::Expected(expected.into()) }
    }

    /// Creates the fault of a value at `path` that is wrong in its place, for this `reason`.
    #[must_use]
    pub fn misplaced(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), complaint: Complaint::Misplaced(reason.into()) }
    }

    /// Returns the same fault relative to the table that contains the checked one as `key`.
    #[must_use]
    pub fn within(self, key: &str) -> Self {
        Self { path: format!("{key}.{}", self.path), ..self }
    }
}

/// Checks that `time` at `path` is above zero and within the limit.
///
/// # Errors
/// Returns a fault if it is not.
pub fn above_zero(path: &str, time: Duration) -> Result<(), Fault> {
    if time.is_zero() {
        return Err(Fault::expected(path, "a duration above zero"));
    }
    if time > LONGEST_TIME { Err(Fault::expected(path, "at most ten years")) } else { Ok(()) }
}
