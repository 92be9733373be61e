//! What limited the sender.

use super::Position;
use crate::way;
use serde::Serialize;

/// A share of the time in which something else limited the sender, from which its rate may be below that of the path.
const MOSTLY: f64 = 0.5;

/// Shares of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// The receive window was full.
    pub receive_window: f64,
    /// Everything was acknowledged, and the application sent nothing.
    pub application: f64,
}

impl Limits {
    /// The shares of the time in a direction that was captured at `position`. Returns `None` where the limits cannot be seen.
    pub(super) fn of(way: &way::Way, position: Position) -> Option<Self> {
        let (receive_window, application) = match position {
            Position::Sender | Position::Middle => way.limits.shares()?,
            Position::Receiver | Position::Unknown => return None,
        };
        Some(Self { receive_window, application })
    }

    /// Returns `true` if something other than the path limited the sender for most of the time.
    pub(super) fn rule(&self) -> bool {
        self.receive_window + self.application > MOSTLY
    }
}
