//! Reasons why a script is not run.

use std::fmt;

/// The reason why a script is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line number, counted from 1.
    pub line: usize,
    /// The kind of refusal: the script is malformed, or requires features that acklab lacks.
    pub kind: Kind,
    /// A message with the found and the expected content.
    pub message: String,
}

/// The kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The script is not valid in packetdrill's language.
    Malformed,
    /// The script requires a feature that acklab's TCP does not have or that a run without a kernel
    /// cannot reproduce.
    OutOfScope,
}

impl Refusal {
    pub(crate) fn malformed(line: usize, message: impl Into<String>) -> Self {
        Self { line, kind: Kind::Malformed, message: message.into() }
    }

    /// Returns a refusal of a script that requires the missing feature `message`.
    pub fn out_of_scope(line: usize, message: impl Into<String>) -> Self {
        Self { line, kind: Kind::OutOfScope, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

impl std::error::Error for Refusal {}
