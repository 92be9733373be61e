//! Why a script is not played.

use std::fmt;

/// Why a script is not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line, from one.
    pub line: usize,
    /// Whether the script is wrong or asks for something else than acklab has.
    pub kind: Kind,
    /// What was found, and what was expected.
    pub message: String,
}

/// The kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The script is not one of packetdrill.
    Malformed,
    /// The script needs something that acklab's TCP does not have or that a run without a kernel
    /// cannot show.
    OutOfScope,
}

impl Refusal {
    pub(crate) fn malformed(line: usize, message: impl Into<String>) -> Self {
        Self { line, kind: Kind::Malformed, message: message.into() }
    }

    /// The script asks for what is not there, which `message` names.
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
