//! The settings of a built-in controller.

use super::constants::Constants;
use super::{CongestionControl, Start};

/// The settings of a built-in controller: its constants, with the published values as defaults.
pub trait Settings: Constants + Copy + Default {
    /// The type of the controller.
    type Controller: CongestionControl;

    /// Returns `true` if the receiver must report the amount of marked data.
    fn counts_marks(&self) -> bool {
        false
    }

    /// Returns `true` for a controller of L4S, whose packets are sent as ECT(1) (RFC 9331, §2).
    fn is_scalable(&self) -> bool {
        false
    }

    /// Creates the controller with these constants for one connection.
    fn controller(&self, start: &Start) -> Self::Controller;
}
