//! What has become of a script.

use crate::refusal::{Kind, Refusal};
use std::fmt;

/// Something that was not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line of the event.
    pub line: usize,
    /// What the script expects.
    pub expected: String,
    /// What came.
    pub found: String,
}

/// What has become of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All was as expected.
    Passed,
    /// Something was not; the script ends with the first packet, call or time that differs, while
    /// assertions are collected.
    Failed(Vec<Failure>),
    /// The script was not played, because it asks for something that acklab's TCP does not have.
    OutOfScope(Refusal),
    /// The script was not played, because it is malformed.
    Malformed(Refusal),
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::OutOfScope(_) => "out of scope",
            Self::Malformed(_) => "malformed",
        }
    }
}

impl From<Refusal> for Verdict {
    fn from(refusal: Refusal) -> Self {
        match refusal.kind {
            Kind::OutOfScope => Self::OutOfScope(refusal),
            Kind::Malformed => Self::Malformed(refusal),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.line, self.expected, self.found)
    }
}
