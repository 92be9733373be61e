//! Binary exponential backoff: a success resets the window (10.3.3).

/// Returns CWmin.
pub(super) const fn after_success(minimum: u16) -> u16 {
    minimum
}
