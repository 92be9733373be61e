//! Errors in settings that a schema cannot express.

use acklab_base::Duration;

/// The longest time that may be set, so that no sum of times overflows: ten years.
pub const LONGEST_TIME: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A setting that makes no sense, alone or beside others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The keys that lead to it from the table that was checked, with dots between them.
    pub path: String,
    /// What is wrong.
    pub complaint: Complaint,
}

/// The error in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// This was expected instead.
    Expected(String),
    /// The value is one of its kind, but wrong in its place, for this reason.
    Misplaced(String),
}

impl Fault {
    /// Creates the fault that at `path`, `expected` was expected.
    #[must_use]
    pub fn expected(path: &str, expected: impl Into<String>) -> Self {
        Self { path: path.to_owned(), complaint: Complaint::Expected(expected.into()) }
    }

    /// Creates the fault that the value at `path` is wrong in its place, for this `reason`.
    #[must_use]
    pub fn misplaced(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), complaint: Complaint::Misplaced(reason.into()) }
    }

    /// Returns the same fault relative to the table in which the checked one stands as `key`.
    #[must_use]
    pub fn within(self, key: &str) -> Self {
        Self { path: format!("{key}.{}", self.path), ..self }
    }
}

/// Checks that `time`, which stands at `path`, is above zero and not too long.
///
/// # Errors
/// If it is not.
pub fn above_zero(path: &str, time: Duration) -> Result<(), Fault> {
    if time.is_zero() {
        return Err(Fault::expected(path, "a duration above zero"));
    }
    if time > LONGEST_TIME { Err(Fault::expected(path, "at most ten years")) } else { Ok(()) }
}
