//! Errors of a tool.

use std::error::Error;
use std::fmt::Display;

/// The reason why a tool has ended. Messages state the place, the found value and the expected
/// value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// An argument is invalid.
    #[error("{0}")]
    Usage(String),
    /// The server is not the expected one.
    #[error("{0}")]
    Trust(String),
    /// The tool cannot start or continue.
    #[error("{0}")]
    Failed(String),
    /// The tool was stopped on request.
    #[error("stopped")]
    Stopped,
}

/// Returns the text of an error with its causes. QUIC's "connection lost" contains its reason only
/// in its cause.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl ToolError {
    pub(crate) fn failed(place: impl Display, why: impl Display) -> Self {
        Self::Failed(format!("{place}: {why}"))
    }

    pub(crate) fn usage(place: impl Display, found: impl Display, expected: impl Display) -> Self {
        Self::Usage(format!("{place}: found {found}, expected {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_each_other() {
        let error = quinn::ReadError::from(quinn::ConnectionError::TimedOut);
        assert_eq!(with_causes(&std::io::Error::from(error)), "connection lost: timed out");
    }
}
