//! The limits of the sender.

use super::Position;
use crate::direction;
use serde::Serialize;

/// The share of the time above which another limit may have kept the sender's rate below the path's
/// rate.
const MOSTLY: f64 = 0.5;

/// The limits of the sender, as shares of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// The share of the time for which the receive window was full.
    pub receive_window: f64,
    /// The share of the time for which all data were acknowledged, and the application sent
    /// nothing.
    pub application: f64,
}

impl Limits {
    /// Returns the shares of the time in a direction that was captured at `position`. Returns
    /// `None` if the limits are not visible.
    pub(super) fn of(direction: &direction::Direction, position: Position) -> Option<Self> {
        let (receive_window, application) = match position {
            Position::Sender | Position::Middle => direction.limits.shares()?,
            Position::Receiver | Position::Unknown => return None,
        };
        Some(Self { receive_window, application })
    }

    /// Returns the limit that applied for most of the time, if it was not the path.
    pub(super) fn rule(&self) -> Option<String> {
        let Self { receive_window, application } = *self;
        let (what, share) = if receive_window > application {
            ("the receive window was full", receive_window)
        } else {
            ("nothing was outstanding", application)
        };
        (receive_window + application > MOSTLY).then(|| format!("{what} for {:.0} % of the time", 100.0 * share))
    }
}
