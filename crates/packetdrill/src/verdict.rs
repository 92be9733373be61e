//! The result of a script.

use crate::refusal::{Kind, Refusal};
use std::fmt;

/// An event that differed from the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line of the event.
    pub line: usize,
    /// The expectation of the script.
    pub expected: String,
    /// The actual event.
    pub found: String,
}

/// The result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All events matched.
    Passed,
    /// An event differed. The script ends with the first packet, call or time that differs. Failed
    /// assertions are collected.
    Failed(Vec<Failure>),
    /// The script was not run, because it requires a feature that acklab's TCP does not have.
    OutOfScope(Refusal),
    /// The script was not run, because it is malformed.
    Malformed(Refusal),
}

impl Verdict {
    /// Returns the name of the verdict.
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
